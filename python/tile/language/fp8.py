"""Which 8-bit floats the targets have, by TileLang's names."""

from __future__ import annotations

from typing import Any

from ..errors import TileError
from .dtypes import DType, float8_e4m3fn, float8_e5m2

_FORMATS = {"e4m3": float8_e4m3fn, "e5m2": float8_e5m2}


def determine_fp8_type(fp8_format: str = "e4m3") -> DType:
    """The element type of a format, e4m3 or e5m2."""
    if fp8_format not in _FORMATS:
        raise TileError(f"fp8_format is e4m3 or e5m2, not {fp8_format!r}")
    return _FORMATS[fp8_format]


def determine_torch_fp8_type(fp8_format: str = "e4m3") -> Any:
    """The same as a dtype of torch."""
    return determine_fp8_type(fp8_format).as_torch()
