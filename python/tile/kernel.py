"""A compiled kernel: to call, to look into, to measure."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, arrays
from .errors import LaunchError, TileError

if TYPE_CHECKING:
    from .profiler import Profiler


@dataclass
class Parameter:
    """A parameter. Extents of `shape` are integers, or symbols with `.evaluate`;
    None is an extent that may be anything."""

    name: str
    dtype: str
    shape: tuple[Any, ...] = ()
    is_scalar: bool = False
    is_written: bool = False
    signed: bool = True  # whether dtype tells signed from unsigned integers

    def __str__(self) -> str:
        if self.is_scalar:
            return f"{self.name}: {self.dtype}"
        return f"{self.name}: ({', '.join('?' if e is None else str(e) for e in self.shape)}) {self.dtype}"


@dataclass
class Recipe:
    """What a kernel was made of, to make it again with its stages kept."""

    text: str
    name: str
    function: str
    options: dict[str, Any] = field(default_factory=dict)

    def compile(self, **changes: Any) -> Any:
        """Compiles; a failure raises CompileError with the diagnostics."""
        program = _native.session().load(self.text, self.name)
        return program.compile(self.function, json.dumps({**self.options, **changes}))


class Kernel(_native.Launcher):
    """A compiled kernel. Immutable; any number of threads may call it.

    Calling it runs it: `kernel(a, b, c)`. Arrays are those of NumPy, torch, CuPy or
    JAX, or whatever has DLPack. With outputs (`out_idx`), these are allocated and
    returned, and not passed: `c = kernel(a, b)`. On a GPU the call returns at once,
    and the work follows what is on the current stream of torch or CuPy.

    `device` is the number of its GPU, 0 where it has none.

    `config`, `latency` and `ref_latency` (milliseconds) are set by tile.autotune.
    """

    def __init__(self, native: Any, recipe: Recipe, parameters: Sequence[Parameter], outputs: Sequence[int]) -> None:
        self._native = native
        self._recipe = recipe
        self._facts: dict[str, Any] = json.loads(native.describe())
        self.name: str = self._facts["function"]
        self.target: str = self._facts["target"]
        self.parameters = list(parameters)
        for parameter, fact in zip(self.parameters, self._facts["parameters"]):
            parameter.is_written = fact["isWritten"]
        self.outputs = sorted(set(outputs))
        self._order = list(outputs)
        self._inputs = [i for i in range(len(self.parameters)) if i not in self.outputs]
        self.device = int(recipe.options.get("device", 0))
        super().__init__(native, self._specification(), self.target == "cuda", self.device, bool(self.outputs))
        self._static = all(isinstance(e, int) for i in self.outputs for e in self.parameters[i].shape)
        self._guide = next((k for k, i in enumerate(self._inputs) if not self.parameters[i].is_scalar), None)
        self.config: Any = None
        self.latency: float | None = None
        self.ref_latency: float | None = None
        for i in self.outputs:
            if self.parameters[i].is_scalar:
                raise TileError(f"out_idx names {self.parameters[i].name}, which is a scalar")

    def _specification(self) -> list[tuple[Any, ...]]:
        """The parameters as the launcher wants them, with a number for each symbol."""
        numbers: dict[str, int] = {}
        result = []
        for parameter in self.parameters:
            code, unsigned = arrays.CODES[parameter.dtype]
            symbols = []
            for extent in parameter.shape:
                name = getattr(extent, "name", "")
                symbols.append(numbers.setdefault(name, len(numbers)) if name else -1)
            sign = unsigned if parameter.signed else -1
            result.append((parameter.name, parameter.is_scalar, parameter.is_written, code, sign, symbols))
        return result

    # Running -----------------------------------------------------------

    def _with_outputs(self, arguments: tuple[Any, ...], stream: int | None) -> Any:
        """A call of a kernel that has outputs: allocates and returns them."""
        if len(arguments) != len(self._inputs):
            names = ", ".join(self.parameters[i].name for i in self._inputs)
            raise TypeError(f"{self.name} takes {len(self._inputs)} arguments ({names}), and is given {len(arguments)}")
        like = arguments[self._guide] if self._guide is not None else None
        values = None if self._static else self._symbols(arguments)
        every: list[Any] = [None] * len(self.parameters)
        for i, argument in zip(self._inputs, arguments):
            every[i] = argument
        for i in self.outputs:
            parameter = self.parameters[i]
            shape = parameter.shape if values is None else self._extents(parameter, values, arguments)
            every[i] = arrays.empty(shape, parameter.dtype, like, self.target, self.device)
        self.launch(tuple(every), stream)
        return every[self._order[0]] if len(self._order) == 1 else tuple(every[i] for i in self._order)

    def _symbols(self, arguments: Sequence[Any]) -> dict[str, int]:
        values: dict[str, int] = {}
        for i, argument in zip(self._inputs, arguments):
            for extent, actual in zip(self.parameters[i].shape, getattr(argument, "shape", ())):
                name = getattr(extent, "name", "")
                if name:
                    values[name] = int(actual)
        return values

    def _extents(self, parameter: Parameter, values: dict[str, int], arguments: Sequence[Any] = ()) -> tuple[int, ...]:
        shape = []
        for extent in parameter.shape:
            if extent is None:
                raise LaunchError(
                    f"the output {parameter.name} has an extent that nothing says; pass it as an argument"
                )
            try:
                shape.append(extent if isinstance(extent, int) else extent.evaluate(values))
            except KeyError as missing:
                for i, argument in zip(self._inputs, arguments):
                    if not self.parameters[i].is_scalar and not hasattr(argument, "shape"):
                        raise LaunchError(
                            f"argument '{self.parameters[i].name}': expected an array, got {type(argument).__name__}"
                        ) from None
                raise LaunchError(
                    f"the output {parameter.name} has the extent {missing}, which no argument's shape gives; "
                    "pass it as an argument"
                ) from None
        return tuple(shape)

    def output(self) -> str:
        """What T.print printed since this was asked last."""
        return str(self._native.take_output())

    # Looking inside ----------------------------------------------------

    @property
    def source(self) -> str:
        """The MLIR text that was compiled."""
        return self._recipe.text

    def stages(self) -> list[str]:
        """Names of the stages on the program's way, for `mlir`."""
        return [stage["name"] for stage in json.loads(self._kept().describe())["stages"]]

    def mlir(self, stage: str = "source") -> str:
        """The program at one stage: `source` as written, `mlir` after all passes, or
        the name of a pass. An unknown name is an error that lists them."""
        return self._kept().stage(stage).decode(errors="replace")

    def _kept(self) -> Any:
        kept = self.__dict__.get("_with_stages")
        if kept is None:
            kept = self.__dict__["_with_stages"] = self._recipe.compile(keepStages=True, cache=False)
        return kept

    def _gpu(self, what: str) -> None:
        if self.target == "cpu":
            raise TileError(
                f"a kernel for the cpu has no {what}; compile it with target='cuda', or look at .mlir('asm')"
            )

    def ptx(self) -> str:
        """The GPU's assembly."""
        self._gpu("PTX")
        return self._native.stage("ptx").decode()

    def cubin(self) -> bytes:
        """The GPU's machine code, where ptxas was found."""
        self._gpu("cubin")
        return bytes(self._native.stage("cubin"))

    def sass(self) -> str:
        """The machine code as text, where a disassembler (nvdisasm or cuobjdump) is found."""
        code = self.cubin()
        for tool, options in (("nvdisasm", ["-c"]), ("cuobjdump", ["-sass"])):
            path = shutil.which(tool) or shutil.which(tool, path="/usr/local/cuda/bin")
            if path:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / "kernel.cubin"
                    file.write_bytes(code)
                    return subprocess.run([path, *options, file], capture_output=True, text=True, check=True).stdout
        raise TileError("no disassembler is here: nvdisasm and cuobjdump come with the CUDA toolkit")

    def get_kernel_source(self, kernel_only: bool = True) -> str:
        """The code that runs: PTX for a GPU, LLVM IR for the cpu."""
        return self.mlir("llvm") if self.target == "cpu" else self.ptx()

    def get_host_source(self) -> str:
        """The program after all passes, its host side included."""
        return self.mlir("mlir")

    def show_source(self) -> None:
        """Prints what `get_kernel_source` gives."""
        print(self.get_kernel_source())

    def export_ptx(self, path: str) -> None:
        """Writes the PTX to a file."""
        Path(path).write_text(self.ptx())

    def export_sources(self, kernel_path: str | None = None, host_path: str | None = None) -> None:
        """Writes the kernel's code, and the program after all passes, to files."""
        if kernel_path:
            Path(kernel_path).write_text(self.get_kernel_source())
        if host_path:
            Path(host_path).write_text(self.get_host_source())

    @property
    def resources(self) -> list[dict[str, Any]]:
        """For each kernel of the GPU: registers, shared memory and stack in bytes,
        spills in bytes, and occupancy (0 to 1) where it is known."""
        return list(self._facts["resources"])

    @property
    def times(self) -> dict[str, float]:
        """Seconds that each step of compilation took."""
        return {time["name"]: time["seconds"] for time in self._facts["times"]}

    @property
    def from_cache(self) -> bool:
        """Whether the code came from the disk cache."""
        return bool(self._facts["fromCache"])

    @property
    def diagnostics(self) -> str:
        """Warnings and remarks of the compiler."""
        return str(self._facts["diagnostics"])

    @property
    def out_idx(self) -> list[int]:
        """Positions of the outputs."""
        return list(self._order)

    def get_profiler(self, tensor_supply_type: Any = None) -> Profiler:
        """What measures the kernel and compares it with a reference."""
        from .profiler import Profiler

        return Profiler(self, tensor_supply_type)

    def get_tuner_result(self) -> Any:
        """The configuration and times that tile.autotune found."""
        if self.config is None:
            raise TileError("this kernel was not tuned")
        return {"config": self.config, "latency": self.latency, "ref_latency": self.ref_latency}

    def __repr__(self) -> str:
        return f"<tile kernel {self.name} for {self.target}: {', '.join(map(str, self.parameters))}>"


JITKernel = Kernel
