"""Arrays of whichever library the caller uses: their element types, and new ones."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .errors import LaunchError, TileError

# The number that the C ABI gives each element type, and whether it is unsigned.
CODES: dict[str, tuple[int, int]] = {
    "float64": (1, -1),
    "float32": (2, -1),
    "tfloat32": (2, -1),
    "float16": (3, -1),
    "bfloat16": (4, -1),
    "float8_e4m3fn": (5, -1),
    "float8_e5m2": (6, -1),
    "int64": (7, 0),
    "uint64": (7, 1),
    "int32": (8, 0),
    "uint32": (8, 1),
    "int16": (9, 0),
    "uint16": (9, 1),
    "int8": (10, 0),
    "uint8": (10, 1),
    "int4": (11, 0),
    "uint4": (11, 1),
    "bool": (12, -1),
}
# MLIR's names, which do not say whether an integer is signed.
MLIR_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "i4": "int4",
    "i1": "bool",
}
# Types whose elements arrays hold as those of another type.
_STORED = {"int4": "int8", "uint4": "uint8", "tfloat32": "float32"}
_NOT_NUMPY = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
_numpy_types: dict[str, Any] = {}


def stored(name: str) -> str:
    """The type of an array's elements for a parameter of this type: 4-bit integers come
    two in a byte."""
    return _STORED.get(name, name)


def numpy_dtype(name: str) -> Any:
    """NumPy's element type of that name, that of `ml_dtypes` where NumPy has none.
    4-bit integers come two in a byte, as uint8 or int8."""
    found = _numpy_types.get(name)
    if found is None:
        import numpy

        if name in _NOT_NUMPY:
            try:
                import ml_dtypes
            except ImportError:
                raise TileError(f"NumPy has no {name}; install the package ml_dtypes") from None
            found = numpy.dtype(getattr(ml_dtypes, name))
        else:
            found = numpy.dtype(stored(name))
        _numpy_types[name] = found
    return found


def library_of(array: Any) -> str:
    """The name of the library an array belongs to: torch, cupy, jax or numpy."""
    root = type(array).__module__.partition(".")[0]
    return {"jaxlib": "jax"}.get(root, root) if root in ("torch", "cupy", "jax", "jaxlib") else "numpy"


def is_on_device(array: Any) -> bool:
    """Whether an array is in a GPU's memory."""
    if hasattr(array, "is_cuda"):
        return bool(array.is_cuda)
    if hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == 2


def packed(shape: Sequence[int], dtype: str) -> tuple[int, ...]:
    """The shape in which an array holds elements: 4-bit ones come two in a byte."""
    if dtype not in ("int4", "uint4"):
        return tuple(shape)
    if not shape or shape[-1] % 2:
        raise LaunchError(f"a tensor of {dtype} needs a last extent that is even, not {tuple(shape)}")
    return (*shape[:-1], shape[-1] // 2)


def device_of(array: Any) -> int | None:
    """The number of the GPU in whose memory an array is; None in the host's, and 0
    where the array does not say."""
    if not is_on_device(array):
        return None
    if hasattr(array, "get_device"):  # torch
        return int(array.get_device())
    device = getattr(array, "__dlpack_device__", None)
    return int(device()[1]) if device is not None else 0


def empty(shape: Sequence[int], dtype: str, like: Any | None, target: str, gpu: int = 0) -> Any:
    """A new array, of the library and on the device of `like`, or, without one, of
    torch for the GPU of that number and of NumPy otherwise."""
    extents = packed(shape, dtype)
    held = stored(dtype)
    library = library_of(like) if like is not None else ("torch" if target == "cuda" else "numpy")
    if library == "torch":
        import torch

        device = like.device if like is not None else torch.device("cuda", gpu)
        return torch.empty(extents, dtype=getattr(torch, held), device=device)
    if library == "cupy":
        import cupy

        return cupy.empty(extents, dtype=held)
    if target == "cuda":
        raise LaunchError(
            "an output cannot be made on the GPU for these arrays; give it as an argument, without out_idx"
        )
    import numpy

    return numpy.empty(extents, dtype=numpy_dtype(held))


def has_torch() -> bool:
    """Whether torch has been imported."""
    return "torch" in sys.modules
