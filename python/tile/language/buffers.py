"""Buffers, and parts of them.

A `Buffer` is a memref of the program: an argument, a workspace, something on the
chip, or a view of one of these. `buffer[...]` is an `Access`: an element where
every index is an integer, a region where there is a slice. Tile operations take
either, or the buffer itself; in an expression an element is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import LanguageError
from ..ir import memref
from .arithmetic import emit_binary, select, truth
from .dtypes import dtype as to_dtype
from .dtypes import index
from .expr import Expr, Scalar, Symbol, bounds_of, describe, plain, static_int
from .trace import current

SPACES = {"": "global", "shared": "shared", "fragment": "fragment", "local": "local"}


class Buffer:
    """A buffer of the program.

    `shape` holds integers, symbols or device values; `space` is "" for global
    memory, shared, fragment or local; `strides` is None for a dense buffer.
    """

    def __init__(
        self,
        name: str,
        shape: Sequence[Any],
        dtype: Any,
        space: str = "",
        ssa: str = "",
        strides: Sequence[Any] | None = None,
        offset: int | None = 0,
    ) -> None:
        self.name = name
        self.shape = tuple(plain(extent) for extent in shape)
        self.dtype = to_dtype(dtype)
        self.space = space
        self.ssa = ssa
        self.strides = None if strides is None else tuple(strides)
        self.offset = offset
        self.safe_value: Any = None
        self.stored = self.dtype
        # How elements are found that are not where the shape says (mapped.py).
        self.mapping: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether operations on tiles take it as it is."""
        return self.mapping is None and self.stored == self.dtype

    @property
    def extents(self) -> tuple[int | None, ...]:
        """The shape as far as it is static."""
        return tuple(static_int(extent) for extent in self.shape)

    @property
    def type(self) -> str:
        """The memref type."""
        space = f"#tile.{self.space}" if self.space else ""
        strides = None if self.strides is None else [static_int(stride) for stride in self.strides]
        return memref(self.extents, self.stored.mlir, space, strides, self.offset)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def data(self) -> Buffer:
        """What `T.Tensor(shape, dtype, buffer.data)` takes to view the buffer."""
        return self

    def scope(self) -> str:
        """TVM's name of the memory space."""
        return {"": "global", "shared": "shared.dyn", "fragment": "local.fragment", "local": "local"}[self.space]

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"<{SPACES[self.space]} buffer {self.name}: ({shape}) {self.dtype}>"

    def __getitem__(self, items: Any) -> Access:
        return Access(self, items if isinstance(items, tuple) else (items,))

    def __setitem__(self, items: Any, value: Any) -> None:
        self[items].store(value)

    def __bool__(self) -> bool:
        raise LanguageError(f"the buffer {self.name} has no truth; compare one of its elements")

    def __iter__(self) -> Any:
        raise LanguageError(f"the buffer {self.name} cannot be iterated over; use T.serial or T.Parallel")

    def _arithmetic(self, *_: Any) -> Any:
        raise LanguageError(
            f"{self.name} is a whole buffer; compute element by element: `for i in T.Parallel(...)` and index it"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _arithmetic
    __neg__ = __pow__ = __floordiv__ = __mod__ = __lt__ = __le__ = __gt__ = __ge__ = _arithmetic


class Access(Expr):
    """An element or a region of a buffer."""

    def __init__(self, buffer: Buffer, items: tuple[Any, ...]) -> None:
        if Ellipsis in [item for item in items if not isinstance(item, Expr)]:
            at = [item is Ellipsis for item in items].index(True)
            missing = buffer.ndim - len(items) + 1
            items = items[:at] + (slice(None),) * missing + items[at + 1 :]
        if len(items) > buffer.ndim:
            raise LanguageError(f"{buffer.name} has {buffer.ndim} dimensions and is indexed with {len(items)}")
        for item in items:
            if not isinstance(item, (slice, Expr, int)) and static_int(item) is None:
                raise LanguageError(f"{buffer.name} is indexed with {describe(item)}; use integers or slices")
        self.buffer = buffer
        self.dtype = buffer.dtype
        self.partial = len(items) < buffer.ndim
        # Dimensions that are not spoken of are whole.
        self.items = tuple(items) + (slice(None),) * (buffer.ndim - len(items))

    def __repr__(self) -> str:
        return f"{self.buffer.name}[...]"

    @property
    def is_element(self) -> bool:
        return not any(isinstance(item, slice) for item in self.items)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents of the dimensions that are sliced."""
        return tuple(extent for extent, item in zip(self.sizes(), self.items) if isinstance(item, slice))

    def starts(self) -> list[Any]:
        """Where it begins in each dimension."""
        return [self._start(item, extent) for item, extent in zip(self.items, self.buffer.shape)]

    def sizes(self) -> list[Any]:
        """How far it reaches in each dimension; 1 for a plain index."""
        return [self._size(item, extent) for item, extent in zip(self.items, self.buffer.shape)]

    def _start(self, item: Any, extent: Any) -> Any:
        if isinstance(item, slice):
            if item.step not in (None, 1):
                raise LanguageError("a slice with a step is not supported; copy element by element in T.Parallel")
            return 0 if item.start is None else from_end(item.start, extent)
        return from_end(item, extent)

    def _size(self, item: Any, extent: Any) -> Any:
        if not isinstance(item, slice):
            return 1
        start = self._start(item, extent)
        stop = extent if item.stop is None else from_end(item.stop, extent)
        if isinstance(start, int) and start == 0:
            return stop
        size = stop - start
        static = static_int(size)
        return size if static is None else static

    # As an element -----------------------------------------------------

    def _address(self) -> tuple[str, list[Any]]:
        """The indices as text, and as values."""
        if not self.is_element:
            raise LanguageError(
                f"{self.buffer.name} is sliced here, where one element is needed; slices belong in T.copy and "
                "other operations on tiles"
            )
        trace = current()
        if trace.launch is None:
            raise LanguageError(f"an element of {self.buffer.name} can be used inside `with T.Kernel(...)` only")
        scalars = [trace.index(start) for start in self.starts()]
        if self.buffer.space:
            self._check(scalars)
        return ", ".join(scalar.ssa for scalar in scalars), scalars

    def _check(self, scalars: list[Scalar]) -> None:
        """Memory on the chip has no bounds to drop what lies outside of it."""
        for dim, (scalar, extent) in enumerate(zip(scalars, self.buffer.extents)):
            reached = current().reached(scalar.linear)
            if reached is None or extent is None or (0 <= reached[0] and reached[1] < extent):
                continue
            what = str(reached[0]) if reached[0] == reached[1] else f"{reached[0]} to {reached[1]}"
            raise LanguageError(
                f"{self.buffer.name} has {extent} elements along dimension {dim} and is indexed with {what} here; "
                "accesses outside are dropped for global buffers only, so allocate more or guard this with `if`"
            )

    def _inside(self) -> bool:
        """Whether the element is certain to lie in the buffer."""
        for start, extent in zip(self.starts(), self.buffer.extents):
            low, high = bounds_of(start)
            if low is None or high is None or extent is None or low < 0 or high >= extent:
                return False
        return True

    def load(self) -> Scalar:
        """The element's value now."""
        trace, buffer = current(), self.buffer
        if buffer.mapping is not None:
            self._address()
            loaded: Scalar = buffer.mapping.load(self.starts())
            return loaded
        text, scalars = self._address()
        places = tuple((s.linear.constant, tuple(sorted(s.linear.terms.items()))) for s in scalars)
        known, key = trace.loads(), (buffer.ssa, buffer.dtype, repr(buffer.safe_value), places)
        if key in known:
            return known[key]
        loaded = known[key] = self._load(text, scalars)
        return loaded

    def _load(self, text: str, scalars: list[Scalar]) -> Scalar:
        trace, buffer = current(), self.buffer
        if buffer.space and not self._inside():
            trace.unsafe += 1
        loaded = trace.emit(f"memref.load {buffer.ssa}[{text}] : {buffer.type}", buffer.stored)
        if buffer.stored != buffer.dtype:
            loaded = bitcast(loaded, buffer.dtype)
        if buffer.dtype.kind == "uint":
            loaded.bounds = (0, (1 << buffer.dtype.bits) - 1)
        if buffer.safe_value is not None and not self._inside():
            return trace.value(select(self._guard(scalars), loaded, trace.value(buffer.safe_value, buffer.dtype)))
        return loaded

    def _guard(self, scalars: list[Any]) -> Any:
        inside: Any = True
        for scalar, extent in zip(scalars, self.buffer.shape):
            for test in (emit_binary(">=", scalar, 0), emit_binary("<", scalar, extent)):
                if test is not True:
                    inside = test if inside is True else emit_binary("&", inside, test)
        return truth(inside)

    def store(self, value: Any) -> None:
        """Writes the element, converting the value to its type."""
        trace, buffer = current(), self.buffer
        if isinstance(value, Access) and not value.is_element or isinstance(value, Buffer):
            raise LanguageError("whole buffers and regions are copied with T.copy, not assigned")
        text, _ = self._address()
        scalar = trace.value(value, buffer.dtype)
        if buffer.mapping is not None:
            buffer.mapping.store(self.starts(), scalar)
            return
        if buffer.stored != buffer.dtype:
            scalar = bitcast(scalar, buffer.stored)
        trace.unsafe += 1
        trace.builder.line(f"memref.store {scalar.ssa}, {buffer.ssa}[{text}] : {buffer.type}")


class Var(Access):
    """A scalar of `T.alloc_var`: its name is assigned, as a variable of C is."""

    def __init__(self, buffer: Buffer) -> None:
        super().__init__(buffer, (0,))

    def __repr__(self) -> str:
        return f"<variable {self.buffer.name}>"


def from_end(item: Any, extent: Any) -> Any:
    """An index, where what is certainly negative counts from the end, as in Python."""
    _, high = bounds_of(item)
    if high is not None and high < 0:
        return item + extent
    return item


def bitcast(value: Any, dtype: Any) -> Scalar:
    """The bits of a value read as another type of the same width."""
    trace, to = current(), to_dtype(dtype)
    scalar = trace.value(value)
    if to.bits != scalar.dtype.bits or index in (to, scalar.dtype):
        raise LanguageError(f"{str(scalar.dtype)} and {str(to)} have different widths, so bits cannot be reinterpreted")
    if to.mlir == scalar.dtype.mlir:
        return Scalar(scalar.ssa, to)
    return trace.emit(f"arith.bitcast {scalar.ssa} : {scalar.dtype.mlir} to {to.mlir}", to)


def subview(access: Access, sizes: Sequence[Any] | None = None, keep: Sequence[bool] | None = None) -> Buffer:
    """A region as a buffer of its own. `sizes` overrides its extents; dimensions
    that are not kept (by default those indexed, not sliced) must be one wide."""
    trace, buffer = current(), access.buffer
    if buffer.mapping is not None:
        raise LanguageError(
            f"{buffer.name} cannot be sliced here: its elements have another width or layout than its memory"
        )
    starts, extents = access.starts(), list(sizes if sizes is not None else access.sizes())
    kept = list(keep) if keep is not None else [isinstance(item, slice) for item in access.items]
    offsets = [trace.operand(start) for start in starts]
    lengths = [trace.operand(extent) for extent in extents]
    strides: list[Any] = list(buffer.strides) if buffer.strides is not None else _dense(buffer.extents)
    static = [static_int(stride) for stride in strides]
    at: Any = buffer.offset
    for (_, start), stride in zip(offsets, static):
        known = isinstance(start, int) and (start == 0 or stride is not None) and at is not None
        at = at + (start * stride if start and stride is not None else 0) if known else None
    result = Buffer(
        buffer.name,
        [extent for extent, k in zip(extents, kept) if k],
        buffer.dtype,
        buffer.space,
        strides=[stride for stride, k in zip(static, kept) if k],
        offset=at,
    )
    result.stored, result.safe_value = buffer.stored, buffer.safe_value
    text = [", ".join(words) for words in ([o for o, _ in offsets], [s for s, _ in lengths], ["1"] * len(extents))]
    value = trace.builder.assign(
        f"memref.subview {buffer.ssa}[{text[0]}] [{text[1]}] [{text[2]}] : {buffer.type} to {result.type}", result.type
    )
    result.ssa = value.name
    return result


def _dense(extents: Sequence[int | None]) -> list[int | None]:
    strides: list[int | None] = []
    size: int | None = 1
    for extent in reversed(extents):
        strides.insert(0, size)
        size = None if size is None or extent is None else size * extent
    return strides


def as_tile(value: Any, what: str) -> Buffer:
    """A buffer or a region as an operand of `what`."""
    if isinstance(value, Buffer):
        result = value
    elif isinstance(value, Access):
        if value.is_element and not isinstance(value, Var):
            raise LanguageError(f"{what} takes a buffer or a slice of one, not the single element {value!r}")
        result = value.buffer if isinstance(value, Var) else subview(value)
    else:
        raise LanguageError(f"{what} takes a buffer, not {describe(value)}")
    if not result.is_plain:
        raise LanguageError(
            f"{what} cannot take a view of {result.name} with another element type, or a pinned layout; T.copy it first"
        )
    return result


def same_extent(a: Any, b: Any) -> bool:
    """Whether two extents are certainly equal."""
    if a is b:
        return True
    x, y = static_int(a), static_int(b)
    if x is not None or y is not None:
        return x == y
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return repr(a) == repr(b)
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return (
            a.dtype == b.dtype and not a.linear.plus(b.linear, -1).terms and a.linear.plus(b.linear, -1).constant == 0
        )
    return False
