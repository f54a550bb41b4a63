"""Builds random kernels.

Floats stay within [-1, 1] in every buffer, so that errors do not grow and a
wrong element stands out: sums are scaled by their length, other results are
clamped. Lanes never write different values to one element in one statement,
and never leave an on-chip buffer; both would be errors of the program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

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
    const,
    var,
)

FAMILIES = {
    "f32": ["f32"],
    "f16": ["f16", "f32"],
    "bf16": ["bf16", "f32"],
    "mixed": ["f32", "f16", "bf16"],
    "f64": ["f64"],
    "i32": ["i32"],
    "i8": ["i8", "i32"],
}
WIDTH = {"f64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i8": 8}


def load(buffer: Buffer, *indices: Index) -> Value:
    return Value("load", buffer=buffer, indices=indices)


def number(value: float) -> Value:
    return Value("number", number=value)


@dataclass
class Scope:
    """What a statement may refer to: variables with the range of their values."""

    blocks: dict[str, int]
    loops: dict[str, int] = field(default_factory=dict)
    lanes: dict[str, int] = field(default_factory=dict)


class KernelBuilder:
    def __init__(self, name: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.family = self.random.choice(list(FAMILIES))
        self.is_int = self.family in ("i32", "i8")
        self.count = 0
        self.kernel = Kernel(name, seed, (), (), [])
        self.views: dict[str, Buffer] = {}
        self.buffers: list[Buffer] = []
        """On-chip buffers, all of them written before anything is read."""
        self.sources: list[Buffer] = []
        """Global buffers to read from."""
        self.gathered: Buffer | None = None
        """The output of atomics; one kind of them, since kinds do not commute."""
        self.gather_kind = "add"
        self.is_gathered = False
        self.extents = [self.random.choice([3, 4, 7, 8, 12, 16, 17, 24]) for _ in range(3)]

    # Choices ---------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def dtype(self) -> str:
        return self.random.choice(FAMILIES[self.family])

    def constant(self) -> float:
        if self.is_int:
            return float(self.random.randint(-100, 100))
        return self.random.choice([0.0, 0.5, -0.25, 0.75, -1.0, 1.0])

    # Indices ---------------------------------------------------------------

    def bounded(self, ranges: dict[str, int], extent: int) -> Index:
        """An index below `extent` from variables below their ranges."""
        if not ranges or self.chance(0.15):
            return const(self.random.randrange(extent))
        name = self.random.choice(list(ranges))
        limit = ranges[name]
        way = self.random.choice(["plain", "plain", "reverse", "rotate"])
        if limit <= extent and way == "plain":
            return var(name) + self.random.randint(0, extent - limit)
        if limit <= extent and way == "reverse":
            return const(extent - 1) - var(name)
        return (var(name) + self.random.randint(0, 2 * extent)) % extent

    def anywhere(self, scope: Scope, extent: int) -> Index:
        """An index of a global buffer, often inside and sometimes not."""
        ranges = {**scope.loops, **scope.lanes}
        index = self.bounded(ranges, max(extent, 1)) if self.chance(0.5) else const(0)
        if scope.blocks and self.chance(0.6):
            block = self.random.choice(list(scope.blocks))
            index = index + var(block) * self.random.choice([1, 4, *self.extents])
        if ranges and self.chance(0.5):
            index = index + var(self.random.choice(list(ranges))) * self.random.choice([1, 1, 2, -1])
        return index + self.random.randint(-3, 3) if self.chance(0.4) else index

    def access(self, buffer: Buffer, scope: Scope) -> Value:
        if buffer.space == "global":
            return load(buffer, *(self.anywhere(scope, extent) for extent in buffer.shape))
        ranges = {**scope.loops, **scope.lanes}
        # The lane's own element more often than any other.
        names = list(scope.lanes)
        fits = len(names) == buffer.rank and all(
            scope.lanes[name] <= extent for name, extent in zip(names, buffer.shape, strict=True)
        )
        if fits and self.chance(0.5):
            return load(buffer, *(var(name) for name in names))
        return load(buffer, *(self.bounded(ranges, extent) for extent in buffer.shape))

    def place(self, buffer: Buffer, scope: Scope) -> tuple[Index, ...] | None:
        """Indices that differ from lane to lane, if there can be any."""
        free = list(range(buffer.rank))
        indices: list[Index] = [const(self.random.randrange(extent)) for extent in buffer.shape]
        for name, limit in scope.lanes.items():
            fitting = [dim for dim in free if limit <= buffer.shape[dim]]
            if not fitting:
                return None
            dim = fitting[0] if self.chance(0.7) else self.random.choice(fitting)
            free.remove(dim)
            extent = buffer.shape[dim]
            way = self.random.choice(["plain", "plain", "plain", "reverse", "rotate"])
            if way == "plain":
                indices[dim] = var(name) + self.random.randint(0, extent - limit)
            elif way == "reverse":
                indices[dim] = const(extent - 1) - var(name)
            else:
                indices[dim] = (var(name) + self.random.randint(1, extent)) % extent
        return tuple(indices)

    def condition(self, ranges: dict[str, int]) -> Condition:
        name = self.random.choice(list(ranges))
        if self.chance(0.5):
            return Condition("lt", var(name), const(self.random.randint(0, ranges[name])))
        modulus = self.random.choice([2, 3])
        return Condition("eq", var(name) % modulus, const(self.random.randrange(modulus)))

    # Values ----------------------------------------------------------------

    def bound(self, value: Value, limit: float) -> Value:
        """The value, which is at most `limit`, brought back to [-1, 1]."""
        if self.is_int or limit <= 1:
            return value
        if self.chance(0.5):
            return Value("mul", (value, number(1 / limit)))
        return Value("min", (Value("max", (value, number(-1))), number(1)))

    def value(self, scope: Scope, depth: int) -> tuple[Value, float]:
        """A value and a bound on its size."""
        if depth == 0 or self.chance(0.15):
            return self.leaf(scope)
        if self.chance(0.12) and (scope.lanes or scope.loops):
            return self.fold(scope, depth)
        left, a = self.value(scope, depth - 1)
        unary = ["abs"] if self.is_int else ["neg", "abs", "tanh", "exp2"]
        binary = ["add", "sub", "mul", "max", "min"] + (["and", "xor"] if self.is_int else [])
        op = self.random.choice(unary + binary + ["select"])
        if op == "exp2":
            return Value("exp2", (self.bound(left, a),)), 2
        if op in unary:
            return Value(op, (left,)), 1 if op == "tanh" else a
        right, b = self.value(scope, depth - 1)
        ranges = {**scope.loops, **scope.lanes}
        if op == "select":
            if not ranges:
                return left, a
            return Value("select", (left, right), condition=self.condition(ranges)), max(a, b)
        limit = {"add": a + b, "sub": a + b, "mul": a * b}.get(op, max(a, b))
        return Value(op, (left, right)), limit

    def leaf(self, scope: Scope) -> tuple[Value, float]:
        choice = self.random.random()
        if choice < 0.1:
            return number(self.constant()), 1
        ranges = {**scope.loops, **scope.lanes, **scope.blocks}
        if choice < 0.2 and ranges:
            return Value("index", number=1 / 16, indices=((self.bounded(ranges, 16)),)), 1
        pool = self.buffers if choice < 0.85 and self.buffers else self.sources
        return self.access(self.random.choice(pool), scope), 1

    def fold(self, scope: Scope, depth: int) -> tuple[Value, float]:
        loop, trips = self.name("k"), self.random.randint(1, 5)
        upper: Index = const(trips)
        if scope.lanes and self.chance(0.4):
            name = self.random.choice(list(scope.lanes))
            upper = var(name) % (trips + 1)
        inner = Scope(scope.blocks, {**scope.loops, loop: trips}, scope.lanes)
        body, limit = self.value(inner, min(depth - 1, 1))
        return Value("fold", (body,), indices=(const(0), upper), loop=loop), limit * trips

    # Statements of lanes ---------------------------------------------------

    def store(self, scope: Scope) -> LaneStatement:
        targets = [(buffer, self.place(buffer, scope)) for buffer in self.buffers]
        places = [(buffer, at) for buffer, at in targets if at is not None]
        if not places or self.chance(0.05):
            # One element for all lanes, and therefore one value.
            buffer = self.random.choice(self.buffers)
            uniform = Scope(scope.blocks)
            value, limit = self.value(uniform, 1)
            at = tuple(const(self.random.randrange(extent)) for extent in buffer.shape)
            return Store(buffer, at, self.bound(value, limit))
        # The buffer that fits the box best is the likeliest.
        places.sort(key=lambda place: sum(place[0].shape))
        buffer, at = places[0] if self.chance(0.6) else self.random.choice(places)
        value, limit = self.value(scope, self.random.randint(1, 3))
        return Store(buffer, at, self.bound(value, limit))

    def lane_statement(self, scope: Scope, depth: int) -> list[LaneStatement]:
        choice = self.random.random()
        if depth and choice < 0.15:
            otherwise = self.lane_block(scope, depth - 1) if self.chance(0.5) else ()
            condition = self.condition({**scope.loops, **scope.lanes})
            return [LaneIf(condition, self.lane_block(scope, depth - 1), otherwise)]
        if depth and choice < 0.27:
            loop, trips = self.name("n"), self.random.randint(1, 3)
            lower, upper = const(0), const(trips)
            if self.chance(0.4):
                lane = var(self.random.choice(list(scope.lanes)))
                lower, upper = lane % 2, lane % (trips + 1)
            inner = Scope(scope.blocks, {**scope.loops, loop: max(trips, 1)}, scope.lanes)
            return [LaneFor(loop, lower, upper, self.lane_block(inner, depth - 1))]
        if depth and choice < 0.37:
            return self.accumulation(scope)
        return [self.store(scope)]

    def accumulation(self, scope: Scope) -> list[LaneStatement]:
        """A sum in a buffer of the lane's own."""
        own = Buffer(self.name("own"), "local", (2,), "i32" if self.is_int else self.dtype())
        slot, trips, loop = const(self.random.randrange(2)), self.random.randint(1, 4), self.name("n")
        inner = Scope(scope.blocks, {**scope.loops, loop: trips}, scope.lanes)
        value, limit = self.value(inner, 1)
        total = self.bound(Value("add", (load(own, slot), value)), limit + 1)
        target = self.store(scope)
        assert isinstance(target, Store)
        result = target.value if target.buffer.rank < len(scope.lanes) else load(own, slot)
        is_uniform = not any(uses(index, set(scope.lanes)) for index in target.indices)
        return [
            LaneLocal(own),
            Store(own, (slot,), number(self.constant())),
            LaneFor(loop, const(0), const(trips), (Store(own, (slot,), total),)),
            Store(target.buffer, target.indices, target.value if is_uniform else result),
        ]

    def lane_block(self, scope: Scope, depth: int) -> tuple[LaneStatement, ...]:
        return tuple(
            statement for _ in range(self.random.randint(1, 2)) for statement in self.lane_statement(scope, depth)
        )

    # Statements of blocks --------------------------------------------------

    def parallel(self, scope: Scope) -> list[Statement]:
        shape = self.random.choice(self.buffers).shape
        extents = tuple(self.random.randint(1, n) if self.chance(0.2) else n for n in shape)
        lanes = tuple(self.name("l") for _ in extents)
        inner = Scope(scope.blocks, scope.loops, dict(zip(lanes, extents, strict=True)))
        body = self.lane_block(inner, 2)
        return [Parallel(lanes, extents, body)]

    def fetch(self, buffer: Buffer, scope: Scope) -> list[Statement]:
        """A tile of a global buffer of at least that rank, at any offset."""
        sources = [source for source in self.sources if source.rank >= buffer.rank]
        if not sources:
            return [Fill(buffer, self.constant())]
        source = self.random.choice(sources)
        sizes = (1,) * (source.rank - buffer.rank) + buffer.shape
        at = tuple(self.anywhere(scope, extent) for extent in source.shape)
        pad = self.constant() if self.chance(0.3) else 0.0
        saturate = self.narrows(source, buffer) and self.chance(0.5)
        return [Copy(source, at, sizes, buffer, (const(0),) * buffer.rank, buffer.shape, pad, saturate)]

    def narrows(self, source: Buffer, target: Buffer) -> bool:
        """Whether a copy may ask for saturation and change something by it."""
        return self.is_int and WIDTH[target.dtype] < WIDTH[source.dtype]

    def move(self, scope: Scope) -> list[Statement]:
        """A part of one on-chip buffer to a part of another."""
        source, target = self.random.choice(self.buffers), self.random.choice(self.buffers)
        if source is target or source.rank != target.rank:
            return self.parallel(scope)
        sizes = tuple(self.random.randint(1, min(a, b)) for a, b in zip(source.shape, target.shape, strict=True))

        def corner(buffer: Buffer) -> tuple[Index, ...]:
            return tuple(self.bounded(scope.loops, n - size + 1) for n, size in zip(buffer.shape, sizes, strict=True))

        saturate = self.narrows(source, target) and self.chance(0.5)
        return [Copy(source, corner(source), sizes, target, corner(target), sizes, saturate=saturate)]

    def scan(self, scope: Scope) -> list[Statement]:
        pairs = [
            (source, target)
            for source in self.buffers
            for target in self.buffers
            if source.shape == target.shape and WIDTH[target.dtype] >= WIDTH[source.dtype]
        ]
        source, target = self.random.choice(pairs)
        along = self.random.randrange(source.rank)
        kind = self.random.choice(["sum", "sum", "max", "min", "product"])
        exclusive = kind == "sum" and self.chance(0.5)
        result: list[Statement] = [Scan(kind, source, along, target, self.chance(0.4), exclusive)]
        if kind == "sum" and not self.is_int:
            result.append(self.scale(target, 1 / source.shape[along]))
        return result

    def combine(self, scope: Scope) -> list[Statement]:
        """Into an output that all blocks share, where their order does not show:
        integers, or extremes."""
        if self.gathered is None:
            return self.scan(scope)
        target = self.gathered
        fitting = [buffer for buffer in self.buffers if buffer.rank == target.rank and buffer.dtype == target.dtype]
        if not fitting:
            return self.scan(scope)
        at = tuple(self.anywhere(scope, extent) for extent in target.shape)
        self.is_gathered = True
        return [Atomic(self.gather_kind, self.random.choice(fitting), target, at)]

    def scale(self, buffer: Buffer, factor: float) -> Statement:
        lanes = tuple(self.name("l") for _ in buffer.shape)
        at = tuple(var(lane) for lane in lanes)
        value = Value("mul", (load(buffer, *at), number(factor)))
        return Parallel(lanes, buffer.shape, (Store(buffer, at, value),))

    def gemm(self, scope: Scope) -> list[Statement]:
        if self.family == "i32":
            return self.reduce(scope)
        matrices = [buffer for buffer in self.buffers if buffer.rank == 2]
        found = []
        for c in matrices:
            for a in matrices:
                for b in matrices:
                    for ta in (False, True):
                        for tb in (False, True):
                            if self.multiply(a, b, c, ta, tb):
                                found.append((a, b, c, ta, tb))
        if not found:
            return self.parallel(scope)
        a, b, c, ta, tb = self.random.choice(found)
        k = a.shape[0 if ta else 1]
        gemm = Gemm(a, b, c, ta, tb, self.chance(0.4))
        return [gemm] if self.is_int else [gemm, self.scale(c, 1 / (k + 1))]

    @staticmethod
    def multiply(a: Buffer, b: Buffer, c: Buffer, ta: bool, tb: bool) -> bool:
        m, k = a.shape[::-1] if ta else a.shape
        k2, n = b.shape[::-1] if tb else b.shape
        wide = {"f64": "f64", "i8": "i32", "i32": ""}.get(a.dtype, "f32")
        fits = a.dtype == b.dtype and c.dtype == wide and c.space == "fragment"
        return fits and c is not a and c is not b and (m, n) == c.shape and k == k2

    def reduce(self, scope: Scope) -> list[Statement]:
        found = []
        for source in self.buffers:
            for target in self.buffers:
                if target is source or WIDTH[target.dtype] < WIDTH[source.dtype]:
                    continue
                for along in range(source.rank):
                    removed = source.shape[:along] + source.shape[along + 1 :]
                    kept = (*source.shape[:along], 1, *source.shape[along + 1 :])
                    if target.shape in (removed, kept):
                        found.append((source, along, target))
        if not found:
            return self.parallel(scope)
        source, along, target = self.random.choice(found)
        kinds = ["sum", "sum", "max", "min", "abs_sum", "abs_max", "product"]
        kind = self.random.choice(kinds + (["and", "or", "xor"] if self.is_int else []))
        result: list[Statement] = [Reduce(kind, source, along, target, self.chance(0.4))]
        if kind in ("sum", "abs_sum") and not self.is_int:
            result.append(self.scale(target, 1 / (source.shape[along] + 1)))
        return result

    def statement(self, scope: Scope, depth: int) -> list[Statement]:
        choice = self.random.random()
        if depth and choice < 0.2:
            loop, step = self.name("t"), self.random.choice([1, 1, 2, 5])
            lower = self.random.choice([0, 0, 0, 2, -3])
            trips = self.random.choice([0, 1, 2, 3, 3, 4])
            upper = lower + trips * step - self.random.randrange(step)
            stages = self.random.choice([0, 0, 1, 2, 3])
            # Used in indices of on-chip buffers only where it cannot be negative.
            loops = {**scope.loops, loop: max(upper, 1)} if lower >= 0 else scope.loops
            body = self.block(Scope(scope.blocks, loops), depth - 1)
            return [Loop(loop, lower, upper, step, stages, body, bool(stages) and self.chance(0.4))]
        if depth and choice < 0.27 and (scope.blocks or scope.loops):
            condition = self.condition({**scope.blocks, **scope.loops})
            otherwise = self.block(scope, depth - 1) if self.chance(0.5) else ()
            return [If(condition, self.block(scope, depth - 1), otherwise)]
        makers = [self.parallel] * 5 + [self.gemm] * 3 + [self.reduce] * 3 + [self.move] * 2
        makers += [self.scan] * 2 + [self.combine]
        if self.chance(0.15):
            return self.fetch(self.random.choice(self.buffers), scope)
        return self.random.choice(makers)(scope)

    def block(self, scope: Scope, depth: int) -> tuple[Statement, ...]:
        return tuple(statement for _ in range(self.random.randint(1, 3)) for statement in self.statement(scope, depth))

    # The kernel ------------------------------------------------------------

    def global_buffer(self, name: str, shape: tuple[int, ...], output: bool) -> Buffer:
        return Buffer(name, "global", shape, self.dtype(), dynamic=self.chance(0.8), output=output)

    def allocate(self, shape: tuple[int, ...], space: str = "") -> Buffer:
        space = space or self.random.choice(["shared", "fragment"])
        buffer = Buffer(self.name("b"), space, shape, self.dtype())
        self.body.append(Alloc(buffer))
        return buffer

    def build(self) -> tuple[Kernel, dict[str, Buffer]]:
        kernel, extents = self.kernel, self.extents
        rank = self.random.choice([1, 2, 2, 2, 3])
        tile = tuple(self.random.choice(extents) for _ in range(rank))
        if rank == 3:
            tile = (self.random.choice([1, 2, 3]), *tile[1:])
        whole = tuple(self.random.randint(1, max(2, 5 * n // 2)) for n in tile)
        kernel.grid = tuple(-(-n // size) for n, size in zip(whole, tile, strict=True))
        kernel.blocks = tuple(f"block{i}" for i in range(rank))

        for i in range(self.random.randint(1, 3)):
            shape = tuple(self.random.randint(1, 40) for _ in range(self.random.choice([1, 2, 2, 3])))
            shape = shape if len(shape) < 3 else (shape[0] % 5 + 1, *shape[1:])
            kernel.arguments.append(self.global_buffer(f"X{i}", shape, output=False))
        self.sources = list(kernel.arguments)
        outputs = [self.global_buffer(f"Y{i}", whole, output=True) for i in range(self.random.choice([1, 1, 2]))]
        kernel.arguments += outputs
        whole_inputs = [source for source in self.sources if source.dynamic and min(source.shape) > 1]
        if whole_inputs and self.chance(0.4):
            argument = self.random.choice(whole_inputs)
            offsets = tuple(self.random.randrange(n) for n in argument.shape)
            shape = tuple(self.random.randint(1, n - o) for n, o in zip(argument.shape, offsets, strict=True))
            view = Buffer("view", "global", shape, argument.dtype, dynamic=True)
            kernel.views["view"] = (argument.name, offsets)
            self.views["view"] = view
            self.sources.append(view)

        if self.chance(0.3):
            kernel.workers = self.random.choice([1, 2, 3, 5])
            order = self.random.choice(["", " raster(row, 2)", " raster(column, 3)"])
            kernel.raster = order if rank > 1 else ""
        if self.chance(0.4):
            self.gather_kind = self.random.choice(["add", "max", "min"] if self.is_int else ["max", "min"])
            shape = tuple(self.random.randint(1, 30) for _ in range(self.random.choice([1, 2])))
            dtype = "i32" if self.is_int else self.random.choice(["f64" if self.family == "f64" else "f32"])
            self.gathered = Buffer("Z", "global", shape, dtype, dynamic=self.chance(0.8), output=True, gathers=True)
            kernel.arguments.append(self.gathered)
        scope = Scope(dict(zip(kernel.blocks, kernel.grid, strict=True)))
        if self.chance(0.3):
            # The first of two launches leaves something for the other.
            workspace = self.global_buffer("W", whole, output=False)
            kernel.workspaces.append(workspace)
            self.launch(scope, tile, [workspace])
            kernel.launches.append([])
            self.sources.append(workspace)
        self.launch(scope, tile, outputs)
        if self.gathered and not self.is_gathered:
            kernel.arguments.remove(self.gathered)
        return kernel, self.views

    @property
    def body(self) -> list[Statement]:
        return self.kernel.launches[-1]

    def launch(self, scope: Scope, tile: tuple[int, ...], outputs: list[Buffer]) -> None:
        """The body of one launch, which writes its tile of each output."""
        d0, d1, d2 = self.extents
        shapes = [(d0, d1), (d1, d2), (d0, d2), (d0,), (d2,), (d1, 1), (2, d0, d1), (2, d1)]
        chosen = [tile, *self.random.sample(shapes, self.random.randint(2, 5))]
        created = [self.allocate(shape) for shape in chosen]
        if self.family != "i32" and self.chance(0.7):
            created += [self.allocate((d0, d1)), self.allocate((d1, d2)), self.allocate((d0, d2), "fragment")]
        for buffer in created:
            fill = self.chance(0.25)
            self.body.extend([Fill(buffer, self.constant())] if fill else self.fetch(buffer, scope))
        self.buffers = created
        for _ in range(self.random.randint(3, 6)):
            self.body.extend(self.statement(scope, 2))
        if self.gathered:
            self.body.extend(self.combine(scope))
        for output in outputs:
            self.body.extend(self.write(output, tile, created[0], scope))

    def write(self, output: Buffer, tile: tuple[int, ...], source: Buffer, scope: Scope) -> list[Statement]:
        """The block's tile of an output, by a copy or by lanes."""
        corner = tuple(var(block) * size for block, size in zip(self.kernel.blocks, tile, strict=True))
        if self.chance(0.5):
            return [Copy(source, (const(0),) * len(tile), tile, output, corner, tile)]
        lanes = tuple(self.name("l") for _ in tile)
        inner = Scope(scope.blocks, {}, dict(zip(lanes, tile, strict=True)))
        value, limit = self.value(inner, 2)
        sum_ = Value("add", (load(source, *(var(lane) for lane in lanes)), value))
        at = tuple(first + var(lane) for first, lane in zip(corner, lanes, strict=True))
        return [Parallel(lanes, tile, (Store(output, at, self.bound(sum_, limit + 1)),))]


def uses(index: Index, names: set[str]) -> bool:
    return index.name in names or any(uses(arg, names) for arg in index.args)
