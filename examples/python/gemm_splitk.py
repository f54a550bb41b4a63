# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Split-K: blocks share a tile of C, each summing a part of K, and add their results
by atomics. For matrices with more depth than tiles."""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time, zeros


@tile.jit
def matmul_splitk(A, B, C, block_M, block_N, block_K, split_k, dtype=T.float16, accum_dtype=T.float32):
    M, N, K = T.const("M, N, K")
    part = T.ceildiv(T.ceildiv(K, split_k), block_K) * block_K
    A: T.Tensor((M, K), dtype)
    B: T.Tensor((K, N), dtype)
    C: T.Tensor((M, N), accum_dtype)

    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), split_k, threads=128) as (bx, by, bz):
        A_shared = T.alloc_shared((block_M, block_K), dtype)
        B_shared = T.alloc_shared((block_K, block_N), dtype)
        C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
        T.clear(C_local)
        for ko in T.Pipelined(T.ceildiv(part, block_K), num_stages=2):
            T.copy(A[by * block_M, bz * part + ko * block_K], A_shared)
            T.copy(B[bz * part + ko * block_K, bx * block_N], B_shared)
            T.gemm(A_shared, B_shared, C_local)
        T.atomic_add(C[by * block_M, bx * block_N], C_local)


def main() -> None:
    M, N, K = (1024, 1024, 16384) if LARGE else (100, 120, 500)
    a, b, c = randn((M, K)), randn((K, N)), zeros((M, N), "float32")
    matmul_splitk(a, b, c, 64, 64, 32, 4)
    wanted = f64(a) @ f64(b)
    check("split-K gemm", c, wanted, rtol=1e-5, atol=1e-4 * K**0.5)
    time("split-K gemm", lambda: matmul_splitk(a, b, c, 64, 64, 32, 4), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
