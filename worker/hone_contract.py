"""Checks the contract for later use: what a user may do with a module after the verdict.

A module that is right and fast in the judge may still keep old weights after `load_state_dict`, fail for another batch size, or leave the
process with another default dtype. Each step below does one such thing in this process, in the same way for the reference and the
candidate. Afterwards the parent runs the module with the ordinary `run` message and compares the bytes. A step never raises: exceptions of
the module's own code are part of the reply.
"""

import copy
import gc
import io
import os
import pickle
import signal
import sys
import threading

import torch

import hone_protocol
from hone_wire import map_tensors, read_tree, tensors_of, write_tree

# Variables that compilers and libraries set for themselves on first use.
_LIBRARY_VARIABLES = ("TORCH", "TRITON_", "PYTORCH_", "CUDA_MODULE_LOADING", "KINETO_", "KMP_", "HONE_")


def capture():
    """Process-wide settings that other code in the process depends on, by name."""
    found = {
        "the default dtype": str(torch.get_default_dtype()),
        "the default device": str(getattr(torch, "get_default_device", lambda: "cpu")()),
        "the number of threads": torch.get_num_threads(),
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "anomaly mode": torch.is_anomaly_enabled(),
        "autocast": (torch.is_autocast_enabled(), torch.is_autocast_cpu_enabled()),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "float32 matmul precision": torch.get_float32_matmul_precision(),
        "torch.backends.cuda.matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "torch.backends.cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
        "torch.backends.cudnn.enabled": torch.backends.cudnn.enabled,
        "torch.backends.cudnn.benchmark": torch.backends.cudnn.benchmark,
        "torch.backends.cudnn.deterministic": torch.backends.cudnn.deterministic,
        "torch.backends.mkldnn": torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled,
        "the denormal mode": bool((torch.full((1,), 1e-39) * 0.5).item() == 0.0),
        "garbage collection": gc.isenabled(),
        "the current folder": _folder(),
        "the recursion limit": sys.getrecursionlimit(),
        "the switch interval": sys.getswitchinterval(),
        "tracing": (sys.gettrace() is not None, sys.getprofile() is not None),
        "stdout": sys.stdout is sys.__stdout__,
    }
    for name, value in sorted(os.environ.items()):
        if not name.startswith(_LIBRARY_VARIABLES):
            found["the environment variable " + name] = value
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            found["the handler of " + signal.Signals(number).name] = repr(signal.getsignal(number))
    return found


def _folder():
    try:
        return os.getcwd()
    except OSError:
        return ""


def compare(before, after):
    """The settings that differ, each with its old and new value."""
    changed = []
    for name in sorted(set(before) | set(after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            changed.append("%s (%s, was %s)" % (name, str(new)[:60], str(old)[:60]))
    return changed


def _said(error):
    return "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])


class Contract:
    """The steps, on the models and inputs of one worker."""

    def __init__(self, worker):
        self.worker = worker
        self.steps = {name: getattr(self, name) for name in hone_protocol.STEPS}

    def answer(self, message, descriptors):
        try:
            return self.steps[message["step"]](message, descriptors)
        except Exception as error:
            return {"failed": _said(error)}

    def set_weights(self, message, descriptors):
        """Changes the weights of a slot: in place, through `.data`, or by load_state_dict (load_reference if it has its own layout)."""
        model, how = self.worker.models[message["slot"]], message["how"]
        state = dict(zip(message["names"], read_tree(message["tree"], descriptors[0], self.worker.device)))
        own = dict(model.named_parameters(remove_duplicate=False))
        own.update(model.named_buffers(remove_duplicate=False))
        same_layout = all(name in own and own[name].shape == value.shape for name, value in state.items())
        if how == "load" and not same_layout and callable(getattr(model, "load_reference", None)):
            with torch.no_grad():
                model.load_reference(state)
            return {}
        if not same_layout:
            return {"not_applicable": "it holds the reference's weights in another layout"}
        if how == "load":
            model.load_state_dict(state, strict=False)
        elif how == "data":
            for name, value in state.items():
                own[name].data.copy_(value)
        else:
            with torch.no_grad():
                for name, value in state.items():
                    own[name].copy_(value)
        self.worker.synchronize()
        return {}

    def deepcopy(self, message, descriptors):
        self.worker.models[message["as"]] = copy.deepcopy(self.worker.models[message["slot"]])
        return {}

    def pickle(self, message, descriptors):
        kept = io.BytesIO()
        torch.save(self.worker.models[message["slot"]], kept, pickle_module=pickle)
        kept.seek(0)
        self.worker.models[message["as"]] = torch.load(kept, map_location=self.worker.device, pickle_module=pickle, weights_only=False)
        return {}

    def slice(self, message, descriptors):
        """Inputs with another batch size: the first `size` entries along `dim` of every tensor with `full` entries there."""
        dim, full, size = message.get("dim", 0), message["full"], message["size"]

        def cut(tensor):
            if tensor.dim() <= dim or tensor.shape[dim] != full:
                return tensor
            return tensor.narrow(dim, 0, size).contiguous().clone()

        self.worker.inputs[message["as"]] = map_tensors(self.worker.inputs[message["inputs"]], cut)
        return {}

    def gradients(self, message, descriptors):
        """One training step: train mode, forward, backward. Writes the gradients of inputs and parameters."""
        model = self.worker.models[message["slot"]]
        leaves = []

        def wanting(tensor):
            made = tensor.detach().clone()
            if made.is_floating_point():
                leaves.append(made.requires_grad_())
            return made

        inputs = map_tensors(self.worker.inputs[message["inputs"]], wanting)
        parameters = dict(model.named_parameters())
        names = [name for name in message["names"] if name in parameters] if message.get("names") is not None else list(parameters)
        was_training = model.training
        model.train()
        try:
            self.worker.seed(message["seed"])
            with torch.enable_grad():
                out = [t for t in tensors_of([model(*inputs)]) if t.is_floating_point()]
                loss = sum((t * torch.linspace(0.5, 1.5, t.numel(), device=t.device, dtype=t.dtype).view(t.shape)).sum() for t in out)
                if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
                    return {"failed": "its result has no gradient in train mode"}
                found = torch.autograd.grad(loss, leaves + [parameters[name] for name in names], allow_unused=True)
        finally:
            model.train(was_training)
        shown = [torch.zeros(0) if value is None else value.detach().contiguous() for value in found]
        return {"names": names, "tree": write_tree(shown, descriptors[0])}

    def globals(self, message, descriptors):
        """The settings that the candidate changed since its file was imported, and whether a call advances the random generator."""
        worker = self.worker
        changed = compare(worker.settings_before, capture()) if worker.settings_before is not None else []
        worker.seed(message["seed"])
        before = torch.get_rng_state()
        device_before = torch.cuda.get_rng_state(worker.device) if worker.device.type == "cuda" else None
        with torch.no_grad():
            worker.models[message["slot"]](*worker.inputs[message["inputs"]])
        draws = not torch.equal(before, torch.get_rng_state())
        if device_before is not None:
            draws = draws or not torch.equal(device_before, torch.cuda.get_rng_state(worker.device))
        worker.synchronize()
        return {"changed": changed, "draws": draws}
