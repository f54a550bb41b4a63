"""The state of one program while it is built.

A trace owns the builder, the functions' arguments, the launch that is open, and
the stack of device regions, by which the interpreter knows which names are still
visible. Language functions reach it by `current()`; outside a kernel that is an
error of the user, which is said.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import LanguageError, Location
from ..ir import Builder
from .dtypes import DType, index
from .expr import Const, Expr, Linear, Scalar, Symbol, bounds_of, plain, round_to


@dataclass
class Region:
    """A region of device code that is open. `kind` is launch, loop, parallel,
    branch or persistent. `reads` holds the names from outside that were read in it,
    `writes` the names that were bound in it."""

    kind: str
    location: Location | None
    reads: set[Any] = field(default_factory=set)
    writes: list[Any] = field(default_factory=list)
    constants: dict[Any, Scalar] = field(default_factory=dict)


@dataclass
class Launch:
    """The open `T.Kernel`."""

    blocks: list[Scalar]
    extents: list[Any]
    threads: tuple[int, ...]
    hints: dict[str, str] = field(default_factory=dict)
    roles: Any = None  # language.roles.Roles where groups of warps differ


@dataclass
class Options:
    """What applies to the program as a whole. `fastmath` are flags of arith."""

    fastmath: tuple[str, ...] = ("contract",)
    bounds: str = "guard"


class Trace:
    """One program being built."""

    def __init__(self, options: Options) -> None:
        self.builder = Builder()
        self.options = options
        self.regions: list[Region] = [Region("host", None)]
        self.launch: Launch | None = None
        self.symbols: dict[str, Scalar] = {}
        self.hint = ""
        self.unsafe = 0
        self.safe_values: dict[int, Any] = {}
        self.parallel: Any = None  # reducers.ParallelLoop
        # What the variables of parallel loops run through, all of it.
        self.ranges: dict[str, tuple[int, int]] = {}
        self._loads: dict[Any, Scalar] = {}
        self._loaded_at = 0

    # Where we are ------------------------------------------------------

    @property
    def location(self) -> Location | None:
        return self.builder.location

    def inside(self, kind: str) -> bool:
        """Whether a region of that kind is open."""
        return any(region.kind == kind for region in self.regions)

    def reached(self, linear: Linear) -> tuple[int, int] | None:
        """The least and the largest value of an index, where every one of them is
        certainly met: nothing but parallel loops decides whether it is."""
        if self.capturing or self.inside("branch") or not all(name in self.ranges for name in linear.terms):
            return None
        ends = [
            sorted((factor * self.ranges[name][0], factor * self.ranges[name][1]))
            for name, factor in linear.terms.items()
        ]
        return linear.constant + sum(end[0] for end in ends), linear.constant + sum(end[1] for end in ends)

    def need_launch(self, what: str) -> Launch:
        """The open launch; without one, an error that `what` needs one."""
        if self.launch is None:
            raise LanguageError(f"{what} stands inside `with T.Kernel(...)`")
        return self.launch

    def need_tile_level(self, what: str) -> None:
        """An error where `what`, an operation on whole tiles, cannot stand."""
        self.need_launch(what)
        if self.inside("parallel"):
            raise LanguageError(f"{what} works on a whole tile and cannot stand inside T.Parallel")

    @contextlib.contextmanager
    def region(self, kind: str) -> Iterator[Region]:
        """Keeps a device region on the stack; what was bound in it goes out of sight."""
        opened = Region(kind, self.location)
        self.regions.append(opened)
        try:
            yield opened
        finally:
            self.regions.pop()
            for hide in reversed(opened.writes):
                hide()

    # Ops ---------------------------------------------------------------

    def emit(self, text: str, dtype: DType, linear: Linear | None = None, bounds: Any = None, hint: str = "") -> Scalar:
        """An op with one scalar result."""
        value = self.builder.assign(text, dtype.mlir, hint)
        if self.launch is not None and self.launch.roles is not None:
            self.launch.roles.emitted(value.name, text)
        return Scalar(value.name, dtype, linear, bounds or (None, None))

    def loads(self) -> dict[Any, Scalar]:
        """The elements that were loaded since anything was written or a region began:
        loading one again gives the same, and is seen to."""
        if self._loaded_at != self.builder.effects or self.launch is None or self.launch.roles is not None:
            self._loads = {}
            self._loaded_at = self.builder.effects
        return self._loads

    def constant(self, value: Any, dtype: DType) -> Scalar:
        """A constant, shared within a region and those inside it."""
        number = round_to(value, dtype)
        key = (str(dtype), repr(number))
        for region in self.regions:
            if key in region.constants:
                return region.constants[key]
        linear = Linear(int(number), {}) if not dtype.is_float else None
        bounds = (int(number), int(number)) if not dtype.is_float else None
        hint = f"c{number}" if isinstance(number, int) and dtype == index and number >= 0 else ""
        typed = "" if dtype.kind == "bool" else f" : {dtype.mlir}"
        scalar = self.emit(f"arith.constant {literal(number, dtype)}{typed}", dtype, linear, bounds, hint)
        if not self.capturing:
            self.regions[-1].constants[key] = scalar
        return scalar

    capturing = 0

    @contextlib.contextmanager
    def capture(self) -> Iterator[tuple[Any, list[int]]]:
        """Ops built inside are kept aside. Gives them, and a list that will hold how
        many of them must not run where the program would not have run them."""
        before, count = self.unsafe, [0]
        self.capturing += 1
        try:
            with self.builder.capture() as body:
                yield body, count
        finally:
            self.capturing -= 1
            count[0] = self.unsafe - before

    def symbol(self, symbol: Symbol) -> Scalar:
        """The value of a symbol in this program."""
        if not symbol.op:
            if symbol.name not in self.symbols:
                raise LanguageError(f"no argument's shape has the extent {symbol.name} by itself, so it is not known")
            return self.symbols[symbol.name]
        from .arithmetic import emit_binary

        a, b = (self.value(item, index) for item in symbol.operands)
        return self.value(emit_binary(symbol.op, a, b), index)

    def value(self, item: Any, dtype: DType | None = None) -> Scalar:
        """`item` as a value of the program, converted to `dtype` where given."""
        item = plain(item)
        if isinstance(item, (int, float)):
            if dtype is None:
                raise LanguageError(f"the number {item} has no element type here; write T.float32({item}) or the like")
            return self.constant(item, dtype)
        if isinstance(item, Const):
            return self.constant(item.value, dtype or item.dtype)
        if isinstance(item, Symbol):
            item = self.symbol(item)
        elif isinstance(item, Expr) and not isinstance(item, Scalar):
            item = item.load()  # type: ignore[attr-defined]
        if not isinstance(item, Scalar):
            from .expr import describe

            raise LanguageError(f"expected a number or a device value, not {describe(item)}")
        if dtype is None or item.dtype == dtype:
            return item
        from .arithmetic import emit_cast

        return emit_cast(item, dtype)

    def index(self, item: Any) -> Scalar:
        """`item` as an index; a float is an error."""
        if getattr(item, "dtype", index).is_float or isinstance(plain(item), float):
            raise LanguageError("an index must be an integer; this one is a float (cast it, or use // to divide)")
        return self.value(item, index)

    def operand(self, item: Any) -> tuple[str, Any]:
        """An offset or extent as text: a number, or a value's name."""
        lower, upper = bounds_of(item)
        if lower is not None and lower == upper:
            return str(lower), lower
        scalar = self.index(item)
        return scalar.ssa, scalar


# The bits of infinity and of a quiet NaN, by element type.
INFINITY = {"f64": 0x7FF << 52, "f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80, "f8E5M2": 0x7C}
NAN = {
    "f64": 0x7FF8 << 48,
    "f32": 0x7FC00000,
    "f16": 0x7E00,
    "bf16": 0x7FC0,
    "f8E5M2": 0x7E,
    "f8E4M3FN": 0x7F,
}


def literal(number: Any, dtype: DType) -> str:
    """A number in MLIR's spelling, with every bit of it."""
    if dtype.kind == "bool":
        return "true" if number else "false"
    if not dtype.is_float:
        # A signless type's literal is within its signed range.
        if dtype.kind == "uint" and number >> (dtype.bits - 1):
            return str(number - (1 << dtype.bits))
        return str(number)
    if math.isfinite(number):
        text = repr(float(number))
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    if math.isnan(number):
        return f"0x{NAN[dtype.mlir]:0{dtype.bits // 4}X}"
    if dtype.mlir not in INFINITY:
        raise LanguageError(f"{str(dtype)} has no infinity")
    sign = 1 << (dtype.bits - 1) if number < 0 else 0
    return f"0x{INFINITY[dtype.mlir] | sign:0{dtype.bits // 4}X}"


_current = threading.local()


def current() -> Trace:
    """The trace of the kernel being built on this thread."""
    trace = getattr(_current, "trace", None)
    if trace is None:
        raise LanguageError("this belongs inside a kernel: a function under @T.prim_func, @T.macro or @tile.jit")
    return trace


def is_tracing() -> bool:
    """Whether a kernel is being built on this thread."""
    return getattr(_current, "trace", None) is not None


@contextlib.contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Makes `trace` the current one of this thread."""
    before = getattr(_current, "trace", None)
    _current.trace = trace
    try:
        yield trace
    finally:
        _current.trace = before
