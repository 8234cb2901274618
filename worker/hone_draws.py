"""Random draws of a float64 run: the same numbers as in the ordinary run, in double precision.

PyTorch draws other numbers for float64 tensors than for float32 ones. While FollowDraws is entered, every draw is made in the dtype of
the ordinary run and converted. Draws of integers (randint, randperm) do not depend on the dtype.
"""

import torch
import torch.nn.functional as F

from hone_wire import map_tensors

try:
    from torch.overrides import TorchFunctionMode
except ImportError:  # torch before 1.13
    TorchFunctionMode = object

# Made from sizes; the default dtype decides.
_FROM_SIZES = {torch.randn, torch.rand}
# Made from tensors, which are narrowed first. The result has their dtype or is an integer.
_FROM_TENSORS = {torch.randn_like, torch.rand_like, torch.normal, torch.bernoulli, torch.multinomial, torch.poisson, torch.binomial,
                 torch.Tensor.bernoulli, torch.Tensor.multinomial}
_IN_PLACE = {"normal_", "uniform_", "exponential_", "log_normal_", "cauchy_", "bernoulli_", "geometric_", "random_"}
# (x, p, training): x times a random factor that does not depend on x.
_FACTORS = {
    torch.dropout, F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, torch.feature_dropout,
}
# The random part does not depend on x, but is not a plain factor either; the narrow run's answer is the best there is.
_WHOLE = {F.alpha_dropout, F.feature_alpha_dropout, torch.alpha_dropout, torch.feature_alpha_dropout, F.rrelu, torch.rrelu}


def _is_wide(value):
    return isinstance(value, torch.Tensor) and value.dtype == torch.float64


class FollowDraws(TorchFunctionMode):
    def __init__(self, narrow):
        super().__init__()
        self.narrow = narrow

    def _narrowed(self, tree):
        return map_tensors(tree, lambda t: t.to(self.narrow) if t.dtype == torch.float64 else t)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if "out" in kwargs:
            return function(*args, **kwargs)
        if function in _FROM_SIZES and kwargs.get("dtype") in (None, torch.float64):
            kwargs["dtype"] = self.narrow
            return function(*args, **kwargs).double()
        wide = any(_is_wide(value) for value in list(args) + list(kwargs.values()))
        if function in _FROM_TENSORS and wide:
            if kwargs.get("dtype") == torch.float64:
                kwargs["dtype"] = self.narrow
            return self._widened(function(*self._narrowed(args), **self._narrowed(kwargs)))
        if function in _FACTORS and wide and not kwargs.get("inplace"):
            x = args[0] if args else kwargs["input"]
            ones = torch.ones_like(x, dtype=self.narrow)
            factor = function(ones, *args[1:], **{key: value for key, value in kwargs.items() if key != "input"})
            # 1/(1-p) in the narrow dtype is rounded; the mean of what is left is the same everywhere, so take it from p.
            p = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
            kept = (factor != 0).double()
            return x * kept / (1.0 - p) if bool((factor != 1).any()) and p < 1 else x * factor.double()
        if function in _WHOLE and wide:
            return self._widened(function(*self._narrowed(args), **self._narrowed(kwargs)))
        if getattr(function, "__name__", "") in _IN_PLACE and args and _is_wide(args[0]):
            drawn = torch.empty_like(args[0], dtype=self.narrow)
            function(drawn, *self._narrowed(args[1:]), **self._narrowed(kwargs))
            return args[0].copy_(drawn)
        return function(*args, **kwargs)

    def _widened(self, value):
        return map_tensors(value, lambda t: t.double() if t.dtype == self.narrow else t)
