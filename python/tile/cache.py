"""The disk cache of compiled kernels."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_enabled = os.environ.get("TILE_DISABLE_CACHE", "") not in ("1", "true", "yes")
_directory: str | None = None


def location() -> Path:
    """The folder: what `set_location` said, else TILE_CACHE_DIR, else ~/.cache/tile."""
    if _directory is not None:
        return Path(_directory)
    given = os.environ.get("TILE_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tile"


def set_location(path: str | os.PathLike[str]) -> None:
    """Keeps kernels in another folder from now on."""
    global _directory
    _directory = os.fspath(path)


def enable() -> None:
    """Keeps compiled kernels on disk (the default)."""
    global _enabled
    _enabled = True


def disable() -> None:
    """Compiles anew in each process. TILE_DISABLE_CACHE=1 does the same."""
    global _enabled
    _enabled = False


def is_enabled() -> bool:
    """Whether kernels are kept on disk."""
    return _enabled


def directory() -> str | bool:
    """The cache option of a compilation."""
    return str(location()) if _enabled else False


def size() -> int:
    """How many bytes the cache has on disk."""
    return sum(file.stat().st_size for file in location().rglob("*") if file.is_file())


def clear() -> None:
    """Removes everything from the disk cache, tuning results included."""
    shutil.rmtree(location(), ignore_errors=True)


clear_cache = clear
enable_cache, disable_cache, is_cache_enabled = enable, disable, is_enabled
