"""Buffers on the chip, and what moves data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Union

from ..errors import LanguageError
from . import arithmetic
from .buffers import Access, Buffer, Var, as_tile, same_extent
from .dtypes import BOOL, DType, index
from .dtypes import dtype as to_dtype
from .expr import Const, Scalar, describe, plain, static_int
from .trace import current

Tile = Union[Buffer, Access]
CACHE = {"evict_normal": "evict_normal", "evict_first": "evict_first", "evict_last": "evict_last"}
ENGINES = {"tma": "tma", "cp_async": "cp_async", "sync": "vector"}


def _shape(shape: Any, what: str) -> tuple[int, ...]:
    extents = (shape,) if not isinstance(shape, (list, tuple)) else tuple(shape)
    result = []
    for extent in extents:
        static = static_int(extent)
        if static is None:
            raise LanguageError(f"{what} needs extents that are known at compile time; {describe(extent)} is not")
        if static < 1:
            raise LanguageError(f"{what} needs positive extents; one is {static}")
        result.append(static)
    return tuple(result)


def _alloc(shape: Any, dtype: Any, space: str, what: str) -> Buffer:
    trace = current()
    trace.need_launch(what)
    if space in ("shared", "fragment") and trace.inside("parallel"):
        raise LanguageError(f"{what} cannot stand inside T.Parallel; allocate before it")
    roles = trace.launch.roles if trace.launch is not None else None

    def build() -> Buffer:
        buffer = Buffer(trace.hint or space, _shape(shape, what), dtype, space)
        buffer.ssa = trace.builder.assign(f"tile.alloc_{space} : {buffer.type}", buffer.type, buffer.name).name
        return buffer

    if roles is not None and space == "shared" and not roles.inside:
        shared: Buffer = roles.once("shared", build)
        return shared
    buffer = build()
    if roles is not None and space == "fragment":
        roles.own(buffer)
    return buffer


def alloc_shared(shape: Any, dtype: Any = "float32", scope: str = "shared.dyn") -> Buffer:
    """A buffer in the block's shared memory; its contents start undefined."""
    _scope(scope, "shared")
    return _alloc(shape, dtype, "shared", "T.alloc_shared")


def alloc_fragment(shape: Any, dtype: Any = "float32", scope: str = "local.fragment") -> Buffer:
    """A tile spread over the registers of the block's threads; with scope="local" a buffer
    of each thread, as T.alloc_local."""
    if scope == "local":
        return alloc_local(shape, dtype)
    _scope(scope, "local.fragment")
    return _alloc(shape, dtype, "fragment", "T.alloc_fragment")


def alloc_local(shape: Any, dtype: Any = "float32", scope: str = "local") -> Buffer:
    """A buffer of each thread, or of each iteration where T.Parallel is open."""
    _scope(scope, "local")
    return _alloc(shape, dtype, "local", "T.alloc_local")


def _scope(scope: str, wanted: str) -> None:
    if not scope.startswith(wanted):
        raise LanguageError(f"scope={scope!r} does not belong to this kind of buffer ({wanted})")


def alloc_var(dtype: Any, *arguments: Any, init: Any = None, scope: str = "local.var") -> Var:
    """A variable: assigning its name writes it. `init` is its first value."""
    if arguments:
        init = arguments[0]
        if len(arguments) > 1 or isinstance(init, str):
            raise LanguageError("T.alloc_var(dtype, init) takes an element type and a first value")
    if not scope.startswith("local"):
        raise LanguageError("variables are local to a thread; use T.alloc_shared((1,), dtype) for a shared one")
    variable = Var(_alloc((1,), dtype, "local", "T.alloc_var"))
    if init is not None:
        element = variable.dtype
        number = plain(init)
        if isinstance(number, (int, float)) and not math.isinf(number) and element.is_float:
            from .dtypes import LARGEST

            if abs(number) > LARGEST[str(element)]:
                raise LanguageError(f"{init} exceeds the maximum of {str(element)}")
        variable.store(init)
    return variable


def alloc_global(shape: Any, dtype: Any = "float32") -> Buffer:
    """A workspace in global memory, for one launch of the kernel to hand results to
    the next. It stands outside `T.Kernel`."""
    trace = current()
    if trace.launch is not None:
        raise LanguageError("T.alloc_global stands before `with T.Kernel(...)`: blocks share the workspace")
    extents = (shape,) if not isinstance(shape, (list, tuple)) else tuple(shape)
    buffer = Buffer(trace.hint or "workspace", extents, dtype)
    sizes = [trace.index(extent).ssa for extent, static in zip(buffer.shape, buffer.extents) if static is None]
    given = f"({', '.join(sizes)}) " if sizes else ""
    buffer.ssa = trace.builder.assign(f"tile.alloc_global{given or ' '}: {buffer.type}", buffer.type, buffer.name).name
    return buffer


# Fill ----------------------------------------------------------------------


def fill(buffer: Tile, value: Any) -> None:
    """Sets every element of a buffer, a region or a variable."""
    trace = current()
    if isinstance(buffer, Access) and buffer.is_element:
        buffer.store(value)
        return
    if isinstance(buffer, Buffer) and buffer.space == "local" and trace.inside("parallel"):
        _fill_elements(buffer, value)
        return
    trace.need_tile_level("T.fill")
    target = buffer if isinstance(buffer, Buffer) and buffer.mapping is not None else as_tile(buffer, "T.fill")
    if target.space and target.is_plain:
        scalar = trace.value(value, target.dtype)
        trace.builder.line(f"tile.fill {target.ssa}, {scalar.ssa} : {target.type}")
        return
    extents = _shape(target.shape, "T.fill of a global buffer")
    _elementwise(extents, lambda at: target[tuple(at)].store(value))


def clear(buffer: Tile) -> None:
    """Sets every element to zero."""
    dtype = buffer.dtype
    fill(buffer, Const(0.0 if dtype.is_float else 0, dtype))


def _fill_elements(buffer: Buffer, value: Any) -> None:
    """In an elementwise loop each lane fills its own buffer."""
    trace = current()

    def build(at: list[Any]) -> None:
        if len(at) == buffer.ndim:
            buffer[tuple(at)].store(value)
            return
        zero, one = trace.constant(0, index), trace.constant(1, index)
        extent = static_int(buffer.shape[len(at)]) or 0
        name, limit = trace.builder.name(), trace.constant(extent, index)
        with trace.builder.block(f"scf.for {name} = {zero.ssa} to {limit.ssa} step {one.ssa}"), trace.region("loop"):
            build([*at, Scalar(name, index, None, (0, extent - 1))])

    build([])


def _elementwise(extents: Sequence[int], body: Any) -> None:
    """A loop over a box with `body` applied to its coordinates."""
    trace = current()
    names = [trace.builder.name() for _ in extents]
    head = f"tile.parallel ({', '.join(names)}) in ({', '.join(map(str, extents))})"
    with trace.builder.block(head), trace.region("parallel"):
        body([Scalar(name, index, None, (0, extent - 1)) for name, extent in zip(names, extents)])


# Copy ----------------------------------------------------------------------


class _Side:
    """One side of a copy: where it starts, and how far it reaches if that is said."""

    def __init__(self, value: Any) -> None:
        if isinstance(value, Var):
            value = value.buffer
        if not isinstance(value, (Buffer, Access)):
            raise LanguageError(f"T.copy takes buffers, regions and elements, not {describe(value)}")
        self.buffer = value if isinstance(value, Buffer) else value.buffer
        self.whole = isinstance(value, Buffer)
        self.start_only = isinstance(value, Access) and value.is_element
        self.access = value if isinstance(value, Access) else value[(slice(None),) * value.ndim]

    def sizes(self) -> list[Any] | None:
        """Its extents; None where only its start is given."""
        return None if self.start_only else self.access.sizes()

    def text(self, sizes: Sequence[Any] | None) -> str:
        """As an operand of tile.copy."""
        trace = current()
        if self.whole and all(static is not None for static in self.buffer.extents):
            return self.buffer.ssa
        starts = ", ".join(trace.operand(start)[0] for start in self.access.starts())
        text = f"{self.buffer.ssa}[{starts}]" if self.buffer.ndim else self.buffer.ssa
        return text + (f" sizes [{', '.join(map(str, sizes))}]" if sizes is not None and self.buffer.ndim else "")


def _static(sizes: Sequence[Any]) -> list[int] | None:
    result = [static_int(size) for size in sizes]
    return None if any(size is None for size in result) else [size for size in result if size is not None]


def _aligned(tile: Sequence[int], side: _Side) -> list[int]:
    """A tile's extents as those of a side with another rank, last dimensions first."""
    rank, inner = side.buffer.ndim, [size for size in tile]
    while len(inner) > rank and 1 in inner:
        inner.remove(1)
    if len(inner) > rank:
        raise LanguageError(
            f"a tile of {len(inner)} dimensions does not fit {side.buffer.name}, which has {rank}; use T.reshape"
        )
    return [1] * (rank - len(inner)) + inner


def _tile_sizes(source: _Side, target: _Side, what: str) -> tuple[list[int], list[int]]:
    """The static extents of both sides."""
    given = [side.sizes() for side in (source, target)]
    if given[0] is None and given[1] is None:
        return [1] * source.buffer.ndim, [1] * target.buffer.ndim
    static = [None if sizes is None else _static(sizes) for sizes in given]
    known = static[0] if static[0] is not None else static[1]
    if known is None:
        raise LanguageError(
            f"the extents of this {what} are not known at compile time on either side; one side must be a buffer "
            "on the chip or a slice of constant length such as A[i * 64 : (i + 1) * 64]"
        )
    result = []
    for side, sizes, fixed in zip((source, target), given, static):
        if fixed is not None:
            result.append(fixed)
            continue
        if sizes is not None and not _reaches_end(side, sizes):
            raise LanguageError(
                f"the slice of {side.buffer.name} has a length that is not known at compile time; give it the "
                "length of the tile and mask what lies beyond, in T.Parallel"
            )
        result.append(_aligned(known, side))
    mine, other = ([size for size in sizes if size != 1] for sizes in result)
    if mine != other:
        raise LanguageError(
            f"the sides of this {what} differ: {source.buffer.name} has ({', '.join(map(str, result[0]))}) and "
            f"{target.buffer.name} ({', '.join(map(str, result[1]))}); slice or T.reshape one of them"
        )
    return result[0], result[1]


def _reaches_end(side: _Side, sizes: Sequence[Any]) -> bool:
    """Whether every extent that is not static reaches to the buffer's end, where its
    bounds hold what the tile would read beyond."""
    if side.buffer.space:
        return False
    starts = side.access.starts()
    return all(
        static_int(size) is not None
        or same_extent(arithmetic.emit_binary("+", start, size) if static_int(start) != 0 else size, extent)
        for start, size, extent in zip(starts, sizes, side.buffer.shape)
    )


def copy(
    src: Any,
    dst: Any,
    coalesced_width: int | None = None,
    disable_tma: bool = False,
    eviction_policy: str | None = None,
    prefer_instruction: str | None = None,
    annotations: Any = None,
    loop_layout: Any = None,
) -> None:
    """Copies a tile, converting elements where the types differ.

    Each side is a whole buffer, a region, or the element where a tile of the other
    side's extents starts. Outside a global buffer reads give its safe value (zero),
    and writes are dropped. `coalesced_width` and `disable_tma` change nothing here.
    """
    trace = current()
    source, target = _Side(src), _Side(dst)
    if source.start_only and target.start_only:
        target.access.store(source.access.load())
        return
    if loop_layout is not None:
        raise LanguageError("T.copy(loop_layout=...) is not supported; layouts are inferred")
    trace.need_tile_level("T.copy")
    here, there = _tile_sizes(source, target, "copy")
    if not source.buffer.is_plain or not target.buffer.is_plain:
        elementwise(source, here, target, there, lambda to, value: to.store(value.load()))
        return
    options = ""
    if source.buffer.safe_value is not None and not source.buffer.space:
        pad = trace.value(source.buffer.safe_value, source.buffer.dtype)
        options += f" pad({pad.ssa} : {pad.dtype.mlir})"
    options += _conversion(source.buffer.dtype, target.buffer.dtype)
    if eviction_policy is not None:
        if eviction_policy not in CACHE:
            raise LanguageError(f"eviction_policy is one of {', '.join(CACHE)}, not {eviction_policy!r}")
        if not source.buffer.space or not target.buffer.space:
            options += f" cache({CACHE[eviction_policy]})"
    if prefer_instruction is not None:
        if prefer_instruction not in ENGINES:
            raise LanguageError(f"prefer_instruction is one of {', '.join(ENGINES)}, not {prefer_instruction!r}")
        options += f" engine({ENGINES[prefer_instruction]})"
    if source.buffer is target.buffer and not source.buffer.space:
        raise LanguageError(f"T.copy within {source.buffer.name} is not supported: its sides might overlap")
    trace.builder.line(
        f"tile.copy {source.text(here)} to {target.text(there)}{options} : {source.buffer.type} to {target.buffer.type}"
    )


def elementwise(
    source: _Side, here: Sequence[int], target: _Side, there: Sequence[int], move: Callable[[Access, Access], None]
) -> None:
    """Something with each element of a tile and the one that corresponds to it."""
    extents = [size for size in here if size != 1] or [1]

    def body(at: list[Any]) -> None:
        places = []
        for side, sizes in ((source, here), (target, there)):
            left = iter(at)
            starts = side.access.starts()
            places.append(
                side.buffer[
                    tuple(
                        start if size == 1 else arithmetic.emit_binary("+", start, next(left))
                        for start, size in zip(starts, sizes)
                    )
                ]
            )
        move(places[1], places[0])

    _elementwise(_shape(extents, "a tile"), body)


def _conversion(source: DType, target: DType) -> str:
    text = " saturate" if target.is_float and target.bits == 8 and source != target else ""
    if source != target and "uint" in (source.kind, target.kind):
        floats = source.is_float or target.is_float
        if floats or source.kind == "uint":
            text += " unsigned"
    return text if source.mlir != target.mlir else ""


def tile_text(src: Any, dst: Any, what: str) -> tuple[str, Buffer, Buffer, int]:
    """Two tiles as operands of an op of the form `source to target`, their buffers, and
    how many elements are moved."""
    source, target = _Side(src), _Side(dst)
    here, there = _tile_sizes(source, target, what)
    return f"{source.text(here)} to {target.text(there)}", source.buffer, target.buffer, math.prod(here)


def transpose(src: Tile, dst: Tile) -> None:
    """dst[j, i] = src[i, j]."""
    current().need_tile_level("T.transpose")
    source, target = as_tile(src, "T.transpose"), as_tile(dst, "T.transpose")
    if source.ndim != 2 or target.ndim != 2:
        raise LanguageError("T.transpose takes two buffers of two dimensions")
    if not all(same_extent(a, b) for a, b in zip(source.shape, reversed(target.shape))):
        raise LanguageError(f"T.transpose needs extents that are swapped: {source!r} and {target!r}")
    extents = _shape(source.shape, "T.transpose")
    _elementwise(extents, lambda at: target[at[1], at[0]].store(source[at[0], at[1]].load()))


# Views ---------------------------------------------------------------------


def reshape(src: Buffer, shape: Sequence[Any]) -> Buffer:
    """The buffer's elements in another shape, without moving them."""
    return view(src, shape)


def view(src: Buffer, shape: Sequence[Any] | None = None, dtype: Any = None) -> Buffer:
    """The buffer in another shape, or its bits as another element type. Nothing is
    moved. A view with wider elements joins neighbours, the first one lowest; one with
    narrower elements can be read only."""
    if not isinstance(src, Buffer):
        raise LanguageError(f"T.view takes a whole buffer, not {describe(src)}")
    to = src.dtype if dtype is None else to_dtype(dtype)
    if src.mapping is not None:
        raise LanguageError(
            f"T.view of {src.name} is not supported: its elements have another width or layout than its memory"
        )
    if src.strides is not None:
        raise LanguageError(f"T.view needs a dense buffer, and {src.name} has strides")
    if shape is None:
        shape = _rescaled(src, to)
    extents = tuple(plain(extent) for extent in shape)
    result = Buffer(src.name, extents, to, src.space)
    before, after = _count(src.extents), _count(result.extents)
    if before is not None and after is not None and before * src.dtype.bits != after * to.bits:
        raise LanguageError(
            f"T.view cannot make {after} elements of {str(to)} of the {before} of {str(src.dtype)} of {src.name}"
        )
    if to.bits != src.dtype.bits:
        from .mapped import Narrower, Wider

        if BOOL in (to.kind, src.dtype.kind) or max(to.bits, src.dtype.bits) % min(to.bits, src.dtype.bits):
            raise LanguageError(f"T.view cannot read {str(src.dtype)} as {str(to)}")
        if src.stored != src.dtype:
            raise LanguageError(f"T.view of a view of {src.name} with another element type is not supported")
        result.mapping = (Wider if to.bits > src.dtype.bits else Narrower)(result, flattened(src))
        return result
    result.stored = src.stored if to.mlir != src.stored.mlir else to
    result.safe_value = src.safe_value
    if len(extents) == src.ndim and all(same_extent(a, b) for a, b in zip(extents, src.shape)):
        result.ssa = src.ssa
        return result
    _reshaped(src, result)
    return result


def _rescaled(src: Buffer, to: DType) -> tuple[Any, ...]:
    """The shape of a view with elements of another width: the last extent changes."""
    if to.bits == src.dtype.bits or not src.ndim:
        return src.shape
    last = static_int(src.shape[-1])
    if last is None or last * src.dtype.bits % to.bits:
        raise LanguageError(f"the last extent of {src.name} does not divide into elements of {str(to)}; give a shape")
    return (*src.shape[:-1], last * src.dtype.bits // to.bits)


def _count(extents: Sequence[int | None]) -> int | None:
    if any(extent is None for extent in extents):
        return None
    return math.prod(extent for extent in extents if extent is not None)


def flattened(src: Buffer) -> Buffer:
    """The buffer with one dimension."""
    trace = current()
    count: Any = 1
    for extent in src.shape:
        count = arithmetic.emit_binary("*", count, extent) if not _symbolic(count, extent) else count * extent
    flat = Buffer(src.name, (count,), src.stored, src.space)
    groups = ", ".join(map(str, range(src.ndim)))
    if src.ndim == 1:
        flat.ssa = src.ssa
        flat.shape = src.shape
    else:
        flat.ssa = trace.builder.assign(
            f"memref.collapse_shape {src.ssa} [[{groups}]] : {src.type} into {flat.type}", flat.type, src.name
        ).name
    flat.safe_value = src.safe_value
    return flat


def _reshaped(src: Buffer, result: Buffer) -> None:
    """All dimensions into one, and that one into the new ones."""
    trace = current()
    flat = flattened(src)
    if result.ndim == 1:
        result.ssa = flat.ssa
        return
    groups = ", ".join(map(str, range(result.ndim)))
    sizes = ", ".join(trace.operand(extent)[0] for extent in result.shape)
    shaped = Buffer(result.name, result.shape, result.stored, result.space)
    result.ssa = trace.builder.assign(
        f"memref.expand_shape {flat.ssa} [[{groups}]] output_shape [{sizes}] : {flat.type} into {shaped.type}",
        shaped.type,
        src.name,
    ).name


def _symbolic(a: Any, b: Any) -> bool:
    from .expr import Symbol

    return isinstance(a, Symbol) or isinstance(b, Symbol)
