# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Causal linear attention in chunks: inside a chunk as masked attention without
softmax, between chunks by a state of (key dim, value dim) that a block carries
along. Blocks that own different parts of the key dimension add their results."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time, zeros


@tile.jit(out_idx=[4])
def linear_attention(B, S, H, DK, DV, chunk=64, BK=64, BV=64, dtype=T.float16, accum_dtype=T.float32):
    scale = DK**-0.5
    NK, NV, NT = tile.cdiv(DK, BK), tile.cdiv(DV, BV), tile.cdiv(S, chunk)

    @T.prim_func
    def main(
        Q: T.Tensor([B, S, H, DK], dtype),
        K: T.Tensor([B, S, H, DK], dtype),
        V: T.Tensor([B, S, H, DV], dtype),
        O: T.Tensor([B, S, H, DV], accum_dtype),  # noqa: E741
        final_state: T.Tensor([B, H, DK, DV], accum_dtype),
    ):
        with T.Kernel(NV, NK, B * H) as (i_v, i_k, i_bh):
            i_b = i_bh // H
            i_h = i_bh % H
            q = T.alloc_shared([chunk, BK], dtype)
            k = T.alloc_shared([chunk, BK], dtype)
            v = T.alloc_shared([chunk, BV], dtype)
            h = T.alloc_fragment([BK, BV], accum_dtype)
            h_shared = T.alloc_shared([BK, BV], dtype)
            s = T.alloc_fragment([chunk, chunk], accum_dtype)
            s_shared = T.alloc_shared([chunk, chunk], dtype)
            o = T.alloc_fragment([chunk, BV], accum_dtype)
            T.use_swizzle(10)
            T.clear(h)
            for i in T.Pipelined(0, NT):
                for row, col in T.Parallel(chunk, BK):
                    q[row, col] = Q[i_b, i * chunk + row, i_h, i_k * BK + col] * scale
                T.copy(K[i_b, i * chunk : (i + 1) * chunk, i_h, i_k * BK : (i_k + 1) * BK], k)
                T.copy(V[i_b, i * chunk : (i + 1) * chunk, i_h, i_v * BV : (i_v + 1) * BV], v)
                T.gemm(q, k, s, clear_accum=True, transpose_B=True)
                for row, col in T.Parallel(chunk, chunk):
                    s_shared[row, col] = T.if_then_else(row >= col, s[row, col], 0)
                T.gemm(s_shared, v, o, clear_accum=True)
                T.copy(h, h_shared)
                T.gemm(k, v, h, transpose_A=True)
                T.gemm(q, h_shared, o)
                T.atomic_add(O[i_b, i * chunk : (i + 1) * chunk, i_h, i_v * BV : (i_v + 1) * BV], o)
            T.copy(h, final_state[i_b, i_h, i_k * BK : (i_k + 1) * BK, i_v * BV : (i_v + 1) * BV])

    return main


def main() -> None:
    B, S, H, D = (2, 4096, 16, 128) if LARGE else (1, 150, 2, 128)
    q, k, v = (randn((B, S, H, D)) for _ in range(3))
    o = zeros((B, S, H, D), "float32")
    kernel = linear_attention(B, S, H, D, D)
    state = kernel(q, k, v, o)
    if not LARGE:
        wide = [np.einsum("bshd->bhsd", f64(x)) for x in (q, k, v)]
        scores = np.tril(wide[0] @ np.swapaxes(wide[1], -1, -2)) * D**-0.5
        wanted = np.einsum("bhsd->bshd", scores @ wide[2])
        check("linear attention", o, wanted, rtol=2e-2, atol=2e-2 * float(np.sqrt((wanted**2).mean())))
        check("its state", state, np.swapaxes(wide[1], -1, -2) @ wide[2], rtol=1e-4, atol=1e-3)
    time("linear attention", lambda: kernel(q, k, v, o), flops=4 * B * H * S * D * (64 + 2 * D))


if __name__ == "__main__":
    main()
