#!/usr/bin/env python3
"""Tests worker/hone_device.py without a GPU: its calls to the driver, their order, and the cleanup if a step fails."""

import ctypes
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from torch_python import need_torch  # noqa: E402

need_torch()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker"))
import torch  # noqa: E402

import hone_device  # noqa: E402


class FakeDriver:
    """Counts live objects. Device memory is a host buffer."""

    def __init__(self, failing=""):
        self.failing, self.calls, self.flags = failing, [], None
        self.alive = set()
        self.memory = (ctypes.c_char * 4096)()

    def __getattr__(self, name):
        def function(*arguments):
            self.calls.append(name)
            if name == self.failing:
                return 1
            if name == "cuMemImportFromShareableHandle":
                arguments[0]._obj.value = 7
            if name == "cuMemAddressReserve":
                arguments[0]._obj.value = ctypes.addressof(self.memory)
            if name == "cuMemSetAccess":
                self.flags = arguments[2]._obj.flags
            if name == "cuGetErrorString":
                arguments[1]._obj.value = b"told to"
            pairs = {"cuMemRelease": "cuMemImportFromShareableHandle", "cuMemAddressFree": "cuMemAddressReserve", "cuMemUnmap": "cuMemMap"}
            if name in pairs:
                assert pairs[name] in self.alive, name
                self.alive.discard(pairs[name])
            elif name in pairs.values():
                self.alive.add(name)
            return 0

        return function


def is_open(descriptor):
    try:
        os.fstat(descriptor)
        return True
    except OSError:
        return False


def new_descriptor():
    return os.memfd_create("fake")


def check_mapping():
    fake, descriptor = FakeDriver(), new_descriptor()
    memory = hone_device.DeviceMemory(descriptor, 4096, writable=False, device=0, library=fake)
    assert fake.flags == 1, fake.flags
    assert not is_open(descriptor)
    assert fake.alive == {"cuMemAddressReserve", "cuMemMap"}, fake.alive
    memory.release()
    memory.release()
    assert not fake.alive
    fake = FakeDriver()
    hone_device.DeviceMemory(new_descriptor(), 4096, device=0, library=fake)
    assert fake.flags == 3, fake.flags


def check_failures():
    for step in ("cuMemImportFromShareableHandle", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"):
        fake, descriptor = FakeDriver(step), new_descriptor()
        try:
            hone_device.DeviceMemory(descriptor, 4096, device=0, library=fake)
        except hone_device.DeviceError as error:
            assert str(error) == "%s: told to (1)" % step, error
        else:
            raise AssertionError(step)
        assert not fake.alive, (step, fake.alive)
        assert not is_open(descriptor), step


def check_bounds():
    memory = hone_device.DeviceMemory(new_descriptor(), 4096, device=0, library=FakeDriver())
    memory._bytes = lambda offset, size: torch.zeros(size, dtype=torch.uint8)
    assert memory.tensor(0, [32, 32], torch.float32).shape == (32, 32)
    assert memory.tensor(4096, [0, 5], torch.float32).numel() == 0
    for offset, shape, stride in ((4, [32, 32], None), (-4, [1], None), (0, [2, 2], [1000, 25]), (0, [1025], None)):
        try:
            memory.tensor(offset, shape, torch.float32, stride)
        except hone_device.DeviceError:
            continue
        raise AssertionError((offset, shape, stride))


def check_shapes():
    flat = torch.arange(64, dtype=torch.uint8)
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.int64, torch.bool, torch.int8):
        size = torch.empty((), dtype=dtype).element_size()
        tensor = hone_device.shaped(flat, [64 // size], dtype, [1])
        assert tensor.dtype == dtype and tensor.data_ptr() == flat.data_ptr() and not tensor._is_view()
        if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex or dtype == torch.bool):
            assert torch.equal(tensor, flat.view(dtype))
    columns = hone_device.shaped(flat, [2, 8], torch.float32, [1, 2])
    assert columns.stride() == (1, 2) and torch.equal(columns.t().contiguous().view(-1), flat.view(torch.float32))
    assert hone_device.shaped(flat[:4], [], torch.float32, []).dim() == 0


check_mapping()
check_failures()
check_bounds()
check_shapes()
print("ok")
