"""Kernels of Triton for the comparison in python_package.py: a product, a softmax and
attention, as its tutorials have them, each tuned over a few configurations."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(A, B, C, n, S: tl.constexpr):
    o = tl.program_id(0) * S + tl.arange(0, S)
    tl.store(C + o, tl.load(A + o, mask=o < n) + tl.load(B + o, mask=o < n), mask=o < n)


_TILES = ((128, 256, 64, 3, 8), (128, 128, 64, 3, 8), (128, 128, 32, 4, 4), (128, 128, 64, 4, 4))


@triton.autotune(
    [
        triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_stages=stages, num_warps=warps)
        for m, n, k, stages, warps in _TILES
    ],
    key=["M", "N", "K"],
)
@triton.jit
def _gemm(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (GROUP * columns)
    height = min(rows - group * GROUP, GROUP)
    pm, pn = group * GROUP + (pid % (GROUP * columns)) % height, (pid % (GROUP * columns)) // height
    om, on, ok = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    a, b = A + om[:, None] * K + ok[None, :], B + ok[:, None] * N + on[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        acc = tl.dot(tl.load(a, mask=ok[None, :] < left, other=0), tl.load(b, mask=ok[:, None] < left, other=0), acc)
        a += BK
        b += BK * N
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(C + om[:, None] * N + on[None, :], acc.to(C.dtype.element_ty), mask=mask)


def gemm(a, b, c):
    M, K = a.shape
    N = b.shape[1]
    _gemm[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](a, b, c, M, N, K)


@triton.jit
def _softmax(X, Y, N, S: tl.constexpr):
    o = tl.arange(0, S)
    x = tl.load(X + tl.program_id(0) * N + o, mask=o < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(Y + tl.program_id(0) * N + o, (e / tl.sum(e, 0)).to(Y.dtype.element_ty), mask=o < N)


def softmax(x, y):
    rows, length = x.shape
    _softmax[(rows,)](x, y, length, S=triton.next_power_of_2(length), num_warps=8)


@triton.autotune(
    [
        triton.Config({"BM": m, "BN": n}, num_stages=stages, num_warps=warps)
        for m, n, stages, warps in ((128, 64, 3, 4), (128, 64, 3, 8), (128, 128, 2, 8), (64, 64, 3, 4))
    ],
    key=["rows"],
)
@triton.jit
def _attention(Q, K, V, Out, scale, rows, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    base = tl.program_id(1).to(tl.int64) * rows * D
    om, on, od = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + base + om[:, None] * D + od[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, rows, BN):
        k = tl.load(K + base + (start + on)[None, :] * D + od[:, None])
        s = tl.dot(q, k) * scale
        highest = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - highest[:, None])
        factor = tl.exp2(most - highest)
        total = total * factor + tl.sum(p, 1)
        v = tl.load(V + base + (start + on)[:, None] * D + od[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc * factor[:, None])
        most = highest
    tl.store(Out + base + om[:, None] * D + od[None, :], (acc / total[:, None]).to(tl.float16))


def attention(q, k, v, o):
    batch, heads, rows, dim = q.shape
    scale = dim**-0.5 * 1.44269504
    _attention[lambda meta: (triton.cdiv(rows, meta["BM"]), batch * heads)](q, k, v, o, scale, rows, D=dim)


__all__ = ["add", "attention", "gemm", "softmax"]
