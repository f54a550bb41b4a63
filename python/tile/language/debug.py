"""Looking into a kernel while it runs."""

from __future__ import annotations

from typing import Any

from ..errors import LanguageError
from ..ir.types import string
from . import arithmetic
from .buffers import Access, Buffer, Var, as_tile
from .dtypes import int32
from .expr import Expr, dtype_of
from .trace import current


def device_print(obj: Any = None, msg: str = "", warp_group_id: int = 0, warp_id: int = 0) -> None:
    """Prints a value or a whole buffer, with the place in the program and the block."""
    trace = current()
    trace.need_launch("T.print")
    text = _one_line(msg)
    if obj is None:
        trace.builder.line(f"tile.print {string(text)}")
        return
    if isinstance(obj, str):
        raise LanguageError('T.print("text") is written T.print(msg="text")')
    if isinstance(obj, Buffer) or isinstance(obj, Access) and not obj.is_element and not isinstance(obj, Var):
        if trace.inside("parallel"):
            raise LanguageError("T.print of a buffer cannot stand inside T.Parallel; print its elements")
        buffer = as_tile(obj, "T.print")
        trace.builder.line(f"tile.print {string(text or buffer.name)} {buffer.ssa} : {buffer.type}")
        return
    dtype = dtype_of(obj) if isinstance(obj, (Expr, float)) else int32
    scalar = trace.value(obj, dtype)
    trace.builder.line(f"tile.print {string(text)} {scalar.ssa} : {scalar.dtype.mlir}")


def device_assert(condition: Any, msg: str = "", no_stack_info: bool = False) -> None:
    """Reports where a condition does not hold; the kernel runs on."""
    trace = current()
    trace.need_launch("T.device_assert")
    test = arithmetic.truth(condition)
    if not isinstance(test, Expr):
        if not test:
            raise LanguageError(f"T.device_assert of a condition that never holds{': ' + msg if msg else ''}")
        return
    scalar = trace.value(test)
    trace.builder.line(f"tile.assert {scalar.ssa}, {string(_one_line(msg) or 'assertion failed')}")


def _one_line(text: str) -> str:
    return " ".join(str(text).split("\n"))
