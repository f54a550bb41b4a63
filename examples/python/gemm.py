# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""C = A * B in float16 with float32 sums: the first program of tile languages.

`T.Pipelined` lets the copies of the next tiles of A and B run while the current
ones are multiplied. The function returns a kernel for its sizes; `out_idx=[2]`
makes C an output that each call allocates.
"""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit(out_idx=[2])
def matmul(M, N, K, block_M=128, block_N=128, block_K=32, num_stages=3, dtype=T.float16, accum_dtype=T.float32):
    @T.prim_func
    def gemm(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.use_swizzle(panel_size=10)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return gemm


def main() -> None:
    M, N, K = (4096, 4096, 4096) if LARGE else (300, 260, 200)
    kernel = matmul(M, N, K)
    a, b = randn((M, K)), randn((K, N))
    check("gemm", kernel(a, b), f64(a) @ f64(b))
    time("gemm", lambda: kernel(a, b), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
