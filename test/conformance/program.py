"""Tile programs as data: what the generator builds, the printer prints and the
oracle evaluates.

A kernel is a launch over a grid of blocks. Its body is a list of statements on
buffers; the body of a `Parallel` is a list of statements of lanes. Index
expressions are integers over block, loop and lane variables; values are floats
(or i32) computed by lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# Index expressions ---------------------------------------------------------


@dataclass(frozen=True)
class Index:
    """`var`, `const`, or an operation: add, sub, mul, mod (of a positive
    constant; rounds down)."""

    op: str
    args: tuple[Index, ...] = ()
    name: str = ""
    value: int = 0

    def __add__(self, other: Index | int) -> Index:
        return Index("add", (self, as_index(other)))

    def __sub__(self, other: Index | int) -> Index:
        return Index("sub", (self, as_index(other)))

    def __mul__(self, other: Index | int) -> Index:
        return Index("mul", (self, as_index(other)))

    def __mod__(self, other: int) -> Index:
        return Index("mod", (self, as_index(other)))


def const(value: int) -> Index:
    return Index("const", value=value)


def var(name: str) -> Index:
    return Index("var", name=name)


def as_index(value: Index | int) -> Index:
    return const(value) if isinstance(value, int) else value


@dataclass(frozen=True)
class Condition:
    """`left < right` or `left == right`."""

    op: str
    left: Index
    right: Index


# Buffers -------------------------------------------------------------------


@dataclass(frozen=True)
class Buffer:
    """`space` is global, shared, fragment or local. A global buffer whose type
    does not say its extents has `dynamic` set."""

    name: str
    space: str
    shape: tuple[int, ...]
    dtype: str
    dynamic: bool = False
    output: bool = False
    gathers: bool = False
    """An output that starts from zeros and that blocks combine into."""

    @property
    def rank(self) -> int:
        return len(self.shape)


# Values of lanes -----------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """`number`; `load` of a buffer; `index` (an index expression as a number);
    `fold` (a serial loop that sums the value over a variable); or an operation:
    add, sub, mul, max, min, neg, abs, tanh, exp2, select, and for integers and,
    xor, shl."""

    op: str
    args: tuple[Value, ...] = ()
    number: float = 0
    buffer: Buffer | None = None
    indices: tuple[Index, ...] = ()
    condition: Condition | None = None
    loop: str = ""
    """The variable of a fold, which runs over `indices[0]` to `indices[1]`."""


# Statements of lanes -------------------------------------------------------


@dataclass(frozen=True)
class Store:
    buffer: Buffer
    indices: tuple[Index, ...]
    value: Value


@dataclass(frozen=True)
class LaneIf:
    condition: Condition
    body: tuple[LaneStatement, ...]
    otherwise: tuple[LaneStatement, ...] = ()


@dataclass(frozen=True)
class LaneFor:
    """Lanes may have bounds of their own."""

    loop: str
    lower: Index
    upper: Index
    body: tuple[LaneStatement, ...]


@dataclass(frozen=True)
class LaneLocal:
    """A buffer of each lane's own, to be stored to before it is read."""

    buffer: Buffer


LaneStatement = Store | LaneIf | LaneFor | LaneLocal

# Statements of blocks ------------------------------------------------------


@dataclass(frozen=True)
class Alloc:
    buffer: Buffer


@dataclass(frozen=True)
class Fill:
    buffer: Buffer
    number: float


@dataclass(frozen=True)
class Copy:
    """A tile of extents `sizes`, given in the rank of each side."""

    source: Buffer
    source_at: tuple[Index, ...]
    source_sizes: tuple[int, ...]
    target: Buffer
    target_at: tuple[Index, ...]
    target_sizes: tuple[int, ...]
    pad: float = 0
    saturate: bool = False


@dataclass(frozen=True)
class Atomic:
    """A whole on-chip buffer into a part of a global one; `kind` is add, max or
    min."""

    kind: str
    source: Buffer
    target: Buffer
    target_at: tuple[Index, ...]


@dataclass(frozen=True)
class Gemm:
    a: Buffer
    b: Buffer
    c: Buffer
    transpose_a: bool = False
    transpose_b: bool = False
    clear: bool = False


@dataclass(frozen=True)
class Reduce:
    kind: str
    source: Buffer
    along: int
    target: Buffer
    accumulate: bool = False


@dataclass(frozen=True)
class Scan:
    kind: str
    source: Buffer
    along: int
    target: Buffer
    reverse: bool = False
    exclusive: bool = False


@dataclass(frozen=True)
class Parallel:
    lanes: tuple[str, ...]
    extents: tuple[int, ...]
    body: tuple[LaneStatement, ...]


@dataclass(frozen=True)
class Loop:
    """`stages` of zero makes it an scf.for. With `steps` each statement is a step
    of its own."""

    loop: str
    lower: int
    upper: int
    step: int
    stages: int
    body: tuple[Statement, ...]
    steps: bool = False


@dataclass(frozen=True)
class If:
    condition: Condition
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


Statement = Alloc | Fill | Copy | Atomic | Gemm | Reduce | Scan | Parallel | Loop | If


@dataclass
class Kernel:
    """One launch or several over the same grid. With `workers` the blocks are
    tiles of a persistent loop that so many blocks share."""

    name: str
    seed: int
    blocks: tuple[str, ...]
    grid: tuple[int, ...]
    arguments: list[Buffer]
    workspaces: list[Buffer] = field(default_factory=list)
    """Written by one launch and read by later ones."""
    workers: int = 0
    raster: str = ""
    views: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    """Global buffers that are parts of arguments: name -> (argument, offsets)."""
    launches: list[list[Statement]] = field(default_factory=lambda: [[]])
    tolerance: float = 0
    """For outputs, absolute; set once the oracle has run."""
