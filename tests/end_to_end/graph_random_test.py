"""Passes random modules through all rewrites and compares both graphs in float64. One kind comes from random_graphs.py: maps, reductions, norms,
softmax, scans, views and broadcasts. The other consists of patterns that rules match: products followed by sums, batch norms, affine chains,
axes of length 1, views without effect, selected rows, norms followed by means. A graph that is called degenerate must return the same for
other inputs.

Usage: graph_random_test.py --tool GRAPH_TOOL [--count 60] [--first 0]. 500 graphs: --count 500. Exit code 1 when a graph fails, 77 without torch.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import warnings
from collections import Counter

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "worker"))
import hone_graph
import hone_graph_run
import random_graphs

_LIMIT = 1e-9  # relative to the largest element, in float64, because folding may change the order of sums
warnings.simplefilter("ignore")


class Foldable(nn.Module):
    """A chain of steps that rewrites match. The choices are made once; forward repeats them."""

    def __init__(self, seed):
        super().__init__()
        self.draw = random.Random(seed)
        self.shape = [self.draw.choice((1, 2, 3, 5, 7)) for _ in range(self.draw.choice((2, 3, 3, 4)))]
        if self.shape[-1] < 3:
            self.shape[-1] = 6
        self.steps, self.parts = [], nn.ModuleList()
        shape = tuple(self.shape)
        for _ in range(self.draw.randint(3, 8)):
            shape = self._add(shape)

    def _part(self, module):
        for weight in module.parameters():
            nn.init.normal_(weight)
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
        self.parts.append(module.eval())
        return len(self.parts) - 1

    def _add(self, shape):
        rank, draw = len(shape), self.draw
        axis = draw.randrange(rank) if rank else 0
        number = draw.choice((0.0, 1.0, 2.0, -0.5, 0.25))
        kinds = ["add", "mul", "affine", "twice", "same view", "cast", "dropout", "self", "map", "full"]
        if rank:
            kinds += ["linear", "linear", "linear sum", "linear mean", "keep", "reduce", "unit", "softmax unit", "select", "slice", "cat", "norm mean", "swap",
                      "rows", "diagonal", "broadcast", "scale"]  # fmt: skip
        if rank == 3:
            kinds += ["conv", "conv norm", "conv pool", "group", "instance"] * 2
        if rank in (2, 3):
            kinds += ["batch norm"]
        kind = draw.choice(kinds)
        if math_size(shape) > 20000 and kind in ("cat", "linear"):
            kind = "map"
        step, after = (kind, axis, number), shape
        if kind in ("linear", "linear sum", "linear mean"):
            out = draw.choice((1, 2, 4, 6))
            step += (self._part(nn.Linear(shape[-1], out, bias=draw.random() < 0.7)),)
            after = shape[:-1] + (out,) if kind == "linear" else shape[:-1] + (1,) if kind == "linear sum" else shape[:-2] + (out,) if rank > 1 else shape
            if kind == "linear mean" and rank < 2:
                return shape
        elif kind in ("conv", "conv norm", "conv pool"):
            module = nn.Conv1d(shape[1], 4, 2, padding=1) if draw.random() < 0.5 else nn.ConvTranspose1d(shape[1], 4, 2)
            step += (self._part(module), self._part(nn.BatchNorm1d(4)))
            after = (shape[0], 4, shape[2] + 1) if kind != "conv pool" else (shape[0], 4)
        elif kind == "batch norm":
            step += (self._part(nn.BatchNorm1d(shape[1])),)
        elif kind in ("group", "instance", "norm mean"):
            if shape[-1] < 2 or (kind == "group" and shape[1] % 2):
                return shape
            module = {"group": lambda: nn.GroupNorm(2, shape[1], affine=draw.random() < 0.5), "norm mean": lambda: nn.LayerNorm(shape[-1], elementwise_affine=draw.random() < 0.5),
                      "instance": lambda: nn.InstanceNorm1d(shape[1], affine=draw.random() < 0.5)}[kind]()  # fmt: skip
            step += (self._part(module), draw.random() < 0.6)
            if step[-1]:
                after = shape[:1] if kind == "group" else shape[:-1]
        elif kind in ("reduce", "select", "rows"):
            after = shape[:axis] + shape[axis + 1 :]
            step += (draw.choice(("sum", "mean", "amax")) if kind == "reduce" else draw.randrange(shape[axis]),)
            if kind == "rows":
                after = shape[:axis] + (1,) + shape[axis + 1 :]
        elif kind == "unit":
            after = shape[:axis] + (1,) + shape[axis:]
            step += (draw.choice(("sum", "mean", "amax", "prod", "cumsum", "logsumexp")),)
        elif kind == "slice":
            start = draw.randrange(shape[axis])
            stop = draw.randint(start + 1, shape[axis])
            step += (start, stop)
            after = shape[:axis] + (stop - start,) + shape[axis + 1 :]
        elif kind == "cat":
            step += (draw.random() < 0.5,)
            after = shape[:axis] + (2 * shape[axis],) + shape[axis + 1 :]
        elif kind == "swap":
            after = shape[:-2] + (shape[-1], shape[-2]) if rank > 1 else shape
        elif kind == "diagonal":
            if rank != 2:
                return shape
            step += (self._part(Weight(shape[0])),)
        elif kind in ("broadcast", "scale"):
            step += (self._part(Weight(*shape[axis:])) if kind == "broadcast" else self._part(Weight(shape[-1])),)
        self.steps.append(step)
        return after

    def forward(self, x):
        given = x
        for kind, axis, number, *how in self.steps:
            part = self.parts[how[0]] if how and type(how[0]) is int and how[0] < len(self.parts) else None
            if kind == "add":
                x = x + number
            elif kind == "mul":
                x = x * number if number else x * 3.0
            elif kind == "affine":
                x = (x * 2.0 + number) * 0.5 - 1.0
            elif kind == "twice":
                x = x * 2.0 + x
            elif kind == "same view":
                x = x.reshape(x.shape).contiguous()
            elif kind == "cast":
                x = x.to(torch.float32).clone()
            elif kind == "dropout":
                x = F.dropout(x, 0.3, False)
            elif kind == "self":
                x = x - x if number == 0.25 else x - 0.5 * x
            elif kind == "map":
                x = random_graphs.MAPS[int(8 + 4 * number)](x)
            elif kind == "full":
                x = x + torch.full_like(x, number).tanh()
            elif kind == "linear":
                x = part(x)
            elif kind == "linear sum":
                x = part(x).sum(-1, keepdim=True)
            elif kind == "linear mean":
                x = part(x).mean(-2)
            elif kind == "keep":
                x = x - x.mean(axis, keepdim=True)
            elif kind == "reduce":
                x = getattr(torch, how[0])(x, axis)
            elif kind == "unit":
                x = x.unsqueeze(axis)
                x = getattr(torch, how[0])(x, axis) if how[0] == "cumsum" else getattr(torch, how[0])(x, axis, keepdim=True)
            elif kind == "softmax unit":
                x = x + x.unsqueeze(-1).softmax(-1).squeeze(-1)
            elif kind == "select":
                x = x.select(axis, how[0])
            elif kind == "rows":
                x = x.narrow(axis, how[0], 1)
            elif kind == "slice":
                x = x[(slice(None),) * axis + (slice(*how),)]
            elif kind == "cat":
                x = torch.cat([x, torch.zeros_like(x) if how[0] else x * 2.0], axis)
            elif kind == "swap":
                x = x.transpose(-1, -2).reshape(x.shape[:-2] + (x.shape[-1], x.shape[-2])) if x.dim() > 1 else x
            elif kind == "diagonal":
                x = torch.diag(part.weight) @ x
            elif kind == "broadcast":
                x = x * part.weight
            elif kind == "scale":
                x = x * part.weight + part.weight
            elif kind in ("conv", "conv norm", "conv pool"):
                x = part(x)
                x = self.parts[how[1]](x) if kind == "conv norm" else x.mean(2) if kind == "conv pool" else x
            elif kind == "batch norm":
                x = part(x)
            elif kind in ("group", "instance", "norm mean"):
                x = part(x)
                if how[1]:
                    x = x.mean((1, 2)) if kind == "group" else x.mean(-1)
        return x if x.dim() and given is not None else (x, given.sum())

    def inputs(self):
        return [torch.randn(*self.shape)]


class Weight(nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(*shape))


def math_size(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


def flat(tree):
    return [tree] if isinstance(tree, torch.Tensor) else [tensor for item in tree for tensor in flat(item)]


def distance(expected, got):
    """The largest difference, relative to the largest element of all outputs; infinity if they are of another form."""
    expected, got = flat(expected), flat(got)
    if [tensor.shape for tensor in expected] != [tensor.shape for tensor in got]:
        return float("inf")
    scale = max([1.0] + [float(tensor.abs().max()) for tensor in expected if tensor.numel()])
    return max([0.0] + [float((a.double() - b.double()).abs().max()) / scale for a, b in zip(expected, got) if a.numel()])


def check(seed, tool, rules):
    """None, or the error in the graph of this seed."""
    torch.manual_seed(seed)
    model = (Foldable if seed % 2 else random_graphs.RandomModule)(seed).eval()
    graph = hone_graph.capture(model, model.inputs())
    done = subprocess.run([tool], input=json.dumps(graph), capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    answer = json.loads(done.stdout)
    rules.update(answer["applied"])
    weights = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    first, second = model.inputs(), [torch.randn_like(tensor) for tensor in model.inputs()]
    module = hone_graph_run.Interpreter(graph, weights, wide=True)
    before = module.run(first)
    after = hone_graph_run.Interpreter(answer["graph"], weights, wide=True).run(first)
    wrong = distance(before, after)
    if not wrong <= _LIMIT:
        return "differs by %.1e after %s" % (wrong, answer["applied"])
    if answer["degenerate"] and not distance(before, module.run(second)) <= _LIMIT:
        return "called degenerate (%s), but the answers to two inputs differ by %.1e" % (answer["rule"], distance(before, module.run(second)))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    failed, rules, applied = 0, Counter(), 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        before = sum(rules.values())
        problem = check(seed, arguments.tool, rules)
        applied += sum(rules.values()) > before
        if problem is not None:
            failed += 1
            print("FAILED seed %d: %s" % (seed, problem))
    print("%d graphs, %d rewritten, %d failed; rules: %s" % (arguments.count, applied, failed, ", ".join("%s %d" % item for item in sorted(rules.items()))))
    return 1 if failed or (arguments.count >= 60 and applied < arguments.count // 3) else 0


sys.exit(main())
