"""What the examples share: arrays where the kernel runs, checks, times.

An example runs on the GPU where there is one, else on the cpu; `--target=cpu`,
`cuda` or `emulator` says otherwise, `--large` takes sizes worth timing. Arrays are
torch's on a GPU and NumPy's elsewhere.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tile

_parser = argparse.ArgumentParser()
_parser.add_argument("--target", default="", help="cpu, cuda or emulator")
_parser.add_argument("--large", action="store_true", help="sizes worth timing")
_parser.add_argument("--seed", type=int, default=0)
_options = _parser.parse_args(sys.argv[1:] if sys.argv[0].endswith(".py") else [])
if _options.target:
    os.environ["TILE_TARGET"] = _options.target
TARGET = tile.env.default_target()
LARGE = _options.large
_rng = np.random.default_rng(_options.seed)
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float8_e4m3fn": 2.0**-3}


def put(array: Any, dtype: str) -> Any:
    """A NumPy array in an element type, where the kernel runs."""
    from tile.profiler import _placed

    array = array.astype(tile.language.dtype(dtype).as_numpy())
    return _placed(array, dtype, "cuda") if TARGET == "cuda" else array


def randn(shape: Sequence[int], dtype: str = "float16") -> Any:
    """Normally distributed numbers."""
    return put(_rng.standard_normal(tuple(shape)), dtype)


def integers(low: int, high: int, shape: Sequence[int], dtype: str) -> Any:
    """Integers from `low` up to, but not including, `high`."""
    return put(_rng.integers(low, high, tuple(shape)), dtype)


def zeros(shape: Sequence[int], dtype: str) -> Any:
    """Zeros."""
    return put(np.zeros(tuple(shape)), dtype)


def f64(array: Any) -> np.ndarray[Any, Any]:
    """Any array as NumPy's float64."""
    result: np.ndarray[Any, Any] = tile.profiler.as_float64(array)
    return result


def check(what: str, result: Any, reference: Any, rtol: float | None = None, atol: float | None = None) -> None:
    """Compares with a reference in float64: in the norm, and every element. Without
    bounds an element may be off by eight rounding errors of its type."""
    found, wanted = f64(result), np.asarray(reference, dtype=np.float64)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape} instead of {wanted.shape}"
    name = str(result.dtype).rpartition(".")[2]
    rms = float(np.sqrt(np.mean(wanted**2))) or 1.0
    eps = EPS.get(name, 0.0)
    bound = (rtol if rtol is not None else 8 * eps) * np.abs(wanted) + (atol if atol is not None else 8 * eps * rms)
    off = np.abs(found - wanted)
    wrong = ~(off <= bound)
    error = float(np.linalg.norm(found - wanted) / (np.linalg.norm(wanted) or 1.0))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise SystemExit(f"{what}: {wrong.sum()} wrong, the first at {at}: {found[at]} instead of {wanted[at]}")
    print(f"{what}: right, relative error {error:.1e}")


def time(what: str, call: Callable[[], Any], flops: float = 0, size: float = 0) -> None:
    """Prints the time of a call, and the rates that follow."""
    if TARGET == "emulator":
        return  # the time of an emulator says nothing
    budget = {"warmup": 25, "rep": 100} if LARGE else {"warmup": 1, "rep": 5}
    ms = tile.do_bench(call, **budget, target=TARGET)
    rates = f", {flops / ms * 1e-6:.1f} GFLOP/s" if flops else ""
    rates += f", {size / ms * 1e-6:.1f} GB/s" if size else ""
    print(f"{what}: {ms:.3f} ms on {TARGET}{rates}")


def attention(q: Any, k: Any, v: Any, causal: bool = False) -> tuple[Any, Any]:
    """Attention by its definition, on (batch, heads, rows, dim) in float64; the last
    query sees the last key. Gives the output and the probabilities."""
    q, k, v = f64(q), f64(k), f64(v)
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        rows, columns = scores.shape[-2:]
        seen = np.arange(columns)[None, :] <= np.arange(rows)[:, None] + columns - rows
        scores = np.where(seen, scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", p, v), p
