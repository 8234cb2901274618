"""Device memory that the parent owns, used by a worker: maps an allocation received as a descriptor and returns
tensors over it without a copy.

The parent allocates with CUDA's virtual memory interface (src/evaluation/device_memory.h). This file imports the
descriptor into the context that torch uses, the device's primary context. A mapping is read-write or read-only; a
kernel that writes through a read-only one faults. The caller of release() must make sure that no tensor over the
mapping is used afterwards.
"""

import ctypes
import os

import torch

_POSIX_DESCRIPTOR, _ON_DEVICE, _READ, _READ_WRITE = 1, 1, 1, 3


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


_ADDRESS, _SIZE, _FLAGS = ctypes.c_ulonglong, ctypes.c_size_t, ctypes.c_ulonglong
_PARAMETERS = {
    "cuMemImportFromShareableHandle": [ctypes.POINTER(_ADDRESS), ctypes.c_void_p, ctypes.c_int],
    "cuMemRelease": [_ADDRESS],
    "cuMemAddressReserve": [ctypes.POINTER(_ADDRESS), _SIZE, _SIZE, _ADDRESS, _FLAGS],
    "cuMemAddressFree": [_ADDRESS, _SIZE],
    "cuMemMap": [_ADDRESS, _SIZE, _SIZE, _ADDRESS, _FLAGS],
    "cuMemUnmap": [_ADDRESS, _SIZE],
    "cuMemSetAccess": [_ADDRESS, _SIZE, ctypes.POINTER(_Access), _SIZE],
    "cuGetErrorString": [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)],
}
_driver = None


def driver():
    """libcuda with typed functions. torch must have created its context in this thread, which DeviceMemory ensures."""
    global _driver
    if _driver is None:
        library = ctypes.CDLL("libcuda.so.1")
        for name, parameters in _PARAMETERS.items():
            function = getattr(library, name)
            function.argtypes, function.restype = parameters, ctypes.c_int
        _driver = library
    return _driver


class DeviceError(RuntimeError):
    pass


class _Bytes:
    """The interface that torch.as_tensor reads. It keeps the mapping alive while a tensor refers to it."""

    def __init__(self, memory, address, size):
        self.memory = memory
        # torch has no read-only tensors; the mapping itself rejects writes.
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 2,
        }


class DeviceMemory:
    """One allocation of the parent. `size` is the size that the parent mapped. The descriptor is closed in any case."""

    def __init__(self, descriptor, size, writable=True, device=None, library=None):
        self.size, self.address = size, 0
        try:
            if library is None:
                torch.cuda.synchronize(device)  # creates the context and makes it current in this thread
                device = torch.cuda.current_device() if device is None else torch.device(device).index or 0
            self._device, self._library = device, library or driver()
            self._map(descriptor, writable)
        finally:
            os.close(descriptor)

    def _call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(text))
            raise DeviceError("%s: %s (%d)" % (name, (text.value or b"CUDA error").decode(), status))

    def _map(self, descriptor, writable):
        allocation, address = _ADDRESS(), _ADDRESS()
        self._call("cuMemImportFromShareableHandle", ctypes.byref(allocation), ctypes.c_void_p(descriptor), _POSIX_DESCRIPTOR)
        try:
            self._call("cuMemAddressReserve", ctypes.byref(address), self.size, 0, 0, 0)
            try:
                self._call("cuMemMap", address, self.size, 0, allocation, 0)
                try:
                    access = _Access(_Location(_ON_DEVICE, self._device or 0), _READ_WRITE if writable else _READ)
                    self._call("cuMemSetAccess", address, self.size, ctypes.byref(access), 1)
                except DeviceError:
                    self._library.cuMemUnmap(address, self.size)
                    raise
            except DeviceError:
                self._library.cuMemAddressFree(address, self.size)
                raise
        finally:
            self._library.cuMemRelease(allocation)  # from here on the mapping keeps the memory alive
        self.address = address.value

    def tensor(self, offset, shape, dtype, stride=None):
        """A tensor over bytes of the mapping, with its own storage. Contiguous unless strides are given."""
        if stride is None:
            stride, step = [], 1
            for extent in reversed(shape):
                stride.insert(0, step)
                step *= max(extent, 1)
        empty = any(extent == 0 for extent in shape)
        last = 0 if empty else 1 + sum((extent - 1) * step for extent, step in zip(shape, stride))
        size = last * torch.empty((), dtype=dtype).element_size()
        if self.address == 0 or offset < 0 or offset + size > self.size:
            raise DeviceError("%d bytes at %d of a mapping of %d" % (size, offset, self.size if self.address else 0))
        return shaped(self._bytes(offset, size), shape, dtype, stride)

    def _bytes(self, offset, size):
        if size == 0:
            return torch.empty(0, dtype=torch.uint8, device="cuda:%d" % (self._device or 0))
        return torch.as_tensor(_Bytes(self, self.address + offset, size), device="cuda:%d" % (self._device or 0))

    def release(self):
        """Unmaps after all work on the device has ended. Tensors over the mapping must not be used afterwards."""
        if self.address == 0:
            return
        if self._library is _driver:
            torch.cuda.synchronize(self._device)
        address, self.address = self.address, 0
        self._call("cuMemUnmap", address, self.size)
        self._call("cuMemAddressFree", address, self.size)


def shaped(flat, shape, dtype, stride):
    """A tensor with another dtype and shape over the storage of `flat`. It is no view, so that a model sees an
    ordinary tensor."""
    return torch.empty(0, dtype=dtype, device=flat.device).set_(flat.untyped_storage(), 0, tuple(shape), tuple(stride))
