"""The Python source of a function, as a syntax tree with places."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Union

from ..errors import LanguageError, Location

Function = Union[ast.FunctionDef, ast.Lambda]


class Source:
    """Where a function's text stands, and its tree."""

    def __init__(self, file: str, first: int, indent: int, node: Function) -> None:
        self.file = file
        self.first = first
        self.indent = indent
        self.node = node

    @staticmethod
    def of(function: Callable[..., Any]) -> Source:
        """The source of a Python function; an error where there is none to read."""
        try:
            lines, first = inspect.getsourcelines(function)
            file = inspect.getsourcefile(function) or "<unknown>"
        except (OSError, TypeError) as error:
            name = getattr(function, "__name__", repr(function))
            raise LanguageError(
                f"the source of {name} cannot be read ({error}); kernels are compiled from their text, so define "
                "them in a file"
            ) from None
        text = "".join(lines)
        dedented = textwrap.dedent(text)
        tree = ast.parse(dedented)
        node = tree.body[0]
        if not isinstance(node, ast.FunctionDef):
            raise LanguageError(f"expected a function defined with `def`, found {type(node).__name__}")
        indent = len(lines[0]) - len(lines[0].lstrip())
        return Source(file, first, indent, node)

    def location(self, node: ast.AST) -> Location:
        """The place of a node in the file."""
        line = getattr(node, "lineno", 1)
        return Location(self.file, self.first + line - 1, getattr(node, "col_offset", 0) + self.indent + 1)

    def within(self, node: Function) -> Source:
        """The source of a function defined inside this one."""
        return Source(self.file, self.first, self.indent, node)
