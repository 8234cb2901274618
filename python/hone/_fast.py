"""The module that hone.optimize returns: the original's call and state_dict, with a faster computation if one was accepted.

It owns no state: parameters, buffers and submodules are the original's own, so a change in one is a change in both, and memory holds them
once. Each answer belongs to one set of shapes. The original runs for calls without an answer, and for training, gradients, hooks, autocast
and tracing.
"""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from typing import Any

import torch
from torch import nn

from . import _capture, _trees
from ._binary import HoneError
from ._report import Report, Reports
from ._trace import version

_MOST_ROUTES = 4096
_MISSING = object()


def _autocast_by_name() -> bool:
    return torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def _autocast_by_function() -> bool:  # before torch 2.4
    return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()


try:
    _autocast_by_name()
    _autocast = _autocast_by_name
except TypeError:
    _autocast = _autocast_by_function


def canonical(forward: Any, args: tuple, kwargs: "dict[str, Any]") -> "tuple[tuple, dict[str, Any]]":
    """Normalises a call: every argument that has a name is passed by name, and arguments equal to their default are dropped."""
    try:
        signature = inspect.signature(forward)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    positional: "list[Any]" = []
    named: "dict[str, Any]" = {}
    star = any(one.kind is one.VAR_POSITIONAL and bound.arguments.get(one.name) for one in signature.parameters.values())
    for one in signature.parameters.values():
        value = bound.arguments.get(one.name, _MISSING)
        if value is _MISSING:
            continue
        if one.kind is one.VAR_POSITIONAL:
            positional.extend(value)
        elif one.kind is one.VAR_KEYWORD:
            named.update(value)
        elif one.kind is one.POSITIONAL_ONLY or star and one.kind is one.POSITIONAL_OR_KEYWORD:
            positional.append(value)
        elif not (value is one.default or type(value) in (bool, int, float, str) and type(value) is type(one.default) and value == one.default):
            named[one.name] = value
    return tuple(positional), named


class Answer:
    """One accepted candidate for one set of shapes. The file is imported on first use."""

    def __init__(self, key: "tuple[Any, Any]", used_inputs: "list[int]", template: "list[tuple[str, Any]]", out_spec: Any, best: str, constants: str,
                 prefix: str = "") -> None:
        self.key, self.used_inputs, self.template, self.out_spec = key, used_inputs, template, out_spec
        self.best, self.constants = best, constants  # files; without best, PyTorch is kept
        self.prefix = prefix  # prefix of the names in ModelNew's state_dict
        self.why_not = "" if best else "PyTorch is kept"
        self.model: "nn.Module | None" = None
        self.links: "list[tuple[dict, str, torch.Tensor, int, int, Any]]" = []
        self.structure: "list[tuple[dict, str, nn.Module]]" = []
        self.copies = False

    def __getstate__(self) -> "dict[str, Any]":
        return {**vars(self), "model": None, "links": [], "structure": []}

    def load(self, original: nn.Module) -> None:
        """Builds ModelNew over the original's own parameters."""
        module = _capture.load_file(self.best, "hone_answer_%08x" % (hash(self.best) & 0xFFFFFFFF))
        constants = torch.load(self.constants, map_location="cpu", weights_only=True) if self.constants else []
        with torch.random.fork_rng(devices=[]):
            model = module.ModelNew(*constants)
        self.copies = callable(getattr(model, "load_reference", None))
        self.model = model
        self.structure = [(module._modules, name, child) for module in original.modules() for name, child in module._modules.items() if child is not None]
        self._link(original)
        model.eval()

    def _link(self, original: nn.Module) -> None:
        model = self.model
        assert model is not None
        state = {**dict(original.named_buffers(remove_duplicate=False)), **dict(original.named_parameters(remove_duplicate=False))}
        device = next(iter(state.values())).device if state else None
        if self.copies:
            if device is not None:
                model.to(device)
            with torch.no_grad():
                model.load_reference(original.state_dict())
            names = list(state)
        else:
            names = [name[len(self.prefix):] for name in model.state_dict()]
            for name in names:
                path, _, leaf = (self.prefix + name).rpartition(".")
                owner = model.get_submodule(path)
                if isinstance(state[name], nn.Parameter):
                    setattr(owner, leaf, state[name])
                else:
                    owner._buffers[leaf] = state[name]
            for owner in model.modules():  # constants, which are in no state_dict
                for leaf, buffer in owner._buffers.items():
                    if buffer is not None and device is not None and buffer.device != device:
                        owner._buffers[leaf] = buffer.to(device)
        self.links = []
        for name in names:
            path, _, leaf = name.rpartition(".")
            owner = original.get_submodule(path)
            table = owner._parameters if leaf in owner._parameters else owner._buffers
            tensor = state[name]
            stamp = version(tensor) if self.copies else 0
            self.links.append((table, leaf, tensor, tensor.data_ptr(), stamp, (tensor.dtype, tensor.shape, tensor.device)))

    def is_current(self, original: nn.Module) -> bool:
        """Whether the original is still the captured module: the same submodules, none with a hook. The model is linked again if tensors
        were replaced by others of the same kind."""
        if original._forward_hooks or original._forward_pre_hooks:
            return False
        for table, leaf, child in self.structure:
            if table.get(leaf) is not child or child._forward_hooks or child._forward_pre_hooks:
                return False
        for table, leaf, tensor, address, stamp, kind in self.links:
            if table.get(leaf) is tensor and tensor.data_ptr() == address and (not self.copies or version(tensor) == stamp):
                continue
            now = table.get(leaf)
            if now is None or (now.dtype, now.shape, now.device) != kind:
                return False
            self._link(original)
            return self._all_alike(original)
        return True

    def _all_alike(self, original: nn.Module) -> bool:
        return all(table.get(leaf) is tensor for table, leaf, tensor, _, _, _ in self.links)

    def run(self, leaves: "list[torch.Tensor]") -> "list[torch.Tensor]":
        """The tensors that the candidate computes."""
        assert self.model is not None
        given = [leaves[index] if type(leaves[index]) is torch.Tensor else leaves[index].detach() for index in self.used_inputs]
        if torch.is_grad_enabled():
            with torch.no_grad():
                got = self.model(*given)
        else:
            got = self.model(*given)
        return [got] if isinstance(got, torch.Tensor) else list(got)

    def assemble(self, got: "list[torch.Tensor]", leaves: "list[torch.Tensor]", original: nn.Module) -> Any:
        """The result in the original's own structure."""
        found = []
        for kind, where in self.template:
            if kind == "out":
                found.append(got[where])
            elif kind == "in":
                found.append(leaves[where])
            else:
                path, _, leaf = where.rpartition(".")
                found.append(getattr(original.get_submodule(path), leaf))
        return _trees.rebuild(self.out_spec, found)


class Fast(nn.Module):
    """A module with the original's call and state_dict that runs faster where Hone found a faster computation. Made by `hone.optimize`."""

    def __init__(self, original: nn.Module) -> None:
        super().__init__()
        for name in ("_parameters", "_buffers", "_modules"):
            self.__dict__[name] = getattr(original, name)
        self.__dict__["_hone"] = {"original": original, "answers": [], "reports": [], "routes": {}, "warned": set()}
        self.training = original.training

    # Results

    @property
    def hone(self) -> Report:
        """The results for all shapes: a Report that prints itself."""
        reports = self._hone["reports"]
        return reports[0] if len(reports) == 1 else Reports(reports) if reports else Report(status="kept", reason="nothing was tried")

    @property
    def original(self) -> nn.Module:
        """The module that was passed to hone.optimize."""
        return self._hone["original"]

    def _add(self, answer: "Answer | None", report: Report) -> None:
        """Adds the result for one set of shapes, and replaces an earlier one for the same shapes."""
        state = self._hone
        if answer is not None:
            at = next((index for index, one in enumerate(state["answers"]) if one is not None and one.key == answer.key), None)
            if at is not None:
                del state["answers"][at], state["reports"][at]
        state["answers"].append(answer)
        state["reports"].append(report)
        state["routes"].clear()

    # The call

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        state = self._hone
        original = state["original"]
        why = self._why_not(original)
        if not why:
            leaves: "list[torch.Tensor]" = []
            key = (_trees.flatten((args, kwargs), leaves), tuple([_trees.tensor_key(tensor) for tensor in leaves]))
            route = state["routes"].get(key)
            if route is None:
                route = self._route(key)
            answer, order = route
            if answer is not None and self._may_run(answer, leaves):
                try:
                    if answer.model is None:
                        answer.load(original)
                    if answer.is_current(original):
                        ordered = [leaves[index] for index in order]
                        return answer.assemble(answer.run(ordered), ordered, original)
                except Exception as error:
                    answer.why_not = "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])
                    self._warn("hone: the faster module failed, so the original runs from now on (%s)" % answer.why_not)
        elif why in ("training", "gradients") and any(one is not None and not one.why_not for one in state["answers"]):
            self._warn(_HINTS[why])
        return original(*args, **kwargs)

    def _why_not(self, original: nn.Module) -> str:
        if self.training or original.training:
            return "training"
        if torch.is_grad_enabled() and any(parameter.requires_grad for parameter in original.parameters()):
            return "gradients"
        if _autocast() or torch.jit.is_tracing() or torch._C._len_torch_dispatch_stack():
            return "a mode of PyTorch"
        compiler = getattr(torch, "compiler", None)
        if compiler is not None and hasattr(compiler, "is_compiling") and compiler.is_compiling():
            return "compilation"
        if torch.nn.modules.module._has_any_global_hook():
            return "hooks"
        return ""

    def _may_run(self, answer: Answer, leaves: "list[torch.Tensor]") -> bool:
        if answer.why_not:
            return False
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in leaves):
            return False
        return all(type(tensor) is torch.Tensor or type(tensor) is nn.Parameter for tensor in leaves)

    def _route(self, key: "tuple[Any, Any]") -> "tuple[Answer | None, list[int]]":
        """The answer for calls of this form, and the positions of its inputs in the call."""
        state = self._hone
        markers = [torch.empty(0) for _ in key[1]]
        args, kwargs = _trees.rebuild(key[0], markers)
        found: "list[torch.Tensor]" = []
        spec = _trees.flatten(canonical(state["original"].forward, args, kwargs), found)
        number = {id(marker): index for index, marker in enumerate(markers)}
        order = [number[id(tensor)] for tensor in found]
        asked = (spec, tuple([key[1][index] for index in order]))
        route = (next((one for one in state["answers"] if one is not None and one.key == asked), None), order)
        if len(state["routes"]) >= _MOST_ROUTES:
            state["routes"].clear()
        state["routes"][key] = route
        return route

    def _warn(self, text: str) -> None:
        if text not in self._hone["warned"]:
            self._hone["warned"].add(text)
            warnings.warn(text, stacklevel=4)

    # Methods that the original handles

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            held = self.__dict__.get("_hone")
            if held is None or name.startswith("__"):
                raise
            return getattr(held["original"], name)

    def train(self, mode: bool = True) -> "Fast":
        self._hone["original"].train(mode)
        self.training = mode
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self._hone["original"].state_dict(*args, **kwargs)

    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self._hone["original"].load_state_dict(*args, **kwargs)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self._hone["original"]._load_from_state_dict(*args, **kwargs)

    def _get_name(self) -> str:
        return "Hone[%s]" % type(self._hone["original"]).__name__

    def __deepcopy__(self, memo: "dict[int, Any]") -> "Fast":
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__getstate__(), memo))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        # pickle can only refer to the function by name; cloudpickle and dill store functions by value.
        by_value = {"cloudpickle", "dill"} & set(sys._getframe(1).f_globals.get("__name__", "").split("."))
        found = None if by_value else _trees.without_a_name(self._hone["original"])
        if found is not None:
            raise HoneError("The module cannot be pickled: %s was defined inside a function; define it at the top of a file, or save fast.state_dict() instead." % found)
        return super().__reduce_ex__(protocol)

    def __getstate__(self) -> "dict[str, Any]":
        held = dict(self._hone, routes={}, warned=set())
        return {**vars(self), "_hone": held}


_HINTS = {
    "training": "hone: the module is in training mode, so the original runs; call .eval() for the faster one",
    "gradients": "hone: gradients are enabled, so the original runs; call the module under torch.no_grad() for the faster one",
}
