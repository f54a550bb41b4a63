"""Small programs, op by op, each compared with the reference beside it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("TILE_BUILD", HERE.parent.parent / "build"))
TILE_RUN = BUILD / "bin" / "tile-run"
TARGET = os.environ.get("TILE_TARGET", "cpu")
"""The programs are the same for every device."""

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")


def run(name: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [str(TILE_RUN), str(HERE / f"{name}.mlir"), f"--target={TARGET}", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(" ".join(command), done.stdout, done.stderr, sep="\n")
    return done


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("*.mlir")))
def test_programs(name: str) -> None:
    assert run(name).returncode == 0


@pytest.mark.parametrize("shape", ["0x31", "65x0", "0x0", "1x1", "31x32", "32x32", "33x33", "1x1000"])
def test_shapes_at_the_edge(shape: str) -> None:
    assert run("edges", ["--entry", "scale", "--arg", f"x=randn:{shape}xf32"]).returncode == 0


def test_trap() -> None:
    done = run("edges", ["--entry", "trap", "--arg", "x=randn:100xf32"])
    assert done.returncode != 0
    assert "out of bounds" in done.stderr or "outside" in done.stderr


@pytest.mark.parametrize("first", ["0", "-100", "45", "1000"])
def test_offsets(first: str) -> None:
    assert run("copy", ["--entry", "padded_rank1", "--arg", f"at={first}"]).returncode == 0


@pytest.mark.parametrize(
    "base", [0, -1, -63, -64, 37, 100, 2**62, -(2**62), 2**63 - 1, 2**63 - 30, -(2**63), 45 - 2**63]
)
def test_index_that_wraps(base: int) -> None:
    assert run("wrap", ["--entry", "base", "--arg", f"base={base}"]).returncode == 0


@pytest.mark.parametrize("bound", [0, -10, 40, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("base", [-64, 0, 2**63 - 28, -(2**63)])
def test_condition_on_index_that_wraps(base: int, bound: int) -> None:
    options = ["--arg", f"base={base}", "--arg", f"bound={bound}"]
    assert run("wrap", ["--entry", "conditions", *options]).returncode == 0


@pytest.mark.parametrize("line", ["2147483628 1", "-2147483648 1", "-10 3", "5 -1", "0 67108864", "100 -2147483648"])
def test_narrow_index_that_wraps(line: str) -> None:
    base, stride = line.split()
    options = ["--arg", f"base={base}", "--arg", f"stride={stride}"]
    assert run("wrap", ["--entry", "narrow_sum", *options]).returncode == 0


@pytest.mark.parametrize("corner", ["0 0", "5 -12", "13 3", f"{2**63 - 4} 0", f"{-(2**63)} 19", f"-7 {2**63 - 1}"])
def test_subview_that_leaves_its_buffer(corner: str) -> None:
    row, column = corner.split()
    options = ["--arg", f"row={row}", "--arg", f"column={column}"]
    assert run("view_bounds", ["--entry", "subview", *options]).returncode == 0


@pytest.mark.parametrize("offset", ["0", "5", "-1", str(2**63 - 1)])
def test_view_with_free_strides(offset: str) -> None:
    assert run("view_bounds", ["--entry", "reinterpreted", "--arg", f"offset={offset}"]).returncode == 0


@pytest.mark.parametrize("target", ["cpu", "emulator"])
@pytest.mark.parametrize("step", ["0", "-4"])
def test_step_that_is_not_positive(step: str, target: str) -> None:
    done = run("loops", ["--entry", "pipelined_range", "--arg", f"step={step}", "--target", target])
    assert done.returncode != 0
    assert "loops.mlir" in done.stderr and "the step of a loop is not positive" in done.stderr


@pytest.mark.parametrize("bounds", ["0 0 1", "0 100 1", "3 100 99", "99 100 7", "50 20 4", "0 100 16"])
def test_ranges_of_pipelined(bounds: str) -> None:
    first, last, step = bounds.split()
    options = ["--arg", f"from={first}", "--arg", f"to={last}", "--arg", f"step={step}"]
    assert run("loops", ["--entry", "pipelined_range", *options]).returncode == 0


@pytest.mark.parametrize("values", ["rows=1 width=8", "rows=7 width=33 stages=4", "rows=16 threads=32 stages=1"])
def test_tunables(values: str) -> None:
    options = [option for value in values.split() for option in ("--set", value)]
    assert run("functions", ["--entry", "tunables", *options]).returncode == 0


def test_requirement() -> None:
    done = run("functions", ["--entry", "tunables", "--set", "rows=16", "--set", "width=33"])
    assert done.returncode == 2
    assert "a tile may have at most 384 elements" in done.stderr
