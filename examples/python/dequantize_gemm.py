# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""C = A * B^T with weights of four bits, two in each byte, and a scale for every
`group` of them along K. A tile of weights comes on the chip packed and is
dequantised there, right before its product."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, integers, put, randn, time


def int4_to_float(packed, position, dtype):
    """A plain Python function of device values: the signed nibble of a byte."""
    nibble = (packed >> (position.astype("uint8") * T.uint8(4))) & T.uint8(0xF)
    return (T.reinterpret("int8", nibble << T.uint8(4)) >> T.int8(4)).astype(dtype)


@tile.jit(out_idx=[3])
def matmul_int4_weights(M, N, K, group=32, block_M=64, block_N=64, block_K=64, dtype=T.float16, accum_dtype=T.float32):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K // 2), T.uint8),
        scales: T.Tensor((N, K // group), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K // 2), T.uint8)
            B_wide = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K // 2], B_shared)
                for i, j in T.Parallel(block_N, block_K):
                    weight = int4_to_float(B_shared[i, j // 2], j % 2, dtype)
                    B_wide[i, j] = weight * scales[bx * block_N + i, (k * block_K + j) // group]
                T.gemm(A_shared, B_wide, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main() -> None:
    M, N, K = (4096, 4096, 4096) if LARGE else (70, 100, 192)
    kernel = matmul_int4_weights(M, N, K)
    a, packed = randn((M, K)), integers(0, 256, (N, K // 2), "uint8")
    scales = put(np.random.default_rng(1).uniform(0.5, 1.5, (N, K // 32)), "float16")
    nibbles = f64(packed).astype(np.int64)
    weights = np.stack([nibbles & 15, nibbles >> 4], axis=-1).reshape(N, K)
    weights = np.where(weights > 7, weights - 16, weights) * np.repeat(f64(scales), 32, axis=1)
    # The kernel rounds each weight to float16 once more.
    check("int4 weights", kernel(a, packed, scales), f64(a) @ weights.astype(np.float16).astype(np.float64).T)
    time("int4 weights", lambda: kernel(a, packed, scales), flops=2 * M * N * K)


if __name__ == "__main__":
    main()
