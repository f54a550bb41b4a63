"""Measuring kernels, and comparing them with a reference.

Times are in milliseconds, rates in TFLOP/s and GB/s. On a GPU torch provides the
inputs, the events and the graphs; on the cpu and the emulator NumPy and the
clock do, and nothing else is needed.
"""

from __future__ import annotations

import enum
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import arrays
from .errors import TileError

if TYPE_CHECKING:
    from .kernel import Kernel, Parameter

L2_BYTES = 256 << 20  # what is overwritten between two measured calls on a GPU
HOST_BYTES = 64 << 20  # the same for the host's last-level cache
SEED = 0


class TensorSupplyType(enum.IntEnum):
    """How the elements of inputs are made."""

    Integer = 1
    Uniform = 2
    Normal = 3
    Randn = 4
    Zero = 5
    One = 6
    Auto = 7


def supply(parameter: Parameter, target: str, kind: TensorSupplyType, symbols: dict[str, int], seed: int) -> Any:
    """An input for a parameter: an array on the kernel's device, or a number."""
    import numpy

    if parameter.is_scalar:
        raise TileError(f"{parameter.name} is a scalar: give input_tensors, or supply_prog")
    shape = []
    for extent in parameter.shape:
        if extent is None:
            raise TileError(f"{parameter.name} has an extent that nothing says: give input_tensors")
        try:
            shape.append(extent if isinstance(extent, int) else extent.evaluate(symbols))
        except KeyError as missing:
            raise TileError(f"the extent {missing} has no value: give dynamic_symbolic_constraints={{...}}") from None
    extents = arrays.packed(shape, parameter.dtype)
    rng = numpy.random.default_rng([SEED, seed])
    floats = parameter.dtype.startswith(("float", "bfloat", "tfloat"))
    if kind == TensorSupplyType.Auto:
        kind = TensorSupplyType.Normal if floats else TensorSupplyType.Integer
    values: Any
    if kind == TensorSupplyType.Zero:
        values = numpy.zeros(extents)
    elif kind == TensorSupplyType.One:
        values = numpy.ones(extents)
    elif kind == TensorSupplyType.Uniform and floats:
        values = rng.uniform(-1.0, 1.0, extents)
    elif kind in (TensorSupplyType.Normal, TensorSupplyType.Randn) and floats:
        values = rng.standard_normal(extents)
    elif parameter.dtype == "bool":
        values = rng.integers(0, 2, extents)
    elif parameter.dtype in ("int4", "uint4"):
        values = rng.integers(-128 if parameter.dtype == "int4" else 0, 128, extents)
    else:
        values = rng.integers(0 if parameter.dtype.startswith("u") else -4, 5, extents)
    array = values.astype(arrays.numpy_dtype(parameter.dtype))
    return _placed(array, parameter.dtype, target)


def get_tensor_supply(kind: TensorSupplyType = TensorSupplyType.Auto) -> Any:
    """A function that makes an input for a parameter, for `supply_prog`."""
    count = iter(range(1 << 30))
    return lambda parameter: supply(parameter, _device(), TensorSupplyType(kind), {}, next(count))


def _device() -> str:
    from .env import default_target

    return default_target()


def _placed(array: Any, dtype: str, target: str) -> Any:
    """A NumPy array where the kernel wants it, as torch has it if torch is in use."""
    if target != "cuda" and not arrays.has_torch():
        return array
    import torch

    stored = arrays.stored(dtype)
    device = "cuda" if target == "cuda" else "cpu"
    if stored in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return torch.from_numpy(array.astype("float32")).to(device).to(getattr(torch, stored))
    return torch.from_numpy(array).to(device)


def _clone(array: Any) -> Any:
    return array.clone() if hasattr(array, "clone") else array.copy() if hasattr(array, "copy") else array


def as_float64(array: Any) -> Any:
    """Any array as NumPy's float64."""
    import numpy

    if hasattr(array, "detach"):
        tensor = array.detach().cpu()
        array = (tensor.float() if tensor.is_floating_point() and tensor.element_size() < 4 else tensor).numpy()
    elif hasattr(array, "get"):
        array = array.get()
    return numpy.asarray(array).astype(numpy.float64)


def compare(result: Any, reference: Any, rtol: float, atol: float, max_mismatched_ratio: float, what: str) -> None:
    """Raises AssertionError where more elements than allowed are off."""
    import numpy

    found, wanted = as_float64(result), as_float64(reference)
    if found.shape != wanted.shape:
        raise AssertionError(f"{what} has the shape {found.shape}, the reference {wanted.shape}")
    same = (found == wanted) | (numpy.isnan(found) & numpy.isnan(wanted))
    with numpy.errstate(invalid="ignore"):
        off = ~same & ~(numpy.abs(found - wanted) <= atol + rtol * numpy.abs(wanted))
    count = int(off.sum())
    if count > max_mismatched_ratio * max(1, found.size):
        at = tuple(int(i) for i in numpy.argwhere(off)[0])
        raise AssertionError(
            f"{what}: {count} of {found.size} elements are off by more than {atol} + {rtol} * |reference|; "
            f"the first at {at}: {found[at]} instead of {wanted[at]}"
        )


# Timing --------------------------------------------------------------------


@dataclass
class Timing:
    """Times of single calls in milliseconds, in order."""

    times: list[float]

    def summary(self, mode: str = "median", quantiles: Sequence[float] | None = None) -> Any:
        """One number, or those at the given quantiles (0 to 1)."""
        ordered = sorted(self.times)
        if quantiles is not None:
            return [_quantile(ordered, q) for q in quantiles]
        modes: dict[str, Callable[[list[float]], float]] = {
            "mean": statistics.fmean,
            "median": statistics.median,
            "min": min,
            "max": max,
        }
        if mode not in modes:
            raise TileError(f"return_mode is one of {', '.join(modes)}, not {mode!r}")
        return modes[mode](ordered)


def _quantile(ordered: Sequence[float], q: float) -> float:
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    _n_warmup: int = 0,
    _n_repeat: int = 0,
    quantiles: Sequence[float] | None = None,
    fast_flush: bool = True,
    backend: str = "auto",
    return_mode: str = "median",
    target: str = "",
) -> Any:
    """The time of a call in milliseconds.

    It warms up for `warmup` and measures for `rep` milliseconds; `_n_warmup` and
    `_n_repeat` fix the numbers of calls instead. Before each measured call the
    caches are overwritten, unless `fast_flush` is off. `backend` is event (also
    called cupti: the GPU's own clock), cudagraph, or host (the cpu's clock).
    """
    where = target or ("cuda" if _cuda_in_use() else "cpu")
    if backend == "auto":
        backend = "event" if where == "cuda" else "host"
    if backend not in ("event", "cupti", "cudagraph", "host"):
        raise TileError(f"backend is event, cupti, cudagraph or host, not {backend!r}")
    if backend == "host" or where != "cuda":
        times = _host_times(fn, warmup, rep, _n_warmup, _n_repeat, fast_flush)
    else:
        times = _event_times(fn, warmup, rep, _n_warmup, _n_repeat, fast_flush, backend == "cudagraph")
    return Timing(times).summary(return_mode, quantiles)


def _cuda_in_use() -> bool:
    torch = sys.modules.get("torch")
    return bool(torch is not None and torch.cuda.is_available())


def _counts(once: float, warmup: float, rep: float, n_warmup: int, n_repeat: int) -> tuple[int, int]:
    once = max(once, 1e-6)
    return n_warmup or max(1, min(10000, int(warmup / once))), n_repeat or max(3, min(10000, int(rep / once)))


def _host_times(
    fn: Callable[[], Any], warmup: float, rep: float, n_warmup: int, n_repeat: int, flush: bool
) -> list[float]:
    started = time.perf_counter()
    fn()
    before, repeats = _counts(1e3 * (time.perf_counter() - started), warmup, rep, n_warmup, n_repeat)
    for _ in range(before):
        fn()
    scratch = bytearray(HOST_BYTES) if flush and repeats <= 1000 else None
    fresh = bytes(HOST_BYTES) if scratch is not None else b""
    times: list[float] = []
    # Overwriting the caches may take a thousand times as long as the call.
    latest = time.perf_counter() + max(1.0, rep / 100)
    for _ in range(repeats):
        if not n_repeat and len(times) >= 3 and time.perf_counter() > latest:
            break
        if scratch is not None:
            scratch[:] = fresh
        started = time.perf_counter()
        fn()
        times.append(1e3 * (time.perf_counter() - started))
    return times


def _event_times(
    fn: Callable[[], Any], warmup: float, rep: float, n_warmup: int, n_repeat: int, flush: bool, graph: bool
) -> list[float]:
    import torch

    fn()
    torch.cuda.synchronize()
    if graph:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            fn()
        torch.cuda.current_stream().wait_stream(side)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            fn()
        fn = recorded.replay
    scratch = torch.empty(L2_BYTES // 4, dtype=torch.int32, device="cuda") if flush else None
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(5):
        fn()
    end.record()
    torch.cuda.synchronize()
    before, repeats = _counts(begin.elapsed_time(end) / 5, warmup, rep, n_warmup, n_repeat)
    for _ in range(before):
        fn()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for first, last in pairs:
        if scratch is not None:
            scratch.zero_()
        first.record()
        fn()
        last.record()
    torch.cuda.synchronize()
    return [first.elapsed_time(last) for first, last in pairs]


# Rates ---------------------------------------------------------------------

# What chips reach at most: dense TFLOP/s of 16-bit tensor cores, GB/s of memory.
PEAKS = {
    "H200": (989.0, 4800.0),
    "H100": (989.0, 3350.0),
    "H800": (989.0, 3350.0),
    "A100": (312.0, 2039.0),
    "B200": (2250.0, 8000.0),
    "L40S": (362.0, 864.0),
    "4090": (165.0, 1008.0),
}


def tflops(operations: float, milliseconds: float) -> float:
    """Rate of computation in TFLOP/s."""
    return operations / milliseconds * 1e-9


def bandwidth(size: float, milliseconds: float) -> float:
    """Rate of transfer in GB/s, for a size in bytes."""
    return size / milliseconds * 1e-6


@dataclass
class Roofline:
    """Where a kernel stands: `bound` is compute or memory, `limit` the least time in
    milliseconds, `fraction` how much of the limit is reached (0 to 1)."""

    bound: str
    limit: float
    fraction: float


def roofline(
    operations: float,
    size: float,
    milliseconds: float,
    peak_tflops: float | None = None,
    peak_bandwidth: float | None = None,
) -> Roofline:
    """Compares a time with what the chip allows. Peaks are those of the GPU that is
    present, where they are known, unless they are given in TFLOP/s and GB/s."""
    if peak_tflops is None or peak_bandwidth is None:
        from .env import report

        names = [device["name"] for device in report()["devices"]]
        known = next((PEAKS[key] for name in names for key in PEAKS if key in name), None)
        if known is None:
            raise TileError("the peaks of this machine are not known: give peak_tflops and peak_bandwidth")
        peak_tflops, peak_bandwidth = peak_tflops or known[0], peak_bandwidth or known[1]
    compute, memory = operations / peak_tflops * 1e-9, size / peak_bandwidth * 1e-6
    limit = max(compute, memory)
    return Roofline("compute" if compute >= memory else "memory", limit, limit / milliseconds)


class Profiler:
    """Measures a kernel and compares it with a reference."""

    def __init__(self, kernel: Kernel, tensor_supply_type: Any = None) -> None:
        self.kernel = kernel
        self.supply_type = TensorSupplyType(tensor_supply_type or TensorSupplyType.Auto)

    def inputs(self, dynamic_symbolic_constraints: dict[str, int] | None = None) -> list[Any]:
        """Random inputs, the same in every call."""
        symbols = dynamic_symbolic_constraints or {}
        kernel = self.kernel
        return [
            supply(kernel.parameters[i], kernel.target, self.supply_type, symbols, i)
            for i in range(len(kernel.parameters))
            if i not in kernel.outputs
        ]

    @property
    def func(self) -> Kernel:
        """The kernel."""
        return self.kernel

    def __call__(self, *arguments: Any) -> Any:
        return self.kernel(*arguments)

    def run_once(self, func: Callable[..., Any] | None = None) -> Any:
        """One call with random inputs."""
        return (func or self.kernel)(*self.inputs())

    def assert_allclose(
        self,
        reference_program: Callable[..., Any],
        input_tensors: Sequence[Any] | None = None,
        atol: float = 1e-2,
        rtol: float = 1e-2,
        max_mismatched_ratio: float = 0.0,
    ) -> None:
        """Compares the kernel's outputs with those of a function of the same inputs.
        A kernel without outputs is compared by what it wrote into its arguments, in
        order, if the reference returns them. No element may be off unless
        `max_mismatched_ratio` (0 to 1) allows some."""
        given = list(input_tensors) if input_tensors is not None else self.inputs()
        mine, theirs = ([_clone(item) for item in given] for _ in range(2))
        results, references = self.kernel(*mine), reference_program(*theirs)
        if not self.kernel.outputs:
            results = [mine[i] for i, p in enumerate(self.kernel.parameters) if p.is_written]
            if references is None:
                references = [theirs[i] for i, p in enumerate(self.kernel.parameters) if p.is_written]
        found = list(results) if isinstance(results, (tuple, list)) else [results]
        wanted = list(references) if isinstance(references, (tuple, list)) else [references]
        if len(found) != len(wanted):
            raise AssertionError(f"the kernel has {len(found)} results, the reference {len(wanted)}")
        for number, (result, reference) in enumerate(zip(found, wanted)):
            if reference is not None:
                compare(result, reference, rtol, atol, max_mismatched_ratio, f"result {number} of {self.kernel.name}")

    def assert_consistent(self, repeat: int = 10) -> None:
        """Runs the kernel several times and compares the results bit by bit."""
        given = self.inputs()

        def once() -> list[Any]:
            mine = [_clone(item) for item in given]
            results = self.kernel(*mine)
            if not self.kernel.outputs:
                return [as_float64(mine[i]) for i, p in enumerate(self.kernel.parameters) if p.is_written]
            return [as_float64(item) for item in (results if isinstance(results, tuple) else (results,))]

        first = once()
        for _ in range(repeat - 1):
            for a, b in zip(first, once()):
                compare(b, a, 0, 0, 0, f"another run of {self.kernel.name}")

    def do_bench(
        self,
        func: Callable[..., Any] | None = None,
        warmup: float = 25,
        rep: float = 100,
        n_warmup: int = 0,
        n_repeat: int = 0,
        input_tensors: Sequence[Any] | None = None,
        backend: str = "auto",
        quantiles: Sequence[float] | None = None,
        return_mode: str = "median",
        dynamic_symbolic_constraints: dict[str, int] | None = None,
    ) -> Any:
        """The time of a call in milliseconds: of the kernel, or of `func` with the
        kernel's inputs. Parameters as in `do_bench`."""
        given = list(input_tensors) if input_tensors is not None else self.inputs(dynamic_symbolic_constraints)
        called = func or self.kernel
        return do_bench(
            lambda: called(*given),
            warmup,
            rep,
            n_warmup,
            n_repeat,
            quantiles=quantiles,
            backend=backend,
            return_mode=return_mode,
            target=self.kernel.target,
        )
