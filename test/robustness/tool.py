"""Runs a tool on any text and tells whether it behaved."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TILE_BUILD", ROOT / "build"))
SEPARATOR = "\n// -----\n"


class Tool:
    """One of the built tools."""

    def __init__(self, name: str) -> None:
        self.path = BUILD / "bin" / name
        if not self.path.exists():
            pytest.skip(f"{self.path} is not built")

    def run(self, options: Sequence[str], text: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.path), *options],
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )

    def run_into(self, output: str, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """A run whose standard output is a file or device."""
        with open(output, "w") as file:
            return subprocess.run(
                [str(self.path), *options], stdout=file, stderr=subprocess.PIPE, text=True, timeout=120
            )

    def crashed(self, options: Sequence[str], text: str) -> str | None:
        """What went wrong where the tool ended by a signal, hung, or refused the
        text without saying where. Refusing it with a location is right."""
        try:
            done = self.run(options, text)
        except subprocess.TimeoutExpired:
            return "hung"
        if done.returncode < 0 or done.returncode >= 124:
            return f"ended by a signal ({done.returncode}):\n{done.stderr[-2000:]}"
        if done.returncode != 0 and not re.search(r":\d+:\d+: error: |^loc\(|: error: ", done.stderr):
            return f"exit code {done.returncode} without a location:\n{done.stderr[-2000:]}"
        return None

    def crashers(self, options: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
        """Those of the texts that the tool crashes on. They go to one process
        together, and apart only where that one crashes."""
        what = self.crashed(["--split-input-file", *options], SEPARATOR.join(texts))
        if what is None:
            return []
        if len(texts) == 1:
            return [(texts[0], what)]
        half = len(texts) // 2
        return self.crashers(options, texts[:half]) + self.crashers(options, texts[half:])


def programs() -> tuple[list[str], list[str]]:
    """Tile programs of the examples and tests: right ones, and those that a negative
    test holds to be wrong."""
    folders = ["examples", "test/IR", "test/Transforms", "test/Conversion", "test/conformance"]
    right: list[str] = []
    wrong: list[str] = []
    for file in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.mlir")):
        # Upstream's parsers do not survive every mutation, so that programs which
        # speak of tile ops in comments only are left out.
        texts = [text for text in file.read_text().split("// -----") if "tile." in re.sub("//.*", "", text)]
        (wrong if file.name.startswith("invalid") else right).extend(texts)
    return right, wrong
