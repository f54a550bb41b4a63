"""Loops of the language, and how each is built."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING, Any, Union

from ..errors import LanguageError
from . import arithmetic
from .buffers import Access, Buffer
from .dtypes import bool as bool_
from .dtypes import index
from .expr import Bounds, Expr, Scalar, bounds_of, common_dtype, static_int
from .reducers import ParallelLoop
from .schedule import Schedule
from .trace import Trace, current

if TYPE_CHECKING:
    from .statements import Statements

UNROLL_LIMIT = 128  # iterations that are built one by one; a longer loop stays one


class LoopExit:
    """How `break` and `continue` leave a device loop: by flags that the statements
    after them and the loop's condition read."""

    def __init__(self, trace: Trace, leaves: set[type]) -> None:
        self.trace = trace
        self.taken = False
        self.flags = {
            word: self._flag() for word, kind in (("break", ast.Break), ("continue", ast.Continue)) if kind in leaves
        }

    def _flag(self) -> Buffer:
        buffer = Buffer("flag", (1,), bool_, "local")
        buffer.ssa = self.trace.builder.assign(f"tile.alloc_local : {buffer.type}", buffer.type, "flag").name
        return buffer

    def _set(self, word: str, value: bool) -> None:
        if word in self.flags:
            Access(self.flags[word], (0,)).store(value)

    def enter(self) -> None:
        """Before the loop."""
        self._set("break", True)

    def iterate(self) -> None:
        """At the start of an iteration."""
        self.taken = False
        self._set("continue", True)

    def leave(self, word: str) -> None:
        """At a `break` or `continue`."""
        self._set(word, False)
        self.taken = True

    def running(self) -> Scalar | None:
        """Whether no `break` was met; None where there is none in the loop."""
        return Access(self.flags["break"], (0,)).load() if "break" in self.flags else None

    def active(self) -> Any:
        """Whether the rest of the iteration runs."""
        values = [Access(flag, (0,)).load() for flag in self.flags.values()]
        return values[0] if len(values) == 1 else arithmetic.emit_binary("&", *values)


class DeviceLoop:
    """What `for` runs on the device."""

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        """Builds the loop with the body of `node`."""
        raise NotImplementedError

    def known(self) -> Any | None:
        """The values it runs through, where it is built iteration by iteration."""
        return None

    def assigned(self) -> Any:
        """What a name stands for that the loop is assigned to."""
        return self


class Serial(DeviceLoop):
    """A loop whose iterations follow one another."""

    def __init__(self, start: Any, stop: Any, step: Any = 1) -> None:
        self.start, self.stop, self.step = start, stop, 1 if step is None else step
        for value in (start, stop, self.step):
            if getattr(value, "dtype", index).is_float or isinstance(value, float):
                raise LanguageError("the bounds of a loop are integers, and one of these is a float (use // to divide)")
            if isinstance(value, Buffer):
                raise LanguageError(f"the bounds of a loop are integers, not the buffer {value.name}")

    def head(self, variable: Scalar, low: str, high: str, step: str | None) -> str:
        text = f"scf.for {variable.ssa} = {low} to {high}"
        return f"{text} step {step}" if step is not None else f"{text} step {current().constant(1, index).ssa}"

    def iteration(self, runner: Statements, node: ast.For, leaving: LoopExit) -> None:
        """The statements of one iteration."""
        runner.loop_body(node, leaving)

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        trace = runner.trace
        trace.need_launch("a loop")
        step = static_int(self.step)
        if step == 0:
            raise LanguageError("a loop's step cannot be zero")
        if step is None and (bounds_of(self.step)[0] or 0) <= 0:
            raise LanguageError("a loop's step that is not constant must be certainly positive")
        if step is not None and step < 0:
            count = arithmetic.emit_binary("ceildiv", arithmetic.emit_binary("-", self.start, self.stop), -step)
            self._build(runner, node, leaves, 0, count, 1, step)
        else:
            self._build(runner, node, leaves, self.start, self.stop, self.step if step is None else step, None)

    def _build(
        self, runner: Statements, node: ast.For, leaves: set[type], low: Any, high: Any, step: Any, back: int | None
    ) -> None:
        trace = runner.trace
        bounds = _between(low, high)
        first, last = trace.index(low), trace.index(high)
        stride = None if step == 1 and isinstance(step, int) else trace.index(step)
        leaving = LoopExit(trace, leaves)
        leaving.enter()
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        variable = Scalar(trace.builder.name(name), index, None, bounds)

        def body() -> None:
            value: Any = variable
            if back is not None:
                value = arithmetic.emit_binary("+", self.start, arithmetic.emit_binary("*", variable, back))
            runner.assign(node.target, value)
            leaving.iterate()
            self.iteration(runner, node, leaving)

        if ast.Break not in leaves:
            head = self.head(variable, first.ssa, last.ssa, None if stride is None else stride.ssa)
            with trace.builder.block(head), trace.region("loop"):
                body()
            return
        one = stride if stride is not None else trace.constant(1, index)
        counter = trace.builder.name(name)
        with trace.builder.block(f"scf.while ({counter} = {first.ssa}) : (index) -> index") as opened:
            inside = trace.emit(f"arith.cmpi slt, {counter}, {last.ssa} : index", bool_)
            test = arithmetic.emit_binary("&", inside, leaving.running())
            trace.builder.line(f"scf.condition({test.ssa}) {counter} : index")
        with trace.builder.another(opened, "do"):
            trace.builder.label(f"^bb0({variable.ssa}: index)")
            with trace.region("loop"):
                body()
                runner.at(node)
                following = trace.builder.assign(f"arith.addi {variable.ssa}, {one.ssa} : index", "index")
                trace.builder.line(f"scf.yield {following.name} : index")


class Pipelined(Serial):
    """A serial loop whose copies overlap with its computation."""

    def __init__(self, start: Any, stop: Any, stages: int, schedule: Schedule | None = None) -> None:
        super().__init__(start, stop)
        self.stages = stages
        self.schedule = schedule

    def head(self, variable: Scalar, low: str, high: str, step: str | None) -> str:
        return f"tile.pipelined {variable.ssa} = {low} to {high} stages({self.stages})"

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        if runner.trace.inside("parallel"):
            raise LanguageError("T.Pipelined cannot stand inside T.Parallel; use T.serial")
        launch = runner.trace.launch
        if launch is not None and launch.roles is not None:
            # Groups that meet on barriers say themselves what overlaps.
            if self.schedule is not None:
                raise LanguageError("order and stage cannot stand in a kernel with T.ws or barriers: they overlap work")
            Serial(self.start, self.stop).run(runner, node, leaves)
            return
        if self.schedule is not None and leaves:
            raise LanguageError("`break` and `continue` cannot stand in a loop whose statements have a schedule")
        super().run(runner, node, leaves)

    def iteration(self, runner: Statements, node: ast.For, leaving: LoopExit) -> None:
        if self.schedule is None:
            super().iteration(runner, node, leaving)
        else:
            self.schedule.build(runner, node)


class Unrolled(Serial):
    """A loop that is built iteration by iteration where its bounds are known."""

    def known(self) -> Any | None:
        start, stop, step = (static_int(value) for value in (self.start, self.stop, self.step))
        if start is None or stop is None or step is None or step == 0:
            return None
        values = range(start, stop, step)
        return values if len(values) <= UNROLL_LIMIT else None


class Parallel(DeviceLoop):
    """An elementwise loop over a box."""

    def __init__(self, extents: tuple[Any, ...]) -> None:
        self.extents = []
        for extent in extents:
            static = static_int(extent)
            if static is None:
                raise LanguageError(
                    "the extents of T.Parallel must be known at compile time; loop over tiles of a constant size and "
                    "let accesses outside a global buffer be dropped, or guard them with `if`"
                )
            if static < 0:
                raise LanguageError(f"the extents of T.Parallel cannot be negative; one is {static}")
            self.extents.append(static)

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        trace = runner.trace
        trace.need_launch("T.Parallel")
        targets = node.target.elts if isinstance(node.target, (ast.Tuple, ast.List)) else [node.target]
        if len(targets) != len(self.extents):
            raise LanguageError(
                f"T.Parallel has {len(self.extents)} dimensions here, and {len(targets)} loop variables"
            )
        if ast.Break in leaves:
            raise LanguageError("`break` cannot leave T.Parallel, whose iterations run side by side; use T.serial")
        if trace.inside("parallel"):
            self._nested(runner, node, leaves, targets)
            return
        roles = trace.launch.roles if trace.launch is not None else None
        with contextlib.nullcontext() if roles is None else roles.statement():
            self._build(runner, node, leaves, targets)

    def _build(self, runner: Statements, node: ast.For, leaves: set[type], targets: list[ast.expr]) -> None:
        trace = runner.trace
        names = [trace.builder.name(target.id if isinstance(target, ast.Name) else "") for target in targets]
        head = f"tile.parallel ({', '.join(names)}) in ({', '.join(map(str, self.extents))})"
        trace.ranges.update((name, (0, extent - 1)) for name, extent in zip(names, self.extents) if extent)
        values = [Scalar(name, index, None, (0, max(0, extent - 1))) for name, extent in zip(names, self.extents)]
        loop = trace.parallel = ParallelLoop(names, values, self.extents)
        with trace.builder.capture() as body, trace.builder.block(head), trace.region("parallel"):
            self._body(runner, node, leaves, targets, values)
        trace.parallel = None
        trace.builder.splice(loop.before)
        trace.builder.splice(body)
        loop.finish()

    def _body(
        self, runner: Statements, node: ast.For, leaves: set[type], targets: list[ast.expr], values: list[Scalar]
    ) -> None:
        for target, value in zip(targets, values):
            runner.assign(target, value)
        leaving = LoopExit(runner.trace, leaves)
        leaving.iterate()
        runner.loop_body(node, leaving)

    def _nested(self, runner: Statements, node: ast.For, leaves: set[type], targets: list[ast.expr]) -> None:
        """Inside another parallel loop, each lane runs through the box by itself."""
        trace = runner.trace
        zero, one = trace.constant(0, index), trace.constant(1, index)

        def build(values: list[Scalar]) -> None:
            if len(values) == len(targets):
                self._body(runner, node, leaves, targets, values)
                return
            extent = self.extents[len(values)]
            name, limit = trace.builder.name(), trace.constant(extent, index)
            head = f"scf.for {name} = {zero.ssa} to {limit.ssa} step {one.ssa}"
            with trace.builder.block(head), trace.region("loop"):
                build([*values, Scalar(name, index, None, (0, max(0, extent - 1)))])

        build([])


class Grid(DeviceLoop):
    """Serial loops nested in one another."""

    def __init__(self, extents: tuple[Any, ...]) -> None:
        self.extents = extents

    def run(self, runner: Statements, node: ast.For, leaves: set[type]) -> None:
        if leaves:
            raise LanguageError("`break` and `continue` are not supported in T.grid; write the loops out")
        targets = node.target.elts if isinstance(node.target, (ast.Tuple, ast.List)) else [node.target]
        if len(targets) != len(self.extents):
            raise LanguageError(f"T.grid has {len(self.extents)} dimensions here, and {len(targets)} loop variables")
        body: list[ast.stmt] = node.body
        loops: list[tuple[ast.expr, Any]] = list(zip(targets, self.extents))

        def build(depth: int) -> None:
            target, extent = loops[depth]
            inner = ast.copy_location(ast.For(target, node.iter, body, []), node)
            if depth + 1 == len(loops):
                Serial(0, extent).run(runner, inner, set())
                return
            trace = runner.trace
            name = trace.builder.name(target.id if isinstance(target, ast.Name) else "")
            first, last = trace.constant(0, index), trace.index(extent)
            one = trace.constant(1, index)
            with (
                trace.builder.block(f"scf.for {name} = {first.ssa} to {last.ssa} step {one.ssa}"),
                trace.region("loop"),
            ):
                runner.assign(target, Scalar(name, index, None, _between(0, extent)))
                build(depth + 1)

        build(0)


def _between(low: Any, high: Any) -> Bounds:
    """The bounds of a loop's variable."""
    least, most = bounds_of(low)[0], bounds_of(high)[1]
    return (least, None if most is None else max(most - 1, least if least is not None else most - 1))


def run_while(runner: Statements, node: ast.While, leaves: set[type], forever: bool) -> None:
    """A `while` whose condition is a device value."""
    trace = runner.trace
    trace.need_launch("a loop")
    leaving = LoopExit(trace, leaves)
    leaving.enter()
    with trace.region("loop"):
        with trace.builder.block("scf.while : () -> ()") as opened:
            test = leaving.running()
            if not forever:
                condition = arithmetic.truth(runner.operand(node.test))
                test = condition if test is None else arithmetic.emit_binary("&", test, condition)
            trace.builder.line(f"scf.condition({trace.value(test, bool_).ssa})")
        with trace.builder.another(opened, "do"):
            leaving.iterate()
            runner.loop_body(node, leaving)
            runner.at(node)
            trace.builder.line("scf.yield")


def branch_value(trace: Trace, condition: Expr, yes: tuple[Any, Any], no: tuple[Any, Any]) -> Scalar:
    """An `scf.if` with a value; each side has its ops and its result."""
    dtype = common_dtype(yes[1], no[1])
    test = trace.value(condition, bool_)
    name = trace.builder.name()
    with trace.builder.block(f"{name} = scf.if {test.ssa} -> ({dtype.mlir})") as opened, trace.region("branch"):
        trace.builder.splice(yes[0])
        trace.builder.line(f"scf.yield {trace.value(yes[1], dtype).ssa} : {dtype.mlir}")
    with trace.builder.another(opened, "else"), trace.region("branch"):
        trace.builder.splice(no[0])
        trace.builder.line(f"scf.yield {trace.value(no[1], dtype).ssa} : {dtype.mlir}")
    return Scalar(name, dtype)


def unrolled(items: Any, what: str) -> Any:
    """The values of a loop that runs at compile time."""
    if isinstance(items, Serial):
        known = Unrolled(items.start, items.stop, items.step).known()
        if known is not None:
            return known
        raise LanguageError(f"{what} over device values is not supported here; its bounds must be constants")
    if isinstance(items, (Expr, Buffer, DeviceLoop)):
        raise LanguageError(f"{what} cannot run over {type(items).__name__}; use T.serial, T.Parallel or range()")
    try:
        return iter(items)
    except TypeError:
        raise LanguageError(f"{what} cannot run over {type(items).__name__}") from None


# What users write ----------------------------------------------------------


def _range(start: Any, stop: Any, step: Any, kind: type[Serial] = Serial) -> Any:
    if stop is None:
        start, stop = 0, start
    return kind(_loaded(start), _loaded(stop), _loaded(step))


def _loaded(value: Any) -> Any:
    return value.load() if isinstance(value, Access) else value


def serial(start: Any, stop: Any = None, step: Any = None, annotations: Any = None) -> Serial:
    """A loop from `start` (0) up to, but not including, `stop`."""
    return _range(start, stop, step)


def python_range(*bounds: int) -> Any:
    """`range` in a kernel: a device loop, as in TileLang."""
    return _range(*(list(bounds) + [None] * (3 - len(bounds)))[:3])  # type: ignore[arg-type]


def unroll(
    start: Any,
    stop: Any = None,
    step: Any = None,
    explicit: bool = False,
    unroll_factor: int | None = None,
    annotations: Any = None,
) -> Serial:
    """A loop that is built iteration by iteration; its variable is a Python integer
    where the bounds are constants and there are at most 128 iterations."""
    return _range(start, stop, step, Unrolled)


def vectorized(start: Any, stop: Any = None, annotations: Any = None) -> Serial:
    """A loop over neighbouring elements. The compiler chooses vector widths itself."""
    return _range(start, stop, None)


def parallel(
    *extents: Any,
    coalesced_width: int | None = None,
    loop_layout: Any = None,
    prefer_async: Any = None,
    annotations: Any = None,
) -> Parallel:
    """An elementwise loop over a box of one to five dimensions."""
    if not 1 <= len(extents) <= 5:
        raise LanguageError(f"T.Parallel has one to five dimensions, not {len(extents)}")
    if loop_layout is not None:
        raise LanguageError("T.Parallel(loop_layout=...) is not supported; layouts are inferred")
    return Parallel(extents)


def pipelined(
    start: Any,
    stop: Any = None,
    num_stages: int = 0,
    order: list[int] | None = None,
    stage: list[int] | None = None,
    sync: Any = None,
    group: Any = None,
    annotations: Any = None,
) -> Pipelined:
    """A serial loop whose copies may run `num_stages` iterations ahead; 0 turns that
    off. `order` and `stage` pin a schedule, statement by statement: a statement of
    stage s works on the iteration s slots back, and in a slot statements run by their
    order. Statements of a `group` keep together."""
    stages = static_int(num_stages)
    if stages is None or stages < 0:
        raise LanguageError("num_stages is an integer from 0")
    schedule = Schedule(order, stage, sync, group)
    if stop is None:
        start, stop = 0, start
    if not schedule.stage:
        return Pipelined(_loaded(start), _loaded(stop), max(1, stages))
    return Pipelined(_loaded(start), _loaded(stop), max(stages, schedule.depth), schedule)


def grid(*extents: Any) -> Grid:
    """Serial loops nested in one another."""
    return Grid(extents)


Loop = Union[Serial, Parallel, Grid]
