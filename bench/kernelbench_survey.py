"""How the expert does over a folder of tasks (KernelBench's levels) on one GPU: every proposal is run, compared with float64 and timed beside PyTorch.

It is not the judge. Nothing here defends against a candidate that cheats, inputs of timed calls are the same, small tasks find theirs in the cache, there
is one draw of inputs and one set of weights, and torch.compile is a baseline only for tasks named with --compile. What it says is where to look.

    kernelbench_survey.py prepare FOLDER DIR --tool hone_expert_tool [--only WORD]    needs no GPU: captures the graphs (from fake tensors), writes DIR/TASK/
    kernelbench_survey.py run DIR --results FILE [--only REGEX] [--minutes 8]         on the GPU; goes on where FILE ends
    kernelbench_survey.py table DIR --results FILE [--md FILE]

`run` first calls every proposal once, many processes at a time, so that kernels are compiled on all cores ($HONE_KERNEL_CACHE keeps them). Then one task after
the other has the GPU for itself. Processes are forked from one that has imported torch and not touched CUDA. FILE has one JSON object a line.

Errors are ||y - y64|| / ||y64||, the worst over all outputs. The limit is the judge's: twice PyTorch's own error, at least 4 ulp of the dtype. Where inputs
and outputs share their first axis and the module has convolutions, float64 is computed for the first samples only. Times are medians: "us" of calls
back to back by device events, "host_us" of one call after the other by the host's clock, each with a wait.
"""

import argparse
import contextlib
import fcntl
import gc
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import traceback
import warnings

import torch

from kernelbench_tasks import apart, build, capture_one, load, order, tasks_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEVICE = "cuda"
CEILINGS = {"memory_bytes_per_s": 4.3e12, "cache_bytes_per_s": 8e12, "float64_flops_per_s": 6e13, "float32_flops_per_s": 5.1e13, "tf32_flops_per_s": 4e14, "bfloat16_flops_per_s": 7.9e14, "float16_flops_per_s": 7.9e14}  # of an H200, for floors
MACHINE = {"cores": 16, "threads": 16, "sm": 90, "torch": "2.11.0", "nvcc": True, "nvrtc": True, "gxx": True, "has_triton": True, "has_compile": True, "device": "cuda", "limit": 4.8e-7}
LEFT_OUT = ("triton/", "library/compile", "library/cuda_graph", "library/tf32")  # no kernels, or a baseline here
SAMPLES = 2  # of a batch that are computed in float64
REPEATS = 10


# ---- prepare: on a machine without a GPU


def uniform_weights(model):
    """What the weights of norms are as they are built: fake tensors have no values."""
    known = {}
    for module in model.modules():
        for name, number in (("weight", 1.0), ("running_var", 1.0), ("bias", 0.0), ("running_mean", 0.0)):
            tensor = getattr(module, name, None)
            if isinstance(tensor, torch.Tensor) and re.search(r"Norm", type(module).__name__) and type(module).__module__.startswith("torch."):
                known[id(tensor)] = number
    return known


def captured(path):
    """{"graph", "why_no_graph", "card"} of a task."""
    import hone_card
    import hone_graph
    from torch._subclasses.fake_tensor import FakeTensorMode

    found = {"why_no_graph": "", "card": {}}
    task = load(path)

    def attempt(real):
        scope = contextlib.nullcontext() if real else FakeTensorMode(allow_non_fake_inputs=True)
        with scope, torch.no_grad():
            model, inputs = build(task, task.Model), task.get_inputs()
        if not real:
            known = uniform_weights(model)
            hone_graph._uniform = lambda tensor: known.get(id(tensor))
        with torch.no_grad():
            graph = hone_graph.capture(model, inputs)
        if re.search(r"\btri[lu]\(", path.read_text()) and not list(model.parameters()):
            hone_graph.mark_triangles(graph, [task.get_inputs(), task.get_inputs()])
        on_gpu = json.dumps(graph).replace('{"device": "cpu"}', '{"device": "cuda:0"}')  # where the inputs and weights will be
        found["graph"] = {**json.loads(on_gpu), "verified": True}
        return model, inputs, scope

    try:
        model, inputs, scope = attempt(False)
        try:
            with scope, torch.no_grad():
                found["card"] = hone_card.card(model, inputs)
        except Exception:
            pass
    except Exception as error:
        found["why_no_graph"] = str(error).split("\n")[0]
        try:
            if not isinstance(error, hone_graph.Declined):
                attempt(True)
        except Exception as second:
            found["why_no_graph"] = str(second).split("\n")[0]
    recurrent = any(isinstance(m, (torch.nn.RNNBase, torch.nn.RNNCellBase)) for m in (model.modules() if "graph" in found and "model" in locals() else []))
    if recurrent or not found["card"]:  # facts about recurrent modules come from a call
        with torch.no_grad():
            found["card"] = hone_card.card(build(task, task.Model), task.get_inputs())
    return found


def prepare(options):
    sys.path.insert(0, str(ROOT / "worker"))
    import hone_card  # noqa: F401  once for all processes

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    capture_one()
    for path in tasks_of(options.folder, re.compile(options.only).search):
        folder = options.dir / ("%s_%s" % (path.parent.name, path.stem))
        kept = folder / "inputs.json"
        if kept.exists() and not options.again:
            inputs = json.loads(kept.read_text())
        else:
            found, why = apart(lambda: captured(path), 240)
            if why:
                found = {"why_no_graph": why, "card": {}}
            folder.mkdir(parents=True, exist_ok=True)
            inputs = {"device": "cuda", "target": "cuda", "counts_from_graph": True, "tf32": True, "ceilings": CEILINGS, "facts": found["card"], **found}
        inputs.update(machine=MACHINE, task=str(path))
        kept.write_text(json.dumps(inputs))
        (folder / "task.py").write_text(path.read_text())
        for old in folder.glob("out/*"):
            old.unlink()
        done = subprocess.run([options.tool, str(kept), str(folder / "out")], capture_output=True, text=True)
        if done.returncode:
            print("%s: %s" % (folder.name, done.stderr.strip() or "the expert died (%d)" % done.returncode))
            continue
        answer = json.loads((folder / "out" / "answer.json").read_text())
        for proposal in answer.get("proposals", []):
            if proposal["recipe"].startswith(LEFT_OUT):
                (folder / "out" / proposal["file"]).unlink()
        print("%s: %s" % (folder.name, "; ".join("%s %.0f us (%s)" % (p["recipe"], p["predicted_us"], p["title"]) for p in answer.get("proposals", []) if not p["recipe"].startswith(LEFT_OUT)) or "nothing: " + "; ".join("%(recipe)s: %(why)s" % d for d in answer["declined"] if d["recipe"].startswith("cuda/fused_graph"))), flush=True)


# ---- run: on the GPU


def tensors(value):
    return [t for v in value for t in tensors(v)] if isinstance(value, (tuple, list)) else tensors(list(value.values())) if isinstance(value, dict) else [value] if isinstance(value, torch.Tensor) else []


def drawn(task):
    with torch.device(DEVICE):
        inputs = task.get_inputs()
    return [value.to(DEVICE) if isinstance(value, torch.Tensor) else value for value in inputs]


def made(task, module_class):
    with torch.device(DEVICE):
        return build(task, module_class).to(DEVICE)


class Sheet:
    """The results, a line each, written at once."""

    def __init__(self, path, task):
        self.path, self.task = path, task

    def add(self, **row):
        with open(self.path, "a") as out:
            out.write(json.dumps({"task": self.task, **row}) + "\n")


def times(call, seconds):
    """(microseconds of calls back to back, of a call between waits)."""
    event = lambda: torch.cuda.Event(enable_timing=True)
    call()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    call()
    torch.cuda.synchronize()
    once = max(1e-6, time.perf_counter() - begun)
    block = max(1, min(200, int(0.004 / once)))
    back, alone, end = [], [], time.perf_counter() + seconds
    while len(back) < 5 or len(back) < 30 and time.perf_counter() < end:
        start, stop = event(), event()
        start.record()
        for _ in range(block):
            call()
        stop.record()
        stop.synchronize()
        back.append(1000 * start.elapsed_time(stop) / block)
    end = time.perf_counter() + seconds / 2
    while len(alone) < 5 or len(alone) < 50 and time.perf_counter() < end:
        begun = time.perf_counter()
        call()
        torch.cuda.synchronize()
        alone.append(1e6 * (time.perf_counter() - begun))
    middle = lambda values: round(sorted(values)[len(values) // 2], 2)
    return middle(back), middle(alone)


def graphed(model, inputs):
    """The module as a CUDA graph, as the judge's baseline: inputs are copied in."""
    static = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(*static)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(*static)

    def call():
        for slot, value in zip(static, inputs):
            if isinstance(value, torch.Tensor):
                slot.copy_(value)
        graph.replay()
        return out

    return call


class Truth:
    """float64 answers; of a few samples where the module has convolutions and works sample by sample."""

    def __init__(self, model, inputs, answer):
        self.samples, leaves = None, tensors(answer)
        batches = {t.shape[0] if t.dim() else None for t in [*tensors(list(inputs)), *leaves]}
        if len(batches) == 1 and None not in batches and max(batches) > SAMPLES and any(isinstance(m, torch.nn.modules.conv._ConvNd) for m in model.modules()):
            few = [value[:SAMPLES] if isinstance(value, torch.Tensor) else value for value in inputs]
            alike = all(float((a - b[:SAMPLES]).double().norm()) <= 1e-2 * float(a.double().norm()) for a, b in zip(tensors(model(*few)), leaves))
            if alike:
                self.samples, inputs = SAMPLES, few
        double = model.double()
        try:
            self.leaves = tensors(double(*[v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in inputs]))
        finally:
            model.float()

    def errors(self, answer):
        """(relative error, worst element's error over the norm's mean) of an answer, both infinite where it has another form."""
        leaves, worst, element = tensors(answer), 0.0, 0.0
        if len(leaves) != len(self.leaves):
            return math.inf, math.inf
        for got, want in zip(leaves, self.leaves):
            got = got[: self.samples] if self.samples else got
            if got.shape != want.shape:
                return math.inf, math.inf
            if not want.is_floating_point():
                worst = max(worst, float((got != want).double().mean()))
                continue
            scale = float(want.norm()) or 1e-300
            away = got.double() - want
            error = float(away.norm()) / scale
            worst = max(worst, error if error == error else math.inf)
            element = max(element, float(away.abs().max()) / (scale / math.sqrt(max(1, want.numel()))))
        return worst, element


def same(a, b):
    return all(x.dtype == y.dtype and x.shape == y.shape and torch.equal(x.contiguous().view(-1).view(torch.uint8), y.contiguous().view(-1).view(torch.uint8)) for x, y in zip(tensors(a), tensors(b)))


def candidates(folder):
    answer = json.loads((folder / "out" / "answer.json").read_text())
    return [(p["recipe"], folder / "out" / p["file"], p) for p in answer.get("proposals", []) if (folder / "out" / p["file"]).exists()]


def warm(folder, options):
    """Every proposal once, for its kernels."""
    task = load(folder / "task.py")
    with torch.no_grad():
        inputs = drawn(task)
        for recipe, path, _ in candidates(folder):
            if not recipe.startswith("cuda/"):
                continue
            try:
                made(task, load(path, path.stem).ModelNew)(*inputs)
                torch.cuda.synchronize()
            except Exception:
                traceback.print_exc()
            gc.collect()
            torch.cuda.empty_cache()


def measure(folder, options, ready):
    sheet = Sheet(options.results, folder.name)
    torch.zeros(1, device=DEVICE)
    task, files = load(folder / "task.py"), []
    for recipe, path, about in candidates(folder):
        if not re.search(options.recipes, recipe):
            continue
        try:
            files.append((recipe, load(path, path.stem).ModelNew, about))
        except Exception as error:
            sheet.add(what="proposal", recipe=recipe, failed="import: %s" % error)
    ready()
    with torch.no_grad():
        torch.manual_seed(1)
        model, inputs = made(task, task.Model), drawn(task)
        answer = model(*inputs)
        eager = times(lambda: model(*inputs), options.spell)
        row = {"eager_us": eager[0], "eager_host_us": eager[1], "equal": same(answer, model(*inputs))}
        try:
            call = graphed(model, inputs)
            row["graph_us"], row["graph_host_us"] = times(call, options.spell)
            del call
        except Exception as error:
            torch.cuda.synchronize()
            row["no_graph"] = str(error).split("\n")[0][:200]
        if options.compile and re.search(options.compile, folder.name):
            try:
                compiled = torch.compile(model)
                compiled(*inputs)
                row["compile_us"], row["compile_host_us"] = times(lambda: compiled(*inputs), options.spell)
            except Exception as error:
                row["no_compile"] = str(error).split("\n")[0][:200]
        gc.collect()
        torch.cuda.empty_cache()
        sheet.add(what="pytorch", **row)
        state = {name: value.clone() for name, value in model.state_dict().items()}
        truth = None
        try:
            truth = Truth(model, inputs, answer)
            error, element = truth.errors(answer)
            sheet.add(what="truth", error=error, element=element, samples=truth.samples, limit=max(2 * error, 4 * max(torch.finfo(t.dtype).eps if t.is_floating_point() else 0 for t in tensors(answer))))
        except Exception as problem:
            sheet.add(what="truth", failed=str(problem).split("\n")[0][:200])
        del model
        gc.collect()
        torch.cuda.empty_cache()
        for recipe, module_class, about in files:
            row = {"predicted_us": about["predicted_us"]}
            try:
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    new = made(task, module_class)
                    new.load_state_dict(state)
                    begun = time.perf_counter()
                    got = new(*inputs)
                    torch.cuda.synchronize()
                    row["first_s"] = round(time.perf_counter() - begun, 2)
                    if isinstance(got, torch.Tensor):
                        got = got.clone()
                    row["us"], row["host_us"] = times(lambda: new(*inputs), options.spell)
                    row["equal"] = sum(not same(got, new(*inputs)) for _ in range(REPEATS))
                row["said"] = [str(w.message)[:300] for w in said if "Hone" in str(w.message)]
                if truth is not None:
                    row["error"], row["element"] = truth.errors(got)
                else:
                    row["off_eager"] = max(float((a.double() - b.double()).norm() / b.double().norm()) for a, b in zip(tensors(got), tensors(answer)))
                del got, new
            except Exception as problem:
                traceback.print_exc()
                row["failed"] = "%s: %s" % (type(problem).__name__, str(problem).split("\n")[0][:200])
            sheet.add(what="proposal", recipe=recipe, **row)
            gc.collect()
            torch.cuda.empty_cache()
    sheet.add(what="done", seconds=round(time.time() - ready.at, 1))


def copy_rate(folder, options, ready):
    """What a plain copy reaches, read and written."""
    ready()
    a = torch.empty(1 << 30, dtype=torch.int32, device=DEVICE)
    b = torch.empty_like(a)
    us = times(lambda: b.copy_(a), options.spell)[0]
    Sheet(options.results, folder.name).add(what="copy", tb_per_s=round(2 * a.numel() * 4 / us / 1e6, 3))


class Ready:
    """Waits until the GPU is free; the parent reads from the pipe when that was."""

    def __init__(self, lock, pipe):
        self.lock, self.pipe, self.at = lock, pipe, time.time()

    def __call__(self):
        self.held = open(self.lock, "w")
        fcntl.flock(self.held, fcntl.LOCK_EX)
        self.at = time.time()
        os.write(self.pipe, b"!")


class Child:
    def __init__(self, folder, work, options, seconds):
        self.folder, self.seconds, self.started, self.has_gpu = folder, seconds, time.time(), None
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            log = os.open(str(options.results) + ".log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(reader)
            try:
                work(folder, options, Ready(str(options.results) + ".lock", writer)) if work is not warm else work(folder, options)
            except BaseException as error:
                print("%s:" % folder.name)
                traceback.print_exc()
                Sheet(options.results, folder.name).add(what="warm" if work is warm else "failed", why="%s: %s" % (type(error).__name__, str(error).split("\n")[0][:300]))
            sys.stdout.flush()
            os._exit(0)
        os.close(writer)
        os.set_blocking(reader, False)
        self.reader = reader

    def ended(self):
        """None, "" or why it ended."""
        if self.has_gpu is None:
            with contextlib.suppress(BlockingIOError):
                if os.read(self.reader, 1):
                    self.has_gpu = time.time()
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            os.close(self.reader)
            return "" if status == 0 else "it died (%s)" % status
        since = self.has_gpu or self.started + 60
        if time.time() - since > self.seconds:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.reader)
            return "it took more than %d s" % self.seconds
        return None


def bytes_of(folder):
    """About what a first call takes of the device's memory."""
    inputs = json.loads((folder / "inputs.json").read_text())
    size = lambda value: math.prod(value["shape"]) * (8 if "64" in value["dtype"] else 4)
    graph = inputs.get("graph") or {"values": [], "nodes": []}
    made_ = [size(r) for node in graph["nodes"] for r in node["results"] if "shape" in r]
    return 2e9 + 2 * sum(size(v) for v in graph["values"] if "shape" in v) + 4 * max(made_ or [1e9])


def run(options):
    begun = time.time()
    finished = {row["task"] for row in rows_of(options.results) if row["what"] in ("done", "failed")}
    folders = sorted((f for f in options.dir.iterdir() if (f / "out" / "answer.json").exists() and re.search(options.only, f.name) and f.name not in finished), key=order)
    folders.sort(key=lambda f: (not f.name.startswith("level3"), bool(re.search("RNN|GRU|LSTM", f.name))))
    waiting, running = [] if options.no_warm else list(folders), []
    taken = lambda: sum(bytes_of(c.folder) for c in running)
    while waiting or running:
        while waiting and len(running) < options.jobs:
            room = options.memory - taken()
            fits = next((f for f in waiting if bytes_of(f) < room or not running), None)
            if fits is None:
                break
            waiting.remove(fits)
            running.append(Child(fits, warm, options, 90))
        for child in list(running):
            if (why := child.ended()) is not None:
                running.remove(child)
                if why:
                    Sheet(options.results, child.folder.name).add(what="warm", why=why)
        time.sleep(0.02)
    print("kernels are compiled after %.0f s" % (time.time() - begun), flush=True)
    end, waiting, running = begun + 60 * options.minutes, list(folders), [Child(pathlib.Path("copy"), copy_rate, options, 30)]
    while waiting or running:
        if waiting and time.time() > end - 5:
            print("no time left for %d tasks" % len(waiting))
            waiting = []
        while waiting and len(running) < 2:
            running.append(Child(waiting.pop(0), measure, options, options.task_seconds))
        for child in list(running):
            if (why := child.ended()) is not None:
                running.remove(child)
                if why:
                    Sheet(options.results, child.folder.name).add(what="failed", why=why)
        time.sleep(0.005)
    print("%d tasks after %.0f s" % (len(folders), time.time() - begun))


# ---- table


def rows_of(path):
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            rows.append(json.loads(line))
    return rows


class Line:
    """What is known of one task."""

    def __init__(self, folder, rows):
        self.name = folder.name
        self.level, self.stem = folder.name.split("_", 1)
        self.answer = json.loads((folder / "out" / "answer.json").read_text())
        self.pytorch = next((r for r in rows if r["what"] == "pytorch"), None)
        self.truth = next((r for r in rows if r["what"] == "truth"), {})
        self.proposals = [r for r in rows if r["what"] == "proposal"]
        self.trouble = "; ".join(r["why"] for r in rows if r["what"] == "failed")
        self.measured = self.pytorch is not None
        self.best_us, self.baseline = min((self.pytorch[k + "_us"], k) for k in ("eager", "graph", "compile") if k + "_us" in self.pytorch) if self.measured else (None, "")
        self.right = [p for p in self.proposals if not self.fault(p)]
        self.best = min(self.right, key=lambda p: p["us"], default=None)
        self.ratio = self.best_us / self.best["us"] if self.best and self.measured else None
        self.counted = max(1.0, self.ratio or 1.0)
        self.floor_us = self.answer.get("card", {}).get("floor_us") or None

    def fault(self, p):
        if p.get("failed"):
            return "failed: " + p["failed"]
        if p.get("said"):
            return "fell back: " + p["said"][0]
        if p.get("equal"):
            return "%d of %d repeats differ" % (p["equal"], REPEATS)
        if "error" in p and "limit" in self.truth and not p["error"] <= self.truth["limit"]:
            return "error %.1e over the limit %.1e" % (p["error"], self.truth["limit"])
        return ""

    def notes(self):
        said = [self.trouble] if self.trouble else []
        said += ["%s: %s" % (p["recipe"], self.fault(p)) for p in self.proposals if self.fault(p)]
        if not self.proposals and self.measured and not self.trouble:
            said += ["%s: %s" % (d["recipe"], d["why"]) for d in self.answer.get("declined", []) if d["recipe"] == "cuda/fused_graph"]
        if self.pytorch and not self.pytorch["equal"]:
            said.append("PyTorch's own answers differ")
        if "failed" in self.truth:
            said.append("no float64: " + self.truth["failed"])
        return "; ".join(said)

    def markdown(self):
        ms = lambda us: "-" if us is None else "%.3f" % (us / 1000) if us < 10000 else "%.1f" % (us / 1000)
        best = self.best
        error = "-" if best is None or "error" not in best else "%.1e / %.1e" % (best["error"], self.truth.get("limit", math.nan))
        share = "-" if best is None or not self.floor_us else "%.0f%%" % (100 * self.floor_us / best["us"])
        return "| %s | %s | %s | %s %s | %s | %s | %s | %s | %s |" % (
            self.stem[:60], best["recipe"] if best else "-", ms(best and best["us"]), ms(self.best_us), self.baseline,
            "%.2fx" % self.ratio if self.ratio else "-", ms(self.floor_us), share, error, self.notes().replace("|", "/")[:260])  # fmt: skip


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


def table(options):
    by_task = {}
    rate = next((row["tb_per_s"] for row in rows_of(options.results) if row["what"] == "copy"), None)
    for row in rows_of(options.results):
        by_task.setdefault(row["task"], []).append(row)
    lines = [Line(f, by_task.get(f.name, [])) for f in sorted(options.dir.iterdir(), key=order) if (f / "out" / "answer.json").exists()]
    text = []
    for level in sorted({line.level for line in lines}):
        mine = [line for line in lines if line.level == level]
        text += ["", "## %s" % level, "%d tasks, %d measured; geometric mean over the best of eager and CUDA graph %.2fx with slower ones as 1.0; %d faster than 1.05x, %d with nothing right to show." % (
            len(mine), sum(line.measured for line in mine), geomean([line.counted for line in mine]), sum(line.counted > 1.05 for line in mine), sum(line.best is None for line in mine)), ""]  # fmt: skip
        text += ["| task | best recipe | ms | PyTorch's best, ms | speed-up | floor, ms | of the floor | error / limit | notes |", "|---|---|---|---|---|---|---|---|---|"]
        text += [line.markdown() for line in mine]
    head = ["# KernelBench's tasks on one H200 (`bench/kernelbench_survey.py`)", "",
            "This is the survey, not the judge: every proposal of the expert, compared with float64 and timed beside eager and a CUDA graph of it (no torch.compile), one draw of inputs. The best recipe is the fastest whose error is within the",
            "judge's limit and whose %d repeats are equal bit by bit. \"Of the floor\": the least time by bytes and FLOPs (docs/GRAPH.md, Cost) over the time. A task for which nothing was right or faster counts as 1.0." % REPEATS]  # fmt: skip
    if rate:
        head.append("A copy of 4 GB reached %.2f TB/s in the same run (read and written)." % rate)
    print("\n".join(head + text))
    if options.md:
        options.md.write_text("\n".join(head + text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("prepare")
    one.add_argument("folder", type=pathlib.Path)
    one.add_argument("dir", type=pathlib.Path)
    one.add_argument("--tool", required=True)
    one.add_argument("--again", action="store_true", help="capture the graphs again")
    two = verbs.add_parser("run")
    two.add_argument("dir", type=pathlib.Path)
    two.add_argument("--recipes", default="", help="a regular expression")
    two.add_argument("--compile", default="", help="tasks for which torch.compile is a baseline")
    two.add_argument("--minutes", type=float, default=8)
    two.add_argument("--task-seconds", type=float, default=15)
    two.add_argument("--spell", type=float, default=0.1, help="seconds of one series of timed calls")
    two.add_argument("--jobs", type=int, default=14, help="processes that compile")
    two.add_argument("--memory", type=float, default=110e9, help="of the device, for them together")
    two.add_argument("--no-warm", action="store_true")
    three = verbs.add_parser("table")
    three.add_argument("dir", type=pathlib.Path)
    three.add_argument("--md", type=pathlib.Path)
    for verb in (one, two):
        verb.add_argument("--only", default="", help="a regular expression")
    for verb in (two, three):
        verb.add_argument("--results", type=pathlib.Path, required=True)
    options = parser.parse_args()
    {"prepare": prepare, "run": run, "table": table}[options.verb](options)


if __name__ == "__main__":
    main()
