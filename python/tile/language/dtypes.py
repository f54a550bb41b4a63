"""Element types, and the one place that says which type an operation has.

A `DType` is a string (its canonical name), so it compares with names as users
write them and may be handed to whoever wants one; it is callable, to make a
typed constant or a cast: `T.float32(1)`.
"""

from __future__ import annotations

import builtins
from typing import Any, Union

from ..errors import LanguageError

FLOAT, INT, UINT, BOOL = "float", "int", "uint", "bool"


class DType(str):
    """An element type.

    `kind` is float, int, uint or bool; `bits` its width; `mlir` its type in MLIR.
    """

    kind: str
    bits: int
    mlir: str

    def __call__(self, value: Any = 0) -> Any:
        """`value` in this type: a typed constant, or a cast of a device value."""
        from .expr import cast

        return cast(value, self)

    def __repr__(self) -> str:
        return f"T.{str(self)}"

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, str):
            return str.__eq__(self, _ALIASES.get(str(other), str(other)))
        named = str(other).rpartition(".")[2]
        return (
            isinstance(named, str)
            and type(other).__module__ == "torch"
            and str.__eq__(self, _ALIASES.get(named, named))
        )

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory; 4-bit elements count as one."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> builtins.bool:
        return self.kind == FLOAT

    @property
    def is_integer(self) -> builtins.bool:
        return self.kind in (INT, UINT)

    def as_torch(self) -> Any:
        """The dtype of torch."""
        import torch

        from ..arrays import stored

        return getattr(torch, stored(str(self)))

    def as_numpy(self) -> Any:
        """The dtype of NumPy, that of `ml_dtypes` where NumPy has none."""
        from ..arrays import numpy_dtype

        return numpy_dtype(str(self))


def _make(name: str, kind: str, bits: int, mlir: str) -> DType:
    dtype = DType(name)
    dtype.kind, dtype.bits, dtype.mlir = kind, bits, mlir
    return dtype


float64 = _make("float64", FLOAT, 64, "f64")
float32 = _make("float32", FLOAT, 32, "f32")
# float32 as far as memory and arithmetic go; products round its operands to tf32.
tfloat32 = _make("tfloat32", FLOAT, 32, "f32")
float16 = _make("float16", FLOAT, 16, "f16")
bfloat16 = _make("bfloat16", FLOAT, 16, "bf16")
float8_e4m3fn = _make("float8_e4m3fn", FLOAT, 8, "f8E4M3FN")
float8_e5m2 = _make("float8_e5m2", FLOAT, 8, "f8E5M2")
int64 = _make("int64", INT, 64, "i64")
int32 = _make("int32", INT, 32, "i32")
int16 = _make("int16", INT, 16, "i16")
int8 = _make("int8", INT, 8, "i8")
int4 = _make("int4", INT, 4, "i4")
uint64 = _make("uint64", UINT, 64, "i64")
uint32 = _make("uint32", UINT, 32, "i32")
uint16 = _make("uint16", UINT, 16, "i16")
uint8 = _make("uint8", UINT, 8, "i8")
uint4 = _make("uint4", UINT, 4, "i4")
bool = _make("bool", BOOL, 1, "i1")
# What extents, loop variables and block coordinates have. Counts as int32 where
# it meets other types; wide enough for any extent.
index = _make("index", INT, 64, "index")

ALL = (
    float64,
    float32,
    tfloat32,
    float16,
    bfloat16,
    float8_e4m3fn,
    float8_e5m2,
    int64,
    int32,
    int16,
    int8,
    int4,
    uint64,
    uint32,
    uint16,
    uint8,
    uint4,
    bool,
)
_BY_NAME = {str(dtype): dtype for dtype in ALL}
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "uint": "uint32",
    "uchar": "uint8",
    "ushort": "uint16",
    "ulong": "uint64",
    "boolean": "bool",
    "e4m3_float8": "float8_e4m3fn",
    "e5m2_float8": "float8_e5m2",
    "float8_e4m3": "float8_e4m3fn",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "tf32": "tfloat32",
    "bool_": "bool",
}
# The largest finite value of each float type.
LARGEST = {
    "float64": 1.7976931348623157e308,
    "float32": 3.4028234663852886e38,
    "tfloat32": 3.4028234663852886e38,
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
}


def dtype(name: Any) -> DType:
    """The element type that `name` stands for: one of ours, a string, a dtype of
    torch or of NumPy. An unknown one is an error that lists those there are."""
    if isinstance(name, DType):
        return name
    if name is float or name is int or name is builtins.bool:
        return _BY_NAME[_ALIASES.get(name.__name__, name.__name__)]
    text = name if isinstance(name, str) else getattr(name, "name", None)
    if text is None:
        text = name.__name__ if isinstance(name, type) else str(name)
    if isinstance(text, str):
        text = text.rpartition(".")[2]
        found = _BY_NAME.get(_ALIASES.get(text, text))
        if found is not None:
            return found
    raise LanguageError(f"there is no element type {name!r}; there are {', '.join(_BY_NAME)}")


def promote(a: DType, b: DType) -> DType:
    """The type in which two values meet.

    Floats win over integers, wider over narrower; f16 and bf16 meet in f32, and so
    do the two 8-bit floats. Of integers of one width the unsigned one wins, as in
    C. Indices count as int32.
    """
    if a == b:
        return a
    if a.kind == FLOAT or b.kind == FLOAT:
        if a.kind != FLOAT:
            return b
        if b.kind != FLOAT:
            return a
        if a.bits == b.bits:
            return float32
        return a if a.bits > b.bits else b
    if BOOL in (a.kind, b.kind):
        return b if a.kind == BOOL else a
    if index in (a, b):
        other = b if a == index else a
        return other if other.bits == 64 else index
    if a.bits == b.bits:
        return a if a.kind == UINT else b
    return a if a.bits > b.bits else b


Number = Union[int, float, builtins.bool]


def promote_number(a: DType, number: Number) -> DType:
    """The type in which a value of type `a` meets a Python number."""
    if isinstance(number, builtins.bool):
        return a
    if isinstance(number, float):
        return a if a.kind == FLOAT else float32
    return int32 if a.kind == BOOL else a
