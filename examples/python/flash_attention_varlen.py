# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Attention over sequences of different lengths, laid end to end.

`cu_seqlens` holds where each sequence begins; the number of rows of the longest one
is an argument of the kernel, so one kernel serves every batch.
"""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, attention, check, f64, put, randn, time
from online_softmax import OnlineSoftmax


@tile.jit(out_idx=[6], pass_configs={tile.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def varlen_attention(batch, UQ, UKV, heads, dim, is_causal, block_M=64, block_N=64, num_stages=1, threads=128):
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    dtype, accum_dtype = T.float16, T.float32

    @T.prim_func
    def main(
        Q: T.Tensor([UQ, heads, dim], dtype),
        K: T.Tensor([UKV, heads, dim], dtype),
        V: T.Tensor([UKV, heads, dim], dtype),
        cu_seqlens_q: T.Tensor([batch + 1], T.int32),
        cu_seqlens_k: T.Tensor([batch + 1], T.int32),
        max_seqlen_q: T.int32,
        Output: T.Tensor([UQ, heads, dim], dtype),
    ):
        with T.Kernel(T.ceildiv(max_seqlen_q, block_M), heads, batch, threads=threads) as (bx, by, bz):
            Q_shared = T.alloc_shared([block_M, dim], dtype)
            K_shared = T.alloc_shared([block_N, dim], dtype)
            V_shared = T.alloc_shared([block_N, dim], dtype)
            scores = T.alloc_fragment([block_M, block_N], accum_dtype)
            scores_cast = T.alloc_fragment([block_M, block_N], dtype)
            out = T.alloc_fragment([block_M, dim], accum_dtype)
            softmax = OnlineSoftmax(block_M, scale, accum_dtype)

            q_start = cu_seqlens_q[bz]
            k_start = cu_seqlens_k[bz]
            q_length = cu_seqlens_q[bz + 1] - q_start
            k_length = cu_seqlens_k[bz + 1] - k_start
            offset = k_length - q_length  # the last query sees the last key

            T.copy(Q[q_start + bx * block_M : q_start + bx * block_M + block_M, by, :], Q_shared)
            T.clear(out)
            tiles = (
                T.min(T.ceildiv(offset + (bx + 1) * block_M, block_N), T.ceildiv(k_length, block_N))
                if is_causal
                else T.ceildiv(k_length, block_N)
            )
            for k in T.Pipelined(tiles, num_stages=num_stages):
                T.copy(K[k_start + k * block_N : k_start + k * block_N + block_N, by, :], K_shared)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(block_M, block_N):
                    if is_causal:
                        hidden = bx * block_M + i + offset < k * block_N + j or k * block_N + j >= k_length
                    else:
                        hidden = k * block_N + j >= k_length
                    scores[i, j] = T.if_then_else(hidden, -1e9, scores[i, j])
                softmax.update(scores, scores_cast)
                softmax.correct(out)
                T.copy(V[k_start + k * block_N : k_start + k * block_N + block_N, by, :], V_shared)
                T.gemm(scores_cast, V_shared, out, policy=T.GemmWarpPolicy.FullRow)

            for i, d in T.Parallel(block_M, dim):
                # Rows of the next sequence belong to other blocks.
                if bx * block_M + i < q_length:
                    nothing = is_causal and bx * block_M + i + offset < 0
                    Output[q_start + bx * block_M + i, by, d] = 0 if nothing else out[i, d] / softmax.total[i]

    return main


def main() -> None:
    lengths_q, lengths_k = ([2048, 1024, 512], [2048, 2048, 512]) if LARGE else ([70, 1, 40], [90, 33, 40])
    heads, dim, batch = (16, 128, 3) if LARGE else (2, 64, 3)
    starts_q, starts_k = (np.concatenate([[0], np.cumsum(lengths)]) for lengths in (lengths_q, lengths_k))
    q = randn((starts_q[-1], heads, dim))
    k, v = randn((starts_k[-1], heads, dim)), randn((starts_k[-1], heads, dim))
    cu_q, cu_k = put(starts_q, "int32"), put(starts_k, "int32")
    for causal in (False, True):
        kernel = varlen_attention(batch, int(starts_q[-1]), int(starts_k[-1]), heads, dim, causal)
        out = kernel(q, k, v, cu_q, cu_k, max(lengths_q))
        reference = np.zeros((starts_q[-1], heads, dim))
        for b in range(batch):
            rows, columns = slice(starts_q[b], starts_q[b + 1]), slice(starts_k[b], starts_k[b + 1])
            parts = [np.swapaxes(f64(x)[r], 0, 1)[None] for x, r in ((q, rows), (k, columns), (v, columns))]
            reference[rows] = np.swapaxes(attention(parts[0], parts[1], parts[2], causal)[0][0], 0, 1)
        name = f"variable lengths{' causal' if causal else ''}"
        check(name, out, reference, rtol=4e-3, atol=2e-3)
        time(name, lambda kernel=kernel: kernel(q, k, v, cu_q, cu_k, max(lengths_q)))


if __name__ == "__main__":
    main()
