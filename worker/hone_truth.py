"""The reference in float64, and the module's own state.

The expected result is the task's own module, run in double precision on the same inputs, weights and random draws. A module
that draws in forward would draw other numbers in float64, so draws are made in the dtype of the ordinary run and converted.
"""

import copy

import torch

from hone_wire import map_tensors

try:
    from torch.overrides import TorchFunctionMode
except ImportError:  # torch before 1.13
    TorchFunctionMode = object

_DRAWS = {torch.randn, torch.rand, torch.randn_like, torch.rand_like, torch.normal}
_DRAWS_IN_PLACE = {"normal_", "uniform_", "exponential_", "log_normal_", "cauchy_"}


class _WideDraws(TorchFunctionMode):
    """Draws random numbers as the float32 run does and converts them to float64."""

    def __init__(self, narrow):
        super().__init__()
        self.narrow = narrow

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in _DRAWS and "out" not in kwargs:
            given = kwargs.get("dtype")
            if given in (None, torch.float64):
                if function in (torch.randn_like, torch.rand_like) and args and args[0].dtype != torch.float64:
                    return function(*args, **kwargs)
                if function is torch.normal:
                    return function(*map_tensors(args, lambda t: t.to(self.narrow)), **kwargs).double()
                kwargs["dtype"] = self.narrow
                return function(*args, **kwargs).double()
        name = getattr(function, "__name__", "")
        if name in _DRAWS_IN_PLACE and args and args[0].dtype == torch.float64:
            drawn = torch.empty_like(args[0], dtype=self.narrow)
            function(drawn, *args[1:], **kwargs)
            return args[0].copy_(drawn)
        return function(*args, **kwargs)


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
        if TorchFunctionMode is object:
            return model(*wide_inputs)
        with _WideDraws(narrow):
            return model(*wide_inputs)
    finally:
        torch.set_default_dtype(narrow)


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
