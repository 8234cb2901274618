"""What fused kernels (recipe cpu/fused_graph) reach on a CPU, task by task, against the best of eager and torch.compile.

Usage: fused_cpu.py --tool build/release/tests/hone_expert_tool [TASK...] [--seconds 6] [--no-compile] [--json FILE]
Calls are interleaved: each turn runs every way once, on inputs of its own draw, and medians are taken. The floor is the bytes that go in and out once,
over the speed of a copy (torch's own, into memory that is there) of as many bytes, measured in the same turns. Without TASK it runs tasks/memory_*.py.
Each task runs in a process of its own. Exit code 1 when an answer is wrong.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tensors(value):
    return [t for v in value for t in tensors(v)] if isinstance(value, (tuple, list)) else [value]


def worst_error(got, wide):
    worst = 0.0
    for g, w in zip(tensors(got), tensors(wide)):
        if not g.is_floating_point():
            worst = max(worst, 0.0 if g.equal(w) else math.inf)
            continue
        finite = w.isfinite()
        same = bool((g.isfinite() == finite).all())
        worst = max(worst, float((g.double() - w)[finite].norm() / w[finite].norm().clamp_min(1e-30)) if same else math.inf)
    return worst


def measure(options, path):
    """One task, in this process."""
    sys.path.insert(0, str(ROOT / "tests/end_to_end"))
    import torch

    import fused_house

    module = load(path, "task")
    init = module.get_init_inputs()
    torch.manual_seed(0)
    model = module.Model(*init).eval()
    draws = [module.get_inputs() for _ in range(3)]
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        begun = time.time()
        graph = fused_house.graph_of(model, draws[0])
        captured = time.time()
        text, why = fused_house.candidate_text(options.tool, path.read_text(), graph, folder, "cpu")
        written = time.time()
        if text is None:
            return {"task": path.stem, "why": why}
        (folder / "candidate.py").write_text(text)
        candidate = load(folder / "candidate.py", "candidate")
        ours = candidate.ModelNew(*init).eval()
        ours.load_state_dict(model.state_dict())
        got = ours(*draws[0])
        compiled = time.time()
        wide = model.double()(*[x.double() if x.is_floating_point() else x for x in draws[0]])
        model.float()
        answer = {"task": path.stem, "error": worst_error(got, wide), "eager_error": worst_error(model(*draws[0]), wide)}
        answer.update(capture_s=captured - begun, write_s=written - captured, compile_s=compiled - written)
        size = sum(t.numel() * t.element_size() for t in tensors(draws[0]) + tensors(got))
        source = torch.zeros(size // 8, dtype=torch.float32)
        target = torch.zeros_like(source)
        ways = {"copy": lambda *_: target.copy_(source), "eager": model, "ours": ours}
        if not options.no_compile:
            ways["compile"] = torch.compile(model)
        samples = {name: [] for name in ways}
        for way in ways.values():
            for _ in range(3):
                way(*draws[0])
        end, turn = time.time() + options.seconds, 0
        while time.time() < end or turn < 15:
            for name in ways:
                inputs = draws[turn % len(draws)]
                start = time.perf_counter()
                held = ways[name](*inputs)
                samples[name].append(time.perf_counter() - start)
                del held
            turn += 1
        for name, values in samples.items():
            answer[name + "_us"] = 1e6 * sorted(values)[len(values) // 2]
        answer["bytes"], answer["turns"] = size, turn
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--one", action="store_true", help="measure in this process and print JSON")
    parser.add_argument("tasks", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    paths = [path.resolve() for path in options.tasks] or sorted((ROOT / "tasks").glob("memory_*.py"))
    if options.one:
        print(json.dumps(measure(options, paths[0])))
        return 0
    rows = []
    print("%-28s %8s %8s %8s %8s %8s | %7s %6s | %8s %8s" % ("task", "MB", "floor", "eager", "compile", "ours", "vs best", "floor", "error", "eager's"))
    for path in paths:
        command = [sys.executable, __file__, "--tool", os.path.abspath(options.tool), "--seconds", str(options.seconds), "--one", str(path)]
        done = subprocess.run(command + (["--no-compile"] if options.no_compile else []), stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print("%-28s failed" % path.stem)
            rows.append({"task": path.stem, "error": math.inf, "eager_error": 0})
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        rows.append(row)
        if "why" in row:
            print("%-28s %s" % (row["task"], row["why"]))
            continue
        best = min(row["eager_us"], row.get("compile_us", math.inf))
        row["vs_best"], row["of_floor"] = best / row["ours_us"], row["copy_us"] / row["ours_us"]
        times = ["%8.0f" % row[name] if name in row else "%8s" % "-" for name in ("copy_us", "eager_us", "compile_us", "ours_us")]
        print("%-28s %8.1f %s | %6.2fx %5.0f%% | %8.1e %8.1e" % (row["task"], row["bytes"] / 1e6, " ".join(times), row["vs_best"], 100 * row["of_floor"], row["error"], row["eager_error"]), flush=True)
    told = [row["vs_best"] for row in rows if "vs_best" in row]
    if told:
        print("geometric mean against the best: %.2fx, least %.2fx, of the floor %.0f%%" % (
            math.exp(sum(map(math.log, told)) / len(told)), min(told),
            100 * math.exp(sum(math.log(row["of_floor"]) for row in rows if "of_floor" in row) / len(told))))  # fmt: skip
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    return 1 if any(row.get("error", 0) > max(2 * row.get("eager_error", 0), 5e-7) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
