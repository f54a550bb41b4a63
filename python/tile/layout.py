"""Layouts as TileLang's programs name them, for `T.annotate_layout`.

On the chip the compiler infers where elements lie; in global memory a layout given by
a function is kept to. `tile.plot` shows the layouts that were inferred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import TileError


class Layout:
    """Where elements lie: a function from coordinates to places."""

    def __init__(self, shape: Sequence[Any], forward_fn: Callable[..., Any] | None = None) -> None:
        self.shape = tuple(shape)
        self.forward_fn = forward_fn

    @property
    def place(self) -> Callable[..., Any] | None:
        """The function from coordinates to coordinates, where the program gives one."""
        return self.forward_fn

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape})"

    def map_forward_index(self, coordinates: Sequence[int]) -> Any:
        """The place of an element whose coordinates are plain numbers."""
        if self.forward_fn is None:
            raise TileError("this layout is chosen by the compiler")
        return self.forward_fn(*coordinates)


class Fragment(Layout):
    """Where elements of a fragment lie: functions to a thread and to a register."""

    def __init__(
        self,
        shape: Sequence[Any],
        forward_fn: Callable[..., Any] | None = None,
        forward_thread_fn: Callable[..., Any] | None = None,
        replicate: int = 1,
        forward_index_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(shape, forward_fn)
        self.forward_thread_fn = forward_thread_fn
        self.forward_index_fn = forward_index_fn
        self.replicate = replicate

    @property
    def place(self) -> Callable[..., Any] | None:
        return self.forward_fn or self.forward_thread_fn or self.forward_index_fn


def _of(buffer: Any) -> Layout:
    return Layout(getattr(buffer, "shape", ()))


def make_swizzled_layout(buffer: Any, k_major: bool = True, allow_pad: bool = True) -> Layout:
    """A layout without bank conflicts; the compiler finds one by itself."""
    return _of(buffer)


def make_linear_layout(buffer: Any) -> Layout:
    """A dense layout; the compiler may choose another."""
    return _of(buffer)


make_full_bank_swizzled_layout = make_half_bank_swizzled_layout = make_quarter_bank_swizzled_layout = make_linear_layout
make_wgmma_swizzled_layout = make_volta_swizzled_layout = make_swizzled_layout
