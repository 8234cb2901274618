"""The split product for nn.Linear against float64 and against PyTorch on a Hopper GPU: odd shapes, a stress regime, infinities, divided
k, streams, graphs, reloaded weights, and what it must leave to PyTorch.

Usage: split_gemm_test.py [SECTION...]
Prints what fails and one line per section; exit code 1 when anything failed, 77 without torch or a suitable GPU.
"""

import copy
import sys
import time
import types
import warnings

import runtime_text
import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn

DEVICE = "cuda"
ULP = 2.0**-23
failures = []
passed = 0


def load_runtime():
    """The runtime as the recipe writes it into a candidate, as a separate module."""
    module = types.ModuleType("split_runtime")
    exec(compile(runtime_text.runtime_text(runtime_text.SPLIT_GEMM), "split_runtime.py", "exec"), module.__dict__)
    return module


def always(runtime):
    """Also takes small products, which would be left to PyTorch."""
    runtime._SPLIT["pytorch_flops_per_us"] = 1
    runtime._launches.clear()
    return runtime


def expect(condition, what):
    global passed
    passed += bool(condition)
    if not condition:
        failures.append(what)
        print("FAILED ", what, flush=True)


def adopted(runtime, module):
    """A copy of the module that runs the kernel."""
    return runtime.adopt(nn.ModuleList([copy.deepcopy(module)]), ["0"])[0]


def no_warning(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def errors(got, want):
    """(norm of the error over the norm, worst element over the root mean square), as the judge computes them."""
    if got.shape != want.shape or not torch.isfinite(got).all():
        return float("inf"), float("inf")
    difference = got.double() - want
    norm = want.norm().clamp_min(1e-300)
    return float(difference.norm() / norm), float(difference.abs().max() / (norm / want.numel() ** 0.5))


def draw(units, width, shape, regime, bias=True):
    torch.manual_seed(units + width)
    module = nn.Linear(width, units, bias=bias).to(DEVICE).eval()
    x = torch.rand(*shape, width, device=DEVICE)
    if regime == "stress":
        module.weight.data.mul_(3**0.5)
        x = torch.randn_like(x)
    elif regime == "wide":  # rows and columns of very different sizes
        module.weight.data.mul_(torch.exp2(torch.randint(-30, 30, (units, 1), device=DEVICE).float().clamp(-6, 6)))
        module.weight.data.mul_(torch.exp2(torch.randint(-4, 5, (1, width), device=DEVICE).float()))
        x = torch.randn_like(x) * torch.exp2(torch.randint(-90, 90, (*shape, 1), device=DEVICE).float())
        x = x * torch.exp2(torch.randint(-8, 9, (1, width), device=DEVICE).float())
    return module, x


def row_errors(got, want):
    """The worst row, because in rows that differ by many powers of two the total hides errors."""
    difference = (got.double() - want).flatten(0, -2).norm(dim=1)
    return float((difference / want.flatten(0, -2).norm(dim=1).clamp_min(1e-300)).max())


def compare(runtime, units, width, shape, regime, bias=True):
    label = "%s x %d -> %d, %s, bias %s" % (shape, width, units, regime, bias)
    module, x = draw(units, width, shape, regime, bias)
    ours = adopted(runtime, module)
    with torch.no_grad():
        got, again, own = no_warning(lambda: ours(x)), ours(x), module(x)
        want = nn.functional.linear(x.double(), module.weight.double(), None if module.bias is None else module.bias.double())
    expect(torch.equal(got, again), label + ": differs from call to call")
    if regime == "wide":
        e, theirs = row_errors(got, want), row_errors(own, want)
        expect(e <= max(8 * ULP, 2 * theirs), "%s: a row is off by %.2e, PyTorch's by %.2e" % (label, e, theirs))
        return
    (norm, worst), (own_norm, own_worst) = errors(got, want), errors(own, want)
    expect(norm <= max(4 * ULP, 2 * own_norm), "%s: off by %.2e, PyTorch by %.2e" % (label, norm, own_norm))
    expect(worst <= max(32 * ULP, 2 * own_worst), "%s: the worst is off by %.2e, PyTorch's by %.2e" % (label, worst, own_worst))


def section_shapes(runtime):
    for regime in ("plain", "stress", "wide"):
        for units, width, shape in ((128, 64, (128,)), (512, 1024, (256,)), (1000, 777, (300,)), (1, 5, (1,)), (129, 33, (129,)), (4096, 4096, (64,)),
                                    (2048, 9000, (7, 19)), (640, 2048, (2, 3, 70)), (8192, 511, (1030,)), (256, 16384, (256,)), (384, 20000, (130,))):  # fmt: skip
            compare(runtime, units, width, shape, regime, bias=units % 3 != 0)


def section_infinities(runtime):
    module, x = draw(300, 1000, (140,), "stress")
    x[3, 7], x[130, 999], x[131, 0] = float("inf"), float("nan"), -float("inf")
    x[5], x[6] = 0, x[6] * 1e37
    ours = adopted(runtime, module)
    with torch.no_grad():
        got, own = ours(x), module(x)
    odd = [3, 130, 131]
    expect(torch.equal(torch.isnan(got[odd]), torch.isnan(own[odd])), "NaN stands elsewhere than in PyTorch")
    expect(torch.equal(torch.isinf(got[odd]), torch.isinf(own[odd])), "infinities stand elsewhere than in PyTorch")
    rest = [i for i in range(140) if i not in odd]
    with torch.no_grad():
        want = nn.functional.linear(x[rest].double(), module.weight.double(), module.bias.double())
    expect(row_errors(got[rest], want) < 1e-6, "rows beside an infinity are wrong")
    for change, word in ((lambda w: w[0].fill_(float("inf")), "finite"), (lambda w: w[:, 5].mul_(2.0**-20), "powers of two")):
        odd_module = copy.deepcopy(module)
        with torch.no_grad():
            change(odd_module.weight)
            ours = adopted(runtime, odd_module)
            runtime._warned.clear()
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                got = ours(x), ours(x)
            expect([word in str(w.message) for w in said] == [True], "%s: not told once, but %s" % (word, [str(w.message) for w in said]))
            expect(torch.equal(got[0].nan_to_num(), odd_module(x).nan_to_num()), "%s: the answer is not PyTorch's" % word)


def section_weights(runtime):
    module, x = draw(512, 1024, (256,), "stress")
    ours = adopted(runtime, module)
    same = lambda a, b, what: expect(errors(a(x), b(x).double())[0] < 1e-5, what)
    expect(list(ours.state_dict()) == list(module.state_dict()), "the state_dict changed")
    with torch.no_grad():
        same(ours, module, "a first call")
        other, _ = draw(512, 1024, (256,), "plain")
        torch.nn.init.normal_(other.weight)
        ours.load_state_dict(other.state_dict())
        same(ours, other, "reloaded weights are not seen")
        for m in (ours, other):
            m.weight.mul_(0.5)
            m.bias.add_(1)
        same(ours, other, "weights changed in place are not seen")
        twin = copy.deepcopy(ours)
        twin.weight.neg_()
        same(ours, other, "a deep copy disturbed the original")
        other.weight.neg_()
        same(twin, other, "a deep copy does not follow its own weights")
        twin.weight = nn.Parameter(module.weight.clone())
        twin.bias = nn.Parameter(module.bias.clone())
        same(twin, module, "a replaced weight is not seen")
        view = x.t().contiguous().t()
        expect(torch.equal(ours(view), ours(x)), "a transposed input gives another answer")
        expect(torch.equal(ours(x[100:]), ours(x)[100:]), "an offset input gives another answer")


def section_streams(runtime):
    module, x = draw(4096, 4096, (256,), "stress")
    ours = adopted(runtime, module)
    with torch.no_grad():
        want = ours(x)
        torch.cuda.synchronize()
        answers, streams = [], [torch.cuda.Stream() for _ in range(3)]
        for _ in range(10):
            for stream in streams:
                with torch.cuda.stream(stream):
                    answers.append(ours(x))
        torch.cuda.synchronize()
        expect(all(torch.equal(a, want) for a in answers), "answers on several streams differ")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            answer = no_warning(lambda: ours(x))
        for _ in range(3):
            x.copy_(torch.rand_like(x))
            want = ours(x)
            graph.replay()
            torch.cuda.synchronize()
            expect(torch.equal(answer, want), "a replayed graph differs")
        for _ in range(200):
            last = ours(x)
        expect(torch.equal(last, want), "the 200th call differs")


def section_fallbacks(runtime):
    module, x = draw(512, 1024, (256,), "stress")
    ours = adopted(runtime, module)
    runtime._warned.clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        y = ours(x)
    expect(y.requires_grad and torch.equal(y, module(x)), "with gradients the answer is not PyTorch's")
    expect(any("gradients" in str(w.message) for w in said), "gradients are not told")
    with torch.no_grad():
        for what, call in (("float64", lambda m: copy.deepcopy(m).double()(x.double())), ("the CPU", lambda m: copy.deepcopy(m).cpu()(x.cpu()))):
            expect(torch.equal(no_warning(lambda: call(ours)), call(module)), what)
        torch.backends.cuda.matmul.allow_tf32 = True
        expect(torch.equal(ours(x), module(x)), "TF32 is allowed and PyTorch's product not used")
        torch.backends.cuda.matmul.allow_tf32 = False
        plain = load_runtime()
        expect(torch.equal(adopted(plain, module)(x[:1]), module(x[:1])), "one row is not left to PyTorch")
        try:
            ours(x[:, :7])
            expect(False, "an input of the wrong size is taken")
        except RuntimeError as e:
            expect("mat1" in str(e), "PyTorch does not word the error: %s" % e)


SECTIONS = {name[8:]: f for name, f in list(globals().items()) if name.startswith("section_")}


def main():
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("skipped: no GPU of sm_90")
        return 77
    runtime = always(load_runtime())
    for name in sys.argv[1:] or SECTIONS:
        began, before, failed = time.perf_counter(), passed, len(failures)
        try:
            SECTIONS[name](runtime)
        except Exception as e:  # the next section may still be useful
            expect(False, "%s stopped: %s: %s" % (name, type(e).__name__, str(e)[:300]))
        print("%s: %d passed, %d failed, %.1f s" % (name, passed - before, len(failures) - failed, time.perf_counter() - began), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
