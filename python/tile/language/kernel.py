"""`T.Kernel`: the grid of blocks, and the hints that belong to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

from ..errors import LanguageError
from .dtypes import index
from .expr import Scalar, static_int
from .roles import GROUP, NeedRoles, Scoped, build_roles
from .trace import Launch, current

if TYPE_CHECKING:
    from .statements import Statements

Threads = Union[int, list[int], tuple[int, ...], None]


class Grid(Scoped):
    """`with T.Kernel(...)`."""

    def __init__(self, blocks: tuple[Any, ...], threads: Threads) -> None:
        if not 1 <= len(blocks) <= 3:
            raise LanguageError(f"T.Kernel has a grid of one to three dimensions, not {len(blocks)}")
        self.blocks = blocks
        self.threads = _threads(threads)

    def run(self, runner: Statements, inside: Callable[[Any], None]) -> None:
        trace = current()
        if getattr(trace, "dry", False):
            from .program import Enough

            raise Enough
        if trace.launch is not None:
            raise LanguageError("T.Kernel cannot stand inside another one")
        names = runner.frame.saved()
        extents = [trace.index(extent) for extent in self.blocks]
        try:
            self._launch(extents, inside)
        except NeedRoles as error:
            need = error
            runner.frame.restore(names)

            def in_groups(value: Any) -> None:
                build_roles(runner, need, math.prod(self.threads), lambda: inside(value))

            self._launch(extents, in_groups, need)

    def _launch(self, extents: list[Scalar], inside: Callable[[Any], None], need: NeedRoles | None = None) -> None:
        trace = current()
        count = math.prod(self.threads)
        names = [trace.builder.name(hint) for hint in ("bx", "by", "bz")[: len(extents)]]
        head = f"tile.launch blocks({', '.join(names)}) in ({', '.join(extent.ssa for extent in extents)})"
        # A number that no block can have is left to the compiler; whoever asks for a
        # thread's id is told. Roles bring their threads.
        valid = count % 32 == 0 and 32 <= count <= 1024
        if valid and need is None:
            head += f" threads({count})"
        limits = [static_int(extent) for extent in self.blocks]
        scalars = [
            Scalar(name, index, None, (0, None if limit is None else max(0, limit - 1)))
            for name, limit in zip(names, limits)
        ]
        with trace.builder.capture() as body:
            with trace.builder.block(head) as opened, trace.region("launch"):
                launch = trace.launch = Launch(scalars, list(self.blocks), self.threads if valid else ())
                try:
                    inside(scalars[0] if len(scalars) == 1 else tuple(scalars))
                finally:
                    trace.launch = None
            hints = launch.hints
            if trace.options.bounds != "guard":
                hints["bounds"] = f"bounds({trace.options.bounds})"
            if trace.options.fastmath:
                hints["fastmath"] = f"fastmath<{', '.join(trace.options.fastmath)}>"
            order = ("raster", "registers", "bounds", "fastmath")
            opened.head = " ".join([head, *(hints[name] for name in order if name in hints)])
        trace.builder.splice(body)


def _threads(threads: Threads) -> tuple[int, ...]:
    given = (threads,) if isinstance(threads, int) or threads is None else tuple(threads)
    extents = []
    for extent in given:
        static = 128 if extent is None else static_int(extent)
        if static is None or static < 1:
            raise LanguageError("threads is a positive integer, or up to three of them, known at compile time")
        extents.append(static)
    if not 1 <= len(extents) <= 3:
        raise LanguageError("threads has one to three dimensions")
    return tuple(extents)


def Kernel(
    *blocks: Any,
    threads: Threads = 128,
    cluster_dims: Any = None,
    is_cpu: bool = False,
    prelude: str | None = None,
) -> Any:
    """The grid of a kernel: `with T.Kernel(gx, gy, threads=128) as (bx, by):`.

    `threads` is how many threads of a GPU work on one block, or their number in up
    to three dimensions. `cluster_dims` is a hint: which blocks share a cluster is
    the compiler's choice, unless it asks for more than one.
    """
    if prelude is not None:
        raise LanguageError("T.Kernel(prelude=...) is not supported: no CUDA source is involved in compilation")
    if cluster_dims is not None:
        dims = (cluster_dims,) if isinstance(cluster_dims, int) else tuple(cluster_dims)
        if any(static_int(extent) is None or static_int(extent) < 1 for extent in dims) or len(dims) > 3:  # type: ignore[operator]
            raise LanguageError("cluster_dims is up to three positive integers")
    return Grid(blocks, threads)


def ClusterKernel(*blocks: Any, cluster_dims: Any, threads: Threads = 128, prelude: str | None = None) -> Any:
    """`T.Kernel` with clusters of blocks."""
    return Kernel(*blocks, threads=threads, cluster_dims=cluster_dims, prelude=prelude)


# Threads and blocks --------------------------------------------------------


def _thread_extents(what: str) -> tuple[int, ...]:
    launch = current().need_launch(what)
    if not launch.threads:
        raise LanguageError(f"{what} needs a number of threads that is a multiple of 32, from 32 to 1024")
    return launch.threads


def _thread_id(what: str) -> Scalar:
    trace = current()
    count = 1
    for extent in _thread_extents(what):
        count *= extent
    if trace.inside("parallel"):
        raise LanguageError(f"{what} has no meaning inside T.Parallel, whose iterations the compiler gives to threads")
    roles = trace.launch.roles if trace.launch is not None else None
    first, last = (0, count - 1) if roles is None else (GROUP * roles.group, GROUP * roles.group + GROUP - 1)
    return trace.emit("gpu.thread_id x", index, None, (first, last), "tid")


def get_thread_binding(dim: int = 0) -> Any:
    """The thread's number along one dimension of `threads`."""
    extents = _thread_extents("T.get_thread_binding")
    if not 0 <= dim < 3:
        raise LanguageError(f"threads have dimensions 0 to 2, not {dim}")
    if dim >= len(extents):
        return 0
    value: Any = _thread_id("T.get_thread_binding")
    for extent in extents[:dim]:
        value = value // extent
    return value % extents[dim] if dim + 1 < len(extents) else value


def get_thread_bindings() -> list[Any]:
    """The thread's number along every dimension."""
    return [get_thread_binding(dim) for dim in range(len(_thread_extents("T.get_thread_bindings")))]


def get_thread_extent(dim: int = 0) -> int:
    """How many threads a block has along one dimension."""
    extents = _thread_extents("T.get_thread_extent")
    return extents[dim] if dim < len(extents) else 1


def get_thread_extents() -> list[int]:
    """How many threads a block has along every dimension."""
    return list(_thread_extents("T.get_thread_extents"))


def get_block_binding(dim: int = 0) -> Any:
    """The block's number along one dimension of the grid."""
    launch = current().need_launch("T.get_block_binding")
    if not 0 <= dim < len(launch.blocks):
        raise LanguageError(f"the grid has {len(launch.blocks)} dimensions; there is no number {dim}")
    return launch.blocks[dim]


def get_block_bindings() -> list[Any]:
    """The block's number along every dimension."""
    return list(current().need_launch("T.get_block_bindings").blocks)


def get_block_extent(dim: int = 0) -> Any:
    """How many blocks the grid has along one dimension."""
    launch = current().need_launch("T.get_block_extent")
    if not 0 <= dim < len(launch.extents):
        raise LanguageError(f"the grid has {len(launch.extents)} dimensions; there is no number {dim}")
    return launch.extents[dim]


def get_block_extents() -> list[Any]:
    """How many blocks the grid has along every dimension."""
    return list(current().need_launch("T.get_block_extents").extents)
