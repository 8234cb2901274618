"""Attention as products (fused/attention.h), both sides in float64: modules are captured, attention is expanded, and both graphs are run. What
PyTorch decides by itself (masks as tensors, dropout) must stay.

Usage: attention_rewrite_test.py --tool hone_expert_tool. Exit code 1 when a case fails, 77 without torch.
"""

import argparse
import json
import pathlib
import subprocess
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
for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
