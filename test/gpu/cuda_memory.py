"""Memory of a GPU by the driver's own library, where there is no framework."""

from __future__ import annotations

import ctypes


class Device:
    """The first GPU with its primary context, which the runtime uses too."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        device = ctypes.c_int()
        self.check("cuDeviceGet", ctypes.byref(device), 0)
        text = ctypes.create_string_buffer(256)
        self.check("cuDeviceGetName", text, 255, device)
        self.name = text.value.decode()
        context = ctypes.c_void_p()
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.check("cuCtxSetCurrent", context)

    def check(self, function: str, *arguments: object) -> None:
        code = getattr(self.driver, function)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{function}: {(text.value or b'').decode() or code}")

    def synchronize(self) -> None:
        self.check("cuCtxSynchronize")


class Buffer:
    """Bytes on the device, freed with the object."""

    def __init__(self, device: Device, size: int) -> None:
        self.device, self.size = device, size
        pointer = ctypes.c_uint64()
        # Kernels swap parts of bytes two bytes at a time.
        device.check("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t((size | 1) + 1))
        self.address = pointer.value

    def __del__(self) -> None:
        self.device.driver.cuMemFree_v2(ctypes.c_uint64(self.address))

    def upload(self, data: bytes) -> None:
        if data:
            self.device.check("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address), data, ctypes.c_size_t(len(data)))

    def download(self) -> bytes:
        data = ctypes.create_string_buffer(max(self.size, 1))
        if self.size:
            self.device.check("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        return data.raw[: self.size]
