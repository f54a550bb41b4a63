# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Operators of torch; without torch these are skipped."""

from __future__ import annotations

import os
import runpy
import sys

import pytest
import tile
import tile.language as T
from conftest import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")


@tile.jit(out_idx=[2], target="cpu")
def scaled_add(block=64):
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32"), s: T.float32):
        with T.Kernel(T.ceildiv(n, block)) as b:
            for i in T.Parallel(block):
                C[b * block + i] = A[b * block + i] * s + B[b * block + i]

    return main


def test_tensors_are_arguments_and_results() -> None:
    a, b = torch.randn(100), torch.randn(100)
    c = scaled_add()(a, b, 2.0)
    assert isinstance(c, torch.Tensor)
    torch.testing.assert_close(c, a * 2 + b)
    with pytest.raises(ValueError, match="argument 'A': expected elements of float32, got float64"):
        scaled_add()(a.double(), b, 2.0)


def test_operator_with_fake_tensors_autograd_and_compile() -> None:
    def gradient(ctx, grad):
        (s,) = ctx.scalars
        return grad * s, grad, None

    op = tile.torch.register("tile_tests::scaled_add", scaled_add(), backward=gradient)
    a, b = (torch.randn(50, requires_grad=True) for _ in range(2))
    torch.library.opcheck(op, (a, b, 2.0))
    op(a, b, 3.0).sum().backward()
    torch.testing.assert_close(a.grad, torch.full((50,), 3.0))
    torch.testing.assert_close(b.grad, torch.ones(50))
    compiled = torch.compile(lambda x, y: op(x, y, 2.0) + 1, backend="aot_eager")
    torch.testing.assert_close(compiled(a, b), a * 2 + b + 1)


def test_attention_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / "examples" / "python" / "attention_module.py"
    monkeypatch.setitem(os.environ, "TILE_TARGET", "cpu")
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.syspath_prepend(str(path.parent))
    runpy.run_path(str(path), run_name="__main__")
