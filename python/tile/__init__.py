"""Tile: kernels for GPUs and CPUs, written as tile programs.

`tile.language` is the kernel language, `tile.jit` and `tile.compile` make kernels
of it or of MLIR text, `tile.autotune` searches configurations, `tile.profiler`
measures, `tile.ir` builds MLIR. See docs/Python.md.
"""

from __future__ import annotations

from typing import Any

from . import cache, env, ir, language, math
from .errors import CompileError, LanguageError, LaunchError, TileError
from .jit import JITFunction, compile, jit, lazy_jit, par_compile
from .kernel import JITKernel, Kernel
from .language.math import ceildiv as cdiv
from .math import next_power_of_2
from .passes import PassConfigKey

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Parts that few programs need are imported when they are asked for."""
    import importlib

    lazy = {
        "autotune": "autotuner",
        "AutoTuner": "autotuner",
        "set_autotune_inputs": "autotuner",
        "Profiler": "profiler",
        "TensorSupplyType": "profiler",
        "do_bench": "profiler",
        "get_tensor_supply": "profiler",
        "Layout": "layout",
        "Fragment": "layout",
        "plot_layout": "plot",
        "plot_pipeline": "plot",
    }
    if name in lazy:
        return getattr(importlib.import_module(f".{lazy[name]}", __name__), name)
    if name in ("autotuner", "profiler", "plot", "torch", "layout", "driver", "testing"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"tile has no {name}")


def enable_cache() -> None:
    """Keeps compiled kernels on disk (the default)."""
    cache.enable()


def disable_cache() -> None:
    """Compiles anew in each process."""
    cache.disable()


__all__ = [
    "CompileError",
    "JITFunction",
    "JITKernel",
    "Kernel",
    "LanguageError",
    "LaunchError",
    "PassConfigKey",
    "TileError",
    "cache",
    "cdiv",
    "compile",
    "disable_cache",
    "enable_cache",
    "env",
    "ir",
    "jit",
    "language",
    "lazy_jit",
    "math",
    "next_power_of_2",
    "par_compile",
]
