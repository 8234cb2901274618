"""The inputs of a worker: the task's own draws of get_inputs, changed for a stress regime or a check, and the inputs that the parent sends.

The reference draws. The parent hands the same values to the candidate. Nothing here decides anything: seeds and regimes come with the message.
"""

import hashlib

import torch

import hone_regions
import hone_task
import hone_wire
from hone_wire import map_tensors, read_tree, tensors_of, write_tree

_SMALL_DRAW = 1 << 26  # bytes
_SMALL_SET = 1 << 20
_DRAWS_LOOKED_AT = 24


class Inputs:
    """A part of Worker (hone_worker.py), which has the device, the task's module and the models."""

    def __init__(self):
        self.inputs = {}
        self.placed = {}  # inputs in the parent's memory
        self.writes_inputs = False  # a call has changed its inputs
        self.first_draw, self.fixed = None, None  # tensors of get_inputs; which of them are equal in every draw
        self.few_draws = False  # draws of get_inputs repeat
        self.draws_on_device = self.device.type == "cuda"  # until get_inputs fails on the device

    def _variants(self):
        if not callable(getattr(self.module, "get_variants", None)):
            return {}
        variants = self.module.get_variants()
        return variants if isinstance(variants, dict) else {str(i): v for i, v in enumerate(variants)}

    def _variant_names(self):
        return [str(name) for name in self._variants()]

    def draw_inputs(self, seed, variant=None, slot=None):
        """Draws the task's own inputs under a secret seed, on the device if the task's code supports that, because drawing a gigabyte on one host
        core takes too long."""
        made = None
        if self.draws_on_device and hasattr(torch.device, "__enter__"):
            try:
                with self.device:
                    made = self._draw(seed, variant)
            except Exception:  # numpy, a generator on the host, too little memory: draw on the host instead
                self.draws_on_device = False
        if made is None:
            made = self._draw(seed, variant)
        if self.source is not None:
            made = hone_task.check_inputs(self.source, made, self.models.get(slot))
        return list(made)

    def _draw(self, seed, variant):
        self.seed(seed)
        if not variant:
            return self.module.get_inputs()
        made = self._variants()[variant]
        return made() if callable(made) else made

    def make_inputs(self, message, descriptors):
        """Makes the task's own inputs under a secret seed, changed for a stress regime if requested."""
        made = self.draw_inputs(message["seed"], message.get("variant"), message["slot"])
        if message.get("regime"):
            import hone_stress

            generator = torch.Generator().manual_seed(message["seed"])
            if callable(getattr(self.module, "get_stress", None)):
                import copy

                changed = self.module.get_stress(message["regime"], copy.deepcopy(self.models[message["slot"]]), made)
                made = made if changed is None else list(changed)
            else:
                more = self._further_draws(message, made)
                made = hone_stress.change_inputs(made, generator, message.get("draw", "wide"), message["regime"], more, self.fixed or ())
        rare = False
        if message.get("change"):
            import hone_stress

            made = hone_stress.transform_inputs(message["change"], made, message.get("output_shapes", []), self.models[message["slot"]])
            if made is None:
                return {}
            rare = message["change"] in hone_stress.RARE
        if message.get("near"):
            import hone_nature

            generator = torch.Generator().manual_seed(message["near"])
            made = map_tensors(made, lambda tensor: hone_nature.near(tensor, generator))
        inputs = map_tensors(made, lambda t: t.to(self.device))
        if rare:
            self.restore(message["slot"])
            self.seed(message["seed"])
            if not hone_stress.stays_finite(self.models[message["slot"]], map_tensors(inputs, torch.clone)):
                return {}
        self.inputs[message["inputs"]] = inputs
        if message["inputs"].startswith("default#"):
            self._note_fixed(tensors_of(list(inputs)))
        if message["inputs"] == "default#2":
            self.few_draws = self._has_few_draws(message, inputs)
        return {**self._fixed_leaves(), "tree": self.hold().add(inputs) if message.get("hold") else write_tree(made, descriptors[0])}

    def _note_fixed(self, tensors):
        """Records which tensors are equal in all draws of get_inputs so far."""
        if self.first_draw is None or [t.shape for t in tensors] != [t.shape for t in self.first_draw]:
            self.fixed = None if self.first_draw is None else set()
            self.first_draw = self.first_draw or tensors
            return
        alike = {at for at, (one, first) in enumerate(zip(tensors, self.first_draw)) if one is not first and torch.equal(one, first)}
        self.fixed = alike if self.fixed is None else self.fixed & alike

    def _fixed_leaves(self):
        """The equal tensors for the parent: all of them, and those whose values could be processed before the clock starts."""
        import hone_nature

        if self.few_draws:
            everything = list(range(len(self.first_draw)))
            return {"fixed": everything, "telling": everything}
        if not self.fixed:
            return {}
        return {"fixed": sorted(self.fixed), "telling": [at for at in sorted(self.fixed) if hone_nature.is_telling(self.first_draw[at])]}

    def _has_few_draws(self, message, inputs):
        """Whether get_inputs produces so few different inputs that two of several draws are equal, so that answers could be cached by content."""
        if sum(t.numel() * t.element_size() for t in tensors_of(list(inputs))) > _SMALL_SET:
            return False
        seen = set()
        for more in range(_DRAWS_LOOKED_AT):
            drawn = self.draw_inputs((message["seed"] + 1000 + more) % (1 << 63), slot=message["slot"])
            content = hashlib.sha1()
            for tensor in tensors_of(drawn):
                content.update(hone_wire.raw_bytes(hone_wire.to_host(tensor)))
            seen.add(content.digest())
        return len(seen) < _DRAWS_LOOKED_AT and any(tensor.numel() for tensor in tensors_of(list(inputs)))

    def _further_draws(self, message, made):
        """More draws of get_inputs if they are small, because several draws show the kind of a tensor better than one."""
        if sum(t.numel() * t.element_size() for t in tensors_of(list(made))) > _SMALL_DRAW:
            return []
        return [self.draw_inputs(message["seed"] + more, message.get("variant"), message["slot"]) for more in (1, 2)]

    def put_inputs(self, message, descriptors):
        name = message["inputs"]
        if message.get("in_place") and name in self.placed and not descriptors:
            self.inputs[name] = self.placed[name].update(message["tree"])
        elif "bytes" in message:
            placed = hone_regions.Placed(hone_regions.open_region(message, descriptors[0]), message["tree"], self.device)
            self.placed[name], self.inputs[name] = placed, placed.tree
        elif message.get("in_place") and name in self.inputs:
            self.inputs[name] = hone_wire.overwrite_tree(self.inputs[name], message["tree"], descriptors[0], self.device)
        else:
            self.inputs[name] = read_tree(message["tree"], descriptors[0], self.device)
        self.synchronize()
        return {}

    def inputs_of(self, name, fresh=False):
        """Inputs for a call. A module that writes into its inputs gets copies."""
        inputs = self.inputs[name]
        return map_tensors(inputs, lambda tensor: tensor.detach().clone()) if fresh or self.writes_inputs else inputs
