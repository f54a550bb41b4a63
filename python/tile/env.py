"""What was found: the library, GPUs, the driver, ptxas, versions."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import sys
from typing import Any

from . import _native


def report() -> dict[str, Any]:
    """What was found, as a dictionary: `versions`, `targets`, `devices`, `driver`,
    `ptxas`, `cpu`, `python`, and which array libraries are installed."""
    from . import cache

    found: dict[str, Any] = json.loads(_native.environment())
    found["python"] = platform.python_version()
    found["libraries"] = {
        name: _version(name)
        for name in ("numpy", "ml_dtypes", "torch", "cupy", "jax")
        if importlib.util.find_spec(name)
    }
    found["cache"] = {"directory": str(cache.location()), "enabled": cache.is_enabled()}
    found["default_target"] = default_target()
    return found


def _version(name: str) -> str:
    module = sys.modules.get(name)
    if module is not None and hasattr(module, "__version__"):
        return str(module.__version__)
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


_default = ""


def default_target() -> str:
    """TILE_TARGET where it is set, else cuda where a GPU is found, else cpu."""
    global _default
    given = os.environ.get("TILE_TARGET")
    if given:
        return given
    if not _default:
        _default = "cuda" if json.loads(_native.environment())["devices"] else "cpu"
    return _default


def show() -> None:
    """Prints the report, a line for each thing found."""
    found = report()
    print(f"tile {found['versions']['tile']}, LLVM {found['versions']['llvm']}, Python {found['python']}")
    cpu = found["cpu"]
    print(f"cpu: {cpu['name']}, {cpu['cores']} cores")
    for device in found["devices"]:
        memory = device["memoryBytes"] / 2**30
        print(f"gpu: {device['name']}, sm_{device['capability']}, {memory:.0f} GiB; driver for CUDA {found['driver']}")
    if not found["devices"]:
        print("gpu: none found; kernels run on the cpu, and GPU code in the emulator (target='emulator')")
    ptxas = found["ptxas"]
    print(f"ptxas: {ptxas['path']}, {ptxas['version']}" if ptxas else "ptxas: none; the driver compiles PTX")
    print("libraries: " + (", ".join(f"{n} {v}" for n, v in found["libraries"].items()) or "none"))
    print(f"cache: {found['cache']['directory']}{'' if found['cache']['enabled'] else ' (disabled)'}")
    print(f"default target: {found['default_target']}")
