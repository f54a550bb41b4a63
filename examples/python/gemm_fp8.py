# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""C = A * B^T with operands of eight bits (e4m3) and float32 sums, scaled by a factor
for each row of A and of B."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, put, randn, time


@tile.jit(out_idx=[4])
def matmul_fp8(M, N, K, block_M=64, block_N=64, block_K=64, dtype=T.float8_e4m3fn, out_dtype=T.float32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K), dtype),
        scale_a: T.Tensor((M,), T.float32),
        scale_b: T.Tensor((N,), T.float32),
        C: T.Tensor((M, N), out_dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), T.float32)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            for i, j in T.Parallel(block_M, block_N):
                C_local[i, j] *= scale_a[by * block_M + i] * scale_b[bx * block_N + j]
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main() -> None:
    M, N, K = (4096, 4096, 4096) if LARGE else (130, 100, 200)
    kernel = matmul_fp8(M, N, K)
    a, b = randn((M, K), "float8_e4m3fn"), randn((N, K), "float8_e4m3fn")
    scale_a, scale_b = (put(np.linspace(0.5, 2, n), "float32") for n in (M, N))
    wanted = (f64(a) @ f64(b).T) * f64(scale_a)[:, None] * f64(scale_b)[None, :]
    check("fp8 gemm", kernel(a, b, scale_a, scale_b), wanted, rtol=1e-5, atol=1e-4 * K**0.5)
    time("fp8 gemm", lambda: kernel(a, b, scale_a, scale_b), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
