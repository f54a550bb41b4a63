"""The documentation's programs run, and its table speaks of names that there are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import tile
import tile.language as T
from conftest import ROOT
from tile.language.unsupported import REASONS


@pytest.mark.parametrize("page", ["docs/Python.md", "python/README.md", "README.md"])
def test_programs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs of a page, one after another as one file."""
    monkeypatch.setenv("TILE_TARGET", "cpu")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks))
    runpy.run_path(str(script), run_name="__main__")


def test_table_of_names() -> None:
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", (ROOT / "docs" / "Python.md").read_text(), re.M)
    seen = 0
    for names, meaning in rows:
        for name in re.findall(r"`T\.(\w+)`", names):
            seen += 1
            if meaning.startswith("errors"):
                assert name in REASONS and not hasattr(T, name), name
            else:
                assert hasattr(T, name), name
    assert seen > 80
    for name in ("jit", "compile", "par_compile", "autotune", "AutoTuner", "do_bench", "Profiler", "PassConfigKey"):
        assert hasattr(tile, name)


def test_supported_names_are_not_listed_as_unsupported() -> None:
    assert not [name for name in REASONS if hasattr(T, name)]
