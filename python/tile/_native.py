"""The extension, wherever it is: inside the package as pip installs it, or beside
it on the path as the build tree has it."""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any

from .errors import CompileError, LaunchError


def _load() -> Any:
    try:
        return importlib.import_module("._tile", __package__)
    except ImportError as inside:
        try:
            return importlib.import_module("_tile")
        except ImportError as error:
            raise ImportError(
                "the extension tile._tile is missing or does not load: install the package with pip, or put "
                f"build/python on PYTHONPATH ({inside}; {error})"
            ) from None


_tile = _load()
_tile.set_errors(CompileError, LaunchError)
if TYPE_CHECKING:
    from ._tile import Launcher as Launcher
else:
    Launcher = _tile.Launcher
environment = _tile.environment

_local = threading.local()


def session() -> Any:
    """This thread's session. Compilation takes turns within one, so that threads
    compile side by side each has its own."""
    found = getattr(_local, "session", None)
    if found is None:
        found = _local.session = _tile.Session()
    return found
