# HoneLinear is nn.Linear (same parameters, same state_dict) whose forward multiplies on Hopper's fp16 tensor cores at float32's
# accuracy: two fp16 terms per number, three products. The split weight is kept beside the module, as large as the weight itself, and
# is made anew when the weight changes. What this does not cover, or does not speed up, runs in PyTorch as before.
import ctypes
import hashlib
import math
import os
import shutil
import subprocess
import tempfile
import threading
import warnings
import weakref

import torch
import torch.nn as nn

_lock = threading.RLock()
_warned = set()


class _Unsupported(Exception):
    """The kernel cannot do this; the message says why and PyTorch does it instead."""


def _warn_once(reason):
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn("Hone's split product is not used: %s" % reason, RuntimeWarning, stacklevel=4)


def _cache_folders():
    if os.environ.get("HONE_KERNEL_CACHE"):
        yield os.environ["HONE_KERNEL_CACHE"]
    else:
        home = os.path.expanduser("~")
        if os.path.isabs(home):
            yield os.path.join(home, ".cache", "hone", "kernels")
    yield None  # nothing is kept


@@part_cuda_driver.py@@


_SPLIT_SOURCE = r"""@@split_gemm.cu@@"""

_SOURCES.update(split_gemm=_SPLIT_SOURCE)
_TILE, _DEPTH, _STAGES, _PROMOTE = 128, 32, 7, 4
_PRODUCT_SHARED = _STAGES * 4 * _TILE * _DEPTH * 2
_SCALED_BITS = 15  # a column this many powers of two under the largest weight still has float32's precision

# Measured on an H200. The recipe that wrote this file predicts with the same figures.
_PYTORCH_FLOPS, _PRODUCT_FLOPS, _BYTES, _CALL_SECONDS = 50e12, 600e12, 4.0e12, 12e-6


def _up(value, to):
    return -(-value // to) * to


class _Launch:
    """How rows x units x k is divided among the processors, and what that is expected to take."""

    def __init__(self, rows, units, width, processors):
        self.row_tiles, self.unit_tiles, self.blocks = -(-rows // _TILE), -(-units // _TILE), -(-width // _DEPTH)
        tiles = self.row_tiles * self.unit_tiles
        self.cluster_m, self.cluster_n = (2 if n % 2 == 0 else 1 for n in (self.row_tiles, self.unit_tiles))
        best = None
        for splits in range(1, min(16, max(1, self.blocks // 32)) + 1):
            per_split = -(-self.blocks // splits)
            waves = -(-tiles * splits // processors)
            flops = 6 * _TILE * _TILE * _DEPTH * per_split * waves * processors
            seconds = flops / _PRODUCT_FLOPS + (2 * splits * rows * units * 4 / _BYTES + 4e-6 if splits > 1 else 0)
            if best is None or seconds < best:
                best, self.splits, self.per_split = seconds, -(-self.blocks // per_split), per_split
        self.seconds = _CALL_SECONDS + 16 * rows * width / _BYTES + max(best, 4 * units * width / _BYTES)
        self.pytorch_seconds = max(2 * rows * units * width / _PYTORCH_FLOPS, 4 * units * width / _BYTES)

    def macros(self):
        return dict(CLUSTER_M=self.cluster_m, CLUSTER_N=self.cluster_n, DEPTH=_DEPTH, PROMOTE=_PROMOTE, STAGES=_STAGES)


_KINDS = {int: ctypes.c_int, torch.Tensor: lambda t: ctypes.c_void_p(t.data_ptr()), type(None): lambda _: ctypes.c_void_p(None)}


def _run(device, name, macros, grid, threads, shared, arguments):
    function, driver = _function(device, "split_gemm", macros, name), _driver()
    attributes = (_Attribute * 1)()
    count = 0
    if shared:
        driver("cuFuncSetAttribute", function, _SHARED_BYTES, shared)
        attributes[0].id, attributes[0].x, attributes[0].y, attributes[0].z = _ATTRIBUTE_CLUSTER, macros["CLUSTER_M"], macros["CLUSTER_N"], 1
        count = 1
    values = [_KINDS[type(a)](a) for a in arguments]
    addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    stream = torch.cuda.current_stream(device).cuda_stream
    driver.launch((ctypes.byref(_Config(*grid, threads, 1, 1, shared, stream, attributes, count)), function, addresses, None))


class _Split:
    """Rows of float32 as two terms of fp16, in the order the product reads them."""

    def __init__(self, device, macros, matrix):
        rows, width = matrix.shape
        padded, blocks = _up(rows, _TILE), -(-width // _DEPTH)
        self.terms = torch.empty(2 * padded * blocks * _DEPTH, dtype=torch.float16, device=matrix.device)
        self.unscale = torch.empty(padded, dtype=torch.float32, device=matrix.device)
        _run(device, "split_rows", macros, (padded, 1, 1), 1024, 0, (matrix, self.terms, self.unscale, rows, width, blocks))


def _split_weight(device, macros, weight):
    columns = torch.linalg.vector_norm(weight, math.inf, dim=0)
    largest, smallest = float(columns.max()), float(torch.where(columns > 0, columns, columns.max()).min())
    if not math.isfinite(largest):
        raise _Unsupported("a weight is not finite")
    if smallest < largest * 2.0**-_SCALED_BITS or not 2.0**-80 < largest < 2.0**80:
        raise _Unsupported("the weights of one layer span too many powers of two")
    split = _Split(device, macros, weight)
    torch.cuda.current_stream(device).synchronize()  # other streams will read it
    return split


class _Entry:
    """The split of one weight; it holds the weight's memory, so that its address cannot come to mean another one."""

    def __init__(self, signature, weight, split):
        self.signature, self.weight, self.split, self.launches = signature, weight, split, {}


_entries = weakref.WeakKeyDictionary()  # module -> _Entry or a sentence; outside the module, so that copies and pickles stay plain
_captured = set()  # entries that a captured graph reads, for good


def _signature(weight):
    """Address and version. What writes through `.data` does not change a version and is not seen."""
    try:
        return weight.data_ptr(), weight._version, weight.shape
    except RuntimeError:  # made in inference mode: it has none
        return weight.data_ptr(), None, weight.shape


def _entry_of(module, weight, device, macros):
    signature = _signature(weight)
    entry = _entries.get(module)
    if entry is None or entry.signature != signature:
        if _capturing():
            raise _Unsupported("a CUDA graph is being captured; call the module once before, and again after its weights changed")
        with _lock:
            if entry is not None:
                torch.cuda.synchronize(device)  # what is dropped here may be in use on any stream
            weight = weight.detach()
            try:
                split = _split_weight(device, macros, weight)
            except _Unsupported as e:
                split = str(e)
            except torch.cuda.OutOfMemoryError:
                split = "there is no memory for the split weight"
            entry = _entries[module] = _Entry(signature, weight, split)
    if type(entry.split) is str:
        raise _Unsupported(entry.split)
    return entry


_precision_of = getattr(torch._C, "_get_fp32_precision_getter", None)  # torch 2.9 and later


def _linear_tf32():
    if _precision_of is not None:
        return _precision_of("cuda", "matmul") == "tf32"
    return torch.backends.cuda.matmul.allow_tf32


def _autocast():
    try:
        return torch.is_autocast_enabled("cuda")
    except TypeError:  # torch before 2.4
        return torch.is_autocast_enabled()


_PLAIN = (torch.Tensor, nn.Parameter)
_launches = {}


def _launch_for(device, rows, units, width):
    key = (device, rows, units, width)
    if key not in _launches:
        _launches[key] = _Launch(rows, units, width, torch.cuda.get_device_properties(device).multi_processor_count)
    return _launches[key]


def _split_linear(module, x):
    """x w' + b, or NotImplemented where PyTorch is as good. Raises _Unsupported for what it should do and cannot."""
    weight, bias = module.weight, module.bias
    tensors = (x, weight) if bias is None else (x, weight, bias)
    if any(type(t) not in _PLAIN or t.dtype is not torch.float32 or not t.is_cuda for t in tensors):
        return NotImplemented
    device, (units, width) = x.get_device(), weight.shape
    if x.dim() < 1 or x.size(-1) != width or x.numel() == 0 or any(t.get_device() != device for t in tensors):
        return NotImplemented
    rows = x.numel() // width
    launch = _launch_for(device, rows, units, width)
    if launch.seconds > 0.8 * launch.pytorch_seconds or _linear_tf32() or _autocast():
        return NotImplemented
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise _Unsupported("gradients are needed (run under torch.no_grad() for the kernel)")
    if torch._C._get_tracing_state() is not None:
        raise _Unsupported("the model is being traced")
    if torch.cuda.get_device_capability(device)[0] != 9:
        raise _Unsupported("the kernel is for Hopper (sm_90)")
    if not weight.is_contiguous():
        raise _Unsupported("the weight is not contiguous")
    with torch.no_grad(), torch.cuda.device(device):
        _driver().enter(device)
        return _multiply(module, x.detach().reshape(rows, width).contiguous(), weight, bias, launch, device).view(*x.shape[:-1], units)


def _multiply(module, x, weight, bias, launch, device):
    macros = launch.macros()
    entry = _entry_of(module, weight, device, macros)
    if _capturing():
        _captured.add(entry)
    (rows, width), units = x.shape, weight.size(0)
    bias = None if bias is None else bias.detach().contiguous()
    split = _Split(device, macros, x)
    out = torch.empty(rows, units, dtype=torch.float32, device=x.device)
    sums = out if launch.splits == 1 else torch.empty(launch.splits, rows, units, dtype=torch.float32, device=x.device)
    grid = (launch.row_tiles, launch.unit_tiles, launch.splits)
    _run(device, "split_product", macros, grid, 288, _PRODUCT_SHARED,
         (entry.split.terms, split.terms, entry.split.unscale, split.unscale, bias, sums, rows, units, launch.blocks, launch.per_split))  # fmt: skip
    if launch.splits > 1:
        _run(device, "split_sum", macros, (min(1024, -(-rows * units // 256)), 1, 1), 256, 0, (sums, bias, out, rows, units, launch.splits))
    _run(device, "split_repair", macros, (-(-rows // 256), min(32, -(-units // 8)), 1), 256, 0,
         (x, weight.detach(), split.unscale, bias, out, rows, units, width))  # fmt: skip
    return out


class HoneLinear(nn.Linear):
    def forward(self, input):
        try:
            answer = _split_linear(self, input)
            if answer is not NotImplemented:
                return answer
        except _Unsupported as e:
            _warn_once(str(e))
        return super().forward(input)


def adopt(model, names):
    """Switches these nn.Linear sub-modules of `model` to the kernel in place."""
    for name in names:
        module = model.get_submodule(name)
        if type(module) is nn.Linear:
            module.__class__ = HoneLinear
    return model
