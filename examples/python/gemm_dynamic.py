# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""A GEMM for all sizes: extents of `T.dynamic` are known when the kernel is called,
so one compilation serves every shape."""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit(out_idx=-1)
def matmul_dynamic(block_M=64, block_N=64, block_K=32, num_stages=3, dtype="float16", accum_dtype="float"):
    M, N, K = T.dynamic("M, N, K")

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main() -> None:
    kernel = matmul_dynamic()
    for M, N, K in ((64, 64, 64), (1, 300, 77), (129, 65, 33), *(((4096, 4096, 4096),) if LARGE else ())):
        a, b = randn((M, K)), randn((K, N))
        check(f"dynamic gemm {M}x{N}x{K}", kernel(a, b), f64(a) @ f64(b))
        time(f"dynamic gemm {M}x{N}x{K}", lambda a=a, b=b: kernel(a, b), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
