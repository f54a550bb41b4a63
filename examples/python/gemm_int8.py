# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""C = A * B^T of signed bytes with 32-bit sums: exact."""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, integers, time


@tile.jit(out_idx=[2])
def matmul_int8(M, N, K, block_M=64, block_N=64, block_K=64):
    @T.prim_func
    def main(A: T.Tensor((M, K), "int8"), B: T.Tensor((N, K), "int8"), C: T.Tensor((M, N), "int32")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), "int8")
            B_shared = T.alloc_shared((block_N, block_K), "int8")
            C_local = T.alloc_fragment((block_M, block_N), "int32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main() -> None:
    M, N, K = (4096, 4096, 4096) if LARGE else (150, 130, 300)
    kernel = matmul_int8(M, N, K)
    a, b = integers(-128, 128, (M, K), "int8"), integers(-128, 128, (N, K), "int8")
    check("int8 gemm", kernel(a, b), f64(a) @ f64(b).T, rtol=0, atol=0)
    time("int8 gemm", lambda: kernel(a, b), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
