"""FLOPs of one operator call. A multiplication and an addition count as two. Only products count; all other operators are bound by memory
traffic.

PyTorch's own formulas (torch.utils.flop_counter) are used if this torch has them and they are right. The formulas below are for older
versions and for operators that PyTorch does not count: attention on a CPU, causal attention, recurrent layers, products with a vector.
"""

import logging
import sys

import torch


def numel(shape):
    count = 1
    for extent in shape:
        count *= int(extent)
    return count


class _Call:
    """One call of an operator: its arguments by their names in the schema, and its result."""

    def __init__(self, function, args, kwargs, out):
        self.function, self.args, self.kwargs, self.out = function, args, kwargs, out

    def __getitem__(self, name):
        if name in self.kwargs:
            return self.kwargs[name]
        for index, argument in enumerate(self.function._schema.arguments):
            if argument.name == name:
                return self.args[index] if index < len(self.args) else argument.default_value
        raise KeyError(name)


def _product(last):
    """Every element of the result is a sum over the last axis of the argument `last`."""
    return lambda call: 2 * numel(call.out.shape) * int(call[last].shape[-1])


def _convolution(transposed=None):
    """Counts one product per element and tap of its group, for each element of the output (plain convolution) or of the input (transposed
    one). The weight is [out, in / groups, taps] or, transposed, [in, out / groups, taps]. Taps on the padding count."""

    def flops(call):
        x, weight = call.args[0], call.args[1]
        backwards = call["transposed"] if transposed is None else transposed
        places = (x if backwards else call.out).shape[2:]
        return 2 * int(x.shape[0]) * numel(places) * numel(weight.shape)

    return flops


def _attention(call):
    """Scores and their weighted sum of values, for the pairs that count: with is_causal a query attends to the keys up to its own position."""
    query, key, value = call["query"], call["key"], call["value"]
    queries, keys = int(query.shape[-2]), int(key.shape[-2])
    pairs = queries * keys
    if call["is_causal"]:
        below = min(queries, keys)
        pairs = below * (below + 1) // 2 + (queries - below) * keys
    return 2 * numel(query.shape[:-2]) * pairs * (int(query.shape[-1]) + int(value.shape[-1]))


def _native_multi_head_attention(call):
    """nn.MultiheadAttention in eval mode: queries, keys and values of every row, scores, their weighted sum of values, the projection."""
    query, keys = call["query"], int(call["key"].shape[-2])
    weights = numel(call["qkv_weight"].shape) + numel(call["proj_weight"].shape)
    return 2 * numel(query.shape[:-1]) * (weights + 2 * keys * int(query.shape[-1]))


def _cudnn_rnn(call):
    """Every matrix is applied once to each row of each step. The rows of a packed sequence are consecutive."""
    x, packed = call["input"], len(call["batch_sizes"]) > 0
    rows = int(x.shape[0]) if packed else numel(x.shape[:2])
    return 2 * rows * sum(numel(w.shape) for w in call["weight"] if w.dim() == 2)


def _mkldnn_rnn_layer(call):
    return 2 * numel(call["input"].shape[:2]) * (numel(call["weight0"].shape) + numel(call["weight1"].shape))


def _trilinear(call):
    """nn.Bilinear, x' W y: every weight is multiplied once with each row of x, and the result with y."""
    x, weight, y = call["i1"], call["i2"], call["i3"]
    return 2 * int(x.shape[0]) * (numel(weight.shape) + int(weight.shape[0]) * int(y.shape[-1]))


_EXACT = {
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_efficient_attention": _attention,
    "_scaled_dot_product_cudnn_attention": _attention,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "_native_multi_head_attention": _native_multi_head_attention,
    "_cudnn_rnn": _cudnn_rnn,
    "mkldnn_rnn_layer": _mkldnn_rnn_layer,
}

_FALLBACK = {
    "mm": _product("self"),
    "bmm": _product("self"),
    "mv": _product("self"),
    "dot": _product("self"),
    "vdot": _product("self"),
    "addmm": _product("mat1"),
    "_addmm_activation": _product("mat1"),
    "addmv": _product("mat"),
    "baddbmm": _product("batch1"),
    "addbmm": lambda call: 2 * numel(call["batch1"].shape) * int(call["batch2"].shape[-1]),
    "linear": lambda call: 2 * numel(call.out.shape) * int(call.args[1].shape[-1]),
    "mkldnn_linear": lambda call: 2 * numel(call.out.shape) * int(call.args[1].shape[-1]),
    "_trilinear": _trilinear,
    "convolution": _convolution(),
    "_convolution": _convolution(),
    "convolution_overrideable": _convolution(),
    "cudnn_convolution": _convolution(False),
    "cudnn_convolution_transpose": _convolution(True),
    "mkldnn_convolution": _convolution(False),
    "_slow_conv2d_forward": _convolution(False),
    "slow_conv3d_forward": _convolution(False),
    "slow_conv_transpose2d": _convolution(True),
    "slow_conv_transpose3d": _convolution(True),
    "_conv_depthwise2d": _convolution(False),
    "conv_depthwise3d": _convolution(False),
}


def _import_formulas():
    """Returns flop_registry of a separate flop_counter module that does not import Triton: that import takes 0.3 s, and no Triton kernel is
    counted here."""
    name, log = "torch.utils.flop_counter", logging.getLogger("torch.utils.flop_counter")
    known, triton, silent = sys.modules.get(name), sys.modules.get("triton"), log.disabled
    if known is not None:
        return known.flop_registry
    if triton is None:
        sys.modules["triton"], log.disabled = None, True
    try:
        from torch.utils.flop_counter import flop_registry

        return flop_registry
    finally:
        log.disabled = silent
        if triton is None:
            del sys.modules["triton"]
            sys.modules.pop(name, None)


def _registry():
    """PyTorch's formulas, by operator. Empty if there are none, or if they fail on a known count (early ones omitted the additions)."""
    try:
        registry = _import_formulas()
        count = registry[torch.ops.aten.convolution]
        plain = count((1, 4, 5), (6, 2, 3), None, 1, 0, 1, False, 0, 2, out_val=(1, 6, 3))
        transposed = count((1, 4, 5), (4, 3, 3), None, 1, 0, 1, True, 0, 2, out_val=(1, 6, 7))
        return registry if (plain, transposed) == (2 * 6 * 3 * 2 * 3, 2 * 5 * 4 * 3 * 3) else {}
    except Exception:  # another version: another module, another signature
        return {}


_formulas = []
_RECURRENT = ("_cudnn_rnn", "mkldnn_rnn_layer")


def is_cudnns(name):
    """Whether cuDNN computes the operator of this name on a GPU: convolutions and recurrent layers."""
    return "conv" in name or name in _RECURRENT


def flops_of(function, args, kwargs, out, registry=None):
    """FLOPs of one call of a torch.ops overload with the result `out` (a tensor, or a tuple whose first member counts). 0 if it is no
    product."""
    if not _formulas:
        _formulas.append(_registry())
    registry = _formulas[0] if registry is None else registry
    name = function.__name__.split(".")[0]
    first = out[0] if isinstance(out, (tuple, list)) and out else out
    call = _Call(function, args, kwargs, first)
    try:
        if name in _EXACT:
            return _EXACT[name](call)
        packet = getattr(function, "_overloadpacket", None)
        if packet in registry:
            return int(registry[packet](*args, **kwargs, out_val=out))
    except Exception:
        pass  # an operator of another torch version
    try:
        return _FALLBACK[name](call) if name in _FALLBACK else 0
    except (AttributeError, IndexError, KeyError, TypeError):
        return 0  # counted among the operators, without FLOPs
