"""Extracts the complete examples from src/model/prompts/knowledge, with the tasks that they solve. knowledge_test.py runs them here and
knowledge_gpu_test.py on a GPU."""

import importlib.util
import pathlib
import re
import sys

import torch

KNOWLEDGE = pathlib.Path(__file__).resolve().parents[2] / "src/model/prompts/knowledge"
TARGETS = ("triton", "cuda", "cpu")
# A page without an example for one of these targets fails. The other pages are about a language or have their own checks (prompt_test.cpp).
PAGES = ("attention", "conv", "elementwise", "gemm", "norm", "reduction", "scan")


class _Gated(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(columns))

    def forward(self, x, g):
        return torch.tanh(x + self.bias) * torch.sigmoid(g)


class _Softmax(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class _Norm(torch.nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.norm = torch.nn.LayerNorm(columns)

    def forward(self, x):
        return self.norm(x)


class _Cumsum(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=-1)


class _Linear(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))


class _Depthwise(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        self.bn = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))


class _Attention(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


# page -> module, its arguments with shapes of its inputs: even and odd ones, one row, one element
TASKS = {
    "elementwise": (_Gated, [((128,), [(64, 128)] * 2), ((33,), [(7, 5, 33)] * 2), ((1,), [(1, 1)] * 2)]),
    "reduction": (_Softmax, [((), [(64, 1000)]), ((), [(3, 5, 17)]), ((), [(1, 1)]), ((), [(2, 4096)])]),
    "norm": (_Norm, [((256,), [(32, 256)]), ((77,), [(3, 5, 77)]), ((1,), [(2, 1)])]),
    "scan": (_Cumsum, [((), [(16, 3000)]), ((), [(3, 5, 7)]), ((), [(1, 1)]), ((), [(2, 1024)])]),
    "gemm": (_Linear, [((128, 64), [(64, 128)]), ((77, 35), [(3, 7, 77)]), ((1, 1), [(1, 1)]), ((200, 130), [(67, 200)])]),
    "conv": (_Depthwise, [((16,), [(2, 16, 28, 28)]), ((3,), [(1, 3, 5, 41)]), ((1,), [(1, 1, 1, 1)])]),
    "attention": (_Attention, [((), [(2, 3, 128, 64)] * 3), ((), [(1, 2, 77, 64)] * 3), ((), [(1, 1, 1, 64)] * 3)]),
}


def _for_target(text, target):
    """The lines that the template keeps for this target: all conditions in these files are `example` or a comparison of target."""
    out, keep = [], [True]
    for line in text.splitlines():
        condition = re.fullmatch(r"@if (.*)@", line.strip())
        if condition:
            wanted = re.fullmatch(r'target (==|!=) "(\w+)"', condition.group(1))
            holds = condition.group(1) == "example" if wanted is None else (wanted.group(2) == target) == (wanted.group(1) == "==")
            keep.append(keep[-1] and holds)
        elif line.strip() == "@end@":
            keep.pop()
        elif keep[-1]:
            out.append(line)
    return out


def example(page, target):
    """The file of the page's example: the one block after a line that begins with `COMPLETE, `."""
    lines = _for_target((KNOWLEDGE / (page + ".txt")).read_text(), target)
    starts = [i for i, line in enumerate(lines) if line.startswith("COMPLETE, ")]
    if len(starts) != 1 or lines[starts[0] + 1] != "```python":
        raise SystemExit("%s.txt has %d examples for %s" % (page, len(starts), target))
    end = lines.index("```", starts[0] + 2)
    return "\n".join(lines[starts[0] + 2 : end]) + "\n"


def load(page, target, folder):
    sys.path.insert(0, str(KNOWLEDGE.parents[3] / "worker"))
    path = pathlib.Path(folder, "%s_%s.py" % (page, target))
    path.write_text(example(page, target))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _hard_to_miss(model):
    """Weights and statistics other than the defaults, so that an example that forgets one of them is wrong."""
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if tensor.dtype.is_floating_point:
                tensor.copy_(torch.rand_like(tensor) + 0.5 if "var" in name else torch.randn_like(tensor) * 0.5 + 0.25)
    return model.eval()


def _error(got, want):
    return float((got.double().cpu() - want).norm() / want.norm().clamp_min(1e-300))


def failures(page, target, module, device):
    """The errors of the example, in words. The limit is the judge's: twice the error of PyTorch's own answer, with a floor of a few ulp."""
    kind, cases = TASKS[page]
    found = []
    for arguments, shapes in cases:
        torch.manual_seed(7)
        reference = _hard_to_miss(kind(*arguments))
        inputs = [torch.randn(shape) * 2 + 0.5 for shape in shapes]
        with torch.no_grad():
            want = kind(*arguments).double().eval()
            want.load_state_dict(reference.state_dict())
            want = want(*[x.double() for x in inputs])
            own = reference.to(device)(*[x.to(device) for x in inputs])
            candidate = module.ModelNew(*arguments).eval()
            candidate.load_state_dict(reference.state_dict())
            given = [x.to(device) for x in inputs]
            got = candidate.to(device)(*given)
        limit = max(2 * _error(own, want), 8 * 2.0**-23)
        what = "%s, %s, %s" % (page, target, shapes)
        if got.shape != want.shape or got.dtype != torch.float32:
            found.append("%s: %s %s instead of %s" % (what, got.dtype, tuple(got.shape), tuple(want.shape)))
        elif not _error(got, want) <= limit:
            found.append("%s: error %.1e, limit %.1e" % (what, _error(got, want), limit))
        elif any(not torch.equal(x.cpu(), before) for x, before in zip(given, inputs)):
            found.append(what + ": an input was changed")
    return found
