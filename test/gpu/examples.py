"""What the example programs compute, in torch and float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

Arguments = list["torch.Tensor | int | float"]


@dataclass
class Case:
    """One call of a function: arguments, of which some are results, and what those should be."""

    function: str
    arguments: Arguments
    results: list[int]
    reference: Callable[[Arguments], list[torch.Tensor]]
    rtol: float
    atol: float
    label: str = ""


def randn(*shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> torch.Tensor:
    return (torch.randn(*shape, device="cuda") * scale).to(dtype)


def empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*shape, device="cuda", dtype=dtype)


def wide(value: torch.Tensor | int | float) -> torch.Tensor:
    assert isinstance(value, torch.Tensor)
    return value.double()


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> Any:
    """Rows of scores, softmax, and the logarithm of its sum."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        queries, keys = scores.shape[-2:]
        i = torch.arange(queries, device=q.device)[:, None]
        j = torch.arange(keys, device=q.device)[None, :]
        scores = scores.masked_fill(j > i + (keys - queries), -math.inf)
    lse = torch.logsumexp(scores, -1)
    shift = torch.where(lse == -math.inf, torch.zeros_like(lse), lse)
    return torch.exp(scores - shift[..., None]) @ v, lse


def matmuls(m: int, n: int, k: int) -> list[Case]:
    half, cases = torch.float16, []
    for name, ta, tb in [("", 0, 0), ("_nt", 0, 1), ("_tn", 1, 0), ("_tt", 1, 1)]:
        a = randn(*((k, m) if ta else (m, k)), dtype=half)
        b = randn(*((n, k) if tb else (k, n)), dtype=half)

        def product(v: Arguments, ta: int = ta, tb: int = tb) -> list[torch.Tensor]:
            x, y = wide(v[0]), wide(v[1])
            return [(x.T if ta else x) @ (y.T if tb else y)]

        label = f"{m}x{n}x{k}"
        cases.append(Case(f"matmul{name}", [a, b, empty(m, n, dtype=half)], [2], product, 2e-3, 2e-3, label))
    return cases


def normalizations(rows: int, columns: int) -> list[Case]:
    half = torch.float16

    def layernorm(v: Arguments) -> list[torch.Tensor]:
        x = wide(v[0])
        flat = x.flatten(2)
        result = F.layer_norm(
            flat,
            flat.shape[-1:],
            wide(v[1]),
            wide(v[2]),
            float(v[3]),  # type: ignore[arg-type]
        )
        return [result.reshape(x.shape)]

    def rmsnorm(v: Arguments) -> list[torch.Tensor]:
        x = wide(v[0])
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + float(v[2]))  # type: ignore[arg-type]
        return [x * scale * wide(v[1])]

    label = f"{rows}x{columns}"
    x4 = randn(2, rows, 6, columns // 6, scale=2.0)
    width = 6 * (columns // 6)
    return [
        Case(
            "softmax",
            [randn(rows, columns, scale=3.0), empty(rows, columns)],
            [1],
            lambda v: [torch.softmax(wide(v[0]), -1)],
            2e-5,
            1e-9,
            label,
        ),
        Case(
            "layernorm",
            [x4, randn(width), randn(width), 1e-5, torch.empty_like(x4)],
            [4],
            layernorm,
            2e-4,
            2e-5,
            label,
        ),
        Case(
            "rmsnorm",
            [
                randn(rows, columns, dtype=half),
                randn(columns, dtype=half),
                1e-6,
                empty(rows, columns, dtype=half),
            ],
            [3],
            rmsnorm,
            2e-3,
            1e-3,
            label,
        ),
    ]


def attentions() -> list[Case]:
    q, k, v = randn(1, 8, 1000, 64), randn(1, 8, 900, 64), randn(1, 8, 900, 64)
    half = torch.bfloat16
    gq = randn(2, 200, 8, 128, dtype=half)
    gk, gv = randn(2, 300, 2, 128, dtype=half), randn(2, 300, 2, 128, dtype=half)

    def grouped(args: Arguments) -> list[torch.Tensor]:
        x, y, z = (wide(t).transpose(1, 2) for t in args[:3])
        groups = x.shape[1] // y.shape[1]
        y, z = y.repeat_interleave(groups, 1), z.repeat_interleave(groups, 1)
        return [attention(x, y, z, causal=True)[0].transpose(1, 2)]

    return [
        Case(
            "flash_attention",
            [q, k, v, torch.empty_like(q), empty(1, 8, 1000)],
            [3, 4],
            lambda a: list(attention(wide(a[0]), wide(a[1]), wide(a[2]))),
            1e-3,
            1e-4,
        ),
        Case(
            "flash_attention_causal",
            [q, k, v, torch.empty_like(q), empty(1, 8, 1000)],
            [3, 4],
            lambda a: list(attention(wide(a[0]), wide(a[1]), wide(a[2]), causal=True)),
            1e-3,
            1e-4,
        ),
        Case("grouped_query_attention", [gq, gk, gv, torch.empty_like(gq)], [3], grouped, 2e-2, 1e-2),
    ]


def elementwise(rows: int, columns: int) -> list[Case]:
    brain = torch.bfloat16
    label = f"{rows}x{columns}"
    x = randn(rows, columns)
    integers = torch.randint(-100, 100, (rows, columns), device="cuda", dtype=torch.int32)

    def argmax(v: Arguments) -> list[torch.Tensor]:
        best = wide(v[0]).max(-1)
        return [best.values, best.indices.double()]

    def tanh_gelu(v: Arguments) -> list[torch.Tensor]:
        return [F.gelu(wide(v[0]), approximate="tanh")]

    return [
        Case(
            "vector_add",
            [x, randn(rows, columns), empty(rows, columns)],
            [2],
            lambda v: [wide(v[0]) + wide(v[1])],
            1e-6,
            1e-7,
            label,
        ),
        Case("gelu", [x, empty(rows, columns)], [1], tanh_gelu, 1e-3, 1e-5, label),
        Case(
            "transpose",
            [randn(rows, columns, dtype=brain), empty(columns, rows, dtype=brain)],
            [1],
            lambda v: [wide(v[0]).T],
            0,
            0,
            label,
        ),
        Case(
            "argmax",
            [x, empty(rows), empty(rows, dtype=torch.int32)],
            [1, 2],
            argmax,
            0,
            0,
            label,
        ),
        Case(
            "prefix_sum",
            [integers, torch.empty_like(integers)],
            [1],
            lambda v: [wide(v[0]).cumsum(-1)],
            0,
            0,
            label,
        ),
    ]


def others() -> list[Case]:
    half, brain = torch.float16, torch.bfloat16

    def gemv(v: Arguments) -> list[torch.Tensor]:
        return [wide(v[0]) @ wide(v[1])]

    def bias_relu(v: Arguments) -> list[torch.Tensor]:
        return [torch.relu(wide(v[0]) @ wide(v[1]) + wide(v[2]))]

    def conv(v: Arguments) -> list[torch.Tensor]:
        x, w = wide(v[0]).permute(0, 3, 1, 2), wide(v[1]).permute(2, 0, 1)[:, None]
        y = F.conv2d(x, w, padding=1, groups=x.shape[1])
        return [y.permute(0, 2, 3, 1)]

    a, b = randn(512, 384), randn(384, 448)
    x = randn(2, 45, 50, 40)
    return [
        Case(
            "gemv",
            [randn(1000, 700, dtype=half), randn(700, dtype=half), empty(1000)],
            [2],
            gemv,
            1e-4,
            1e-3,
        ),
        Case(
            "batched_matmul",
            [
                randn(5, 150, 200, dtype=brain),
                randn(5, 200, 170, dtype=brain),
                empty(5, 150, 170),
            ],
            [2],
            lambda v: [wide(v[0]) @ wide(v[1])],
            1e-4,
            1e-3,
        ),
        Case(
            "matmul_bias_relu",
            [
                randn(300, 256, dtype=brain),
                randn(256, 500, dtype=brain),
                randn(500, dtype=brain),
                empty(300, 500, dtype=brain),
            ],
            [3],
            bias_relu,
            1e-2,
            5e-2,
        ),
        Case(
            "matmul_f32",
            [a, b, empty(512, 448)],
            [2],
            lambda v: [wide(v[0]) @ wide(v[1])],
            1e-5,
            5e-4,
        ),
        Case("depthwise_conv", [x, randn(3, 3, 40), torch.empty_like(x)], [2], conv, 1e-5, 1e-5),
    ]


def gathers() -> list[Case]:
    half, brain = torch.float16, torch.bfloat16

    def rotate(v: Arguments) -> list[torch.Tensor]:
        x, c, s = wide(v[0]), wide(v[1])[:, None], wide(v[2])[:, None]
        a, b = x.chunk(2, -1)
        return [torch.cat([a * c - b * s, a * s + b * c], -1)]

    def embed(v: Arguments) -> list[torch.Tensor]:
        tokens = v[0]
        assert isinstance(tokens, torch.Tensor)
        return [wide(v[1])[tokens.long()] + wide(v[2])]

    def diffuse(v: Arguments) -> list[torch.Tensor]:
        u = wide(v[0])
        for _ in range(8):
            padded = F.pad(u, (1, 1))
            u = u + float(v[1]) * (padded[:-2] + padded[2:] - 2 * u)  # type: ignore[arg-type]
        return [u]

    def silu_mul(v: Arguments) -> list[torch.Tensor]:
        return [F.silu(wide(v[0])) * wide(v[1])]

    starts_q, starts_k = [0, 100, 100, 117, 400], [0, 150, 200, 200, 500]

    def packed(v: Arguments) -> list[torch.Tensor]:
        q, k, o = wide(v[0]), (wide(v[1]), wide(v[2])), torch.zeros_like(wide(v[0]))
        for i in range(4):
            rows = slice(starts_q[i], starts_q[i + 1])
            keys = slice(starts_k[i], starts_k[i + 1])
            if starts_k[i] == starts_k[i + 1]:
                continue
            x, y, z = (t.transpose(0, 1) for t in (q[rows], k[0][keys], k[1][keys]))
            o[rows] = attention(x, y, z)[0].transpose(0, 1)
        return [o]

    def integers(values: list[int]) -> torch.Tensor:
        return torch.tensor(values, device="cuda", dtype=torch.int32)

    x, u = randn(300, 6, 80, dtype=half), randn(100000)
    tokens = torch.randint(0, 1000, (500,), device="cuda", dtype=torch.int32)
    q = randn(400, 4, 64, dtype=half)
    k, v = randn(500, 4, 64, dtype=half), randn(500, 4, 64, dtype=half)
    a = randn(500, 777, dtype=brain)
    return [
        Case(
            "rotary_embedding",
            [x, randn(300, 40), randn(300, 40), torch.empty_like(x)],
            [3],
            rotate,
            2e-3,
            4e-3,
        ),
        Case(
            "embedding",
            [tokens, randn(1000, 200, dtype=brain), randn(500, 200, dtype=brain), empty(500, 200)],
            [3],
            embed,
            1e-6,
            1e-6,
        ),
        Case("stencil", [u, 0.25, torch.empty_like(u)], [2], diffuse, 1e-5, 1e-5),
        Case("silu_mul", [a, randn(500, 777, dtype=brain), torch.empty_like(a)], [2], silu_mul, 1e-2, 1e-3),
        Case(
            "flash_attention_varlen",
            [q, k, v, integers(starts_q), integers(starts_k), 283, torch.empty_like(q)],
            [6],
            packed,
            4e-3,
            2e-3,
        ),
    ]


def all_cases() -> list[Case]:
    cases = matmuls(512, 384, 256) + matmuls(500, 400, 300) + matmuls(77, 51, 33)
    cases += normalizations(500, 1000) + normalizations(37, 1003)
    cases += elementwise(600, 1100) + elementwise(61, 333)
    return cases + attentions() + others() + gathers()
