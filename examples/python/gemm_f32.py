# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""C = relu(A * B^T + bias) in float32, into an output that the caller gives.

Without `out_idx` all tensors are arguments. `T.gemm` multiplies float32 as it is;
`precision="tf32"` would let tensor cores round the operands.
"""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time, zeros


@tile.jit
def matmul_bias_relu(M, N, K, block_M=64, block_N=64, block_K=32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float"),
        B: T.Tensor((N, K), "float"),
        bias: T.Tensor((N,), "float"),
        C: T.Tensor((M, N), "float"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), "float")
            B_shared = T.alloc_shared((block_N, block_K), "float")
            C_local = T.alloc_fragment((block_M, block_N), "float")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            for i, j in T.Parallel(block_M, block_N):
                C_local[i, j] = T.max(C_local[i, j] + bias[bx * block_N + j], 0)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main() -> None:
    M, N, K = (2048, 2048, 2048) if LARGE else (200, 150, 100)
    kernel = matmul_bias_relu(M, N, K)
    a, b, bias, c = randn((M, K), "float32"), randn((N, K), "float32"), randn((N,), "float32"), zeros((M, N), "float32")
    kernel(a, b, bias, c)
    magnitude = np.abs(f64(a)) @ np.abs(f64(b)).T + np.abs(f64(bias))
    check("gemm f32", c, np.maximum(f64(a) @ f64(b).T + f64(bias), 0), rtol=0, atol=4 * 2.0**-23 * magnitude.max())
    time("gemm f32", lambda: kernel(a, b, bias, c), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
