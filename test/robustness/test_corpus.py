"""The inputs that once broke the compiler, through the fuzz target."""

from __future__ import annotations

from tool import ROOT, Tool


def test_corpus() -> None:
    inputs = sorted(str(file) for file in (ROOT / "fuzz" / "corpus").iterdir())
    assert inputs
    done = Tool("tile-fuzzer").run(inputs, "")
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{len(inputs)} inputs" in done.stderr
