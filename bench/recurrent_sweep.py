"""Forty recurrent networks, Hone's kernels against PyTorch's best (eager or a CUDA graph of it), on the GPU of this machine.

The shapes are drawn once, by the additive quasi-random rule of `shape_of` (irrational steps, so that any forty cover the ranges):
batch 1..128 and hidden 64..1536 log-uniform, 1..4 layers, GRU and LSTM, one and two directions, 256 steps, 128 inputs, float32 at
PyTorch's default precision. Runs are interleaved (eager, graph, Hone, in turns); errors are against float64, PyTorch's own beside.
Where Hone leaves a network to PyTorch, the ratio counts as 1.00.

Usage: recurrent_sweep.py [--shapes N] [--ways cluster,grid,step] [--seconds S] [--json FILE]
With --ways every way that takes a shape is measured, to compare predictions. Exit code 77 without a suitable GPU, 1 when an answer
is wrong or anything is slower than PyTorch.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import statistics
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/end_to_end"))
import recurrent_cuda_test as kernels
import torch

STEPS, INPUTS = 256, 128


def shape_of(i):
    """The i-th network."""
    batch, hidden, layers = ((0.5 + i * a) % 1 for a in ((5**0.5 - 1) / 2, 2**0.5 - 1, 3**0.5 - 1))
    return dict(cell=("GRU", "LSTM")[i % 2], bi=bool(i // 2 % 2), B=round(2 ** (7 * batch)), H=4 * round(16 * 24**hidden), L=1 + int(4 * layers))


def label(shape):
    return "%-4s %s B%-3d H%-4d L%d" % (shape["cell"], "2 dir" if shape["bi"] else "1 dir", shape["B"], shape["H"], shape["L"])


def needed_kernels(runtime, shape, ways, processors=132):
    """(name, macros) of everything that a shape may compile."""
    directions, parts = 2 if shape["bi"] else 1, 1
    found = [("product_tf32", dict(PRODUCTS=1, VECTOR=4))]
    if "cluster" in ways:
        slabs, chained, least = (directions, False, 0) if shape["bi"] else (shape["L"], shape["L"] > 1, 0)
        least = -(-shape["B"] // 8)
        for groups in sorted({least, -(-shape["B"] // 4), -(-shape["B"] // 5)}, reverse=True):
            try:
                chosen = runtime._choose_shape(shape["cell"], shape["H"], slabs, chained, -(-shape["B"] // groups), parts)
            except runtime._Unsupported:
                continue
            if slabs * groups * chosen.cluster <= processors or not chained and groups == least:
                found.append(("recurrent_cluster", chosen.macros))
    if "grid" in ways:
        try:
            choice = runtime._choose_grid(shape["cell"], shape["H"], shape["L"], directions, STEPS, shape["B"], parts, processors, 227 * 1024)
            found += [("recurrent_grid", s.macros) for s, _, _ in choice.launches]
        except runtime._Unsupported:
            pass
    if "step" in ways:
        found.append(("recurrent_step", dict(CELL=shape["cell"], **runtime._EXTRA_MACROS)))
    return found


def compile_all(runtime, shapes, ways):
    jobs = {(name, tuple(sorted(macros.items()))): (name, macros) for shape in shapes for name, macros in needed_kernels(runtime, shape, ways)}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda job: next(iter(runtime._images(job[0], runtime._arch(0, job[0]), job[1]))), jobs.values()))
    return len(jobs)


def microseconds(call):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    stop.record()
    stop.synchronize()
    return 1e3 * start.elapsed_time(stop)


def interleaved(calls, seconds):
    """Median microseconds of each, in turns; a turn is a few calls in a row."""
    repeats = {name: max(1, min(20, int(4000 / max(1.0, microseconds(call))))) for name, call in calls.items()}
    times = {name: [] for name in calls}
    began = time.perf_counter()
    while len(times[next(iter(times))]) < 5 or time.perf_counter() - began < seconds:
        for name, call in calls.items():
            times[name].append(microseconds(lambda: [call() for _ in range(repeats[name])]) / repeats[name])
        if time.perf_counter() - began > 4 * seconds + 1:
            break
    return {name: statistics.median(t) for name, t in times.items()}


def graph_of(module, x, state):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        module(x, state)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        module(x, state)
    return graph


def measure(shape, runtimes, seconds):
    module, x, state = kernels.draw_case(T=STEPS, I=INPUTS, stress=True, **shape)
    row = dict(shape)
    with torch.no_grad():
        exact, own = kernels.reference(module, x, state), kernels.flat(module(x, state))
        row["own_error"] = max(kernels.error(a, b) for a, b in zip(own, exact))
        calls, graph = {"eager": lambda: module(x, state)}, graph_of(module, x, state)
        calls["graph"] = graph.replay
        for name, runtime in runtimes.items():
            ours = kernels.adopted(runtime, module)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                runtime._warned.clear()
                answer = kernels.flat(ours(x, state))
            told = [str(w.message) for w in said if "Hone's" in str(w.message)]
            if told:
                row[name] = dict(kept=told[0].split("not used: ")[-1])
                continue
            plan = next(iter(next(iter(runtime._entries[ours].stacks.values())).plans.values()))
            row[name] = dict(way=plan.way, predicted_us=plan.predicted_us, error=max(kernels.error(a, b) for a, b in zip(answer, exact)))
            calls[name] = lambda ours=ours: ours(x, state)
        times = interleaved(calls, seconds)
    row["eager_us"], row["graph_us"] = times["eager"], times["graph"]
    for name in runtimes:
        if name in times:
            row[name]["us"] = times[name]
            row[name]["ratio"] = min(times["eager"], times["graph"]) / times[name]
    return row


def text_of(row, name):
    found, head = row[name], "%s  eager %7.0f  graph %6.0f us" % (label(row), row["eager_us"], row["graph_us"])
    if "kept" in found:
        return "%s  %-8s PyTorch kept (%s)" % (head, name, found["kept"][:90])
    return "%s  %-8s %-7s %6.0f us (predicted %6.0f)  %5.2fx  error %.1e, PyTorch %.1e" % (
        head, name, found["way"], found["us"], found["predicted_us"], found["ratio"], found["error"], row["own_error"])  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", type=int, default=40)
    parser.add_argument("--ways", default="")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--json")
    options = parser.parse_args()
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] < 9:
        print("skipped: no GPU of sm_90 or later")
        return 77
    shapes = [shape_of(i) for i in range(options.shapes)]
    apart = [w for w in options.ways.split(",") if w]
    runtimes = {"Hone": kernels.load_runtime(kernels.WHOLE_RUNTIME), **{way: kernels.load_runtime(kernels.WHOLE_RUNTIME, (way,)) for way in apart}}
    began = time.perf_counter()
    count = compile_all(runtimes["Hone"], shapes, apart or ("cluster", "grid", "step"))
    print("%s, %d kernels in %.0f s" % (torch.cuda.get_device_name(), count, time.perf_counter() - began), flush=True)
    rows, wrong, slower = [], 0, 0
    for shape in shapes:
        try:
            row = measure(shape, runtimes, options.seconds)
        except Exception as e:
            print("%s  FAILED %s: %s" % (label(shape), type(e).__name__, str(e)[:200]), flush=True)
            wrong += 1
            continue
        rows.append(row)
        for name in runtimes:
            print(text_of(row, name), flush=True)
        torch.cuda.empty_cache()
    for name in runtimes:
        ratios = [row[name].get("ratio", 1.0) for row in rows]
        taken = [row[name] for row in rows if "ratio" in row[name]]
        bad = [row for row in rows if "error" in row[name] and not row[name]["error"] <= max(1e-3, 2 * row["own_error"])]
        below = sum(r < 1 for r in ratios)
        if ratios:
            print("%s: %d of %d taken, geomean %.2fx, least %.2fx, most %.2fx, %d slower, %d wrong" % (
                name, len(taken), len(rows), math.exp(statistics.mean(map(math.log, ratios))), min(ratios), max(ratios), below, len(bad)))  # fmt: skip
        if name == "Hone":
            wrong, slower = wrong + len(bad), below
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    return 1 if wrong or slower else 0


if __name__ == "__main__":
    sys.exit(main())
