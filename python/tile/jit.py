"""Compilation: `tile.compile`, `tile.jit`, `tile.par_compile`."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Union

from . import _native, arrays
from .cache import directory as cache_directory
from .env import default_target
from .errors import CompileError, LanguageError, TileError
from .kernel import Kernel, Parameter, Recipe
from .language.dtypes import DType
from .language.program import EagerFunction, PrimFunc, Program, is_eager
from .language.tensor import TensorType
from .passes import Configs, options_of

TARGETS = ("auto", "cpu", "cuda", "emulator")
# Options that go to the compiler as they are.
_OPTIONS = ("device", "seeds", "seed", "checks")
OutIdx = Union[None, int, Sequence[int]]


def _target(target: Any, arguments: Sequence[Any] = ()) -> dict[str, Any]:
    """The target as options of the compiler, with the chip or the device where one is
    named: `cuda:sm_90`, `cuda:1`. A GPU that is not named is that of the arguments."""
    text = str(target)
    aliases = {"llvm": "cpu", "c": "cpu", "gpu": "cuda", "nvidia": "cuda"}
    name, _, which = text.partition(":")
    match = re.search(r"-arch=(sm_\w+)", text)
    if match:
        name, which = text.split()[0], match.group(1)
    name = aliases.get(name, name)
    if name not in TARGETS:
        raise TileError(f"target is one of {', '.join(TARGETS)} (cuda:sm_90 a chip, cuda:1 a device), not {target!r}")
    devices = [arrays.device_of(argument) for argument in arguments if hasattr(argument, "shape")]
    on_device = [device for device in devices if device is not None]
    if name == "auto":
        if on_device:
            name = "cuda"
        else:
            name = default_target() if not arguments or "TILE_TARGET" in os.environ else "cpu"
    options: dict[str, Any] = {"target": name}
    if name == "cuda" and on_device:
        options["device"] = on_device[0]
    if which:
        options.update({"device": int(which)} if which.isdecimal() else {"chip": which})
    return options


def _positions(out_idx: OutIdx, count: int) -> list[int]:
    """out_idx as positions from 0."""
    given = [] if out_idx is None else [out_idx] if isinstance(out_idx, int) else list(out_idx)
    result = []
    for position in given:
        if not -count <= position < count:
            raise TileError(f"out_idx={position} names no parameter: there are {count}")
        result.append(position % count)
    if len(set(result)) != len(result):
        raise TileError("out_idx names a parameter twice")
    return result


def _explain(error: CompileError) -> CompileError:
    """Diagnostics with the user's line under each."""
    import linecache

    lines = str(error).splitlines()
    out = []
    for line, following in zip(lines, [*lines[1:], ""]):
        out.append(line)
        match = re.match(r"(.+?\.py):(\d+):(\d+): (error|note|warning|remark): ", line)
        source = linecache.getline(match.group(1), int(match.group(2))).rstrip("\n") if match else ""
        # The compiler shows the line itself where it can read the file.
        if match and source and following.strip() != source.strip():
            out.append(f"{source}\n{' ' * (int(match.group(3)) - 1)}^")
    return CompileError("\n".join(out))


def _build(recipe: Recipe, parameters: Sequence[Parameter], outputs: Sequence[int]) -> Kernel:
    try:
        return Kernel(recipe.compile(), recipe, parameters, outputs)
    except CompileError as error:
        raise _explain(error) from None


def _options(target: Mapping[str, Any], tunables: Mapping[str, int] | None, extra: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {**target, "cache": cache_directory(), **extra}
    if tunables:
        options["tunables"] = dict(tunables)
    return options


def compile_program(
    program: Program, out_idx: OutIdx, target: Any, arguments: Sequence[Any] = (), **extra: Any
) -> Kernel:
    """Compiles what a kernel's Python source has become."""
    parameters = []
    for item in program.parameters:
        if isinstance(item.type, TensorType):
            parameters.append(Parameter(item.name, str(item.type.dtype), item.type.shape))
        else:
            parameters.append(Parameter(item.name, str(item.type), is_scalar=True))
    outputs = program.outputs if program.outputs is not None else _positions(out_idx, len(parameters))
    options = _options(_target(target, arguments), None, extra)
    recipe = Recipe(program.text, f"<{program.name}>", program.name, options)
    return _build(recipe, parameters, outputs)


def _compile_text(
    text: str,
    name: str,
    function: str,
    out_idx: OutIdx,
    target: Any,
    tunables: Mapping[str, int] | None,
    extra: Mapping[str, Any],
) -> Kernel:
    options = _options(_target(target), tunables, extra)
    try:
        facts = json.loads(_native.session().load(text, name).describe())["functions"]
    except CompileError as error:
        raise _explain(error) from None
    names = [fact["name"] for fact in facts]
    if not function and len(names) != 1:
        raise TileError(f"{name} has {len(names)} entries ({', '.join(names)}); say which with function=")
    if function and function not in names:
        raise TileError(f"{name} has no entry {function}; there are {', '.join(names)}")
    fact = facts[names.index(function) if function else 0]
    if "error" in fact:
        raise CompileError(fact["error"])
    parameters = [
        Parameter(
            item["name"],
            arrays.MLIR_NAMES[item["dtype"]],
            tuple(None if extent < 0 else extent for extent in item["shape"]),
            item["isScalar"],
            item["isWritten"],
            signed=False,
        )
        for item in fact["parameters"]
    ]
    recipe = Recipe(text, name, fact["name"], options)
    return _build(recipe, parameters, _positions(out_idx, len(parameters)))


def compile(
    func: PrimFunc | str | os.PathLike[str] | None = None,
    out_idx: OutIdx = None,
    target: Any = "auto",
    pass_configs: Configs = None,
    compile_flags: None | str | Sequence[str] = None,
    tunables: Mapping[str, int] | None = None,
    function: str = "",
    verbose: bool = False,
    execution_backend: Any = "auto",
    target_host: Any = None,
    **options: Any,
) -> Kernel:
    """Compiles a kernel.

    `func` is a prim_func, MLIR text, or the path of a .mlir file, where `function`
    picks an entry and `tunables` fixes parameters. `out_idx` says which parameters
    are outputs, to be allocated by the call. `target` is auto (a GPU where there is
    one, else the cpu), cpu, cuda, cuda:sm_90, cuda:1 or emulator; `device` is the
    number of a GPU, as in cuda:1; `seeds`, `seed` and `checks` are options of the
    emulator. Mistakes raise LanguageError or
    CompileError with the user's line.
    """
    unknown = set(options) - set(_OPTIONS)
    if unknown:
        raise TileError(f"tile.compile has no option {', '.join(sorted(unknown))}")
    if isinstance(func, PrimFunc):
        program = func.trace(options_of(pass_configs, compile_flags))
        return compile_program(program, out_idx, target, **options)
    if isinstance(func, (str, os.PathLike)):
        text = str(func)
        if "\n" not in text and len(text) < 4096 and Path(text).exists():
            return _compile_text(Path(text).read_text(), text, function, out_idx, target, tunables, options)
        if "\n" not in text and text.endswith(".mlir"):
            raise TileError(f"there is no file {text}")
        return _compile_text(text, "program", function, out_idx, target, tunables, options)
    raise TileError(f"tile.compile takes a prim_func, MLIR text or the path of a file, not {type(func).__name__}")


def par_compile(
    funcs: Iterable[PrimFunc],
    out_idx: OutIdx = None,
    num_workers: int | None = None,
    ignore_error: bool = False,
    **options: Any,
) -> list[Kernel | None]:
    """Compiles several kernels side by side. With `ignore_error` one that fails is None."""

    def one(func: PrimFunc) -> Kernel | None:
        try:
            return compile(func, out_idx=out_idx, **options)
        except TileError:
            if not ignore_error:
                raise
            return None

    with ThreadPoolExecutor(num_workers or os.cpu_count() or 1) as pool:
        return list(pool.map(one, funcs))


def _freeze(value: Any) -> Any:
    """A value as part of a key."""
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((key, _freeze(item)) for key, item in value.items()))
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return (type(value), value)


class JITFunction:
    """A function under `@tile.jit`.

    Where it returns a prim_func, calling it with the function's own arguments gives
    a kernel. In eager style it takes the tensors and runs. Either way what was
    compiled once is kept, by arguments and shapes.
    """

    def __init__(self, function: Callable[..., Any], settings: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.settings = dict(settings)
        self.eager = EagerFunction(function) if is_eager(function) else None
        if self.eager is not None and self.settings.get("out_idx") is not None:
            raise TileError("out_idx has no meaning in eager style: outputs are made by T.empty and returned")
        self.kernels: dict[Any, Kernel] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.eager is None:
            return self.compile(*arguments, **named)
        bound = self.eager.signature.bind(*arguments, **named)
        bound.apply_defaults()
        values = bound.arguments
        key: list[Any] = []
        inputs: list[Any] = []
        for name, value in values.items():
            if name in self.eager.tensors:
                inputs.append(value)
                shape = getattr(value, "shape", None)
                key.append(None if shape is None else tuple(shape))
            else:
                key.append(_freeze(value))
        device = arrays.device_of(inputs[0]) if inputs else None
        frozen = (tuple(key), device)
        kernel = self.kernels.get(frozen)
        if kernel is None:
            kernel = self.kernels[frozen] = self._eager_kernel(values, {}, inputs)
        return kernel(*inputs)

    def _eager_kernel(self, values: Mapping[str, Any], consts: Mapping[str, int], inputs: Sequence[Any]) -> Kernel:
        assert self.eager is not None
        settings = dict(self.settings)
        settings.pop("out_idx", None)
        options = options_of(settings.pop("pass_configs", None), settings.pop("compile_flags", None))
        program = self.eager.trace(values, consts, options)
        return compile_program(program, None, settings.pop("target", "auto"), inputs, **settings)

    def compile(self, *arguments: Any, **named: Any) -> Kernel:
        """The kernel for these arguments. In eager style tensors may be left out where
        the extents of T.const are given by name."""
        key: Any = (tuple(map(_freeze, arguments)), _freeze(named))
        if self.eager is not None:
            values, consts = self._split(arguments, named)
            key = (_freeze([v for n, v in values.items() if n not in self.eager.tensors]), _freeze(consts), "compiled")
            key += tuple(tuple(getattr(values[n], "shape", None) or ()) for n in self.eager.tensors if n in values)
        kernel = self.kernels.get(key)
        if kernel is not None:
            return kernel
        if self.eager is not None:
            given = [values[n] for n in self.eager.tensors if values.get(n) is not None]
            kernel = self._eager_kernel(values, consts, given)
        else:
            func = self.function(*arguments, **named)
            if not isinstance(func, PrimFunc):
                raise TileError(
                    f"{self.__name__} is under @tile.jit and returned {type(func).__name__}; it should return a "  # type: ignore[attr-defined]
                    "T.prim_func, or be a kernel itself with T.Kernel in its body"
                )
            kernel = compile(func, **self.settings)
        self.kernels[key] = kernel
        return kernel

    def _split(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
        """Arguments of the function, and extents of T.const."""
        assert self.eager is not None
        names = list(self.eager.signature.parameters)
        consts = {name: value for name, value in named.items() if name not in names}
        others = [name for name in names if name not in self.eager.tensors]
        # Tensors may be left out as a whole.
        has_tensors = any(hasattr(value, "shape") and hasattr(value, "dtype") for value in arguments)
        given = dict(zip(names if has_tensors or len(arguments) > len(others) else others, arguments))
        given.update({name: value for name, value in named.items() if name in names})
        values: dict[str, Any] = {}
        for name, item in self.eager.signature.parameters.items():
            if name in given:
                values[name] = given[name]
            elif item.default is not item.empty:
                values[name] = item.default
            elif name not in self.eager.tensors:
                raise TypeError(f"{self.__name__}.compile needs {name}")  # type: ignore[attr-defined]
            else:
                values[name] = None
        return values, consts

    def get_kernel_source(self, *arguments: Any, **named: Any) -> str:
        """The code for these arguments."""
        return self.compile(*arguments, **named).get_kernel_source()

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else functools.partial(self.__call__, instance)


def jit(
    func: Callable[..., Any] | None = None,
    *,
    out_idx: OutIdx = None,
    target: Any = "auto",
    target_host: Any = None,
    execution_backend: Any = "auto",
    verbose: bool = False,
    pass_configs: Configs = None,
    compile_flags: None | str | Sequence[str] = None,
    debug_root_path: str | None = None,
    **options: Any,
) -> Any:
    """Compiles a function's kernels when they are needed.

    On a function that returns a T.prim_func, calls give kernels; on a kernel in
    eager style, calls run it. `out_idx`, `target`, `pass_configs` and
    `compile_flags` are those of tile.compile. `target_host` and
    `execution_backend` are TileLang's, and choose nothing here.
    """
    unknown = set(options) - set(_OPTIONS)
    if unknown:
        raise TileError(f"tile.jit has no option {', '.join(sorted(unknown))}")
    settings: dict[str, Any] = {"out_idx": out_idx, "target": target, **options}
    if pass_configs is not None:
        settings["pass_configs"] = pass_configs
    if compile_flags is not None:
        settings["compile_flags"] = compile_flags
    options_of(pass_configs, compile_flags)  # says at once what is wrong
    if func is None:
        return lambda inner: JITFunction(inner, settings)
    if isinstance(func, PrimFunc):
        return compile(func, **settings)
    return JITFunction(func, settings)


lazy_jit = jit

__all__ = ["DType", "JITFunction", "LanguageError", "compile", "jit", "lazy_jit", "par_compile"]
