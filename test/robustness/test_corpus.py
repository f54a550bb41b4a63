"""The inputs that once broke the compiler or the emulator, and some that lead far
into them, through the fuzz targets."""

from __future__ import annotations

import pytest
from tool import ROOT, Tool


@pytest.mark.parametrize(("target", "corpus"), [("tile-fuzzer", "corpus"), ("ptx-fuzzer", "ptx-corpus")])
def test_corpus(target: str, corpus: str) -> None:
    inputs = sorted(str(file) for file in (ROOT / "fuzz" / corpus).iterdir())
    assert inputs
    done = Tool(target).run(inputs, "")
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{len(inputs)} inputs" in done.stderr
