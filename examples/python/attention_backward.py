# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Gradients of attention: dQ, dK and dV, for heads of their own and for grouped
queries.

The forward pass keeps the logarithm of each row's sum (base 2), from which the
probabilities are computed again. A block owns a tile of keys and values and walks
over the queries: dK and dV gather in registers, and dQ, to which many blocks add, in
memory by atomics. With groups, the heads that share keys add their dK and dV by
atomics too.
"""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, attention, check, f64, randn, time, zeros
from online_softmax import OnlineSoftmax

FAST = {tile.PassConfigKey.TL_ENABLE_FAST_MATH: True}


@tile.jit(out_idx=[3, 4], pass_configs=FAST)
def forward(batch, heads, groups, rows, dim, is_causal, block_M=64, block_N=64):
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    dtype, accum_dtype = "float16", "float"

    @T.prim_func
    def main(
        Q: T.Tensor([batch, heads, rows, dim], dtype),
        K: T.Tensor([batch, heads // groups, rows, dim], dtype),
        V: T.Tensor([batch, heads // groups, rows, dim], dtype),
        Output: T.Tensor([batch, heads, rows, dim], dtype),
        lse: T.Tensor([batch, heads, rows], accum_dtype),
    ):
        with T.Kernel(T.ceildiv(rows, block_M), heads, batch, threads=128) as (bx, by, bz):
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
            for k in T.Pipelined(tiles, num_stages=1):
                T.copy(K[bz, by // groups, k * block_N : (k + 1) * block_N, :], K_shared)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(block_M, block_N):
                    seen = bx * block_M + i >= k * block_N + j if is_causal else k * block_N + j < rows
                    scores[i, j] = T.if_then_else(seen, scores[i, j], -T.infinity(accum_dtype))
                softmax.update(scores, scores_cast)
                softmax.correct(out)
                T.copy(V[bz, by // groups, k * block_N : (k + 1) * block_N, :], V_shared)
                T.gemm(scores_cast, V_shared, out, policy=T.GemmWarpPolicy.FullRow)
            softmax.finish(out)
            T.copy(out, Output[bz, by, bx * block_M : (bx + 1) * block_M, :])
            for i in T.Parallel(block_M):
                softmax.total[i] = T.log2(softmax.total[i]) + softmax.largest[i] * scale
            T.copy(softmax.total, lse[bz, by, bx * block_M : (bx + 1) * block_M])

    return main


@tile.jit(out_idx=[2], pass_configs=FAST)
def preprocess(batch, heads, rows, dim, block=32):
    """Delta, the sum over each row of O * dO."""
    dtype, accum_dtype = "float16", "float"

    @T.prim_func
    def main(
        O: T.Tensor([batch, heads, rows, dim], dtype),  # noqa: E741
        dO: T.Tensor([batch, heads, rows, dim], dtype),
        Delta: T.Tensor([batch, heads, rows], accum_dtype),
    ):
        with T.Kernel(heads, T.ceildiv(rows, block), batch) as (bx, by, bz):
            o = T.alloc_fragment([block, block], dtype)
            do = T.alloc_fragment([block, block], dtype)
            acc = T.alloc_fragment([block, block], accum_dtype)
            delta = T.alloc_fragment([block], accum_dtype)
            T.clear(acc)
            for k in range(T.ceildiv(dim, block)):
                T.copy(O[bz, bx, by * block : (by + 1) * block, k * block : (k + 1) * block], o)
                T.copy(dO[bz, bx, by * block : (by + 1) * block, k * block : (k + 1) * block], do)
                for i, j in T.Parallel(block, block):
                    acc[i, j] += T.cast(o[i, j], accum_dtype) * T.cast(do[i, j], accum_dtype)
            T.reduce_sum(acc, delta, 1)
            T.copy(delta, Delta[bz, bx, by * block : (by + 1) * block])

    return main


@tile.jit(pass_configs=FAST)
def backward(batch, heads, groups, rows, dim, is_causal, block_M=64, block_N=32):
    sm_scale = (1.0 / dim) ** 0.5
    scale = sm_scale * 1.44269504
    dtype, accum_dtype = "float16", "float"

    @T.prim_func
    def main(
        Q: T.Tensor([batch, heads, rows, dim], dtype),
        K: T.Tensor([batch, heads // groups, rows, dim], dtype),
        V: T.Tensor([batch, heads // groups, rows, dim], dtype),
        dO: T.Tensor([batch, heads, rows, dim], dtype),
        lse: T.Tensor([batch, heads, rows], accum_dtype),
        Delta: T.Tensor([batch, heads, rows], accum_dtype),
        dQ: T.Tensor([batch, heads, rows, dim], accum_dtype),
        dK: T.Tensor([batch, heads // groups, rows, dim], accum_dtype),
        dV: T.Tensor([batch, heads // groups, rows, dim], accum_dtype),
    ):
        with T.Kernel(heads, T.ceildiv(rows, block_M), batch, threads=128) as (bx, by, bz):
            K_shared = T.alloc_shared([block_M, dim], dtype)
            V_shared = T.alloc_shared([block_M, dim], dtype)
            dsT_shared = T.alloc_shared([block_M, block_N], dtype)
            q = T.alloc_shared([block_N, dim], dtype)
            do = T.alloc_shared([block_N, dim], dtype)
            lse_shared = T.alloc_shared([block_N], accum_dtype)
            delta = T.alloc_shared([block_N], accum_dtype)
            pT = T.alloc_fragment([block_M, block_N], accum_dtype)
            dsT = T.alloc_fragment([block_M, block_N], accum_dtype)
            pT_cast = T.alloc_fragment([block_M, block_N], dtype)
            dsT_cast = T.alloc_fragment([block_M, block_N], dtype)
            dv = T.alloc_fragment([block_M, dim], accum_dtype)
            dk = T.alloc_fragment([block_M, dim], accum_dtype)
            dq = T.alloc_fragment([block_N, dim], accum_dtype)

            T.copy(K[bz, bx // groups, by * block_M : (by + 1) * block_M, :], K_shared)
            T.copy(V[bz, bx // groups, by * block_M : (by + 1) * block_M, :], V_shared)
            T.clear(dv)
            T.clear(dk)
            first = T.floordiv(by * block_M, block_N) if is_causal else 0
            for k in T.Pipelined(first, T.ceildiv(rows, block_N), num_stages=2):
                T.copy(Q[bz, bx, k * block_N : (k + 1) * block_N, :], q)
                T.gemm(K_shared, q, pT, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(lse[bz, bx, k * block_N : (k + 1) * block_N], lse_shared)
                for i, j in T.Parallel(block_M, block_N):
                    seen = by * block_M + i < rows and k * block_N + j < rows
                    if is_causal:
                        seen = seen and by * block_M + i <= k * block_N + j
                    pT[i, j] = T.if_then_else(seen, T.exp2(pT[i, j] * scale - lse_shared[j]), 0)
                T.copy(dO[bz, bx, k * block_N : (k + 1) * block_N, :], do)
                T.gemm(V_shared, do, dsT, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(pT, pT_cast)
                T.gemm(pT_cast, do, dv, policy=T.GemmWarpPolicy.FullRow)
                T.copy(Delta[bz, bx, k * block_N : (k + 1) * block_N], delta)
                for i, j in T.Parallel(block_M, block_N):
                    dsT_cast[i, j] = pT[i, j] * (dsT[i, j] - delta[j]) * sm_scale
                T.gemm(dsT_cast, q, dk, policy=T.GemmWarpPolicy.FullRow)
                T.copy(dsT_cast, dsT_shared)
                T.gemm(dsT_shared, K_shared, dq, transpose_A=True, clear_accum=True)
                for i, j in T.Parallel(block_N, dim):
                    if k * block_N + i < rows:
                        T.atomic_add(dQ[bz, bx, k * block_N + i, j], dq[i, j])
            if groups == 1:
                T.copy(dv, dV[bz, bx, by * block_M : (by + 1) * block_M, :])
                T.copy(dk, dK[bz, bx, by * block_M : (by + 1) * block_M, :])
            else:
                T.atomic_add(dV[bz, bx // groups, by * block_M : (by + 1) * block_M, :], dv)
                T.atomic_add(dK[bz, bx // groups, by * block_M : (by + 1) * block_M, :], dk)

    return main


def gradients(q, k, v, do, causal):
    """dQ, dK, dV in float64, from the definition."""
    out, p = attention(q, k, v, causal)
    q, k, v, do = (f64(x) for x in (q, k, v, do))
    groups = q.shape[1] // k.shape[1]
    k_all, v_all = (np.repeat(x, groups, axis=1) for x in (k, v))
    dp = np.einsum("bhqd,bhkd->bhqk", do, v_all)
    ds = p * (dp - (do * out).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
    dk = np.einsum("bhqk,bhqd->bhkd", ds, q)
    dv = np.einsum("bhqk,bhqd->bhkd", p, do)
    shared = (k.shape[0], k.shape[1], groups, *k.shape[2:])
    return np.einsum("bhqk,bhkd->bhqd", ds, k_all), dk.reshape(shared).sum(2), dv.reshape(shared).sum(2)


def main() -> None:
    batch, heads, rows, dim = (2, 16, 2048, 64) if LARGE else (1, 4, 100, 64)
    for groups, causal in ((1, False), (1, True), (2, True)):
        q, do = randn((batch, heads, rows, dim)), randn((batch, heads, rows, dim))
        k, v = (randn((batch, heads // groups, rows, dim)) for _ in range(2))
        out, lse = forward(batch, heads, groups, rows, dim, causal)(q, k, v)
        delta = preprocess(batch, heads, rows, dim)(out, do)
        kernel = backward(batch, heads, groups, rows, dim, causal)
        dq = zeros((batch, heads, rows, dim), "float32")
        dk, dv = (zeros((batch, heads // groups, rows, dim), "float32") for _ in range(2))
        kernel(q, k, v, do, lse, delta, dq, dk, dv)
        name = f"{'grouped ' if groups > 1 else ''}backward{' causal' if causal else ''}"
        if not LARGE:
            for what, found, wanted in zip(("dQ", "dK", "dV"), (dq, dk, dv), gradients(q, k, v, do, causal)):
                check(f"{name} {what}", found, wanted, rtol=2e-2, atol=2e-2)
        work = 10 * batch * heads * rows * rows * dim * (0.5 if causal else 1)
        time(name, lambda kernel=kernel, k=k, v=v, q=q, do=do: kernel(q, k, v, do, lse, delta, dq, dk, dv), flops=work)


if __name__ == "__main__":
    main()
