# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""C = A * B where a mask says which tiles of the product's depth count: the others
are neither read nor multiplied."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, integers, randn, time


@tile.jit
def block_sparse_matmul(A, B, mask, block_M, block_N, block_K, num_stages=2, dtype=T.float16, accum_dtype=T.float32):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), dtype)
    B: T.Tensor((K, N), dtype)
    mask: T.Tensor((M // block_M, N // block_N, K // block_K), "bool")
    C = T.empty((M, N), dtype)

    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
        A_shared = T.alloc_shared((block_M, block_K), dtype)
        B_shared = T.alloc_shared((block_K, block_N), dtype)
        C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
        T.clear(C_local)
        for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
            if mask[by, bx, k]:
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
        T.copy(C_local, C[by * block_M, bx * block_N])
    return C


def main() -> None:
    M, N, K, block_M, block_N, block_K = (4096, 4096, 4096, 128, 128, 32) if LARGE else (128, 192, 128, 64, 64, 32)
    a, b = randn((M, K)), randn((K, N))
    mask = integers(0, 2, (M // block_M, N // block_N, K // block_K), "bool")
    wanted = np.zeros((M, N))
    for (i, j, k), used in np.ndenumerate(f64(mask)):
        if used:
            rows, columns = slice(i * block_M, (i + 1) * block_M), slice(j * block_N, (j + 1) * block_N)
            depth = slice(k * block_K, (k + 1) * block_K)
            wanted[rows, columns] += f64(a[rows, depth]) @ f64(b[depth, columns])
    check("block-sparse gemm", block_sparse_matmul(a, b, mask, block_M, block_N, block_K), wanted)
    time("block-sparse gemm", lambda: block_sparse_matmul(a, b, mask, block_M, block_N, block_K), flops=M * N * K)


if __name__ == "__main__":
    main()
