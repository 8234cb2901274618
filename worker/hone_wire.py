"""The worker's side of the protocol: framed JSON with descriptors, and tensors as raw bytes in memory files.

Nothing here uses pickle, evaluates code or makes decisions. A tree of tensors (arguments or results of a model) becomes a JSON
description plus the tensors' bytes, one after the other, in a memory file made by the parent.
"""

import ctypes
import json
import mmap
import os
import socket
import struct

import torch

_HEADER = struct.Struct("<4sIQ")
_MAGIC = b"HNE1"
_ALIGN = 64


class Wire:
    def __init__(self, descriptor):
        self._socket = socket.socket(fileno=descriptor)

    def receive(self):
        """The next message and its descriptors, or (None, []) if the parent has closed the channel."""
        header, descriptors = b"", []
        while len(header) < _HEADER.size:
            data, ancillary, _, _ = self._socket.recvmsg(_HEADER.size - len(header), socket.CMSG_SPACE(8 * 4))
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    count = len(payload) // 4
                    descriptors += struct.unpack("%di" % count, payload[: count * 4])
            if not data:
                return None, []
            header += data
        magic, _, size = _HEADER.unpack(header)
        if magic != _MAGIC:
            raise RuntimeError("not a frame")
        chunks = []
        while size:
            data = self._socket.recv(min(size, 1 << 20))
            if not data:
                return None, []
            chunks.append(data)
            size -= len(data)
        return json.loads(b"".join(chunks)), list(descriptors)

    def close(self):
        self._socket.close()

    def detach(self):
        """Gives up ownership of the descriptor; the caller must close it."""
        self._socket.detach()

    def send(self, message):
        text = json.dumps(message, allow_nan=False, default=str).encode("utf-8", "replace")
        self._socket.sendall(_HEADER.pack(_MAGIC, 0, len(text)) + text)


DTYPES = {
    str(dtype)[len("torch."):]: dtype
    for dtype in (
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
    )
}


class Unreadable(Exception):
    """An output whose bytes cannot be read at once."""


def raw_bytes(tensor):
    """A view of the memory of a contiguous CPU tensor. The tensor must outlive it."""
    size = tensor.numel() * tensor.element_size()
    return (ctypes.c_char * size).from_address(tensor.data_ptr()) if size else b""


def to_host(tensor):
    host = tensor.detach()
    if host.is_sparse or host.layout != torch.strided:
        host = host.to_dense()
    if host.dtype.is_complex:
        host = host.resolve_conj()
    if hasattr(host, "resolve_neg"):
        host = host.resolve_neg()
    return host.cpu().contiguous()


def write_tree(tree, descriptor, plain_only=False, start=0, owner_of=None):
    """Writes every tensor of the tree into the descriptor from `start` on. Returns the description, whose offsets count from there."""

    def write(tensor, offset):
        host = to_host(tensor)
        view, position = memoryview(raw_bytes(host)).cast("B"), start + offset
        while len(view):
            written = os.pwrite(descriptor, view[: 1 << 28], position)
            view, position = view[written:], position + written

    description, size = lay_out(tree, write, plain_only, owner_of)
    if size:
        os.ftruncate(descriptor, max(start + size, os.fstat(descriptor).st_size))
    return description


def ordered_keys(node):
    """The keys of a dict in a fixed order, because their order is not part of an answer."""
    return sorted(node, key=lambda key: (str(key), type(key).__name__))


def key_of(key):
    """A key as stored in JSON: the string "3" and the number 3 are different keys."""
    return key if isinstance(key, (str, int, type(None))) else repr(key)


def lay_out(tree, take, plain_only=False, owner_of=None):
    """The description of a tree whose tensors are stored one after the other, and their total size in bytes. Calls take(tensor,
    offset) for each. owner_of(tensor) returns whose memory it is: "input", "parameter", or neither."""
    offset = 0

    def visit(node):
        nonlocal offset
        if isinstance(node, torch.Tensor):
            if plain_only and type(node) not in (torch.Tensor, torch.nn.Parameter):
                raise Unreadable("a %s, not a plain torch.Tensor" % type(node).__name__)
            name = str(node.dtype)[len("torch."):]
            if name not in DTYPES:
                raise Unreadable("a tensor of dtype %s" % name)
            size = node.numel() * node.element_size()
            leaf = {
                "kind": "tensor", "dtype": name, "shape": list(node.shape), "offset": offset, "bytes": size,
                "stride": list(node.stride()) if node.layout == torch.strided else [],
                "device": node.device.type, "requires_grad": bool(node.requires_grad),
            }
            if owner_of is not None and owner_of(node):
                leaf["shared"] = owner_of(node)
            take(node, offset)
            offset += (size + _ALIGN - 1) // _ALIGN * _ALIGN
            return leaf
        if isinstance(node, tuple):
            return {"kind": "tuple", "items": [visit(item) for item in node]}
        if isinstance(node, list):
            return {"kind": "list", "items": [visit(item) for item in node]}
        if isinstance(node, dict):
            keys = ordered_keys(node)
            return {"kind": "dict", "keys": [key_of(key) for key in keys], "items": [visit(node[key]) for key in keys]}
        if hasattr(node, "to_tuple"):  # output classes of libraries
            return {**visit(node.to_tuple()), "type": type(node).__name__}
        if node is None or isinstance(node, (bool, int, str)) or (isinstance(node, float) and node == node and abs(node) != float("inf")):
            return {"kind": "value", "value": node}
        if isinstance(node, float):
            return {"kind": "nonfinite", "value": repr(node)}
        if isinstance(node, complex):
            return {"kind": "tuple", "type": "complex", "items": [visit(node.real), visit(node.imag)]}
        return {"kind": "opaque", "type": type(node).__name__, "text": repr(node)[:200]}

    return visit(tree), offset


def has_opaque(description):
    if description["kind"] == "opaque":
        return True
    return any(has_opaque(item) for item in description.get("items", ()))


def read_tree(description, descriptor, device):
    """Rebuilds the tree with fresh tensors on the device."""
    size = os.fstat(descriptor).st_size
    memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) if size else None
    try:
        return _build(description, memory, device)
    finally:
        if memory is not None:
            memory.close()


def _host_tensor(leaf, memory):
    """A new CPU tensor with the leaf's bytes. Unusual strides are kept if they are dense."""
    shape, dtype = leaf["shape"], DTYPES[leaf["dtype"]]
    tensor = torch.empty(shape, dtype=dtype)
    if leaf["bytes"]:
        ctypes.memmove(tensor.data_ptr(), memory[leaf["offset"]: leaf["offset"] + leaf["bytes"]], leaf["bytes"])
    return tensor


def _build(node, memory, device):
    kind = node["kind"]
    if kind == "tensor":
        host = _host_tensor(node, memory)
        stride = node.get("stride") or []
        if len(stride) == len(node["shape"]) and list(host.stride()) != stride and _is_dense(node["shape"], stride):
            host = torch.empty_strided(node["shape"], stride, dtype=host.dtype).copy_(host)
        tensor = host.to(device)
        return tensor.requires_grad_() if node.get("requires_grad") else tensor
    if kind == "tuple":
        items = [_build(item, memory, device) for item in node["items"]]
        return complex(*items) if node.get("type") == "complex" else tuple(items)
    if kind == "list":
        return [_build(item, memory, device) for item in node["items"]]
    if kind == "dict":
        return {key: _build(item, memory, device) for key, item in zip(node["keys"], node["items"])}
    if kind == "value":
        return node["value"]
    if kind == "nonfinite":
        return float(node["value"])
    raise ValueError("cannot rebuild a %s" % node.get("type", kind))


def _is_dense(shape, stride):
    expected = 1
    for extent, step in sorted(((e, s) for e, s in zip(shape, stride) if e > 1), key=lambda pair: pair[1]):
        if step != expected:
            return False
        expected *= extent
    return True


def overwrite_tree(tree, description, descriptor, device):
    """The tree with new values. Tensors keep their addresses and version counters. Numbers are replaced, and so are tensors with
    another shape or dtype."""
    size = os.fstat(descriptor).st_size
    memory = mmap.mmap(descriptor, size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) if size else None
    try:
        return _overwrite(tree, description, memory, device)
    finally:
        if memory is not None:
            memory.close()


def _overwrite(tree, node, memory, device):
    kind = node["kind"]
    if kind == "tensor":
        if not isinstance(tree, torch.Tensor) or list(tree.shape) != node["shape"] or tree.dtype != DTYPES[node["dtype"]]:
            return _build(node, memory, device)
        target = tree.detach()
        if not node["bytes"]:
            return tree
        if target.device.type == "cpu" and target.is_contiguous():
            ctypes.memmove(target.data_ptr(), memory[node["offset"]: node["offset"] + node["bytes"]], node["bytes"])
        else:
            tree.data.copy_(_host_tensor(node, memory))
        return tree
    if kind in ("tuple", "list") and isinstance(tree, (tuple, list)) and len(tree) == len(node["items"]):
        items = [_overwrite(item, inner, memory, device) for item, inner in zip(tree, node["items"])]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict" and isinstance(tree, dict) and set(tree) == set(node["keys"]):
        return {key: _overwrite(tree[key], inner, memory, device) for key, inner in zip(node["keys"], node["items"])}
    return _build(node, memory, device)


def tensors_of(tree):
    """The tensors of a tree, in the order of lay_out."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in tensors_of(item)]
    if isinstance(tree, dict):
        return [leaf for key in ordered_keys(tree) for leaf in tensors_of(tree[key])]
    if hasattr(tree, "to_tuple"):
        return tensors_of(tree.to_tuple())
    return []


def map_tensors(tree, change):
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(map_tensors(item, change) for item in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(map_tensors(item, change) for item in tree)
    if isinstance(tree, dict):
        return {key: map_tensors(item, change) for key, item in tree.items()}
    return tree


def with_tensors(tree, values):
    """The tree with other tensors, from the iterator `values` in the order of tensors_of."""
    if isinstance(tree, torch.Tensor):
        return next(values)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(with_tensors(item, values) for item in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(with_tensors(item, values) for item in tree)
    if isinstance(tree, dict):
        made = {key: with_tensors(tree[key], values) for key in ordered_keys(tree)}
        return {key: made[key] for key in tree}
    return tree
