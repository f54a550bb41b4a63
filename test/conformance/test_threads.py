"""Programs that speak of threads, warps and roles, which the cpu target refuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("TILE_BUILD", HERE.parent.parent / "build"))
TILE_RUN = BUILD / "bin" / "tile-run"
TARGET = os.environ.get("TILE_TARGET", "emulator").replace("cpu", "emulator")

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("threads/*.mlir")))
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_programs(name: str, chip: str) -> None:
    options = [f"--chip={chip}"] if TARGET == "emulator" else []
    command = [str(TILE_RUN), str(HERE / "threads" / f"{name}.mlir"), f"--target={TARGET}", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(" ".join(command), done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0
