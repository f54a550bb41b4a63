"""What a kernel's mistakes lead to."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
import tile
import tile.language as T


def refused(kernel: Callable[..., Any], message: str, mark: str = "# here") -> None:
    """The kernel is refused with this message, at the line that is marked."""
    lines, first = inspect.getsourcelines(kernel)
    wanted = next(first + at for at, line in enumerate(lines) if mark in line)
    with pytest.raises(tile.TileError) as caught:
        tile.compile(T.prim_func(kernel), target="cpu")
    text = str(caught.value)
    assert re.search(message, text), text
    assert f"{inspect.getsourcefile(kernel)}:{wanted}:" in text, text
