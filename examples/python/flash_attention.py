# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Flash attention forward, for both orders in memory: (batch, heads, rows, dim) and
(batch, rows, heads, dim).

A block keeps its queries on the chip and walks over tiles of keys and values with a
running maximum and sum of each row, so that the scores never reach memory. With
`is_causal` the last query sees the last key: tiles that no query sees are not read,
and those on the diagonal are masked. Powers are of two, with the scale folded in.
"""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, attention, check, f64, put, randn, time
from online_softmax import OnlineSoftmax


@tile.jit(out_idx=[3], pass_configs={tile.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def flash_attention(
    batch, heads, seq_q, seq_kv, dim, is_causal=False, order="bhsd", block_M=64, block_N=64, num_stages=2, threads=128
):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)
    dtype, accum_dtype = "float16", "float"
    past = seq_kv - seq_q

    def shape(rows):
        return (batch, heads, rows, dim) if order == "bhsd" else (batch, rows, heads, dim)

    @T.macro
    def load(tensor, b, h, start, length, out):
        if order == "bhsd":
            T.copy(tensor[b, h, start : start + length, :], out)
        else:
            T.copy(tensor[b, start : start + length, h, :], out)

    @T.prim_func
    def main(
        Q: T.Tensor(shape(seq_q), dtype),
        K: T.Tensor(shape(seq_kv), dtype),
        V: T.Tensor(shape(seq_kv), dtype),
        Output: T.Tensor(shape(seq_q), dtype),
    ):
        with T.Kernel(T.ceildiv(seq_q, block_M), heads, batch, threads=threads) as (bx, by, bz):
            Q_shared = T.alloc_shared([block_M, dim], dtype)
            K_shared = T.alloc_shared([block_N, dim], dtype)
            V_shared = T.alloc_shared([block_N, dim], dtype)
            scores = T.alloc_fragment([block_M, block_N], accum_dtype)
            scores_cast = T.alloc_fragment([block_M, block_N], dtype)
            out = T.alloc_fragment([block_M, dim], accum_dtype)
            softmax = OnlineSoftmax(block_M, scale, accum_dtype)

            load(Q, bz, by, bx * block_M, block_M, Q_shared)
            T.clear(out)

            tiles = T.ceildiv(seq_kv, block_N)
            if is_causal:
                tiles = T.max(T.min(tiles, T.ceildiv((bx + 1) * block_M + past, block_N)), 0)
            for k in T.Pipelined(tiles, num_stages=num_stages):
                load(K, bz, by, k * block_N, block_N, K_shared)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(block_M, block_N):
                    seen = k * block_N + j < seq_kv
                    if is_causal:
                        seen = seen and k * block_N + j <= bx * block_M + i + past
                    scores[i, j] = T.if_then_else(seen, scores[i, j], -T.infinity(accum_dtype))
                softmax.update(scores, scores_cast)
                softmax.correct(out)
                load(V, bz, by, k * block_N, block_N, V_shared)
                T.gemm(scores_cast, V_shared, out, policy=T.GemmWarpPolicy.FullRow)

            softmax.finish(out)
            if order == "bhsd":
                T.copy(out, Output[bz, by, bx * block_M : (bx + 1) * block_M, :])
            else:
                T.copy(out, Output[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main


def main() -> None:
    batch, heads, dim = (4, 16, 128) if LARGE else (1, 2, 64)
    for order in ("bhsd", "bshd"):
        for causal in (False, True):
            seq_q, seq_kv = (4096, 4096) if LARGE else (100, 150)
            q = randn((batch, heads, seq_q, dim))
            k, v = randn((batch, heads, seq_kv, dim)), randn((batch, heads, seq_kv, dim))
            reference, _ = attention(q, k, v, causal) if not LARGE else (None, None)
            if order == "bshd":
                q, k, v = (put(np.swapaxes(f64(x), 1, 2).copy(), "float16") for x in (q, k, v))
            kernel = flash_attention(batch, heads, seq_q, seq_kv, dim, causal, order)
            name = f"attention {order}{' causal' if causal else ''}"
            out = kernel(q, k, v)
            if reference is not None:
                wanted = np.swapaxes(reference, 1, 2) if order == "bshd" else reference
                check(name, out, wanted, rtol=4e-3, atol=2e-3)
            work = 4 * batch * heads * seq_q * seq_kv * dim * (0.5 if causal else 1)
            time(name, lambda kernel=kernel, q=q, k=k, v=v: kernel(q, k, v), flops=work)


if __name__ == "__main__":
    main()
