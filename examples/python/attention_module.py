# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc,no-any-return"
"""Attention as a layer of torch, forward and backward, against
`scaled_dot_product_attention`.

The kernels of attention_backward.py are registered as one custom op with fake
tensors and autograd, so the layer trains, compiles (`torch.compile`) and, on a GPU,
is captured in a CUDA graph.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import tile
from attention_backward import backward, forward, preprocess
from common import LARGE, TARGET

try:
    import torch
except ImportError:
    sys.exit("this example needs torch")


@cache
def attention_op(batch: int, heads: int, groups: int, rows: int, dim: int, causal: bool) -> Any:
    """The operator for one shape: (Q, K, V) to (O, log-sum). The kernels of its gradient
    are operators too, since torch.compile traces that as well."""
    name = f"tile_examples::attention_{batch}_{heads}_{groups}_{rows}_{dim}_{int(causal)}"
    delta_of = tile.torch.register(name + "_delta", preprocess(batch, heads, rows, dim))
    add_gradients = tile.torch.register(name + "_backward", backward(batch, heads, groups, rows, dim, causal))

    def gradient(ctx, grad_out, grad_lse):
        q, k, v, out, lse = ctx.saved_tensors
        grad_out = grad_out.contiguous()
        delta = delta_of(out, grad_out)
        dq, dk, dv = (torch.zeros(x.shape, dtype=torch.float32, device=x.device) for x in (q, k, v))
        add_gradients(q, k, v, grad_out, lse, delta, dq, dk, dv)
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)

    return tile.torch.register(name, forward(batch, heads, groups, rows, dim, causal), backward=gradient)


class Attention(torch.nn.Module):
    """Multi-head attention with projections, on (batch, rows, width)."""

    def __init__(self, width: int, heads: int, groups: int = 1, causal: bool = True) -> None:
        super().__init__()
        self.heads, self.groups, self.dim, self.causal = heads, groups, width // heads, causal
        self.q = torch.nn.Linear(width, width, bias=False)
        self.kv = torch.nn.Linear(width, 2 * width // groups, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)

    def project(self, x):
        batch, rows, width = x.shape
        q = self.q(x).view(batch, rows, self.heads, self.dim).transpose(1, 2).contiguous()
        k, v = self.kv(x).view(batch, rows, 2, self.heads // self.groups, self.dim).permute(2, 0, 3, 1, 4).contiguous()
        return q, k, v

    def forward(self, x):
        q, k, v = self.project(x)
        batch, heads, rows, dim = q.shape
        out, _ = attention_op(batch, heads, self.groups, rows, dim, self.causal)(q, k, v)
        return self.out(out.transpose(1, 2).reshape(x.shape))

    def reference(self, x):
        q, k, v = self.project(x)
        k, v = (y.repeat_interleave(self.groups, dim=1) for y in (k, v))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(out.transpose(1, 2).reshape(x.shape))


def gradients(layer, call, x):
    layer.zero_grad()
    x = x.clone().requires_grad_(True)
    out = call(x)
    # Weights of one keep the gradients within float16's range.
    (out.float() * torch.linspace(-1, 1, out.numel(), device=x.device).view(out.shape)).sum().backward()
    return [out.detach(), x.grad, *(p.grad.clone() for p in layer.parameters())]


def close(what: str, found, wanted) -> None:
    error = ((found.float() - wanted.float()).norm() / wanted.float().norm()).item()
    if not error < 2e-2:
        raise SystemExit(f"{what}: relative error {error}")
    print(f"{what}: right, relative error {error:.1e}")


def main() -> None:
    torch.manual_seed(0)
    device = "cuda" if TARGET == "cuda" else "cpu"
    batch, rows, width, heads = (4, 1024, 1024, 16) if LARGE else (1, 100, 128, 2)
    for groups in (1, 2):
        layer = Attention(width, heads, groups).to(device=device, dtype=torch.float16)
        x = torch.randn(batch, rows, width, device=device, dtype=torch.float16)
        names = ["output", "gradient of x", *(f"gradient of {name}" for name, _ in layer.named_parameters())]
        wanted = gradients(layer, layer.reference, x)
        for what, found, right in zip(names, gradients(layer, layer, x), wanted):
            close(f"attention layer, groups {groups}, {what}", found, right)
        compiled = torch.compile(layer, fullgraph=False)
        for what, found, right in zip(names, gradients(layer, compiled, x), wanted):
            close(f"compiled, groups {groups}, {what}", found, right)
        if device == "cuda":
            with torch.no_grad():
                layer(x)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    captured = layer(x)
                captured.zero_()
                graph.replay()
                close(f"CUDA graph, groups {groups}, output", captured, wanted[0])


if __name__ == "__main__":
    main()
