# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""A GEMM whose tile sizes and stages are searched. Candidates are compiled side by
side, measured one after another and checked; what won is kept on disk, so the next
run starts with it."""

from __future__ import annotations

import itertools

import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


def configs():
    tiles = [64, 128, 256] if LARGE else [32, 64]
    parameters = dict(
        block_M=tiles, block_N=tiles, block_K=[32, 64] if LARGE else [32], num_stages=[2, 3] if LARGE else [2]
    )
    return [dict(zip(parameters, values)) for values in itertools.product(*parameters.values())]


@tile.autotune(
    configs=configs(), warmup=3, rep=10, timeout=60, ref_prog=lambda a, b: f64(a) @ f64(b).T, rtol=1e-2, atol=1e-1
)
@tile.jit(out_idx=[-1])
def matmul(M, N, K, block_M=None, block_N=None, block_K=None, num_stages=None, dtype="float16", accum_dtype="float"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main() -> None:
    M, N, K = (4096, 4096, 4096) if LARGE else (128, 128, 128)
    kernel = matmul(M, N, K)
    print(f"best of {len(configs())}: {kernel.config}, {kernel.latency:.3f} ms; reference {kernel.ref_latency:.3f} ms")
    a, b = randn((M, K)), randn((N, K))
    check("tuned gemm", kernel(a, b), f64(a) @ f64(b).T)
    time("tuned gemm", lambda: kernel(a, b), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
