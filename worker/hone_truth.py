"""The reference in float64, and the module's own state.

The expected result is that of the task's own module in double precision on the same inputs, weights and random draws. A module that
draws in forward would draw other numbers in float64, so hone_draws makes the draws in the dtype of the ordinary run.
"""

import collections
import contextlib
import copy

import torch

import hone_draws
import hone_nature
import hone_ties
from hone_wire import map_tensors


def widen(tree):
    return map_tensors(tree, lambda t: t.double() if t.is_floating_point() else (t.to(torch.complex128) if t.is_complex() else t))


def wide_model(model):
    wide = copy.deepcopy(model).double()
    for module, name, value in plain_tensors(wide):
        if value.is_floating_point():
            setattr(module, name, value.double())
    return wide


def run_wide(model, inputs, seed_everything, earlier=0, break_ties=None):
    """`model` is already in float64. `earlier`: calls on the same inputs before the one whose answer is returned. `break_ties`: see
    hone_ties. Restores the default dtype in any case."""
    narrow = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        seed_everything()
        with contextlib.ExitStack() as modes:
            if hone_draws.TorchFunctionMode is not object:
                modes.enter_context(hone_draws.FollowDraws(narrow))
                if break_ties is not None:
                    modes.enter_context(hone_ties.BreakTies(break_ties))
            for _ in range(earlier):
                model(*map_tensors(widen(inputs), torch.clone))
            return model(*widen(inputs))
    finally:
        torch.set_default_dtype(narrow)


def jittered(inputs, size, generator):
    """Float64 inputs with a relative change of about `size` in each number, which shows the integers in the answer that depend on
    rounding."""

    def move(tensor):
        if not tensor.is_floating_point():
            return tensor
        own, place = hone_nature.beside(tensor, generator)
        noise = torch.randn(tensor.shape, generator=own, device=place, dtype=torch.float64)
        # Zeros change too. Otherwise a row of equal zeros would always be ordered in the same way.
        floor = float(tensor.detach().double().abs().mean()) if tensor.numel() else 0.0
        return tensor.double() + size * noise * (tensor.double().abs() + 0.01 * floor)

    return map_tensors(inputs, move)


def plain_tensors(model):
    """(module, attribute, tensor) for tensors that are neither parameters nor buffers."""
    return [
        (module, name, value)
        for module in model.modules()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor)
    ]


_OWN_NAMES = set(vars(torch.nn.Module())) | {"training"}
_PLAIN = (type(None), bool, int, float, complex, str)


class _Kept:
    """The present value of something that a module may change. Tensors and containers keep their identity, because a captured graph
    may hold their address."""

    def __init__(self, value):
        self.value = value
        if isinstance(value, torch.Tensor):
            self.saved = value.detach().clone()
        elif isinstance(value, torch.Generator):
            self.saved = value.get_state()
        elif isinstance(value, dict):
            self.saved = [(key, _Kept(item)) for key, item in value.items()]
        elif isinstance(value, (list, tuple, set, collections.deque)):
            self.saved = [_Kept(item) for item in value]

    def restored(self):
        value = self.value
        if isinstance(value, torch.Tensor):
            value.copy_(self.saved)
        elif isinstance(value, torch.Generator):
            value.set_state(self.saved)
        elif isinstance(value, dict):
            items = [(key, item.restored()) for key, item in self.saved]
            value.clear()
            value.update(items)
        elif isinstance(value, (list, tuple, set, collections.deque)):
            items = [item.restored() for item in self.saved]
            if not isinstance(value, tuple):
                value.clear()
                value.update(items) if isinstance(value, set) else value.extend(items)
        return value


_STATE = _PLAIN + (torch.Tensor, torch.Generator, dict, list, tuple, set, collections.deque)


class Snapshot:
    """The state of a module, restored before every compared call: buffers, and attributes that are tensors, generators, plain values
    or containers of these. A module may change them in place, replace them, or add some."""

    def __init__(self, model):
        self.attributes, self.buffers, self.names = [], [], []
        for module in model.modules():
            self.names.append((module, set(vars(module))))
            for name, value in vars(module).items():
                if name not in _OWN_NAMES and isinstance(value, _STATE):
                    self.attributes.append((module, name, _Kept(value)))
            for name, buffer in module._buffers.items():
                self.buffers.append((module, name, _Kept(buffer)))

    def restore(self):
        with torch.no_grad():
            for module, names in self.names:
                for name in [name for name, value in vars(module).items() if name not in names and isinstance(value, _STATE)]:
                    delattr(module, name)
            for module, name, kept in self.attributes:
                setattr(module, name, kept.restored())
            for module, name, kept in self.buffers:
                module._buffers[name] = kept.restored()
