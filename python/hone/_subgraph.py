"""One graph from torch.compile as a module that Hone can optimise, and the reasons that prevent this.

Dynamo passes parameters and buffers as further inputs of the graph (`inline_inbuilt_nn_modules`), so that one graph serves several
instances of a class. `Lifted` reverses that: a module with parameters whose forward takes the remaining inputs. `why_not` runs the
graph on fake tensors and finds behaviour that a replacement could not repeat: writes into inputs, outputs that share memory,
random numbers, other types than tensors.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

_MODULE = re.compile(r"_modules\['([^']+)'\]")
_LEAF = re.compile(r"(?:_parameters\['([^']+)'\]|_buffers\['([^']+)'\]|\.([A-Za-z_]\w*))$")


class Layout(NamedTuple):
    """The inputs of a graph: state by position and name, and the remaining ones. Numbers among the latter are sizes of dynamic
    shapes."""

    state: Tuple[int, ...]
    names: Tuple[str, ...]
    rest: Tuple[int, ...]

    @classmethod
    def of(cls, graph: fx.GraphModule, inputs: Sequence[Any]) -> Layout:
        nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
        state = tuple(place for place, (node, value) in enumerate(zip(nodes, inputs)) if _is_state(node, value))
        seen: "set[str]" = set()
        return cls(state, tuple(_fresh(_name(nodes[place]), seen) for place in state), tuple(place for place in range(len(inputs)) if place not in state))


class Lifted(nn.Module):
    """The graph with the parameters, buffers and sizes of one call inside. forward takes the remaining tensors."""

    def __init__(self, graph: fx.GraphModule, layout: Layout, inputs: Sequence[Any]) -> None:
        super().__init__()
        if any(True for _ in (*graph.parameters(), *graph.buffers())):
            self._graph = graph
        else:  # not as a submodule: it has no state, and its name would become a prefix
            object.__setattr__(self, "_graph", graph)
        self._count = len(inputs)
        self._sizes = {place: inputs[place] for place in layout.rest if not isinstance(inputs[place], torch.Tensor)}
        self._held = {place: self._hold(name, inputs[place]) for place, name in zip(layout.state, layout.names)}
        self.eval()

    def _hold(self, name: str, tensor: torch.Tensor) -> Tuple[nn.Module, str]:
        owner: nn.Module = self
        *path, leaf = name.split(".")
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner._modules[part]  # type: ignore[assignment]
        if isinstance(tensor, nn.Parameter):
            owner.register_parameter(leaf, tensor)
        else:
            owner.register_buffer(leaf, tensor)
        return owner, leaf

    def forward(self, *inputs: Any) -> Tuple[Any, ...]:
        rest = iter(inputs)
        arguments = []
        for place in range(self._count):
            if place in self._held:
                arguments.append(getattr(*self._held[place]))
            else:
                arguments.append(self._sizes[place] if place in self._sizes else next(rest))
        return tuple(self._graph(*arguments))


def _is_state(node: fx.Node, value: Any) -> bool:
    if not isinstance(value, torch.Tensor):
        return False
    return isinstance(value, nn.Parameter) or "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})


def _name(node: fx.Node) -> str:
    """`layers.0.weight` for L['self']._modules['layers']._modules['0']._parameters['weight']; else the name of the input."""
    source = getattr(node, "_dynamo_source", None)
    text = getattr(source, "name", "")
    text = str(text() if callable(text) else text)
    leaf = _LEAF.search(text)
    if leaf is None:
        return re.sub(r"\W", "_", str(node.target))
    parts = [*_MODULE.findall(text), next(group for group in leaf.groups() if group)]
    return ".".join(part.replace(".", "_") for part in parts)


def _fresh(name: str, seen: "set[str]") -> str:
    """A name that is neither taken nor a prefix of a taken one."""
    wish, count = name, 0
    while wish in seen or any(taken.startswith(wish + ".") or wish.startswith(taken + ".") for taken in seen) or hasattr(nn.Module, wish.split(".")[-1]):
        count += 1
        wish = "%s_%d" % (name, count)
    seen.add(wish)
    return wish


class _Watch(TorchDispatchMode):
    """Records properties of the operators in a call."""

    def __init__(self) -> None:
        super().__init__()
        self.random = ""
        self.computed = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.random = str(func)
        if not func.is_view:
            self.computed += 1
        return func(*args, **(kwargs or {}))


def why_not(graph: fx.GraphModule, inputs: Sequence[Any]) -> Optional[str]:
    """Why a replacement of this graph could behave differently; None if it could not."""
    if torch.is_autocast_enabled() or torch.is_autocast_enabled("cpu"):
        return "autocast is on, which changes the types that the graph computes with"
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    if any(type(value) not in (torch.Tensor, nn.Parameter) for value in tensors):
        return "an input is of a subclass of torch.Tensor"
    if any(value.layout != torch.strided or value.is_quantized for value in tensors):
        return "an input is sparse or quantized"
    if len({value.device for value in tensors if value.dim() > 0}) > 1:
        return "its inputs are on several devices"
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(value) if isinstance(value, torch.Tensor) else value for value in inputs]
    before = [value._version for value in fakes if isinstance(value, torch.Tensor)]
    watch = _Watch()
    try:
        with torch.no_grad(), mode, watch:
            outputs = graph(*fakes)
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        return "its shapes or its path depend on values of tensors (%s)" % error.func
    if [value._version for value in fakes if isinstance(value, torch.Tensor)] != before:
        return "it writes into one of its inputs or buffers"
    if watch.random:
        return "it draws random numbers (%s)" % watch.random
    if not isinstance(outputs, (tuple, list)) or not all(isinstance(value, torch.Tensor) for value in outputs):
        return "it returns something that is not a tensor"
    if watch.computed == 0:
        return "it computes nothing"
    memory = {value.untyped_storage()._cdata for value in fakes if isinstance(value, torch.Tensor)}
    for value in outputs:
        if value.untyped_storage()._cdata in memory:
            return "an output shares memory with an input or with another output"
        memory.add(value.untyped_storage()._cdata)
    return None
