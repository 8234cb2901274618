"""Captures a module as an fx graph: with torch.export, or with make_fx where torch has none. hone_graph.py writes it as JSON."""

import contextlib
import io
import logging
import warnings

import torch
from torch.utils import _pytree as pytree

from hone_graph_inplace import Declined
from hone_graph_rnn import written_shapes


class Captured:
    """The result of a capture in one form for every version of torch: an fx graph, the kinds of its placeholders, and two structures."""

    def __init__(self, graph, placeholders, inputs, outputs, how):
        self.graph = graph
        self.placeholders = placeholders  # name -> (kind, name in the module, tensor or None)
        self.inputs, self.outputs = inputs, outputs  # structures whose leaves are Leaf
        self.how = how


class Leaf:
    """A leaf of the inputs or outputs: the name of an fx node, or a plain Python value."""

    def __init__(self, name=None, literal=None):
        self.name, self.literal = name, literal


@contextlib.contextmanager
def _no_custom_autograd():
    """A custom autograd function may compute its forward outside of PyTorch, so its trace shows only what one call did."""
    original = torch.autograd.Function.__dict__["apply"]

    def refuse(cls, *_, **__):
        raise Declined("forward calls the custom autograd function %s" % cls.__name__)

    torch.autograd.Function.apply = classmethod(refuse)
    try:
        yield
    finally:
        torch.autograd.Function.apply = original


@contextlib.contextmanager
def _quiet():
    """Silences torch's long logs about untraceable code; the exception contains the reason."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(before)


def _assigned(messages):
    """Attributes that forward assigns, as torch.export reports them. Recurrent modules reassign _flat_weights, which holds their parameters."""
    for message in messages:
        text = str(message.message)
        if "assigned during export" not in text:
            continue
        names = [word.strip(",") for word in text.split() if word.startswith("self.")]
        names = [name for name in names if "_flat_weights" not in name]
        if names:
            return names[0]
    return None


def _export(model, inputs):
    """torch.export without decompositions: its default since 2.6, export_for_training before."""
    export = torch.export.export
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 7) and hasattr(torch.export, "export_for_training"):
        export = torch.export.export_for_training
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        program = export(model, tuple(inputs), strict=False)
    name = _assigned(messages)
    if name is not None:
        raise Declined("forward keeps state between calls in %s" % name)
    return program


def _from_program(program, how):
    constants = program.constants
    placeholders, user = {}, []
    for spec in program.graph_signature.input_specs:
        kind, target = spec.kind.name, spec.target
        name = getattr(spec.arg, "name", None)
        if kind == "PARAMETER":
            placeholders[name] = ("parameter", target, None)
        elif kind == "BUFFER":
            placeholders[name] = ("buffer", target, None) if spec.persistent else ("constant", target, constants.get(target))
        elif kind == "CONSTANT_TENSOR":
            placeholders[name] = ("constant", target, constants.get(target))
        elif kind == "USER_INPUT":
            if type(spec.arg).__name__ == "ConstantArgument":
                user.append(Leaf(literal=spec.arg.value))
                placeholders[name] = ("literal", name, None)
            else:
                user.append(Leaf(name=name))
                placeholders[name] = ("input", name, None)
        else:
            raise Declined("forward takes an object that is no tensor (%s)" % kind.lower())
    outputs = []
    for spec in program.graph_signature.output_specs:
        kind = spec.kind.name
        if kind == "USER_OUTPUT":
            is_literal = type(spec.arg).__name__ == "ConstantArgument"
            outputs.append(Leaf(literal=spec.arg.value) if is_literal else Leaf(name=spec.arg.name))
        elif kind == "BUFFER_MUTATION":
            raise Declined("forward changes the buffer %s" % spec.target)
        else:
            raise Declined("forward changes one of its inputs in place" if "INPUT" in kind else "forward has an effect besides its result (%s)" % kind.lower())
    arguments, keywords = pytree.tree_unflatten(user, program.call_spec.in_spec)
    if keywords:
        raise Declined("forward takes keyword arguments")
    return Captured(program.graph, placeholders, list(arguments), pytree.tree_unflatten(outputs, program.call_spec.out_spec), how)


def _trace(model, inputs):
    """For torch without torch.export: make_fx on fake tensors. It splits composite operators into their parts."""
    from torch.fx.experimental.proxy_tensor import make_fx

    call = torch.func.functional_call if hasattr(torch, "func") else torch.nn.utils.stateless.functional_call
    weights = dict(model.named_parameters())
    buffers = dict(model.named_buffers())
    flat, in_spec = pytree.tree_flatten(list(inputs))
    where = [index for index, value in enumerate(flat) if isinstance(value, torch.Tensor)]
    structure = []

    def run(state, tensors):
        values = list(flat)
        for index, tensor in zip(where, tensors):
            values[index] = tensor
        out = call(model, state, tuple(pytree.tree_unflatten(values, in_spec)))
        leaves, spec = pytree.tree_flatten(out)
        structure[:] = [leaves, spec]
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    state = {**weights, **buffers}
    module = make_fx(run, tracing_mode="fake")(state, [flat[index] for index in where])
    names = [node.name for node in module.graph.nodes if node.op == "placeholder"]
    keys = list(state)
    persistent = set(model.state_dict())
    placeholders, user = {}, [Leaf(literal=value) for value in flat]
    for name, key in zip(names, keys):
        kind = "parameter" if key in weights else ("buffer" if key in persistent else "constant")
        placeholders[name] = (kind, key, buffers.get(key) if kind == "constant" else None)
    for name, index in zip(names[len(keys):], where):
        placeholders[name] = ("input", name, None)
        user[index] = Leaf(name=name)
    for node in module.graph.nodes:
        if node.op == "get_attr":
            placeholders[node.name] = ("constant", "", getattr(module, node.target))
    results = list(next(node for node in module.graph.nodes if node.op == "output").args[0])
    leaves = [Leaf(name=results.pop(0).name) if isinstance(leaf, torch.Tensor) else Leaf(literal=leaf) for leaf in structure[0]]
    return Captured(
        module.graph, placeholders, pytree.tree_unflatten(user, in_spec), pytree.tree_unflatten(leaves, structure[1]), "make_fx"
    )


def captures(model, inputs, use_export=True):
    """Yields captures, the preferred one first. Later ones are for modules whose earlier capture cannot be written as a graph."""
    if use_export and hasattr(torch, "export") and hasattr(torch.export, "export"):
        program = _export(model, inputs)
        how = "torch.export"
        yield lambda: _from_program(program, how)
        # Writes through views become scatters.
        yield lambda: _from_program(program.run_decompositions({}), how + ", functional")
    else:
        yield lambda: _trace(model, inputs)


def _reason(error):
    """One sentence for an exception of torch.export."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if "DataDependent" in kind or "data-dependent" in text.lower() or "data dependent" in text.lower() or "_local_scalar_dense" in text:
        return "forward reads the value of a tensor on the host (%s)" % text[:160]
    return "torch.export fails: %s: %s" % (kind, text[:200])


def cause(error):
    """A Declined inside an exception of export, or export's own reason."""
    seen = error
    while seen is not None:
        if isinstance(seen, Declined):
            return str(seen)
        seen = seen.__cause__ or seen.__context__
    return _reason(error)


@contextlib.contextmanager
def tracing():
    """The conditions under which a module is captured."""
    with torch.no_grad(), _no_custom_autograd(), written_shapes(), _quiet():
        yield
