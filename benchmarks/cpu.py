#!/usr/bin/env python3
"""Times the CPU target beside NumPy, in turns, and records the figures.

    benchmarks/cpu.py              all cases, a table
    benchmarks/cpu.py --rounds 9   more turns
    benchmarks/cpu.py --record     and docs/benchmarks/CPU.json and CPU.md

Each round runs every case once with `tile-run --bench` and once with NumPy, so
that a drift of the machine's speed meets both; the ratio is that of the medians
over the rounds, beside that of the least times, which a busy machine disturbs
less. Where the peer moves other amounts of memory than the program, speeds are
bytes a second. NumPy's matrix product is OpenBLAS, whose choice of a kernel can
take a CPU for its grandfather: unless OPENBLAS_CORETYPE is set, it is set to
what the CPU's features ask for, and the record names the kernel that came of it.
Each example is compiled beside that, and the least time of three is recorded.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
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
from typing import Any


def choose_blas_kernel() -> None:
    """Before OpenBLAS is loaded, that is before NumPy is."""
    flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    for flag, kernel in (("avx512_bf16", "SapphireRapids"), ("avx512f", "SkylakeX"), ("avx2", "Haswell")):
        if flag in flags.split():
            os.environ.setdefault("OPENBLAS_CORETYPE", kernel)
            return


choose_blas_kernel()

import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Case:
    """One comparison: a tile program with its options, and what it is held to."""

    name: str
    command: list[str]
    peer_name: str
    peer: Callable[[], None] | list[str]
    """A function of this process, or another tile program."""
    # The share of the peer's speed that the project aims at.
    target: float
    # The program's bytes or operations, measured in the peer's.
    work: float = 1.0


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


def cases() -> list[Case]:
    def square(extent: int, dtype: str) -> list[str]:
        return ["--arg", f"A=randn:{extent}x{extent}x{dtype}", "--arg", f"B=randn:{extent}x{extent}x{dtype}"]

    wide = ["--arg", "X=randn:4096x4096xf32"]
    tokens = ["--arg", "X=randn:2x2048x32x128xf32"]
    heads = ["--entry", "flash_attention"]
    return [
        Case("matmul f32 1024^3", ["matmul_f32.mlir", *square(1024, "f32")], "OpenBLAS f32", matmul(1024), 0.7),
        Case("matmul f32 2048^3", ["matmul_f32.mlir", *square(2048, "f32")], "OpenBLAS f32", matmul(2048), 0.7),
        Case(
            "matmul f16 1024^3",
            ["matmul.mlir", "--entry", "matmul", *square(1024, "f16")],
            "our own f32",
            ["matmul_f32.mlir", *square(1024, "f32")],
            1.0,
        ),
        Case(
            "matmul bf16 1024^3",
            ["batched_matmul.mlir", "--arg", "A=randn:1x1024x1024xbf16", "--arg", "B=randn:1x1024x1024xbf16"],
            "our own f32",
            ["matmul_f32.mlir", *square(1024, "f32")],
            1.0,
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
            "memory copy",
            copy(4096, 4096),
            0.8,
            work=1.5,
        ),
        Case("softmax f32 4096x4096", ["softmax.mlir", *wide], "memory copy", copy(4096, 4096), 0.8),
        Case("layernorm f32 4096x4096", ["layernorm.mlir", *tokens], "memory copy", copy(4096, 4096), 0.8),
        Case(
            "gelu f32 4096x4096", ["activations.mlir", "--entry", "gelu", *wide], "memory copy", copy(4096, 4096), 0.8
        ),
        Case(
            "rmsnorm f16 4096x4096",
            ["rmsnorm.mlir", "--arg", "X=randn:4096x4096xf16"],
            "memory copy",
            copy(4096, 4096, np.float16),
            0.8,
        ),
    ]


def time_tile(tile_run: Path, arguments: list[str]) -> tuple[float, float]:
    """Seconds of the median and the fastest run, as tile-run prints them."""
    program, *options = arguments
    command = [str(tile_run), str(ROOT / "examples" / program), "--target=cpu", "--bench=7", "--no-reference", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    header, row = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()[:2])
    median, least = (row[header.index(name)].split() for name in ("median", "min"))
    return float(median[0]) * UNITS[median[1]], float(least[0]) * UNITS[least[1]]


def time_peer(tile_run: Path, peer: Callable[[], None] | list[str]) -> tuple[float, float]:
    if isinstance(peer, list):
        return time_tile(tile_run, peer)
    peer()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        peer()
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def get_blas_kernel() -> str:
    """What OpenBLAS says it runs."""
    for library in sorted((Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas*")):
        ask = ctypes.CDLL(str(library)).scipy_openblas_get_corename64_
        ask.restype = ctypes.c_char_p
        return str(ask().decode())
    return "unknown"


def machine() -> dict[str, object]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas_kernel": get_blas_kernel(),
        "load": os.getloadavg()[0],
        "commit": commit.stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["benchmarks/cpu.py", *sys.argv[1:]]),
    }


def time_compilations(tile_run: Path, runs: int = 3) -> dict[str, float]:
    """Seconds from the text of each example's functions to code that can be called."""
    least: dict[str, float] = {}
    for _ in range(runs):
        for example in sorted((ROOT / "examples").glob("*.mlir")):
            command = [str(tile_run), str(example), "--target=cpu", "--no-reference", "--no-cache", "--time-passes"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            function = ""
            for line in (done.stdout + done.stderr).splitlines():
                if found := re.match(r"step of '(.*)'", line):
                    function = f"{example.name} @{found[1]}"
                elif found := re.match(r"all\s+([\d.]+) (\S+)$", line):
                    seconds = float(found[1]) * UNITS[found[2]]
                    least[function] = min(seconds, least.get(function, seconds))
    return least


def formatted(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def write_record(folder: Path, of: dict[str, object], rows: list[dict[str, Any]], compiled: dict[str, float]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    record = {"machine": of, "rows": rows, "compile_s": compiled}
    (folder / "CPU.json").write_text(json.dumps(record, indent=1) + "\n")
    lines = [
        "# The CPU target beside NumPy",
        "",
        f"Written by `{of['command']}`; the raw figures are in [CPU.json](CPU.json).",
        "",
        f"{of['date']}, commit {of['commit']}: {of['cpu']}, {of['cores']} cores; load {of['load_before']:.1f} before,"
        f" {of['load']:.1f} at the end. Python {of['python']}, NumPy {of['numpy']}, whose OpenBLAS names its kernel"
        f" {of['blas_kernel']}.",
        "",
        "Speed is that of the medians, in operations or, beside a memory copy, in bytes a second; the least times"
        " of each side are less disturbed by what else ran.",
        "",
        "| program | tile | peer | peer's time | speed | of the least times | goal |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row['case']} | {formatted(statistics.median(row['tile_s']))} | {row['peer']}"
            f" | {formatted(statistics.median(row['peer_s']))} | {row['ratio']:.2f} | {row['ratio_of_least']:.2f}"
            f" | {row['target']:.1f} |"
        )
    slowest = sorted(compiled.items(), key=lambda item: -item[1])
    lines += [
        "",
        f"From text to code that can be called, the least of three, slowest first of {len(slowest)} functions in"
        " examples; the goal is 500 ms for each:",
        "",
        "| function | compiled in |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {seconds * 1e3:.0f} ms |" for name, seconds in slowest[:8]]
    (folder / "CPU.md").write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--tile-run", type=Path, default=ROOT / "build/bin/tile-run")
    parser.add_argument(
        "--record",
        type=Path,
        nargs="?",
        const=ROOT / "docs/benchmarks",
        help="write CPU.json and CPU.md into this folder, docs/benchmarks unless named",
    )
    arguments = parser.parse_args()

    chosen = [case for case in cases() if arguments.only in case.name]
    Times = list[tuple[float, float]]
    ours: dict[str, Times] = {case.name: [] for case in chosen}
    theirs: dict[str, Times] = {case.name: [] for case in chosen}
    start_load = os.getloadavg()[0]
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        for case in chosen:
            ours[case.name].append(time_tile(arguments.tile_run, case.command))
            theirs[case.name].append(time_peer(arguments.tile_run, case.peer))

    rows: list[dict[str, Any]] = []
    print(f"{'case':34}{'tile':>11}{'peer':>11}{'speed':>8}{'of least':>9}{'target':>8}  peer")
    for case in chosen:
        medians = [statistics.median(run[0] for run in side[case.name]) for side in (ours, theirs)]
        least = [min(run[1] for run in side[case.name]) for side in (ours, theirs)]
        ratio, best_ratio = (case.work * times[1] / times[0] for times in (medians, least))
        print(
            f"{case.name:34}{medians[0] * 1e3:8.2f} ms{medians[1] * 1e3:8.2f} ms{ratio:7.2f}x{best_ratio:8.2f}x"
            f"{case.target:7.2f}x  {case.peer_name}"
        )
        rows.append(
            {
                "case": case.name,
                "program": case.command,
                "peer": case.peer_name,
                "target": case.target,
                "work": case.work,
                "tile_s": [run[0] for run in ours[case.name]],
                "peer_s": [run[0] for run in theirs[case.name]],
                "tile_least_s": least[0],
                "peer_least_s": least[1],
                "ratio": ratio,
                "ratio_of_least": best_ratio,
            }
        )
    if arguments.record:
        print("compiling the examples", file=sys.stderr)
        compiled = time_compilations(arguments.tile_run)
        write_record(arguments.record, machine() | {"load_before": start_load}, rows, compiled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
