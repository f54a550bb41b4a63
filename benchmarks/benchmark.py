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
from tile_runtime import Runtime

Call = Callable[[], None]


@dataclass
class Row:
    name: str
    tile: float
    peer: float
    peer_name: str
    flops: float
    bytes: float

    def rate(self, seconds: float) -> str:
        if self.flops:
            return f"{self.flops / seconds / 1e12:.0f} TFLOP/s"
        return f"{self.bytes / seconds / 1e12:.2f} TB/s"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runtime = Runtime(options.library)
    rows: list[Row] = []

    def load(file: str, function: str) -> Any:
        return runtime.load(options.artifacts / f"{file}.tile", function, options.chip)

    def measure(
        name: str,
        make: Callable[[], tuple[Call, Call]],
        peer_name: str,
        flops: float = 0,
        bytes_moved: float = 0,
        sets: int = 4,
    ) -> None:
        try:
            pairs = [make() for _ in range(sets)]
            tile, peer = time_calls([[p[0] for p in pairs], [p[1] for p in pairs]], options.repeats)
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}", flush=True)
            return
        row = Row(name, tile, peer, peer_name, flops, bytes_moved)
        rows.append(row)
        print(
            f"{name:28} {tile * 1e6:9.1f} us {row.rate(tile):>14}   {peer_name} {peer * 1e6:9.1f} us "
            f"{row.rate(peer):>14}   {peer / tile:.2f}x",
            flush=True,
        )

    size = 4096
    for file, function in [("gemm", "gemm"), ("gemm", "gemm_nt")]:

        def make_gemm(function: str = function, file: str = file) -> tuple[Call, Call]:
            a, b = randn(size, size), randn(size, size)
            c = torch.empty_like(a)
            d = torch.empty_like(a)
            other = b.T if function.endswith("nt") else b
            return load(file, function).bind(a, b, c), lambda: torch.matmul(a, other, out=d)

        measure(f"{function} f16 {size}^3", make_gemm, "cuBLAS", flops=2 * size**3)

    side = 8192
    for name in ("softmax", "add", "copy"):

        def make_row(name: str = name) -> tuple[Call, Call]:
            x, y = randn(side, side), randn(side, side)
            z = torch.empty_like(x)
            if name == "softmax":
                return load("rows", "softmax").bind(x, z), lambda: F.softmax(x, -1)
            if name == "add":
                return load("rows", "add").bind(x, y, z), lambda: torch.add(x, y, out=z)
            return load("rows", "copy").bind(x, z), lambda: z.copy_(x)

        passes = 3 if name == "add" else 2
        measure(f"{name} f16 {side}^2", make_row, "torch", bytes_moved=passes * 2 * side * side)

    def make_norm() -> tuple[Call, Call]:
        x, w, bias = randn(side, side), randn(side), randn(side)
        z = torch.empty_like(x)
        return load("rows", "layernorm").bind(x, w, bias, z), lambda: F.layer_norm(
            x, (side,), w, bias
        )

    measure(f"layernorm f16 {side}^2", make_norm, "torch", bytes_moved=4 * side * side)

    batch, heads, length, width = 1, 16, 8192, 128

    def make_attention() -> tuple[Call, Call]:
        q, k, v = (randn(batch, heads, length, width) for _ in range(3))
        o = torch.empty_like(q)

        def peer() -> None:
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
                F.scaled_dot_product_attention(q, k, v)

        return load("attention", "attention").bind(q, k, v, o), peer

    flops = 4 * batch * heads * length * length * width
    measure(f"attention f16 {length}x{width}", make_attention, "FA2", flops=flops, sets=2)

    if options.json:
        record = {
            "gpu": torch.cuda.get_device_name(0),
            "chip": options.chip,
            "torch": torch.__version__,
            "rows": [vars(row) for row in rows],
        }
        options.json.write_text(json.dumps(record, indent=1))
    if rows:
        mean = math.exp(statistics.mean(math.log(row.peer / row.tile) for row in rows))
        print(f"geometric mean against the peers: {mean:.2f}x")


if __name__ == "__main__":
    main()
