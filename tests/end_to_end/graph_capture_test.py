"""Tests the capture of graphs: a captured graph computes what the module computes, and modules that a graph cannot
express are declined.

Usage: graph_capture_test.py. Exit code 1 when a case fails, 77 without torch.
"""

import json
import pathlib
import sys
import warnings

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "worker"))
import hone_graph
import hone_graph_run

warnings.simplefilter("ignore")
failures, checked = [], 0


def module(forward, **parts):
    """A module with these parts, buffers (tensors) and this forward(self, ...)."""

    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                if isinstance(part, torch.Tensor) and not name.startswith("plain"):
                    self.register_buffer(name, part)
                else:
                    setattr(self, name, part)

    Made.forward = forward
    torch.manual_seed(0)
    return Made().eval()


def checked_graph(model, shapes, limit=1 << 30):
    def draw(index):
        torch.manual_seed(100 + index)
        return [torch.randn(shape) if isinstance(shape, tuple) else shape for shape in shapes]

    return json.loads(json.dumps(hone_graph.checked(model, draw, lambda: torch.manual_seed(5), limit)))


def captures(label, forward, shapes, targets=None, **parts):
    """The graph is captured and agrees with the module; its operators are `targets`."""
    global checked
    checked += 1
    try:
        graph = checked_graph(module(forward, **parts), shapes)
    except hone_graph.Declined as declined:
        failures.append("%s: declined: %s" % (label, declined))
        return None
    names = [node["target"] for node in graph["nodes"]]
    if not graph["verified"]:
        failures.append("%s: not verified: %s" % (label, graph["note"]))
    if targets is not None and names != targets:
        failures.append("%s: has the operators %s" % (label, names))
    return graph


def declines(label, forward, shapes, reason, **parts):
    """The capture itself declines for this reason, before the graph is run against the module."""
    global checked
    checked += 1
    try:
        graph = checked_graph(module(forward, **parts), shapes, limit=0)
    except hone_graph.Declined as declined:
        if reason not in str(declined):
            failures.append("%s: declined for another reason: %s" % (label, declined))
        return
    failures.append("%s: captured as %s" % (label, [node["target"] for node in graph["nodes"]]))


def whole_operators():
    captures("linear", lambda self, x: self.fc(x), [(3, 5)], ["aten.linear.default"], fc=nn.Linear(5, 7))
    captures("conv and norms", lambda self, x: self.n(self.b(self.c(x))), [(2, 3, 7, 7)],
             ["aten.conv2d.default", "aten.batch_norm.default", "aten.group_norm.default"], c=nn.Conv2d(3, 4, 3), b=nn.BatchNorm2d(4), n=nn.GroupNorm(2, 4))
    for kind, target in ((nn.GRU, "gru"), (nn.LSTM, "lstm"), (nn.RNN, "rnn_tanh")):
        for options in ({}, {"batch_first": True, "bidirectional": True, "num_layers": 2}):
            graph = captures("%s %s" % (target, options), lambda self, x: self.r(x)[0], [(4, 6, 5)], None, r=kind(5, 3, **options))
            if graph and graph["nodes"][-1]["target"] != "aten.%s.input" % target:
                failures.append("%s is %s" % (target, [node["target"] for node in graph["nodes"]]))
    captures("lstm states", lambda self, x: self.r(x)[1][1][-1] * 2, [(4, 6, 5)], None, r=nn.LSTM(5, 3, 2))
    captures("attention", lambda self, q: F.scaled_dot_product_attention(q, q, q, is_causal=True), [(2, 2, 5, 4)],
             ["aten.scaled_dot_product_attention.default"])
    captures("layer norm", lambda self, x: self.n(x), [(3, 6)], ["aten.layer_norm.default"], n=nn.LayerNorm(6))


def values_and_trees():
    captures("several results", lambda self, x: {"a": x.max(1)[0], "b": [x.chunk(2, 1)[1], x]}, [(3, 4)])
    captures("a Python number among the inputs", lambda self, x, scale: x * scale, [(3, 4), 2.5])
    captures("a Python number among the outputs", lambda self, x: (x + 1, 3), [(3, 4)])
    graph = captures("a buffer, a plain tensor and a tensor of forward", lambda self, x: x * self.held + self.plain + torch.tensor([1.0, 2.0, 3.0]), [(2, 3)],
                     held=torch.rand(3), plain=torch.rand(3))
    if graph:
        kinds = sorted((value["kind"], value["name"]) for value in graph["values"] if value["kind"] != "input")
        if kinds != [("buffer", "held"), ("constant", ""), ("constant", "plain")]:
            failures.append("values are %s" % kinds)
    captures("infinities", lambda self, x: x.masked_fill(x > 0, float("-inf")).amax(1), [(3, 4)])
    captures("random numbers", lambda self, x: x + torch.rand(3, 4), [(3, 4)])
    captures("indices", lambda self, x: x[:, torch.tensor([0, 2])] + x.gather(1, x.argsort(1)[:, :2]), [(3, 4)])


def writes_in_place():
    captures("relu_", lambda self, x: F.relu_(self.fc(x)) + 1, [(3, 5)], ["aten.linear.default", "aten.relu.default", "aten.add.Tensor"], fc=nn.Linear(5, 5))

    def two_names(self, x):
        y = x + 1
        z = y.detach()
        y.mul_(2)
        return z + y

    captures("a write seen under another name", two_names, [(3, 4)])

    def through_view(self, x):
        y = x * 2
        y[:, 0] = 7.0
        y.view(-1).add_(1)
        return y

    captures("writes through views", through_view, [(3, 4)])

    def order(self, x):
        y = x + 1
        before = y * 3
        y.add_(before)
        return y, before, y.sigmoid_()

    captures("old and new values", order, [(3, 4)])

    def dropout(self, x):
        y = x + 1
        z = self.d(y)
        z.mul_(2)
        return y + z

    declines("dropout may return its argument", dropout, [(3, 4)], "dropout", d=nn.Dropout(0.5))
    declines("input changed", lambda self, x: x.add_(1), [(3, 4)], "changes its input")
    declines("input changed through a view", lambda self, x: x.view(-1).mul_(2).sum(), [(3, 4)], "changes its input")
    declines("buffer changed", lambda self, x: self.count.add_(1) * x, [(3, 4)], "changes the buffer count", count=torch.zeros(1))
    declines("batch norm in training", lambda self, x: F.batch_norm(x, self.mean, self.var, training=True), [(3, 4)], "running statistics",
             mean=torch.zeros(4), var=torch.ones(4))


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


def what_a_graph_cannot_show():
    declines("branch on a value", lambda self, x: x + 1 if x.sum() > 0 else x - 1, [(3, 4)], "reads the value")
    declines("item", lambda self, x: x * float(x.max()), [(3, 4)], "reads the value")
    declines("custom autograd", lambda self, x: Double.apply(x), [(3, 4)], "custom autograd function Double")

    def keeps(self, x):
        self.plain_state = x + self.plain_state
        return self.plain_state

    declines("state in an attribute", keeps, [(3, 4)], "keeps state", plain_state=torch.zeros(3, 4))


def verification_notices():
    """A graph that is not what the module computes is declined when it is run."""
    global checked
    checked += 1
    model = module(lambda self, x: self.fc(x).relu(), fc=nn.Linear(4, 4))
    graph = hone_graph.capture(model, [torch.randn(3, 4)])
    graph["nodes"][-1]["target"] = "aten.sigmoid.default"
    try:
        hone_graph_run.verify(graph, model, lambda index: [torch.randn(3, 4)], lambda: None)
        failures.append("a wrong graph was not noticed")
    except hone_graph.Declined:
        pass

    calls = []

    def counts(self, x):
        calls.append(1)
        return x * len(calls)

    checked += 1
    try:
        checked_graph(module(counts), [(3, 4)])
        failures.append("state in a Python list was not noticed")
    except hone_graph.Declined:
        pass


def older_torch():
    """Without torch.export it uses make_fx. Operators are then decomposed, but values must still agree."""
    global checked
    model = module(lambda self, x, s: {"y": self.n(self.fc(x)) * s + self.held}, fc=nn.Linear(4, 6), n=nn.LayerNorm(6), held=torch.rand(6))
    graph = hone_graph.capture(model, [torch.randn(3, 4), 2.0], use_export=False)
    checked += 1
    hone_graph_run.verify(json.loads(json.dumps(graph)), model, lambda index: [torch.randn(3, 4), 2.0], lambda: None)
    if "make_fx" not in graph["note"]:
        failures.append("the fallback says " + graph["note"])


for part in (whole_operators, values_and_trees, writes_in_place, what_a_graph_cannot_show, verification_notices, older_torch):
    part()
for failure in failures:
    print("FAILED", failure)
print("%d graphs checked, %d failed" % (checked, len(failures)))
sys.exit(1 if failures else 0)
