"""Hints: they change how a kernel runs, never what it computes.

Those that have a counterpart here are passed on; those that steer TileLang's own
passes (register reallocation and the like) are accepted and left to the compiler.
An unknown name is an error, by `tile.language`'s own list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import LanguageError
from ..layout import Layout
from .arithmetic import truth
from .buffers import Buffer
from .expr import Expr, describe, static_int
from .mapped import Placed
from .memory import flattened
from .trace import current


def use_swizzle(panel_size: int, order: str = "row", enable: bool = True) -> None:
    """Starts blocks in panels of `panel_size`, so that neighbours share the cache."""
    launch = current().need_launch("T.use_swizzle")
    size = static_int(panel_size)
    if size is None or size < 1:
        raise LanguageError("panel_size is a positive integer")
    if order not in ("row", "column", "col"):
        raise LanguageError(f"order is row or column, not {order!r}")
    if enable and len(launch.blocks) > 1:
        launch.hints["raster"] = f"raster({'row' if order == 'row' else 'column'}, {size})"


def annotate_layout(layouts: Mapping[Buffer, Any]) -> None:
    """Pins layouts of buffers.

    In global memory a layout says where elements lie for all who read them, so it is
    kept to: element (i, j, ...) is at what the function gives for (i, j, ...). On the
    chip no result depends on a layout; those of `tile.layout.make_...` ask for accesses
    without bank conflicts, which is what the compiler's own have, and any other is an
    error, as it would not be kept to."""
    if not isinstance(layouts, Mapping) or not all(isinstance(buffer, Buffer) for buffer in layouts):
        raise LanguageError("T.annotate_layout takes a dictionary from buffers to layouts")
    for buffer, layout in layouts.items():
        place = layout.place if isinstance(layout, Layout) else layout
        if place is None:
            if not isinstance(layout, Layout):
                raise LanguageError(f"None is no layout of {buffer.name}; leave it out")
            if not buffer.space:
                raise LanguageError(
                    f"the layout of {buffer.name}, in global memory, needs a function: T.Layout(shape, f)"
                )
        elif not callable(place):
            raise LanguageError(f"{buffer.name} is given {describe(layout)}; a layout is T.Layout(shape, function)")
        elif buffer.space:
            raise LanguageError(
                f"a layout of {buffer.name} on the chip cannot be pinned by a function: the compiler chooses "
                "it by the instructions that use it; leave it out, or ask for tile.layout.make_swizzled_layout"
            )
        elif buffer.strides is not None or not buffer.is_plain:
            raise LanguageError(f"a layout needs a dense buffer of its own, and {buffer.name} is a view or has strides")
        else:
            current().need_launch("T.annotate_layout")
            buffer.mapping = Placed(buffer, flattened(buffer), place)


def annotate_safe_value(values: Mapping[Buffer, Any]) -> None:
    """What reads outside a global buffer give, instead of zero."""
    for buffer, value in values.items():
        if not isinstance(buffer, Buffer) or buffer.space:
            raise LanguageError("T.annotate_safe_value takes a dictionary from global buffers to numbers")
        buffer.safe_value = value


def annotate_l2_hit_ratio(ratios: Mapping[Buffer, float]) -> None:
    """How much of a buffer is to stay in the second-level cache."""
    for buffer, ratio in ratios.items():
        if not isinstance(buffer, Buffer) or not 0 <= float(ratio) <= 1:
            raise LanguageError("T.annotate_l2_hit_ratio takes a dictionary from buffers to numbers from 0 to 1")


def annotate_restrict_buffers(*buffers: Buffer) -> None:
    """Buffers that may overlap. Written arguments may not overlap here; the launch
    checks it."""
    raise LanguageError(
        "arguments that overlap are declared where the kernel is compiled: may_alias is not in the language"
    )


def assume(condition: Any) -> None:
    """Promises that a condition holds. Nothing is built from it."""
    if not isinstance(condition, Expr) and not truth(condition):
        raise LanguageError("T.assume of a condition that does not hold")


def annotate_min_blocks_per_sm(count: int) -> None:
    """How many blocks are to fit a multiprocessor."""
    static = static_int(count)
    if static is None or static < 1:
        raise LanguageError("T.annotate_min_blocks_per_sm takes a positive integer")


def set_max_nreg(count: int, is_inc: int = 1) -> None:
    """How many registers a thread of the group of T.ws may have: a multiple of 8 from 24
    to 240. Without groups the compiler decides."""
    static = static_int(count)
    if static is None or static % 8 or not 24 <= static <= 240:
        raise LanguageError("a thread's registers are a multiple of 8 from 24 to 240")
    roles = current().need_launch("T.set_max_nreg").roles
    if roles is not None and roles.inside:
        roles.registers = static


def inc_max_nreg(count: int) -> None:
    """As T.set_max_nreg."""
    set_max_nreg(count)


def dec_max_nreg(count: int) -> None:
    """As T.set_max_nreg."""
    set_max_nreg(count)


def _ignored(name: str) -> Any:
    def hint(*_: Any, **__: Any) -> None:
        current().need_launch(f"T.{name}")

    hint.__name__ = hint.__qualname__ = name
    hint.__doc__ = "Steers the registers of warp groups; the compiler does that by itself."
    return hint


disable_warp_group_reg_alloc = _ignored("disable_warp_group_reg_alloc")
no_set_max_nreg = _ignored("no_set_max_nreg")
annotate_producer_reg_dealloc = _ignored("annotate_producer_reg_dealloc")
annotate_consumer_reg_alloc = _ignored("annotate_consumer_reg_alloc")
