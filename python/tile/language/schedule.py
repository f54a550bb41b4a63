"""Schedules of pipelined loops by hand: `T.Pipelined(n, order=[...], stage=[...])`.

Each statement that touches memory becomes a `tile.step` with its stage and order.
What only computes (a name for an index) stands beside the steps and takes no entry
of the lists, as in TileLang. The compiler checks that the schedule keeps the loop's
meaning; a conflict is reported at the statement.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import LanguageError
from ..ir.builder import Block, Body
from .expr import static_int

if TYPE_CHECKING:
    from .statements import Statements

NAMES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)
OUTSIDE = (
    "arith.",
    "math.",
    "affine.",
    "tile.alloc_",
    "memref.subview",
    "memref.cast",
    "memref.dim",
    "memref.collapse_shape",
    "memref.expand_shape",
)


class Schedule:
    """The place of each statement of a loop: when it runs, by slot and within it."""

    def __init__(self, order: Any, stage: Any, sync: Any, group: Any) -> None:
        if sync:
            raise LanguageError(
                "T.Pipelined(sync=...) is not supported: barriers follow from what the statements read and write"
            )
        if (order is None) != (stage is None):
            raise LanguageError("T.Pipelined takes order and stage together, one entry of each for each statement")
        if group and order is None:
            raise LanguageError("T.Pipelined(group=...) needs order and stage: a group is scheduled as one statement")
        self.order = _integers("order", order or [], None)
        self.stage = _integers("stage", stage or [], 0)
        if len(self.order) != len(self.stage):
            raise LanguageError(
                f"order has {len(self.order)} entries and stage {len(self.stage)}; they belong together"
            )
        if len(set(self.order)) != len(self.order):
            raise LanguageError("the entries of order differ: each statement has a place of its own")
        self.groups = [_integers("group", members, 0) for members in group or []]

    @property
    def depth(self) -> int:
        """How many iterations are in flight."""
        return max(self.stage) + 1

    def build(self, runner: Statements, node: ast.For) -> None:
        """The loop's body as steps."""
        steps: list[tuple[ast.stmt, Body]] = []
        every: list[int | None] = []  # for each statement its step
        for statement in node.body:
            body = self._run(runner, statement)
            if _stands_outside(body):
                runner.trace.builder.splice(body)
                every.append(None)
            else:
                if isinstance(statement, NAMES) and any(
                    isinstance(t, (ast.Name, ast.Tuple)) for t in _targets(statement)
                ):
                    raise runner.error(
                        statement,
                        "a name cannot carry what was read from memory from one statement of a schedule to another; "
                        "read it in the statement that uses it, or leave order and stage to the compiler",
                    )
                every.append(len(steps))
                steps.append((statement, body))
        places = self._places(len(steps), every)
        for members in self._grouped(len(steps), places):
            first = members[0]
            stage, order = places[first]
            runner.at(steps[first][0])
            with runner.trace.builder.block(f"tile.step stage({stage}) order({order})"):
                for member in members:
                    runner.trace.builder.splice(steps[member][1])

    def _run(self, runner: Statements, statement: ast.stmt) -> Body:
        with runner.trace.capture() as (body, _):
            if isinstance(statement, NAMES):
                runner.execute(statement)
            else:
                with runner.trace.region("step"):
                    runner.execute(statement)
        kept: Body = body
        return kept

    def _places(self, count: int, every: Sequence[int | None]) -> list[tuple[int, int]]:
        """Stage and order of each step. Lists that speak of the other statements, too,
        have entries that say nothing."""
        places = list(zip(self.stage, self.order))
        if len(places) == len(every) != count:
            places = [place for place, step in zip(places, every) if step is not None]
        if len(places) != count:
            raise LanguageError(
                f"order and stage have {len(places)} entries, and the loop has {count} statements that touch memory"
            )
        return places

    def _grouped(self, count: int, places: Sequence[tuple[int, int]]) -> list[list[int]]:
        """The steps, with those of a group together."""
        if not self.groups:
            return [[step] for step in range(count)]
        if [member for members in self.groups for member in members] != list(range(count)):
            raise LanguageError(f"group divides the statements 0 to {count - 1} of the loop, in their order")
        for members in self.groups:
            stages = {places[member][0] for member in members}
            orders = sorted(places[member][1] for member in members)
            if len(stages) != 1 or orders != list(range(orders[0], orders[0] + len(orders))):
                raise LanguageError(f"the statements {members} of a group have one stage, and orders that follow on")
        return self.groups


def _integers(name: str, values: Any, least: int | None) -> list[int]:
    if not isinstance(values, (list, tuple)):
        raise LanguageError(f"{name} is a list of integers, one for each statement of the loop")
    result = []
    for value in values:
        static = static_int(value)
        if static is None or least is not None and static < least:
            raise LanguageError(f"{name} is a list of integers{' from 0' * (least == 0)}; {value!r} is none")
        result.append(static)
    return result


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else []


def _stands_outside(body: Body) -> bool:
    """Whether ops need no place in the schedule."""
    for item in body:
        if isinstance(item, Block):
            return False
        name = item.partition(" = ")[2] if item.startswith("%") else item
        if not name.startswith(OUTSIDE):
            return False
    return True
