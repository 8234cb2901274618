"""Products of cuda/fused_graph on a Hopper GPU: checks a table of shapes and the given task files against float64, then times them.

Usage: products_gpu.py --tool build/release/tests/hone_expert_tool [TASK.py...] [--only REGEX] [--total 85] [--json FILE] [--no-shapes] [--variants]
Every shape is checked on plain, wide and non-finite numbers; five calls must agree bit by bit. Shapes that the cost
model leaves to PyTorch are run by the runtime alone.
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

import fused_gpu
from products_gpu_test import SMALL, TASK, bad, candidate_of, check, run_runtime

# name, forward, shapes of its inputs
SHAPES = [
    ("square 4096", "torch.matmul(a, b)", [(4096, 4096), (4096, 4096)]),
    ("standard 2048x8192x4096", "torch.matmul(a, b)", [(2048, 8192), (8192, 4096)]),
    ("transposed A", "torch.matmul(a.T, b)", [(8192, 2048), (8192, 4096)]),
    ("transposed B", "torch.matmul(a, b.T)", [(2048, 8192), (4096, 8192)]),
    ("transposed both", "torch.matmul(a.T, b.T)", [(8192, 2048), (4096, 8192)]),
    ("bmm 128x512x1024x2048", "torch.bmm(a, b)", [(128, 512, 1024), (128, 1024, 2048)]),
    ("3d x 2d", "torch.matmul(a, b)", [(16, 1024, 2048), (2048, 768)]),
    ("4d x 2d einsum", "torch.einsum('bijl,lk->bijk', a, b)", [(8, 256, 512, 256), (256, 768)]),
    ("heads", "torch.matmul(a.transpose(1, 2), b.transpose(1, 2).transpose(-1, -2))", [(4, 1024, 8, 256), (4, 1024, 8, 256)]),
    ("one matrix for a batch", "torch.matmul(a, b)", [(512, 1024), (16, 1024, 777)]),
    ("linear 1024x8192x8192", "torch.nn.functional.linear(a, self.w, self.b)", [(1024, 8192)]),
    ("weight on the left", "torch.matmul(self.w, a)", [(8192, 2048)]),
    ("addmm", "torch.addmm(self.b, a, self.w.T)", [(1024, 8192)]),
]

# Where the cost model has to decide.
MARGINAL = [
    ("k 64, 16384x16384", "torch.matmul(a, b)", [(16384, 64), (64, 16384)]),
    ("k 128, 8192x8192", "torch.matmul(a, b)", [(8192, 128), (128, 8192)]),
    ("k 96, 96 x 1024x1024", "torch.matmul(a, b.transpose(-1, -2))", [(96, 1024, 96), (96, 1024, 96)]),
    ("large k 256x524288x256", "torch.matmul(a, b)", [(256, 524288), (524288, 256)]),
    ("cube 1024", "torch.matmul(a, b)", [(1024, 1024), (1024, 1024)]),
    ("cube 2048", "torch.matmul(a, b)", [(2048, 2048), (2048, 2048)]),
]


def say(*words):
    print(*words, flush=True)


def run_shape(tool, name, forward, shapes):
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
        measure(row, call, model, inputs)
    return row


def run_alone(name, forward, shapes, timed):
    """By the runtime, whatever the cost model says."""
    row = {"task": name}
    row["notes"], row["error"], row["own_error"] = run_runtime(name, forward, shapes, (lambda *given: measure(row, *given)) if timed else None)
    return row


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


VARIANTS = ("square 4096", "bmm 128x512x1024x2048", "4d x 2d einsum", "linear 1024x8192x8192")


def run_variants(tool, name, forward, shapes):
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
        jobs += [(shape[0], lambda shape=shape: run_shape(options.tool, *shape)) for shape in SHAPES]
        jobs += [(shape[0], lambda shape=shape: run_alone(*shape, True)) for shape in MARGINAL]
        jobs += [(shape[0], lambda shape=shape: run_alone(*shape, False)) for shape in SMALL]
    if options.variants:
        jobs += [(name, lambda shape=(name, *rest): run_variants(options.tool, *shape)) for name, *rest in SHAPES if name in VARIANTS]
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
