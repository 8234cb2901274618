"""Arguments and results of a module as flat lists of tensors, and back.

A module may take and return tensors inside lists, tuples, dicts, named tuples and dataclasses, besides numbers, strings and
None. torch.export supports such classes only after registration; this file needs none. A spec is a value without its tensors.
Specs can be hashed and compared: two calls with equal specs and equal shapes are the same call.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Callable, Hashable

import torch

# Values that are part of a call's identity. A bool equals the int 1, so types are compared as well.
_PLAIN = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format, slice, range)

TENSOR = ("tensor",)


class Same:
    """An object that is not a container. Two are equal only if they are the same object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _fields(value: Any) -> "list[str]":
    return [field.name for field in dataclasses.fields(value)]


def flatten(value: Any, leaves: "list[torch.Tensor]") -> Hashable:
    """Appends the tensors of `value` to `leaves` and returns the rest as a spec."""
    if isinstance(value, torch.Tensor):
        leaves.append(value)
        return TENSOR
    kind = type(value)
    if kind in _PLAIN:
        return ("value", kind, repr(value) if kind in (slice, range) or value != value else value, value if kind in (slice, range) else None)
    if kind is list or kind is tuple:
        return (kind.__name__, tuple([flatten(item, leaves) for item in value]))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ("named", kind, tuple([flatten(item, leaves) for item in value]))
    if isinstance(value, dict):
        how = "mapping" if kind is not dict and dataclasses.is_dataclass(value) else "dict"
        return (how, kind, tuple(value), tuple([flatten(item, leaves) for item in value.values()]))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = _fields(value)
        return ("data", kind, tuple(names), tuple([flatten(getattr(value, name), leaves) for name in names]))
    return ("object", Same(value))


def unflatten(spec: Any, take: Callable[[], Any]) -> Any:
    """Rebuilds the value; `take` returns the next tensor."""
    how = spec[0]
    if how == "tensor":
        return take()
    if how == "value":
        return spec[3] if spec[1] in (slice, range) else float("nan") if spec[2] == "nan" and spec[1] is float else spec[2]
    if how == "list":
        return [unflatten(item, take) for item in spec[1]]
    if how == "tuple":
        return tuple([unflatten(item, take) for item in spec[1]])
    if how == "named":
        return spec[1](*[unflatten(item, take) for item in spec[2]])
    if how == "dict":
        items = {key: unflatten(item, take) for key, item in zip(spec[2], spec[3])}
        if spec[1] is dict:
            return items
        made = spec[1]()
        made.update(items)
        return made
    if how == "mapping":  # outputs of transformers are dicts and dataclasses at once
        return spec[1](**{key: unflatten(item, take) for key, item in zip(spec[2], spec[3])})
    if how == "data":
        made = spec[1].__new__(spec[1])
        for name, item in zip(spec[2], spec[3]):
            object.__setattr__(made, name, unflatten(item, take))
        return made
    return spec[1].value


def rebuild(spec: Any, leaves: "list[Any]") -> Any:
    """`unflatten` with the leaves in a list."""
    following = iter(leaves)
    return unflatten(spec, lambda: next(following))


def objects(spec: Any) -> "list[Any]":
    """The objects in a spec that are neither tensors, plain values nor known containers."""
    if spec[0] == "object":
        return [spec[1].value]
    if spec[0] in ("tensor", "value"):
        return []
    return [found for item in spec[-1] for found in objects(item)]


def describe(spec: Any) -> str:
    """A spec as text that is the same in every process."""
    how = spec[0]
    if how == "tensor":
        return "T"
    if how == "value":
        return "%s:%r" % (spec[1].__name__, spec[2])
    if how == "object":
        return "object:%s" % type(spec[1].value).__qualname__
    inside = ",".join(describe(item) for item in spec[-1])
    kind = "" if how in ("list", "tuple") else "%s.%s" % (spec[1].__module__, spec[1].__qualname__)
    keys = "" if how in ("list", "tuple", "named") else repr(spec[2])
    return "%s%s%s(%s)" % (how, kind, keys, inside)


def tensor_key(tensor: torch.Tensor) -> Hashable:
    """The properties in which two tensors must agree to share an answer."""
    return (tensor.shape, tensor.dtype, tensor.device, tensor.layout)


def shape_text(tensor: torch.Tensor) -> str:
    """A short description of a tensor: float32[8, 64]."""
    return "%s%s" % (str(tensor.dtype)[len("torch."):], list(tensor.shape))


def without_a_name(model: torch.nn.Module) -> "str | None":
    """The parts of a module that no other process can import by name, in words: a lambda, or a function or class defined
    inside a function."""
    for path, module in model.named_modules():
        if "<locals>" in type(module).__qualname__:
            return "the class %s" % type(module).__qualname__
        for name, value in vars(module).items():
            if isinstance(value, types.FunctionType) and "<" in value.__qualname__:
                return "%s (%s)" % (".".join(filter(None, (path, name))), value.__qualname__)
    return None
