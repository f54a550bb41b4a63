"""What blocks combine in memory that they share."""

from __future__ import annotations

from typing import Any

from ..errors import LanguageError
from .buffers import Access, Buffer
from .dtypes import bool as bool_
from .expr import Expr, describe, plain
from .mapped import Placed, _under
from .memory import _Side, _tile_sizes, elementwise, tile_text
from .trace import current

ORDERS = (None, "relaxed", "acquire", "release", "acq_rel", "seq_cst")
KINDS = {"add": ("addf", "addi", "addi"), "max": ("maxnumf", "maxs", "maxu"), "min": ("minnumf", "mins", "minu")}
KINDS["or"] = ("", "ori", "ori")
KINDS["and"] = ("", "andi", "andi")


def _atomic(kind: str, dst: Any, value: Any, memory_order: str | None, return_prev: bool) -> Any:
    trace = current()
    trace.need_launch(f"T.atomic_{kind}")
    if memory_order not in ORDERS:
        raise LanguageError(f"memory_order is one of {', '.join(str(o) for o in ORDERS[1:])}, not {memory_order!r}")
    if memory_order not in (None, "relaxed"):
        raise LanguageError(f"memory_order={memory_order!r} is not supported: atomics are relaxed")
    value = plain(value)
    tile = isinstance(value, Buffer) or isinstance(value, Access) and not value.is_element
    if tile:
        if return_prev:
            raise LanguageError("return_prev=True needs an element, not a tile")
        return _tiles(kind, dst, value)
    if not isinstance(dst, Access) or not dst.is_element:
        if not isinstance(value, (Expr, int, float)):
            raise LanguageError(f"T.atomic_{kind} takes a value or a tile, not {describe(value)}")
        raise LanguageError(f"T.atomic_{kind} of a single value needs a single element, such as {dst!r}[i]")
    return _element(kind, dst, value, return_prev)


def _element(kind: str, dst: Access, value: Any, return_prev: bool) -> Any:
    trace, buffer = current(), dst.buffer
    name = KINDS[kind][0 if buffer.dtype.is_float else 2 if buffer.dtype.kind == "uint" else 1]
    if not name or buffer.dtype.kind == bool_.kind:
        raise LanguageError(f"T.atomic_{kind} is not defined for {str(buffer.dtype)}")
    if buffer.space not in ("", "shared"):
        raise LanguageError(f"atomics work on global and shared memory, and {buffer.name} is neither")
    scalar = trace.value(value, buffer.dtype)
    if not buffer.is_plain:
        mapping = buffer.mapping
        if not isinstance(mapping, Placed) or return_prev:
            raise LanguageError(f"atomics do not work through {buffer.name}, a view with another element type")
        with _under(mapping.inside(dst.starts())):
            _element(kind, mapping.element(dst.starts()), scalar, False)
        return None
    text, _ = dst._address()
    trace.unsafe += 1
    trace.builder.effects += 1
    old = trace.emit(
        f"memref.atomic_rmw {name} {scalar.ssa}, {buffer.ssa}[{text}] "
        f": ({buffer.dtype.mlir}, {buffer.type}) -> {buffer.dtype.mlir}",
        buffer.dtype,
    )
    return old if return_prev else None


def _tiles(kind: str, dst: Any, value: Any) -> None:
    trace = current()
    trace.need_tile_level(f"T.atomic_{kind} of a tile")
    source, target = _Side(value), _Side(dst)
    plain_sides = source.buffer.is_plain and target.buffer.is_plain
    if plain_sides and kind in ("add", "max", "min") and not target.buffer.space and source.buffer.space:
        text, src, out, _ = tile_text(value, dst, f"T.atomic_{kind}")
        unsigned = " unsigned" if "uint" in (src.dtype.kind, out.dtype.kind) else ""
        trace.builder.line(f"tile.atomic_{kind} {text}{unsigned} : {src.type} to {out.type}")
        return
    here, there = _tile_sizes(source, target, f"T.atomic_{kind}")
    elementwise(source, here, target, there, lambda to, part: _element(kind, to, part.load(), False))


def atomic_add(
    dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False, use_tma: bool = False
) -> Any:
    """Adds a value to an element, or a tile to a tile, as one indivisible step for
    each element. With `return_prev` gives what the element held. `use_tma` is a hint."""
    return _atomic("add", dst, value, memory_order, return_prev)


def atomic_max(dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False) -> Any:
    """The maximum with a value or a tile, as one indivisible step for each element."""
    return _atomic("max", dst, value, memory_order, return_prev)


def atomic_min(dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False) -> Any:
    """The minimum with a value or a tile, as one indivisible step for each element."""
    return _atomic("min", dst, value, memory_order, return_prev)


def atomic_or(dst: Any, value: Any, memory_order: str | None = None, return_prev: bool = False) -> Any:
    """Bitwise or, as one indivisible step for each element."""
    return _atomic("or", dst, value, memory_order, return_prev)


def atomic_addx2(dst: Access, value: Access, return_prev: bool = False) -> None:
    """Adds two neighbouring elements."""
    _vector_add(dst, value, 2, return_prev)


def atomic_addx4(dst: Access, value: Access, return_prev: bool = False) -> None:
    """Adds four neighbouring elements."""
    _vector_add(dst, value, 4, return_prev)


def _vector_add(dst: Access, value: Access, width: int, return_prev: bool) -> None:
    if return_prev:
        raise LanguageError("return_prev=True is not supported for vectors; add the elements one by one")
    if not isinstance(dst, Access) or not isinstance(value, Access):
        raise LanguageError(f"T.atomic_addx{width} takes the first element of each side")
    places = [(side.buffer, side.starts()) for side in (dst, value)]
    for lane in range(width):
        (out, to), (src, start) = ((buffer, (*starts[:-1], starts[-1] + lane)) for buffer, starts in places)
        _element("add", out[tuple(to)], src[tuple(start)].load(), False)
