#!/usr/bin/env python3
"""Times the emulator on two cores with all checks, and records the figures.

    benchmarks/emulator.py              measures, prints, writes docs/benchmarks/Emulator.json and .md
    benchmarks/emulator.py --dry        measures and prints
    benchmarks/emulator.py --rounds 9   more turns; the record holds the median and the spread

A case is one `tile-run`, from its start to its end: the program or the PTX is read and compiled,
nothing comes from a cache, and its kernel runs as often as tile-run runs it (a tile program twice,
with other garbage in its results). No reference is computed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs" / "benchmarks" / "Emulator.json"
CORES = 2

sys.path.insert(0, str(ROOT / "test" / "emulator"))
from cases import attention_options, gemm_options  # noqa: E402


@dataclass(frozen=True)
class Case:
    name: str
    file: str
    options: list[str]
    goal: float | None = None
    """Seconds that the project allows."""


def cases() -> list[Case]:
    def example(name: str, file: str, chip: str, arguments: list[str], goal: float) -> Case:
        options = [f"--entry={file}", "--target=emulator", f"--chip={chip}", "--no-reference", "--no-cache"]
        values = [word for argument in arguments for word in ("--arg", argument)]
        return Case(f"{name}, {chip}", f"examples/{file}.mlir", [*options, *values], goal)

    square = ["A=randn:256x256xf16", "B=randn:256x256xf16"]
    heads = ["Q=randn:1x2x512x64xf32", "K=randn:1x2x512x64xf32"]
    product = gemm_options((256, 256, 256), (128, 128), "--grid=2 --block=384 --shared=229488", 128)
    return [
        *(example("GEMM 256x256x256, f16", "matmul", chip, square, 2) for chip in ("sm_80", "sm_90")),
        *(
            example("flash attention 1x2x512x64, f32", "flash_attention", chip, heads, 10)
            for chip in ("sm_80", "sm_90")
        ),
        Case("GEMM 256x256x256, f16, by hand", "test/Emulator/golden_gemm_pingpong.ptx", product),
        Case(
            "flash attention 1x2x512x64, f16, by hand",
            "test/Emulator/golden_attention_d64.ptx",
            attention_options(2, 512),
        ),
    ]


def measure(tile_run: Path, case: Case) -> tuple[float, float]:
    """Seconds on the wall, and of processors."""
    command = [str(tile_run), str(ROOT / case.file), *case.options]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def describe_machine(load: float, rounds: int) -> dict[str, object]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(load, 2),
        "commit": commit.stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "command": f"benchmarks/emulator.py --rounds {rounds}",
    }


def format_page(record: dict[str, Any]) -> str:
    machine = record["machine"]
    lines = [
        "# The emulator: what it costs",
        "",
        f"`{machine['command']}` at commit {machine['commit']}, {machine['date']}: {machine['cores']} cores, "
        f"{machine['cpu']},",
        f"load {machine['load_before']} beforehand. All checks are on. Times are those of a whole `tile-run`,",
        "compilation included; a tile program runs twice in it. "
        f"Median of {record['rounds']} turns, with the least and the most.",
        "",
        "| case | wall | processors | goal |",
        "| --- | --- | --- | --- |",
    ]
    for row in record["rows"]:
        wall, cpu = sorted(row["wall_s"]), statistics.median(row["cpu_s"])
        goal = f"{row['goal_s']:g} s" if row["goal_s"] else ""
        spread = f"{statistics.median(wall):.2f} s ({wall[0]:.2f} to {wall[-1]:.2f})"
        lines.append(f"| {row['case']} | {spread} | {cpu:.2f} s | {goal} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each case")
    parser.add_argument("--tile-run", type=Path, default=ROOT / "build/bin/tile-run")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    load = os.getloadavg()[0]
    rows: list[dict[str, Any]] = [{"case": c.name, "goal_s": c.goal, "wall_s": [], "cpu_s": []} for c in cases()]
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for row, case in zip(rows, cases(), strict=True):
            wall, cpu = measure(options.tile_run, case)
            row["wall_s"].append(round(wall, 3))
            row["cpu_s"].append(round(cpu, 3))
    record = {"machine": describe_machine(load, options.rounds), "rounds": options.rounds, "rows": rows}
    page = format_page(record)
    print(page, end="")
    if not options.dry:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        RECORD.with_suffix(".md").write_text(page)
    late = [row["case"] for row in rows if row["goal_s"] and statistics.median(row["wall_s"]) > row["goal_s"]]
    for name in late:
        print(f"over its goal: {name}", file=sys.stderr)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
