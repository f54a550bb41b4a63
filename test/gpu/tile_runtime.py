"""Artifacts on a GPU from Python: the C ABI of the runtime by ctypes, with torch tensors
or addresses in the device's memory."""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class _Argument(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_uint64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    ]


@dataclass
class ArrayAt:
    """An array in the device's memory: its first element's address, extents and strides."""

    address: int
    shape: Sequence[int]
    strides: Sequence[int]


class Runtime:
    """The library, opened once."""

    def __init__(self, library: Path) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.lib.tile_last_error.restype = ctypes.c_char_p
        self.lib.tile_module_load.restype = ctypes.c_void_p
        self.lib.tile_module_load.argtypes = [
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_int,
        ]
        self.lib.tile_module_code.restype = ctypes.c_char_p
        self.lib.tile_module_code.argtypes = [ctypes.c_void_p]
        self.lib.tile_module_launch.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(_Argument),
            ctypes.c_size_t,
            ctypes.c_void_p,
        ]

    def load(self, artifact: Path, function: str, chip: str | None = None) -> Module:
        handle = self.lib.tile_module_load(
            str(artifact).encode(), function.encode(), chip.encode() if chip else None, 0
        )
        if not handle:
            raise RuntimeError(self.lib.tile_last_error().decode())
        return Module(self, handle)


class Artifacts:
    """A folder of artifacts, and the library that loads them; both from the command line."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.runtime = Runtime(options.library)
        self.folder: Path = options.artifacts

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--library", type=Path, required=True, help="libtile-runtime.so")
        parser.add_argument("--artifacts", type=Path, required=True, help="a folder of .tile files")

    def load(self, file: str, function: str, chip: str) -> Module:
        return self.runtime.load(self.folder / f"{file}.tile", function, chip)


class Module:
    """One function of an artifact. Calling it enqueues its kernels."""

    def __init__(self, runtime: Runtime, handle: int) -> None:
        self.runtime = runtime
        self.handle = handle

    @property
    def code(self) -> str:
        return self.runtime.lib.tile_module_code(self.handle).decode()

    def launch(self, values: Sequence[ArrayAt | int | float], stream: int | None = None) -> None:
        arguments, _keep = self._pack(values)
        self._launch(arguments, stream)

    def _pack(self, values: Sequence[ArrayAt | int | float]) -> Any:
        arguments = (_Argument * len(values))()
        keep: list[object] = []
        for argument, value in zip(arguments, values, strict=True):
            if isinstance(value, ArrayAt):
                rank = len(value.shape)
                shape = (ctypes.c_int64 * max(1, rank))(*value.shape)
                strides = (ctypes.c_int64 * max(1, rank))(*value.strides)
                keep += [shape, strides]
                argument.address = value.address
                argument.shape = shape
                argument.strides = strides
                argument.rank = rank
            elif isinstance(value, int):
                argument.integer = value
            else:
                argument.real = value
        return arguments, keep

    def _launch(self, arguments: Any, stream: int | None) -> None:
        if self.runtime.lib.tile_module_launch(self.handle, arguments, len(arguments), stream):
            raise RuntimeError(self.runtime.lib.tile_last_error().decode())

    def bind(self, *values: torch.Tensor | int | float) -> Any:
        """The call with these arguments, ready to be repeated on torch's stream."""
        import torch

        arguments, keep = self._pack(
            [
                ArrayAt(value.data_ptr(), value.shape, value.stride()) if isinstance(value, torch.Tensor) else value
                for value in values
            ]
        )

        def call() -> None:
            self._launch(arguments, torch.cuda.current_stream().cuda_stream)

        call.keep = [keep, values]  # type: ignore[attr-defined]
        return call

    def __call__(self, *values: torch.Tensor | int | float) -> None:
        self.bind(*values)()
