"""Tests fused kernels on a CPU: modules are captured, the expert writes their files for both languages, and the answers are compared with
float64. CUDA text is compiled for the host (cuda_on_host.h). Where PyTorch returns NaN or an infinity, the kernel must too. Several
modules share a file, because a file costs more than a kernel. A file that fails is split, so that the message names the module.

Usage: fused_graph_test.py --tool hone_expert_tool [--device cuda|cpu] [--only WORD] [--count N] [--flags=-mno-avx] [--show]
Exit code 1 when an answer is wrong or an operator that should have a kernel is a call, 77 without torch or a C++ compiler.
"""

import argparse
import concurrent.futures
import copy
import io
import itertools
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

import fused_house
import fused_index_cases
import fused_tail_cases
import random_graphs

R = torch.randn
INF, NAN = float("inf"), float("nan")
TASK = "import torch\n\n\nclass Model(torch.nn.Module):\n    pass\n"
FLOORS = {torch.float64: 1e-14, torch.float32: 5e-7, torch.float16: 6e-4, torch.bfloat16: 5e-3}


class Case(nn.Module):
    """A function of the module and its inputs, with some sub-modules and parameters."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def of(function):
    return Case(lambda self, *inputs: function(*inputs))


def odd_numbers():
    x = R(6, 10)
    x[1, 2], x[2, 3], x[3, 4], x[4], x[5, 0], x[5, 1] = NAN, INF, -INF, -INF, INF, -INF
    return x


def odd_row(length):
    x = R(2, length)
    x[0, length // 2], x[0, length - 100], x[1, 30], x[1, length // 3] = INF, -INF, -INF, NAN
    return x


def nan_tensor():
    return torch.where(torch.rand(2, 3, 20, 21) > 0.9, torch.tensor(NAN), R(2, 3, 20, 21))


def batch_norm(channels):
    module = nn.BatchNorm2d(channels)
    module.running_mean.normal_()
    module.running_var.uniform_(0.5, 2)
    return module


def instance_norm(channels):
    module = nn.InstanceNorm2d(channels, affine=True, track_running_stats=True)
    module.running_mean.normal_()
    module.running_var.uniform_(0.5, 2)
    return module


def signs(*shape):
    return torch.randint(0, 2, shape).float() * 2 - 1


def ignoring():
    targets = torch.randint(0, 40, (100,))
    targets[3] = -100
    return targets


ACTIVATIONS = (
    F.relu, F.leaky_relu, F.hardsigmoid, F.hardswish, F.elu, F.selu, lambda x: F.celu(x, 0.7), F.softplus, F.mish, F.silu, F.softsign, F.logsigmoid,
    F.relu6, F.hardtanh, F.tanhshrink, F.hardshrink, F.softshrink, F.gelu, lambda x: F.gelu(x, approximate="tanh"), lambda x: x.clamp(-0.5, None),
    lambda x: x.pow(3) + x**2.5, torch.sign, lambda x: torch.where(x > 0, x, -x), lambda x: x.masked_fill(x.isnan(), 0.0), torch.sigmoid, torch.tanh,
    torch.isinf, torch.isfinite, lambda x: torch.nan_to_num(x).clamp(-9, 9), lambda x: torch.nan_to_num(x, 1.5, 7.0, -7.0), torch.asin, torch.acos, lambda x: x.clip(-1, 1),
    lambda x: torch.floor_divide(x, 0.3), lambda x: torch.div(x, -0.7, rounding_mode="floor"), lambda x: torch.div(x, 0.7, rounding_mode="trunc"),
    lambda x: torch.subtract(x, 2, alpha=3), lambda x: (x > 0).type_as(x), lambda x: (x * 2).sum(1, keepdim=True).expand(6, 10).tanh(),
    lambda x: torch.maximum(x, x.flip(0)), lambda x: 1 - x, lambda x: x / 3 - 2 / x, torch.log1p, torch.expm1, torch.erf, torch.rsqrt)  # fmt: skip
ROW_ANSWERS = (
    lambda x, d: torch.amax(x, d), lambda x, d: torch.amin(x, d), lambda x, d: torch.argmax(x, d), lambda x, d: torch.argmin(x, d), lambda x, d: x.sum(d),
    lambda x, d: x.mean(d), lambda x, d: torch.logsumexp(x, d), lambda x, d: x.prod(d), lambda x, d: (x > 1).any(d), lambda x, d: (x > -9).all(d),
    lambda x, d: torch.max(x, d)[0], lambda x, d: torch.max(x, d)[1])  # fmt: skip


def cases():
    yield "activations of odd numbers", of(lambda x: tuple(f(x) for f in ACTIVATIONS)), [odd_numbers()]
    for axis in (0, 1):
        yield "row answers of odd numbers, axis %d" % axis, of(lambda x, d=axis: tuple(f(x, d) for f in ROW_ANSWERS)), [odd_numbers()]
        yield "softmax of odd numbers, axis %d" % axis, of(lambda x, d=axis: (torch.softmax(x, d), torch.log_softmax(x, d))), [odd_numbers()]
    for axes in (0, 1, 2, (0, 1), (1, 2), (0, 2)):
        yield "sum and variance over %s" % (axes,), of(lambda x, d=axes: (x.sum(d, keepdim=True), x.var(d), x.std(d, unbiased=False))), [R(3, 7, 5) + 100]
    yield "everything reduced", of(lambda x: (x.sum(), x.mean(), x.argmax(), x.norm())), [R(30, 41)]
    yield "one element", of(lambda x: torch.sigmoid(x * 2).sum(1)), [R(1, 1)]
    yield "a scalar", of(lambda x: F.relu(x) * 2), [R(())]
    yield "lengths that divide by nothing", of(lambda x: torch.softmax(x * 2, 1)), [R(5, 1003)]
    yield "bias over channels", of(lambda x, b: torch.sigmoid(F.relu(x) + b) * 2), [R(4, 8, 6, 8), R(8, 1, 1)]
    yield "broadcast both ways", of(lambda x, y: F.relu(x * y).sum(-1)), [R(4, 1, 6), R(1, 5, 1)]
    yield "a computed row expanded", of(lambda x, y: (F.relu(x).sum(1, keepdim=True).expand(-1, 6).contiguous(), (x[:, :1] * 2).expand_as(y) + y)), [R(5, 6), R(4, 5, 6)]
    yield "transposed in forward", of(lambda x: F.relu(x.transpose(1, 2)) + 1), [R(4, 5, 6)]
    yield "transposed input", of(lambda x: x.sum(1)), [R(4, 5, 6).transpose(1, 2)]
    yield "a slice", of(lambda x: torch.sigmoid(x[:, 1:])), [R(4, 9)]
    yield "two outputs and a row", of(lambda x: (F.relu(x), F.relu(x).sum(1), x.mean(1))), [R(50, 80)]
    yield "integers", of(lambda x: ((x * 3 + 1).clamp(max=5).sum(1), x.cumsum(1), x.abs().amax(0))), [torch.randint(-9, 9, (5, 6))]
    yield "int8 wraps", of(lambda x: (x + x) * 3), [torch.randint(-128, 127, (5, 6), dtype=torch.int8)]
    yield "bools", of(lambda x, y: ((x & (y > 0)).float().mean(1), ~x | (y < 0))), [R(5, 6) > 0, R(5, 6)]
    yield "mixed dtypes", of(lambda x, y, n: x * 2 + y * n), [R(5, 8).half(), R(5, 8), torch.randint(0, 5, (5, 8))]
    yield "float16", nn.Sequential(nn.LayerNorm(64), nn.GELU()).half(), [R(7, 64).half()]
    yield "bfloat16", of(lambda x: torch.softmax(F.silu(x), -1)), [R(7, 72).bfloat16()]
    yield "float64", of(lambda x: torch.softmax(x, -1) * torch.exp(x)), [R(7, 72).double()]

    yield "layer norm far from zero", nn.LayerNorm(768), [R(9, 768) + 100]
    yield "layer norm over two axes", nn.LayerNorm((6, 10)), [R(9, 6, 10) + 3]
    yield "group norm, then a map", nn.Sequential(nn.GroupNorm(4, 12), nn.Hardtanh()), [R(5, 12, 6, 7)]
    yield "maps, then group norm", Case(lambda s, x: s.norm(torch.sigmoid((x + s.a) * s.b)), norm=nn.GroupNorm(8, 32), a=nn.Parameter(R(32, 1, 1)), b=nn.Parameter(R(32, 1, 1))), [R(4, 32, 8, 8)]
    yield "instance norm", nn.InstanceNorm2d(6, affine=True), [R(3, 6, 9, 11)]
    yield "batch norm", nn.Sequential(batch_norm(6), nn.ReLU()), [R(3, 6, 9, 11)]
    yield "batch norm of the batch's own statistics", nn.Sequential(nn.BatchNorm2d(6, track_running_stats=False), nn.ReLU()), [R(3, 6, 9, 11) * 2 + 5]
    yield "batch norm of rows", nn.BatchNorm1d(40, track_running_stats=False), [R(70, 40) + 50]
    yield "instance norm of given statistics", instance_norm(6), [R(3, 6, 9, 11)]
    yield "rms norm", nn.RMSNorm(64), [R(7, 64)]
    yield "rms norm by hand over channels", of(lambda x: x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)), [R(3, 64, 8, 12)]
    yield "the same, odd", of(lambda x: x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)), [R(3, 13, 7, 5)]
    yield "softmax over channels", of(lambda x: torch.sigmoid(torch.softmax(x, 1))), [R(2, 64, 9, 16)]

    yield "hinge", of(lambda p, t: torch.mean(torch.clamp(1 - p * t, min=0))), [R(100, 100), torch.randint(0, 2, (100,)).float() * 2 - 1]
    yield "cross entropy", of(F.cross_entropy), [R(100, 40), ignoring()]
    yield "cross entropy with weights", Case(lambda s, p, t: (F.cross_entropy(p, t, s.w), F.cross_entropy(p, t, s.w, reduction="sum", label_smoothing=0.1)), w=nn.Parameter(torch.rand(40))), [R(100, 40), ignoring()]
    yield "cross entropy, smoothed and row by row", of(lambda p, t: (F.cross_entropy(p, t, label_smoothing=0.2), F.cross_entropy(p, t, reduction="none"))), [R(100, 40), ignoring()]
    yield "cross entropy row by row over an inner axis", of(lambda p, t: F.cross_entropy(p, t, reduction="none", label_smoothing=0.1)), [R(4, 10, 6), torch.randint(0, 10, (4, 6))]
    yield "margins", of(lambda x, y, t: (F.margin_ranking_loss(x, y, t, 0.3), F.soft_margin_loss(x, t), F.hinge_embedding_loss(x, t, 0.7), F.hinge_embedding_loss(x, t, reduction="none"))), [R(30, 51), R(30, 51), signs(30, 51)]
    yield "margins of odd numbers", of(lambda x, t: (F.soft_margin_loss(x, t, reduction="none"), F.hinge_embedding_loss(x, t, reduction="none"), F.margin_ranking_loss(x, x.flip(0), t, reduction="none"))), [odd_numbers(), signs(6, 10)]
    yield "cosine embedding", of(lambda x, y, t: (F.cosine_embedding_loss(x, y, t, 0.1), F.cosine_embedding_loss(x, y, t, reduction="none"))), [R(30, 51), R(30, 51), signs(30)]
    yield "triplets", of(lambda a, p, n: (F.triplet_margin_loss(a, p, n), F.triplet_margin_loss(a, p, n, p=1, reduction="none"), F.triplet_margin_loss(a, p, n, swap=True, reduction="sum"))), [R(30, 51), R(30, 51), R(30, 51)]
    yield "cross entropy over an inner axis", of(lambda p, t: F.cross_entropy(p, t, reduction="sum")), [R(4, 10, 6), torch.randint(0, 10, (4, 6))]
    yield "divergence", of(lambda p, t: F.kl_div(torch.log(p), t, reduction="batchmean")), [R(30, 50).softmax(1), R(30, 50).softmax(1)]
    yield "differences", of(lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y))), [R(30, 51), R(30, 51)]
    yield "binary cross entropy", of(lambda x, y: (F.binary_cross_entropy(torch.sigmoid(x), y), F.binary_cross_entropy_with_logits(x, y))), [R(30, 5), torch.rand(30, 5)]

    yield "binary cross entropy with weights", Case(lambda s, x, y: (F.binary_cross_entropy(torch.sigmoid(x), y, s.w), F.binary_cross_entropy_with_logits(x, y, s.w, pos_weight=s.p), F.binary_cross_entropy_with_logits(x, y, pos_weight=s.p, reduction="none")), w=nn.Parameter(torch.rand(30, 5)), p=nn.Parameter(torch.rand(5))), [R(30, 5), torch.rand(30, 5)]

    yield "layer norm of rows of 24 KB", nn.LayerNorm(6000), [R(150, 6000)]
    yield "one long row", of(lambda x: torch.softmax(x, 1)), [R(1, 30000)]
    yield "one row of a cluster", of(lambda x: torch.softmax(x, 1)), [R(1, 200000)]
    yield "moments far from zero, in parts", of(lambda x: torch.var_mean(x, 1)), [R(2, 300000) * 0.01 + 1000]
    yield "few rows in clusters", of(lambda x: torch.softmax(x, 1)), [R(20, 20000)]
    yield "rows in shared memory", nn.LayerNorm(140000), [R(17, 140000)]
    yield "softmax in shared memory", of(lambda x: torch.softmax(F.relu(x), 1)), [R(17, 140000)]
    yield "rows that fit nowhere", of(lambda x, y: torch.softmax(x + y, 1)), [R(17, 140002), R(17, 140002)]
    yield "one row over all blocks", of(lambda x: (x.sum(), x.argmax())), [R(1500, 1001)]
    yield "three rows over all blocks", nn.LayerNorm((100, 3000)), [R(3, 100, 3000) + 7]
    yield "weights for several rows of a block", nn.LayerNorm((100, 3000)), [R(5, 100, 3000) + 7]
    yield "columns over all blocks", of(lambda x: (x.mean(0), x.argmax(0))), [R(50000, 20)]
    yield "softmax of columns over all blocks", of(lambda x: torch.softmax(x, 0)), [R(50000, 8)]
    yield "columns that divide by nothing", of(lambda x: torch.max(x, 1)[0]), [R(8, 300, 95)]

    yield "scan of long rows", of(lambda x: torch.cumsum(x, 1)), [torch.rand(3, 20000)]
    yield "scan of long rows of odd numbers", of(lambda x: (torch.cumsum(x.flip(1), dim=1).flip(1), torch.cumsum(x, 1))), [odd_row(40001)]
    yield "product scan of long rows", of(lambda x: torch.cumprod(x, 1)), [1 + R(3, 20000) / 1000]
    yield "scan, odd", of(lambda x: torch.cumsum(x, 1)), [R(3, 777)]
    yield "scan of columns", of(lambda x: torch.cumsum(x * 2, 1) * 3), [R(4, 37, 8)]
    yield "scan from the end", of(lambda x: torch.cumsum(x.flip(1), dim=1).flip(1)), [R(5, 1000)]
    yield "scan of columns from the end", of(lambda x: torch.cumsum(x.flip(0), dim=0).flip(0)), [R(50, 12)]
    yield "scan without the own element", of(lambda x: torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), torch.cumsum(x.narrow(1, 0, x.size(1) - 1), 1)), 1)), [R(5, 1000)]
    yield "masked scan", of(lambda x, m: torch.cumsum(x * m, 1)), [R(5, 1000), R(5, 1000) > 0]
    yield "product scan", of(lambda x: torch.cumprod(x, 1)), [torch.rand(5, 100) + 0.5]
    yield "scan with maps around it", of(lambda x, b: torch.relu(torch.cumsum(x + b, -1) * b)), [R(5, 6, 100), R(6, 1)]
    yield "scan of odd numbers", of(lambda x: torch.cumsum(x, 1)), [torch.tensor([[1, 2, INF, 3, -INF, 1], [NAN, 1, 2, 3, 4, 5]])]

    yield "max pooling 1d, dilated", nn.MaxPool1d(8, 1, 4, 3), [R(2, 3, 1500)]
    yield "max pooling 2d", nn.MaxPool2d(4, 1, 1, 1), [R(2, 3, 20, 21)]
    yield "max pooling of NaN", nn.MaxPool2d(3, 1, 1), [nan_tensor()]
    yield "max pooling 3d", nn.MaxPool3d(2), [R(2, 3, 8, 9, 10)]
    yield "max pooling in half", nn.MaxPool2d(3, 2, 1).half(), [R(2, 3, 20, 21).half()]
    yield "average pooling 2d, wide", nn.AvgPool2d(11), [R(2, 3, 50, 60)]
    yield "average pooling without padding", nn.AvgPool2d(3, 2, 1, count_include_pad=False), [R(2, 3, 50, 61)]
    yield "max pooling that rounds up", nn.MaxPool2d(3, 2, 1, ceil_mode=True), [R(2, 3, 20, 21)]
    yield "average pooling that rounds up", of(lambda x: (F.avg_pool2d(x, 3, 2, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False))), [R(2, 3, 20, 22)]
    yield "adaptive pooling", of(lambda x: (F.adaptive_avg_pool2d(x, (4, 5)), F.adaptive_max_pool2d(x, (10, 4)), F.adaptive_max_pool1d(x[:, 0], 5))), [R(2, 3, 20, 20)]
    yield "max pooling without its indices", of(lambda x: F.max_pool2d(x, 3, 1, 1, return_indices=True)[0]), [nan_tensor()]
    yield "average pooling 3d", nn.AvgPool3d(3, 2, 1), [R(2, 3, 12, 14, 30)]
    yield "convolution, map, pooling, map", Case(lambda s, x: torch.tanh(F.max_pool2d(torch.tanh(s.c(x)), 2) * s.w), c=nn.Conv2d(3, 4, 3), w=nn.Parameter(R(4, 1, 1))), [R(2, 3, 18, 18)]
    yield "pooling, then a mean", Case(lambda s, x: torch.tanh(torch.mean(F.hardtanh(F.max_pool2d(s.c(x), 2)), (2, 3), keepdim=True)), c=nn.Conv2d(3, 4, 3)), [R(2, 3, 18, 18)]
    yield "softmax and two poolings", Case(lambda s, x: F.max_pool3d(F.max_pool3d(torch.softmax(s.c(x), 1), 2), 2), c=nn.Conv3d(3, 4, 3)), [R(2, 3, 10, 10, 10)]

    yield "linear, clamp, log-sum-exp", Case(lambda s, x: torch.logsumexp(torch.clamp(s.l(x) * 2, -10, 10), 1, keepdim=True) * 2, l=nn.Linear(30, 50)), [R(8, 30)]
    yield "instance norm behind views", Case(lambda s, x, y: (s.i(s.l(x).unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1) + y) * y, l=nn.Linear(30, 64), i=nn.InstanceNorm2d(1)), [R(8, 30), R(8, 64)]
    yield "softmax between views", Case(lambda s, x: torch.softmax(torch.clamp(s.c(x), 0, 1).view(2, 4, -1), 2).view(2, 4, 4, 4, 4) * s.w, c=nn.Conv3d(3, 4, 3), w=nn.Parameter(R(1, 4, 1, 1, 1))), [R(2, 3, 6, 6, 6)]
    yield "a row back over all elements", Case(lambda s, x: F.gelu(torch.logsumexp(torch.mean(s.l(x) - s.q, 1, keepdim=True), 1, keepdim=True)) + x, l=nn.Linear(32, 32), q=nn.Parameter(R(32))), [R(6, 32)]
    yield "a weight that is folded", nn.Sequential(nn.Conv2d(3, 4, 3), batch_norm(4), nn.ReLU(), nn.MaxPool2d(2), nn.Hardswish()), [R(2, 3, 18, 18)]
    yield "global average pooling", Case(lambda s, x: F.adaptive_avg_pool2d(F.gelu(s.c(x)), 1).squeeze(-1).squeeze(-1), c=nn.Conv2d(3, 8, 3)), [R(2, 3, 12, 12)]
    yield "what a call made of a kernel's result", Case(lambda s, x: (lambda y: s.l(y) + y)(F.relu(x) * 2), l=nn.Linear(32, 32)), [R(6, 32)]
    yield "a whole network", nn.Sequential(nn.Linear(30, 50), nn.ReLU(), nn.LayerNorm(50), nn.Linear(50, 50), nn.ReLU(), nn.LayerNorm(50), nn.Linear(50, 5), nn.Softmax(1)), [R(8, 30)]
    yield from fused_index_cases.cases()
    yield from fused_tail_cases.cases()


class Several(nn.Module):
    """Several modules in one: one file, one compilation."""

    def __init__(self, parts, counts):
        super().__init__()
        self.parts, self.counts = nn.ModuleList(parts), counts

    def split(self, inputs):
        ends = list(itertools.accumulate(self.counts))
        return [inputs[end - count : end] for end, count in zip(ends, self.counts)]

    def forward(self, *inputs):
        return tuple(part(*own) for part, own in zip(self.parts, self.split(inputs)))


def random_cases(count):
    for seed in range(count):
        module = random_graphs.RandomModule(seed)
        yield "random %d" % seed, module, module.inputs()


# What may stay an ATen call: products and convolutions, and operators that only make another view of memory.
CALLS = re.compile(r"aten\.(linear|conv\dd|conv_transpose\dd|convolution|addmm|mm|bmm|matmul|t|transpose|permute|slice|select|narrow|chunk|split|split_with_sizes|unbind|view|_unsafe_view|reshape|expand|squeeze|unsqueeze|"
                   r"flip|zeros_like|broadcast_tensors|contiguous|clone|alias|detach|flatten|unflatten)\.")  # fmt: skip


def flat(value):
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (tuple, list)) else [value]


def complaint(got, plain, wide):
    """The error in an answer, or None."""
    for index, (g, p, w) in enumerate(zip(flat(got), flat(plain), flat(wide))):
        if g.shape != p.shape or g.dtype != p.dtype:
            return "answer %d is %s %s, not %s %s" % (index, g.dtype, tuple(g.shape), p.dtype, tuple(p.shape))
        if not p.is_floating_point():
            if not torch.equal(g, p):
                return "answer %d differs in %d places" % (index, int((g != p).sum()))
            continue
        if not torch.equal(g.isnan(), p.isnan()) or not torch.equal(g.isinf(), p.isinf()) or not torch.equal(g[g.isinf()], p[p.isinf()]):
            return "answer %d: NaN or infinities are not where PyTorch has them" % index
        finite = torch.isfinite(p) & torch.isfinite(w)
        size = w[finite].norm().clamp_min(1e-30)
        error, limit = float((g.double() - w)[finite].norm() / size), max(2 * float((p.double() - w)[finite].norm() / size), FLOORS[p.dtype])
        if not error <= limit:
            return "answer %d errs by %.1e, and %.1e is allowed" % (index, error, limit)
    return None


class Bundle:
    """Some cases in one file per language."""

    def __init__(self, cases, options, folder):
        self.cases, self.options, self.folder = cases, options, folder
        self.model = Several([model.eval() for _, model, _ in cases], [len(inputs) for _, _, inputs in cases])
        self.inputs = [x for _, _, inputs in cases for x in inputs]
        self.files = {}

    def write(self):
        """Writes the files from one graph."""
        with torch.no_grad():
            graph = fused_house.graph_of(self.model, self.inputs)
        for device in self.options.devices:
            folder = self.folder / device
            folder.mkdir(parents=True)
            text, why = fused_house.candidate_text(self.options.tool, TASK, graph, folder, device)
            if text is None:
                raise RuntimeError("%s: no kernels: %s" % (device, why))
            if self.options.show:
                print(text)
            steps = text[text.index("def _run_steps") :]  # earlier lines depend only on weights and use ATen
            calls = dict(re.findall(r'^_aten(\d+) = _AtenCall\("(.*?)"\)', text, re.M))
            strangers = [call for number, call in calls.items() if re.search(r"_aten%s\b" % number, steps) and not CALLS.match(call)]
            if strangers:
                raise RuntimeError("%s: %s stayed a call" % (device, ", ".join(strangers)))
            self.files[device] = (text, folder)
        return self

    def compile(self, device):
        return fused_house.load(*self.files[device], device)

    def run(self, device, candidate):
        """The error of each case."""
        before = [x.clone() for x in self.inputs]
        answers = []
        with torch.no_grad():
            for threads in (1, 3):
                candidate._threads = lambda threads=threads: threads
                answers.append(candidate._run_graph(self.model, self.inputs))
            # oneDNN's GELU of infinity is NaN on some processors; ATen's own kernels return the intended value.
            with torch.backends.mkldnn.flags(enabled=False):
                plain = self.model(*self.inputs)
            wide = copy.deepcopy(self.model).double()(*[x.double() if x.is_floating_point() else x for x in self.inputs])
        changed = [not torch.equal(a, b) and not bool(a.isnan().any()) for a, b in zip(before, self.inputs)]
        memory = lambda tensor: tensor.untyped_storage().data_ptr()
        held = {memory(t) for t in (*self.inputs, *self.model.parameters(), *self.model.buffers())} - {0}
        said = []
        for (name, _, _), got, again, p, w, own in zip(self.cases, *answers, plain, wide, self.model.split(changed)):
            differs = any(not torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8)) for a, b in zip(flat(got), flat(again)))
            new = [(a, b) for a, b, theirs in zip(flat(got), flat(again), flat(p)) if memory(theirs) not in held]
            shares = any(memory(a) in held or memory(a) == memory(b) != 0 for a, b in new)
            what = "two runs differ" if differs else "an answer shares memory that PyTorch's does not" if shares else "an input was changed" if any(own) else complaint(got, p, w)
            if what:
                said.append("%s, %s: %s" % (device, name, what))
        return said


def check(cases, options, folder):
    """The errors of some cases. Runs them one by one if the bundle as a whole fails."""
    try:
        bundle = Bundle(cases, options, folder).write()
        return [line for device in options.devices for line in bundle.run(device, bundle.compile(device))]
    except Exception as error:
        if len(cases) == 1:
            return ["%s: %s: %s" % (cases[0][0], type(error).__name__, str(error)[-600:])]
    return [line for i, case in enumerate(cases) for line in check([case], options, folder / str(i))]


FILE_TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.batch = nn.BatchNorm1d(width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return torch.relu(self.norm(torch.sigmoid(self.batch(self.linear(x))) * 2))


def get_inputs():
    return [torch.randn(8, 32)]


def get_init_inputs():
    return [32]
'''


def check_file(options, folder, device):
    """The file as users get it: other shapes and gradients run the module, and copies and changed weights stay right."""
    spaces = {}
    exec(FILE_TASK, spaces)
    x = R(8, 32)
    folder.mkdir()
    with torch.no_grad():
        graph = fused_house.graph_of(spaces["Model"](32).eval(), [x])
    text, why = fused_house.candidate_text(options.tool, FILE_TASK, graph, folder, device)
    if text is None:
        return "no kernels: " + why
    candidate = fused_house.load(text, folder, device)
    sys.modules[candidate.__name__] = candidate
    calls = []
    run = candidate._run_graph
    candidate._run_graph = lambda model, inputs: (calls.append(1), run(model, inputs))[1]
    ours, theirs = candidate.ModelNew(32).eval(), candidate.Model(32).eval()
    if list(ours.state_dict()) != list(theirs.state_dict()):
        return "the state_dict differs"
    ours.load_state_dict(theirs.state_dict())
    near = lambda a, b: a.shape == b.shape and float((a - b).norm() / b.norm()) < 1e-5
    with torch.no_grad():
        if not near(ours(x), theirs(x)) or not calls:
            return "the file's answer is wrong, or the kernels did not run"
        for weight in theirs.parameters():
            weight.mul_(1.5)
        ours.load_state_dict(theirs.state_dict())
        if not near(ours(x), theirs(x)):
            return "changed weights are not seen"
        if device == "cpu":
            for model in (ours, theirs):
                model.batch.running_var.data.mul_(3)
                model.norm.bias.data.add_(1)
            if not near(ours(x), theirs(x)):
                return "weights that were changed through .data are not seen"
            answers = [None] * 4
            workers = [threading.Thread(target=lambda i=i: answers.__setitem__(i, called(x))) for i in range(4)]
            called = torch.no_grad()(ours)
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            if not all(answer is not None and torch.equal(answer, ours(x)) for answer in answers):
                return "threads get other answers"
        stored = io.BytesIO()
        torch.save(ours, stored)
        stored.seek(0)
        for what, twin in (("a deep copy", copy.deepcopy(ours)), ("pickle", pickle.loads(pickle.dumps(ours))), ("torch.save", torch.load(stored, weights_only=False))):
            if not near(twin(x), theirs(x)):
                return what + " answers differently"
        if not near(ours(x.t().contiguous().t()), theirs(x)):
            return "a transposed input is wrong"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if not near(ours(R(3, 32) * 0 + x[:3]), theirs(x[:3])):
                return "another batch is wrong"
            if len(said) != 1 or "shapes" not in str(said[0].message):
                return "another batch is not said, or said %d times" % len(said)
        if device == "cpu":
            candidate.torch = torch
            for what, trace in (("torch.compile", lambda: torch.compile(ours, backend="eager", fullgraph=True)), ("torch.export", lambda: torch.export.export(ours, (x,)).module())):
                before = len(calls)
                candidate.hone_told.clear()
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    if not near(trace()(x), theirs(x)) or len(calls) != before:
                        return what + " answers differently, or met the kernels"
                if sum("trace the module" in str(one.message) for one in said) != 1:
                    return what + " does not say once that it got the module as it is"
        if not near(ours.train()(x), copy.deepcopy(theirs).train()(x)):
            return "train mode is wrong"
        ours.load_state_dict(theirs.state_dict())
    ours.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours(x).sum().backward()
    if ours.linear.weight.grad is None:
        return "there are no gradients"
    return None


def check_imports(options, folder, device):
    """Importing the file takes milliseconds if torch is imported: it does not import torch.compile, which takes seconds."""
    folder.mkdir()
    x = R(8, 32)
    spaces = {}
    exec(FILE_TASK, spaces)
    with torch.no_grad():
        graph = fused_house.graph_of(spaces["Model"](32).eval(), [x])
    text, why = fused_house.candidate_text(options.tool, FILE_TASK, graph, folder, device)
    if text is None:
        return "no kernels: " + why
    (folder / "file.py").write_text(text)
    command = "import sys, torch; before = set(sys.modules); import file; print([m for m in set(sys.modules) - before if m.split('.')[0] in ('torch', 'triton')])"
    done = subprocess.run([sys.executable, "-c", command], cwd=folder, capture_output=True, text=True)
    return None if done.stdout.strip() == "[]" else "it imports " + (done.stdout.strip() or done.stderr[-300:])


def check_memory(options, folder):
    """Memory of large answers is reused, but never while the answer or a view of it is alive."""
    x = R(700, 600)
    folder.mkdir()
    module = of(lambda x: torch.relu(x) * 2).eval()
    with torch.no_grad():
        text, why = fused_house.candidate_text(options.tool, TASK, fused_house.graph_of(module, [x]), folder, "cpu")
        candidate = fused_house.load(text, folder, "cpu")
        held = [candidate._run_graph(module, [x + i]) for i in range(4)]
        row, whole = held[1][3], held[0].numpy()
        addresses = {y.data_ptr() for y in held}
        if len(addresses) != 4:
            return "two answers share memory"
        del held
        again = [candidate._run_graph(module, [x - i]) for i in range(3)]
        if not torch.equal(row, torch.relu(x[3] + 1) * 2) or not torch.equal(torch.from_numpy(whole), torch.relu(x) * 2):
            return "an answer was overwritten while it was held"
        del again, row, whole
        if candidate._run_graph(module, [x]).data_ptr() not in addresses:
            return "memory is not used again"
    return None


def check_index(options, folder, device):
    """An index beyond the end, for which PyTorch raises, gives NaN in its own position only."""
    x, i = R(5, 6), torch.tensor([0, 4, 2, -1])
    folder.mkdir()
    module = of(lambda x, i: (F.embedding(i.clamp(min=0), x) + 1, x[i] * 2)).eval()
    with torch.no_grad():
        text, why = fused_house.candidate_text(options.tool, TASK, fused_house.graph_of(module, [x, i]), folder, device)
        if text is None:
            return "no kernels: " + why
        candidate = fused_house.load(text, folder, device)
        rows, wrapped = candidate._run_graph(module, [x, torch.tensor([0, 5, 2**40, -6])])
    if not torch.equal(rows[[0, 3]], x[[0, 0]] + 1) or not rows[1:3].isnan().all():
        return "an embedding is wrong"
    if not torch.equal(wrapped[0], x[0] * 2) or not wrapped[1:].isnan().all():
        return "an index is wrong"
    return None


class Sharing(nn.Module):
    """Outputs that share memory with inputs, weights and each other, and outputs that rewrites turn into such."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(R(4, 6))
        self.register_buffer("b", R(4, 6))

    def forward(self, x, y):
        a = x * 3
        return {
            "zero added": x + 0, "a chain that is one": x * 2 * 0.5, "a sum of one element": y.sum(1), "a largest of one element": y.amax(1, keepdim=True), "a power of one": x.pow(1), "a view": x.view(-1), "transposed": x.t(), "a slice": x[:, 1:], "contiguous": x.contiguous(),
            "dropout": F.dropout(x, 0.5, False), "cast": x.to(torch.float32), "a clone": x.clone(), "a clone, detached": x.clone().detach(), "a view of a sum": (x + 0).view(-1), "the input": x,
            "computed": a, "computed, and zero": a + 0, "computed, seen": a.view(6, 4), "computed again": x * 3, "a product of two": (a + 0) * 1,
            "a weight": self.w, "a weight, seen": self.w.t(), "a weight times one": self.w * 1, "a row of a buffer": self.b[1], "a buffer and zero": (self.b + 0)[1], "of weights alone": self.w.exp(), "of weights alone, seen": self.w.exp().view(-1),
            "a constant": torch.tensor([1.0, 2.0, 3.0]), "a long constant, seen": torch.tensor([float(i) for i in range(40)]).view(4, 10)[1:],
        }  # fmt: skip


def shared(model, inputs, outputs):
    """Pairs of names whose memory is the same: of an output with an input, a weight or an earlier output."""
    known = [("input %d" % i, x) for i, x in enumerate(inputs)] + list(model.state_dict(keep_vars=True).items())
    pairs = set()
    for name, out in outputs.items():
        pairs |= {(name, other) for other, tensor in known if tensor.untyped_storage().data_ptr() == out.untyped_storage().data_ptr()}
        known.append((name, out))
    return pairs


def check_sharing(options, folder, device):
    """The caller may write into an output. What PyTorch makes as a new tensor is one, and what it makes as a view stays one."""
    model, inputs = Sharing().eval(), [R(4, 6), R(3, 1)]
    folder.mkdir()
    with torch.no_grad():
        text, why = fused_house.candidate_text(options.tool, TASK, fused_house.graph_of(model, inputs), folder, device)
        if text is None:
            return "no kernels: " + why
        candidate = fused_house.load(text, folder, device)
        theirs, ours = model(*inputs), candidate._run_graph(model, inputs)
        expected, got = shared(model, inputs, theirs), shared(model, inputs, ours)
        again = {"again, " + name: out for name, out in candidate._run_graph(model, inputs).items()}
        kept = {(a, b) for a, b in shared(model, inputs, {**ours, **again}) if a in again and b in ours}
        outside = {name for name, other in expected if other.startswith("input ") or other in model.state_dict()}
    if got - expected:
        return "memory is shared that PyTorch does not share: %s" % sorted(got - expected)
    if expected - got:
        return "memory is not shared that PyTorch shares: %s" % sorted(expected - got)
    kept = {pair for pair in kept if not (pair[0][len("again, ") :] in outside and pair[1] in outside)}
    if kept:
        return "two calls share memory: %s" % sorted(kept)
    for name in theirs:
        if not torch.allclose(ours[name], theirs[name]) or ours[name].stride() != theirs[name].stride():
            return "%s is wrong" % name
    with torch.no_grad():
        for out in again.values():
            if out.untyped_storage().data_ptr() not in [t.untyped_storage().data_ptr() for t in (*inputs, *model.state_dict().values())]:
                out.fill_(99)
        after = candidate._run_graph(model, inputs)
    if not all(torch.allclose(after[name], theirs[name]) for name in theirs):
        return "a write into an answer changes a later one"
    return None


def check_constants(options, folder, device):
    """Constants that forward makes are a part of the file that runs once, whatever their dtype and length."""
    values = [i / 7 for i in range(50)]
    values[3:6] = NAN, INF, -INF

    def forward(x):
        index = torch.tensor([(7 * i) % 50 for i in range(50)])
        mask = torch.tensor([i % 3 == 0 for i in range(50)])
        half = torch.tensor([i / 8 for i in range(50)], dtype=torch.float16)
        return (x * torch.tensor(values))[:, index], x.masked_fill(mask, 2.0), x + half, (x.double() * torch.tensor(values[6:] + [0.1] * 6, dtype=torch.float64)), x[:, :3] + torch.tensor([1.0, 2.0, NAN])

    x, model = R(4, 50), of(forward).eval()
    folder.mkdir()
    with torch.no_grad():
        text, why = fused_house.candidate_text(options.tool, TASK, fused_house.graph_of(model, [x]), folder, device)
        if text is None:
            return "no kernels: " + why
        run = text[text.index("def _run_graph") :]
        if len(re.findall(r"\d+\.\d", run[: run.index("def _run_steps")])) > 0 or text.count(" = _Constant(") != 6:
            return "a call makes its constants"
        candidate = fused_house.load(text, folder, device)
        plain = model(x)
        for turn in range(2):
            for ours, theirs in zip(candidate._run_graph(model, [x]), plain):
                if ours.dtype != theirs.dtype or not torch.allclose(ours, theirs, rtol=1e-6, equal_nan=True):
                    return "an answer is wrong: %s" % ours.dtype
        made = [value for value in vars(candidate).values() if isinstance(value, candidate._Constant)]
        tables = [(one, one(torch.device("cpu"))) for one in made]
        if any(one(torch.device("cpu")) is not tensor or one(torch.device("meta")).device.type != "meta" or one(torch.device("cpu")) is not tensor for one, tensor in tables):
            return "a constant is not kept for each device"
        if any(tensor.data_ptr() % 16 for _, tensor in tables):
            return "a constant is not aligned"
        with torch.inference_mode():
            if any(candidate._Constant(one.shape, one.dtype, one.data, one.packed)(torch.device("cpu")).is_inference() for one in made):
                return "a constant is of use in inference mode alone"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--device", choices=("cuda", "cpu"), help="one language alone")
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--random", "--count", type=int, default=60, help="how many random modules, from seed 0 on")
    parser.add_argument("--flags", default="", help="for the compiler of CPU kernels: -mno-avx has vectors of four; CXX names another compiler")
    parser.add_argument("--together", type=int, default=36, help="modules in one file")
    options = parser.parse_args()
    fused_house.CPU_FLAGS += options.flags.split()
    options.devices = [options.device] if options.device else ["cuda", "cpu"]
    if shutil.which("g++") is None:
        print("there is no g++")
        return 77
    torch.set_num_threads(1)
    torch.manual_seed(0)
    listed = [case for case in itertools.chain(cases(), random_cases(options.random)) if options.only in case[0]]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="hone-fused-") as root, concurrent.futures.ThreadPoolExecutor(2) as compilers:
        root, begun = pathlib.Path(root), time.time()
        # One folder for all files, because the precompiled header takes as long as two of them.
        os.environ.setdefault("HONE_HOST_KERNELS", str(root / "kernels"))
        (root / "kernels").mkdir()
        waiting = []
        for first in range(0, len(listed), options.together):
            group = listed[first : first + options.together]
            folder = root / str(first)
            try:
                bundle = Bundle(group, options, folder).write()
                waiting.append((group, folder, bundle, [(device, compilers.submit(bundle.compile, device)) for device in options.devices]))
            except Exception:
                wrong += check(group, options, root / ("%d apart" % first))
        for group, folder, bundle, compiled in waiting:
            try:
                wrong += [line for device, module in compiled for line in bundle.run(device, module.result())]
            except Exception:
                wrong += check(group, options, root / (folder.name + " apart"))
        others = [("the file", device, check_file) for device in options.devices]
        others += [("an index beyond the end", device, check_index) for device in options.devices]
        others += [("shared memory", device, check_sharing) for device in options.devices]
        others += [("constants", device, check_constants) for device in options.devices]
        others += [("imports", device, check_imports) for device in options.devices]
        others += [("memory", "cpu", lambda options, folder, device: check_memory(options, folder))] if "cpu" in options.devices else []
        for name, device, test in others:
            if options.only in name:
                said = test(options, root / (name + device), device)
                wrong += ["%s, %s: %s" % (device, name, said)] if said else []
    for line in wrong:
        print("FAILED  " + line)
    print("%d modules, %d wrong, %.0f s" % (len(listed), len(wrong), time.time() - begun))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
