"""What can go wrong, as exceptions.

`TileError` is the base. `LanguageError` is a mistake in a kernel's Python
source and carries the place; its text shows the user's line as a compiler
would. `CompileError` carries MLIR's diagnostics, which name the same lines.
"""

from __future__ import annotations

import linecache
from typing import NamedTuple


class Location(NamedTuple):
    """A place in a Python source: the file, the line from 1, the column from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class TileError(Exception):
    """Anything this package refuses."""


class LanguageError(TileError):
    """A construct of a kernel that is wrong or not supported.

    `reason` says what is wrong and what would be right. `location` is filled in
    by the interpreter that ran into it.
    """

    def __init__(self, reason: str, location: Location | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location

    def __str__(self) -> str:
        if self.location is None:
            return self.reason
        text = f"{self.location}: error: {self.reason}"
        line = linecache.getline(self.location.file, self.location.line).rstrip("\n")
        if line:
            text += f"\n  {line}\n  {' ' * (self.location.column - 1)}^"
        return text


class CompileError(TileError):
    """The compiler's diagnostics, each with its place."""


class LaunchError(TileError):
    """An argument that does not fit, or a launch that failed."""
