"""The reference in float64, and the module's own state.

The expected result is the task's own module, run in double precision on the same inputs, weights and random draws. A module
that draws in forward would draw other numbers in float64, so hone_draws makes the draws in the dtype of the ordinary run.
"""

import copy

import torch

import hone_draws
import hone_nature
from hone_wire import map_tensors


def widen(tree):
    return map_tensors(tree, lambda t: t.double() if t.is_floating_point() else (t.to(torch.complex128) if t.is_complex() else t))


def wide_model(model):
    wide = copy.deepcopy(model).double()
    for module, name, value in plain_tensors(wide):
        if value.is_floating_point():
            setattr(module, name, value.double())
    return wide


def run_wide(model, inputs, seed_everything):
    """`model` is already wide. Restores the default dtype whatever happens."""
    narrow = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        wide_inputs = widen(inputs)
        seed_everything()
        if hone_draws.TorchFunctionMode is object:
            return model(*wide_inputs)
        with hone_draws.FollowDraws(narrow):
            return model(*wide_inputs)
    finally:
        torch.set_default_dtype(narrow)


def jittered(inputs, size, generator):
    """Wide inputs, each number moved by a relative error of about `size`: which integers in the answer depend on rounding?"""

    def move(tensor):
        if not tensor.is_floating_point():
            return tensor
        own, place = hone_nature.beside(tensor, generator)
        noise = torch.randn(tensor.shape, generator=own, device=place, dtype=torch.float64)
        # Zeros move too, or a row of equal zeros would always be broken the same way.
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
_PLAIN = (type(None), bool, int, float, str)


class Snapshot:
    """The state of a module, restored before every call that is compared."""

    def __init__(self, model):
        self.tensors, self.values = [], []
        for module in model.modules():
            for name, value in vars(module).items():
                if isinstance(value, torch.Tensor):
                    self.tensors.append((module, name, value, value.detach().clone()))
                elif name not in _OWN_NAMES and isinstance(value, _PLAIN):
                    self.values.append((module, name, value))
        self.buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]

    def restore(self):
        with torch.no_grad():
            for module, name, value in self.values:
                setattr(module, name, value)
            for module, name, original, saved in self.tensors:
                # In place, because a captured graph may hold the address.
                original.copy_(saved)
                setattr(module, name, original)
            for buffer, saved in self.buffers:
                buffer.copy_(saved)
