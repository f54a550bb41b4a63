"""The GPU's code without a GPU: examples, programs op by op and generated ones in
the emulator, which runs the PTX of two chips and looks for races, reads of memory
never written and accesses out of bounds while it does.

Everything has to be right.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cases import CASES, CHIPS, EXAMPLES, ROOT, SEED, TILE_RUN, make_options

GENERATED = 30

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")

sys.path.insert(0, str(ROOT / "test" / "conformance"))
from generate import generate  # noqa: E402


def entries(path: Path) -> list[str]:
    """The functions of a file that tile-run runs: those that name a reference."""
    text = path.read_text()
    parts = re.split(r"^func\.func ", text, flags=re.MULTILINE)[1:]
    return [part.split("(")[0].lstrip("@") for part in parts if "tile.reference" in part.split("{\n")[0]]


PROGRAMS = [
    (path.stem, entry) for path in sorted((ROOT / "test" / "conformance").glob("*.mlir")) for entry in entries(path)
]


def emulate(command: Sequence[str], chip: str) -> subprocess.CompletedProcess[str]:
    command = [*command, "--target=emulator", f"--chip={chip}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    done.stdout = f"{' '.join(command)}\n{done.stdout}"
    return done


def judge(done: subprocess.CompletedProcess[str]) -> None:
    print(done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0


def run(path: Path, chip: str, options: Sequence[str]) -> None:
    judge(emulate([str(TILE_RUN), str(path), *options], chip))


def test_every_example_is_here() -> None:
    assert set(EXAMPLES) == {path.stem for path in (ROOT / "examples").glob("*.mlir")}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("name", "shape"), CASES, ids=[shape.split()[0] for _, shape in CASES])
def test_examples(name: str, shape: str, chip: str) -> None:
    run(ROOT / "examples" / f"{name}.mlir", chip, make_options(shape))


@pytest.mark.parametrize(("name", "entry"), PROGRAMS, ids=[f"{name}-{entry}" for name, entry in PROGRAMS])
def test_programs(name: str, entry: str) -> None:
    # Every other one for either chip: their code differs little.
    chip = CHIPS[PROGRAMS.index((name, entry)) % len(CHIPS)]
    run(ROOT / "test" / "conformance" / f"{name}.mlir", chip, ["--entry", entry])


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, subprocess.CompletedProcess[str]]]:
    """Seed and outcome of each generated program; run on all cores."""
    cases = generate(tmp_path_factory.mktemp("generated"), SEED, GENERATED)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda case: emulate(case.command(TILE_RUN), CHIPS[case.kernel.seed % 2]), cases)
        return [(case.kernel.seed, done) for case, done in zip(cases, outcomes, strict=True)]


@pytest.mark.parametrize("number", range(GENERATED))
def test_generated(generated: list[tuple[int, subprocess.CompletedProcess[str]]], number: int) -> None:
    seed, done = generated[number]
    print(f"seed {seed}")
    judge(done)
