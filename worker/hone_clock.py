"""Timed blocks: what both sides do between the moment the parent reveals inputs and the moment it holds the answers.

All buffers belong to the parent. A block's message carries the descriptor of its inputs, which nobody below the parent has seen before. Every
call gets inputs of its own. Its answer is copied into the parent's memory right after the call, on the stream that the call was made on,
so a buffer that is handed out twice is copied twice. Reference and candidate run this same code.

The candidate controls its own process and may replace all of this. What it gains by that is nothing: the parent reads its own clock, its own
memory, and lets nothing run any more before it looks.
"""

import gc
import math
import mmap
import os
import time

import torch

from hone_wire import DTYPES, map_tensors, tensors_of, write_tree

_MAP_POPULATE = 0x8000


class Region:
    """Memory of the parent, mapped whole so that no call pays for page faults."""

    def __init__(self, descriptor, size, device):
        self.device = device
        self.memory = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED | _MAP_POPULATE) if size else None

    def tensor(self, leaf, base):
        """The tensor that a leaf describes, `base` bytes further on."""
        dtype, shape = DTYPES[leaf["dtype"]], leaf["shape"]
        count = math.prod(shape)
        if not count:
            return torch.empty(shape, dtype=dtype, device=self.device)
        flat = torch.frombuffer(self.memory, dtype=dtype, count=count, offset=base + leaf["offset"])
        return flat.view(shape)


def rebuild(node, region, base):
    """The values of a tree over the parent's memory. Tensors with other strides, or on a device, are copied there."""
    kind = node["kind"]
    if kind == "tensor":
        tensor, stride = region.tensor(node, base), node.get("stride") or []
        if region.device.type != tensor.device.type:
            tensor = tensor.to(region.device)
        if node["bytes"] and len(stride) == len(node["shape"]) and list(tensor.stride()) != stride:
            tensor = _restride(tensor, node["shape"], stride)
        return tensor.requires_grad_() if node.get("requires_grad") else tensor
    if kind in ("tuple", "list"):
        items = [rebuild(item, region, base) for item in node["items"]]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {key: rebuild(item, region, base) for key, item in zip(node["keys"], node["items"])}
    if kind == "value":
        return node["value"]
    raise ValueError("cannot rebuild a %s" % node.get("type", kind))


def _restride(tensor, shape, stride):
    dense = 1 + sum((extent - 1) * step for extent, step in zip(shape, stride))
    if dense != tensor.numel():  # broadcast or with gaps: such memory is not worth imitating
        return tensor
    return torch.empty_strided(shape, stride, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


class Clock:
    def __init__(self, worker):
        self.worker = worker
        self.sets, self.region = [], None  # of the block under way
        self.answers, self.capacity = [], []  # one list of tensors per slot
        self.sample = None
        self.flush_buffer = None

    def draw(self, message, descriptors):
        """Fresh draws of get_inputs, one after the other in the parent's memory. Only the reference is asked for them."""
        trees, bases = [], []
        for seed in message["seeds"]:
            bases.append(os.fstat(descriptors[0]).st_size)
            trees.append(write_tree(self.worker.draw_inputs(seed), descriptors[0], start=bases[-1]))
        alike = all(tree == trees[0] for tree in trees)
        return {"bases": bases, "layout": trees[0]} if alike else {"bases": bases, "trees": trees}

    def arena(self, message, descriptors):
        """Takes the memory that answers go into: `slots` answers of the same layout."""
        device = torch.device("cpu")
        region = Region(descriptors[0], message["slots"] * message["stride"], device)
        self.answers = [[region.tensor(leaf, slot * message["stride"]) for leaf in message["leaves"]] for slot in range(message["slots"])]
        return {}

    def _put(self, out, slot, odd):
        targets = self.answers[slot]
        leaves = (out,) if isinstance(out, torch.Tensor) else tensors_of(out)
        if len(leaves) != len(targets):
            raise ValueError("a call returned %d tensors where %d were expected" % (len(leaves), len(targets)))
        for index, (leaf, target) in enumerate(zip(leaves, targets)):
            if leaf.shape == target.shape and leaf.dtype == target.dtype:
                target.copy_(leaf)
            else:
                odd.append([slot, index, list(leaf.shape), str(leaf.dtype)[len("torch."):]])

    def block(self, message, descriptors):
        """Calls with the first `calls` sets; the answers go into slots 0, 1, ... The parent times this message."""
        worker, slot, mode, calls = self.worker, message["slot"], message["mode"], message["calls"]
        rung = worker.rungs.get(slot, {}).get(message.get("rung", ""))
        call = rung.call if rung is not None else worker.models[slot]
        self.region = Region(descriptors[0], message["bytes"], worker.device)
        sets = self.sets = [rebuild(tree, self.region, base) for tree, base in zip(_trees(message), message["bases"])]
        on_gpu, odd, put, first, out = worker.device.type == "cuda", [], self._put, None, None
        worker.restore(slot)
        worker.seed(message["seed"])
        flush = self._flush(message)
        reply = {}
        if rung is not None:
            rung.enter()
        gc.disable()
        started = time.perf_counter()
        try:
            with torch.no_grad():
                if on_gpu:
                    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    before.record()
                if mode == "collect":
                    for at in range(calls):
                        put(self.sample, at, odd)
                elif flush is None:
                    for at in range(calls):
                        out = call(*sets[at])
                        put(out, at, odd)
                        if not at:
                            first = out
                else:
                    for at in range(calls):
                        flush.zero_()
                        if mode != "flush":
                            put(call(*sets[at]), at, odd)
                if on_gpu:
                    after.record()
                    worker.synchronize()
                    reply["event_us"] = before.elapsed_time(after) * 1e3
        finally:
            gc.enable()
            if rung is not None:
                rung.leave()
        reply["compute_s"] = time.perf_counter() - started
        if odd:
            reply["odd"] = odd
        if calls > 1 and first is not None:  # both are alive, so one address means one buffer
            reply["reused"] = any(a.data_ptr() == b.data_ptr() for a, b in zip(tensors_of(first), tensors_of(out)) if a.numel())
        return reply

    def _flush(self, message):
        """A buffer larger than the caches, for calls that are to find them cold."""
        if not message.get("flush"):
            return None
        if self.flush_buffer is None:
            self.flush_buffer = torch.empty(message["flush"], dtype=torch.uint8, device=self.worker.device)
        return self.flush_buffer

    def clear(self, message, descriptors):
        """Lets go of the block's inputs; what is freed here costs no timed block anything."""
        self.sets, self.region = [], None
        gc.collect(0)
        return {}

    def calls(self, message, descriptors):
        """Calls a baseline several times on inputs that are already here. Only the reference is asked, for a first look at its speed."""
        worker, slot = self.worker, message["slot"]
        rung = worker.rungs.get(slot, {}).get(message.get("rung", ""))
        call, inputs = rung.call if rung is not None else worker.models[slot], worker.inputs[message["inputs"]]
        if rung is not None:
            rung.enter()
        try:
            with torch.no_grad():
                for _ in range(message["count"]):
                    call(*inputs)
                worker.synchronize()
        finally:
            if rung is not None:
                rung.leave()
        return {}

    def keep_sample(self, message, descriptors):
        """Keeps one answer. Copying it into the arena is what collecting an answer costs."""
        worker = self.worker
        with torch.no_grad():
            out = worker.models[message["slot"]](*worker.inputs[message["inputs"]])
        self.sample = map_tensors(out, lambda tensor: tensor.detach().clone())
        return {}


def _trees(message):
    """One layout for all sets, or one each."""
    return message["trees"] if "trees" in message else [message["layout"]] * len(message["bases"])


VERBS = ("draw", "arena", "block", "clear", "calls", "keep_sample")
