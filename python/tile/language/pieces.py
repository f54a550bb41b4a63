"""Pieces of rows that single threads bring to shared memory, as `cp.async` does.

What a thread copies so is there when the copy returns, which is as early as the
program may count on; so commits and waits have nothing to add, and an arrival that
waits for copies is one like any other.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..errors import LanguageError
from .buffers import Access, Buffer
from .expr import Const, describe, static_int
from .math import if_then_else
from .roles import barrier_arrive
from .threads import _thread_level

WIDTHS = (4, 8, 16)  # bytes that the instruction copies


class Pointer(NamedTuple):
    """An element, and how many from there on are meant."""

    element: Access
    extent: int


def access_ptr(base: Any, access_type: str | int = "r", *extents: Any, offset: Any = 0, extent: Any = None) -> Pointer:
    """The place of an element, for T.ptx_cp_async. There are no other pointers."""
    if isinstance(base, Buffer):
        base = base[(0,) * base.ndim]
    if not isinstance(base, Access):
        raise LanguageError(f"T.access_ptr takes an element of a buffer, not {describe(base)}")
    if static_int(offset) != 0:
        raise LanguageError("T.access_ptr(offset=...) is not supported; index the element that is meant")
    sizes = [static_int(size) for size in ((extent,) if extent is not None else extents)]
    if None in sizes:
        raise LanguageError("the extents of T.access_ptr are known at compile time")
    starts = base.starts()
    return Pointer(base.buffer[tuple(starts)], math.prod(size for size in sizes if size is not None))


def ptx_cp_async(dst: Pointer, src: Pointer, num_elems: int, predicate: Any = None) -> None:
    """The thread copies `num_elems` neighbours, of 4, 8 or 16 bytes in all, from global to
    shared memory; where `predicate` does not hold it writes zeros."""
    _thread_level("T.ptx_cp_async")
    if not isinstance(dst, Pointer) or not isinstance(src, Pointer):
        raise LanguageError('T.ptx_cp_async takes places: T.access_ptr(A[i, j], "r", 8)')
    target, source, count = dst.element.buffer, src.element.buffer, static_int(num_elems)
    if target.space != "shared" or source.space or target.dtype != source.dtype:
        raise LanguageError(
            f"T.ptx_cp_async copies from global to shared memory, of one element type, not {source!r} to {target!r}"
        )
    if count is None or count * target.dtype.bits not in [8 * width for width in WIDTHS]:
        raise LanguageError("T.ptx_cp_async copies 4, 8 or 16 bytes: as many elements as that makes")

    def neighbour(access: Access, lane: int) -> Access:
        *outer, last = access.starts()
        return access.buffer[(*outer, last + lane)]

    values = [neighbour(src.element, lane).load() for lane in range(count)]
    for lane, value in enumerate(values):
        zero = Const(0.0 if target.dtype.is_float else 0, target.dtype)
        neighbour(dst.element, lane).store(value if predicate is None else if_then_else(predicate, value, zero))


def ptx_commit_group() -> None:
    """Ends a group of copies, which are done already."""
    _thread_level("T.ptx_commit_group")


def ptx_wait_group(count: int = 0) -> None:
    """Waits for groups of copies, which are done already."""
    _thread_level("T.ptx_wait_group")


def cp_async_barrier_noinc(mbarrier: Any) -> None:
    """Arrives when the thread's copies are done, as T.barrier_arrive does."""
    barrier_arrive(mbarrier)
