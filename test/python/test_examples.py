"""Every program of examples/python is right on the cpu and in the emulator, which runs
the GPU's code; each checks itself."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SEED

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
# Two are what the others share; the layer of torch has a test of its own.
PROGRAMS = [path for path in EXAMPLES if path.stem not in ("common", "online_softmax", "attention_module")]
EMULATED = [path for path in PROGRAMS if path.name != "gemm_autotune.py"]


def run(path: Path, target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(os.environ, "TILE_TARGET", target)
    monkeypatch.setattr(sys, "argv", [str(path), f"--seed={SEED}"])
    monkeypatch.syspath_prepend(str(path.parent))
    sys.modules.pop("common", None)  # which reads the target when it is imported
    runpy.run_path(str(path), run_name="__main__")
    assert ": right, relative error" in capsys.readouterr().out


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_on_the_cpu(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(path, "cpu", monkeypatch, capsys)


@pytest.mark.parametrize("path", EMULATED, ids=lambda path: path.stem)
def test_in_the_emulator(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(path, "emulator", monkeypatch, capsys)
