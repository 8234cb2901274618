# Shared by all runtimes in files by Hone: one warning if PyTorch must run instead, the folder of compiled kernels, and a module's packed
# weights. Compiled kernels are kept in $HONE_KERNEL_CACHE, ~/.cache/hone/kernels or a private temporary folder.
import collections
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

_OutOfMemory = getattr(torch.cuda, "OutOfMemoryError", MemoryError)
_PLAIN = (torch.Tensor, nn.Parameter)
_lock = threading.RLock()
_warned = set()


class _Unsupported(Exception):
    """The kernel cannot do this. The message has the reason, and PyTorch runs instead."""


_REFUSALS = (_Unsupported, _OutOfMemory)  # errors after which PyTorch runs


def _warn_once(error):
    """Warns about one of _REFUSALS, once per reason."""
    reason = str(error) if isinstance(error, _Unsupported) else "its scratch memory does not fit the device"
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn("Hone's %s is not used: %s" % (_KERNEL_NAME, reason), RuntimeWarning, stacklevel=4)


def _cache_folders():
    if os.environ.get("HONE_KERNEL_CACHE"):
        yield os.environ["HONE_KERNEL_CACHE"]
    else:
        home = os.path.expanduser("~")
        if os.path.isabs(home):
            yield os.path.join(home, ".cache", "hone", "kernels")
    yield None  # a private temporary folder or None, in case the others cannot be written


def _autocast(device):
    try:
        return torch.is_autocast_enabled(device)
    except TypeError:  # torch before 2.4
        return torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled()


_precision_of = getattr(torch._C, "_get_fp32_precision_getter", None)  # torch 2.9 and later


def _linear_tf32():
    """Whether PyTorch's own products may round to TF32 now."""
    if _precision_of is not None:
        return _precision_of("cuda", "matmul") == "tf32"
    return torch.backends.cuda.matmul.allow_tf32


def _signature(tensors):
    """Addresses and versions. A write through `.data` changes no version and is not noticed."""
    addresses = [t.data_ptr() for t in tensors if t is not None]
    try:
        return addresses, [t._version for t in tensors if t is not None]
    except RuntimeError:  # tensors made in inference mode have none
        return addresses, None


class _Entry:
    """The values made from one set of weights. It keeps the weights alive, so that no other weights get the same address."""

    signature = None

    def __init__(self, weights):
        self.weights = weights


def _entry_of(table, key, tensors, signature, make, prepare):
    """The _Entry of `key` in `table`. If there is none or the weights have changed, calls `prepare(old)` and makes one from the detached weights."""
    entry = table.get(key)
    if entry is None or entry.signature != signature:
        with _lock:
            entry = table.get(key)
            if entry is None or entry.signature != signature:  # no other thread has made it meanwhile
                prepare(entry)
                entry = make([None if t is None else t.detach() for t in tensors])
                entry.signature = signature
                table[key] = entry
    return entry


_entries = weakref.WeakKeyDictionary()  # module -> _Entry; outside the module, so that copies and pickles of it stay plain
