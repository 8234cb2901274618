"""Runs a graph's JSON node by node with ATen, and compares it with the captured module.

The interpreter reads only the JSON, the weights and the inputs, so it checks exactly what the parent gets.
"""

import torch

from hone_graph_inplace import Declined

_WIDE = {"float32": "float64", "float16": "float64", "bfloat16": "float64", "complex64": "complex128"}
# The allowed relative error in the norm between two runs of the same operators. Only reordered sums may differ.
_LIMITS = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2, torch.complex64: 1e-5, torch.complex128: 1e-10}


def widened(tensor):
    """float64 for the smaller floats, complex128 for complex64."""
    name = str(tensor.dtype)[len("torch."):]
    return tensor.to(getattr(torch, _WIDE[name])) if name in _WIDE else tensor


def _floats(values):
    return [float(value) for value in values]


class Interpreter:
    """`weights` has the parameters and buffers by name; `attribute` finds a constant without data. If `wide`, all is computed in
    float64, whatever the graph says."""

    def __init__(self, graph, weights, attribute=None, wide=False, device=None):
        self.graph, self.wide, self.device = graph, wide, device
        self.fixed = {}
        for value in graph["values"]:
            if value["kind"] in ("parameter", "buffer"):
                self.fixed[value["id"]] = self._taken(weights[value["name"]].detach())
            elif value["kind"] == "constant":
                self.fixed[value["id"]] = self._taken(self._constant(value, attribute))
        self.functions = [_function(node["target"]) for node in graph["nodes"]]
        self.last = _last_uses(graph)

    def _taken(self, tensor):
        tensor = tensor.to(self.device) if self.device is not None else tensor
        return widened(tensor) if self.wide else tensor

    def _constant(self, value, attribute):
        if "data" in value:
            return torch.tensor(_floats(value["data"]), dtype=torch.float64).to(getattr(torch, value["dtype"])).reshape(value["shape"])
        return attribute(value["name"]).detach()

    def run(self, inputs):
        values = dict(self.fixed)
        for tree, given in zip(self.graph["inputs"], inputs):
            self._bind(tree, given, values)
        narrow = torch.get_default_dtype()
        if self.wide:
            torch.set_default_dtype(torch.float64)  # torch.full without a dtype
        try:
            with torch.no_grad():
                for index, node in enumerate(self.graph["nodes"]):
                    self._step(index, node, values)
                    for dead in self.last[index]:
                        values.pop(dead, None)
        finally:
            torch.set_default_dtype(narrow)
        return self._tree(self.graph["outputs"], values)

    def _step(self, index, node, values):
        function = self.functions[index]
        given = dict((name, self._argument(value, values)) for name, value in node["args"])
        args, kwargs = [], {}
        for argument in function._schema.arguments:
            if argument.kwarg_only:
                kwargs[argument.name] = given[argument.name]
            else:
                args.append(given[argument.name])
        out = function(*args, **kwargs)
        found = [out] if isinstance(out, torch.Tensor) else list(out)
        if len(found) != len(node["results"]):
            raise Declined("%s gives %d tensors instead of %d" % (node["target"], len(found), len(node["results"])))
        for result, tensor in zip(node["results"], found):
            if list(tensor.shape) != result["shape"]:
                raise Declined("%s gives the shape %s instead of %s" % (node["target"], list(tensor.shape), result["shape"]))
            if not self.wide and str(tensor.dtype) != "torch." + result["dtype"]:
                raise Declined("%s gives %s instead of %s" % (node["target"], tensor.dtype, result["dtype"]))
            values[result["id"]] = tensor

    def _argument(self, value, values):
        if isinstance(value, list):
            return list(value)
        if not isinstance(value, dict):
            return value
        (kind, body), = value.items()
        if kind == "v":
            return values[body]
        if kind == "vs":
            return [None if item is None else values[item] for item in body]
        if kind == "f":
            return float(body)
        if kind == "fs":
            return _floats(body)
        if kind == "bs":
            return list(body)
        if kind == "dtype":
            return getattr(torch, _WIDE.get(body, body) if self.wide else body)
        if kind == "device":
            return torch.device(self.device if self.device is not None else body)
        return getattr(torch, body)  # a layout or a memory format

    def _bind(self, tree, given, values):
        (kind, body), = tree.items()
        if kind == "v":
            values[body] = self._taken(given)
        elif kind in ("tuple", "list"):
            for child, item in zip(body, given):
                self._bind(child, item, values)
        elif kind == "dict":
            for key, child in body:
                self._bind(child, given[key], values)

    def _tree(self, tree, values):
        (kind, body), = tree.items()
        if kind == "v":
            return values[body]
        if kind == "literal":
            return self._argument(body, values)
        if kind == "dict":
            return {key: self._tree(child, values) for key, child in body}
        children = [self._tree(child, values) for child in body]
        return tuple(children) if kind == "tuple" else children


def _function(target):
    namespace, base, overload = target.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload)


def _reads(node):
    for _, value in node["args"]:
        if isinstance(value, dict):
            if "v" in value:
                yield value["v"]
            elif "vs" in value:
                yield from (item for item in value["vs"] if item is not None)


def _leaves(tree):
    (kind, body), = tree.items()
    if kind == "v":
        return [body]
    if kind == "literal":
        return []
    return [leaf for child in body for leaf in _leaves(child[1] if kind == "dict" else child)]


def _last_uses(graph):
    """For each node the values that no later node reads."""
    last = {}
    for index, node in enumerate(graph["nodes"]):
        for result in node["results"]:
            last[result["id"]] = index
        for value in _reads(node):
            last[value] = index
    for value in _leaves(graph["outputs"]):
        last.pop(value, None)
    dead = [[] for _ in graph["nodes"]]
    for value, index in last.items():
        dead[index].append(value)
    return dead


def peak_bytes(graph):
    """Memory for running the graph, besides weights and inputs, if every result has its own."""
    sizes = {}
    for node in graph["nodes"]:
        for result in node["results"]:
            size = getattr(torch, result["dtype"]).itemsize if hasattr(torch.float32, "itemsize") else 8
            for length in result["shape"]:
                size *= length
            sizes[result["id"]] = size
    present = peak = 0
    for node, dead in zip(graph["nodes"], _last_uses(graph)):
        present += sum(sizes[result["id"]] for result in node["results"])
        peak = max(peak, present)
        present -= sum(sizes.get(value, 0) for value in dead)
    return peak


# Comparison


def difference(expected, got):
    """The difference as a clause, or ""."""
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(expected, got)
    if isinstance(expected, (tuple, list)):
        if type(expected) is not type(got) or len(expected) != len(got):
            return "returns another structure"
        return next((text for a, b in zip(expected, got) for text in [difference(a, b)] if text), "")
    if isinstance(expected, dict):
        if not isinstance(got, dict) or list(expected) != list(got):
            return "returns another structure"
        return next((text for key in expected for text in [difference(expected[key], got[key])] if text), "")
    return "" if expected == got else "returns %r instead of %r" % (got, expected)


def _tensor_difference(expected, got):
    if not isinstance(got, torch.Tensor) or expected.shape != got.shape or expected.dtype != got.dtype:
        return "returns a tensor of another shape or dtype"
    if expected.dtype not in _LIMITS:
        wrong = int((expected != got).sum())
        return "" if wrong == 0 else "differs in %d of %d integers" % (wrong, expected.numel())
    if torch.equal(expected, got):
        return ""
    wide_dtype = torch.complex128 if expected.is_complex() else torch.float64
    a, b = expected.to(wide_dtype), got.to(wide_dtype)
    odd = ~torch.isfinite(a)
    if bool((odd != ~torch.isfinite(b)).any()) or bool(((a != b) & odd & ~(torch.isnan(a) & torch.isnan(b))).any()):
        return "differs in NaN or infinities"
    a, b = a.masked_fill(odd, 0), b.masked_fill(odd, 0)
    error = float((a - b).norm() / max(float(a.norm()), 1e-300))
    return "" if error <= _LIMITS[expected.dtype] else "differs by %.1e of its norm" % error


def _versions(tensors):
    return [tensor._version for tensor in tensors if not tensor.is_inference()]


def _inside(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [tensor for item in tree for tensor in _inside(item)] if isinstance(tree, (list, tuple)) else []


def _plain(model):
    return [(id(module), name, id(value)) for module in model.modules() for name, value in vars(module).items() if isinstance(value, torch.Tensor)]


def verify(graph, model, draw, seed_everything, times=2):
    """Runs module and graph on `times` fresh draws of inputs. Raises Declined if they differ or if forward changes anything."""
    weights = dict(list(model.named_parameters()) + list(model.named_buffers()))
    weights = {**dict(model.state_dict(keep_vars=True)), **weights}

    def attribute(path):
        found = model
        for name in path.split("."):
            found = getattr(found, name)
        return found

    interpreter = Interpreter(graph, weights, attribute)
    for index in range(times):
        inputs = draw(index)
        watched = _inside(inputs) + list(weights.values())
        before, plain = _versions(watched), _plain(model)
        seed_everything()
        with torch.no_grad():
            expected = model(*inputs)
        if _versions(watched) != before:
            raise Declined("forward changes its inputs or weights in place")
        if _plain(model) != plain:
            raise Declined("forward keeps state between calls")
        seed_everything()
        text = difference(expected, interpreter.run(inputs))
        if text:
            raise Declined("the captured graph %s where the module was run beside it" % text)
        del expected, inputs
    return times
