"""The split product beside PyTorch's float32, its TF32 and a CUDA graph, in one process and in turns, on a Hopper GPU: time, share of what
the tensor cores and the memory allow, error against float64.

Usage: split_gemm.py [--task] [--shapes] [--variants] [--library]     (all of them without a flag)
"""

import argparse
import copy
import importlib.util
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
import split_gemm_test as house

import torch
import torch.nn as nn

DEVICE = "cuda"


def times(contestants, rounds=15, calls=4):
    """Medians in microseconds, in turns."""
    seen = {name: [] for name in contestants}
    with torch.no_grad():
        for call in contestants.values():
            call()
        torch.cuda.synchronize()
        for _ in range(rounds):
            for name, call in contestants.items():
                call()
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                for _ in range(calls):
                    call()
                end.record()
                end.synchronize()
                seen[name].append(begin.elapsed_time(end) * 1e3 / calls)
    return {name: statistics.median(values) for name, values in seen.items()}


def graph_of(call):
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(2):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        call()
    return graph


def in_tf32(call):
    def run():
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            return call()
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return run


def error_text(got, want):
    return "%.2e / %.2e" % house.errors(got, want)


def bench_task(runtime):
    spec = importlib.util.spec_from_file_location("task", ROOT / "tasks/33_VanillaRNN.py")
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    print("33_VanillaRNN: error against float64 (norm / worst), regime by regime")
    for regime in ("plain", "stress"):
        torch.manual_seed(1)
        model = task.Model(*task.get_init_inputs()).to(DEVICE).eval()
        hidden = model.hidden.to(DEVICE)
        x = task.get_inputs()[0].to(DEVICE)
        with torch.no_grad():
            if regime == "stress":
                for layer in (model.i2h, model.h2o):
                    layer.weight.mul_(3**0.5)
                x = torch.randn_like(x)
            model.hidden = hidden
            ours = runtime.adopt(copy.deepcopy(model), ["i2h", "h2o"])
            got, own, low = ours(x, hidden), model(x, hidden), in_tf32(lambda: model(x, hidden))()
            wide = nn.functional.linear(torch.cat((x, hidden), 1).double(), model.i2h.weight.double(), model.i2h.bias.double()).tanh()
            want = nn.functional.linear(wide, model.h2o.weight.double(), model.h2o.bias.double())
            del wide
        print("  %-7s ours %s   PyTorch %s   TF32 %s" % (regime, error_text(got, want), error_text(own, want), error_text(low, want)), flush=True)
        del want, got, own, low
    graph = graph_of(lambda: model(x, hidden))
    own_graph = graph_of(lambda: ours(x, hidden))
    torch.cuda.synchronize()
    free = torch.cuda.mem_get_info()[0]
    found = times({"eager": lambda: model(x, hidden), "CUDA graph": graph.replay, "TF32": in_tf32(lambda: model(x, hidden)), "ours": lambda: ours(x, hidden),
                   "ours, CUDA graph": own_graph.replay})  # fmt: skip
    predicted = sum(runtime._launch_for(0, 256, m.out_features, m.in_features).us for m in (ours.i2h, ours.h2o))
    flops = 3 * 2 * 256 * sum(m.weight.numel() for m in (ours.i2h, ours.h2o))
    for name, us in found.items():
        print("  %-18s %8.1f us   %.2fx of the CUDA graph" % (name, us, found["CUDA graph"] / us))
    print("  predicted %.0f us; %.0f TFLOP/s of fp16 in all; %.1f GB free" % (predicted, flops / found["ours"] / 1e6, free / 1e9), flush=True)


def bench_shapes(runtime):
    plain = house.load_runtime()  # `runtime` takes everything, this one what it expects to be faster at
    print("rows units width | eager us, ours us, ratio, ours in a CUDA graph us, TF32 us | predicted us | error ours, PyTorch")
    for rows, units, width in ((32, 8192, 16384), (64, 4096, 4096), (64, 8192, 16384), (128, 4096, 4096), (200, 5000, 3001), (256, 1024, 1024),
                               (256, 4096, 4096), (512, 4096, 1024), (1024, 1024, 1024), (1024, 4096, 4096), (4096, 4096, 4096), (16384, 1024, 1024)):  # fmt: skip
        module, x = house.draw(units, width, (rows,), "stress")
        ours = house.adopted(runtime, module)
        with torch.no_grad():
            got, own, want = ours(x), module(x), nn.functional.linear(x.double(), module.weight.double(), module.bias.double())
        graph = graph_of(lambda: ours(x))
        found = times({"eager": lambda: module(x), "ours": lambda: ours(x), "graph": graph.replay, "tf32": in_tf32(lambda: module(x))}, rounds=11)
        launch = plain._launch_for(0, rows, units, width)
        print("%5d %5d %5d | %7.1f %7.1f %5.2f %7.1f %7.1f | %7.1f (PyTorch %7.1f), %d parts | %s, %s" % (
            rows, units, width, found["eager"], found["ours"], found["eager"] / found["ours"], found["graph"], found["tf32"], launch.us,
            launch.pytorch_us, launch.splits, error_text(got, want), error_text(own, want)), flush=True)  # fmt: skip


def bench_variants(_):
    """Clusters, in the shape of 33_VanillaRNN's first layer."""
    rows, units, width = 256, 16384, 32768
    module, x = house.draw(units, width, (rows,), "stress", bias=False)
    with torch.no_grad():
        want = x.double() @ module.weight.double().t()
    contestants = {}
    for cluster in ((1, 2), (2, 1), (1, 1), (2, 2)):
        runtime = house.always(house.load_runtime())
        runtime._launch_for(0, rows, units, width).cluster = cluster
        name = "%d x %d CTAs share what they read of w x of x" % cluster
        ours = house.adopted(runtime, module)
        contestants[name] = lambda m=ours: m(x)
    contestants["PyTorch"] = lambda: module(x)
    found = times(contestants, rounds=9, calls=3)
    for name, us in found.items():
        with torch.no_grad():
            print("  %-62s %7.1f us %5.0f TFLOP/s  %s" % (name, us, 6 * rows * units * width / us / 1e6, error_text(contestants[name](), want)), flush=True)


def bench_library(_):
    """What cuBLAS gives for the same three products: in one call, and with k in pieces that are added up in float32."""
    rows, units, width = 256, 16384, 32768
    module, x = house.draw(units, width, (rows,), "stress", bias=False)
    weight = module.weight.detach() * 2**16
    want = x.double() @ weight.double().t()
    terms = lambda m: (m.half(), (m - m.half().float()).half())
    (xh, xl), (wh, wl) = terms(x), terms(weight)
    wide_x, wide_w = torch.cat((xl, xh, xh), 1), torch.cat((wh, wl, wh), 1)
    one = lambda: torch.mm(wide_x, wide_w.t(), out_dtype=torch.float32)

    def pieces(depth):
        total = None
        for k in range(0, width, depth):
            for a, b in ((xl, wh), (xh, wl), (xh, wh)):
                part = torch.mm(a[:, k : k + depth], b[:, k : k + depth].t(), out_dtype=torch.float32)
                total = part if total is None else total.add_(part)
        return total

    contestants = {"cuBLAS, one call": one, **{"cuBLAS, pieces of %d" % d: (lambda d=d: pieces(d)) for d in (256, 1024, 4096)}}
    found = times(contestants, rounds=5, calls=2)
    for name, us in found.items():
        print("  %-62s %7.1f us %5.0f TFLOP/s  %s" % (name, us, 6 * rows * units * width / us / 1e6, error_text(contestants[name](), want)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parts = {"variants": bench_variants, "library": bench_library, "shapes": bench_shapes, "task": bench_task}
    for name in parts:
        parser.add_argument("--" + name, action="store_true")
    options = vars(parser.parse_args())
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("skipped: no GPU of sm_90")
        return 77
    print(torch.cuda.get_device_name(), torch.__version__)
    for name, part in parts.items():
        if options[name] or not any(options.values()):
            part(house.always(house.load_runtime()))
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
