"""Accumulators that many iterations of T.Parallel combine into: `T.alloc_reducer`.

What the iterations contribute in one loop goes into a tile of the loop's extents, which
starts neutral and is reduced into the accumulator after the loop: in a fixed order, so
results are the same from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import LanguageError
from .arithmetic import emit_binary
from .buffers import Access, Buffer
from .dtypes import DType
from .expr import Const, Scalar, static_int
from .math import infinity, max_value, min_value
from .memory import Tile, _alloc, copy, fill
from .trace import current

KINDS = {
    "sum": ("+", "sum"),
    "max": ("max", "max"),
    "min": ("min", "min"),
    "bitand": ("&", "and"),
    "bitor": ("|", "or"),
    "bitxor": ("^", "xor"),
}


def _neutral(kind: str, dtype: DType) -> Any:
    if kind in ("sum", "bitor", "bitxor"):
        return Const(0.0 if dtype.is_float else 0, dtype)
    if kind == "bitand":
        return Const(-1 if dtype.kind == "int" else (1 << dtype.bits) - 1, dtype)
    least = -infinity(dtype) if dtype.is_float and str(dtype) != "float8_e4m3fn" else min_value(dtype)
    most = infinity(dtype) if dtype.is_float and str(dtype) != "float8_e4m3fn" else max_value(dtype)
    return least if kind == "max" else most


class Reducer(Buffer):
    """A fragment that iterations of a parallel loop combine into."""

    kind: str

    def update(self, at: Access, value: Any) -> None:
        """Combines a value into an element."""
        trace = current()
        loop = trace.parallel
        if loop is None:
            Buffer.__getitem__(self, at.items).store(emit_binary(KINDS[self.kind][0], at.load(), value))
            return
        tile = loop.contribution(self, self._dimensions(at, loop.names))
        place = tile[tuple(loop.values)]
        place.store(emit_binary(KINDS[self.kind][0], place.load(), trace.value(value, self.dtype)))

    def _dimensions(self, at: Access, names: Sequence[str]) -> tuple[int | None, ...]:
        """Which variable of the loop each index is; None where it is a 0."""
        result: list[int | None] = []
        for item in at.items:
            if static_int(item) == 0:
                result.append(None)
            elif isinstance(item, Scalar) and item.ssa in names and names.index(item.ssa) not in result:
                result.append(names.index(item.ssa))
            else:
                raise LanguageError(
                    f"in T.Parallel {self.name}, a reducer, is indexed with variables of the loop, each once, or 0"
                )
        return tuple(result)

    def misused(self) -> LanguageError:
        return LanguageError(
            f"{self.name} is a reducer of {self.kind}: in T.Parallel it takes `{self.name}[i] += x` for sums, "
            "T.max(r[i], x) for maxima and so on, or T.reducer_update(r[i], x), and is read after the loop"
        )


class ParallelLoop:
    """The parallel loop that is open: its variables, and what it contributes to reducers."""

    def __init__(self, names: list[str], values: list[Scalar], extents: Sequence[int]) -> None:
        self.names, self.values, self.extents = names, values, list(extents)
        self.tiles: dict[Any, tuple[Reducer, Buffer]] = {}
        self.before: list[Any] = []

    def contribution(self, reducer: Reducer, dimensions: tuple[int | None, ...]) -> Buffer:
        """The tile into which the iterations' values for a reducer go."""
        key = (id(reducer), dimensions)
        if key not in self.tiles:
            trace = current()
            regions, trace.regions = trace.regions, [r for r in trace.regions if r.kind != "parallel"]
            try:
                with trace.builder.into(self.before):
                    tile = _alloc(self.extents, reducer.dtype, "fragment", "a reducer")
                    fill(tile, _neutral(reducer.kind, reducer.dtype))
            finally:
                trace.regions = regions
            self.tiles[key] = (reducer, tile)
        return self.tiles[key][1]

    def finish(self) -> None:
        """After the loop: reduces what it contributed."""
        for (_, dimensions), (reducer, tile) in self.tiles.items():
            kept = [dim for dim in dimensions if dim is not None]
            self._reduce(reducer, tile, dimensions, kept)

    def _reduce(self, reducer: Reducer, tile: Buffer, dimensions: tuple[int | None, ...], kept: list[int]) -> None:
        trace = current()
        op = KINDS[reducer.kind][1]
        unsigned = " unsigned" * (reducer.dtype.kind == "uint")
        axes = [axis for axis in range(tile.ndim) if axis not in kept]
        extents = list(tile.shape)
        for axis in reversed(axes):
            extents[axis] = 1
            result = _alloc(extents, reducer.dtype, "fragment", "a reducer")
            text = f"tile.reduce {op} {tile.ssa} along {axis} into {result.ssa}{unsigned}"
            trace.builder.line(f"{text} : {tile.type} into {result.type}")
            tile = result
        # Element by element: the reducer may have its dimensions in another order.
        names = [trace.builder.name() for _ in kept] or [trace.builder.name()]
        boxes = [self.extents[dim] for dim in kept] or [1]
        head = f"tile.parallel ({', '.join(names)}) in ({', '.join(map(str, boxes))})"
        with trace.builder.block(head), trace.region("parallel"):
            from .dtypes import index

            values = {dim: Scalar(name, index, None, (0, extent - 1)) for dim, name, extent in zip(kept, names, boxes)}
            part = tile[tuple(values.get(axis, 0) for axis in range(tile.ndim))].load()
            target = Buffer.__getitem__(reducer, tuple(0 if dim is None else values[dim] for dim in dimensions))
            Access.store(target, emit_binary(KINDS[reducer.kind][0], Access.load(target), part))


# What users write ----------------------------------------------------------


def alloc_reducer(shape: Any, dtype: Any = "float32", op: str = "sum", replication: str | None = None) -> Reducer:
    """An accumulator on the chip: in T.Parallel any number of iterations combine into an
    element of it. `op` is sum, max, min, bitand, bitor or bitxor; `replication` says
    nothing here. It starts undefined: T.clear, T.fill or T.reducer_init it."""
    if op not in KINDS:
        raise LanguageError(f"op is one of {', '.join(KINDS)}, not {op!r}")
    buffer = _alloc(shape, dtype, "fragment", "T.alloc_reducer")
    if op.startswith("bit") and not buffer.dtype.is_integer:
        raise LanguageError(f"a reducer of {op} has integers, not {str(buffer.dtype)}")
    reducer = Reducer(buffer.name, buffer.shape, buffer.dtype, "fragment", buffer.ssa)
    reducer.kind = op
    return reducer


def _reducer(value: Any, what: str) -> Reducer:
    found = value.buffer if isinstance(value, Access) else value
    if not isinstance(found, Reducer):
        raise LanguageError(f"{what} takes a reducer of T.alloc_reducer")
    return found


def reducer_init(reducer: Any, init: Any = None) -> None:
    """Sets a reducer to `init`, or to what changes nothing."""
    found = _reducer(reducer, "T.reducer_init")
    fill(found, _neutral(found.kind, found.dtype) if init is None else init)


def reducer_update(element: Any, value: Any) -> None:
    """Combines a value into an element of a reducer."""
    found = _reducer(element, "T.reducer_update")
    if not isinstance(element, Access) or not element.is_element:
        raise LanguageError("T.reducer_update takes an element, such as r[i]")
    found.update(element, value)


def finalize_reducer(reducer: Any, dst: Tile | None = None, batch: int = 1) -> None:
    """After it, a reducer is read. Each loop's contributions are there when it ends, so
    there is nothing to do but the copy to `dst`. `batch` is a hint."""
    found = _reducer(reducer, "T.finalize_reducer")
    if dst is not None:
        copy(found, dst)
