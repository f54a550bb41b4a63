"""`T.thread_binding`: TVM's form of naming threads and blocks, as a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..errors import LanguageError
from .arithmetic import emit_binary
from .expr import Expr, static_int
from .kernel import get_block_binding, get_block_extent, get_thread_binding, get_thread_extent
from .loops import DeviceLoop
from .trace import current

if TYPE_CHECKING:
    from .statements import Statements

DIMENSIONS = ("x", "y", "z")


class ThreadBinding(DeviceLoop):
    """A loop of which each thread, or each block, runs one iteration."""

    def __init__(self, extent: Any, what: str, dim: int) -> None:
        self.extent, self.what, self.dim = extent, what, dim

    def _bind(self) -> tuple[Any, int, int]:
        """The number, how many of them run, and how many there are."""
        current().need_launch("T.thread_binding")
        threads = self.what == "threadIdx"
        value = get_thread_binding(self.dim) if threads else get_block_binding(self.dim)
        available = get_thread_extent(self.dim) if threads else get_block_extent(self.dim)
        wanted, present = static_int(self.extent), static_int(available)
        if wanted is None or present is None or wanted > present:
            raise LanguageError(
                f"T.thread_binding of {self.extent} along {self.what}.{DIMENSIONS[self.dim]} needs as many; "
                f"T.Kernel has {available}"
            )
        return value, wanted, present

    def assigned(self) -> Any:
        value, wanted, present = self._bind()
        if wanted != present:
            raise LanguageError(
                f"T.thread_binding of {wanted} of {present} as a value would leave the others without one; "
                "loop over it: `for i in T.thread_binding(...)`"
            )
        return value

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        if leaves:
            raise LanguageError(
                "`break` and `continue` have no meaning in T.thread_binding: each thread runs one iteration"
            )
        value, wanted, _ = self._bind()
        runner.assign(node.target, value)
        active = emit_binary("<", value, wanted)
        if not isinstance(active, Expr):
            runner.block(node.body)
            return
        with runner.branch(active):
            runner.block(node.body)


def thread_binding(start: Any, stop: Any = None, thread: str = "threadIdx.x", **_: Any) -> ThreadBinding:
    """A loop over the threads (threadIdx.x, y, z) or blocks (blockIdx.x, y, z) of the
    kernel that is open: each runs one iteration, and those beyond `stop` none. Where
    it is assigned to a name instead, that is the thread's, or the block's, number.
    As in TileLang, `thread_binding(n)` is `thread_binding(0, n)`."""
    if isinstance(stop, str):
        stop, thread = None, stop
    if stop is not None and static_int(start) != 0:
        raise LanguageError("T.thread_binding starts at 0")
    extent = start if stop is None else stop
    what, _dot, dim = thread.partition(".")
    if what not in ("threadIdx", "blockIdx") or dim not in DIMENSIONS:
        raise LanguageError(f"thread is threadIdx or blockIdx with .x, .y or .z, not {thread!r}")
    return ThreadBinding(extent, what, DIMENSIONS.index(dim))
