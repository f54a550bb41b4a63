"""What docs/Emulator.md shows as printed is what is printed."""

from __future__ import annotations

import shlex
import subprocess
import textwrap

import pytest
from cases import ROOT, TILE_RUN

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")


def find_examples() -> list[str]:
    """The indented blocks that start with a command and go on with its output."""
    paragraphs = (ROOT / "docs" / "Emulator.md").read_text().split("\n\n")
    return [textwrap.dedent(text) for text in paragraphs if text.startswith("    $ tile-run ")]


def test_there_is_one() -> None:
    assert find_examples()


@pytest.mark.parametrize("example", find_examples())
def test_examples_print_what_they_show(example: str) -> None:
    command, _, expected = example.removeprefix("$ ").replace("\\\n", " ").partition("\n")
    words = shlex.split(command)
    done = subprocess.run(
        [str(TILE_RUN), *words[1:]],
        cwd=ROOT / "test" / "Emulator",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == expected.strip(), done.stderr
    assert done.returncode == 1
