"""From a Python function to a program: its parameters, and the text built of it."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import LanguageError
from ..ir.builder import Block
from ..ir.types import string
from .buffers import Buffer
from .dtypes import DType, index
from .expr import Scalar, Symbol
from .functions import closure_names
from .source import Source
from .tensor import ConstNames, TensorType
from .trace import Options, Trace, tracing


@dataclass
class Parameter:
    """A parameter of a program. `type` is a TensorType, or a DType for a scalar."""

    name: str
    type: Any
    ssa: str = ""
    mlir: str = ""
    is_output: bool = False


@dataclass
class Program:
    """What a kernel's source has become: MLIR text, and the parameters in order.

    `outputs` are the positions of the parameters that the function returns (eager
    style), or None where the caller says which are outputs.
    """

    name: str
    text: str
    parameters: list[Parameter]
    outputs: list[int] | None = None
    file: str = ""
    line: int = 0
    consts: dict[str, int] = field(default_factory=dict)


class Building(Trace):
    """A trace with the function's parameters, which may be declared as it goes."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.parameters: list[Parameter] = []
        self.consts: ConstNames | None = None
        self.given: dict[str, Any] = {}
        self.dry = False
        self.buffers: dict[int, Parameter] = {}

    def tensor(self, name: str, type: TensorType, is_output: bool = False) -> Buffer:
        """Declares a tensor parameter."""
        for symbol in type.symbols():
            if any(not isinstance(p.type, TensorType) and p.name == symbol for p in self.parameters):
                raise LanguageError(f"{symbol} names an extent and a parameter")
        ssa = self.builder.name(name)
        buffer = Buffer(name, type.shape, type.dtype, "", ssa, type.strides)
        parameter = Parameter(name, type, ssa, buffer.type, is_output)
        self.parameters.append(parameter)
        self.buffers[id(buffer)] = parameter
        for at, extent in enumerate(type.shape):
            if isinstance(extent, Symbol) and not extent.op and extent.name not in self.symbols:
                which = self.constant(at, index)
                text = f"memref.dim {ssa}, {which.ssa} : {buffer.type}"
                self.symbols[extent.name] = self.emit(text, index, None, (0, None), extent.name)
        return buffer

    def scalar(self, name: str, dtype: DType) -> Scalar:
        """Declares a scalar parameter."""
        ssa = self.builder.name(name)
        self.parameters.append(Parameter(name, dtype, ssa, dtype.mlir))
        return Scalar(ssa, dtype)


def declare_parameter(trace: Trace, name: str, annotation: Any) -> Buffer:
    """`A: T.Tensor(...)` as a statement of an eager kernel."""
    if not isinstance(trace, Building) or trace.consts is None:
        raise LanguageError(f"`{name}: ...` declares a parameter of a function under @tile.jit; here it has no meaning")
    if trace.launch is not None:
        raise LanguageError("parameters are declared before `with T.Kernel(...)`")
    if name not in trace.given:
        raise LanguageError(f"{name} is annotated, and is no parameter of the function")
    if not isinstance(annotation, TensorType):
        raise LanguageError(f"{name} is annotated with {annotation!r}; use T.Tensor(shape, dtype)")
    shape = getattr(trace.given[name], "shape", None)
    if shape is not None:
        _match(trace.consts, name, annotation, tuple(int(extent) for extent in shape))
    return trace.tensor(name, annotation)


def _match(consts: ConstNames, name: str, type: TensorType, shape: tuple[int, ...]) -> None:
    """Finds the values of names from an argument's shape."""
    if len(shape) != len(type.shape):
        raise LanguageError(f"{name} has {len(type.shape)} dimensions, and the argument has {len(shape)}")
    for extent, actual in zip(type.shape, shape):
        if isinstance(extent, Symbol) and not extent.op and extent.name in consts.asked:
            known = consts.known.setdefault(extent.name, actual)
            if known != actual:
                raise LanguageError(f"{extent.name} is {known} and, by the shape of {name}, {actual}")


def declare_output(trace: Trace, type: TensorType) -> Buffer:
    """`C = T.empty(...)` in an eager kernel."""
    if not isinstance(trace, Building) or trace.consts is None:
        raise LanguageError("T.empty belongs into a function under @tile.jit; in a prim_func outputs are parameters")
    if trace.launch is not None:
        raise LanguageError("T.empty stands before `with T.Kernel(...)`: it makes an output of the kernel")
    taken = {parameter.name for parameter in trace.parameters}
    name = trace.hint or "out"
    while name in taken:
        name += "_"
    return trace.tensor(name, type, is_output=True)


class PrimFunc:
    """A kernel whose parameters are annotated: the result of `@T.prim_func`."""

    def __init__(self, function: Callable[..., Any], around: Mapping[str, Any]) -> None:
        self.function = function
        self.source = Source.of(function)
        self.around = dict(around)
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def parameters(self) -> list[tuple[str, Any]]:
        """Names and types, in order."""
        names = {**self.around, **closure_names(self.function)}
        result: list[tuple[str, Any]] = []
        for item in self.source.node.args.args:
            annotation = self.function.__annotations__.get(item.arg)
            where = self.source.location(item)
            if annotation is None:
                raise LanguageError(f"the parameter {item.arg} needs a type: T.Tensor(shape, dtype) or T.int32", where)
            if isinstance(annotation, str) and not isinstance(annotation, DType):
                try:
                    annotation = eval(annotation, {"__builtins__": builtins, **names})  # noqa: S307 - the user's own text
                except Exception as error:
                    raise LanguageError(f"the type of {item.arg}: {error}", where) from error
            annotation = _parameter_type(annotation)
            if not isinstance(annotation, (TensorType, DType)):
                raise LanguageError(
                    f"the type of {item.arg} is {annotation!r}; it should be T.Tensor(shape, dtype) or a scalar type "
                    "such as T.int32",
                    where,
                )
            result.append((item.arg, annotation))
        return result

    def trace(self, options: Options | None = None) -> Program:
        """Builds the program."""
        from .interpreter import Frame
        from .statements import run_function

        building = Building(options or Options())
        node = self.source.node
        building.builder.location = self.source.location(node)
        with tracing(building), _host_function(building, self.__name__):
            arguments: dict[str, Any] = {}
            for name, type in self.parameters():
                arguments[name] = (
                    building.tensor(name, type) if isinstance(type, TensorType) else building.scalar(name, type)
                )
            frame = Frame(self.source, None, closure_names(self.function))
            _forget(run_function(building, frame, node, arguments), self.source, node)
        return Program(
            self.__name__,
            building.builder.module(),
            building.parameters,
            None,
            self.source.file,
            self.source.first,
        )

    def script(self) -> str:
        """The program's text."""
        return self.trace().text

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise LanguageError(
            f"{self.__name__} is a kernel, not a function to call: compile it with tile.compile(...), or put "
            "@tile.jit on the function that returns it"
        )


def _parameter_type(annotation: Any) -> Any:
    if annotation in (int, float, bool):
        from .dtypes import dtype

        return dtype(annotation)
    return annotation


def _forget(result: Any, source: Source, node: Any) -> None:
    if result is not None:
        raise LanguageError(
            "a prim_func returns nothing: its outputs are parameters, named by out_idx", source.location(node)
        )


class _host_function:
    """The `func.func` around a program, its head written when the parameters are known."""

    def __init__(self, building: Building, name: str) -> None:
        self.building = building
        self.name = name if name.isidentifier() else "main"

    def __enter__(self) -> Block:
        self.manager = self.building.builder.block("")
        self.block: Block = self.manager.__enter__()
        return self.block

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            self.building.builder.line("return")
            arguments = ", ".join(
                f"{p.ssa}: {p.mlir} {{tile.name = {string(p.name)}}}" for p in self.building.parameters
            )
            self.block.head = f"func.func @{self.name}({arguments})"
        self.manager.__exit__(*error)


def prim_func(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a kernel of a function whose parameters are annotated."""
    unknown = set(options) - {"private", "check_well_formed", "eager_jit"}
    if unknown:
        raise LanguageError(f"T.prim_func has no option {', '.join(sorted(unknown))}")
    around = dict(sys._getframe(1).f_locals)
    if function is None:
        return lambda inner: PrimFunc(inner, around)
    return PrimFunc(function, around)


class EagerFunction:
    """A kernel in eager style: parameters are annotated in its body, extents come
    from `T.const`, outputs from `T.empty`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.source = Source.of(function)
        self.signature = inspect.signature(function)
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        node = self.source.node
        annotated = {
            statement.target.id
            for statement in ast.walk(node)
            if isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.value is None
        }
        self.typed = {
            name: item.annotation
            for name, item in self.signature.parameters.items()
            if isinstance(item.annotation, (TensorType, DType))
            and item.default is inspect.Parameter.empty
            and name not in annotated
        }
        self.tensors = [name for name in self.signature.parameters if name in annotated or name in self.typed]

    def trace(self, arguments: Mapping[str, Any], consts: Mapping[str, int], options: Options | None = None) -> Program:
        """Builds the program for these arguments: tensors by anything with a shape,
        or left out; other values as they are. `consts` are extents that are given."""
        known = dict(consts)
        while True:
            count = len(known)
            names = ConstNames(known)
            try:
                self._build(arguments, names, options or Options(), dry=True)
            except Enough:
                pass
            except LanguageError:
                # The second run will say it, once what can be known is known.
                if len(known) == count:
                    break
            if len(known) == count:
                break
        missing = [name for name in names.asked if name not in known]
        if missing:
            raise LanguageError(
                f"{self.__name__} is compiled for an extent {missing[0]} that is not known: give arguments whose "
                f"shapes have it, or .compile({missing[0]}=...)"
            )
        unused = [name for name in consts if name not in names.asked]
        if unused:
            raise LanguageError(f"{self.__name__} has no parameter and no T.const named {', '.join(unused)}")
        return self._build(arguments, ConstNames(known), options or Options(), dry=False)

    def _build(self, arguments: Mapping[str, Any], consts: ConstNames, options: Options, dry: bool) -> Program:
        from .interpreter import Frame
        from .statements import run_function

        building = Building(options)
        building.consts, building.dry = consts, dry
        building.given = {name: arguments.get(name) for name in self.signature.parameters}
        node = self.source.node
        building.builder.location = self.source.location(node)
        with tracing(building), _host_function(building, self.__name__):
            values: dict[str, Any] = {}
            for name in self.signature.parameters:
                type = self.typed.get(name)
                if isinstance(type, TensorType):
                    values[name] = building.tensor(name, type)
                elif type is not None:
                    values[name] = building.scalar(name, type)
                else:
                    values[name] = arguments.get(name)
            frame = Frame(self.source, None, closure_names(self.function))
            returned = run_function(building, frame, node, values)
            order = {name: at for at, name in enumerate(self.signature.parameters)}
            building.parameters.sort(key=lambda p: (p.is_output, 0 if p.is_output else order[p.name]))
        outputs = self._outputs(building, returned)
        return Program(
            self.__name__,
            building.builder.module(),
            building.parameters,
            outputs,
            self.source.file,
            self.source.first,
            dict(consts.known),
        )

    def _outputs(self, building: Building, returned: Any) -> list[int]:
        values: Sequence[Any] = (
            [] if returned is None else list(returned) if isinstance(returned, (tuple, list)) else [returned]
        )
        outputs = []
        for value in values:
            parameter = building.buffers.get(id(value))
            if parameter is None:
                raise LanguageError(
                    f"{self.__name__} returns something that is not a tensor of T.empty",
                    self.source.location(self.source.node),
                )
            outputs.append(building.parameters.index(parameter))
        for at, parameter in enumerate(building.parameters):
            if parameter.is_output and at not in outputs:
                raise LanguageError(f"the output {parameter.name} of T.empty is not returned by {self.__name__}")
        return outputs


class Enough(BaseException):
    """The extents are known; the rest of a dry run is not needed."""


def is_eager(function: Callable[..., Any]) -> bool:
    """Whether a function under `@tile.jit` is a kernel itself, and not one that
    returns a prim_func: whether it opens T.Kernel, or annotates its parameters, in
    its own body."""
    source = Source.of(function)

    def own(body: Sequence[ast.stmt]) -> bool:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            if isinstance(statement, ast.With):
                for item in statement.items:
                    call = item.context_expr
                    called = call.func if isinstance(call, ast.Call) else None
                    name = getattr(called, "attr", getattr(called, "id", ""))
                    if name in ("Kernel", "ClusterKernel"):
                        return True
            for part in ("body", "orelse"):
                if own(vars(statement).get(part, [])):
                    return True
        return False

    return own(source.node.body if isinstance(source.node, ast.FunctionDef) else [])
