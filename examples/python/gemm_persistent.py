# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""A persistent GEMM: as many blocks as the machine holds at once, each taking tiles
until none is left."""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit
def matmul_persistent(A, B, block_M, block_N, block_K, workers, num_stages=2, dtype=T.float16, accum_dtype=T.float32):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), dtype)
    B: T.Tensor((K, N), dtype)
    C = T.empty((M, N), dtype)

    with T.Kernel(workers, threads=128) as block_id:
        A_shared = T.alloc_shared((block_M, block_K), dtype)
        B_shared = T.alloc_shared((block_K, block_N), dtype)
        C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
        for bx, by in T.Persistent([T.ceildiv(M, block_M), T.ceildiv(N, block_N)], workers, block_id):
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[bx * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, by * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[bx * block_M, by * block_N])
    return C


def main() -> None:
    M, N, K = (8192, 8192, 4096) if LARGE else (260, 200, 100)
    workers = 132 if LARGE else 5
    a, b = randn((M, K)), randn((K, N))
    check("persistent gemm", matmul_persistent(a, b, 64, 64, 32, workers), f64(a) @ f64(b))
    time("persistent gemm", lambda: matmul_persistent(a, b, 64, 64, 32, workers), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
