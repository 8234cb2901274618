"""Traces one call of a module: a hash of its computation, and whether Hone can replace it.

torch.export takes seconds to load and to run. To find a stored answer, the sequence of PyTorch calls in one eager call suffices: it is
the graph for these inputs, with the names of the parameters and the values of all numbers in it. A module that changes its inputs or
its buffers, or that reads values of tensors on the host, is refused with one sentence.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import warnings
from typing import Any, Iterator

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from . import _trees
from ._binary import HoneError

_HOST_READS = ("item", "tolist", "numpy", "__bool__", "__float__", "__int__", "__index__", "__complex__", "is_nonzero", "__array__")
_NAMED_BY_VALUE = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, slice, type(...))
_SEED = 0
_NO_MEMORY = ("out of memory", "can't allocate memory", "cannot allocate memory", "alloc_failed", "failed to allocate memory")
WAYS_OUT = "optimise the part of the module that has no such code, or write that part with tensor operators"


class Refused(HoneError):
    """Hone cannot optimise this module. The message gives the reason and a remedy."""


class Passing(HoneError):
    """Hone could not examine this module now, for example for lack of memory. A later attempt may succeed."""


def lacks_memory(error: "BaseException | None") -> bool:
    """Whether an exception, or one that caused it, is due to a lack of memory on the host or a device."""
    seen: "set[int]" = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        text = str(error).lower()
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or any(words in text for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def no_memory(what: str) -> Passing:
    return Passing("There was not enough memory to %s; free some, or give a smaller batch, and call hone.optimize again." % what)


def version(tensor: torch.Tensor) -> int:
    """The number of writes to a tensor; 0 if PyTorch does not count them."""
    return 0 if tensor.is_inference() else tensor._version


def state_of(model: torch.nn.Module) -> "dict[str, torch.Tensor]":
    """Parameters and buffers by every name they have."""
    return {**dict(model.named_buffers(remove_duplicate=False)), **dict(model.named_parameters(remove_duplicate=False))}


@contextlib.contextmanager
def inference(model: torch.nn.Module) -> Iterator[None]:
    """eval mode without gradients, with the random generators and all modes restored afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    devices = sorted({tensor.device.index for tensor in state_of(model).values() if tensor.device.type == "cuda"})
    try:
        model.eval()
        with torch.no_grad(), torch.random.fork_rng(devices=devices), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(_SEED)
            yield
    finally:
        for module, training in modes:
            module.training = training


class _Watch(TorchFunctionMode):
    """Hashes every call into PyTorch with its arguments. Tensors are named by their origin."""

    def __init__(self, inputs: "list[torch.Tensor]", state: "dict[str, torch.Tensor]") -> None:
        super().__init__()
        self.hash = hashlib.sha256()
        self.count = 0
        self.host_read = ""
        self._names: Any = WeakTensorKeyDictionary()
        for name, tensor in state.items():
            self._names[tensor] = "state " + name
        for index, tensor in enumerate(inputs):
            self._names[tensor] = "input %d" % index

    def name(self, value: Any) -> str:
        """A value as text that is equal in every process. A tensor that no call returned is a constant and is named by its content."""
        if isinstance(value, torch.Tensor):
            known = self._names.get(value)
            if known is None:
                known = self._names[value] = "constant " + _digest(value)
            return known
        if isinstance(value, (list, tuple)):
            return "[%s]" % ",".join([self.name(item) for item in value])
        if isinstance(value, dict):
            return "{%s}" % ",".join(["%s=%s" % (key, self.name(item)) for key, item in value.items()])
        if isinstance(value, _NAMED_BY_VALUE):
            return "%s:%r" % (type(value).__name__, value)
        return getattr(value, "__qualname__", type(value).__qualname__)

    def _results(self, value: Any, number: int, said: "list[str]") -> None:
        if isinstance(value, torch.Tensor):
            if value not in self._names:
                self._names[value] = "%d.%d" % (number, len(said))
            said.append("%s %s" % (value.dtype, tuple(value.shape)))
        elif isinstance(value, (list, tuple)):
            for item in value:
                self._results(item, number, said)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        short = getattr(func, "__name__", "")
        if short in _HOST_READS and not self.host_read:
            self.host_read = short
        said = [torch.overrides.resolve_name(func) or repr(short), self.name(args), self.name(kwargs)]
        out = func(*args, **kwargs)
        self.count += 1
        self._results(out, self.count, said)
        self.hash.update("\n".join(said).encode())
        return out


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The bytes of a dense tensor, in its own order."""
    host = tensor.detach().cpu().contiguous()
    return ctypes.string_at(host.data_ptr(), host.numel() * host.element_size()) if host.numel() else b""


def _digest(tensor: torch.Tensor) -> str:
    """A hash of a constant's content, or a description if it cannot be read."""
    try:
        content = hashlib.sha256(raw_bytes(tensor)).hexdigest()
    except RuntimeError:
        content = repr(tensor)
    return "%s %s %s" % (content, tensor.dtype, tuple(tensor.shape))


def digest_of(values: "list[Any]") -> str:
    """A hash of texts, and of tensors with their names."""
    content = hashlib.sha256()
    for value in values:
        content.update((value if isinstance(value, str) else "%s %s" % (value[0], _digest(value[1]))).encode())
    return content.hexdigest()


class Traced:
    """The results of tracing one call. `leaves` are the given tensors, `outputs` the module's own answers. `template` gives the
    origin of each tensor in the result: ("out", number), ("in", number of the input) or ("state", name)."""

    def __init__(self, graph: str, in_spec: Any, leaves: "list[torch.Tensor]", out_spec: Any, template: "list[tuple[str, Any]]",
                 outputs: "list[torch.Tensor]") -> None:
        self.graph, self.in_spec, self.leaves = graph, in_spec, leaves
        self.out_spec, self.template, self.outputs = out_spec, template, outputs


def _template(results: "list[torch.Tensor]", inputs: "list[torch.Tensor]", state: "dict[str, torch.Tensor]") -> "tuple[list, list]":
    where: "dict[int, tuple[str, Any]]" = {id(tensor): ("state", name) for name, tensor in state.items()}
    where.update((id(tensor), ("in", index)) for index, tensor in enumerate(inputs))
    outputs: "list[torch.Tensor]" = []
    for tensor in results:
        if id(tensor) not in where:
            where[id(tensor)] = ("out", len(outputs))
            outputs.append(tensor)
    return [where[id(tensor)] for tensor in results], outputs


def copies_of(tensors: "list[torch.Tensor]") -> "list[torch.Tensor]":
    """Copies that share memory as the originals do: the same tensor given twice stays one tensor."""
    made: "dict[int, torch.Tensor]" = {}
    return [made.setdefault(id(tensor), tensor.detach().clone()) if id(tensor) not in made else made[id(tensor)] for tensor in tensors]


def trace(model: torch.nn.Module, args: tuple, kwargs: "dict[str, Any]") -> Traced:
    """Calls the module once on copies of the inputs and restores its buffers afterwards. Raises Refused or HoneError."""
    leaves: "list[torch.Tensor]" = []
    in_spec = _trees.flatten((args, kwargs), leaves)
    strange = [tensor for tensor in leaves if type(tensor) not in (torch.Tensor, torch.nn.Parameter)]
    if strange:
        raise Refused("An input is a %s; Hone takes plain tensors." % type(strange[0]).__name__)
    if any(tensor.layout != torch.strided or tensor.is_quantized for tensor in leaves):
        raise Refused("An input is sparse or quantized; Hone takes dense tensors.")
    state = state_of(model)
    if any(isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin) for tensor in state.values()):
        raise Refused("The module has parameters that are not initialised yet; call it once first.")
    inputs = copies_of(leaves)
    before = {name: tensor.detach().clone() for name, tensor in state.items() if not isinstance(tensor, torch.nn.Parameter)}
    versions = {name: version(tensor) for name, tensor in state.items()}
    given = _trees.rebuild(in_spec, inputs)
    watch = _Watch(inputs, state)
    with inference(model):
        try:
            with watch:
                out = model(*given[0], **given[1])
        except Exception as error:
            if lacks_memory(error):
                raise no_memory("call the module once more") from error
            raise HoneError("The module fails on these inputs (%s: %s); give the arguments that its forward takes." % (
                type(error).__name__, " ".join(str(error).split())[:300])) from error
        finally:
            changed = [name for name, tensor in state.items() if version(tensor) != versions[name] or not _same(tensor, before.get(name))]
            for name in changed:
                if name in before:
                    state[name].copy_(before[name])
        outputs: "list[torch.Tensor]" = []
        out_spec = _trees.flatten(out, outputs)
        results = [watch.name(tensor) for tensor in outputs]
    written = [index for index, (tensor, given_tensor) in enumerate(zip(inputs, leaves)) if version(tensor) or not _same(tensor, given_tensor)]
    if changed or written:
        what = "the parameter or buffer " + changed[0] if changed else "its input %d" % written[0]
        raise Refused("forward changes %s in place, so its calls cannot be replaced; compute new tensors instead." % what)
    if watch.host_read:
        raise Refused("forward reads values of a tensor on the host (%s), so no graph describes it; %s." % (watch.host_read, WAYS_OUT))
    objects = _trees.objects(out_spec)
    if objects:
        raise Refused("forward returns a %s; return tensors in tuples, lists, dicts or dataclasses." % type(objects[0]).__name__)
    template, computed = _template(outputs, inputs, state)
    if not computed:
        raise Refused("forward returns no tensor that it computes, so there is nothing to speed up.")
    said = [watch.hash.hexdigest(), _trees.describe(in_spec), _trees.describe(out_spec), repr(template), *results]
    said += ["%s %s %s" % (tensor.dtype, tuple(tensor.shape), tensor.device.type) for tensor in inputs]
    said += ["%s %s %s %s" % (name, tensor.dtype, tuple(tensor.shape), tensor.device.type) for name, tensor in sorted(state.items())]
    return Traced(hashlib.sha256("\n".join(said).encode()).hexdigest(), in_spec, leaves, out_spec, template, computed)


def _same(tensor: torch.Tensor, before: "torch.Tensor | None") -> bool:
    if before is None or tensor is before:
        return True
    if tensor.shape != before.shape or tensor.dtype != before.dtype:
        return False
    if tensor.is_floating_point() or tensor.is_complex():
        return bool(torch.equal(torch.nan_to_num(tensor), torch.nan_to_num(before)))
    return bool(torch.equal(tensor, before))
