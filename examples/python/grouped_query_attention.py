# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Grouped-query attention: several heads of queries share one of keys and values."""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, attention, check, randn, time
from online_softmax import OnlineSoftmax


@tile.jit(out_idx=[3], pass_configs={tile.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def gqa(batch, heads, groups, rows, dim, is_causal, block_M=64, block_N=64, num_stages=1, threads=128):
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    head_kv = heads // groups
    dtype, accum_dtype = T.float16, T.float32

    @T.prim_func
    def main(
        Q: T.Tensor([batch, heads, rows, dim], dtype),
        K: T.Tensor([batch, head_kv, rows, dim], dtype),
        V: T.Tensor([batch, head_kv, rows, dim], dtype),
        Output: T.Tensor([batch, heads, rows, dim], dtype),
    ):
        with T.Kernel(T.ceildiv(rows, block_M), heads, batch, threads=threads) as (bx, by, bz):
            Q_shared = T.alloc_shared([block_M, dim], dtype)
            K_shared = T.alloc_shared([block_N, dim], dtype)
            V_shared = T.alloc_shared([block_N, dim], dtype)
            scores = T.alloc_fragment([block_M, block_N], accum_dtype)
            scores_cast = T.alloc_fragment([block_M, block_N], dtype)
            out = T.alloc_fragment([block_M, dim], accum_dtype)
            softmax = OnlineSoftmax(block_M, scale, accum_dtype)

            T.copy(Q[bz, by, bx * block_M : (bx + 1) * block_M, :], Q_shared)
            T.clear(out)
            tiles = T.ceildiv((bx + 1) * block_M, block_N) if is_causal else T.ceildiv(rows, block_N)
            for k in T.Pipelined(tiles, num_stages=num_stages):
                T.copy(K[bz, by // groups, k * block_N : (k + 1) * block_N, :], K_shared)
                for i, j in T.Parallel(block_M, block_N):
                    if is_causal:
                        scores[i, j] = T.if_then_else(bx * block_M + i >= k * block_N + j, 0, -T.infinity(accum_dtype))
                    else:
                        scores[i, j] = T.if_then_else(k * block_N + j >= rows, -T.infinity(accum_dtype), 0)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                softmax.update(scores, scores_cast)
                softmax.correct(out)
                T.copy(V[bz, by // groups, k * block_N : (k + 1) * block_N, :], V_shared)
                T.gemm(scores_cast, V_shared, out, policy=T.GemmWarpPolicy.FullRow)
            softmax.finish(out)
            T.copy(out, Output[bz, by, bx * block_M : (bx + 1) * block_M, :])

    return main


def main() -> None:
    batch, heads, groups, rows, dim = (2, 32, 8, 4096, 128) if LARGE else (1, 4, 2, 100, 64)
    q = randn((batch, heads, rows, dim))
    k, v = randn((batch, heads // groups, rows, dim)), randn((batch, heads // groups, rows, dim))
    for causal in (False, True):
        kernel = gqa(batch, heads, groups, rows, dim, causal)
        name = f"grouped queries{' causal' if causal else ''}"
        if not LARGE:
            check(name, kernel(q, k, v), attention(q, k, v, causal)[0], rtol=4e-3, atol=2e-3)
        work = 4 * batch * heads * rows * rows * dim * (0.5 if causal else 1)
        time(name, lambda kernel=kernel: kernel(q, k, v), flops=work)


if __name__ == "__main__":
    main()
