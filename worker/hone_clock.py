"""Timed blocks: what both sides do between the moment the parent reveals inputs and the moment it holds the answers.

All buffers belong to the parent. A block's message carries the descriptor of its inputs, which nobody below the parent has seen before. Every
call gets inputs of its own. On a CPU the reply says where the answers lie, and the parent reads them there when this process is frozen. On a GPU a
second message carries the descriptor of the memory that the answers are copied into. Reference and candidate run this same code.

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


class HostRegion:
    """Memory of the parent, mapped whole so that no call pays for page faults."""

    def __init__(self, descriptor, size):
        self.memory = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED | _MAP_POPULATE) if size else None

    def tensor(self, leaf, base):
        """The tensor that a leaf describes, `base` bytes further on."""
        dtype, shape = DTYPES[leaf["dtype"]], leaf["shape"]
        count = math.prod(shape)
        if not count:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=base + leaf["offset"]).view(shape)

    def release(self):
        self.memory = None  # unmapped when the last tensor over it is gone


class DeviceRegion:
    """The same on the device."""

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
    """The values of a tree over the parent's memory. Tensors with other strides, or on a device, are copied there."""
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
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {key: rebuild(item, region, base, device) for key, item in zip(node["keys"], node["items"])}
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
        self.sets, self.outputs, self.lying, self.region, self.place = [], [], [], None, None  # of the block under way
        self.reuses = {}  # by slot and baseline: whether calls hand out memory that an earlier answer lies in
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

    def block(self, message, descriptors):
        """Calls with the first `calls` sets and keeps the answers. The parent times this message and `collect`, which follows."""
        worker, slot, mode, calls = self.worker, message["slot"], message["mode"], message["calls"]
        rung = worker.rungs.get(slot, {}).get(message["rung"])
        call = rung.call if rung is not None else worker.models[slot]
        self.region = open_region(message, descriptors[0])
        sets = self.sets = [rebuild(tree, self.region, base, worker.device) for tree, base in zip(_trees(message), message["bases"])]
        on_gpu, outputs = worker.device.type == "cuda", [None] * calls
        # Where one buffer is handed out for all calls, an answer is copied before the next call overwrites it.
        keep = _copies if self.reuses.get((slot, message["rung"])) else _as_it_is
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
                    outputs = [self.sample] * calls
                elif flush is None:
                    for at in range(calls):
                        outputs[at] = keep(call(*sets[at]))
                else:
                    for at in range(calls):
                        flush.zero_()
                        if mode != "flush":
                            outputs[at] = keep(call(*sets[at]))
                if on_gpu:
                    after.record()
                    worker.synchronize()
                    reply["event_us"] = before.elapsed_time(after) * 1e3
        finally:
            gc.enable()
            if rung is not None:
                rung.leave()
        if "leaves" in message:
            self._tell_addresses(outputs, message["leaves"], reply)
        self.outputs = outputs
        reply["compute_s"] = time.perf_counter() - started
        return reply

    def _tell_addresses(self, outputs, leaves, reply):
        """Where each answer lies: the parent reads it there once this process is frozen. Nothing for one of another form."""
        answers, odd = fitting(outputs, leaves)
        self.lying = [[plain(tensor) for tensor in tensors] for tensors in answers]  # what lies there must stay
        reply["answers"] = [[tensor.data_ptr() for tensor in tensors] for tensors in self.lying]
        if odd:
            reply["odd"] = odd

    def collect(self, message, descriptors):
        """Copies the kept answers into memory that the parent reveals only now: nothing could be computed there."""
        region, leaves = open_region(message, descriptors[0]), message["leaves"]
        self.place = region
        with torch.no_grad():
            answers, odd = fitting(self.outputs, leaves)
            for at, tensors in enumerate(answers):
                for leaf, tensor in zip(leaves, tensors):
                    region.tensor(leaf, at * message["stride"]).copy_(tensor)
        self.worker.synchronize()
        return {"odd": odd} if odd else {}

    def clear(self, message, descriptors):
        """Lets go of the block's inputs and answers; what is freed here costs no timed block anything. Tells whether answers shared
        memory while all of them were alive."""
        key, reply = (message["slot"], message["rung"]), {}
        if message["mode"] == "run" and len(self.outputs) > 1:
            addresses = [[tensor.data_ptr() for tensor in tensors_of([out]) if tensor.numel()] for out in self.outputs]
            shared = len({tuple(one) for one in addresses}) < len(addresses) and any(addresses)
            self.reuses[key] = self.reuses.get(key, False) or shared
        reply["reused"] = self.reuses.get(key, False)
        self.sets, self.outputs, self.lying = [], [], []
        for region in (self.region, self.place):
            if region is not None:
                region.release()
        self.region = self.place = None
        gc.collect(0)
        return reply

    def _flush(self, message):
        """A buffer larger than the caches, for calls that are to find them cold."""
        if not message["flush"]:
            return None
        if self.flush_buffer is None:
            self.flush_buffer = torch.empty(message["flush"], dtype=torch.uint8, device=self.worker.device)
        return self.flush_buffer

    def calls(self, message, descriptors):
        """Calls a baseline several times on inputs that are already here. Only the reference is asked, for a first look at its speed."""
        worker, slot = self.worker, message["slot"]
        rung = worker.rungs.get(slot, {}).get(message["rung"])
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


def fitting(outputs, leaves):
    """The tensors of every answer that has the shapes and dtypes of the leaves, none of another; and what the others are instead."""
    wanted = [(torch.Size(leaf["shape"]), DTYPES[leaf["dtype"]]) for leaf in leaves]
    answers, odd = [], []
    for at, out in enumerate(outputs):
        tensors = [out] if isinstance(out, torch.Tensor) else tensors_of(out)
        form = [(tensor.shape, tensor.dtype) for tensor in tensors]
        answers.append(tensors if form == wanted else [])
        if form != wanted:
            odd.append([at, [[list(shape), str(dtype)] for shape, dtype in form]])
    return answers, odd


def plain(tensor):
    """The values as they lie in memory, one after the other."""
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _as_it_is(out):
    return out


def _copies(out):
    return out.clone() if isinstance(out, torch.Tensor) else map_tensors(out, torch.Tensor.clone)


def _trees(message):
    """One layout for all sets, or one each."""
    return message["trees"] if "trees" in message else [message.get("layout")] * len(message["bases"])
