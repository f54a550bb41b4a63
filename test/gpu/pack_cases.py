"""Compiles programs and records calls of them, for a machine with a GPU and no compiler.

    pack_cases.py build/bin/tile-run DIR [--chips sm_80,sm_90] [--generated 300] [--seed 1]

Every function of the conformance programs with its default arguments and what its reference
makes of them on the CPU (programs of threads: with what the emulator finds right), and
generated programs with what the oracle expects. run_cases.py makes the calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
CONFORMANCE = ROOT / "test" / "conformance"
sys.path.insert(0, str(CONFORMANCE))
from generate import Case, generate  # noqa: E402
from oracle import STORAGE  # noqa: E402


class Packer:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.problems: list[str] = []

    def run(self, what: str, *arguments: str | Path) -> bool:
        command = [str(self.options.tile_run), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            self.problems.append(f"{what}: {' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.returncode == 0

    def compile(self, source: Path, artifact: Path, entries: Sequence[str] = ()) -> bool:
        picked = [option for entry in entries for option in ("--entry", entry)]
        return self.run(
            source.stem,
            source,
            *picked,
            "--emit=artifact",
            f"--chip={self.options.chips}",
            "--no-cache",
            "-o",
            artifact,
        )

    def pack_file(self, source: Path, target: str) -> None:
        """A program with references."""
        folder = self.options.directory / source.stem
        folder.mkdir(parents=True, exist_ok=True)
        if not self.compile(source, folder / "code.tile"):
            return
        self.run(source.stem, source, f"--target={target}", f"--record={folder}")
        for path in folder.glob("*.json"):
            case = json.loads(path.read_text())
            case["artifact"] = "code.tile"
            path.write_text(json.dumps(case))

    def pack_batch(self, source: Path, cases: list[Case]) -> None:
        """A file of generated programs. Each that does not compile is told, and the others kept."""
        folder = self.options.directory / "generated"
        whole = folder / f"{source.stem}.tile"
        names = [case.kernel.name for case in cases]
        together = self.compile(source, whole, names)
        for case in cases:
            artifact = whole
            if not together:
                artifact = folder / f"{case.kernel.name}.tile"
                if not self.compile(source, artifact, [case.kernel.name]):
                    continue
            write_generated(case, folder, artifact.name)
        source.unlink()


def write_generated(case: Case, folder: Path, artifact: str) -> None:
    kernel = case.kernel
    described: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    for index, argument in enumerate(kernel.arguments):
        strides = [int(np.prod(argument.shape[i + 1 :])) for i in range(argument.rank)]
        size = int(np.prod(argument.shape)) * np.dtype(STORAGE[argument.dtype]).itemsize
        facts: dict[str, Any] = {"name": argument.name, "type": argument.dtype, "shape": list(argument.shape)}
        facts |= {"strides": strides, "offset": 0, "bytes": size}
        data = folder / f"{kernel.name}_{argument.name}.npy"
        if not argument.output or argument.gathers:
            contents = folder / f"{kernel.name}.{index}.bin"
            contents.write_bytes(np.load(data).tobytes() if not argument.output else bytes(size))
            facts["contents"] = contents.name
        if not argument.output:
            data.unlink()
        else:
            tolerance = 0.0 if argument.dtype[0] == "i" else kernel.tolerance
            outputs.append({"argument": index, "reference": data.name, "absolute": tolerance, "relative": 0.0})
        described.append(facts)
    record = {"function": kernel.name, "artifact": artifact, "arguments": described, "outputs": outputs}
    (folder / f"{kernel.name}.json").write_text(json.dumps(record))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tile_run", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--chips", default="sm_80,sm_90")
    parser.add_argument("--generated", type=int, default=300, help="generated programs")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    packer = Packer(options)
    files = [(path, "cpu") for path in sorted(CONFORMANCE.glob("*.mlir"))]
    files += [(path, "emulator") for path in sorted(CONFORMANCE.glob("threads/*.mlir"))]
    cases = generate(options.directory / "generated", options.seed, options.generated) if options.generated else []
    batches: dict[Path, list[Case]] = {}
    for case in cases:
        batches.setdefault(case.source, []).append(case)
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(packer.pack_file, *file) for file in files]
        jobs += [pool.submit(packer.pack_batch, *batch) for batch in batches.items()]
        for job in jobs:
            job.result()
    seeds = f", generated from seeds {cases[0].kernel.seed} to {cases[-1].kernel.seed}" if cases else ""
    count = len(list(options.directory.rglob("*.json")))
    print(f"{count} calls recorded{seeds}; {len(packer.problems)} programs refused")
    for problem in packer.problems:
        print(problem)
    return 1 if packer.problems else 0


if __name__ == "__main__":
    sys.exit(main())
