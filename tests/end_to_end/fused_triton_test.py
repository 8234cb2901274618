"""Fused kernels in Triton: modules are captured, the expert writes their files (triton/fused_graph), and the answers of Triton's interpreter are
compared with float64, as fused_graph_test.py does with the other languages. The same files then pass through Triton's real compiler for sm_90,
which needs no GPU; nothing is launched.

The interpreter takes milliseconds for a program, so the cases are those of fused_graph_test.py that are small, some of their own that reach
every branch of the emitter with few programs, and a few random modules.

Usage: fused_triton_test.py --tool hone_expert_tool [--only WORD] [--count N] [--show]
Exit code 1 when an answer is wrong, an operator that should have a kernel is a call or a kernel does not compile, 77 without torch or Triton.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

import fused_graph_test
import fused_house
import triton_house
from fused_graph_test import INF, NAN, R, Case, of

_MOST_ELEMENTS = 12000  # elements of a module's inputs
_LEFT_OUT = ("scan of long rows",)


def odd_rows(length):
    """Infinities and NaN in every part of long rows, so that lanes, blocks and parts all see them."""
    x = R(8, length)
    x[1, length - 1], x[2, 3], x[3, length // 2], x[4], x[5, 0], x[5, length - 1] = NAN, INF, -INF, -INF, INF, -INF
    x[6, length // 3 : length // 3 + 2] = NAN
    x[7, [5, length - 2]] = 9.0
    return x


def own_cases():
    """Cases that the others do not cover in Triton: rows in a loop, rows in parts, columns in a loop, many types."""
    answers = fused_graph_test.ROW_ANSWERS
    ordered = answers[:7] + answers[8:]  # whether a long product meets an infinity or underflows first depends on its order
    yield "long rows of odd numbers", of(lambda x: tuple(f(x, 1) for f in ordered)), [odd_rows(9001)]
    yield "long rows, softmax", of(lambda x: (torch.softmax(x, 1), torch.log_softmax(x, 1))), [odd_rows(8200)]
    yield "rows in parts, odd numbers", of(lambda x: tuple(f(x, 1) for f in ordered)), [odd_rows(34000)[[1, 3, 6, 7]]]
    yield "rows in parts, norm", nn.LayerNorm(40001), [R(2, 40001) + 30]
    yield "all in parts", of(lambda x: (x.mean(), x.var(), torch.argmax(x), x.norm())), [R(41, 1001) - 5]
    yield "columns in parts", of(lambda x: (x.mean(0), x.argmin(0), torch.softmax(x, 0))), [R(3001, 5)]
    yield "long products", of(lambda x: (1 + x / 100).prod(1)), [R(2, 9001)]
    yield "columns in a loop", of(lambda x: tuple(f(x, 1) for f in answers)), [torch.stack([odd_rows(70).t(), R(70, 8)])]
    yield "integers reduced", of(lambda x: (x.sum(1), x.amax(1), x.amin(0), x.prod(1), x.argmax(1), x.amax())), [torch.randint(-5, 5, (6, 9), dtype=torch.int32)]
    yield "int64 at its ends", of(lambda x: (x.amax(1), x.amin(1), x.argmin(1), x.sum())), [torch.tensor([[2**62, -(2**63), 5], [2**63 - 1, 7, -1]])]
    yield "bytes", of(lambda x: (x.amax(1), (x * 2 + 1), x.sum(0), (x > 3).any(1))), [torch.randint(0, 255, (5, 6), dtype=torch.uint8)]
    yield "half row answers", of(lambda x: tuple(f(x, 1) for f in answers[:8])), [R(5, 40).half()]
    yield "bfloat16 chain", of(lambda x, y: (F.gelu(x) * y).sum(0) + torch.tanh(y).amax(0)), [R(9, 20).bfloat16(), R(9, 20).bfloat16()]
    yield "double norms", of(lambda x: (x.var(1), torch.logsumexp(x, 0), torch.sin(x) / x, x.cumsum(1))), [R(9, 20).double() + 1]
    yield "rare functions", of(lambda x, y: (torch.atan2(x, y), torch.remainder(x, y), torch.fmod(x, y), torch.pow(x.abs(), y), torch.round(x), torch.trunc(x), torch.log10(x.abs()),
                                             torch.sinh(x), torch.cosh(x), torch.tan(x), torch.atan(x), torch.erfc(x), torch.exp2(x), torch.log2(x.abs()), torch.lerp(x, y, 0.3))), [R(4, 9) * 3, R(4, 9)]  # fmt: skip
    yield "minus zero", of(lambda x: (1 / -x, torch.reciprocal(x * -1.0))), [torch.tensor([0.0, -0.0, 2.0])]
    yield "a NaN meets a maximum", of(lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), x.clamp(-1, 1))), [torch.tensor([NAN, 1.0, -INF, 2]), torch.tensor([1.0, NAN, 3, INF])]
    yield "scan in a loop", of(lambda x, y: (torch.cumsum(x, 1) * y, torch.cumprod(1 + x / 4000, 1))), [R(2, 1500), R(2, 1)]
    yield "integer scan of columns", of(lambda x: torch.cumsum(x, 0)), [torch.randint(-5, 5, (50, 3))]
    yield "two axes apart", of(lambda x: (x - x.mean((0, 2), keepdim=True)) * x.sum((0, 2), keepdim=True)), [R(5, 6, 7)]
    yield "a batch of one row", nn.Sequential(nn.LayerNorm(33), nn.Softmax(-1)), [R(1, 33)]
    yield "strided input", of(lambda x: torch.relu(x) + x.sum(1, keepdim=True)), [R(12, 30)[::2, 1::3]]
    yield "an expanded input", of(lambda x, y: torch.exp(-x) * y), [R(1, 7).expand(4, 7), R(4, 7)]


def listed(options):
    small = lambda inputs: sum(x.numel() for x in inputs) <= _MOST_ELEMENTS
    found = [case for case in fused_graph_test.cases() if small(case[2]) and case[0] not in _LEFT_OUT]
    return [case for case in [*fused_graph_test.random_cases(options.random), *found, *own_cases()] if options.only in case[0]]


def write(cases, options, root):
    """(cases, bundle) for each file. Reports files that cannot be written."""
    bundles, wrong = [], []
    for first in range(0, len(cases), options.together):
        group = cases[first : first + options.together]
        try:
            bundles.append((group, fused_graph_test.Bundle(group, options, root / str(first)).write()))
        except Exception as error:
            if len(group) == 1:
                wrong.append("%s: %s" % (group[0][0], str(error)[-600:]))
                continue
            for i, case in enumerate(group):
                more, said = write([case], options, root / ("%d apart %d" % (first, i)))
                bundles += more
                wrong += said
    return bundles, wrong


def answer(bundle, options, root):
    """The errors in a file's answers. Runs case by case if the file does not run at all."""
    group, made = bundle
    try:
        return made.run("triton", made.compile("triton"))
    except Exception as error:
        if len(group) == 1:
            return ["%s: %s: %s" % (group[0][0], type(error).__name__, str(error)[-600:])]
    bundles, wrong = write(group, argparse.Namespace(**{**vars(options), "together": 1}), root)
    return wrong + [line for one in bundles for line in answer(one, options, root)]


def compile_files(folder):
    """Passes every file of the folder through the real compiler for sm_90, and a part of them for older devices, which have no kernels in CUDA.
    Runs in a separate process without the interpreter."""
    wrong, kernels = [], {}
    files = sorted(pathlib.Path(folder).glob("*.py"))
    with triton_house.compiler(), torch.no_grad():
        for file, sm in [(file, 90) for file in files] + [(file, 80) for file in files[::4]] + [(file, 89) for file in files[2::4]]:
            triton_house.compile_for(sm)
            held = torch.load(file.with_suffix(".pt"), weights_only=False)
            candidate = fused_house._import(file.read_text(), folder)
            candidate._autocast, candidate._KERNEL_DEVICE = (lambda device: False), "cpu"
            candidate.torch = fused_house._OnCpu()
            try:
                candidate._run_graph(Held(held["model"]), held["inputs"])
            except Exception as error:
                wrong.append("%s does not compile for sm_%d: %s" % (file.stem, sm, str(error)[-900:]))
            kernels[sm] = kernels.get(sm, 0) + file.read_text().count("\n@triton.jit\ndef fused")
    for line in wrong:
        print("FAILED  " + line)
    print("%s kernels compiled, %d files wrong" % (", ".join("sm_%d: %d" % pair for pair in kernels.items()), len(wrong)))
    return 1 if wrong else 0


class Held:
    """A module's tensors by name, which is all that a file needs from a module."""

    def __init__(self, tensors):
        for name, tensor in tensors.items():
            at, *rest = name.split(".")
            if rest:
                within = vars(self).setdefault(at, {})
                within[".".join(rest)] = tensor
            else:
                vars(self)[at] = tensor
        for name, value in list(vars(self).items()):
            if isinstance(value, dict):
                vars(self)[name] = Held(value)


def compile_apart(bundles, root):
    folder = root / "compile"
    folder.mkdir()
    for number, (_, bundle) in enumerate(bundles):
        (folder / ("file%d.py" % number)).write_text(bundle.files["triton"][0])
        state = {name: tensor for pairs in (bundle.model.named_parameters(), bundle.model.named_buffers()) for name, tensor in pairs}
        torch.save({"inputs": bundle.inputs, "model": state}, folder / ("file%d.pt" % number))
    # Line numbers serve only debuggers, and LLVM carries them through all its passes.
    environment = {**os.environ, "TRITON_CACHE_DIR": str(root / "cache"), "TRITON_DISABLE_LINE_INFO": "1"}
    environment.pop("TRITON_INTERPRET")
    return subprocess.run([sys.executable, "-B", __file__, "--tool", "none", "--compile", str(folder)], env=environment).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--random", "--count", type=int, default=8, help="how many random modules, from seed 0 on")
    parser.add_argument("--together", type=int, default=12, help="modules in one file")
    parser.add_argument("--compile", help="the folder of files to compile (the test starts itself so)")
    options = parser.parse_args()
    options.devices = ["triton"]
    if importlib.util.find_spec("triton") is None:
        print("there is no triton")
        return 77
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.compile:
        return compile_files(options.compile)
    os.environ["TRITON_INTERPRET"] = "1"
    triton_house.mend_interpreter()
    cases = listed(options)
    with tempfile.TemporaryDirectory(prefix="hone-triton-") as root:
        root, begun = pathlib.Path(root), time.time()
        bundles, wrong = write(cases, options, root)
        for number, bundle in enumerate(bundles):
            wrong += answer(bundle, options, root / ("again %d" % number))
        if options.only in "the file":
            said = fused_graph_test.check_file(options, root / "the file", "triton")
            wrong += ["the file: " + said] if said else []
        failed = compile_apart(bundles, root) if bundles else 0
    for line in wrong:
        print("FAILED  " + line)
    print("%d modules, %d wrong, %.0f s" % (len(cases), len(wrong), time.time() - begun))
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
