#!/usr/bin/env python3
"""Times the CPU target beside NumPy, in turns, and records the figures.

    benchmarks/cpu.py              all cases, a table
    benchmarks/cpu.py --rounds 9   more turns
    benchmarks/cpu.py --json FILE  and a record for docs/benchmarks

Each round runs every case once with `tile-run --bench` and once with NumPy, so
that a drift of the machine's speed meets both; the ratio is that of the medians
over the rounds. NumPy's matrix product is OpenBLAS: the record names the kernel
it picked, since an old one can take a CPU for its grandfather.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Case:
    """One comparison: a tile program with its options, and what it is held to."""

    name: str
    command: list[str]
    peer_name: str
    peer: Callable[[], None]
    # The share of the peer's speed that the project aims at.
    target: float


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def matmul(extent: int) -> Callable[[], None]:
    a, b = normal(extent, extent), normal(extent, extent)
    c = np.empty_like(a)

    def run() -> None:
        np.matmul(a, b, out=c)

    return run


def attention(heads: int, length: int, depth: int) -> Callable[[], None]:
    q, k, v = (normal(1, heads, length, depth) for _ in range(3))

    def run() -> None:
        scores = q @ k.transpose(0, 1, 3, 2) * np.float32(depth**-0.5)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        scores @ v

    return run


def copy(rows: int, columns: int, dtype: type = np.float32) -> Callable[[], None]:
    source: np.ndarray = normal(rows, columns).astype(dtype)
    target = np.empty_like(source)
    workers = os.cpu_count() or 1
    pool = ThreadPoolExecutor(workers)
    parts = np.array_split(np.arange(rows), workers)

    def part(of: np.ndarray) -> None:
        np.copyto(target[of[0] : of[-1] + 1], source[of[0] : of[-1] + 1])

    def run() -> None:
        list(pool.map(part, parts))

    return run


def add(rows: int, columns: int) -> Callable[[], None]:
    x, y = normal(rows, columns), normal(rows, columns)
    z = np.empty_like(x)

    def run() -> None:
        np.add(x, y, out=z)

    return run


def cases() -> list[Case]:
    def square(extent: int, dtype: str) -> list[str]:
        return ["--arg", f"A=randn:{extent}x{extent}x{dtype}", "--arg", f"B=randn:{extent}x{extent}x{dtype}"]

    wide = ["--arg", "X=randn:4096x4096xf32"]
    heads = ["--entry", "flash_attention"]
    return [
        Case("matmul f32 1024^3", ["matmul_f32.mlir", *square(1024, "f32")], "OpenBLAS f32", matmul(1024), 0.7),
        Case("matmul f32 2048^3", ["matmul_f32.mlir", *square(2048, "f32")], "OpenBLAS f32", matmul(2048), 0.7),
        Case(
            "matmul f16 1024^3",
            ["matmul.mlir", "--entry", "matmul", *square(1024, "f16")],
            "OpenBLAS f32",
            matmul(1024),
            0.7,
        ),
        Case(
            "flash attention f32 1x8x2048x64",
            ["flash_attention.mlir", *heads, "--arg", "Q=randn:1x8x2048x64xf32", "--arg", "K=randn:1x8x2048x64xf32"],
            "NumPy attention",
            attention(8, 2048, 64),
            3.0,
        ),
        Case(
            "vector add f32 4096x4096",
            ["vector_add.mlir", *wide],
            "NumPy add",
            add(4096, 4096),
            0.8,
        ),
        Case("softmax f32 4096x4096", ["softmax.mlir", *wide], "memory copy", copy(4096, 4096), 0.8),
        Case(
            "rmsnorm f16 4096x4096",
            ["rmsnorm.mlir", "--arg", "X=randn:4096x4096xf16"],
            "memory copy",
            copy(4096, 4096, np.float16),
            0.8,
        ),
    ]


def time_tile(tile_run: Path, case: Case) -> float:
    """Seconds of the median run, as tile-run prints it."""
    program, *options = case.command
    command = [str(tile_run), str(ROOT / "examples" / program), "--target=cpu", "--bench=7", "--no-reference", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    header, row = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()[:2])
    value, unit = row[header.index("median")].split()
    return float(value) * UNITS[unit]


def time_peer(peer: Callable[[], None]) -> float:
    peer()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        peer()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def machine() -> dict[str, object]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    libraries: list[str] = []
    if importlib.util.find_spec("threadpoolctl"):
        found = importlib.import_module("threadpoolctl").threadpool_info()
        libraries = [f"{i.get('internal_api')} {i.get('version')} {i.get('architecture')}" for i in found]
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": libraries,
        "commit": commit.stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "command": "benchmarks/cpu.py " + " ".join(sys.argv[1:]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--tile-run", type=Path, default=ROOT / "build/bin/tile-run")
    parser.add_argument("--json", type=Path, help="where to write the record")
    arguments = parser.parse_args()

    chosen = [case for case in cases() if arguments.only in case.name]
    ours: dict[str, list[float]] = {case.name: [] for case in chosen}
    theirs: dict[str, list[float]] = {case.name: [] for case in chosen}
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        for case in chosen:
            ours[case.name].append(time_tile(arguments.tile_run, case))
            theirs[case.name].append(time_peer(case.peer))

    rows = []
    print(f"{'case':34}{'tile':>11}{'peer':>11}{'speed':>8}{'target':>8}  peer")
    for case in chosen:
        mine, other = statistics.median(ours[case.name]), statistics.median(theirs[case.name])
        print(
            f"{case.name:34}{mine * 1e3:8.2f} ms{other * 1e3:8.2f} ms{other / mine:7.2f}x{case.target:7.2f}x"
            f"  {case.peer_name}"
        )
        rows.append(
            {
                "case": case.name,
                "program": case.command,
                "peer": case.peer_name,
                "target": case.target,
                "tile_s": ours[case.name],
                "peer_s": theirs[case.name],
                "ratio": other / mine,
            }
        )
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
