"""Types of parameters: tensors in global memory, and symbols for their extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import LanguageError
from .buffers import Buffer
from .dtypes import DType, float32
from .dtypes import dtype as to_dtype
from .expr import Expr, Symbol, describe, plain, static_int


class TensorType:
    """A tensor as a parameter: shape, element type, and strides unless dense."""

    def __init__(self, shape: Sequence[Any], dtype: Any = float32, strides: Sequence[Any] | None = None) -> None:
        self.shape = tuple(_extent(extent) for extent in shape)
        self.dtype = to_dtype(dtype)
        self.strides = None if strides is None else tuple(_extent(stride) for stride in strides)
        if self.strides is not None and len(self.strides) != len(self.shape):
            raise LanguageError(f"{len(self.shape)} extents and {len(self.strides)} strides")

    def __repr__(self) -> str:
        return f"T.Tensor({self.shape}, {str(self.dtype)!r})"

    def symbols(self) -> set[str]:
        """Names of the symbols in its shape and strides."""
        found: set[str] = set()
        for extent in (*self.shape, *(self.strides or ())):
            if isinstance(extent, Symbol):
                found |= extent.names()
        return found


def _extent(extent: Any) -> Any:
    extent = plain(extent)
    static = static_int(extent)
    if static is not None:
        if static < 0:
            raise LanguageError(f"an extent cannot be negative; this one is {static}")
        return static
    if isinstance(extent, (Symbol, Expr)):
        return extent
    if isinstance(extent, str):
        return Symbol(extent)
    raise LanguageError(f"an extent is an integer or a symbol of T.dynamic, not {describe(extent)}")


def _as_shape(shape: Any) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)


class _Tensor:
    """`T.Tensor(shape, dtype)` and `T.Tensor[shape, dtype]`."""

    def __call__(self, shape: Any, dtype: Any = float32, data: Any = None, **options: Any) -> TensorType | Buffer:
        if options:
            raise LanguageError(f"T.Tensor has no option {next(iter(options))}; it takes shape, dtype and data")
        if data is not None:
            from .memory import view

            if not isinstance(data, Buffer):
                raise LanguageError("the data of T.Tensor(shape, dtype, data) is that of a buffer: buffer.data")
            return view(data, _as_shape(shape), dtype)
        return TensorType(_as_shape(shape), dtype)

    def __getitem__(self, items: Any) -> TensorType:
        shape, dtype = items if isinstance(items, tuple) and len(items) == 2 else (items, float32)
        return TensorType(_as_shape(shape), dtype)


Tensor = _Tensor()


def StridedTensor(shape: Any, strides: Any, dtype: Any = float32) -> TensorType:
    """A tensor whose elements lie `strides` elements apart."""
    return TensorType(_as_shape(shape), dtype, _as_shape(strides))


class SymbolList(tuple):  # type: ignore[type-arg]
    """Several symbols; a single one is given by itself."""


def dynamic(names: str, dtype: Any = "int32") -> Any:
    """Extents known at launch: `M, N = T.dynamic("M, N")`. One compiled kernel serves
    all values."""
    symbols = [
        Symbol(name.strip(), dtype=to_dtype(dtype)) for name in names.replace(" ", ",").split(",") if name.strip()
    ]
    if not symbols:
        raise LanguageError("T.dynamic takes names of extents")
    return symbols[0] if len(symbols) == 1 else tuple(symbols)


symbolic = dynamic


class ConstNames:
    """The extents that an eager kernel is compiled for, while they are found out."""

    def __init__(self, known: dict[str, int]) -> None:
        self.known = known
        self.asked: list[str] = []

    def get(self, name: str) -> Any:
        if name not in self.asked:
            self.asked.append(name)
        return self.known.get(name, Symbol(name))


def const(names: str) -> Any:
    """Extents that an eager kernel is compiled for: `M, N = T.const("M, N")`. They
    are taken from the arguments' shapes, or given to `.compile(M=..., N=...)`."""
    from .trace import current

    consts = getattr(current(), "consts", None)
    if consts is None:
        raise LanguageError(
            "T.const belongs into a function under @tile.jit itself; in a prim_func use T.dynamic or plain numbers"
        )
    values = [consts.get(name.strip()) for name in names.replace(" ", ",").split(",") if name.strip()]
    if not values:
        raise LanguageError("T.const takes names of extents")
    return values[0] if len(values) == 1 else tuple(values)


def empty(*shape: Any, dtype: Any = float32) -> Buffer:
    """An output of an eager kernel, to be returned: `C = T.empty((M, N), "float16")`."""
    from .program import declare_output
    from .trace import current

    if len(shape) > 1 and isinstance(shape[0], (list, tuple)):
        shape, dtype = shape[:1], shape[1]
    if len(shape) > 1 and isinstance(shape[-1], (DType, str)):
        shape, dtype = shape[:-1], shape[-1]
    extents = _as_shape(shape[0]) if len(shape) == 1 else shape
    return declare_output(current(), TensorType(extents, dtype))
