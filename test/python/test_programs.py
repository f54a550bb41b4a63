"""Kernels as TileLang's users write them, on the cpu, against NumPy in float64."""

# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tile
import tile as tilelang
import tile.language as T
from compare import close


@tilelang.jit
def matmul(A, B, block_M, block_N, block_K, dtype=T.float16, accum_dtype=T.float32):
    M, N, K = T.const("M, N, K")

    A: T.Tensor((M, K), dtype)
    B: T.Tensor((K, N), dtype)
    C = T.empty((M, N), dtype)

    with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
        A_shared = T.alloc_shared((block_M, block_K), dtype)
        B_shared = T.alloc_shared((block_K, block_N), dtype)
        C_local = T.alloc_fragment((block_M, block_N), accum_dtype)

        T.clear(C_local)
        for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
            T.copy(A[by * block_M, k * block_K], A_shared)
            T.copy(B[k * block_K, bx * block_N], B_shared)
            T.gemm(A_shared, B_shared, C_local)

        T.copy(C_local, C[by * block_M, bx * block_N])

    return C


@pytest.mark.parametrize("shape", [(128, 128, 64), (100, 77, 50)])
def test_eager_matmul(rng: np.random.Generator, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
    close(matmul(a, b, 64, 64, 32), a.astype(np.float64) @ b.astype(np.float64))


def test_eager_matmul_is_compiled_once_for_a_shape(rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal((64, 64)).astype(np.float16) for _ in range(2))
    matmul(a, b, 64, 64, 32)
    count = len(matmul.kernels)
    matmul(b, a, 64, 64, 32)
    assert len(matmul.kernels) == count


@tilelang.jit(out_idx=[3], pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def flashattn(batch, heads, seq_q, seq_kv, dim, is_causal, block_M=64, block_N=64, num_stages=1, threads=128):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)
    q_shape = [batch, heads, seq_q, dim]
    kv_shape = [batch, heads, seq_kv, dim]
    dtype = "float16"
    accum_dtype = "float"
    past_len = seq_kv - seq_q

    @T.macro
    def softmax(
        acc_s: T.FragmentBuffer([block_M, block_N], accum_dtype),
        acc_s_cast: T.FragmentBuffer([block_M, block_N], dtype),
        scores_max: T.FragmentBuffer([block_M], accum_dtype),
        scores_max_prev: T.FragmentBuffer([block_M], accum_dtype),
        scores_scale: T.FragmentBuffer([block_M], accum_dtype),
        scores_sum: T.FragmentBuffer([block_M], accum_dtype),
        logsum: T.FragmentBuffer([block_M], accum_dtype),
    ):
        T.copy(scores_max, scores_max_prev)
        T.fill(scores_max, -T.infinity(accum_dtype))
        T.reduce_max(acc_s, scores_max, dim=1, clear=False)
        for i in T.Parallel(block_M):
            scores_max[i] = T.max(scores_max[i], scores_max_prev[i])
        for i in T.Parallel(block_M):
            scores_scale[i] = T.exp2(scores_max_prev[i] * scale - scores_max[i] * scale)
        for i, j in T.Parallel(block_M, block_N):
            acc_s[i, j] = T.exp2(acc_s[i, j] * scale - scores_max[i] * scale)
        T.reduce_sum(acc_s, scores_sum, dim=1)
        for i in T.Parallel(block_M):
            logsum[i] = logsum[i] * scores_scale[i] + scores_sum[i]
        T.copy(acc_s, acc_s_cast)

    @T.prim_func
    def main(
        Q: T.Tensor(q_shape, dtype),
        K: T.Tensor(kv_shape, dtype),
        V: T.Tensor(kv_shape, dtype),
        Output: T.Tensor(q_shape, dtype),
    ):
        with T.Kernel(T.ceildiv(seq_q, block_M), heads, batch, threads=threads) as (bx, by, bz):
            Q_shared = T.alloc_shared([block_M, dim], dtype)
            K_shared = T.alloc_shared([block_N, dim], dtype)
            V_shared = T.alloc_shared([block_N, dim], dtype)
            acc_s = T.alloc_fragment([block_M, block_N], accum_dtype)
            acc_s_cast = T.alloc_fragment([block_M, block_N], dtype)
            acc_o = T.alloc_fragment([block_M, dim], accum_dtype)
            scores_max = T.alloc_fragment([block_M], accum_dtype)
            scores_max_prev = T.alloc_fragment([block_M], accum_dtype)
            scores_scale = T.alloc_fragment([block_M], accum_dtype)
            scores_sum = T.alloc_fragment([block_M], accum_dtype)
            logsum = T.alloc_fragment([block_M], accum_dtype)
            T.annotate_layout({Q_shared: tile.layout.make_swizzled_layout(Q_shared)})
            T.copy(Q[bz, by, bx * block_M : (bx + 1) * block_M, :], Q_shared)
            T.fill(acc_o, 0)
            T.fill(logsum, 0)
            T.fill(scores_max, -T.infinity(accum_dtype))
            loop_range = (
                T.min(T.ceildiv(seq_kv, block_N), T.ceildiv((bx + 1) * block_M + past_len, block_N))
                if is_causal
                else T.ceildiv(seq_kv, block_N)
            )
            for k in T.Pipelined(loop_range, num_stages=num_stages):
                T.copy(K[bz, by, k * block_N : (k + 1) * block_N, :], K_shared)
                if is_causal:
                    for i, j in T.Parallel(block_M, block_N):
                        q_idx = bx * block_M + i + past_len
                        k_idx = k * block_N + j
                        acc_s[i, j] = T.if_then_else(q_idx >= k_idx, 0, -T.infinity(acc_s.dtype))
                else:
                    for i, j in T.Parallel(block_M, block_N):
                        acc_s[i, j] = T.if_then_else(k * block_N + j >= seq_kv, -T.infinity(acc_s.dtype), 0)
                T.gemm(Q_shared, K_shared, acc_s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                softmax(acc_s, acc_s_cast, scores_max, scores_max_prev, scores_scale, scores_sum, logsum)
                for i, j in T.Parallel(block_M, dim):
                    acc_o[i, j] *= scores_scale[i]
                T.copy(V[bz, by, k * block_N : (k + 1) * block_N, :], V_shared)
                T.gemm(acc_s_cast, V_shared, acc_o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, dim):
                acc_o[i, j] /= logsum[i]
            T.copy(acc_o, Output[bz, by, bx * block_M : (bx + 1) * block_M, :])

    return main


def attention(q: Any, k: Any, v: Any, causal: bool) -> np.ndarray[Any, Any]:
    """The definition, in float64, last query aligned with last key."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        n, m = scores.shape[-2:]
        scores = np.where(np.arange(m)[None, :] <= np.arange(n)[:, None] + m - n, scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", p / p.sum(-1, keepdims=True), v)


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_with_a_macro(rng: np.random.Generator, causal: bool) -> None:
    q = rng.standard_normal((1, 2, 100, 64)).astype(np.float16)
    k, v = (rng.standard_normal((1, 2, 140, 64)).astype(np.float16) for _ in range(2))
    kernel = flashattn(1, 2, 100, 140, 64, causal)
    assert isinstance(kernel, tile.Kernel)
    close(kernel(q, k, v), attention(q, k, v, causal), atol=2e-3, rtol=4e-3, norm=1e-3)


def test_dynamic_extents_share_a_kernel(rng: np.random.Generator) -> None:
    m, n = T.dynamic("m, n")

    @T.prim_func
    def scale(A: T.Tensor((m, n), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, 32), T.ceildiv(m, 16)) as (bx, by):
            for i, j in T.Parallel(16, 32):
                C[by * 16 + i, bx * 32 + j] = A[by * 16 + i, bx * 32 + j] * B[bx * 32 + j]

    kernel = tile.compile(scale, out_idx=-1, target="cpu")
    for shape in ((5, 7), (64, 33)):
        a, b = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape[1]).astype(np.float32)
        close(kernel(a, b), a.astype(np.float64) * b, norm=1e-7)
    with pytest.raises(ValueError, match="'B': dimension 0 is 6, and another argument has 7"):
        kernel(np.zeros((5, 7), np.float32), np.zeros(6, np.float32))


def test_control_flow(rng: np.random.Generator) -> None:
    n = 64

    @T.macro
    def accumulate(dst, src, i):
        dst[i] += src[i]

    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((n,), "int32"), C: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            total = T.alloc_var(T.int32, 0)
            for i in range(n):
                if A[i] > 50:
                    break
                if A[i] % 3 == 0:
                    continue
                total += A[i]
            B[0] = total
            count = T.alloc_var("int32", init=10)
            while count > 3:
                count -= 2
            B[1] = count
            B[2] = 1 if A[0] > 0 and A[1] > 0 else 2
            B[3] = A[-1]
            buf = T.alloc_shared((4,), "int32")
            for i in T.Parallel(4):
                buf[i] = i * 2
                accumulate(buf, A, i)
            for i in T.unroll(4):
                B[4 + i] = buf[i]
            for i in T.Parallel(8):
                own = T.alloc_local((2,), "float32")
                own[0] = 1
                own[1] = T.float32(i) / 2
                acc = T.alloc_var("float32", 0.0)
                for j in T.serial(i + 1):
                    if j > 3:
                        break
                    acc += own[1] ** 2
                C[i] = acc + T.exp2(T.float32(3.0)) + (buf[i % 4] if i < 4 else -1)
            for j in range(10, 0, -3):
                B[20 + j] = j
            done = T.alloc_var("bool", False)
            k = T.alloc_var("int32", 0)
            while not done:
                k += 1
                if k * k > 90:
                    done = True
            B[8] = k
            while True:
                k += 1
                if k > 20:
                    break
            B[9] = k

    a = (np.arange(n) * 7 % n).astype(np.int32)
    b, c = np.zeros(n, np.int32), np.zeros(n, np.float32)
    tile.compile(main, target="cpu")(a, b, c)
    total = 0
    for value in a.tolist():
        if value > 50:
            break
        if value % 3:
            total += value
    want = np.zeros(n, np.int32)
    want[:10] = [total, 2, 2, a[-1], 0, 2 + a[1], 4 + a[2], 6 + a[3], 10, 21]
    for j in range(10, 0, -3):
        want[20 + j] = j
    np.testing.assert_array_equal(b, want)
    for i in range(8):
        extra = 2 * i + a[i] if i < 4 else -1
        assert c[i] == min(i + 1, 4) * (i / 2) ** 2 + 8 + extra
