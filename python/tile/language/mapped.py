"""Buffers whose elements are not where their shape says: those with a pinned layout in
global memory, and views whose elements have another width than what is stored.

Such a buffer has a mapping, by which each access to an element becomes accesses to the
buffer below it, as one dimension. Operations on tiles go element by element.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import LanguageError
from .arithmetic import emit_binary, emit_cast, select, truth
from .buffers import Access, Buffer, bitcast
from .dtypes import DType, dtype, index
from .expr import Expr, Scalar, bounds_of, static_int
from .trace import current


def _row_major(starts: Sequence[Any], extents: Sequence[Any]) -> Any:
    """The number of an element, the last dimension counting fastest."""
    at: Any = None
    for start, extent in zip(starts, extents):
        at = start if at is None else emit_binary("+", emit_binary("*", at, extent), start)
    return 0 if at is None else at


class Mapping:
    """How elements of a buffer are found in another of one dimension."""

    def __init__(self, buffer: Buffer, below: Buffer) -> None:
        self.extents = buffer.shape
        self.name = buffer.name
        self.below = below

    def load(self, starts: Sequence[Any]) -> Scalar:
        """The element there."""
        raise NotImplementedError

    def store(self, starts: Sequence[Any], value: Scalar) -> None:
        """Writes the element there."""
        raise NotImplementedError

    def inside(self, starts: Sequence[Any]) -> Any:
        """Whether the element is one of the buffer's: true where that is certain."""
        result: Any = True
        for start, extent in zip(starts, self.extents):
            for test in (emit_binary(">=", start, 0), emit_binary("<", start, extent)):
                if test is not True:
                    result = test if result is True else emit_binary("&", result, test)
        return truth(result)


class Placed(Mapping):
    """A global buffer with a layout: a function from coordinates to coordinates of an
    array that lies there, dense."""

    def __init__(self, buffer: Buffer, below: Buffer, place: Callable[..., Any]) -> None:
        super().__init__(buffer, below)
        self.place = place
        shape = [static_int(extent) for extent in buffer.shape]
        if any(extent is None for extent in shape):
            raise LanguageError(
                f"a layout of {buffer.name} needs extents that are known at compile time: it says where in memory "
                "elements lie"
            )
        trace = current()
        with trace.capture():
            ends = [Scalar(trace.builder.name(), index, None, (0, (extent or 1) - 1)) for extent in shape]
            bounds = [bounds_of(part) for part in self._parts(ends)]
        if any(low is None or high is None or low < 0 for low, high in bounds):
            raise LanguageError(f"the layout of {buffer.name} gives coordinates that are not certainly from 0 on")
        self.inner = [(high or 0) + 1 for _, high in bounds]
        count = math.prod(extent or 0 for extent in shape)
        if math.prod(self.inner) != count:
            raise LanguageError(
                f"the layout of {buffer.name} has {' x '.join(map(str, self.inner))} places, and the buffer "
                f"{count} elements"
            )

    def _parts(self, starts: Sequence[Any]) -> list[Any]:
        result = self.place(*starts)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def _at(self, starts: Sequence[Any]) -> Any:
        trace = current()
        return _row_major(self._parts([trace.index(start) for start in starts]), self.inner)

    def load(self, starts: Sequence[Any]) -> Scalar:
        trace, inside = current(), self.inside(starts)
        # What lies outside reads as zero, from whatever place.
        at = self._at(starts) if inside is True else select(inside, self._at(starts), 0)
        loaded = self.below[at].load()
        return loaded if inside is True else trace.value(select(inside, loaded, trace.constant(0, loaded.dtype)))

    def store(self, starts: Sequence[Any], value: Scalar) -> None:
        with _under(self.inside(starts)):
            self.below[self._at(starts)].store(value)

    def element(self, starts: Sequence[Any]) -> Access:
        """The element below, for those who guard it themselves."""
        return self.below[self._at(starts)]


class Wider(Mapping):
    """Elements made of several smaller ones, the first one lowest."""

    def __init__(self, buffer: Buffer, below: Buffer) -> None:
        super().__init__(buffer, below)
        self.whole, self.part = _bits(buffer.dtype), _bits(below.dtype)
        self.count = buffer.dtype.bits // below.dtype.bits
        self.dtype = buffer.dtype

    def load(self, starts: Sequence[Any]) -> Scalar:
        trace = current()
        first = emit_binary("*", _row_major(starts, self.extents), self.count)
        total: Any = None
        for number in range(self.count):
            bits = emit_cast(bitcast(self.below[emit_binary("+", first, number)].load(), self.part), self.whole)
            shifted = emit_binary("<<", bits, number * self.below.dtype.bits) if number else bits
            total = shifted if total is None else emit_binary("|", total, shifted)
        return bitcast(trace.value(total), self.dtype)

    def store(self, starts: Sequence[Any], value: Scalar) -> None:
        bits = bitcast(value, self.whole)
        first = emit_binary("*", _row_major(starts, self.extents), self.count)
        with _under(self.inside(starts) if not self.below.space else True):
            for number in range(self.count):
                part = emit_binary(">>", bits, number * self.below.dtype.bits) if number else bits
                narrow = bitcast(emit_cast(part, self.part), self.below.dtype)
                self.below[emit_binary("+", first, number)].store(narrow)


class Narrower(Mapping):
    """Elements that are parts of larger ones, the lowest first."""

    def __init__(self, buffer: Buffer, below: Buffer) -> None:
        super().__init__(buffer, below)
        self.whole, self.part = _bits(below.dtype), _bits(buffer.dtype)
        self.count = below.dtype.bits // buffer.dtype.bits
        self.dtype = buffer.dtype

    def load(self, starts: Sequence[Any]) -> Scalar:
        at = _row_major(starts, self.extents)
        word = bitcast(self.below[emit_binary("//", at, self.count)].load(), self.whole)
        shift = emit_binary("*", emit_binary("%", at, self.count), self.dtype.bits)
        return bitcast(emit_cast(emit_binary(">>", word, current().value(shift, self.whole)), self.part), self.dtype)

    def store(self, starts: Sequence[Any], value: Scalar) -> None:
        raise LanguageError(
            f"{self.name} is a view with elements of {self.dtype.bits} bits of a buffer with elements of "
            f"{self.below.dtype.bits}; it can be read, but two threads that write parts of one element would undo "
            "each other: allocate the buffer with the narrow type and view it with the wide one"
        )


def _bits(element: DType) -> DType:
    """The unsigned integer of an element's width."""
    return dtype(f"uint{element.bits}")


@contextlib.contextmanager
def _under(condition: Any) -> Any:
    trace = current()
    if not isinstance(condition, Expr):
        if condition:
            yield
        else:
            with trace.capture():
                yield
        return
    with trace.builder.block(f"scf.if {trace.value(condition).ssa}"), trace.region("branch"):
        yield
