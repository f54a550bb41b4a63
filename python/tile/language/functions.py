"""Functions of a kernel: macros, nested functions and lambdas, and how they run."""

from __future__ import annotations

import ast
import contextlib
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import LanguageError
from .source import Source
from .trace import current

DEPTH_LIMIT = 100
_running = threading.local()


def closure_names(function: Callable[..., Any]) -> dict[str, Any]:
    """What the free and global names of a Python function stand for."""
    names: dict[str, Any] = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    return names


@contextlib.contextmanager
def _call() -> Iterator[None]:
    """Counts how deep functions call each other, on this thread."""
    depth = getattr(_running, "depth", 0)
    if depth >= DEPTH_LIMIT:
        raise LanguageError(
            f"functions call each other more than {DEPTH_LIMIT} deep; recursion needs an end at compile time"
        )
    _running.depth = depth + 1
    try:
        yield
    finally:
        _running.depth = depth


class Macro:
    """A function whose body is built into the kernel at each call.

    Arguments are passed by reference: buffers, elements and variables may be
    written through them. It may return values at its end.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.source = Source.of(function)
        self.signature = inspect.signature(function)
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from .interpreter import Frame
        from .statements import run_function

        bound = self.signature.bind(*arguments, **named)
        bound.apply_defaults()
        frame = Frame(self.source, None, closure_names(self.function))
        with _call():
            return run_function(current(), frame, self.source.node, bound.arguments)

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        return lambda *arguments, **named: self(instance, *arguments, **named)


class Closure:
    """A function or lambda that is defined inside a kernel."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda, frame: Any, defaults: Mapping[str, Any] | None = None):
        self.node = node
        self.frame = frame
        self.defaults = dict(defaults or {})
        self.__name__ = getattr(node, "name", "<lambda>")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from .interpreter import Frame
        from .statements import run_function

        values = self._bind(arguments, named)
        inner = Frame(self.frame.source, self.frame, {})
        with _call():
            return run_function(current(), inner, self.node, values)

    def _bind(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        spec = self.node.args
        names = [item.arg for item in (*spec.posonlyargs, *spec.args)]
        values: dict[str, Any] = dict(self.defaults)
        if len(arguments) > len(names) and spec.vararg is None:
            raise LanguageError(f"{self.__name__} takes {len(names)} arguments and is given {len(arguments)}")
        values.update(zip(names, arguments))
        if spec.vararg is not None:
            values[spec.vararg.arg] = tuple(arguments[len(names) :])
        known = {*names, *(item.arg for item in spec.kwonlyargs)}
        extra = {name: value for name, value in named.items() if name not in known}
        if extra and spec.kwarg is None:
            raise LanguageError(f"{self.__name__} has no parameter {next(iter(extra))}")
        values.update({name: value for name, value in named.items() if name in known})
        if spec.kwarg is not None:
            values[spec.kwarg.arg] = extra
        missing = [name for name in (*names, *(i.arg for i in spec.kwonlyargs)) if name not in values]
        if missing:
            raise LanguageError(f"{self.__name__} needs {', '.join(missing)}")
        return values


def macro(function: Callable[..., Any]) -> Macro:
    """Makes a function whose body is built into each kernel that calls it."""
    return Macro(function)
