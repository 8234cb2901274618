"""Products of cuda/fused_graph on a Hopper GPU against float64 and PyTorch: odd shapes, hard numbers, and what a file must keep: streams, CUDA graphs,
changed weights, copies, what is left to PyTorch.

Usage: products_gpu_test.py --tool hone_expert_tool [--only WORD]
Exit code 1 when anything failed, 77 without torch or a suitable GPU.
"""

import argparse
import copy
import math
import sys
import tempfile
import types
import warnings

import torch_python

torch_python.need_torch()
import torch

import fused_house
import runtime_text

# name, forward, shapes of its inputs; small, so the cost model would leave them to PyTorch
SMALL = [
    ("odd 1000x777x333", "torch.matmul(a, b)", [(1000, 777), (777, 333)]),
    ("odd, both transposed", "torch.matmul(a.T, b.T)", [(777, 1001), (335, 777)]),
    ("odd batch", "torch.bmm(a, b.transpose(1, 2))", [(7, 129, 33), (7, 130, 33)]),
    ("one of each", "torch.matmul(a, b)", [(1, 1), (1, 1)]),
    ("one row", "torch.matmul(a, b)", [(1, 129), (129, 33)]),
    ("one column", "torch.matmul(a, b)", [(129, 33), (33, 1)]),
    ("k of one", "torch.matmul(a, b)", [(129, 1), (1, 200)]),
    ("offset rows", "torch.matmul(a[1:, 3:], b[3:, 1:])", [(200, 131), (131, 190)]),
    ("divided k, odd", "torch.matmul(a, b)", [(130, 5000), (5000, 131)]),
]
TASK = """
import torch
class Model(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        if weights:
            self.w, self.b = torch.nn.Parameter(torch.randn(*weights) * weights[-1] ** -0.5), torch.nn.Parameter(torch.randn(weights[0]))
    def forward(self, %s):
        return %s
def get_init_inputs():
    return [%r]
"""


ULP = 2.0**-23


def errors(got, want):
    """The error in the norm, and the worst element's error beyond 4 ulp of itself, over the root mean square: operands have 22 bits."""
    if got.shape != want.shape or not torch.isfinite(got).all():
        return float("inf"), float("inf")
    difference, norm = got.double() - want, want.norm().clamp_min(1e-300)
    return float(difference.norm() / norm), float((difference.abs() - 4 * ULP * want.abs()).clamp_min(0).max() / (norm / want.numel() ** 0.5))


def bad(got, own, want):
    """A sentence if the answer's error exceeds twice PyTorch's, else None; and the errors in the norm."""
    (norm, worst), (own_norm, own_worst) = errors(got, want), errors(own, want)
    if norm > max(4 * ULP, 2 * own_norm) or worst > max(32 * ULP, 2 * own_worst) or norm != norm:
        return "off by %.1e (worst %.1e), PyTorch %.1e (%.1e)" % (norm, worst, own_norm, own_worst), norm, own_norm
    return None, norm, own_norm


def candidate_of(tool, source, model, inputs, folder):
    graph = fused_house.graph_of(model, inputs)
    text, why = fused_house.candidate_text(tool, source, graph, folder)
    if text is None:
        return None, why
    return fused_house._import(text, folder), text


def close_in_pattern(got, own):
    return torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf())


def hard_inputs(inputs, kind):
    """The same shapes with numbers that the split cannot hold. Where PyTorch is sound, kinds must agree with it."""
    out = [x.clone() for x in inputs]
    first, last = out[0], out[-1]
    if kind == "nan":
        first.view(-1)[first.numel() // 2] = float("nan")
        last.view(-1)[last.numel() // 3] = float("inf")
    elif kind == "range":  # every number is a power of two, over 60 of them
        for x in out:
            x.mul_(torch.exp2(torch.randint(-30, 31, x.shape, device=x.device).float()))
    elif kind == "huge":
        first.mul_(2.0**100)
        last.mul_(2.0**-70 if last is not first else 1.0)
    elif kind == "columns":  # both operands are hard, but their product is not
        if first.dim() == 2 and last.dim() == 2 and first is not last and first.shape[1] == last.shape[0]:
            powers = torch.exp2(torch.randint(-25, 26, (first.shape[1],), device=first.device).float())
            first.mul_(powers)
            last.div_(powers[:, None])
    elif kind == "zero column":  # values that only meet zeros must not affect the rest
        first.mul_(2.0**-3)
        if first.dim() == 2 and last.dim() == 2 and first is not last and first.shape[1] == last.shape[0] and first.shape[1] > 1:
            first[:, 0] = 2.0**20
            last[0] = 0
    return out


def check(call, own, wide, inputs, notes):
    """Answers on several kinds of numbers; returns the errors on plain ones."""
    got = call(*inputs)
    for _ in range(4):
        if not torch.equal(call(*inputs), got):
            notes.append("differs from call to call")
            break
    wrong, norm, own_norm = bad(got, own(*inputs), wide(*[x.double() for x in inputs]))
    if wrong:
        notes.append(wrong)
    small = sum(x.numel() for x in inputs) < 3e7
    for kind in ("nan", "range", "huge", "columns", "zero column") if small else ("nan",):
        hard = hard_inputs(inputs, kind)
        got, theirs = call(*hard), own(*hard)
        if kind == "nan":
            if not close_in_pattern(got, theirs):
                notes.append("NaN or infinities stand elsewhere")
            fine = theirs.isfinite()
            got, theirs = got.where(fine, 0), theirs.where(fine, 0)
            want = wide(*[x.double() for x in hard]).where(fine, 0)
        else:
            want = wide(*[x.double() for x in hard])
        wrong = bad(got, theirs, want)[0] if bool(want.isfinite().all()) and float(want.norm()) > 0 else None
        if wrong:
            notes.append("%s: %s" % (kind, wrong))
    return norm, own_norm


def run_runtime(name, forward, shapes, then=None):
    """Only the product, from the runtime as the recipe writes it, on shapes that the cost model leaves to PyTorch."""
    module = run_runtime.module
    if module is None:
        module = run_runtime.module = types.ModuleType("split_product_runtime")
        text = runtime_text.runtime_text(runtime_text.SPLIT_PRODUCT)
        exec(compile(text, "split_product_runtime.py", "exec"), module.__dict__)
    notes = []
    torch.manual_seed(2)
    inputs = [torch.randn(*shape, device="cuda") for shape in shapes]
    own = eval("lambda a, b: " + forward, {"torch": torch})
    captured = []
    real = torch.matmul, torch.bmm
    try:  # the operands as the product reads them
        torch.matmul = torch.bmm = lambda a, b: captured.append((a, b)) or real[0](a, b)
        shape = own(*inputs).shape
    finally:
        torch.matmul, torch.bmm = real
    batch = tuple(shape[:-2]) if captured[0][1].dim() > 2 else None
    a, b = captured[0]
    rows = a.numel() // a.shape[-1] if batch is None else a.shape[-2]
    sizes = (rows, b.shape[-1], a.shape[-1], 1 if batch is None else int(torch.tensor(batch).prod()))
    product = module._SplitProduct(x=lambda t: t, w=lambda t: t.mT, sizes=sizes, batch=batch, shape=tuple(shape))

    def call(*given):
        found = []
        try:
            torch.matmul = torch.bmm = lambda a, b: found.append((a, b))
            own(*given)
        finally:
            torch.matmul, torch.bmm = real
        return product(0, module._enter(0), *found[0], None, None, lambda: 1 / 0)

    with torch.no_grad():
        found = check(call, own, own, inputs, notes)
        if then:
            then(call, own, inputs)
        return notes, *found


run_runtime.module = None


def section_shapes(tool):
    return ["%s: %s" % (name, note) for name, forward, shapes in SMALL for note in run_runtime(name, forward, shapes)[0]]


def section_around(tool):
    """Blocks of zeros, kept triangles and a preceding softmax, with the runtime alone. 200 calls must agree bit by bit."""
    run_runtime("start", "torch.matmul(a, b)", [(8, 8), (8, 8)])
    module, notes, draw = run_runtime.module, [], lambda *shape: torch.randn(*shape, device="cuda")
    torch.manual_seed(4)
    blocks = lambda rows, k: (torch.rand(-(-rows // 128), -(-k // 64), device="cuda") < 0.3).repeat_interleave(128, 0).repeat_interleave(64, 1)[:rows, :k]
    soft = lambda t: torch.softmax(t * 0.25, -1)
    same, upper, lower = lambda t: t, lambda t: t.triu(5), lambda t: t.tril(-200)
    cases = [("triangles %d" % n, draw(n, n).triu(), draw(n, n).triu(), {}, same, same) for n in (1, 7, 33, 127, 129, 1031, 2304)]
    cases += [("lower", draw(1500, 1500).tril(), draw(1500, 1500).tril(), {}, same, same), ("diagonal", torch.diag(draw(1000)), draw(1000, 900), {}, same, same)]
    cases += [("scattered %d" % k, draw(1000, k) * blocks(1000, k), draw(k, 1300) * blocks(1300, k).T, {}, same, same) for k in (64, 777, 9000)]
    cases += [("scattered batch", draw(5, 600, 700) * blocks(600, 700), draw(5, 700, 500), {}, same, same), ("zeros", torch.zeros(300, 300, device="cuda"), draw(300, 300), {}, same, same)]
    for shape in ((1, 7, 33), (129, 127, 131), (1031, 500, 997), (2304, 700, 2304)):
        cases += [("upper %s" % (shape,), draw(*shape[:2]), draw(*shape[1:]), {"kept": (1, 5)}, same, upper), ("lower %s" % (shape,), draw(*shape[:2]), draw(*shape[1:]), {"kept": (2, -200)}, same, lower)]
    cases += [("softmax %s" % (shape,), draw(*shape[:2]) * 8, draw(*shape[1:]), {"softmax": 0.25}, soft, same) for shape in ((1, 1, 1), (7, 33, 129), (127, 129, 33), (1031, 512, 300), (300, 4096, 300))]
    cases += [("softmax batch", draw(6, 300, 512) * 8, draw(6, 512, 96), {"softmax": 0.25}, soft, same)]
    cases += [("softmax, heads", draw(4, 3, 257, 512) * 8, draw(4, 3, 512, 96), {"softmax": 0.25, "order": (0, 2, 1, 3)}, soft, same)]
    for label, a, b, around, front, behind in cases:
        batch = tuple(a.shape[:-2]) if b.dim() > 2 else None
        made = module._SplitProduct(x=lambda t: t, w=lambda t: t.mT, sizes=(a.shape[-2], b.shape[-1], a.shape[-1], math.prod(batch) if batch else 1), batch=batch, shape=(*a.shape[:-1], b.shape[-1]), **around)
        call = lambda x, y: made(0, module._enter(0), x, y, None, None, lambda: 1 / 0)
        own = lambda x, y: behind(front(x) @ y)
        with torch.no_grad():
            got = call(a, b)
            for _ in range(200):
                if not torch.equal(call(a, b), got):
                    notes.append(label + ": differs from call to call")
                    break
            wrong = bad(got, own(a, b), own(a.double(), b.double()))[0]
            if wrong and float(own(a.double(), b.double()).norm()) > 0:
                notes.append(label + ": " + wrong)
            if wrong is None or not float(own(a.double(), b.double()).norm()):
                if not torch.equal(got == 0, own(a, b) == 0) and around.get("kept"):
                    notes.append(label + ": other elements are zero")
            hurt = [a.clone(), b.clone()]
            hurt[0].view(-1)[a.numel() // 2], hurt[1].view(-1)[b.numel() // 3] = float("nan"), float("inf")
            if not close_in_pattern(call(*hurt), own(*hurt)):
                notes.append(label + ": NaN or infinities stand elsewhere")
    return notes


def said_by(call):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = call()
    return answer, [str(w.message) for w in said]


def section_contract(tool):
    """A file with a split weight and a product of two activations."""
    source = TASK % ("a", "torch.matmul(torch.nn.functional.linear(a, self.w, self.b).T, a)", [2048, 4096])
    scope, notes = {}, []
    exec(source, scope)
    expect = lambda truth, what: truth or notes.append(what)
    model, x = scope["Model"]([2048, 4096]).cuda().eval(), torch.randn(2048, 4096, device="cuda")
    close = lambda got, want: bad(got, want, want.double())[1] < 1e-5
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        candidate, text = candidate_of(tool, source, model, [x], folder)
        if candidate is None or text.count("= _SplitProduct(x=") != 2:
            return ["the recipe does not take both products"]
        made = candidate.ModelNew([2048, 4096]).cuda().eval()
        made.load_state_dict(model.state_dict())
        want, said = said_by(lambda: made(x))
        expect(not said and close(want, model(x)), "a first call is wrong or warns: %s" % said)
        answers, streams = [], [torch.cuda.Stream() for _ in range(3)]
        torch.cuda.synchronize()
        for _ in range(5):
            for stream in streams:
                with torch.cuda.stream(stream):
                    answers.append(made(x))
        torch.cuda.synchronize()
        expect(all(torch.equal(a, want) for a in answers), "answers on several streams differ")
        given, graph = x.clone(), torch.cuda.CUDAGraph()
        with torch.cuda.stream(streams[0]):
            made(given)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=streams[0]):
            answer = made(given)
        for _ in range(3):
            given.copy_(torch.randn_like(given))
            graph.replay()
            torch.cuda.synchronize()
            expect(torch.equal(answer, made(given)), "a replayed graph differs")
        for m in (made, model):
            m.w.mul_(-2)
        expect(close(made(x), model(x)), "weights changed in place are not seen")
        twin = copy.deepcopy(made)
        twin.w.neg_()
        expect(close(made(x), model(x)), "a deep copy disturbed the original")
        for m in (model,):
            m.w.neg_()
        expect(close(twin(x), model(x)), "a deep copy does not follow its own weights")
        twin.w[:, 5] *= 2.0**-20
        model.w[:, 5] *= 2.0**-20
        got, said = said_by(lambda: twin(x))
        expect(len(said) == 1 and close(got, model(x)), "weights that span too much: %s" % said)
        twin.load_state_dict(made.state_dict())
        model.load_state_dict(made.state_dict())
        got, said = said_by(lambda: (twin(x[:512]), twin(x[:512])))
        expect(len(said) == 1 and torch.equal(got[0], model(x[:512])), "another shape: %s" % said)
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            expect(torch.equal(twin(x), model(x)), "TF32 is allowed and PyTorch does not run")
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False
    got, said = said_by(lambda: twin(x))
    expect(len(said) == 1 and got.requires_grad, "gradients: %s" % said)
    return notes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("skipped: no GPU of sm_90")
        return 77
    failed = False
    for section in (section_shapes, section_around, section_contract):
        if options.only in section.__name__:
            notes = section(options.tool)
            failed = failed or bool(notes)
            print("\n".join(["FAILED  " + note for note in notes] + ["done    " + section.__name__[8:]]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
