"""Builds MLIR text: any op of any dialect, with types, regions and locations.

The language of `tile.language` is written with this; use it where you generate
tile programs yourself.

    from tile import ir

    b = ir.Builder()
    with b.function("scale", [("x", ir.memref((None,), "f32"))]) as (x,):
        ...
    print(b.module())
"""

from .builder import Builder, Value
from .types import attribute, memref

__all__ = ["Builder", "Value", "attribute", "memref"]
