# HoneGRU, HoneLSTM and HoneRNN are nn.GRU, nn.LSTM and nn.RNN (same parameters, same state_dict) whose forward runs the kernel
# below; whatever it does not cover runs in PyTorch as before, with one warning that says why. Compiled kernels are kept in
# $HONE_KERNEL_CACHE, ~/.cache/hone/kernels or a private temporary folder.
import collections
import ctypes
import hashlib
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
_lock = threading.RLock()
_warned = set()


class _Unsupported(Exception):
    """The kernel cannot do this; the message says why and PyTorch does it instead."""


def _warn_once(reason):
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn("Hone's recurrent kernel is not used: %s" % reason, RuntimeWarning, stacklevel=4)


def _cache_folders():
    if os.environ.get("HONE_KERNEL_CACHE"):
        yield os.environ["HONE_KERNEL_CACHE"]
    else:
        home = os.path.expanduser("~")
        if os.path.isabs(home):
            yield os.path.join(home, ".cache", "hone", "kernels")
    yield None  # a private temporary folder, for when the others cannot be written


class _Hone:
    hone_outputs = None  # a tuple out of "sequence", "last", "h_n", "c_n"; None for all. "last" keeps one step of the sequence.
    hone_cell = False  # stands for an nn.*Cell, which multiplies at the precision of nn.Linear

    def forward(self, input, hx=None):
        try:
            answer = _forward(self, input, hx)
            if answer is not NotImplemented:
                return answer
        except _Unsupported as e:
            _warn_once(str(e))
        except _OutOfMemory:
            _warn_once("its scratch memory does not fit the device")
        return super().forward(input, hx)


class HoneRNN(_Hone, nn.RNN):
    pass


class HoneGRU(_Hone, nn.GRU):
    pass


class HoneLSTM(_Hone, nn.LSTM):
    pass


_ADOPTED = {nn.RNN: HoneRNN, nn.GRU: HoneGRU, nn.LSTM: HoneLSTM}


def adopt(model, outputs=None):
    """Switches the recurrent sub-modules of `model` to the kernel in place. `outputs` maps module names to the outputs in use."""
    for name, module in model.named_modules():
        if type(module) in _ADOPTED:
            module.__class__ = _ADOPTED[type(module)]
        if isinstance(module, _Hone) and outputs and name in outputs:
            module.hone_outputs = tuple(outputs[name])
    return model


def elman(x_seq, h0, w_x, w_h, b_x=None, b_h=None, activation="tanh", head_weight=None, head_bias=None):
    """h[t] = act(x[t] w_x' + b_x + h[t-1] w_h' + b_h) over [steps, batch, features]; returns (h, or h head_weight' + head_bias, at
    every step; the last h). Linear(cat(x, h)) has w_x = W[:, :inputs] and w_h = W[:, inputs:]."""
    try:
        return _elman(x_seq, h0, w_x, w_h, b_x, b_h, activation, head_weight, head_bias)
    except _Unsupported as e:
        _warn_once(str(e))
    except _OutOfMemory:
        _warn_once("its scratch memory does not fit the device")
    act = torch.tanh if activation == "tanh" else torch.relu
    hidden = x_seq.new_zeros(x_seq.size(1), w_h.size(0)) if h0 is None else h0
    outputs = []
    for x in x_seq:
        hidden = act(nn.functional.linear(x, w_x, b_x) + nn.functional.linear(hidden, w_h, b_h))
        outputs.append(hidden if head_weight is None else nn.functional.linear(hidden, head_weight, head_bias))
    return torch.stack(outputs), hidden
