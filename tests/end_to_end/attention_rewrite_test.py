"""Attention as products and as kernels (fused/attention.h), both sides in float64: modules are captured, attention is replaced, and both graphs are
run. Here a kernel is its definition; attention_host_test.py compares the kernel with the same definition. What the replacement cannot express must stay.

Usage: attention_rewrite_test.py --tool hone_expert_tool. Exit code 1 when a case fails, 77 without torch.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import types
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
arguments = argparse.ArgumentParser()
arguments.add_argument("--tool", required=True)
TOOL = arguments.parse_args().tool
failures = []


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def check(label, function, shapes, times):
    model, inputs = Call(function).eval(), [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    graph = hone_graph.capture(model, inputs)
    done = subprocess.run([TOOL, "--expand-attention"], input=json.dumps(graph), capture_output=True, text=True)
    if done.returncode:
        failures.append("%s: %s" % (label, done.stderr.strip()))
        return
    answer = json.loads(done.stdout)
    if answer["times"] != times:
        failures.append("%s: expanded %d times" % (label, answer["times"]))
    expected, got = model(*inputs), hone_graph_run.Interpreter(answer["graph"], dict(model.state_dict()), wide=True).run(inputs)
    off = ((got - expected).norm() / expected.norm()).item() if got.shape == expected.shape else float("inf")
    print("%-24s %.1e" % (label, off))
    if not off <= 1e-12 or got.stride() != expected.stride():
        failures.append("%s: differs by %.1e, strides %s and %s" % (label, off, got.stride(), expected.stride()))


A = F.scaled_dot_product_attention
with torch.no_grad():
    check("plain", A, [(2, 3, 7, 5)] * 3, 1)
    check("three axes", A, [(2, 9, 4), (2, 11, 4), (2, 11, 6)], 1)
    check("scale", lambda q, k, v: A(q, k, v, scale=0.3), [(2, 3, 7, 5)] * 3, 1)
    check("causal", lambda q, k, v: A(q, k, v, is_causal=True), [(2, 3, 7, 5)] * 3, 1)
    check("causal, more keys", lambda q, k, v: A(q, k, v, is_causal=True), [(2, 3, 7, 5), (2, 3, 12, 5), (2, 3, 12, 5)], 1)
    check("causal, fewer keys", lambda q, k, v: A(q, k, v, is_causal=True), [(2, 3, 12, 5), (2, 3, 7, 5), (2, 3, 7, 5)], 1)
    check("two of them", lambda q, k, v: A(A(q, k, v), k, v) * 2, [(2, 3, 7, 5)] * 3, 2)
    check("transposed behind", lambda q, k, v: A(q, k, v).transpose(1, 2).reshape(2, 7, 15), [(2, 3, 7, 5)] * 3, 1)
    check("mask", lambda q, k, v, m: A(q, k, v, attn_mask=m), [(2, 3, 7, 5)] * 3 + [(7, 7)], 0)


class Kernel:
    """An operator of Hone for the interpreter."""

    def __init__(self, function, names):
        self.function = function
        self._schema = types.SimpleNamespace(arguments=[types.SimpleNamespace(name=name, kwarg_only=False) for name in names])

    def __call__(self, *given):
        return self.function(*given)


def attention(query, key, value, mask, tiles, scale, causal, order):
    """As attention_host_test.py has it: NaN for queries that see no key."""
    scores = query @ key.mT * scale
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    return scores.softmax(-1) @ value


KERNELS = {
    "hone.attention.default": Kernel(attention, ("query", "key", "value", "mask", "tiles", "scale", "causal", "order")),
    "hone.attention_tiles.default": Kernel(lambda mask: torch.zeros(-(-mask.shape[1] // 64), -(-mask.shape[0] // 128), dtype=torch.uint8), ("mask",)),
}
of_aten = hone_graph_run._function
hone_graph_run._function = lambda target: KERNELS.get(target) or of_aten(target)


def fused(label, function, shapes, times=1, masks=()):
    """The same with kernels. `masks`: bool tensors, the last inputs."""
    model, inputs = Call(function).eval(), [torch.randn(shape) for shape in shapes] + list(masks)
    graph = hone_graph.capture(model, inputs)
    done = subprocess.run([TOOL, "--fuse-attention"], input=json.dumps(graph), capture_output=True, text=True)
    if done.returncode:
        failures.append("%s: %s" % (label, done.stderr.strip()))
        return
    answer = json.loads(done.stdout)
    if answer["times"] != times or times != sum(node["target"] == "hone.attention.default" for node in answer["graph"]["nodes"]):
        failures.append("%s: fused %d times" % (label, answer["times"]))
    expected, got = (hone_graph_run.Interpreter(one, {}, wide=True).run(inputs) for one in (graph, answer["graph"]))
    known = ~expected.isnan()
    off = ((got - expected)[known].norm() / expected[known].norm()).item() if got.shape == expected.shape else float("inf")
    print("fused, %-40s %.1e" % (label, off))
    if not off <= 1e-12 or not torch.equal(got.isnan(), expected.isnan()):
        failures.append("fused, %s: differs by %.1e, NaN in %d and %d places" % (label, off, got.isnan().sum(), expected.isnan().sum()))


S = [(2, 3, 70, 16), (2, 3, 90, 16), (2, 3, 90, 8)]
hidden = torch.rand(70, 90) < 0.5
hidden[3], hidden[4] = True, False  # a query without keys, and one with all
low = torch.finfo(torch.float32).min


def softmax(change, factor=0.25):
    """Attention as modules write it, with a change of the scores."""
    return lambda q, k, v, *masks: change(q @ k.mT * factor, *masks).softmax(-1) @ v


with torch.no_grad():
    fused("written", softmax(lambda s: s), S)
    fused("operator", A, S)
    fused("causal operator", lambda q, k, v: A(q, k, v, is_causal=True), S)
    for fill in (-math.inf, -1e9, low):
        fused("masked_fill %g" % fill, softmax(lambda s, m, fill=fill: s.masked_fill(m, fill)), S, masks=[hidden])
        fused("where %g" % fill, softmax(lambda s, m, fill=fill: torch.where(m, fill, s)), S, masks=[hidden])
        fused("where not %g" % fill, softmax(lambda s, m, fill=fill: torch.where(m, s, fill)), S, masks=[~hidden])
        fused("mask with axes of heads %g" % fill, softmax(lambda s, m, fill=fill: s.masked_fill(m[None, None], fill)), S, masks=[hidden])
        fused("mask made in forward %g" % fill, softmax(lambda s, fill=fill: s.masked_fill(torch.ones(70, 90, dtype=torch.bool).triu(-3), fill)), S)
    fused("a bias of -inf", softmax(lambda s, m: s + torch.zeros(70, 90).masked_fill(m, -math.inf)), S, masks=[hidden])
    fused("a bias of -inf, first", softmax(lambda s, m: torch.where(m, 0.0, -math.inf) + s), S, masks=[~hidden])
    fused("scaled queries", lambda q, k, v: (q * 0.3) @ k.mT @ torch.eye(90) @ v, S, times=0)
    fused("scaled queries, in attention", lambda q, k, v: ((q / 4) @ k.mT).softmax(-1) @ v, S)
    fused("both scaled, and the scores", lambda q, k, v, m: (((q * 0.3) @ (k.mT * 2)) / 3).masked_fill(m, -1e9).softmax(-1) @ v, S, masks=[hidden])
    fused("the operator's bools", lambda q, k, v, m: A(q, k, v, attn_mask=m), S, masks=[~hidden])
    fused("the operator's bools, with axes of heads", lambda q, k, v, m: A(q, k, v, attn_mask=m[None, None]), S, masks=[~hidden])
    fused("the operator's bias", lambda q, k, v, m: A(q, k, v, attn_mask=torch.zeros(70, 90).masked_fill(m, -math.inf)), S, masks=[hidden])
    fused("a read mask and read queries", lambda q, k, v, m: ((q * 2) @ k.mT).masked_fill(m, -1e9).softmax(-1) @ v + (q * 2).sum() + m.sum(), S, masks=[hidden])
    fused("a fill that does not hide stays", softmax(lambda s, m: s.masked_fill(m, -20.0)), S, 0, [hidden])
    fused("a bias that does not hide stays", softmax(lambda s, m: s + torch.zeros(70, 90).masked_fill(m, -20.0)), S, 0, [hidden])
    fused("a finite bias stays", softmax(lambda s, m: s + torch.zeros(70, 90).masked_fill(m, -1e9)), S, 0, [hidden])
    fused("any bias stays", softmax(lambda s, b: s + b), [*S, (70, 90)], 0)
    fused("the operator with any bias stays", lambda q, k, v, b: A(q, k, v, attn_mask=b), [*S, (70, 90)], 0)
    fused("a mask of each head stays", softmax(lambda s, m: s.masked_fill(m, -1e9)), S, 0, [torch.rand(3, 70, 90) < 0.5])
    fused("a mask of keys alone stays", softmax(lambda s, m: s.masked_fill(m, -1e9)), S, 0, [torch.rand(90) < 0.5])
    fused("the two senses of where stay apart", softmax(lambda s, m: torch.where(m, s, s * 2)), S, 0, [hidden])
for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
