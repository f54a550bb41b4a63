# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Attention of one query a sequence: the keys are split among blocks, whose partial
results a second launch combines. `T.alloc_global` is the workspace between them."""

from __future__ import annotations

import tile
import tile.language as T
from common import LARGE, attention, check, randn, time
from online_softmax import OnlineSoftmax


@tile.jit(out_idx=[3], pass_configs={tile.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def flash_decoding(batch, heads, groups, length, dim, num_split=4, block_N=64):
    """Heads of a group share their keys, and are computed together as the rows of a tile."""
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    kv_heads = heads // groups
    block_H = 16  # rows of a tile; those beyond the group are empty
    part = tile.cdiv(tile.cdiv(length, num_split), block_N) * block_N
    dtype, accum_dtype = "float16", "float"

    @T.prim_func
    def main(
        Q: T.Tensor([batch, heads, dim], dtype),
        K: T.Tensor([batch, length, kv_heads, dim], dtype),
        V: T.Tensor([batch, length, kv_heads, dim], dtype),
        Output: T.Tensor([batch, heads, dim], dtype),
    ):
        lse = T.alloc_global([batch, heads, num_split], accum_dtype)
        partial = T.alloc_global([batch, heads, num_split, dim], accum_dtype)

        with T.Kernel(batch, kv_heads, num_split, threads=128) as (bx, by, bz):
            Q_shared = T.alloc_shared([block_H, dim], dtype)
            K_shared = T.alloc_shared([block_N, dim], dtype)
            V_shared = T.alloc_shared([block_N, dim], dtype)
            scores = T.alloc_fragment([block_H, block_N], accum_dtype)
            scores_cast = T.alloc_fragment([block_H, block_N], dtype)
            out = T.alloc_fragment([block_H, dim], accum_dtype)
            softmax = OnlineSoftmax(block_H, scale, accum_dtype)
            T.copy(Q[bx, by * groups : by * groups + block_H, :], Q_shared)
            T.clear(out)
            tiles = T.ceildiv(T.min(part, length - bz * part), block_N)
            for k in T.Pipelined(tiles, num_stages=2):
                start = bz * part + k * block_N
                T.copy(K[bx, start : start + block_N, by, :], K_shared)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullCol)
                for i, j in T.Parallel(block_H, block_N):
                    scores[i, j] = T.if_then_else(start + j < length, scores[i, j], -T.infinity(accum_dtype))
                softmax.update(scores, scores_cast)
                softmax.correct(out)
                T.copy(V[bx, start : start + block_N, by, :], V_shared)
                T.gemm(scores_cast, V_shared, out, policy=T.GemmWarpPolicy.FullCol)
            softmax.finish(out)
            for i in T.Parallel(block_H):
                if i < groups:
                    # A split without keys weighs nothing.
                    lse[bx, by * groups + i, bz] = T.if_then_else(
                        softmax.total[i] > 0,
                        T.log2(softmax.total[i]) + softmax.largest[i] * scale,
                        -T.infinity(accum_dtype),
                    )
            for i, j in T.Parallel(block_H, dim):
                if i < groups:
                    partial[bx, by * groups + i, bz, j] = out[i, j]

        with T.Kernel(batch, heads, threads=128) as (bx, by):
            weights = T.alloc_fragment([num_split], accum_dtype)
            most = T.alloc_fragment([1], accum_dtype)
            weight_sum = T.alloc_fragment([1], accum_dtype)
            result = T.alloc_fragment([dim], accum_dtype)
            T.copy(lse[bx, by, :], weights)
            T.reduce_max(weights, most, dim=0)
            for s in T.Parallel(num_split):
                weights[s] = T.exp2(weights[s] - most[0])
            T.reduce_sum(weights, weight_sum, dim=0)
            T.clear(result)
            for s in T.serial(num_split):
                for j in T.Parallel(dim):
                    result[j] += partial[bx, by, s, j] * (T.exp2(lse[bx, by, s] - most[0]) / weight_sum[0])
            T.copy(result, Output[bx, by, :])

    return main


def main() -> None:
    batch, heads, groups, length, dim = (8, 32, 4, 8192, 128) if LARGE else (2, 4, 2, 300, 64)
    q = randn((batch, heads, dim))
    k, v = (randn((batch, length, heads // groups, dim)) for _ in range(2))
    kernel = flash_decoding(batch, heads, groups, length, dim)
    transposed = [x.transpose(1, 2) if hasattr(x, "is_cuda") else x.swapaxes(1, 2) for x in (k, v)]
    reference = attention(q[:, :, None, :], *transposed)[0][:, :, 0, :]
    check("decoding", kernel(q, k, v), reference, rtol=4e-3, atol=2e-3)
    time("decoding", lambda: kernel(q, k, v), size=4 * batch * length * heads // groups * dim)


if __name__ == "__main__":
    main()
