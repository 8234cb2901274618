"""Turns in-place calls into ordinary ones: `relu_` becomes `relu`, and later readers of the tensor read the result.

That is right only if nothing reads the old memory under another name. Names share memory if the fake tensors of export have
the same storage, or if an operator may return its argument itself. If another name is read later, the graph needs
functionalization (NeedsFunctional), or is declined.
"""

import torch


class Declined(Exception):
    """Why a task has no graph, in one sentence."""


class NeedsFunctional(Declined):
    """A write that renaming cannot express. torch's functionalization may."""


# These return their argument itself if they have nothing to do. Fake tensors do not show that.
_MAY_RETURN_ARGUMENT = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "pad", "constant_pad_nd", "repeat_interleave")
_HARMLESS = ("detach_", "requires_grad_", "_assert_tensor_metadata")


def _base(node):
    schema = getattr(node.target, "_schema", None)
    return schema.name.split("::")[1] if schema is not None else ""


def _written(node):
    """The argument that a node writes to, as (index, name), or None."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or _base(node) in _HARMLESS:
        return None
    found = [
        (index, argument.name) for index, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    if not found:
        return None
    if len(found) > 1 or found[0][0] != 0 or not _base(node).endswith("_"):
        raise NeedsFunctional("forward writes into a tensor with %s" % _base(node))
    return found[0]


def _functional(target):
    packet = getattr(torch.ops.aten, target._schema.name.split("::")[1][:-1], None)
    overload = target._schema.overload_name or "default"
    found = getattr(packet, overload, None) if packet is not None else None
    if found is None or len(found._schema.arguments) != len(target._schema.arguments):
        raise NeedsFunctional("forward writes into a tensor with %s" % target._schema.name)
    return found


class _Names:
    """Union-find over the names of fx nodes: two names in one set may share memory."""

    def __init__(self):
        self.parent = {}

    def find(self, name):
        while self.parent.setdefault(name, name) != name:
            name = self.parent[name]
        return name

    def join(self, a, b):
        self.parent[self.find(a)] = self.find(b)


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [item for item in value if isinstance(item, torch.Tensor)] if isinstance(value, (list, tuple)) else []


def _aliases(nodes, placeholders):
    """(sets of names that share memory, sets with a name from an operator that may return its argument)."""
    names, by_storage = _Names(), {}
    # A constant that is only copied is not written through its copies.
    copied = {
        node.name for node in nodes if node.name in placeholders and node.users and all(_base(user).startswith("lift_fresh") for user in node.users)
    }
    for node in nodes:
        if node.op == "output" or node.name in copied:
            continue
        for tensor in _tensors(node.meta.get("val")):
            first = by_storage.setdefault(tensor.untyped_storage()._cdata, node.name)
            names.join(node.name, first)
    uncertain = []
    for node in nodes:
        if _base(node) in _MAY_RETURN_ARGUMENT and isinstance(node.args[0], torch.fx.Node):
            names.join(node.name, node.args[0].name)
            uncertain.append(node.name)
    return names, {names.find(name) for name in uncertain}


class Plan:
    """For each fx node the operator to write, and the current name of each tensor while the graph is written in order."""

    def __init__(self):
        self.targets = {}  # for in-place nodes: the operator that is not in-place
        self.writes = {}  # for such a node: the names that have its value from then on
        self.renamed = {}

    def target(self, node):
        return self.targets.get(node.name, node.target)

    def name(self, node):
        return self.final(node.name)

    def final(self, name):
        while name in self.renamed:
            name = self.renamed[name]
        return name

    def done(self, node):
        """Call after the node has been written, because its own arguments are still the old values."""
        for name in self.writes.get(node.name, ()):
            self.renamed[self.final(name)] = node.name


def plan(captured):
    nodes = list(captured.graph.nodes)
    position = {node.name: index for index, node in enumerate(nodes)}
    writes = {node: _written(node) for node in nodes if node.op == "call_function"}
    writes = {node: where for node, where in writes.items() if where is not None}
    result = Plan()
    if not writes:
        return result
    names, uncertain = _aliases(nodes, captured.placeholders)
    members = {}
    for node in nodes:
        if node.op != "output":
            members.setdefault(names.find(node.name), []).append(node)
    for node in writes:
        result.targets[node.name] = _functional(node.target)
        target = node.args[0]
        _check_type(node, result.targets[node.name])
        group = names.find(target.name)
        renamed = []
        for other in members[group]:
            if position[other.name] >= position[node.name]:
                continue
            if other.op == "placeholder" or other.op == "get_attr":
                raise Declined(_what_is_changed(captured.placeholders.get(other.name)))
            if not any(position[user.name] > position[node.name] for user in other.users):
                continue
            if group in uncertain and other is not target:
                raise Declined("forward writes into a tensor that dropout or padding may share with another")
            if other is not target and not _same_place(other, target):
                raise NeedsFunctional("forward writes into a part of a tensor with %s" % _base(node))
            renamed.append(other.name)
        result.writes[node.name] = renamed
    return result


def _what_is_changed(placeholder):
    kind, name = (placeholder or ("constant", ""))[:2]
    if kind == "input":
        return "forward changes its input %s in place" % name
    return "forward changes the %s %s in place" % (kind, name)


def _same_place(a, b):
    a, b = a.meta.get("val"), b.meta.get("val")
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return False
    return a.shape == b.shape and a.stride() == b.stride() and a.storage_offset() == b.storage_offset() and a.dtype == b.dtype


def _check_type(node, functional):
    """An in-place call keeps the tensor's dtype and shape; the other call may promote or broadcast them."""
    held = node.args[0].meta["val"]
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda argument: argument.meta["val"])
    with held.fake_mode if hasattr(held, "fake_mode") else torch.no_grad():
        out = functional(*args, **kwargs)
    if out.dtype != held.dtype or out.shape != held.shape:
        raise NeedsFunctional("forward writes %s into a tensor of %s" % (out.dtype, held.dtype))
