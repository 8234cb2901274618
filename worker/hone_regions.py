"""Memory of the parent in a worker: a region of the host or the device, received as a descriptor.

Inputs of a block or a trial are in such a region and are used in place. Answers are kept here (Held) until the parent, which first learns
their sizes, has made a region for them. A region on the device is the parent's own device memory, so nothing passes through the host.
"""

import math
import mmap
import os

import torch

from hone_wire import DTYPES, lay_out

_MAP_POPULATE = 0x8000


class HostRegion:
    """Host memory of the parent, populated when it is mapped, so that no call pays for page faults."""

    lasting = False  # the parent makes a new one for each block

    def __init__(self, descriptor, size):
        self.memory = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED | _MAP_POPULATE) if size else None

    def tensor(self, leaf, base):
        """The tensor that a leaf describes, at its offset plus `base`."""
        dtype, shape = DTYPES[leaf["dtype"]], leaf["shape"]
        count = math.prod(shape)
        if not count:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=base + leaf["offset"]).view(shape)

    def release(self):
        self.memory = None  # unmapped when the last tensor over it is deleted


class DeviceRegion:
    """The same on the device, where mapping takes milliseconds, so one region serves many blocks."""

    lasting = True

    def __init__(self, descriptor, size):
        import hone_device

        self.memory = hone_device.DeviceMemory(os.dup(descriptor), size)

    def tensor(self, leaf, base):
        return self.memory.tensor(base + leaf["offset"], leaf["shape"], DTYPES[leaf["dtype"]])

    def release(self):
        self.memory.release()


def open_region(message, descriptor):
    return (DeviceRegion if message["on_device"] else HostRegion)(descriptor, message["bytes"])


def rebuild(node, region, base, device):
    """Rebuilds the values of a tree over the parent's memory. Tensors with other strides, or on a device, are copied there."""
    kind = node["kind"]
    if kind == "tensor":
        tensor, stride = region.tensor(node, base), node.get("stride") or []
        if device.type != tensor.device.type:
            tensor = tensor.to(device)
        if node["bytes"] and len(stride) == len(node["shape"]) and list(tensor.stride()) != stride:
            tensor = _restride(tensor, node["shape"], stride)
        return tensor.requires_grad_() if node.get("requires_grad") else tensor
    if kind in ("tuple", "list"):
        items = [rebuild(item, region, base, device) for item in node["items"]]
        if node.get("type") == "complex":
            return complex(*items)
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {key: rebuild(item, region, base, device) for key, item in zip(node["keys"], node["items"])}
    return value_of(node)


def value_of(node):
    if node["kind"] == "value":
        return node["value"]
    if node["kind"] == "nonfinite":
        return float(node["value"])
    raise ValueError("cannot rebuild a %s" % node.get("type", node["kind"]))


def _restride(tensor, shape, stride):
    dense = 1 + sum((extent - 1) * step for extent, step in zip(shape, stride))
    if dense != tensor.numel():  # broadcast or with gaps, which is not worth reproducing
        return tensor
    return torch.empty_strided(shape, stride, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


class Held:
    """Tensors that wait for memory of the parent."""

    def __init__(self):
        self.tensors, self.size = [], 0

    def add(self, tree, plain_only=False, copy=False, owner_of=None):
        """Describes a tree and keeps its tensors. `copy`: keeps their present values, in the order of the current stream, without
        waiting for unfinished work on other streams."""

        def keep(tensor, offset):
            tensor = tensor.detach()
            if tensor.layout != torch.strided:
                tensor = tensor.to_dense()
            self.tensors.append((self.size + offset, tensor.clone() if copy else tensor))

        description, size = lay_out(tree, keep, plain_only, owner_of)
        self.size += size
        return description

    def move_into(self, region):
        """Copies all tensors to their places and forgets them."""
        tensors, self.tensors, self.size = self.tensors, [], 0
        with torch.no_grad():
            for offset, tensor in tensors:
                leaf = {"dtype": str(tensor.dtype)[len("torch."):], "shape": list(tensor.shape), "offset": offset}
                region.tensor(leaf, 0).copy_(tensor)


class Placed:
    """Inputs in a region. If the layout requires other strides, they are copies that are updated from the region and written back to it."""

    def __init__(self, region, description, device):
        self.region, self.description = region, description
        self.tree = rebuild(description, region, 0, device)

    def update(self, description):
        """Call after the parent has written other values of the same layout into the region."""
        self.description = description
        self.tree = self._visit(self.tree, description, lambda copy, place: copy.data.copy_(place))
        return self.tree

    def write_back(self):
        self._visit(self.tree, self.description, lambda copy, place: place.copy_(copy.detach()))

    def _visit(self, tree, node, move):
        if node["kind"] == "tensor":
            place = self.region.tensor(node, 0)
            if node["bytes"] and tree.data_ptr() != place.data_ptr():
                move(tree, place)
            return tree
        if node.get("type") == "complex":
            return complex(*(value_of(item) for item in node["items"]))
        if node["kind"] in ("tuple", "list"):
            return type(tree)(self._visit(item, inner, move) for item, inner in zip(tree, node["items"]))
        if node["kind"] == "dict":
            return {key: self._visit(tree[key], inner, move) for key, inner in zip(node["keys"], node["items"])}
        return value_of(node)
