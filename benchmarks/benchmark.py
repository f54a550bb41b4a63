"""Times compiled kernels beside torch on this machine's GPU, and writes a table.

Kernel and peer take turns in one process; each call works on another set of buffers, so that the
L2 cache holds little of it. Times are medians of device events.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tile_runtime import Artifacts

Call = Callable[[], None]


@dataclass
class Row:
    """One kernel: its median seconds and those of its peers, by name."""

    name: str
    tile: float
    peers: dict[str, float]
    flops: float
    bytes: float

    def rate(self, seconds: float) -> str:
        if self.flops:
            return f"{self.flops / seconds / 1e12:.0f} TFLOP/s"
        return f"{self.bytes / seconds / 1e12:.2f} TB/s"

    def line(self) -> str:
        text = f"{self.name:24} {self.tile * 1e6:9.1f} us {self.rate(self.tile):>12}"
        for peer, seconds in self.peers.items():
            text += f"   {peer} {seconds * 1e6:.1f} us {self.rate(seconds)} {seconds / self.tile:.2f}x"
        return text


def time_calls(groups: list[list[Call]], repeats: int) -> list[float]:
    """Median seconds of each group of interchangeable calls; the groups take turns."""
    samples: list[list[float]] = [[] for _ in groups]
    for round_number in range(repeats + 3):
        for number, calls in enumerate(groups):
            start = torch.cuda.Event(enable_timing=True)
            stop = torch.cuda.Event(enable_timing=True)
            start.record()
            for call in calls:
                call()
            stop.record()
            stop.synchronize()
            if round_number >= 3:
                samples[number].append(start.elapsed_time(stop) / 1e3 / len(calls))
    return [statistics.median(times) for times in samples]


def randn(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(dtype)


_compiled: dict[str, Callable[..., Any]] = {}


def compile_once(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__
    if name not in _compiled:
        _compiled[name] = torch.compile(function, dynamic=False)
    return _compiled[name]


def softmax(x: torch.Tensor) -> torch.Tensor:
    return F.softmax(x, -1)


def layernorm(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), w, bias)


def rmsnorm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), w, 1e-6)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def copy(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def gemv(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.mv(a, x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    Artifacts.add_options(parser)
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--compile", action="store_true", help="time torch.compile beside torch")
    parser.add_argument("--only", help="parts of names, separated by commas")
    options = parser.parse_args()
    artifacts = Artifacts(options)
    rows: list[Row] = []

    def load(file: str, function: str) -> Any:
        return artifacts.load(file, function, options.chip)

    def measure(
        name: str,
        make: Callable[[], dict[str, Call]],
        flops: float = 0,
        bytes_moved: float = 0,
        sets: int = 4,
    ) -> None:
        """`make` gives the calls on one set of buffers, "tile" among them."""
        if options.only and not any(part in name for part in options.only.split(",")):
            return
        try:
            calls = [make() for _ in range(sets)]
            names = list(calls[0])
            times = dict(
                zip(
                    names,
                    time_calls([[c[n] for c in calls] for n in names], options.repeats),
                    strict=True,
                )
            )
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}", flush=True)
            return
        row = Row(name, times.pop("tile"), times, flops, bytes_moved)
        rows.append(row)
        print(row.line(), flush=True)

    def peers(eager: Callable[..., Any], *arguments: torch.Tensor) -> dict[str, Call]:
        """The same function in torch, as it is and compiled."""
        calls: dict[str, Call] = {"torch": lambda: eager(*arguments)}
        if options.compile:
            compiled = compile_once(eager)
            calls["torch.compile"] = lambda: compiled(*arguments)
        return calls

    size = 4096
    for file, function in [("gemm", "gemm"), ("gemm", "gemm_nt")]:

        def make_gemm(function: str = function, file: str = file) -> dict[str, Call]:
            a, b = randn(size, size), randn(size, size)
            c = torch.empty_like(a)
            d = torch.empty_like(a)
            other = b.T if function.endswith("nt") else b
            return {
                "tile": load(file, function).bind(a, b, c),
                "cuBLAS": lambda: torch.matmul(a, other, out=d),
            }

        measure(f"{function} f16 {size}^3", make_gemm, flops=2 * size**3)

    side = 8192
    functions: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], int]] = {
        "copy": (copy, [(side, side)], 2),
        "add": (add, [(side, side)] * 2, 3),
        "softmax": (softmax, [(side, side)], 2),
        "layernorm": (layernorm, [(side, side), (side,), (side,)], 2),
        "rmsnorm": (rmsnorm, [(side, side), (side,)], 2),
    }
    for name, (reference, shapes, passes) in functions.items():

        def make_row(
            name: str = name,
            reference: Callable[..., Any] = reference,
            shapes: list[tuple[int, ...]] = shapes,
        ) -> dict[str, Call]:
            inputs = [randn(*shape) for shape in shapes]
            z = torch.empty_like(inputs[0])
            return {
                "tile": load("rows", name).bind(*inputs, z),
                **peers(reference, *inputs),
            }

        measure(f"{name} f16 {side}^2", make_row, bytes_moved=passes * 2 * side * side)

    long = 16384

    def make_gemv() -> dict[str, Call]:
        a, x = randn(long, long), randn(long)
        y = torch.empty_like(x)
        return {"tile": load("rows", "gemv").bind(a, x, y), **peers(gemv, a, x)}

    measure(f"gemv f16 {long}^2", make_gemv, bytes_moved=2 * long * long)

    batch, heads, length, width = 1, 16, 8192, 128

    def make_attention(function: str = "attention") -> dict[str, Call]:
        q, k, v = (randn(batch, heads, length, width) for _ in range(3))
        o = torch.empty_like(q)
        is_causal = function.endswith("causal")

        def peer() -> None:
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
                F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

        return {"tile": load("attention", function).bind(q, k, v, o), "FA2": peer}

    flops = 4 * batch * heads * length * length * width
    measure(f"attention f16 {length}x{width}", make_attention, flops=flops, sets=2)
    measure(
        f"attention_causal f16 {length}x{width}",
        lambda: make_attention("attention_causal"),
        flops=flops / 2,
        sets=2,
    )

    if options.json:
        record = {
            "gpu": torch.cuda.get_device_name(0),
            "chip": options.chip,
            "torch": torch.__version__,
            "rows": [vars(row) for row in rows],
        }
        options.json.write_text(json.dumps(record, indent=1))
    for peer in sorted({peer for row in rows for peer in row.peers}):
        ratios = [row.peers[peer] / row.tile for row in rows if peer in row.peers]
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"geometric mean against {peer}: {mean:.2f}x over {len(ratios)}")


if __name__ == "__main__":
    main()
