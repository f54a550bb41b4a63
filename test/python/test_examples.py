"""Every program of examples/python is right on the cpu; each checks itself."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SEED

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
PROGRAMS = [path for path in EXAMPLES if path.name not in ("common.py", "attention_module.py")]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_example(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(os.environ, "TILE_TARGET", "cpu")
    monkeypatch.setattr(sys, "argv", [str(path), f"--seed={SEED}"])
    monkeypatch.syspath_prepend(str(path.parent))
    runpy.run_path(str(path), run_name="__main__")
    assert ": right, relative error" in capsys.readouterr().out
