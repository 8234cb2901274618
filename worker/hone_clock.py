"""Timed blocks: what both sides do between the moment the parent reveals inputs and the moment it holds the answers.

All buffers belong to the parent. A block's message carries the descriptor of its inputs, which no worker process has seen before.
Every call gets its own inputs. On a CPU the reply contains the answers' addresses, and the parent reads them there when this process
is frozen. On a GPU the memory of blocks is mapped once: the parent writes the inputs after the span has begun, and a second message
says where to copy the answers. Reference and candidate run this same code.

The candidate controls its own process and may replace this code. It gains nothing by that: the parent reads its own clock and memory,
and freezes this process before it reads.
"""

import gc
import os
import time

import torch

from hone_answers import Form, describe, leaves_of
from hone_regions import open_region, rebuild
from hone_settings import settle_for_timing
from hone_wire import map_tensors, tensors_of, write_tree

_SMALL_SAMPLE = 1 << 26  # bytes


class Clock:
    def __init__(self, worker):
        self.worker = worker
        self.sets, self.outputs, self.lying = [], [], []  # for the current block
        self.regions = {}  # memory of the parent, by purpose
        self.reuses = {}  # by slot and baseline: whether calls return memory that still holds an earlier answer
        self.sample, self.small_sample = None, None
        self.flush_buffer = None

    def draw(self, message, descriptors):
        """Draws fresh inputs with get_inputs, one set after the other in the parent's memory. Only for the reference."""
        trees, bases, reply = [], [], {}
        held = self.worker.hold()
        for seed in message["seeds"]:
            drawn = self.worker.draw_inputs(seed)
            if message.get("hold"):
                bases.append(held.size)
                trees.append(held.add(map_tensors(drawn, lambda tensor: tensor.to(self.worker.device))))
                reply["total"] = held.size
            else:
                bases.append(os.fstat(descriptors[0]).st_size)
                trees.append(write_tree(drawn, descriptors[0], start=bases[-1]))
        alike = all(tree == trees[0] for tree in trees)
        return {"bases": bases, **({"layout": trees[0]} if alike else {"trees": trees}), **reply}

    def block(self, message, descriptors):
        """Calls with the first `calls` sets and keeps the answers. The parent times this message and `collect`, which follows."""
        worker, slot, mode, calls = self.worker, message["slot"], message["mode"], message["calls"]
        rung = worker.rungs.get(slot, {}).get(message["rung"])
        call = rung.call if rung is not None else worker.models[slot]
        region = self._region("inputs", message, descriptors)
        sets = self.sets = [rebuild(tree, region, base, worker.device) for tree, base in zip(_trees(message), message["bases"])]
        on_gpu, outputs = worker.device.type == "cuda", [None] * calls
        # If all calls return the same buffer, each answer is copied before the next call overwrites it.
        keep = _copies if self.reuses.get((slot, message["rung"])) else _as_it_is
        settle_for_timing(worker.thread_count)
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
        if "form" in message:
            self._tell_addresses(outputs, Form(message["form"]), reply)
        self.outputs = outputs
        reply["compute_s"] = time.perf_counter() - started
        return reply

    def _tell_addresses(self, outputs, form, reply):
        """Reports the address of each answer; the parent reads it there once this process is frozen. Answers with another form are
        described."""
        self.lying, addresses, numbers, odd = [], [], [], []
        for at, out in enumerate(outputs):
            fits = form.take(out)
            if fits is None:
                tree, tensors, _ = describe(out)
            else:
                tensors = fits[0]
            lying = [plain(tensor) for tensor in tensors]
            self.lying.append(lying)  # must stay alive at its address
            where = [tensor.data_ptr() for tensor in lying]
            if fits is None:
                for leaf, address in zip(leaves_of(tree), where):
                    leaf["address"] = address
                odd.append([at, tree])
            addresses.append(where if fits is not None else [])
            numbers.append(fits[1] if fits is not None else [])
        reply["answers"] = addresses
        _tell_form(numbers, odd, reply)

    def collect(self, message, descriptors):
        """Copies the kept answers into memory that the parent reveals only now, so that nothing could be computed there earlier."""
        region, leaves = self._region("answers %d" % message.get("place", 0), message, descriptors), message["leaves"]
        form, reply, numbers, odd = Form(message["form"]), {}, [], []
        with torch.no_grad():
            for at, out in enumerate(self.outputs):
                fits = form.take(out)
                numbers.append(fits[1] if fits is not None else [])
                if fits is not None:
                    for leaf, tensor in zip(leaves, fits[0]):
                        region.tensor(leaf, at * message["stride"]).copy_(tensor)
                    continue
                tree, tensors, size = describe(out)
                if size <= message["stride"]:  # the parent sees that a larger one is missing
                    for leaf, tensor in zip(leaves_of(tree), tensors):
                        region.tensor(leaf, at * message["stride"]).copy_(tensor)
                odd.append([at, tree])
        self.worker.synchronize()
        _tell_form(numbers, odd, reply)
        return reply

    def clear(self, message, descriptors):
        """Frees the block's inputs and answers, outside of any timed block. Reports whether answers shared memory while all of them
        were alive."""
        key, reply = (message["slot"], message["rung"]), {}
        if message["mode"] == "run" and len(self.outputs) > 1:
            addresses = [[tensor.data_ptr() for tensor in tensors_of([out]) if tensor.numel()] for out in self.outputs]
            shared = len({tuple(one) for one in addresses}) < len(addresses) and any(addresses)
            self.reuses[key] = self.reuses.get(key, False) or shared
        reply["reused"] = self.reuses.get(key, False)
        self.sets, self.outputs, self.lying = [], [], []
        if message.get("end"):
            self.sample = None
        for name in [name for name, region in self.regions.items() if message.get("end") or not region.lasting]:
            self.regions.pop(name).release()
        gc.collect(0)
        return reply

    def _region(self, name, message, descriptors):
        """The memory that came with this message, or with an earlier one."""
        if descriptors:
            if name in self.regions:
                self.regions.pop(name).release()
            self.regions[name] = open_region(message, descriptors[0])
        return self.regions[name]

    def _flush(self, message):
        """A buffer larger than the caches, for calls that must start with cold caches."""
        if not message["flush"]:
            return None
        if self.flush_buffer is None:
            self.flush_buffer = torch.empty(message["flush"], dtype=torch.uint8, device=self.worker.device)
        return self.flush_buffer

    def calls(self, message, descriptors):
        """Calls a baseline several times on inputs that the worker already has. Only for the reference, for a short timing."""
        worker, slot = self.worker, message["slot"]
        rung = worker.rungs.get(slot, {}).get(message["rung"])
        call, inputs = rung.call if rung is not None else worker.models[slot], worker.inputs_of(message["inputs"])
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
        """Keeps one answer. Copying it into the arena takes as long as collecting an answer. A small one is kept for the next
        candidate."""
        worker, key = self.worker, (message["slot"], message["inputs"])
        if self.small_sample and self.small_sample[0] == key:
            self.sample = self.small_sample[1]
            return {}
        with torch.no_grad():
            out = worker.models[message["slot"]](*worker.inputs_of(message["inputs"]))
        self.sample = map_tensors(out, lambda tensor: tensor.detach().clone())
        small = sum(tensor.numel() * tensor.element_size() for tensor in tensors_of([self.sample])) <= _SMALL_SAMPLE
        self.small_sample = (key, self.sample) if small else None
        return {}


def _tell_form(numbers, odd, reply):
    """The Python numbers of every answer with the expected form, and descriptions of the others."""
    if any(numbers):
        reply["numbers"] = numbers
    if odd:
        reply["odd"] = odd


def plain(tensor):
    """The values in memory order, one after the other."""
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _as_it_is(out):
    return out


def _copies(out):
    if isinstance(out, torch.Tensor):
        return out.clone()
    if not isinstance(out, (list, tuple, dict)) and hasattr(out, "to_tuple"):
        out = out.to_tuple()
    return map_tensors(out, torch.Tensor.clone)


def _trees(message):
    """One layout for all sets, or one each."""
    return message["trees"] if "trees" in message else [message.get("layout")] * len(message["bases"])
