"""The text of a task: one exported program as a readable Python file.

Standard modules stay modules (_modules.py), and all else is an ATen call. Parameters keep their names. If a value is read for the last time,
the result takes over its name, so that memory is freed where the original frees it. Programs that a file cannot express are refused with one
sentence.
"""

from __future__ import annotations

import inspect
import keyword
import operator
import re
from typing import Any

import torch
from torch import nn

from . import _modules, _natures
from ._trace import WAYS_OUT, Refused, Traced, state_of

_MOST_OPERATORS = 20000
_CHECKS = ("_assert_tensor_metadata", "_assert_async", "sym_constrain_range", "sym_constrain_range_for_size", "_assert_scalar")
_DROPOUTS = ("dropout", "dropout_", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
_PARAMETER = "parameter"


class _Ref:
    """A value of the graph: its name in the text, and for a parameter its position in the modules."""

    def __init__(self, text: str, owner: "tuple[str, str] | None" = None) -> None:
        self.text, self.owner = text, owner
        self.last_use = -1


class _Step:
    def __init__(self, node: Any, call: "_modules.Call | None", args: Any, kwargs: Any) -> None:
        self.node, self.call, self.args, self.kwargs = node, call, args, kwargs
        self.result = _Ref("")


class Writer:
    """Writes the text of one exported program."""

    def __init__(self, model: nn.Module, forward: Any, traced: Traced, program: Any, title: str) -> None:
        self.model, self.signature, self.traced, self.program, self.title = model, forward, traced, program, title
        self.state = state_of(model)
        self.constants: "list[torch.Tensor]" = []
        self.kept: "list[torch.Tensor]" = []
        self.env: "dict[Any, _Ref]" = {}
        self.steps: "list[_Step]" = []
        self.placeholders: "dict[str, tuple[str, Any]]" = {}  # placeholders of the program: (kind, full name or number of the input)
        self.lines: "list[str]" = []
        self.taken = {"self", "torch", "nn", "aten", "device", "constants", "os", "Model", "get_inputs", "get_init_inputs", *keyword.kwlist}
        tensors = [*traced.leaves, *self.state.values()]
        devices = {tensor.device for tensor in tensors}
        if len(devices) > 1:
            raise Refused("The inputs and the parameters are on several devices (%s); move them to one." % ", ".join(sorted(map(str, devices))))
        self.device = tensors[0].device if tensors else torch.device("cpu")

    # Reading the graph

    def read(self) -> None:
        inputs = 0
        for spec in self.program.graph_signature.input_specs:
            kind, name = spec.kind.name, getattr(spec.arg, "name", None)
            if kind in ("PARAMETER", "BUFFER"):
                full = _without_prefix(spec.target)
                persistent = kind == "PARAMETER" or bool(spec.persistent)
                self.placeholders[name] = (_PARAMETER if persistent else "constant", full if persistent else self._constant_named(full))
            elif kind == "CONSTANT_TENSOR":
                self.placeholders[name] = ("constant", self.program.constants[spec.target])
            elif kind == "USER_INPUT":
                self.placeholders[name] = ("input", inputs)
                inputs += 1
            else:
                raise Refused("forward uses a %s, which a task cannot hold; %s." % (kind.lower().replace("_", " "), WAYS_OUT))
        used = {node.name for node in self.program.graph.nodes if node.op == "placeholder" and node.users}
        self.used_state = {value for name, (kind, value) in self.placeholders.items() if kind == _PARAMETER and name in used}
        self.used_inputs = sorted(value for name, (kind, value) in self.placeholders.items() if kind == "input" and name in used)
        self._plan_tree()
        self.input_names = self._name_inputs()
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.env[node] = self._placeholder(*self.placeholders[node.name], used=bool(node.users))
        self._read_nodes(self.program.graph_module)
        if len(self.steps) > _MOST_OPERATORS:
            raise Refused("The graph has %d operators, more than %d; optimise a part of the module." % (len(self.steps), _MOST_OPERATORS))

    def _constant_named(self, name: str) -> torch.Tensor:
        return self.state[name]

    def _placeholder(self, kind: str, value: Any, used: bool) -> _Ref:
        if not used:
            return _Ref("None")
        if kind == "input":
            return _Ref(self.input_names[value])
        if kind == _PARAMETER:
            path, _, leaf = value.rpartition(".")
            return _Ref(_attribute(self._path(path), leaf), (path, leaf))
        return _Ref("self." + self._add_constant(value))

    def _read_nodes(self, graph_module: Any, results: "list[Any] | None" = None) -> None:
        skipped: "set[Any]" = set()
        calls: "dict[Any, _modules.Call]" = {}
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and node.target is not operator.getitem:
                call = _modules.call_of(node, self.kept_modules.get, lambda item: self.env[item].owner if item in self.env else None)
                if call is not None:
                    calls[node] = call
                    skipped.update(call.skips)
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and node not in skipped:
                self._read_call(node, calls.get(node), graph_module)
            elif node.op == "get_attr" and not isinstance(getattr(graph_module, node.target, None), torch.fx.GraphModule):
                self.env[node] = _Ref("self." + self._add_constant(_follow(graph_module, node.target)))
            elif node.op == "output":
                self.results = [self.env.get(item, item) if isinstance(item, torch.fx.Node) else item for item in node.args[0]]
            elif node.op in ("call_module", "call_method"):
                raise Refused("torch.export left a node of the kind %s in the graph; %s." % (node.op, WAYS_OUT))

    def _read_call(self, node: Any, call: "_modules.Call | None", graph_module: Any) -> None:
        target = node.target
        if target is torch._C._set_grad_enabled:
            return
        name = getattr(target, "__name__", str(target))
        if name == "wrap_with_set_grad_enabled":
            self._inline(node, _follow(graph_module, node.args[1].target), node.args[2:])
            return
        if target is not operator.getitem:
            schema = getattr(target, "_schema", None)
            if schema is None or not schema.name.startswith("aten::"):
                raise Refused("forward uses %s, which is no ATen operator; %s." % (schema.name if schema is not None else name, WAYS_OUT))
            short = schema.name[len("aten::"):]
            if short in _CHECKS:
                return
            if short in ("item", "_local_scalar_dense") or short.startswith("sym_"):
                raise Refused("forward reads the value or the shape of a tensor that depends on values; %s." % WAYS_OUT)
            if not node.users and not schema.is_mutable:
                return
            if short in _DROPOUTS and not node.args[2]:
                self.env[node] = self.env[node.args[0]]
                return
        elif target is operator.getitem and isinstance(self.env.get(node.args[0]), list):
            self.env[node] = self.env[node.args[0]][node.args[1]]  # for an inlined part
            return
        elif not node.users:
            return
        step = _Step(node, call, None, None)
        self.env[node] = step.result
        number = len(self.steps)
        sources = call.arguments if call is not None else [node.args, node.kwargs]
        step.args = torch.fx.node.map_arg(sources if call is not None else node.args, lambda item: self._use(item, number))
        step.kwargs = {} if call is not None else torch.fx.node.map_arg(node.kwargs, lambda item: self._use(item, number))
        if _is_random(node):
            self.random = True
        self.steps.append(step)

    random = False

    def _use(self, node: Any, number: int) -> _Ref:
        ref = self.env.get(node)
        if not isinstance(ref, _Ref):
            raise Refused("The graph uses %s in a way that a task cannot hold; %s." % (node, WAYS_OUT))
        ref.last_use = number
        return ref

    def _inline(self, node: Any, inner: Any, arguments: Any) -> None:
        """The body of a `with torch.no_grad()` block."""
        following = iter(arguments)
        for placeholder in inner.graph.nodes:
            if placeholder.op == "placeholder":
                self.env[placeholder] = self.env[next(following)]
        outer = getattr(self, "results", None)
        self._read_nodes(inner)
        self.env[node], self.results = self.results, outer  # type: ignore[assignment]

    # Names

    def _fresh(self, wish: str) -> str:
        wish = re.sub(r"\W", "_", wish) or "value"
        name = wish = "v" + wish if wish[0].isdigit() else wish
        number = 1
        while name in self.taken:
            number += 1
            name = "%s_%d" % (wish, number)
        self.taken.add(name)
        return name

    def _name_inputs(self) -> "dict[int, str]":
        """The names of forward's parameters for inputs that correspond to one of them."""
        words: "list[str]" = []

        def visit(spec: Any, word: str) -> None:
            if spec[0] == "tensor":
                words.append(word)
            elif spec[0] not in ("value", "object"):
                keys = spec[2] if spec[0] in ("dict", "mapping", "data") else range(len(spec[-1]))
                for key, item in zip(keys, spec[-1]):
                    visit(item, "%s_%s" % (word, key))

        (_, (positional, keywords)) = self.traced.in_spec
        try:
            parameters = [one.name for one in inspect.signature(self.signature).parameters.values()
                          if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        except (TypeError, ValueError):
            parameters = []
        for index, spec in enumerate(positional[1]):
            visit(spec, parameters[index] if index < len(parameters) else "x%d" % index)
        for key, spec in zip(keywords[2], keywords[3]):
            visit(spec, str(key))
        return {index: self._fresh(word) for index, word in enumerate(words) if index in self.used_inputs}

    # The tree of modules

    def _plan_tree(self) -> None:
        """Selects the task's modules: containers for names with dots, and standard modules whose tensors are all used."""
        own: "dict[str, set[str]]" = {}
        for name in self.used_state:
            path, _, leaf = name.rpartition(".")
            own.setdefault(path, set()).add(leaf)
        self.kept_modules: "dict[str, nn.Module]" = {}
        self.constructors: "dict[str, str]" = {}
        for path, leaves in own.items():
            module = self.model.get_submodule(path) if path else None
            text = _modules.constructor(module, leaves) if module is not None else ""
            if text and module is not None:
                self.kept_modules[path], self.constructors[path] = module, text
        paths = {path for path in own}
        for path in list(paths):
            while "." in path:
                path = path.rpartition(".")[0]
                paths.add(path)
        self.paths = sorted(paths - {""}, key=lambda path: [(int(part), "") if part.isdigit() else (-1, part) for part in path.split(".")])
        self.own = own
        children: "dict[str, list[str]]" = {}
        for path in self.paths:
            parent, _, leaf = path.rpartition(".")
            children.setdefault(parent, []).append(leaf)
        self.numbered = {path for path, names in children.items() if path and all(name.isdigit() for name in names) and path not in own}

    def _path(self, path: str) -> str:
        text, done = "self", ""
        for part in path.split(".") if path else ():
            text = '%s["%s"]' % (text, part) if done in self.numbered and done else _attribute(text, part)
            done = done + "." + part if done else part
        return text

    def _add_constant(self, tensor: torch.Tensor) -> str:
        """A tensor that never changes: as an expression if that is short, else in constants.pt."""
        name = "hone_constant_%d" % len(self.lines)
        text = _literal(tensor)
        if not text:
            text = "constants[%d]" % len(self.constants)
            self.constants.append(tensor.detach().cpu().contiguous())
        self.lines.append('self.register_buffer("%s", %s, persistent=False)' % (name, text))
        return name

    def _init_lines(self) -> "list[str]":
        lines = []
        for path in self.paths:
            parent, _, leaf = path.rpartition(".")
            made = self.constructors.get(path) or ("nn.ModuleDict()" if path in self.numbered else "nn.Module()")
            where = self._path(parent)
            if parent in self.numbered and parent:
                lines.append('%s["%s"] = %s' % (where, leaf, made))
            elif leaf.isidentifier() and not keyword.iskeyword(leaf):
                lines.append("%s.%s = %s" % (where, leaf, made))
            else:
                lines.append('%s.add_module("%s", %s)' % (where, leaf, made))
        for path in sorted(self.own):
            if path in self.kept_modules:
                continue
            for leaf in sorted(self.own[path]):
                full = path + "." + leaf if path else leaf
                tensor = self.state[full]
                made = "_weight(%r, %r)" % (tuple(tensor.shape), tensor.dtype)
                if isinstance(tensor, nn.Parameter):
                    made = "nn.Parameter(%s%s)" % (made, "" if tensor.requires_grad and _can_need_gradients(tensor) else ", requires_grad=False")
                    lines.append('%s.register_parameter("%s", %s)' % (self._path(path), leaf, made))
                else:
                    lines.append('%s.register_buffer("%s", %s)' % (self._path(path), leaf, made))
        return lines + self.lines

    # Writing

    def _value(self, value: Any) -> str:
        if isinstance(value, _Ref):
            return value.text
        if isinstance(value, (list, tuple)):
            return "[%s]" % ", ".join([self._value(item) for item in value])
        if isinstance(value, torch.device):
            if value == self.device or (value.type == self.device.type and value.index is None):
                self.needs_device = True
                return "device"
            return "torch.device(%r)" % str(value)
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            return 'float("%r")' % value
        if value is None or isinstance(value, (bool, int, float, complex, str, torch.dtype, torch.layout, torch.memory_format)):
            return repr(value)
        raise Refused("An operator has an argument of the type %s; %s." % (type(value).__name__, WAYS_OUT))

    needs_device = False

    def _forward_lines(self) -> "list[str]":
        outputs = self._outputs()
        for ref in outputs:
            if isinstance(ref, _Ref):
                ref.last_use = len(self.steps)
        alive: "list[_Ref]" = []
        lines = []
        for number, step in enumerate(self.steps):
            text = self._right_side(step)
            dying = [ref for ref in alive if ref.last_use == number]
            alive = [ref for ref in alive if ref.last_use != number]
            if step.result.last_use < 0:
                lines.append(text)
            else:
                # The result takes the name of a value that is read here for the last time.
                name = step.result.text = dying.pop(0).text if dying else self._fresh("h")
                lines.append("%s = %s" % (name, text))
                if step.call is not None and isinstance(self.kept_modules[step.call.path], nn.LSTM):
                    lines.append("%s = (%s[0], *%s[1])" % (name, name, name))  # in the form in which the operator returns them
                alive.append(step.result)
            for ref in dying:
                self.taken.discard(ref.text)
            if dying:
                lines[-1] += "; del " + ", ".join(ref.text for ref in dying)
        names = [ref.text if isinstance(ref, _Ref) else self._value(ref) for ref in outputs]
        lines.append("return " + (names[0] if len(names) == 1 else "(%s)" % ", ".join(names)))
        if self.needs_device:
            owner = self.input_names[self.used_inputs[0]]
            lines.insert(0, "device = %s.device" % owner)
        return lines

    def _right_side(self, step: _Step) -> str:
        if step.call is not None:
            return self._path(step.call.path) + step.call.text % tuple(self._value(item) for item in step.args)
        if step.node.target is operator.getitem:
            return "%s[%d]" % (self._value(step.args[0]), step.args[1])
        words = [self._value(item) for item in step.args] + ["%s=%s" % (key, self._value(item)) for key, item in step.kwargs.items()]
        return "%s(%s)" % (str(step.node.target), ", ".join(words))

    def _outputs(self) -> "list[Any]":
        """The values that the template calls ("out", 0), ("out", 1), …"""
        if len(self.results) != len(self.traced.template):
            raise Refused("forward returned %d tensors when it was called and %d when it was exported; %s." % (
                len(self.traced.template), len(self.results), WAYS_OUT))
        found: "dict[int, Any]" = {}
        for (kind, number), ref in zip(self.traced.template, self.results):
            if kind == "out":
                found.setdefault(number, ref)
        return [found[number] for number in range(len(found))]

    def _inputs_text(self) -> "tuple[list[str], set[str]]":
        lines, helpers = [], set()
        for index in self.used_inputs:
            example = self.traced.leaves[index]
            drawn = _natures.expression(example)
            if drawn is None:
                text = "_kept_input(%d)" % len(self.kept)
                helpers.add("_kept_input")
                self.kept.append(example.detach().cpu().contiguous())
            else:
                text = drawn[0]
                helpers.add(drawn[1])
            lines.append("%s,  # %s" % (text, self.input_names[index]))
        return lines, helpers - {""}

    def text(self, note: str) -> str:
        if not self.used_inputs:
            raise Refused("The result does not depend on any tensor that is given; pass the inputs as arguments.")
        forward = self._forward_lines()
        init = self._init_lines()
        inputs, helpers = self._inputs_text()
        parts = ['"""%s\n\n%s\n"""\n\nimport os\n\nimport torch\nfrom torch import nn\n\naten = torch.ops.aten\n' % (self.title, note), _LOAD]
        if any("_weight(" in line for line in init):
            parts.append(_WEIGHT)
        indent = "\n        "
        parts.append(
            "class Model(nn.Module):\n    def __init__(self%s):\n        super().__init__()%s%s_load_weights(self)\n\n    def forward(self, %s):\n        %s\n" % (
                ", *constants" if self.constants else "", indent, "".join(line + indent for line in init),
                ", ".join(self.input_names[index] for index in self.used_inputs), indent.join(forward)))
        for name in sorted(helpers):
            parts.append((_KEPT_INPUT if name == "_kept_input" else _natures.HELPERS[name]).strip("\n") + "\n")
        parts.append("def get_inputs():\n    return [\n        %s\n    ]\n" % "\n        ".join(inputs))
        parts.append(_CONSTANTS if self.constants else "def get_init_inputs():\n    return []\n")
        return "\n\n".join(parts)


_LOAD = '''def _load_weights(model):
    """Takes the weights from the file beside this one. A candidate is judged without that file and gets its weights from the judge."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights.pt")
    if os.path.exists(path):
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
'''
_WEIGHT = '''def _weight(shape, dtype):
    """A tensor to start with, where no weights are loaded."""
    made = torch.zeros(shape, dtype=dtype)
    if dtype.is_floating_point and len(shape) > 0:
        made = (torch.rand(shape) - 0.5).mul_(2.0 / max(1, made[0].numel()) ** 0.5).to(dtype)
    return made
'''
_KEPT_INPUT = '''def _kept_input(index):
    """An input whose kind is not known: the example itself."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inputs.pt")
    return torch.load(path, map_location="cpu", weights_only=True)[index]
'''
_CONSTANTS = '''def get_init_inputs():
    """Tensors that never change, from the file beside this one."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "constants.pt")
    return torch.load(path, map_location="cpu", weights_only=True)
'''


def _without_prefix(name: str) -> str:
    return name[len("model."):] if name.startswith("model.") else name


def _attribute(owner: str, name: str) -> str:
    return "%s.%s" % (owner, name) if name.isidentifier() and not keyword.iskeyword(name) else 'getattr(%s, "%s")' % (owner, name)


def _follow(owner: Any, path: str) -> Any:
    for part in path.split("."):
        owner = getattr(owner, part)
    return owner


def _is_random(node: Any) -> bool:
    """Whether an operator draws random numbers. Attention and recurrent operators do so only with dropout."""
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    given = _modules.arguments_by_name(node)
    return bool(given.get("train", given.get("dropout_p", True)))


def _can_need_gradients(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _literal(tensor: torch.Tensor) -> str:
    """A constant as a short expression, or None."""
    values = tensor.detach().cpu()
    if values.numel() == 0 or values.layout != torch.strided:
        return "torch.zeros(%r, dtype=%r)" % (tuple(values.shape), values.dtype) if values.numel() == 0 else ""
    found = _natures._constant(values)
    if found is None and not values.is_floating_point() and not values.is_complex():
        found = _natures._counts(values) if values.dtype != torch.bool else None
        shape = _natures.triangle(values) if found is None and values.dtype == torch.bool else ""
        if shape:
            return "torch.ones(%r, dtype=%r).%s" % (tuple(values.shape), values.dtype, shape)
    if found is not None:
        return found[0]
    finite = bool(torch.isfinite(values).all())
    return "torch.tensor(%r, dtype=%r)" % (values.tolist(), values.dtype) if values.numel() <= 32 and finite else ""
