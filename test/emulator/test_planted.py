"""Planted faults: the emulator and compute-sanitizer say the same.

test/Emulator/planted holds kernels with a fault and their twins without it, and
what compute-sanitizer said of each on a GPU. Whatever that tool found, the emulator
must find by the name of its kind; twins must be clean to both.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cases import ROOT, TILE_RUN

PLANTED = ROOT / "test" / "Emulator" / "planted"
sys.path.insert(0, str(PLANTED))
from planted import FAULTS, THREADS, Fault, make_ptx  # noqa: E402

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")
RECORD = {answer["entry"]: answer for answer in json.loads((PLANTED / "sanitizer.json").read_text())["answers"]}


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted") / "planted.ptx"
    path.write_text(make_ptx())
    return path


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
@pytest.mark.parametrize("suffix", ["faulty", "clean"])
def test_both_say_the_same(ptx: Path, fault: Fault, suffix: str) -> None:
    entry = f"{fault.name}_{suffix}"
    command = [str(TILE_RUN), str(ptx), f"--entry={entry}", f"--block={THREADS}", "--seeds=4"]
    command += ["--arg", f"out=empty:{THREADS}xi32"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(done.stdout, done.stderr, RECORD[entry], sep="\n")
    assert done.returncode in (0, 1)
    assert (RECORD[entry]["errors"] > 0) == (suffix == "faulty") == (f"{fault.kind}:" in done.stdout)
    assert done.returncode == (suffix == "faulty")
