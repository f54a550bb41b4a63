"""Random tile programs with inputs and expected outputs.

    generate.py DIRECTORY [--count 100] [--seed 1]          writes them
    generate.py DIRECTORY --run build/bin/tile-run          and runs them

A program's seed is in its name: `k1234` is built again by `--seed 1234 --count
1`. Expected outputs come from `oracle.py`, which knows nothing of the compiler.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from oracle import STORAGE, UNIT, Array, evaluate
from printer import print_kernel
from program import Kernel
from random_kernel import KernelBuilder

BATCH = 10
"""Kernels in one file."""


@dataclass
class Case:
    """A kernel on disk and the command line that runs and judges it."""

    kernel: Kernel
    source: Path
    arguments: list[str] = field(default_factory=list)

    def command(self, tile_run: str | Path) -> list[str]:
        return [str(tile_run), str(self.source), "--entry", self.kernel.name, *self.arguments]


def make_inputs(kernel: Kernel) -> dict[str, Array]:
    random = np.random.default_rng(kernel.seed)
    inputs: dict[str, Array] = {}
    for argument in kernel.arguments:
        if argument.output:
            continue
        if argument.dtype in ("i32", "i8"):
            limit = 1000 if argument.dtype == "i32" else 128
            inputs[argument.name] = random.integers(-limit, limit, argument.shape)
        else:
            exact = random.uniform(-1, 1, argument.shape).astype(STORAGE[argument.dtype])
            inputs[argument.name] = exact.astype(np.float64)
    return inputs


def save(path: Path, array: Array, dtype: str) -> None:
    stored = array.astype(STORAGE[dtype])
    # NumPy has no bfloat16; the convention is two untyped bytes an element.
    np.save(path, stored.view("V2") if dtype == "bf16" else stored)


def make_case(seed: int, source: Path, data: Path) -> tuple[Case, str] | None:
    """The case and its text. Nothing where the program is of no use: an output
    that is constant, or so sensitive that no bound would show an error."""
    kernel, views = KernelBuilder(f"k{seed}", seed).build()
    inputs = make_inputs(kernel)
    expected = evaluate(kernel, views, inputs)
    noisy = [evaluate(kernel, views, inputs, np.random.default_rng(i)) for i in range(2)]
    case = Case(kernel, source)
    for argument in kernel.arguments:
        path = data / f"{kernel.name}_{argument.name}.npy"
        shape = "x".join(str(extent) for extent in argument.shape)
        if not argument.output:
            save(path, inputs[argument.name], argument.dtype)
            case.arguments += ["--arg", f"{argument.name}={path}"]
            continue
        result = expected[argument.name]
        if argument.dtype in ("i32", "i8"):
            np.save(path, result.astype(STORAGE[argument.dtype]))
        else:
            if np.isnan(result).any():
                raise AssertionError(f"{kernel.name} reads what was never written")
            spread = max(float(np.abs(run[argument.name] - result).max()) for run in noisy)
            bound = 8 * spread + 4 * UNIT[argument.dtype] * float(np.abs(result).max())
            kernel.tolerance = max(kernel.tolerance, bound)
            if bound > 0.1 * float(np.ptp(result)) and result.size > 1:
                return None
            np.save(path, result)
        case.arguments += [
            "--arg",
            f"{argument.name}={'zeros' if argument.gathers else 'empty'}:{shape}x{argument.dtype}",
        ]
        case.arguments += ["--expect", f"{argument.name}={path}"]
    return case, print_kernel(kernel, views)


def generate(directory: Path, seed: int, count: int) -> list[Case]:
    """Writes `count` programs, of seeds from `seed` on."""
    directory.mkdir(parents=True, exist_ok=True)
    cases: list[Case] = []
    texts: dict[Path, list[str]] = {}
    while len(cases) < count:
        source = directory / f"batch{len(cases) // BATCH}.mlir"
        made = make_case(seed, source, directory)
        seed += 1
        if made:
            cases.append(made[0])
            texts.setdefault(source, []).append(made[1])
    for source, parts in texts.items():
        source.write_text("\n".join(parts))
    return cases


def run(case: Case, tile_run: str | Path) -> tuple[bool, str]:
    """Whether the result is right, and what there is to read if not."""
    command = [*case.command(tile_run), f"--target={os.environ.get('TILE_TARGET', 'cpu')}"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return False, f"{' '.join(command)}\ntook more than a minute"
    text = f"{' '.join(command)}\nexit code {process.returncode}\n{process.stdout}{process.stderr}"
    return process.returncode == 0, text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", metavar="TILE_RUN", help="run the programs and judge the results")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cases = generate(options.directory, options.seed, options.count)
    print(f"seeds {cases[0].kernel.seed} to {cases[-1].kernel.seed}")
    if not options.run:
        return 0
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, (good, text) in zip(cases, pool.map(lambda case: run(case, options.run), cases), strict=True):
            if not good:
                failed += 1
                print(f"FAILED {case.kernel.name}\n{text}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
