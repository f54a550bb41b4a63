"""Searching configurations: `tile.autotune` and `AutoTuner`.

Candidates are compiled side by side; those that do not compile, or need more
shared memory than there is, are dropped. The rest are measured one after another
in a process of their own, so that one that crashes or hangs costs its time limit
and nothing else; those that are fastest are compared with the reference, where
there is one. What won is kept on disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import itertools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from . import cache, env
from ._measure import Worker
from .errors import TileError
from .jit import JITFunction, _freeze
from .kernel import Kernel
from .profiler import Profiler, TensorSupplyType, do_bench

Configs = Union[Sequence[Mapping[str, Any]], Mapping[str, Sequence[Any]], Callable[..., Any], None]
_given = threading.local()


@contextlib.contextmanager
def set_autotune_inputs(*inputs: Any) -> Iterator[None]:
    """The inputs with which candidates are measured and checked, inside a `with`."""
    before = getattr(_given, "inputs", None)
    _given.inputs = list(inputs[0]) if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else list(inputs)
    try:
        yield
    finally:
        _given.inputs = before


@dataclass
class Settings:
    """How candidates are measured: warm-up and measurement in milliseconds, the time
    limit of one in seconds, and how results are checked."""

    warmup: float = 25
    rep: float = 100
    timeout: float = 100
    supply_type: TensorSupplyType = TensorSupplyType.Auto
    ref_prog: Callable[..., Any] | None = None
    supply_prog: Callable[..., Any] | None = None
    rtol: float = 1e-2
    atol: float = 1e-2
    max_mismatched_ratio: float = 0.0
    skip_check: bool = False
    manual_check_prog: Callable[..., Any] | None = None
    backend: str = "auto"
    verbose: bool | None = None


@dataclass
class Candidate:
    """One configuration, and what became of it."""

    config: dict[str, Any]
    kernel: Kernel | None = None
    latency: float | None = None
    failure: str = ""


@dataclass
class Result:
    """What a search found. Times are in milliseconds."""

    config: dict[str, Any]
    latency: float
    ref_latency: float | None
    kernel: Kernel
    candidates: list[Candidate] = field(default_factory=list)


def _expand(configs: Configs, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Configurations as a list of dictionaries."""
    if isinstance(configs, Callable):  # type: ignore[arg-type]
        configs = _called(configs, arguments)  # type: ignore[arg-type]
    if isinstance(configs, Mapping):
        names = list(configs)
        return [dict(zip(names, values)) for values in itertools.product(*(configs[name] for name in names))]
    result = [dict(config) for config in configs or []]  # type: ignore[union-attr]
    if not result:
        raise TileError("tile.autotune needs configs: a list of dictionaries, a dictionary of lists, or a function")
    return result


def _called(configs: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """The configurations that a function gives, which takes the kernel's arguments by
    name as far as it has them, or in order."""
    parameters = inspect.signature(configs).parameters
    if any(item.kind is item.VAR_KEYWORD for item in parameters.values()):
        return configs(**arguments)
    try:
        return configs(**{name: arguments[name] for name in parameters if name in arguments})
    except TypeError:
        return configs(*arguments.values())


class Search:
    """One search over configurations of a function."""

    def __init__(
        self, function: JITFunction, arguments: tuple[Any, ...], named: Mapping[str, Any], settings: Settings
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.named = dict(named)
        self.settings = settings

    def run(self, configs: list[dict[str, Any]]) -> Result:
        """Compiles, measures, checks; gives the best. If none is left, an error says
        what became of each."""
        candidates = [Candidate(config) for config in configs]
        self._compile(candidates)
        self._measure(candidates)
        ranked = sorted((c for c in candidates if c.latency is not None), key=lambda c: c.latency or 0.0)
        for best in ranked:
            assert best.kernel is not None and best.latency is not None
            ref_latency = self._check(best)
            if not best.failure:
                return Result(best.config, best.latency, ref_latency, best.kernel, candidates)
        reasons = "\n".join(
            f"  {c.config}: {c.failure.splitlines()[0] if c.failure else 'no result'}" for c in candidates
        )
        raise TileError(f"none of {len(candidates)} configurations of {self.function.__name__} works:\n{reasons}")  # type: ignore[attr-defined]

    def compile(self, config: Mapping[str, Any]) -> Kernel:
        """The kernel of one configuration, which may bring its own pass_configs."""
        config = dict(config)
        function = self.function
        if "pass_configs" in config:
            both = {**(function.settings.get("pass_configs") or {}), **config.pop("pass_configs")}
            function = JITFunction(function.function, {**function.settings, "pass_configs": both})
        return function.compile(*self.arguments, **{**self.named, **config})

    def _compile(self, candidates: list[Candidate]) -> None:
        def one(candidate: Candidate) -> None:
            try:
                candidate.kernel = self.compile(candidate.config)
            except Exception as error:
                candidate.failure = f"does not compile: {error}"
            self._progress(candidates, "compiled")

        workers = int(os.environ.get("TILE_TUNING_THREADS", 0)) or max(1, (os.cpu_count() or 1) * 9 // 10)
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, candidates))

    def _inputs(self, kernel: Kernel) -> list[Any] | None:
        given = getattr(_given, "inputs", None)
        if given is not None:
            return list(given)
        if self.settings.supply_prog is not None:
            made = self.settings.supply_prog(kernel.parameters)
            return list(made) if isinstance(made, (list, tuple)) else [made]
        return None

    def _measure(self, candidates: list[Candidate]) -> None:
        settings = self.settings
        worker = Worker()
        bench = {"warmup": settings.warmup, "rep": settings.rep, "backend": settings.backend}
        try:
            for candidate in candidates:
                kernel = candidate.kernel
                if kernel is None:
                    continue
                request = {
                    "recipe": kernel._recipe,
                    "parameters": kernel.parameters,
                    "outputs": kernel.out_idx,
                    "inputs": self._inputs(kernel),
                    "supply_type": int(settings.supply_type),
                    "bench": bench,
                }
                try:
                    candidate.latency = worker.measure(request, settings.timeout)
                except TileError as error:
                    candidate.failure = str(error)
                self._progress(candidates, "measured")
        finally:
            worker.close()

    def _check(self, candidate: Candidate) -> float | None:
        """Compares with the reference; gives the reference's time."""
        settings, kernel = self.settings, candidate.kernel
        assert kernel is not None
        if settings.ref_prog is None:
            return None
        reference = settings.ref_prog
        profiler = Profiler(kernel, settings.supply_type)
        inputs = self._inputs(kernel) or profiler.inputs()
        if not settings.skip_check:
            try:
                if settings.manual_check_prog is not None:
                    settings.manual_check_prog(kernel(*inputs), reference(*inputs))
                else:
                    profiler.assert_allclose(
                        reference, inputs, settings.atol, settings.rtol, settings.max_mismatched_ratio
                    )
            except AssertionError as error:
                candidate.failure = f"wrong: {error}"
                return None
        return float(do_bench(lambda: reference(*inputs), settings.warmup, settings.rep, target=kernel.target))

    def _progress(self, candidates: list[Candidate], step: str) -> None:
        shown = self.settings.verbose if self.settings.verbose is not None else sys.stderr.isatty()
        if not shown:
            return
        if step == "compiled":
            done = sum(c.kernel is not None or bool(c.failure) for c in candidates)
        else:
            done = sum(c.latency is not None or bool(c.failure) for c in candidates)
        times = [c.latency for c in candidates if c.latency is not None]
        best = f", best {min(times):.4g} ms" if times else ""
        failed = sum(bool(c.failure) for c in candidates)
        end = "\n" if done == len(candidates) else ""
        print(
            f"\rtuning: {step} {done} of {len(candidates)}, {failed} dropped{best}  ",
            end=end,
            file=sys.stderr,
            flush=True,
        )


class TunedFunction:
    """A function under `@tile.autotune`. Calls that leave out what is tuned search
    once for their arguments; calls that give it compile as they are."""

    def __init__(self, function: JITFunction, configs: Configs, settings: Settings) -> None:
        self.function = function
        self.configs = configs
        self.settings = settings
        self.results: dict[Any, Result] = {}
        self.__name__ = function.__name__  # type: ignore[attr-defined]
        self.__doc__ = function.__doc__

    def _bind(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        signature = inspect.signature(self.function.function)
        known = {name: value for name, value in named.items() if name in signature.parameters}
        return dict(signature.bind_partial(*arguments, **known).arguments)

    def compile(self, *arguments: Any, **named: Any) -> Kernel:
        """The best kernel for these arguments."""
        given = self._bind(arguments, named) if self.function.eager is None or arguments else dict(named)
        configs = _expand(self.configs, given)
        tuned = {name for config in configs for name in config if name != "pass_configs"}
        if tuned and tuned <= set(given):
            return self.function.compile(*arguments, **named)
        fixed = [name for name in tuned if name in given]
        if fixed:
            configs = [c for c in configs if all(_freeze(c.get(n, given[n])) == _freeze(given[n]) for n in fixed)]
            if not configs:
                raise TileError(f"no configuration has {', '.join(f'{n}={given[n]}' for n in fixed)}")
        key = (
            _freeze([(n, v) for n, v in given.items() if not hasattr(v, "__array__")]),
            _freeze(_shapes(given)),
            _freeze(configs),
        )
        search = Search(self.function, arguments, named, self.settings)
        found = self.results.get(key)
        if found is None:
            found = self.results[key] = self._stored(search, configs, key)
        kernel = found.kernel
        kernel.config, kernel.latency, kernel.ref_latency = found.config, found.latency, found.ref_latency
        return kernel

    def _stored(self, search: Search, configs: list[dict[str, Any]], key: Any) -> Result:
        """A result of the disk cache, or of a search that goes there."""
        facts = env.report()
        text = json.dumps(
            [
                inspect.getsource(self.function.function),
                repr(key),
                repr(sorted(self.function.settings.items())),
                facts["versions"],
            ]
            + [facts["devices"], facts["cpu"], facts["default_target"]],
            default=repr,
        )
        file = Path(cache.location()) / "autotune" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        if cache.is_enabled() and file.exists():
            try:
                kept = json.loads(file.read_text())
                config = configs[kept["index"]]
                return Result(config, kept["latency"], kept["ref_latency"], search.compile(config))
            except (ValueError, KeyError, IndexError, OSError):
                file.unlink(missing_ok=True)
        result = search.run(configs)
        if cache.is_enabled():
            file.parent.mkdir(parents=True, exist_ok=True)
            kept = {"index": configs.index(result.config), "config": repr(result.config)}
            kept.update(latency=result.latency, ref_latency=result.ref_latency)
            partial = file.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps(kept))
            partial.replace(file)
        return result

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.function.eager is None:
            return self.compile(*arguments, **named)
        given = self._bind(arguments, named)
        tensors = [given[name] for name in self.function.eager.tensors if name in given]
        with set_autotune_inputs(*tensors):
            kernel = self.compile(*arguments, **named)
        return kernel(*tensors)


def _shapes(given: Mapping[str, Any]) -> list[Any]:
    return [(name, tuple(value.shape)) for name, value in given.items() if hasattr(value, "shape")]


def autotune(
    func: Any = None,
    *,
    configs: Configs = None,
    warmup: float = 25,
    rep: float = 100,
    timeout: float = 100,
    supply_type: Any = TensorSupplyType.Auto,
    ref_prog: Callable[..., Any] | None = None,
    supply_prog: Callable[..., Any] | None = None,
    rtol: float = 1e-2,
    atol: float = 1e-2,
    max_mismatched_ratio: float = 0.0,
    skip_check: bool = False,
    manual_check_prog: Callable[..., Any] | None = None,
    cache_input_tensors: bool = False,
    backend: str = "auto",
    verbose: bool | None = None,
    early_stop: bool = False,
    early_stop_factor: float = 2.0,
    do_not_specialize: Any = None,
) -> Any:
    """Searches the best of `configs` for a function under `@tile.jit`, which stands below.

    `configs` is a list of dictionaries of parameters, a dictionary of lists (their
    product), or a function of the arguments that gives either. `warmup` and `rep`
    are milliseconds, `timeout` seconds for each candidate. `ref_prog` computes what
    results must be within `atol + rtol * |reference|` of. The kernel that wins has
    `config`, `latency` and `ref_latency` (ms). `cache_input_tensors` is TileLang's;
    inputs are made once anyway. So are
    `early_stop` and `early_stop_factor`: each candidate is measured to the end.
    """
    if do_not_specialize is not None:
        raise TileError("do_not_specialize has no meaning here: extents that vary are named by T.dynamic")
    settings = Settings(
        warmup, rep, timeout, TensorSupplyType(supply_type), ref_prog, supply_prog, rtol, atol, max_mismatched_ratio
    )
    settings.skip_check, settings.manual_check_prog, settings.backend, settings.verbose = (
        skip_check,
        manual_check_prog,
        backend,
        verbose,
    )

    def wrap(function: Any) -> TunedFunction:
        if not isinstance(function, JITFunction):
            function = JITFunction(function, {"out_idx": None, "target": "auto"})
        return TunedFunction(function, configs, settings)

    return wrap if func is None else wrap(func)


RUN_HINTS = (
    "use_pipeline",
    "enable_grouped_compile",
    "group_compile_size",
    "benchmark_devices",
    "benchmark_multi_gpu",
    "early_stop",
    "early_stop_factor",
)


class AutoTuner:
    """The same search as an object."""

    def __init__(self, function: Any, configs: Configs) -> None:
        self.function = function
        self.configs = configs
        self.compile_args: dict[str, Any] = {"out_idx": None, "target": "auto"}
        self.settings = Settings()

    @classmethod
    def from_kernel(cls, kernel: Callable[..., Any], configs: Configs) -> AutoTuner:
        """A tuner of a function that returns a prim_func."""
        return cls(kernel, configs)

    def set_compile_args(self, **options: Any) -> AutoTuner:
        """Options of tile.jit: out_idx, target, pass_configs, compile_flags."""
        known = {"out_idx", "target", "pass_configs", "compile_flags", "target_host", "execution_backend", "verbose"}
        unknown = set(options) - known
        if unknown:
            raise TileError(f"set_compile_args has no option {', '.join(sorted(unknown))}")
        ignored = ("target_host", "execution_backend", "verbose")
        self.compile_args.update({n: v for n, v in options.items() if n not in ignored})
        return self

    def set_profile_args(self, **options: Any) -> AutoTuner:
        """Options of tile.autotune that say how candidates are measured and checked."""
        for name, value in options.items():
            if name == "cache_input_tensors":
                continue
            if not hasattr(self.settings, name):
                raise TileError(f"set_profile_args has no option {name}")
            setattr(self.settings, name, value)
        return self

    def run(self, warmup: float = 25, rep: float = 100, timeout: float = 100, **hints: Any) -> Result:
        """Searches; gives the best configuration, its time and its kernel. The hints are
        those by which TileLang orders its work; the result does not depend on them."""
        unknown = set(hints) - set(RUN_HINTS)
        if unknown:
            raise TileError(f"AutoTuner.run has no option {', '.join(sorted(unknown))}")
        self.settings.warmup, self.settings.rep, self.settings.timeout = warmup, rep, timeout
        function = (
            self.function if isinstance(self.function, JITFunction) else JITFunction(self.function, self.compile_args)
        )
        return Search(function, (), {}, self.settings).run(_expand(self.configs, {}))
