"""What fused kernels (recipe cuda/fused_graph) reach on a GPU, task by task: time of the module and of the file, bytes that the kernels
move, the share of a plain device copy of as many bytes in the same run, and the error against float64.

Usage: fused_gpu.py --tool build/release/tests/hone_expert_tool FOLDER_OR_FILE... [--only REGEX] [--seconds 40] [--total 540] [--json FILE]
Each task runs in a process of its own with a time limit, so that one that hangs or breaks the device does not end the others. The last
lines are a table. Exit code 1 when an answer is wrong.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
HOUSE = ROOT / "tests" / "end_to_end"


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def time_us(torch, call, seconds):
    """Median over runs, by events around each. Large tasks do not fit the cache; small ones are timed with it warm, like the copy."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    samples, end = [], time.time() + seconds
    while len(samples) < 60 and (time.time() < end or len(samples) < 5):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        stop.record()
        stop.synchronize()
        samples.append(1000 * start.elapsed_time(stop))
    return sorted(samples)[len(samples) // 2]


def graphed_us(torch, call, seconds):
    """The same without the host: a captured graph replayed. None where it cannot be captured."""
    try:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            call()
            call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return time_us(torch, graph.replay, seconds)
    except Exception:
        torch.cuda.synchronize()
        return None


def copy_us(torch, size, seconds):
    """A device copy that reads and writes `size` bytes together."""
    words = max(1024, int(size) // 8)
    a = torch.empty(words, dtype=torch.int32, device="cuda")
    b = torch.empty_like(a)
    return time_us(torch, lambda: b.copy_(a), seconds)


def tensors(value):
    return [t for v in value for t in tensors(v)] if isinstance(value, (tuple, list)) else [value]


def errors(torch, got, expected, wide):
    """The worst relative error in the norm of the file and of PyTorch, over the outputs; an infinite one for a wrong shape or NaN."""
    worst, worst_eager = 0.0, 0.0
    for g, e, w in zip(tensors(got), tensors(expected), tensors(wide)):
        if g.shape != e.shape or g.dtype != e.dtype:
            return float("inf"), 0.0
        if not e.is_floating_point():
            worst = max(worst, float((g != e).double().mean()))
            continue
        size = w.norm().clamp_min(1e-30)
        error = float((g.double() - w).norm() / size)
        worst = max(worst, error if error == error else float("inf"))
        worst_eager = max(worst_eager, float((e.double() - w).norm() / size))
    return worst, worst_eager


def in_pieces(torch, model, inputs):
    """float64 takes twice the memory: from the host's answer where the device has no room."""
    double = model.double()
    answer = double(*[x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs])
    return answer


def run_one(task, tool, budget):
    import torch

    sys.path.insert(0, str(HOUSE))
    import fused_house

    began, row = time.time(), {"task": task.stem}
    module = load(task, "task")
    torch.manual_seed(0)
    with torch.no_grad():
        init = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        model = module.Model(*init).cuda().eval()
        # Drawing a billion numbers on the host would take longer than everything else.
        original = torch.rand, torch.randn
        torch.rand, torch.randn = (lambda *a, f=f, **k: f(*a, **{"device": "cuda", **k}) for f in original)
        try:
            inputs = module.get_inputs()
        finally:
            torch.rand, torch.randn = original
        inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in inputs]
        row["drawn_s"] = round(time.time() - began, 1)
        graph = fused_house.graph_of(model, inputs)
        with tempfile.TemporaryDirectory() as folder:
            text, why = fused_house.candidate_text(tool, task.read_text(), graph, folder)
            if text is None:
                return {**row, "note": "declined: " + why}
            path = pathlib.Path(folder) / "candidate.py"
            path.write_text(text)
            candidate = load(path, "candidate")
            made = candidate.ModelNew(*init).cuda().eval()
            made.load_state_dict(model.state_dict())
            start = time.time()
            got = candidate._run_graph(made, tuple(inputs))  # a refusal is an error here, not a warning
            torch.cuda.synchronize()
            row["first_s"] = round(time.time() - start, 2)
        expected = model(*inputs)
        again = candidate._run_graph(made, tuple(inputs))
        row["repeats"] = all(torch.equal(a.view(torch.uint8) if a.dim() else a, b.view(torch.uint8) if b.dim() else b) for a, b in zip(tensors(got), tensors(again)))
        del again
        share = max(0.2, (budget - (time.time() - began)) / 12)
        kernels = re.findall(r"_kernel\d+ = _FusedKernel", text)
        row["kernels"], row["calls"] = len(kernels), len(re.findall(r"= _aten\d+(?:\.one)?\(", text))
        row["bytes"] = kernel_bytes(text)
        row["us"] = time_us(torch, lambda: candidate._run_graph(made, tuple(inputs)), share)
        row["graph_us"] = graphed_us(torch, lambda: candidate._run_graph(made, tuple(inputs)), share)
        row["eager_us"] = time_us(torch, lambda: model(*inputs), share)
        row["kernel_us"] = kernel_us(torch, lambda: candidate._run_graph(made, tuple(inputs)))
        row["copy_us"] = copy_us(torch, min(row["bytes"], 16e9), share) * max(1.0, row["bytes"] / 16e9)
        try:
            row["error"], row["eager_error"] = errors(torch, got, expected, in_pieces(torch, model, inputs))
        except torch.cuda.OutOfMemoryError:
            del got, expected
            row["note"] = "float64 does not fit the device"
    return row


def kernel_bytes(text):
    """What the file's kernels read and write, each operand once: from the shapes that stand in it."""
    total, sizes = 0, {"float64": 8, "int64": 8, "float16": 2, "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}
    for block in re.findall(r"_FusedKernel\(\n(.*?)\n\)", text, re.S):
        inputs, outputs = re.search(r"inputs=\[(.*)\],\n", block)[1], re.search(r"outputs=\[(.*)\],\n", block)[1]
        for shape, strides in re.findall(r"\((\([^()]*\)), (\([^()]*\)), \d+\)", inputs):
            count = 1
            for size, stride in zip(eval(shape), eval(strides)):
                count *= size if stride else 1
            total += 4 * count
        for shape, dtype in re.findall(r"\((\([^()]*\)), torch\.(\w+)\)", outputs):
            count = 1
            for size in eval(shape):
                count *= size
            total += sizes.get(dtype, 4) * count
    return total


def kernel_us(torch, call):
    """Device time of Hone's own kernels in one call, by the profiler; None without one."""
    try:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as report:
            for _ in range(3):
                call()
            torch.cuda.synchronize()
        total = sum(e.self_device_time_total for e in report.key_averages() if re.match(r"fused\d", e.key))
        return total / 3 or None
    except Exception:
        return None


def line(row):
    def cell(value, form):
        return form % value if value is not None else "-"

    ours = row.get("kernel_us") or row.get("graph_us") or row.get("us")
    share = row["copy_us"] / ours if ours and row.get("copy_us") else None
    speed = row["eager_us"] / (row.get("graph_us") or row["us"]) if row.get("us") else None
    return "%-44s %3s+%-3s %9s %9s %9s %9s %8s %6s %6s %8s %8s %s" % (
        row["task"][:44], row.get("kernels", "-"), row.get("calls", "-"), cell(row.get("eager_us"), "%.1f"), cell(row.get("us"), "%.1f"),
        cell(row.get("graph_us"), "%.1f"), cell(row.get("kernel_us"), "%.1f"), cell(row.get("bytes") and row["bytes"] / 1e6, "%.1f"),
        cell(share, "%.2f"), cell(speed, "%.2f"), cell(row.get("error"), "%.1e"), cell(row.get("eager_error"), "%.1e"), row.get("note", "")[:90])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=40, help="for one task")
    parser.add_argument("--total", type=float, default=540, help="for all; tasks that are left are named")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--one", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        try:
            row = run_one(options.one, options.tool, options.seconds)
        except Exception as error:
            row = {"task": options.one.stem, "note": "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:200])}
        print("ROW " + json.dumps(row))
        return 0
    files = [f for p in options.paths for f in (sorted(p.glob("*.py"), key=lambda f: (int(f.name.split("_")[0]) if f.name[0].isdigit() else 0, f.name)) if p.is_dir() else [p])]
    files = [f for f in files if re.search(options.only, f.name)]
    rows, end = [], time.time() + options.total
    for file in files:
        if time.time() > end - 5:
            rows.append({"task": file.stem, "note": "no time left"})
            continue
        command = [sys.executable, __file__, "--tool", options.tool, "--seconds", str(options.seconds), "--one", str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=min(options.seconds + 20, max(5, end - time.time())))
            found = [l for l in done.stdout.splitlines() if l.startswith("ROW ")]
            row = json.loads(found[-1][4:]) if found else {"task": file.stem, "note": "died (%d): %s" % (done.returncode, done.stderr.strip().splitlines()[-1:] or "")}
        except subprocess.TimeoutExpired:
            row = {"task": file.stem, "note": "over its time"}
        rows.append(row)
        print(line(row), flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    print("\n%-44s %3s+%-3s %9s %9s %9s %9s %8s %6s %6s %8s %8s" % ("task", "own", "ATn", "eager us", "file us", "graph us", "kernel us", "MB", "/copy", "x", "error", "eager's"))
    for row in rows:
        print(line(row))
    speeds = [r["eager_us"] / (r.get("graph_us") or r["us"]) for r in rows if r.get("us")]
    if speeds:
        product = 1.0
        for speed in speeds:
            product *= speed
        print("%d tasks measured of %d; geometric mean against eager %.2f" % (len(speeds), len(rows), product ** (1 / len(speeds))))
    wrong = [r["task"] for r in rows if r.get("error") is not None and not r["error"] <= max(2 * r["eager_error"], 5e-7) or r.get("repeats") is False]
    if wrong:
        print("WRONG: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
