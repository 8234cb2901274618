"""A task as a graph: captures a module with torch.export and writes it as JSON (docs/GRAPH.md).

Operators stay as they were called: a GRU, a convolution or a layer norm is one node. What a graph cannot express is declined with one
sentence: control flow that depends on values, custom autograd functions, state between calls, changes of inputs or weights.
hone_graph_run.py runs the JSON and compares it with the module. The parent uses a graph only after that.
"""

import operator

import torch

import hone_graph_export
import hone_graph_inplace
from hone_graph_export import Leaf
from hone_graph_inplace import Declined

_MOST_CONSTANT_ELEMENTS = 4096  # a larger constant is stored only as its attribute's name
_MOST_UNNAMED_ELEMENTS = 1 << 20
_EXACT_INTEGERS = 1 << 53
_MOST_NODES = 20000

_DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128")
# The result is the first argument: these operators copy a constant or end the autograd history.
_SAME = ("lift_fresh_copy", "lift_fresh", "detach_")
_MEMORY_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)
_CHECKS = ("_assert_tensor_metadata",)  # no result, and always true for the captured shapes


def capture(model, inputs, use_export=True):
    """The graph of `model` on these inputs, as a dict for JSON. Raises Declined."""
    with hone_graph_export.tracing():
        problem = None
        try:
            for attempt in hone_graph_export.captures(model, inputs, use_export):
                try:
                    return Writer(attempt(), model).write()
                except hone_graph_inplace.NeedsFunctional as error:
                    problem = error
        except Declined:
            raise
        except Exception as error:
            raise Declined(hone_graph_export.cause(error)) from None
    raise Declined(str(problem))


def checked(model, draw, seed_everything, limit_bytes):
    """The graph, compared with the module on fresh draws of inputs if that needs at most `limit_bytes` of memory. Raises Declined."""
    import hone_graph_run

    inputs = draw(0)
    graph = capture(model, inputs)
    mark_triangles(graph, [inputs, draw(1)])
    del inputs
    needed = hone_graph_run.peak_bytes(graph)
    if needed > limit_bytes:
        graph["note"] += "; not run against the module, because it needs %.1f GB" % (needed / 1e9)
        return graph
    times = hone_graph_run.verify(graph, model, lambda index: draw(index + 1), seed_everything)
    graph["verified"] = True
    graph["note"] += "; agrees with the module on %d draws of inputs" % times
    return graph


def type_of(tensor):
    dtype = str(tensor.dtype)[len("torch."):]
    if dtype not in _DTYPES:
        raise Declined("a tensor has the dtype %s" % dtype)
    if tensor.layout != torch.strided:
        raise Declined("a tensor is not dense (%s)" % tensor.layout)
    try:
        return {"dtype": dtype, "shape": [int(size) for size in tensor.shape], "strides": [int(stride) for stride in tensor.stride()]}
    except Exception:
        raise Declined("the shape of a tensor depends on values") from None


def number(value):
    """A float as JSON can write it."""
    value = float(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


def _attribute(model, path):
    for name in path.split(".") if path else [""]:
        model = getattr(model, name, None)
    return model if isinstance(model, torch.Tensor) else None


def _uniform(tensor):
    """The number that all elements of a weight equal, such as a norm's initial ones and zeros. None if they differ."""
    if tensor is None or not tensor.is_floating_point() or tensor.numel() == 0:
        return None
    with torch.no_grad():
        flat = tensor.detach().flatten()
        first = flat[0]
        same = bool((flat[:64] == first).all()) and bool((flat == first).all())
        return float(first) if same else None


def _triangle(tensor):
    """"lower" or "upper" for a tensor of square triangular matrices, else None. A diagonal matrix is both and counts as lower."""
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 2 or tensor.numel() == 0:
        return None
    for kind, corner, part in (("lower", tensor[..., 0, -1], torch.tril), ("upper", tensor[..., -1, 0], torch.triu)):
        if not bool(corner.any()) and torch.equal(tensor, part(tensor)):
            return kind
    return None


def mark_triangles(graph, draws):
    """Marks inputs that are triangular matrices in every draw."""
    for index, tree in enumerate(graph["inputs"]):
        tensors = [inputs[index] for inputs in draws]
        if "v" not in tree or not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
            continue
        kinds = {_triangle(tensor) for tensor in tensors}
        if len(kinds) == 1 and None not in kinds:
            next(value for value in graph["values"] if value["id"] == tree["v"])["triangle"] = kinds.pop()


class Writer:
    """Turns an fx graph into JSON."""

    def __init__(self, captured, model):
        self.captured, self.model = captured, model
        self.values, self.nodes = [], []
        self.ids = {}  # name of an fx node -> id, or list of ids for several results
        self.count = 0
        self.weights = {**dict(model.named_parameters()), **dict(model.named_buffers())}

    def write(self):
        plan = hone_graph_inplace.plan(self.captured)
        if len(self.captured.graph.nodes) > _MOST_NODES:
            raise Declined("the graph has %d nodes, more than %d" % (len(self.captured.graph.nodes), _MOST_NODES))
        for node in self.captured.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                self._placeholder(node)
            elif node.op == "call_function":
                self._call(node, plan)
                plan.done(node)
            elif node.op != "output":
                raise Declined("the graph has a node of the kind %s" % node.op)
        return {
            "version": 1, "verified": False, "note": "captured with %s of torch %s" % (self.captured.how, torch.__version__),
            "values": self.values, "nodes": self.nodes,
            "inputs": [self._tree(tree, plan) for tree in self.captured.inputs], "outputs": self._tree(self.captured.outputs, plan),
        }

    def _new_id(self):
        self.count += 1
        return self.count - 1

    def _placeholder(self, node):
        if node.name not in self.captured.placeholders:
            raise Declined("the graph refers to %s, which is neither input nor weight" % node.target)
        kind, name, tensor = self.captured.placeholders[node.name]
        if kind == "literal":
            if node.users:
                raise Declined("forward computes with an argument that is no tensor")
            return
        if kind == "constant" and tensor is None:
            raise Declined("the graph has a constant without value (%s)" % name)
        value = {"id": self._new_id(), "kind": kind, "name": name, **type_of(tensor if tensor is not None else node.meta["val"])}
        if kind == "constant":
            self._constant(value, tensor)
        elif kind in ("parameter", "buffer"):
            uniform = _uniform(self.weights.get(name))
            if uniform is not None:
                value["uniform"] = number(uniform)
        self.ids[node.name] = value["id"]
        self.values.append(value)

    def _constant(self, value, tensor):
        held = _attribute(self.model, value["name"])
        if held is None:
            value["name"] = ""
        exact = tensor.is_floating_point() or tensor.dtype == torch.bool or tensor.numel() == 0 or int(tensor.abs().max()) < _EXACT_INTEGERS
        small = tensor.numel() <= (_MOST_CONSTANT_ELEMENTS if held is not None else _MOST_UNNAMED_ELEMENTS)
        if exact and small and not tensor.is_complex():
            value["data"] = [number(item) for item in tensor.detach().flatten().tolist()]
        elif held is None:
            raise Declined("forward makes a constant of %d elements" % tensor.numel())

    def _call(self, node, plan):
        if node.target is operator.getitem:
            source = self.ids[plan.name(node.args[0])]
            self.ids[node.name] = source[node.args[1]]
            return
        target = plan.target(node)
        schema = getattr(target, "_schema", None)
        if schema is None or target.namespace != "aten":
            raise Declined("forward uses %s, which is no ATen operator" % (getattr(target, "__name__", None) or target))
        base = schema.name.split("::")[1]
        if base in _CHECKS:
            return
        if base in _SAME:
            self.ids[node.name] = self.ids[plan.name(node.args[0])]
            return
        if base in ("item", "_local_scalar_dense"):
            raise Declined("forward reads the value of a tensor on the host")
        arguments = self._arguments(node, schema, plan)
        _check_statistics(base, dict(arguments))
        results, ids = [], []
        for tensor in self._results(node, schema):
            results.append({"id": self._new_id(), **type_of(tensor)})
            ids.append(results[-1]["id"])
        several = schema.returns and str(schema.returns[0].type) != "Tensor" or len(schema.returns) > 1
        self.ids[node.name] = ids if several else ids[0]
        self.nodes.append({
            "target": "aten.%s.%s" % (base, schema.overload_name or "default"), "module": _module(node), "args": arguments, "results": results,
        })

    def _results(self, node, schema):
        value = node.meta.get("val")
        if value is None:
            raise Declined("forward calls %s, which returns nothing" % schema.name)
        found = [value] if isinstance(value, torch.Tensor) else list(value) if isinstance(value, (list, tuple)) else [None]
        if not all(isinstance(item, torch.Tensor) for item in found):
            raise Declined("forward calls %s, whose result is no tensor" % schema.name)
        return found

    def _arguments(self, node, schema, plan):
        """Pairs of name and value in the order of the schema, with the defaults filled in."""
        written = []
        for index, argument in enumerate(schema.arguments):
            if index < len(node.args) and not argument.kwarg_only:
                value = node.args[index]
            elif argument.name in node.kwargs:
                value = node.kwargs[argument.name]
            elif argument.has_default_value():
                value = argument.default_value
            else:
                raise Declined("%s lacks its argument %s" % (schema.name, argument.name))
            if argument.name == "memory_format" and isinstance(value, int):
                value = _MEMORY_FORMATS[value]  # defaults are given as numbers
            written.append([argument.name, self._argument(value, str(argument.type), plan)])
        return written

    def _argument(self, value, kind, plan):
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, torch.fx.Node):
            found = self.ids.get(plan.name(value))
            if not isinstance(found, int):
                raise Declined("an argument is no tensor")
            return {"v": found}
        if isinstance(value, int):
            return {"f": float(value)} if kind in ("float", "Optional[float]") else value
        if isinstance(value, float):
            return {"f": number(value)}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value)[len("torch."):]}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.layout):
            return {"layout": str(value)[len("torch."):]}
        if isinstance(value, torch.memory_format):
            return {"memory_format": str(value)[len("torch."):]}
        if isinstance(value, (list, tuple)):
            return self._list(list(value), kind, plan)
        raise Declined("an argument is a %s" % type(value).__name__)

    def _list(self, values, kind, plan):
        if "Tensor" in kind:
            return {"vs": [None if item is None else self._argument(item, "Tensor", plan)["v"] for item in values]}
        if "float" in kind:
            return {"fs": [number(item) for item in values]}
        if "bool" in kind:
            return {"bs": [bool(item) for item in values]}
        if all(isinstance(item, int) and not isinstance(item, bool) for item in values):
            return [int(item) for item in values]
        raise Declined("an argument is a list of %s" % kind)

    def _tree(self, tree, plan):
        if isinstance(tree, Leaf):
            if tree.name is not None:
                return {"v": self.ids[plan.final(tree.name)]}
            return {"literal": self._argument(tree.literal, "", plan)}
        if type(tree) in (tuple, list):
            return {"tuple" if isinstance(tree, tuple) else "list": [self._tree(item, plan) for item in tree]}
        if isinstance(tree, dict) and all(isinstance(key, str) for key in tree):
            return {"dict": [[key, self._tree(item, plan)] for key, item in tree.items()]}
        if tree is None:
            return {"literal": None}
        raise Declined("forward takes or returns a %s" % type(tree).__name__)


def _check_statistics(base, arguments):
    """The schema does not show that norms update their running statistics."""
    training = arguments.get("training") if base == "batch_norm" else arguments.get("use_input_stats")
    if base in ("batch_norm", "instance_norm") and training and arguments.get("running_mean") is not None:
        raise Declined("%s updates its running statistics in forward" % base)


def _module(node):
    stack = node.meta.get("nn_module_stack") or {}
    path = list(stack.values())[-1][0] if stack else ""
    path = path[len("L['self']."):] if path.startswith("L['self'].") else path
    return path if isinstance(path, str) else ""
