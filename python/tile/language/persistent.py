"""`T.Persistent`: tiles shared among a fixed number of blocks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import LanguageError
from .arithmetic import emit_binary
from .buffers import same_extent
from .dtypes import index
from .expr import Scalar, static_int
from .loops import DeviceLoop, LoopExit, _between

if TYPE_CHECKING:
    from .statements import Statements


class PersistentLoop(DeviceLoop):
    """A loop over a box of tiles: block number w of W runs tiles w, w + W, ..."""

    def __init__(self, domain: Sequence[Any], workers: Any, worker: Any, group_size: int) -> None:
        self.domain, self.workers, self.worker, self.group_size = list(domain), workers, worker, group_size

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        trace = runner.trace
        launch = trace.need_launch("T.Persistent")
        if ast.Break in leaves:
            raise LanguageError("`break` cannot leave T.Persistent: its tiles are shared among blocks")
        targets = node.target.elts if isinstance(node.target, (ast.Tuple, ast.List)) else [node.target]
        if len(targets) != len(self.domain):
            raise LanguageError(
                f"T.Persistent has {len(self.domain)} dimensions here, and {len(targets)} loop variables"
            )
        direct = (
            trace.regions[-1].kind == "launch"
            and len(launch.blocks) == 1
            and self.worker is launch.blocks[0]
            and same_extent(self.workers, launch.extents[0])
        )
        names = [trace.builder.name(target.id if isinstance(target, ast.Name) else "") for target in targets]
        extents = [trace.index(extent) for extent in self.domain]
        values = [Scalar(name, index, None, _between(0, extent)) for name, extent in zip(names, self.domain)]
        leaving = LoopExit(trace, leaves)
        if direct:
            head = f"tile.persistent ({', '.join(names)}) in ({', '.join(e.ssa for e in extents)})"
            if len(names) > 1:
                head += f" raster(row, {self.group_size})"
            with trace.builder.block(head), trace.region("persistent"):
                self._body(runner, node, targets, values, leaving)
            return
        # Any other worker: tiles in the order of their numbers.
        count: Any = 1
        for extent in self.domain:
            count = emit_binary("*", count, extent)
        total, first, step = trace.index(count), trace.index(self.worker), trace.index(self.workers)
        number = trace.builder.name("tile")
        head = f"scf.for {number} = {first.ssa} to {total.ssa} step {step.ssa}"
        with trace.builder.block(head), trace.region("loop"):
            rest: Any = Scalar(number, index, None, (0, None))
            coordinates: list[Any] = []
            for extent in reversed(self.domain[1:]):
                coordinates.insert(0, emit_binary("%", rest, extent))
                rest = emit_binary("//", rest, extent)
            self._body(runner, node, targets, [rest, *coordinates], leaving)

    def _body(
        self, runner: Statements, node: ast.For, targets: list[ast.expr], values: list[Any], leaving: LoopExit
    ) -> None:
        for target, value in zip(targets, values):
            runner.assign(target, value)
        leaving.iterate()
        runner.loop_body(node, leaving)


def Persistent(domain: Sequence[Any], wave_size: Any, index: Any, group_size: int = 8) -> PersistentLoop:
    """A loop over the tiles of `domain`, shared among `wave_size` blocks of which this
    one is number `index`. `group_size` rows of tiles are walked together."""
    if not 1 <= len(domain) <= 3:
        raise LanguageError("T.Persistent has one to three dimensions")
    size = static_int(group_size)
    if size is None or size < 1:
        raise LanguageError("group_size is a positive integer")
    return PersistentLoop(domain, wave_size, index, size)
