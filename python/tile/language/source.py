"""The Python source of a function, as a syntax tree with places."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, Union

from ..errors import LanguageError, Location

Function = Union[ast.FunctionDef, ast.Lambda]


class Source:
    """Where a function's text stands, and its tree."""

    def __init__(self, file: str, first: int, node: Function) -> None:
        self.file = file
        self.first = first
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
        indented = text[:1].isspace()
        try:
            # Within a block, an indented function is parsed as it stands, texts of several lines included.
            tree: Any = ast.parse("if True:\n" + text if indented else text)
        except SyntaxError as error:
            raise LanguageError(
                f"the source of {getattr(function, '__name__', function)} is no statement by itself ({error.msg}); "
                "define it with `def`"
            ) from None
        node = tree.body[0]
        if indented:
            node = ast.increment_lineno(node.body[0], -1)
        if not isinstance(node, ast.FunctionDef):
            raise LanguageError(f"expected a function defined with `def`, found {type(node).__name__}")
        return Source(file, first, node)

    def location(self, node: ast.AST) -> Location:
        """The place of a node in the file."""
        line = getattr(node, "lineno", 1)
        return Location(self.file, self.first + line - 1, getattr(node, "col_offset", 0) + 1)
