"""Finds integers in an answer that depend on how equal values are ordered.

A module may order values that its own computation made equal: a softmax whose smaller entries are all zero,
scores under a mask of -1e9. Another right computation orders them differently, and no change of the inputs
shows that. While BreakTies is entered, values are changed by less than rounding just before they are ordered,
so that runs differ where values are equal.
"""

import torch

from hone_draws import TorchFunctionMode

_ULP = 2.0 ** -40  # far below float32's rounding, far above float64's
_ORDERING = {
    getattr(owner, name)
    for owner in (torch, torch.Tensor)
    for name in ("topk", "sort", "argsort", "argmax", "argmin", "kthvalue", "msort")
}
_BY_DIMENSION = {getattr(owner, name) for owner in (torch, torch.Tensor) for name in ("max", "min", "median", "mode")}


class BreakTies(TorchFunctionMode):
    def __init__(self, generator):
        super().__init__()
        self.generator = generator

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in _ORDERING or function in _BY_DIMENSION and len(args) + len(kwargs) > 1:
            values = args[0] if args else kwargs.get("input")
            if isinstance(values, torch.Tensor) and values.dtype == torch.float64:
                moved = self._moved(values)
                if args:
                    args = (moved, *args[1:])
                else:
                    kwargs = {**kwargs, "input": moved}
        return function(*args, **kwargs)

    def _moved(self, values):
        noise = torch.rand(values.shape, generator=self.generator).to(values.device, torch.float64)
        # Zeros change too, by less than the smallest number in the tensor.
        least = torch.finfo(torch.float32).tiny * 2.0 ** -100
        return values + noise * torch.clamp(values.abs() * _ULP, min=least)
