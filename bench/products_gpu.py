"""Products of cuda/fused_graph on a Hopper GPU: checks a table of shapes and the given task files against float64, then times them.

Usage: products_gpu.py --tool build/release/tests/hone_expert_tool [TASK.py...] [--only REGEX] [--total 85] [--json FILE] [--no-shapes] [--variants]
Every shape is checked on plain, wide and non-finite numbers; five calls must agree bit by bit. Small shapes, which the cost model leaves to
PyTorch, are run by the runtime alone.
Errors are ||y - y64|| / ||y64|| and the worst element over the root mean square, beside PyTorch's own. The last lines are a table. Exit code 1 when
an answer is wrong.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))

import torch
import torch.nn as nn

import fused_gpu
import fused_house

# name, forward, shapes of its inputs, whether it is timed
SHAPES = [
    ("square 4096", "torch.matmul(a, b)", [(4096, 4096), (4096, 4096)], True),
    ("standard 2048x8192x4096", "torch.matmul(a, b)", [(2048, 8192), (8192, 4096)], True),
    ("transposed A", "torch.matmul(a.T, b)", [(8192, 2048), (8192, 4096)], True),
    ("transposed B", "torch.matmul(a, b.T)", [(2048, 8192), (4096, 8192)], True),
    ("transposed both", "torch.matmul(a.T, b.T)", [(8192, 2048), (4096, 8192)], True),
    ("large k", "torch.mm(a, b)", [(256, 131072 * 4), (131072 * 4, 256)], True),
    ("small k 16384x64x16384", "torch.matmul(a, b)", [(16384, 64), (64, 16384)], True),
    ("bmm 128x512x1024x2048", "torch.bmm(a, b)", [(128, 512, 1024), (128, 1024, 2048)], True),
    ("3d x 2d", "torch.matmul(a, b)", [(16, 1024, 2048), (2048, 768)], True),
    ("4d x 2d einsum", "torch.einsum('bijl,lk->bijk', a, b)", [(8, 256, 512, 256), (256, 768)], True),
    ("heads", "torch.matmul(a.transpose(1, 2), b.transpose(1, 2).transpose(-1, -2))", [(4, 1024, 8, 256), (4, 1024, 8, 256)], True),
    ("one matrix for a batch", "torch.matmul(a, b)", [(512, 1024), (16, 1024, 777)], True),
    ("linear 1024x8192x8192", "torch.nn.functional.linear(a, self.w, self.b)", [(1024, 8192)], True),
    ("weight on the left", "torch.matmul(self.w, a)", [(8192, 2048)], True),
    ("addmm", "torch.addmm(self.b, a, self.w.T)", [(1024, 8192)], True),
    ("linear of a transposed input", "torch.nn.functional.linear(a.transpose(0, 1), self.w, self.b)", [(8192, 1024)], False),
    ("odd 1000x777x333", "torch.matmul(a, b)", [(1000, 777), (777, 333)], False),
    ("odd, both transposed", "torch.matmul(a.T, b.T)", [(777, 1001), (335, 777)], False),
    ("odd batch", "torch.bmm(a, b.transpose(1, 2))", [(7, 129, 33), (7, 130, 33)], False),
    ("one of each", "torch.matmul(a, b)", [(1, 1), (1, 1)], False),
    ("one row", "torch.matmul(a, b)", [(1, 129), (129, 33)], False),
    ("one column", "torch.matmul(a, b)", [(129, 33), (33, 1)], False),
    ("k of one", "torch.matmul(a, b)", [(129, 1), (1, 200)], False),
    ("offset rows", "torch.matmul(a[1:, 3:], b[3:, 1:])", [(200, 131), (131, 190)], False),
    ("divided k, odd", "torch.matmul(a, b)", [(130, 5000), (5000, 131)], False),
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


def say(*words):
    print(*words, flush=True)


def errors(got, want):
    if got.shape != want.shape or not torch.isfinite(got).all():
        return float("inf"), float("inf")
    difference, norm = got.double() - want, want.norm().clamp_min(1e-300)
    return float(difference.norm() / norm), float(difference.abs().max() / (norm / want.numel() ** 0.5))


def bad(got, own, want):
    """A sentence if the answer is further off than twice PyTorch's, or None; and the errors in the norm."""
    (norm, worst), (own_norm, own_worst) = errors(got, want), errors(own, want)
    ulp = 2.0**-23
    if norm > max(4 * ulp, 2 * own_norm) or worst > max(32 * ulp, 2 * own_worst) or norm != norm:
        return "off by %.1e (worst %.1e), PyTorch %.1e (%.1e)" % (norm, worst, own_norm, own_worst), norm, own_norm
    return None, norm, own_norm


def candidate_of(tool, source, model, inputs, folder):
    graph = fused_house.graph_of(model, inputs)
    text, why = fused_house.candidate_text(tool, source, graph, folder)
    if text is None:
        return None, why
    path = pathlib.Path(folder) / "candidate.py"
    path.write_text(text)
    return fused_gpu.load(path, "candidate"), text


def close_in_pattern(got, own):
    return torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf())


def hard_inputs(inputs, kind):
    """The same shapes with numbers that the split cannot hold: kinds must agree with PyTorch where it is sound."""
    out = [x.clone() for x in inputs]
    first, last = out[0], out[-1]
    if kind == "nan":
        first.view(-1)[first.numel() // 2] = float("nan")
        last.view(-1)[last.numel() // 3] = float("inf")
    elif kind == "range":  # every number its own power of two, over 60 of them
        for x in out:
            x.mul_(torch.exp2(torch.randint(-30, 31, x.shape, device=x.device).float()))
    elif kind == "huge":
        first.mul_(2.0**100)
        last.mul_(2.0**-70 if last is not first else 1.0)
    elif kind == "columns":  # both operands are hard, their product is not
        if first.dim() == 2 and last.dim() == 2 and first is not last and first.shape[1] == last.shape[0]:
            powers = torch.exp2(torch.randint(-25, 26, (first.shape[1],), device=first.device).float())
            first.mul_(powers)
            last.div_(powers[:, None])
    elif kind == "zero column":  # what only zeros meet must not spoil the rest
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


def run_shape(tool, name, forward, shapes, timed):
    row = {"task": name, "notes": []}
    weights = [8192, 8192] if "self.w" in forward else None
    torch.manual_seed(1)
    source = TASK % (", ".join("ab"[: len(shapes)]), forward, weights)
    scope = {}
    exec(source, scope)
    model = scope["Model"](weights).cuda().eval()
    inputs = [torch.randn(*shape, device="cuda") for shape in shapes]
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        candidate, text = candidate_of(tool, source, model, inputs, folder)
        if candidate is None or "_SplitProduct(x=" not in text:
            row["notes"].append("left to PyTorch" if candidate is not None else "declined: " + text)
            return row
        made = candidate.ModelNew(weights).cuda().eval()
        made.load_state_dict(model.state_dict())
        start = time.time()
        call = lambda *given: candidate._run_graph(made, given)
        call(*inputs)
        torch.cuda.synchronize()
        row["first_s"] = time.time() - start
        double = scope["Model"](weights).cuda().double().eval()
        double.load_state_dict(model.state_dict())
        row["error"], row["own_error"] = check(call, model, double, inputs, row["notes"])
        del double
        if timed:
            measure(row, call, model, inputs)
    return row


def run_runtime(name, forward, shapes):
    """The product alone, from the runtime as the recipe writes it: shapes that the cost model leaves to PyTorch."""
    import types

    import runtime_text

    module = run_runtime.module
    if module is None:
        module = run_runtime.module = types.ModuleType("split_product_runtime")
        text = runtime_text.runtime_text(runtime_text.SPLIT_PRODUCT)
        exec(compile(text, "split_product_runtime.py", "exec"), module.__dict__)
    row = {"task": name + " (runtime)", "notes": []}
    torch.manual_seed(2)
    inputs = [torch.randn(*shape, device="cuda") for shape in shapes]
    own = eval("lambda a, b: " + forward, {"torch": torch})
    captured = []
    real = torch.matmul, torch.bmm
    try:  # the operands as the product sees them
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
        row["error"], row["own_error"] = check(call, own, own, inputs, row["notes"])
    return row


run_runtime.module = None


def measure(row, call, model, inputs, seconds=0.2):
    row["eager_us"] = fused_gpu.time_us(torch, lambda: model(*inputs), seconds)
    row["us"] = fused_gpu.time_us(torch, lambda: call(*inputs), seconds)
    row["graph_us"] = fused_gpu.graphed_us(torch, lambda: call(*inputs), seconds)
    row["parts"] = parts_us(lambda: call(*inputs))


def parts_us(call):
    """Device time of each kernel of one call, by the profiler."""
    try:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as report:
            for _ in range(2):
                call()
            torch.cuda.synchronize()
        return {e.key[:40]: round(e.self_device_time_total / 2, 1) for e in report.key_averages() if e.self_device_time_total}
    except Exception:
        return {}


VARIANTS = ("square 4096", "bmm 128x512x1024x2048", "4d x 2d einsum", "linear 1024x8192x8192", "small k 16384x64x16384")


def run_variants(tool, name, forward, shapes, timed):
    """Device time of split_product with other orders of tiles, and with one CTA per tile."""
    row = {"task": name + " (variants)", "notes": []}
    weights = [8192, 8192] if "self.w" in forward else None
    source = TASK % (", ".join("ab"[: len(shapes)]), forward, weights)
    scope = {}
    exec(source, scope)
    model = scope["Model"](weights).cuda().eval()
    inputs = [torch.randn(*shape, device="cuda") for shape in shapes]
    row["parts"] = {}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for panel, resident in ((16, True), (16, False), (8, True), (32, True), (12, True)):
            candidate, text = candidate_of(tool, source, model, inputs, folder)
            candidate._PANEL = panel
            if not resident:
                make = candidate._Launch.__init__
                candidate._Launch.__init__ = lambda self, *a: make(self, *a) or setattr(self, "processors", 1 << 30)
            made = candidate.ModelNew(weights).cuda().eval()
            call = lambda: candidate._run_graph(made, inputs)
            call()
            parts = [parts_us(call).get("split_product", 0) for _ in range(3)]
            row["parts"]["panel %d%s" % (panel, "" if resident else ", one CTA per tile")] = sorted(parts)[1]
    return row


def run_task(tool, path):
    row = {"task": path.stem, "notes": []}
    module = fused_gpu.load(path, "task")
    torch.manual_seed(0)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        init = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        with torch.device("cuda"):
            model = module.Model(*init).cuda().eval()
        original = torch.rand, torch.randn
        torch.rand, torch.randn = (lambda *a, f=f, **k: f(*a, **{"device": "cuda", **k}) for f in original)
        try:
            inputs = module.get_inputs()
        finally:
            torch.rand, torch.randn = original
        inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in inputs]
        candidate, text = candidate_of(tool, path.read_text(), model, inputs, folder)
        if candidate is None:
            row["notes"].append("declined: " + text)
            return row
        if "_SplitProduct(x=" not in text:
            row["notes"].append("no product taken over")
        with torch.device("cuda"):
            made = candidate.ModelNew(*init).cuda().eval()
        made.load_state_dict(model.state_dict())
        call = lambda *given: candidate._run_graph(made, given)
        got = call(*inputs)
        for _ in range(4):
            if not all(torch.equal(a, b) for a, b in zip(fused_gpu.tensors(call(*inputs)), fused_gpu.tensors(got))):
                row["notes"].append("differs from call to call")
                break
        own = model(*inputs)
        measure(row, call, model, inputs)
        wide = model.double()(*[x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs])
        wrong, row["error"], row["own_error"] = bad(got, own, wide)
        if wrong:
            row["notes"].append(wrong)
    return row


def line(row):
    cell = lambda key, form: form % row[key] if row.get(key) is not None else "-"
    speed = "%.2f" % (row["eager_us"] / (row.get("graph_us") or row["us"])) if row.get("us") else "-"
    return "%-34s %9s %9s %9s %6s %8s %8s %s" % (
        row["task"][:34], cell("eager_us", "%.1f"), cell("us", "%.1f"), cell("graph_us", "%.1f"), speed, cell("error", "%.1e"), cell("own_error", "%.1e"),
        "; ".join(row["notes"])[:120])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", type=pathlib.Path)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--total", type=float, default=85, help="seconds for all")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--no-shapes", action="store_true")
    parser.add_argument("--variants", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("skipped: no GPU of sm_90")
        return 77
    say(torch.cuda.get_device_name(), torch.__version__)
    jobs = []
    if not options.no_shapes:
        jobs += [(name, lambda s=(name, *rest): run_shape(options.tool, *s)) for name, *rest in SHAPES if rest[2]]
        jobs += [(name, lambda s=(name, *rest[:2]): run_runtime(*s)) for name, *rest in SHAPES if not rest[2] and "self" not in rest[0]]
    if options.variants:
        jobs += [(name, lambda s=(name, *rest): run_variants(options.tool, *s)) for name, *rest in SHAPES if name in VARIANTS]
    files = [f for p in options.tasks for f in (sorted(p.glob("*.py")) if p.is_dir() else [p])]
    jobs += [(path.stem, lambda path=path: run_task(options.tool, path)) for path in files]
    rows, end = [], time.time() + options.total
    for name, job in jobs:
        if not re.search(options.only, name):
            continue
        if time.time() > end:
            rows.append({"task": name, "notes": ["no time left"]})
            continue
        start = time.time()
        try:
            row = job()
        except Exception as error:
            traceback.print_exc(limit=-4)
            row = {"task": name, "notes": ["FAILED %s: %s" % (type(error).__name__, str(error).split("\n")[0][:160])]}
        torch.cuda.empty_cache()
        rows.append(row)
        say(line(row), "(%.1f s)" % (time.time() - start), row.get("parts") or "")
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    print("\n%-34s %9s %9s %9s %6s %8s %8s" % ("what", "eager us", "file us", "graph us", "x", "error", "PyTorch"))
    for row in rows:
        print(line(row))
    wrong = [row["task"] for row in rows if any(re.search("off by|differs|elsewhere|FAILED", note) for note in row["notes"])]
    if wrong:
        print("WRONG: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
