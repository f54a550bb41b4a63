"""Evaluates kernels directly, in float64, a block after the other and a
statement after the other, with all lanes of a statement at once.

What is stored is rounded to the buffer's type, since a program may depend on
it; everything between is exact to float64. With `noise` every result is moved
by about one rounding of the type it is computed in: how far outputs move then
tells how far a correct compiler's may.
"""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
from program import (
    Alloc,
    Atomic,
    Buffer,
    Condition,
    Copy,
    Fill,
    Gemm,
    If,
    Index,
    Kernel,
    LaneFor,
    LaneIf,
    LaneLocal,
    LaneStatement,
    Loop,
    Parallel,
    Reduce,
    Scan,
    Statement,
    Store,
    Value,
)

Array = np.ndarray[Any, np.dtype[Any]]

STORAGE: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i32": np.int32,
    "i8": np.int8,
}
UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
"""Half the distance from 1 to the next number: the largest relative error of a rounding."""


class Oracle:
    def __init__(self, kernel: Kernel, memory: dict[str, Array], noise: np.random.Generator | None) -> None:
        """`memory` holds the arguments and views, in float64 or int64; outputs are
        written in place."""
        self.kernel = kernel
        self.memory = memory
        self.noise = noise
        self.variables: dict[str, Any] = {}
        self.mask: Array = np.ones((), dtype=bool)
        self.box: tuple[int, ...] = ()
        # Lanes compute in one type throughout a kernel.
        types = {argument.dtype for argument in kernel.arguments}
        self.is_int = bool(types & {"i32", "i8"})
        self.unit = UNIT["f64"] if "f64" in types else UNIT["f32"]

    # Numbers ---------------------------------------------------------------

    def blur(self, value: Array, magnitude: Array | None = None) -> Array:
        if self.noise is None or self.is_int:
            return value
        size = np.abs(value) if magnitude is None else magnitude
        return value + size * self.unit * self.noise.uniform(-1, 1, np.shape(value))

    def round(self, value: Array, dtype: str) -> Array:
        if dtype in ("i32", "i8"):
            return np.asarray(value).astype(np.int64).astype(STORAGE[dtype]).astype(np.int64)
        value = np.asarray(value, dtype=np.float64)
        if self.noise is not None:
            value = value * (1 + UNIT[dtype] * self.noise.uniform(-1, 1, value.shape))
        return value.astype(STORAGE[dtype]).astype(np.float64)

    def new(self, buffer: Buffer, lead: tuple[int, ...] = ()) -> None:
        dtype = np.int64 if self.is_int else np.float64
        # What is read before it is written shows.
        fill = 987654321 if self.is_int else np.nan
        self.memory[buffer.name] = np.full(lead + buffer.shape, fill, dtype=dtype)

    # Expressions -----------------------------------------------------------

    def index(self, index: Index) -> Any:
        if index.op == "const":
            return index.value
        if index.op == "var":
            return self.variables[index.name]
        left, right = (self.index(arg) for arg in index.args)
        if index.op == "add":
            return left + right
        if index.op == "sub":
            return left - right
        if index.op == "mul":
            return left * right
        return left % right

    def condition(self, condition: Condition) -> Any:
        left, right = self.index(condition.left), self.index(condition.right)
        return left < right if condition.op == "lt" else left == right

    def locate(self, buffer: Buffer, indices: tuple[Index, ...]) -> tuple[tuple[Any, ...], Any]:
        """Where in the buffer each lane's element is, and whether it is inside. Both
        broadcast to the box; what is outside is moved to the nearest edge."""
        at = [self.index(index) for index in indices]
        inside: Any = True
        for dim, (position, extent) in enumerate(zip(at, buffer.shape, strict=True)):
            fits = (position >= 0) & (position < extent)
            if not np.all(fits):
                at[dim] = np.clip(position, 0, extent - 1)
                inside = inside & fits
        if buffer.space != "global" and not np.all(inside | ~self.mask):
            raise AssertionError(f"{self.kernel.name} leaves the on-chip buffer {buffer.name}")
        if buffer.space == "local":
            at = [*np.indices(self.box, sparse=True), *at]
        return tuple(at), inside

    def value(self, value: Value) -> Array:
        if value.op == "number":
            return np.asarray(int(value.number) if self.is_int else value.number)
        if value.op == "load":
            assert value.buffer
            at, inside = self.locate(value.buffer, value.indices)
            loaded = self.memory[value.buffer.name][at]
            return loaded if inside is True else np.where(inside, loaded, 0)
        if value.op == "index":
            integer = np.asarray(self.index(value.indices[0]))
            return integer if self.is_int else self.blur(integer * value.number)
        if value.op == "fold":
            return self.fold(value)
        args = [self.value(arg) for arg in value.args]
        if value.op == "select":
            assert value.condition
            return np.where(self.condition(value.condition), *args)
        result = {
            "add": lambda: args[0] + args[1],
            "sub": lambda: args[0] - args[1],
            "mul": lambda: args[0] * args[1],
            "max": lambda: np.maximum(args[0], args[1]),
            "min": lambda: np.minimum(args[0], args[1]),
            "neg": lambda: -args[0],
            "abs": lambda: np.abs(args[0]),
            "tanh": lambda: np.tanh(args[0]),
            "exp2": lambda: np.exp2(args[0]),
            "and": lambda: args[0] & args[1],
            "xor": lambda: args[0] ^ args[1],
            "shl": lambda: args[0] << args[1],
        }[value.op]()
        if self.is_int:
            return self.round(result, "i32")
        return self.blur(result) if value.op in ("add", "sub", "mul", "tanh", "exp2") else result

    def fold(self, value: Value) -> Array:
        lower, upper = (np.broadcast_to(self.index(index), self.box) for index in value.indices)
        total = np.zeros(self.box, dtype=np.int64 if self.is_int else np.float64)
        mask = self.mask
        for step in range(max(0, int((upper - lower).max(initial=0)))):
            active = lower + step < upper
            self.mask = mask & active
            self.variables[value.loop] = lower + step
            more = self.value(value.args[0])
            total = np.where(active, self.blur(total + more), total)
        self.mask = mask
        return self.round(total, "i32") if self.is_int else total

    # Statements of lanes ---------------------------------------------------

    def lanes(self, body: tuple[LaneStatement, ...]) -> None:
        for statement in body:
            match statement:
                case Store(buffer, indices, value):
                    computed = self.round(self.value(value), buffer.dtype)
                    at, inside = self.locate(buffer, indices)
                    where = np.broadcast_to(inside & self.mask, self.box)
                    lanes = tuple(np.broadcast_to(position, self.box)[where] for position in at)
                    self.memory[buffer.name][lanes] = np.broadcast_to(computed, self.box)[where]
                case LaneIf(condition, then, otherwise):
                    mask, flag = self.mask, np.broadcast_to(self.condition(condition), self.box)
                    self.mask = mask & flag
                    self.lanes(then)
                    self.mask = mask & ~flag
                    self.lanes(otherwise)
                    self.mask = mask
                case LaneFor(loop, low, high, inner):
                    mask = self.mask
                    lower = np.broadcast_to(self.index(low), self.box)
                    upper = np.broadcast_to(self.index(high), self.box)
                    for step in range(max(0, int((upper - lower)[mask].max(initial=0)))):
                        self.mask = mask & (lower + step < upper)
                        self.variables[loop] = lower + step
                        self.lanes(inner)
                    self.mask = mask
                case LaneLocal(buffer):
                    self.new(buffer, self.box)

    # Statements of blocks --------------------------------------------------

    def run(self, body: list[Statement] | tuple[Statement, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Alloc(buffer):
                self.new(buffer)
            case Fill(buffer, number):
                self.memory[buffer.name][...] = self.round(np.asarray(number), buffer.dtype)
            case Copy():
                self.copy(statement)
            case Gemm(a, b, c, transpose_a, transpose_b, clear):
                left, right = self.memory[a.name], self.memory[b.name]
                left = left.T if transpose_a else left
                right = right.T if transpose_b else right
                start = np.zeros(c.shape) if clear else self.memory[c.name]
                magnitude = np.abs(start) + np.abs(left) @ np.abs(right)
                self.memory[c.name] = self.round(self.blur(start + left @ right, magnitude), c.dtype)
            case Reduce():
                self.reduce(statement)
            case Scan():
                self.scan(statement)
            case Atomic(kind, source, target, target_at):
                combine: Any = {"add": np.add, "max": np.maximum, "min": np.minimum}[kind]
                at = [int(self.index(index)) for index in target_at]
                inner, outer = overlap(at, source.shape, target.shape)
                memory = self.memory[target.name]
                given = self.round(self.memory[source.name], target.dtype)[inner]
                memory[outer] = self.round(combine(memory[outer], given), target.dtype)
            case Parallel(names, extents, lane_body):
                self.box = extents
                self.mask = np.ones(extents, dtype=bool)
                for axis, name in enumerate(names):
                    shape = [1] * len(extents)
                    shape[axis] = extents[axis]
                    self.variables[name] = np.arange(extents[axis]).reshape(shape)
                self.lanes(lane_body)
            case Loop(loop, lower, upper, step, _, inner):
                for position in range(lower, upper, step):
                    self.variables[loop] = position
                    self.run(inner)
            case If(condition, then, otherwise):
                self.run(then if self.condition(condition) else otherwise)

    def copy(self, copy: Copy) -> None:
        source, target = self.memory[copy.source.name], self.memory[copy.target.name]
        tile = np.full(copy.source_sizes, self.round(np.asarray(copy.pad), copy.source.dtype))
        at = [int(self.index(index)) for index in copy.source_at]
        inner, outer = overlap(at, copy.source_sizes, copy.source.shape)
        tile[inner] = source[outer]
        if copy.saturate:
            limits = np.iinfo(STORAGE[copy.target.dtype])
            tile = np.clip(tile, limits.min, limits.max)
        tile = self.round(tile, copy.target.dtype).reshape(copy.target_sizes)
        at = [int(self.index(index)) for index in copy.target_at]
        inner, outer = overlap(at, copy.target_sizes, copy.target.shape)
        target[outer] = tile[inner]

    def reduce(self, reduce: Reduce) -> None:
        source = self.memory[reduce.source.name]
        axis = reduce.along
        function: Any = {
            "sum": np.add,
            "product": np.multiply,
            "max": np.maximum,
            "min": np.minimum,
            "abs_sum": np.add,
            "abs_max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[reduce.kind]
        elements = np.abs(source) if reduce.kind.startswith("abs") else source
        result = function.reduce(elements, axis=axis)
        old = self.memory[reduce.target.name].reshape(result.shape)
        if reduce.accumulate and reduce.kind == "abs_max" and self.is_int:
            # Magnitudes have no sign: that of the least integer is the greatest.
            mask = (1 << np.iinfo(STORAGE[reduce.target.dtype]).bits) - 1
            result = np.maximum(old & mask, result & mask)
        elif reduce.accumulate:
            result = function(old, result)
        if reduce.kind in ("sum", "abs_sum"):
            magnitude = np.add.reduce(np.abs(source), axis=axis) + (np.abs(old) if reduce.accumulate else 0)
            result = self.blur(result, magnitude)
        rounded = self.round(result, reduce.target.dtype)
        self.memory[reduce.target.name] = rounded.reshape(reduce.target.shape)

    def scan(self, scan: Scan) -> None:
        source, axis = self.memory[scan.source.name], scan.along
        function: Any = {"sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum}[scan.kind]
        elements = np.flip(source, axis) if scan.reverse else source
        result = function.accumulate(elements, axis=axis)
        magnitude = np.add.accumulate(np.abs(elements), axis=axis)
        if scan.exclusive:
            # The generator asks for sums only.
            zeros = np.zeros_like(np.take(result, [0], axis))
            result = np.concatenate([zeros, np.delete(result, -1, axis)], axis)
        if scan.kind == "sum":
            result = self.blur(result, magnitude)
        rounded = self.round(result, scan.target.dtype)
        self.memory[scan.target.name] = np.flip(rounded, axis) if scan.reverse else rounded


def overlap(
    at: list[int], sizes: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """The part of a tile at `at` that lies in a buffer of that shape: in the
    tile's coordinates and in the buffer's."""
    inner, outer = [], []
    for start, size, extent in zip(at, sizes, shape, strict=True):
        first, last = max(start, 0), max(min(start + size, extent), max(start, 0))
        last = last if first < extent else first
        inner.append(slice(first - start, last - start))
        outer.append(slice(first, last))
    return tuple(inner), tuple(outer)


def evaluate(
    kernel: Kernel,
    views: dict[str, Buffer],
    inputs: dict[str, Array],
    noise: np.random.Generator | None = None,
) -> dict[str, Array]:
    """The outputs, by name. `inputs` are not changed."""
    memory = {name: np.array(array) for name, array in inputs.items()}
    is_int = any(argument.dtype in ("i32", "i8") for argument in kernel.arguments)
    for buffer in [argument for argument in kernel.arguments if argument.output] + kernel.workspaces:
        fill = 0 if buffer.gathers else 987654321 if is_int else np.nan
        memory[buffer.name] = np.full(buffer.shape, fill, dtype=np.int64 if is_int else np.float64)
    for name, buffer in views.items():
        argument_name, offsets = kernel.views[name]
        where = tuple(slice(o, o + n) for o, n in zip(offsets, buffer.shape, strict=True))
        memory[name] = memory[argument_name][where]
    oracle = Oracle(kernel, memory, noise)
    for body in kernel.launches:
        for block in itertools.product(*(range(extent) for extent in kernel.grid)):
            oracle.variables = dict(zip(kernel.blocks, block, strict=True))
            oracle.run(body)
    return {a.name: memory[a.name] for a in kernel.arguments if a.output}
