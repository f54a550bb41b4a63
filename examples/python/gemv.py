# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""y = A * x, each lane summing one row in a variable of its own.

The loops inside `T.Parallel` are serial and private to a lane: `T.alloc_local`
and `T.alloc_var` give each its own memory.
"""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit
def gemv(A, x, block_N=64, block_K=32, dtype=T.float16, accum_dtype=T.float32):
    N, K = T.const("N, K")
    A: T.Tensor((N, K), dtype)
    x: T.Tensor((K,), dtype)
    y = T.empty((N,), dtype)

    with T.Kernel(T.ceildiv(N, block_N), threads=block_N) as bn:
        for n in T.Parallel(block_N):
            a_local = T.alloc_local((block_K,), dtype)
            total = T.alloc_var(accum_dtype, 0)
            for bk in T.serial(T.ceildiv(K, block_K)):
                for k in T.vectorized(block_K):
                    a_local[k] = A[bn * block_N + n, bk * block_K + k]
                for k in T.serial(block_K):
                    total += a_local[k].astype(accum_dtype) * x[bk * block_K + k].astype(accum_dtype)
            y[bn * block_N + n] = total
    return y


def main() -> None:
    N, K = (16384, 8192) if LARGE else (300, 130)
    a, x = randn((N, K)), randn((K,))
    check("gemv", gemv(a, x), f64(a) @ f64(x))
    time("gemv", lambda: gemv(a, x), flops=2 * N * K, size=2 * N * K)


if __name__ == "__main__":
    main()
