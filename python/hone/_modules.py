"""Modules of torch.nn that a captured graph keeps as modules.

A graph contains only operators and parameters. If one operator is exactly the call of a standard module (a Linear, a GRU, a norm), the task
keeps the module: the text is shorter, and Hone's recipes and stress regimes recognise these modules. All others stay ATen calls.
"""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import nn

_CONVOLUTIONS = {"conv1d": nn.Conv1d, "conv2d": nn.Conv2d, "conv3d": nn.Conv3d}
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_RECURRENT = {"gru": "GRU", "lstm": "LSTM", "rnn_tanh": "RNN_TANH", "rnn_relu": "RNN_RELU"}


def _arguments(**named: Any) -> str:
    return ", ".join("%s=%r" % item for item in named.items())


def _text_of_linear(module: nn.Linear) -> str:
    return "%d, %d, %s" % (module.in_features, module.out_features, _arguments(bias=module.bias is not None))


def _text_of_convolution(module: Any) -> str:
    return "%d, %d, %s" % (module.in_channels, module.out_channels, _arguments(
        kernel_size=module.kernel_size, stride=module.stride, padding=module.padding, dilation=module.dilation, groups=module.groups,
        bias=module.bias is not None))


def _text_of_batch_norm(module: Any) -> str:
    return "%d, %s" % (module.num_features, _arguments(eps=module.eps, momentum=module.momentum, affine=module.affine))


def _text_of_layer_norm(module: nn.LayerNorm) -> str:
    extra = {} if getattr(module, "bias", None) is not None or not module.elementwise_affine else {"bias": False}
    return "%r, %s" % (tuple(module.normalized_shape), _arguments(eps=module.eps, elementwise_affine=module.elementwise_affine, **extra))


def _text_of_group_norm(module: nn.GroupNorm) -> str:
    return "%d, %d, %s" % (module.num_groups, module.num_channels, _arguments(eps=module.eps, affine=module.affine))


def _text_of_embedding(module: nn.Embedding) -> str:
    return "%d, %d, %s" % (module.num_embeddings, module.embedding_dim, _arguments(padding_idx=module.padding_idx))


def _text_of_recurrent(module: Any) -> str:
    extra = {"nonlinearity": module.nonlinearity} if isinstance(module, nn.RNN) else {}
    if module.proj_size:
        extra["proj_size"] = module.proj_size
    return "%d, %d, %s" % (module.input_size, module.hidden_size, _arguments(
        num_layers=module.num_layers, bias=module.bias, batch_first=module.batch_first, dropout=module.dropout,
        bidirectional=module.bidirectional, **extra))


_CONSTRUCTORS: "dict[type, Callable[[Any], str]]" = {
    nn.Linear: _text_of_linear, nn.LayerNorm: _text_of_layer_norm, nn.GroupNorm: _text_of_group_norm, nn.Embedding: _text_of_embedding,
    nn.GRU: _text_of_recurrent, nn.LSTM: _text_of_recurrent, nn.RNN: _text_of_recurrent,
    **{kind: _text_of_convolution for kind in _CONVOLUTIONS.values()}, **{kind: _text_of_batch_norm for kind in _NORMS},
}


def is_standard(module: nn.Module) -> bool:
    """Whether the module is one that a task keeps as a module."""
    return type(module) in _CONSTRUCTORS


def constructor(module: nn.Module, used: "set[str]") -> str:
    """The expression that builds such a module, or nothing. `used`: the names of its own tensors that the graph reads."""
    write = _CONSTRUCTORS.get(type(module))
    if write is None or "forward" in vars(module) or list(module.children()):
        return ""
    own = {**{name: value for name, value in module._parameters.items() if value is not None},
           **{name: value for name, value in module._buffers.items() if value is not None and name != "num_batches_tracked"}}
    kinds = {value.dtype for name, value in own.items()}
    if not own or set(own) != used or len(kinds) != 1:
        return ""
    if getattr(module, "padding_mode", "zeros") != "zeros" or isinstance(getattr(module, "padding", 0), str):
        return ""
    if isinstance(module, _NORMS) and not (module.track_running_stats and module.affine):
        return ""
    if isinstance(module, nn.Embedding) and (module.max_norm is not None or module.scale_grad_by_freq or module.sparse):
        return ""
    dtype = kinds.pop()
    return "nn.%s(%s%s)" % (type(module).__name__, write(module), "" if dtype == torch.float32 else ", dtype=%r" % dtype)


class Call:
    """One operator as the call of a module: its path, the arguments that are nodes, and the nodes that the call makes superfluous."""

    def __init__(self, path: str, text: str, arguments: "list[Any]", skips: "tuple[Any, ...]" = ()) -> None:
        self.path, self.text, self.arguments, self.skips = path, text, arguments, skips


def arguments_by_name(node: Any) -> "dict[str, Any]":
    """The operator's arguments by name, with the defaults filled in."""
    values = {}
    for index, argument in enumerate(node.target._schema.arguments):
        if index < len(node.args):
            values[argument.name] = node.args[index]
        elif argument.name in node.kwargs:
            values[argument.name] = node.kwargs[argument.name]
        else:
            values[argument.name] = argument.default_value if argument.has_default_value() else None
    return values


def call_of(node: Any, module_of: "Callable[[str], nn.Module | None]", owner_of: "Callable[[Any], tuple[str, str] | None]") -> "Call | None":
    """The module whose call this operator is. `owner_of` returns (path of the module, name in it) for a parameter's node; `module_of`
    returns the kept module at a path."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.name.startswith("aten::"):
        return None
    name, values = schema.name[len("aten::"):], arguments_by_name(node)
    if name in _RECURRENT and schema.overload_name == "input":
        return _recurrent(name, values, module_of, owner_of)
    if schema.overload_name not in ("", "default"):
        return None
    owner = owner_of(values.get("weight"))
    module = module_of(owner[0]) if owner is not None and owner[1] == "weight" else None
    if module is None or owner is None:
        return None

    def has(**parts: Any) -> bool:
        """Whether every named argument is the module's own tensor, or absent in both."""
        return all((owner_of(value) == (owner[0], part)) if value is not None else getattr(module, part, None) is None for part, value in parts.items())

    path = owner[0]
    if name == "linear" and type(module) is nn.Linear and has(bias=values["bias"]):
        return Call(path, "(%s)", [values["input"]])
    if name in _CONVOLUTIONS and type(module) is _CONVOLUTIONS[name] and has(bias=values["bias"]):
        given = [list(values[part]) for part in ("stride", "padding", "dilation")]
        if given == [list(module.stride), list(module.padding), list(module.dilation)] and values["groups"] == module.groups:
            return Call(path, "(%s)", [values["input"]])
    if name == "embedding" and type(module) is nn.Embedding:
        return Call(path, "(%s)", [values["indices"]])
    if name == "layer_norm" and type(module) is nn.LayerNorm and has(bias=values["bias"]):
        if list(values["normalized_shape"]) == list(module.normalized_shape) and values["eps"] == module.eps:
            return Call(path, "(%s)", [values["input"]])
    if name == "group_norm" and type(module) is nn.GroupNorm and has(bias=values["bias"]):
        if values["num_groups"] == module.num_groups and values["eps"] == module.eps:
            return Call(path, "(%s)", [values["input"]])
    if name == "batch_norm" and type(module) in _NORMS and not values["training"] and values["eps"] == module.eps:
        if has(bias=values["bias"], running_mean=values["running_mean"], running_var=values["running_var"]):
            return Call(path, "(%s)", [values["input"]])
    return None


def _recurrent(name: str, values: "dict[str, Any]", module_of: Any, owner_of: Any) -> "Call | None":
    owners = [owner_of(node) for node in values["params"]]
    if not owners or any(owner is None for owner in owners):
        return None
    path = owners[0][0]
    module: Any = module_of(path)
    if module is None or not isinstance(module, nn.RNNBase) or module.mode != _RECURRENT[name]:
        return None
    if [owner for owner in owners] != [(path, part) for part in module._flat_weights_names]:
        return None
    same = (values["num_layers"], values["bidirectional"], values["batch_first"], values["has_biases"], values["train"])
    if same != (module.num_layers, module.bidirectional, module.batch_first, module.bias, False):
        return None
    states = list(values["hx"]) if isinstance(values["hx"], (list, tuple)) else [values["hx"]]
    zeros = all(str(state.target) == "aten.zeros.default" and len(state.users) == 1 for state in states)
    if zeros:
        return Call(path, "(%s)", [values["input"]], tuple(states))
    return Call(path, "(%s, (%s, %s))" if len(states) == 2 else "(%s, %s)", [values["input"], *states])
