"""Sorts the answers of timed calls: those with the expected form, and the others, which are described in
full.

A form is the description of a tree (hone_wire.lay_out) without its values. Tensors and numbers are listed in
the order of that description, so that the parent and the worker mean the same leaf. No values are compared
here.
"""

import math

import torch

from hone_wire import DTYPES, Unreadable, key_of, lay_out, ordered_keys


class Form:
    """The expected form of an answer. Built once for a block; `take` is called for each of its answers."""

    def __init__(self, tree):
        self.accepts = _matcher(tree)

    def take(self, out):
        """The tensors and the Python numbers of an answer, or None if it has another form."""
        tensors, numbers = [], []
        return (tensors, numbers) if self.accepts(out, tensors, numbers) else None


def _matcher(node):
    kind = node["kind"]
    if kind == "tensor":
        return _tensor(torch.Size(node["shape"]), DTYPES[node["dtype"]])
    if kind in ("tuple", "list", "dict"):
        items = [_matcher(item) for item in node["items"]]
        return _dict(node["keys"], items) if kind == "dict" else _sequence(items, node.get("type"))
    if kind == "value" and isinstance(node["value"], (int, float)) and not isinstance(node["value"], bool):
        return _number
    return _same(node)


def _tensor(shape, dtype):
    def match(out, tensors, numbers):
        if not isinstance(out, torch.Tensor) or out.shape != shape or out.dtype != dtype or out.layout != torch.strided:
            return False
        tensors.append(out)
        return True

    return match


def _sequence(items, type_name):
    def match(out, tensors, numbers):
        if isinstance(out, complex) and type_name == "complex":
            out = (out.real, out.imag)
        elif not isinstance(out, (list, tuple)):
            if isinstance(out, (torch.Tensor, dict)) or not hasattr(out, "to_tuple") or type(out).__name__ != type_name:
                return False
            out = out.to_tuple()
        elif type_name == "complex":
            return False
        return len(out) == len(items) and all(item(value, tensors, numbers) for item, value in zip(items, out))

    return match


def _dict(keys, items):
    def match(out, tensors, numbers):
        if not isinstance(out, dict):
            return False
        own = ordered_keys(out)
        return [key_of(key) for key in own] == keys and all(item(out[key], tensors, numbers) for item, key in zip(items, own))

    return match


def _number(out, tensors, numbers):
    if isinstance(out, bool) or not isinstance(out, (int, float)) or not math.isfinite(out):
        return False
    numbers.append(out)
    return True


def _same(node):
    """None, booleans, strings and numbers that are not finite are part of the form."""
    def match(out, tensors, numbers):
        return lay_out(out, lambda tensor, offset: None)[0] == node

    return match


def describe(out):
    """The description of an answer with another form, its tensors in the same order, and their size in bytes."""
    tensors = []
    try:
        tree, size = lay_out(out, lambda tensor, offset: tensors.append(tensor))
    except Unreadable as error:
        return {"kind": "opaque", "type": str(error), "text": ""}, [], 0
    return tree, tensors, size


def leaves_of(tree):
    """The descriptions of a tree's tensors, in order."""
    if tree["kind"] == "tensor":
        return [tree]
    return [leaf for item in tree.get("items", ()) for leaf in leaves_of(item)]
