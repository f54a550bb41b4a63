# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Adds two matrices, a tile of 32 x 128 in each block.

Extents need not be multiples of the tile: reads outside give zero, and writes
outside are dropped.
"""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit
def add(A, B, block_M, block_N, dtype, threads=128):
    M, N = T.const("M, N")
    A: T.Tensor((M, N), dtype)
    B: T.Tensor((M, N), dtype)
    C = T.empty((M, N), dtype)

    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
        A_shared = T.alloc_shared((block_M, block_N), dtype)
        B_shared = T.alloc_shared((block_M, block_N), dtype)
        C_local = T.alloc_fragment((block_M, block_N), dtype)
        T.copy(A[by * block_M, bx * block_N], A_shared)
        T.copy(B[by * block_M, bx * block_N], B_shared)
        for i, j in T.Parallel(block_M, block_N):
            C_local[i, j] = A_shared[i, j] + B_shared[i, j]
        T.copy(C_local, C[by * block_M, bx * block_N])
    return C


def main() -> None:
    shape = (8192, 8192) if LARGE else (1000, 500)
    for dtype in ("float32", "float16"):
        a, b = randn(shape, dtype), randn(shape, dtype)
        c = add(a, b, 32, 128, dtype)
        check(f"add {dtype}", c, f64(a) + f64(b))
        size = 3 * shape[0] * shape[1] * (4 if dtype == "float32" else 2)
        time(f"add {dtype}", lambda a=a, b=b, dtype=dtype: add(a, b, 32, 128, dtype), size=size)


if __name__ == "__main__":
    main()
