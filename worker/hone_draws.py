"""Makes a float64 run of a module that names other dtypes use the random numbers of the ordinary run, with double precision throughout.

PyTorch draws other numbers for float64 tensors than for float32 ones. While FollowDraws is entered, every draw is made in the dtype of the
ordinary run and converted. Draws of integers (randint, randperm) do not depend on the dtype. A cast to a narrower type (`.float()`,
`.half()`, dtype=torch.float32) stays in float64: it only sets the precision of PyTorch's own run, and the float64 result must not share that
error.
"""

import torch
import torch.nn.functional as F

from hone_wire import map_tensors

try:
    from torch.overrides import TorchFunctionMode
except ImportError:  # torch before 1.13
    TorchFunctionMode = object

# Created from sizes; the default dtype decides.
_FROM_SIZES = {torch.randn, torch.rand}
# Created from tensors, which are narrowed first. The result has their dtype or is an integer.
_FROM_TENSORS = {torch.randn_like, torch.rand_like, torch.normal, torch.bernoulli, torch.multinomial, torch.poisson, torch.binomial,
                 torch.Tensor.bernoulli, torch.Tensor.multinomial, torch._standard_gamma, torch._sample_dirichlet}
_IN_PLACE = {"normal_", "uniform_", "exponential_", "log_normal_", "cauchy_", "bernoulli_", "geometric_", "random_"}
# (x, p, training): x times a random factor that does not depend on x.
_FACTORS = {
    torch.dropout, F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, torch.feature_dropout,
}
# The random part does not depend on x, but it is not a simple factor either. The narrow run's result is the best available.
_WHOLE = {F.alpha_dropout, F.feature_alpha_dropout, torch.alpha_dropout, torch.feature_alpha_dropout, F.rrelu, torch.rrelu}

_NARROW = {torch.float32, torch.float16, torch.bfloat16}
_CASTS = {torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}
_BITS = {torch.Tensor.view}  # with a dtype it reinterprets the same bits
_RECURRENT = {torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu}


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
        if function in _FROM_SIZES and kwargs.get("dtype") in {None, torch.float64, *_NARROW}:
            if kwargs.get("dtype") in (None, torch.float64):
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
            # 1/(1-p) is rounded in the narrow dtype. The remaining values all have the same mean, so it is computed from p.
            p = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
            kept = (factor != 0).double()
            return x * kept / (1.0 - p) if bool((factor != 1).any()) and p < 1 else x * factor.double()
        if function in _WHOLE and wide:
            return self._widened(function(*self._narrowed(args), **self._narrowed(kwargs)))
        if function is F.scaled_dot_product_attention and wide:
            followed = self._attention(*args, **kwargs)
            if followed is not None:
                return followed
        if function in _RECURRENT and len(args) == 9 and wide and args[5] > 0 and args[6]:
            return self._layers(function, *args)
        if function in _CASTS:
            return args[0].double()
        if function not in _BITS:
            args = tuple(torch.float64 if isinstance(arg, torch.dtype) and arg in _NARROW else arg for arg in args)
            if kwargs.get("dtype") in _NARROW:
                kwargs["dtype"] = torch.float64
        if getattr(function, "__name__", "") in _IN_PLACE and args and _is_wide(args[0]):
            drawn = torch.empty_like(args[0], dtype=self.narrow)
            function(drawn, *self._narrowed(args[1:]), **self._narrowed(kwargs))
            return args[0].copy_(drawn)
        return function(*args, **kwargs)

    def _dropped(self, x, p):
        """Dropout with the draws of the ordinary run."""
        kept = torch.dropout(torch.ones_like(x, dtype=self.narrow), p, True) != 0
        return x * kept.double() / (1.0 - p)

    def _attention(self, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        """Attention with dropout on the matrix of scores, drawn as PyTorch does when it computes that matrix. None without dropout."""
        if not 0.0 < dropout_p < 1.0 or enable_gqa:
            return None
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril(), float("-inf"))
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
        return self._dropped(torch.softmax(scores, -1), dropout_p) @ value

    def _layers(self, function, x, state, weights, has_biases, layers, dropout, train, bidirectional, batch_first):
        """Runs a recurrent module with dropout between its layers, layer by layer."""
        each, sides = len(weights) // layers, 2 if bidirectional else 1
        x = x.transpose(0, 1) if batch_first else x
        states = state if isinstance(state, (list, tuple)) else [state]
        ends = []
        for layer in range(layers):
            part = [one[layer * sides: (layer + 1) * sides] for one in states]
            part = part if isinstance(state, (list, tuple)) else part[0]
            x, *end = function(x, part, weights[layer * each: (layer + 1) * each], has_biases, 1, 0.0, False, bidirectional, False)
            ends.append(end)
            if layer + 1 < layers:
                x = self._dropped(x, dropout)
        x = x.transpose(0, 1) if batch_first else x
        return (x, *(torch.cat(parts) for parts in zip(*ends)))

    def _widened(self, value):
        return map_tensors(value, lambda t: t.double() if t.dtype == self.narrow else t)
