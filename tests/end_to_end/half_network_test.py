"""Tests cuda/half_network without a GPU: the fused kernels run on the host (cuda_on_host.h), and fp16 convolutions are PyTorch's on the CPU.
Answers are compared with float64; the limit is twice the error of convolutions with operands rounded to TF32. The guard's words are read
after every call: no value is out of range in ordinary calls, and values that fp16 cannot hold are recorded.

Usage: half_network_test.py --tool hone_expert_tool [--only WORD]
Exit code 1 when an answer is wrong, 77 without torch or g++.
"""

import argparse
import copy
import ctypes
import pathlib
import shutil
import sys
import tempfile
import warnings

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

import fused_house

warnings.simplefilter("ignore")
arguments = argparse.ArgumentParser()
arguments.add_argument("--tool", required=True)
arguments.add_argument("--only", default="")
options = arguments.parse_args()
if not shutil.which("g++"):
    print("there is no g++")
    sys.exit(77)
torch.set_num_threads(1)
failures = []

TASK = """import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x

def get_inputs():
    return [torch.zeros(1)]

def get_init_inputs():
    return []
"""


def tf32(x):
    """Rounds to 11 significant bits, as cuDNN rounds operands."""
    return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


class Tf32:
    """float32 convolutions with rounded operands, as on a GPU."""

    NAMES = ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")

    def __enter__(self):
        self.before = {name: getattr(F, name) for name in self.NAMES}
        for name, function in self.before.items():
            setattr(F, name, lambda x, w, *rest, _f=function, **named: _f(tf32(x), tf32(w), *rest, **named))

    def __exit__(self, *_):
        for name, function in self.before.items():
            setattr(F, name, function)


class Block(nn.Module):
    """A residual block of ResNet."""

    def __init__(self, c, o, stride=1):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, o, 3, stride, 1, bias=False), nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(o), nn.BatchNorm2d(o)
        self.down = nn.Sequential(nn.Conv2d(c, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if c != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.nb(self.b(F.relu(self.na(self.a(x))))) + self.down(x))


class Dense(nn.Module):
    """Layers that read the outputs of all earlier ones."""

    def __init__(self, c, growth, layers):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(c + i * growth), nn.ReLU(), nn.Conv2d(c + i * growth, growth, 3, padding=1, bias=False)) for i in range(layers))

    def forward(self, x):
        made = [x]
        for layer in self.layers:
            x = layer(x)
            made.append(x)
            x = torch.cat(made, 1)
        return x


class Squeeze(nn.Module):
    """Channels weighted by a value common to all positions."""

    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.b(F.silu(self.a(F.adaptive_avg_pool2d(x, 1)))))


class Inception(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(c, 8, 1), nn.Conv2d(c, 12, 3, padding=1), nn.Conv2d(c, 8, 1)
        self.pool = nn.MaxPool2d(3, 1, 1)

    def forward(self, x):
        return torch.cat([self.a(x), F.relu(self.b(x)), self.c(self.pool(x))], 1)


class Tail(nn.Module):
    """Operators after one convolution."""

    def __init__(self, convolution, tail):
        super().__init__()
        self.convolution, self.tail = convolution, tail
        self.scale = nn.Parameter(torch.randn(convolution.out_channels, *[1] * (convolution.weight.dim() - 2)))

    def forward(self, x):
        return self.tail(self, self.convolution(x))


def shuffled(x):
    n, c, h, w = x.shape
    return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


CASES = {
    "residual": (lambda: nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Block(16, 16), Block(16, 24, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)), (2, 3, 37, 41)),
    "block": (lambda: Block(16, 16), (2, 16, 9, 7)),
    "dense": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), Dense(16, 8, 3), nn.BatchNorm2d(40), nn.ReLU(), nn.Conv2d(40, 20, 1, bias=False), nn.AvgPool2d(2), Dense(20, 8, 2)), (2, 3, 12, 10)),
    "many parts": (lambda: nn.Sequential(Dense(8, 8, 9), nn.Conv2d(80, 8, 1)), (1, 8, 6, 5)),
    "vgg": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(24 * 16, 10)), (2, 3, 16, 17)),
    "depthwise": (lambda: nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6(), Squeeze(16), nn.Conv2d(16, 8, 1)), (2, 8, 11, 13)),
    "inception": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3), Inception(16), Inception(28)), (2, 3, 14, 15)),
    "shuffle": (lambda: nn.Sequential(Tail(nn.Conv2d(32, 16, 1, groups=2), lambda m, x: shuffled(F.relu(x))), nn.Conv2d(16, 16, 3)), (2, 32, 6, 7)),
    "shuffle last": (lambda: Tail(nn.Conv2d(32, 16, 1, groups=2), lambda m, x: shuffled(F.relu(x))), (2, 32, 6, 7)),
    "scaled": (lambda: Tail(nn.Conv2d(16, 8, 3, 2, 1), lambda m, x: torch.tanh(x * m.scale) + x), (2, 16, 9, 8)),
    "over channels": (lambda: Tail(nn.Conv2d(16, 8, 3), lambda m, x: F.softmax(x, 1).mean((2, 3))), (2, 16, 9, 8)),
    "tiles": (lambda: Tail(nn.Conv2d(24, 70, 1), lambda m, x: F.relu(x) * m.scale), (2, 24, 40, 34)),
    "tiles of odd sizes": (lambda: Tail(nn.Conv2d(37, 33, 1), lambda m, x: F.silu(x)), (2, 37, 31, 33)),
    "tiles of one image": (lambda: Tail(nn.Conv2d(35, 35, 3, padding=1), lambda m, x: torch.tanh(x + m.scale)), (1, 35, 45, 43)),
    "one axis": (lambda: Tail(nn.Conv1d(16, 8, 5, 2, 2, dilation=2), lambda m, x: F.gelu(x)), (2, 16, 33)),
    "three axes": (lambda: Tail(nn.Conv3d(16, 8, 3, 1, 1), lambda m, x: F.relu(x).mean((2, 3, 4), keepdim=True)), (2, 16, 5, 6, 7)),
    "transposed": (lambda: Tail(nn.ConvTranspose2d(18, 8, 3, 2, 1, output_padding=1), lambda m, x: F.leaky_relu(x)), (2, 18, 5, 7)),
    "transposed one axis": (lambda: nn.ConvTranspose1d(18, 8, 3, 2, 1), (2, 18, 9)),
    "transposed three axes": (lambda: nn.ConvTranspose3d(32, 6, 3, 2, 1, groups=2), (1, 32, 3, 4, 5)),
    "average with padding": (lambda: nn.Sequential(nn.Conv2d(4, 16, 3), nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.Conv2d(16, 4, 1)), (2, 4, 11, 9)),
    "overlapping windows": (lambda: nn.Sequential(nn.Conv2d(4, 16, 3), nn.MaxPool2d(3, 2), nn.Conv2d(16, 4, 1), nn.MaxPool2d(3, 2)), (2, 4, 15, 13)),
}  # fmt: skip


def close(label, expected, limit_from, got):
    """Within twice the error of TF32, and twice that of its worst element."""
    if got.shape != expected.shape or got.dtype != torch.float32 or got.stride() != limit_from.stride():
        failures.append("%s: %s %s, strides %s instead of %s" % (label, got.dtype, list(got.shape), got.stride(), limit_from.stride()))
        return
    off, allowed = got.double() - expected, limit_from.double() - expected
    norm, worst = (off.norm() / allowed.norm()).item(), (off.abs().max() / allowed.abs().max()).item()
    print("%-24s error %.1e, of TF32's: %.2f in the norm, %.2f at worst" % (label, (off.norm() / expected.norm()).item(), norm, worst), flush=True)
    if not norm <= 2 or not worst <= 3:
        failures.append("%s: %.2f times the error of TF32 (%.2f at worst)" % (label, norm, worst))


def run(candidate, model, x):
    """The answer and the words of the guard."""
    words = (ctypes.c_uint * len(candidate._GROUPS)).in_dll(candidate._driver().library, "hone_guard")
    words[:] = [0] * len(words)
    out = candidate._run_graph(model, (x,))
    return out, list(words)


def calibrate(candidate, model, x):
    candidate._calibrate(model, (x,), lambda: run(candidate, model, x)[1])
    return run(candidate, model, x)


def randomise(model):
    """Sets statistics and scales that are not all equal."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
            module.weight.data.normal_(1, 0.3)
            module.bias.data.normal_(0, 0.3)


convolution = []  # of the current candidate


def in_float(x, weight, *rest):
    """Like cuDNN: sums in float32, the result rounded once. PyTorch on a CPU computes some of these sums in fp16."""
    return convolution[-1](x.float(), weight.float(), *rest).half()


@torch.no_grad()
def check(label, make, shape):
    torch.manual_seed(7)
    plain = make().eval()
    randomise(plain)
    x = torch.randn(shape)
    graph = fused_house.graph_of(plain, [x])
    with tempfile.TemporaryDirectory() as folder:
        text, why = fused_house.candidate_text(options.tool, TASK, graph, folder, recipe="cuda/half_network")
        if text is None:
            failures.append("%s: declined: %s" % (label, why))
            return
        if label.startswith("tiles") != ("#define SIDE" in text):
            failures.append("%s: another layout than expected" % label)
        candidate = fused_house.load_cuda(text, folder)
        for call in vars(candidate).values():
            if isinstance(call, candidate._HoneCall) and call.one is candidate._half_convolution:
                call.one = in_float
        convolution.append(candidate._half_convolution)
        for size in (1, 1e-9, 3e5):  # other input sizes need other scales
            given, model = x * size, scaled(plain, size)
            with Tf32():
                rounded = model(given)
            got, words = calibrate(candidate, model, given)
            close("%s * %g" % (label, size), make_double(model)(given.double()), rounded, got)
            if not candidate._in_range(words):
                failures.append("%s: the guard says %s of values times %g" % (label, [hex(w) for w in words], size))
            for name, other in (("too large", given * 1e6), ("not finite", torch.full_like(x, float("nan"))), ("too small", given * 1e-8)):
                if candidate._in_range(run(candidate, model, other)[1]):
                    failures.append("%s: the guard does not notice values that are %s" % (label, name))
            if not torch.equal(run(candidate, model, given)[0], got):
                failures.append("%s: two calls differ" % label)


def check_said():
    """Calls that the file leaves to PyTorch are said once each, and are as PyTorch has them."""
    task = TASK.replace("def forward(self, x):\n        return x", "def __init__(self):\n        super().__init__()\n        self.a, self.b = nn.Conv2d(16, 16, 3), nn.Conv2d(16, 8, 3)\n\n    def forward(self, x):\n        return self.b(torch.relu(self.a(x)))").replace("import torch\n", "import torch\nimport torch.nn as nn\n")
    spaces = {}
    exec(task, spaces)
    x = torch.randn(2, 16, 9, 8)
    with tempfile.TemporaryDirectory() as folder:
        with torch.no_grad():
            text, why = fused_house.candidate_text(options.tool, task, fused_house.graph_of(spaces["Model"]().eval(), [x]), folder, recipe="cuda/half_network")
        if text is None:
            failures.append("what is said: declined: " + why)
            return
        candidate = fused_house._import(text, folder)
        candidate.torch = fused_house._OnCpu()
        model = candidate.ModelNew().eval()

        def call(gradients, autocast, tf32):
            candidate._convolutions_tf32 = lambda: tf32
            with torch.set_grad_enabled(gradients), torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                got, want = model(x), candidate.Model.forward(model, x)
            return torch.equal(got, want) and got.requires_grad == gradients

        for word, state in (("gradients", (True, False, True)), ("autocast", (False, True, True)), ("TF32", (False, False, False)), ("GPU", (False, False, True))):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                right = call(*state) and call(*state)
            if not right or len(said) != 1 or word not in str(said[0].message):
                failures.append("%s: said %s" % (word, [str(one.message) for one in said]))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.train()(x)
        if said:
            failures.append("train mode: said %s" % said[0].message)


def make_double(model):
    return copy.deepcopy(model).double()


def scaled(model, size):
    """Scales all added terms by `size`, so that values keep their proportions. Otherwise biases would dominate a small input."""
    model = copy.deepcopy(model)
    for module in model.modules():
        for name in ("bias", "running_mean"):
            if isinstance(getattr(module, name, None), torch.Tensor):
                getattr(module, name).data.mul_(size)
    return model


for label, (make, shape) in CASES.items():
    if options.only in label:
        check(label, make, shape)
if options.only in "what is said":
    check_said()
for failure in failures:
    print("FAILED", failure)
print("%d cases, %d failures" % (len(CASES), len(failures)))
sys.exit(1 if failures else 0)
