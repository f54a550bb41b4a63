"""Prints kernels as MLIR."""

from __future__ import annotations

import math
from collections.abc import Sequence

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

COMPUTE = {"f32": "f32", "f16": "f32", "bf16": "f32", "f64": "f64", "i32": "i32", "i8": "i32"}
"""The type lanes compute in, by the type of a buffer's elements."""

FLOAT_OPS = {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "max": "arith.maximumf",
             "min": "arith.minimumf", "neg": "arith.negf", "abs": "math.absf", "tanh": "math.tanh",
             "exp2": "math.exp2"}  # fmt: skip
INT_OPS = {"add": "arith.addi", "sub": "arith.subi", "mul": "arith.muli", "max": "arith.maxsi",
           "min": "arith.minsi", "abs": "math.absi", "and": "arith.andi", "xor": "arith.xori",
           "shl": "arith.shli"}  # fmt: skip


def type_of(buffer: Buffer, is_view: bool = False) -> str:
    extents = "".join("?x" if buffer.dynamic else f"{extent}x" for extent in buffer.shape)
    strides = ", ".join(["?"] * (buffer.rank - 1) + ["1"])
    layout = f", strided<[{strides}], offset: ?>" if is_view else ""
    space = "" if buffer.space == "global" else f", #tile.{buffer.space}"
    return f"memref<{extents}{buffer.dtype}{layout}{space}>"


class Printer:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.variables: dict[str, str] = {}

    def type(self, buffer: Buffer) -> str:
        return type_of(buffer, buffer.name in self.kernel.views)

    def emit(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def define(self, operation: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.emit(f"{name} = {operation}")
        return name

    # Expressions -----------------------------------------------------------

    def index(self, index: Index) -> str:
        if index.op == "const":
            return self.define(f"arith.constant {index.value} : index")
        if index.op == "var":
            return self.variables[index.name]
        left, right = (self.index(arg) for arg in index.args)
        if index.op == "mod":
            # remsi takes the sign of the left side; adding once makes it positive.
            rest = self.define(f"arith.remsi {left}, {right} : index")
            shifted = self.define(f"arith.addi {rest}, {right} : index")
            return self.define(f"arith.remsi {shifted}, {right} : index")
        operation = {"add": "arith.addi", "sub": "arith.subi", "mul": "arith.muli"}[index.op]
        return self.define(f"{operation} {left}, {right} : index")

    def indices(self, indices: Sequence[Index]) -> str:
        return ", ".join(self.index(index) for index in indices)

    def condition(self, condition: Condition) -> str:
        left, right = self.index(condition.left), self.index(condition.right)
        predicate = {"lt": "slt", "eq": "eq"}[condition.op]
        return self.define(f"arith.cmpi {predicate}, {left}, {right} : index")

    def number(self, value: float, dtype: str) -> str:
        if dtype.startswith("i"):
            text = str(int(value))
        elif math.isinf(value):
            text = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}[dtype]
        else:
            text = f"{value:.17e}"
        return self.define(f"arith.constant {text} : {dtype}")

    def convert(self, value: str, source: str, target: str) -> str:
        if source == target:
            return value
        if source.startswith("i"):
            kind = "extsi" if source == "i8" else "trunci"
            return self.define(f"arith.{kind} {value} : {source} to {target}")
        widens = source in ("f16", "bf16")
        return self.define(f"arith.{'extf' if widens else 'truncf'} {value} : {source} to {target}")

    def value(self, value: Value, dtype: str) -> str:
        if value.op == "number":
            return self.number(value.number, dtype)
        if value.op == "load":
            assert value.buffer
            at = self.indices(value.indices)
            loaded = self.define(f"memref.load %{value.buffer.name}[{at}] : {self.type(value.buffer)}")
            return self.convert(loaded, value.buffer.dtype, dtype)
        if value.op == "index":
            integer = self.define(f"arith.index_cast {self.index(value.indices[0])} : index to i32")
            if dtype == "i32":
                return integer
            number = self.define(f"arith.sitofp {integer} : i32 to {dtype}")
            scale = self.number(value.number, dtype)
            return self.define(f"arith.mulf {number}, {scale} : {dtype}")
        if value.op == "fold":
            return self.fold(value, dtype)
        if value.op == "select":
            assert value.condition
            flag = self.condition(value.condition)
            left, right = (self.value(arg, dtype) for arg in value.args)
            return self.define(f"arith.select {flag}, {left}, {right} : {dtype}")
        operation = (INT_OPS if dtype == "i32" else FLOAT_OPS)[value.op]
        operands = ", ".join([self.value(arg, dtype) for arg in value.args])
        return self.define(f"{operation} {operands} : {dtype}")

    def fold(self, value: Value, dtype: str) -> str:
        start = self.number(0, dtype)
        lower, upper = (self.index(index) for index in value.indices)
        one = self.define("arith.constant 1 : index")
        self.count += 1
        name, sum_name = f"%k{self.count}", f"%s{self.count}"
        result = f"%f{self.count}"
        self.emit(
            f"{result} = scf.for {name} = {lower} to {upper} step {one} iter_args({sum_name} = {start}) -> {dtype} {{"
        )
        self.depth += 1
        self.variables[value.loop] = name
        operand = self.value(value.args[0], dtype)
        operation = (INT_OPS if dtype == "i32" else FLOAT_OPS)["add"]
        total = self.define(f"{operation} {sum_name}, {operand} : {dtype}")
        self.emit(f"scf.yield {total} : {dtype}")
        self.depth -= 1
        self.emit("}")
        return result

    # Statements ------------------------------------------------------------

    def block(self, statements: Sequence[Statement | LaneStatement]) -> None:
        self.depth += 1
        for statement in statements:
            self.statement(statement)
        self.depth -= 1

    def conditional(self, statement: If | LaneIf) -> None:
        self.emit(f"scf.if {self.condition(statement.condition)} {{")
        self.block(statement.body)
        if statement.otherwise:
            self.emit("} else {")
            self.block(statement.otherwise)
        self.emit("}")

    def bind(self, name: str) -> str:
        self.count += 1
        self.variables[name] = f"%{name}_{self.count}"
        return self.variables[name]

    def statement(self, statement: Statement | LaneStatement) -> None:
        match statement:
            case Alloc(buffer) | LaneLocal(buffer):
                self.emit(f"%{buffer.name} = tile.alloc_{buffer.space} : {self.type(buffer)}")
            case Fill(buffer, number):
                value = self.number(number, buffer.dtype)
                self.emit(f"tile.fill %{buffer.name}, {value} : {self.type(buffer)}")
            case Copy():
                self.copy(statement)
            case Gemm(a, b, c):
                flags = "".join(
                    f" {flag}" for flag in ("transpose_a", "transpose_b", "clear") if getattr(statement, flag)
                )
                types = ", ".join(self.type(buffer) for buffer in (a, b, c))
                self.emit(f"tile.gemm %{a.name}, %{b.name}, %{c.name}{flags} : {types}")
            case Reduce(kind, source, along, target, accumulate):
                more = " accumulate" if accumulate else ""
                self.emit(
                    f"tile.reduce {kind} %{source.name} along {along} into %{target.name}{more} "
                    f": {self.type(source)} into {self.type(target)}"
                )
            case Parallel(lanes, extents, body):
                names = ", ".join(self.bind(lane) for lane in lanes)
                self.emit(f"tile.parallel ({names}) in ({', '.join(map(str, extents))}) {{")
                self.block(body)
                self.emit("}")
            case Loop(loop, lower, upper, step, stages, body):
                first, last, by = (self.define(f"arith.constant {n} : index") for n in (lower, upper, step))
                name = self.bind(loop)
                head = f"tile.pipelined {name} =" if stages else f"scf.for {name} ="
                more = f" stages({stages})" if stages else ""
                self.emit(f"{head} {first} to {last} step {by}{more} {{")
                if statement.steps:
                    self.steps(body)
                else:
                    self.block(body)
                self.emit("}")
            case Scan(kind, source, along, target):
                flags = "".join(f" {flag}" for flag in ("reverse", "exclusive") if getattr(statement, flag))
                self.emit(
                    f"tile.scan {kind} %{source.name} along {along} into %{target.name}{flags} "
                    f": {self.type(source)} into {self.type(target)}"
                )
            case Atomic(kind, source, target, target_at):
                self.emit(
                    f"tile.atomic_{kind} %{source.name} to %{target.name}[{self.indices(target_at)}] "
                    f": {self.type(source)} to {self.type(target)}"
                )
            case LaneFor(loop, lane_lower, lane_upper, lane_body):
                low, high = self.index(lane_lower), self.index(lane_upper)
                one = self.define("arith.constant 1 : index")
                self.emit(f"scf.for {self.bind(loop)} = {low} to {high} step {one} {{")
                self.block(lane_body)
                self.emit("}")
            case If() | LaneIf():
                self.conditional(statement)
            case Store(buffer, indices, value):
                computed = self.value(value, COMPUTE[buffer.dtype])
                stored = self.convert(computed, COMPUTE[buffer.dtype], buffer.dtype)
                at = self.indices(indices)
                self.emit(f"memref.store {stored}, %{buffer.name}[{at}] : {self.type(buffer)}")

    def steps(self, body: Sequence[Statement]) -> None:
        self.depth += 1
        for statement in body:
            self.emit("tile.step {")
            self.block([statement])
            self.emit("}")
        self.depth -= 1

    def launch(self, body: Sequence[Statement], views: dict[str, Buffer]) -> None:
        """All blocks, or tiles of a persistent loop; the extents are in front."""
        kernel = self.kernel
        extents = kernel.grid if not kernel.workers else (kernel.workers,)
        grid = ", ".join(self.define(f"arith.constant {extent} : index") for extent in extents)
        blocks = ", ".join(self.bind(block) for block in kernel.blocks) if not kernel.workers else "%worker"
        self.emit(f"tile.launch blocks({blocks}) in ({grid}) {{")
        self.depth += 1
        for name, buffer in views.items():
            self.view(name, buffer)
        if kernel.workers:
            tiles = ", ".join(self.define(f"arith.constant {extent} : index") for extent in kernel.grid)
            names = ", ".join(self.bind(block) for block in kernel.blocks)
            self.emit(f"tile.persistent ({names}) in ({tiles}){kernel.raster} {{")
        else:
            self.depth -= 1
        self.block(body)
        if kernel.workers:
            self.emit("}")
            self.depth -= 1
        self.emit("}")

    def copy(self, copy: Copy) -> None:
        source = f"%{copy.source.name}[{self.indices(copy.source_at)}] sizes {list(copy.source_sizes)}"
        target = f"%{copy.target.name}[{self.indices(copy.target_at)}] sizes {list(copy.target_sizes)}"
        pad = ""
        if copy.pad:
            dtype = copy.source.dtype
            pad = f" pad({self.number(copy.pad, dtype)} : {dtype})"
        pad += " saturate" if copy.saturate else ""
        self.emit(f"tile.copy {source} to {target}{pad} : {self.type(copy.source)} to {self.type(copy.target)}")

    def view(self, name: str, buffer: Buffer) -> None:
        argument, offsets = self.kernel.views[name]
        whole = next(a for a in self.kernel.arguments if a.name == argument)
        at = self.indices([Index("const", value=offset) for offset in offsets])
        sizes = self.indices([Index("const", value=extent) for extent in buffer.shape])
        ones = ", ".join(["1"] * buffer.rank)
        self.emit(
            f"%{name} = memref.subview %{argument}[{at}] [{sizes}] [{ones}] : {type_of(whole)} to {self.type(buffer)}"
        )


def print_kernel(kernel: Kernel, views: dict[str, Buffer]) -> str:
    """A function of the kernel's name. `views` are the buffers that
    `kernel.views` describes."""
    printer = Printer(kernel)
    arguments = ", ".join(f'%{a.name}: {type_of(a)} {{tile.name = "{a.name}"}}' for a in kernel.arguments)
    for buffer in kernel.workspaces:
        sizes = ", ".join(printer.define(f"arith.constant {extent} : index") for extent in buffer.shape)
        operands = f"({sizes})" if buffer.dynamic else ""
        printer.emit(f"%{buffer.name} = tile.alloc_global{operands} : {type_of(buffer)}")
    for body in kernel.launches:
        printer.launch(body, views)
    printer.emit("return")
    tolerance = f"#tile.tolerance<atol = {kernel.tolerance:.6e}>"
    head = f"// Seed {kernel.seed}.\nfunc.func @{kernel.name}({arguments})"
    lines = "\n".join(printer.lines)
    return f"{head}\n    attributes {{tile.tolerance = {tolerance}}} {{\n{lines}\n}}\n"
