"""Groups of warps that run different code: `T.ws`, barriers, and copies and products
that go on while the program does.

TileLang has one text for all threads, in which `with T.ws(i)` (or a comparison of the
thread's number) picks a group of 128. Here each group becomes a `tile.role`: the body
of `T.Kernel` is built once for each, without what belongs to the others. What stands
outside of `T.ws` every group runs for itself as long as only its own registers are
written; what touches memory that groups share, one of them does, and all meet before
and after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import LanguageError, Location
from ..ir.builder import Block, Body
from . import arithmetic
from .buffers import Access, Buffer
from .compute import gemm
from .dtypes import index, int32
from .expr import Scalar, describe, static_int
from .memory import copy, tile_text
from .trace import Trace, current

if TYPE_CHECKING:
    from .statements import Statements

GROUP = 128  # threads of a group of warps
_NAME = re.compile(r"%\w+")


class NeedRoles(BaseException):
    """The kernel speaks of groups of warps, so it is built anew, group by group."""

    def __init__(self, location: Location | None) -> None:
        super().__init__()
        self.location = location


class Scoped:
    """What stands after `with` and runs its body itself."""

    def run(self, runner: Statements, inside: Callable[[Any], None]) -> None:
        """Runs the body, with a value for `as`, any number of times."""
        raise NotImplementedError


class Roles:
    """The groups of the open launch, and the one that is being built."""

    def __init__(self, trace: Trace, groups: int, prologue: Body, location: Location | None) -> None:
        self.trace = trace
        self.groups = groups
        self.prologue = prologue
        self.location = location
        self.group = 0
        self.inside = 0  # how many T.ws are open
        self.handled = 0  # statements that are known to be done by the right groups
        self.shared: dict[Any, Any] = {}
        self.counts: dict[Any, int] = {}
        self.registers: int | None = None
        # Fragments are each group's own, under one name.
        self.fragments: dict[str, tuple[str, Location | None]] = {}
        self.used_inside: set[Any] = set()
        self.used_outside: dict[Any, tuple[str, Location | None]] = {}
        self.meeting: str | None = None
        # Values that differ between groups, and whether a condition was decided by one.
        self.numbers: set[str] = set()
        self.decided = False

    def begin(self, group: int) -> None:
        self.group, self.counts, self.registers, self.fragments = group, {}, None, {}
        self.counter = Buffer("meetings", (1,), int32, "local", self.trace.builder.name("meetings"))
        self.meetings = False

    def once(self, what: str, build: Callable[[], Any]) -> Any:
        """Something that all groups share, built in front of them by the first."""
        key: Any = (what, self.trace.location)
        count = self.counts[key] = self.counts.get(key, 0) + 1
        key = (*key, count)
        if key not in self.shared:
            with self.trace.builder.into(self.prologue):
                self.shared[key] = build()
        return self.shared[key]

    def own(self, buffer: Buffer) -> None:
        """A fragment of the group that is being built."""
        key = ("fragment", self.trace.location)
        count = self.counts[key] = self.counts.get(key, 0) + 1
        self.fragments[buffer.ssa] = (f"{buffer.name} {count} {self.trace.location}", self.trace.location)

    def emitted(self, name: str, text: str) -> None:
        """Notes values that are made of a thread's number."""
        if text.startswith("gpu.thread_id") or not self.numbers.isdisjoint(_NAME.findall(text)):
            self.numbers.add(name)

    def known(self, *sides: Any) -> None:
        """Notes that a comparison of these has one result throughout the group."""
        if any(isinstance(side, Scalar) and side.ssa in self.numbers for side in sides):
            self.decided = True

    @contextmanager
    def chosen(self) -> Iterator[None]:
        """What stands inside belongs to the group that is being built."""
        self.handled += 1
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    # What stands outside of T.ws ---------------------------------------

    @contextmanager
    def statement(self) -> Iterator[None]:
        """A statement: finds out who runs it. An elementwise loop is one as a whole."""
        if self.trace.inside("parallel"):
            yield
            return
        handled = self.handled
        where = self.trace.location
        with self.trace.capture() as (body, _):
            yield
        uses = _Uses(body)
        for name in uses.names & set(self.fragments):
            key, _ = self.fragments[name]
            if self.inside:
                self.used_inside.add(key)
            elif not uses.only_fills:
                self.used_outside.setdefault(key, (key.split()[0], where))
        splice = self.trace.builder.splice
        if self.inside or handled != self.handled or not (uses.reads_shared or uses.writes):
            splice(body)
            return
        self.handled += 1
        self.meet()
        if not uses.writes or self.group == 0:
            splice(body)
        self.meet()

    def meet(self) -> None:
        """All groups wait for each other."""
        trace = self.trace
        if self.groups == 1:
            trace.builder.line("gpu.barrier")
            return
        if self.meeting is None:
            with trace.builder.into(self.prologue):
                text = f"tile.alloc_barrier arrivals({self.groups}) : !tile.barrier"
                self.meeting = trace.builder.assign(text, "!tile.barrier", "meeting").name
        zero = trace.constant(0, index)
        trace.builder.line(f"tile.barrier_arrive {self.meeting}[{zero.ssa}] : !tile.barrier")
        self.meetings = True
        count = Access(self.counter, (0,)).load()
        phase = trace.value(count, index)
        trace.builder.line(f"tile.barrier_wait {self.meeting}[{zero.ssa}], {phase.ssa} : !tile.barrier")
        Access(self.counter, (0,)).store(arithmetic.emit_binary("+", count, 1))

    def check(self) -> None:
        """After all groups are built."""
        for key, (name, where) in self.used_outside.items():
            if key in self.used_inside:
                raise LanguageError(
                    f"the fragment {name} is used here by all threads and in T.ws by some of them, which hold "
                    "different parts of it; copy it through a shared buffer, or use it inside T.ws only",
                    where,
                )


class _Uses:
    """What some ops do to memory that groups share."""

    def __init__(self, body: Body) -> None:
        self.reads_shared = self.writes = False
        self.only_fills = True
        self.names: set[str] = set()
        self._scan(body)

    def _scan(self, body: Body) -> None:
        for item in body:
            if isinstance(item, Block):
                self.only_fills = False
                self.names.update(_NAME.findall(item.head))
                for _, inside in item.regions:
                    self._scan(inside)
                continue
            self.names.update(_NAME.findall(item))
            text = item.partition(" = ")[2] if item.startswith("%") else item
            op = text.split(None, 1)[0]
            if op not in ("tile.fill", "arith.constant") and not op.startswith("tile.alloc_"):
                self.only_fills = False
            if op == "tile.print":
                self.writes = True
            if not op.startswith(("tile.", "memref.")) or op in _HARMLESS:
                continue
            spaces = [
                "shared" if "#tile.shared" in piece else "own" if "#tile." in piece else "global"
                for piece in item.split("memref<")[1:]
            ]
            read, written = (spaces, []) if op == "memref.load" else (spaces[:-1], spaces[-1:])
            self.reads_shared |= "shared" in read
            self.writes |= any(space != "own" for space in written)


_HARMLESS = (
    "memref.subview",
    "memref.cast",
    "memref.dim",
    "memref.collapse_shape",
    "memref.expand_shape",
    "tile.alloc_shared",
    "tile.alloc_fragment",
    "tile.alloc_local",
    "tile.alloc_barrier",
    "tile.print",
)


def need_roles(what: str) -> Roles:
    """The groups of the open launch."""
    trace = current()
    launch = trace.need_launch(what)
    if launch.roles is None:
        raise NeedRoles(trace.location)
    roles: Roles = launch.roles
    return roles


# What users write ----------------------------------------------------------


def build_roles(runner: Statements, need: NeedRoles, threads: int, inside: Callable[[], None]) -> None:
    """The body of a kernel once for each group; `inside` runs it."""
    trace, builder = runner.trace, runner.trace.builder
    if threads % GROUP:
        raise LanguageError(
            f"T.ws and barriers divide a block into groups of {GROUP} threads, and T.Kernel has {threads}",
            need.location,
        )
    launch = trace.launch
    assert launch is not None
    with builder.capture() as prologue:
        pass
    roles = launch.roles = Roles(trace, threads // GROUP, prologue, need.location)
    names = runner.frame.saved()
    parts: list[tuple[Body, Buffer | None, int | None]] = []
    for group in range(roles.groups):
        runner.frame.restore(names)
        roles.begin(group)
        with builder.capture() as body, trace.region("role"):
            inside()
        announce(body)
        parts.append((body, roles.counter if roles.meetings else None, roles.registers))
    roles.check()
    launch.roles = None
    builder.location = need.location
    builder.splice(prologue)
    with builder.block("tile.roles"):
        for body, counter, registers in parts:
            kind = "consumer" if _multiplies(body) else "producer"
            head = f"tile.role {kind} warps({GROUP // 32})" + (f" registers({registers})" if registers else "")
            with builder.block(head):
                if counter is not None:
                    builder.line(f"{counter.ssa} = tile.alloc_local : {counter.type}")
                    zero = builder.assign("arith.constant 0 : i32", "i32").name
                    at = builder.assign("arith.constant 0 : index", "index").name
                    builder.line(f"memref.store {zero}, {counter.ssa}[{at}] : {counter.type}")
                builder.splice(body)


def _multiplies(body: Body) -> bool:
    return any(
        any(_multiplies(inside) for _, inside in item.regions)
        if isinstance(item, Block)
        else item.startswith("tile.gemm")
        for item in body
    )


class WarpGroups(Scoped):
    """`with T.ws(0, 1):`"""

    def __init__(self, groups: Sequence[int]) -> None:
        self.groups = groups

    def run(self, runner: Statements, inside: Callable[[Any], None]) -> None:
        roles = need_roles("T.ws")
        if runner.trace.inside("parallel"):
            raise LanguageError("T.ws cannot stand inside T.Parallel")
        for group in self.groups:
            if group >= roles.groups:
                raise LanguageError(
                    f"there is no group {group}: T.Kernel has {roles.groups * GROUP} threads, which are "
                    f"{roles.groups} groups of {GROUP}"
                )
        roles.handled += 1
        if roles.group in self.groups:
            with roles.chosen():
                inside(None)


def ws(*groups: Any) -> WarpGroups:
    """`with T.ws(i):` runs its body on the threads 128 i to 128 i + 127 only."""
    numbers = [static_int(group) for group in groups]
    if not numbers or any(number is None or number < 0 for number in numbers):
        raise LanguageError("T.ws takes the numbers of groups of 128 threads, from 0")
    need_roles("T.ws")
    return WarpGroups([number for number in numbers if number is not None])


WarpSpecialize = ws


class Barriers:
    """Barriers of `T.alloc_barrier`: one, or a ring of them to be indexed."""

    def __init__(self, ssa: str, count: int) -> None:
        self.ssa = ssa
        self.count = count

    @property
    def type(self) -> str:
        return "!tile.barrier" if self.count == 1 else f"!tile.barrier<{self.count}>"

    def __getitem__(self, number: Any) -> Barrier:
        if isinstance(number, (tuple, slice)):
            raise LanguageError("barriers are indexed with one integer")
        static = static_int(number)
        if static is not None and not 0 <= static < self.count:
            raise LanguageError(f"there are {self.count} barriers here, and none numbered {static}")
        return Barrier(self, number)

    def __repr__(self) -> str:
        return f"<{self.count} barriers>"


class Barrier:
    """One barrier."""

    def __init__(self, barriers: Barriers, number: Any) -> None:
        self.barriers = barriers
        self.number = number

    @property
    def key(self) -> Any:
        """What two mentions of the same barrier have in common."""
        static = static_int(self.number)
        number = static if static is not None else getattr(self.number, "ssa", None)
        return None if number is None else (self.barriers.ssa, number)

    def text(self) -> str:
        return f"{self.barriers.ssa}[{current().index(self.number).ssa}]"


def alloc_barrier(arrive_count: Any) -> Barriers:
    """A barrier, or with a list of counts several: each phase ends after so many
    threads have arrived, which come in whole groups of 128."""
    roles = need_roles("T.alloc_barrier")
    listed = isinstance(arrive_count, (list, tuple))
    counts = [static_int(count) for count in (arrive_count if listed else [arrive_count])]
    if not counts or any(count is None or count < 1 for count in counts):
        raise LanguageError("T.alloc_barrier takes a number of threads, or a list of them, known at compile time")
    if len(set(counts)) != 1:
        raise LanguageError("the barriers of one T.alloc_barrier wait for the same number of threads; allocate two")
    if counts[0] % GROUP:  # type: ignore[operator]
        raise LanguageError(
            f"a barrier here waits for whole groups of {GROUP} threads, and {counts[0]} is no multiple of that"
        )
    arrivals = counts[0] // GROUP  # type: ignore[operator]
    trace = roles.trace
    if trace.inside("loop") or trace.inside("branch"):
        raise LanguageError("T.alloc_barrier stands directly in T.Kernel: groups meet on it in every iteration")

    def build() -> Barriers:
        result = Barriers("", len(counts))
        text = f"tile.alloc_barrier arrivals({arrivals}) : {result.type}"
        result.ssa = trace.builder.assign(text, result.type, trace.hint or "barrier").name
        return result

    made: Barriers = roles.once("barrier", build)
    return made


def _barrier(value: Any, what: str) -> Barrier:
    if isinstance(value, Barriers):
        if value.count != 1:
            raise LanguageError(f"{what} takes one of the {value.count} barriers: index them")
        return Barrier(value, 0)
    if not isinstance(value, Barrier):
        raise LanguageError(f"{what} takes a barrier of T.alloc_barrier, not {describe(value)}")
    return value


def _level(what: str) -> Roles:
    roles = need_roles(what)
    roles.trace.need_tile_level(what)
    return roles


def barrier_wait(mbarrier: Any, parity: Any = 0) -> None:
    """Waits until the phase of that parity is complete: the current one or the one
    before. A new barrier's phase before the first counts as complete."""
    roles = _level("T.barrier_wait")
    barrier = _barrier(mbarrier, "T.barrier_wait")
    phase = roles.trace.index(parity)
    roles.trace.builder.line(f"tile.barrier_wait {barrier.text()}, {phase.ssa} : {barrier.barriers.type}")


def mbarrier_wait_parity(mbarrier: Any, parity: Any) -> None:
    """Waits until the phase of that parity is complete, as T.barrier_wait."""
    barrier_wait(mbarrier, parity)


def barrier_arrive(mbarrier: Any) -> None:
    """The threads that run it arrive. What they wrote, and what their T.tma_copy
    brings, is there for those who wait."""
    roles = _level("T.barrier_arrive")
    barrier = _barrier(mbarrier, "T.barrier_arrive")
    builder, type = roles.trace.builder, barrier.barriers.type
    builder.line(f"tile.barrier_arrive {barrier.text()} : {type}")
    size = builder.name("bytes")
    expect = f"tile.barrier_expect {barrier.text()}, {size} : {type}{builder.place()}"
    constant = f"{size} = arith.constant BYTES : index{builder.place()}"
    builder.replace(lambda line: Arrival(line, barrier.key, constant, expect))


def mbarrier_arrive(mbarrier: Any, cta_id: Any = None) -> None:
    """The threads that run it arrive, as T.barrier_arrive."""
    if cta_id is not None:
        raise LanguageError("T.mbarrier_arrive(cta_id=...) is not supported: barriers belong to a block")
    barrier_arrive(mbarrier)


class Landing(str):
    """A copy for a barrier, as an ordinary one, which an arrival makes visible just as
    well. `begun` is the copy that goes on meanwhile, whose bytes are announced."""

    def __new__(cls, text: str, key: Any, begun: str, size: int) -> Landing:
        line = super().__new__(cls, text)
        line.key, line.begun, line.size = key, begun, size
        return line

    key: Any
    begun: str
    size: int


class Arrival(str):
    """An arrival, and what it is where copies before it are announced."""

    def __new__(cls, text: str, key: Any, constant: str, expect: str) -> Arrival:
        line = super().__new__(cls, text)
        line.key, line.constant, line.expect = key, constant, expect
        return line

    key: Any
    constant: str
    expect: str


def announce(body: Body) -> None:
    """Lets copies go on whose arrival follows in the same region."""
    open_: dict[Any, list[int]] = {}
    result: Body = []
    for item in body:
        if isinstance(item, Block):
            for _, inside in item.regions:
                announce(inside)
            # Who arrives in there may mean these copies.
            open_.clear()
        elif isinstance(item, Landing):
            open_.setdefault(item.key, []).append(len(result))
        elif isinstance(item, Arrival) and item.key in open_:
            size = 0
            for at in open_.pop(item.key):
                landing = result[at]
                assert isinstance(landing, Landing)
                size += landing.size
                result[at] = landing.begun
            result.append(item.constant.replace("BYTES", str(size)))
            item = item.expect
        result.append(item)
    body[:] = result


def tma_copy(
    src: Any,
    dst: Any,
    *,
    barrier: Any = None,
    cluster_mask: Any = None,
    leader_scope_threads: Any = None,
    eviction_policy: str | None = None,
    annotations: Any = None,
) -> None:
    """A copy that is complete when the next phase of `barrier` is: the arrival of the
    group that runs it announces it. To global memory it takes no barrier."""
    if cluster_mask is not None:
        raise LanguageError("T.tma_copy(cluster_mask=...) is not supported: clusters are the compiler's choice")
    target = dst if isinstance(dst, Buffer) else getattr(dst, "buffer", None)
    if isinstance(target, Buffer) and target.space == "shared":
        if barrier is None:
            raise LanguageError("T.tma_copy to shared memory needs a barrier of T.alloc_barrier")
        _barrier(barrier, "T.tma_copy")
    elif barrier is not None:
        raise LanguageError("T.tma_copy signals a barrier where it brings data to shared memory only")
    trace = current()
    copy(src, dst, eviction_policy=eviction_policy)
    if barrier is None:
        return
    where = _barrier(barrier, "T.tma_copy")
    text, source, target, size = tile_text(src, dst, "copy")
    if source.dtype != target.dtype or source.space or source.safe_value is not None:
        return
    cache = f" cache({eviction_policy})" if eviction_policy else ""
    begun = f"tile.copy_async {text} signal {where.text()}{cache} : {source.type} to {target.type}, "
    begun += where.barriers.type + trace.builder.place()
    bits = size * source.dtype.bits
    trace.builder.replace(lambda line: Landing(line, where.key, begun, bits // 8), "tile.copy ")


def wgmma_gemm(
    A: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: Any = None,
    clear_accum: bool = False,
    annotations: Any = None,
) -> None:
    """T.gemm that goes on while the program does, up to a T.wait_wgmma."""
    gemm(A, B, C, transpose_A, transpose_B, policy, clear_accum, op="gemm_async")


def wait_wgmma(count: Any = 0) -> None:
    """Waits until at most `count` of the products that were begun still go on."""
    static = static_int(count)
    if static is None or static < 0:
        raise LanguageError("T.wait_wgmma takes an integer from 0")
    trace = current()
    trace.need_tile_level("T.wait_wgmma")
    trace.builder.line(f"tile.gemm_wait pending({static})")


def fence_proxy_async(*_: Any) -> None:
    """Makes what threads wrote visible to asynchronous copies and products. The
    compiler puts a fence wherever one is needed, so there is nothing to add."""
    current().need_launch("T.fence_proxy_async")


def tma_store_arrive() -> None:
    """Ends a group of copies to global memory. T.tma_copy to there has read its source
    when it returns, so there is nothing to add."""
    current().need_launch("T.tma_store_arrive")


def tma_store_wait(count: int = 0, read: bool = True) -> None:
    """Waits for copies to global memory, which are done when they return."""
    current().need_launch("T.tma_store_wait")
