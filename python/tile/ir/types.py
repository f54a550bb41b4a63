"""MLIR's spelling of types and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional, Union

Extent = Optional[int]


def memref(
    shape: Sequence[Extent],
    element: str,
    space: str = "",
    strides: Sequence[Extent] | None = None,
    offset: Extent = 0,
) -> str:
    """The type of a buffer.

    An extent, a stride or the offset that is None is dynamic. Without strides the
    buffer is dense, rows last. `space` is an attribute such as `#tile.shared`.
    """
    parts = "".join(("?" if extent is None else str(extent)) + "x" for extent in shape) + element
    if strides is not None:
        inside = ", ".join("?" if stride is None else str(stride) for stride in strides)
        layout = f"strided<[{inside}]"
        if offset != 0:
            layout += f", offset: {'?' if offset is None else offset}"
        parts += f", {layout}>"
    if space:
        parts += f", {space}"
    return f"memref<{parts}>"


class Raw(str):
    """Text that is an attribute already."""


AttributeValue = Union[Raw, bool, int, float, str, Sequence["AttributeValue"], Mapping[str, "AttributeValue"], None]


def string(text: str) -> str:
    """A string literal."""
    out = []
    for byte in text.encode():
        if byte == 0x22 or byte == 0x5C:
            out.append("\\" + chr(byte))
        elif 0x20 <= byte < 0x7F:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


def attribute(value: AttributeValue) -> str:
    """The attribute that a Python value stands for.

    Raw text stays as it is; ints become i64, floats f64, None a unit attribute,
    sequences arrays and mappings dictionaries.
    """
    if isinstance(value, Raw):
        return str(value)
    if value is None:
        return "unit"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{value!r} : f64" if value == value and abs(value) != float("inf") else _special(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {attribute(item)}" for name, item in value.items()) + "}"
    return "[" + ", ".join(attribute(item) for item in value) + "]"


def _special(value: float) -> str:
    if value != value:
        return "0x7FF8000000000000 : f64"
    return ("0x7FF0000000000000" if value > 0 else "0xFFF0000000000000") + " : f64"
