"""A module as a self-contained task: torch.export turns one call of it into a graph, and the graph becomes a Python
file.

The folder holds NAME.py (class Model, get_inputs, get_init_inputs), weights.pt and, if needed, constants.pt and
inputs.pt. The file does not depend on the module's program, so a module from a notebook, or one that imports neighbouring
files, can be judged in a sandbox. Model's parameters keep their original names. Parts that the graph does not use are
left out.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from typing import Any

import torch
from torch import nn

from . import _modules, _trees
from ._task_text import Writer
from ._trace import WAYS_OUT, Refused, Traced, copies_of, inference, lacks_memory, no_memory, raw_bytes

_MOST_BYTES = 4 << 20  # limit of `hone` for a task file


class _Flat(nn.Module):
    """The module with flat tensors as inputs and outputs, so that export sees no other types."""

    def __init__(self, model: nn.Module, in_spec: Any) -> None:
        super().__init__()
        self.model = model
        self.in_spec = in_spec

    def forward(self, *tensors: torch.Tensor) -> Any:
        args, kwargs = _trees.rebuild(self.in_spec, list(tensors))
        leaves: "list[torch.Tensor]" = []
        _trees.flatten(self.model(*args, **kwargs), leaves)
        return tuple(leaves)


class _Holder(nn.Module):
    """Wraps a standard module as a submodule, because recipes would not recognise a Model that is itself a GRU."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.training = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


def _export(model: nn.Module, traced: Traced) -> Any:
    if not hasattr(torch, "export") or not hasattr(torch.export, "export"):
        raise Refused("torch %s has no torch.export; install torch 2.2 or later." % torch.__version__)
    export = torch.export.export
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 7) and hasattr(torch.export, "export_for_training"):
        export = torch.export.export_for_training
    flat = _Flat(model, traced.in_spec)
    flat.training = False
    try:
        return export(flat, tuple(copies_of(traced.leaves)), strict=False)
    except Exception as error:
        if lacks_memory(error):
            raise no_memory("export the module") from error
        text = " ".join(str(error).split())
        if "data-dependent" in text.lower() or "data dependent" in text.lower() or "DataDependent" in type(error).__name__:
            raise Refused("The module cannot be exported: its control flow or its shapes depend on values of tensors; %s." % WAYS_OUT) from error
        raise Refused("The module cannot be exported (%s: %s); %s." % (type(error).__name__, text[:200], WAYS_OUT)) from error


class Captured:
    """A written task: its folder, the arguments to build Model, and its inputs."""

    def __init__(self, path: str, used_inputs: "list[int]", constants: "list[torch.Tensor]", random: bool, prefix: str) -> None:
        self.path, self.used_inputs, self.constants, self.random = path, used_inputs, constants, random
        self.prefix = prefix  # prefix of the original names in Model's state_dict


def safe_name(text: str) -> str:
    """A name for a file and a run."""
    return re.sub(r"\W+", "_", text).strip("_")[:60] or "module"


def load_file(path: str, name: str) -> Any:
    """Imports one file under a separate name."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("cannot import %s" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def capture(model: nn.Module, traced: Traced, folder: str, name: str) -> Captured:
    """Writes the task of one traced call into `folder`. Raises Refused with one sentence if that is impossible."""
    hooked = [module for module in model.modules() if module._forward_hooks or module._forward_pre_hooks]
    if hooked:
        raise Refused("%s has forward hooks, which a faster module would not call; remove them first." % type(hooked[0]).__name__)
    with inference(model):
        prefix, held = ("module.", _Holder(model)) if _modules.is_standard(model) else ("", model)
        writer = Writer(held, model.forward, traced, _export(held, traced), "%s, captured by Hone with torch.export of torch %s." % (name, torch.__version__))
        writer.read()
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name + ".py")
        weights = {full: tensor.detach().cpu().contiguous() for full, tensor in _weights(writer).items()}
        source = writer.text("The weights are in weights.pt (sha256 %s)." % _hash_of([*weights.values(), *writer.constants])[:16])
        if len(source.encode()) > _MOST_BYTES:
            raise Refused("The graph takes %.1f MB as text, more than %.0f; optimise a part of the module." % (len(source) / 1e6, _MOST_BYTES / 1e6))
        torch.save(weights, os.path.join(folder, "weights.pt"))
        for file, tensors in (("constants.pt", writer.constants), ("inputs.pt", writer.kept)):
            if tensors:
                torch.save(tensors, os.path.join(folder, file))
        with open(path, "w", encoding="utf-8") as out:
            out.write(source)
        _verify(path, writer, traced)
    return Captured(path, writer.used_inputs, writer.constants, writer.random, prefix)


def _weights(writer: Writer) -> "dict[str, torch.Tensor]":
    """The entries of Model's state_dict, with the original's values."""
    names = set(writer.used_state)
    for path, module in writer.kept_modules.items():
        names.update(path + "." + leaf for leaf in module.state_dict())
    return {name: writer.state[name] for name in sorted(names)}


def _hash_of(tensors: "list[torch.Tensor]") -> str:
    content = hashlib.sha256()
    for tensor in tensors:
        content.update(("%s %s" % (tensor.dtype, tuple(tensor.shape))).encode())
        content.update(raw_bytes(tensor))
    return content.hexdigest()


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The relative difference of two tensors; infinite if shape or dtype differ."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return float("inf")
    if one.numel() == 0:
        return 0.0
    if not (one.is_floating_point() or one.is_complex()):
        return float((one != other).double().mean())
    wide = torch.complex128 if one.is_complex() else torch.float64
    first, second = one.detach().to(wide), other.detach().to(wide)
    if not bool((torch.isfinite(first) == torch.isfinite(second)).all()):
        return float("inf")
    first, second = torch.nan_to_num(first, posinf=0.0, neginf=0.0), torch.nan_to_num(second, posinf=0.0, neginf=0.0)
    return float((first - second).norm() / second.norm().clamp_min(1e-30))


def _verify(path: str, writer: Writer, traced: Traced) -> None:
    """Runs the written file on the given inputs and compares it with the module's own answers."""
    module = load_file(path, "hone_captured_" + hashlib.sha256(path.encode()).hexdigest()[:12])
    model = module.Model(*writer.constants).to(writer.device).eval()
    torch.manual_seed(0)
    inputs = copies_of(traced.leaves)
    try:
        got = model(*[inputs[index] for index in writer.used_inputs])
    except Exception as error:
        if lacks_memory(error):
            raise no_memory("run the captured graph") from error
        raise Refused("The captured graph does not run (%s: %s); %s." % (type(error).__name__, " ".join(str(error).split())[:200], WAYS_OUT)) from error
    found = [got] if isinstance(got, torch.Tensor) else list(got)
    if writer.random and writer.device.type != "cpu":
        return
    for one, expected in zip(found, traced.outputs):
        allowed = 1e-3 if expected.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128) or not expected.is_floating_point() else 3e-2
        if distance(one, expected) > allowed:
            raise Refused("The captured graph does not give the module's own answers; its calls depend on something besides inputs and weights.")
