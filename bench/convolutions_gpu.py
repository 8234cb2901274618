"""Convolutions of cuda/fused_graph on a Hopper GPU: checks odd shapes and those of task files against float64, then times them beside cuDNN.

Usage: convolutions_gpu.py [TASK.py...] [--tiles] [--no-shapes] [--seconds 200]
--tiles times every size of tile that conv_product has. Errors are ||y - y64|| / ||y64||, beside those of PyTorch's own run (TF32). The last lines are
a table: milliseconds of PyTorch, of Hone's kernels (packing the input, the products, all), the least time by bytes. Exit code 1 when an answer is wrong.
"""

import argparse
import importlib.util
import pathlib
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))

import torch

import conv_cases
from conv_gpu_test import TILES, WRONG, check_shapes, error, made_for, run, runtime

BEGAN = time.monotonic()


def timed(call, least=5, budget=0.15):
    for _ in range(2):
        call()
    times, began = [], time.monotonic()
    while len(times) < least or time.monotonic() - began < budget and len(times) < 30:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def convolutions_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    with torch.device("cuda"):
        model = task.Model(*task.get_init_inputs()).eval()
        inputs = [t.cuda() if torch.is_tensor(t) else t for t in task.get_inputs()]
    found = []
    for module in model.modules():
        if isinstance(module, torch.nn.modules.conv._ConvNd):
            module.register_forward_hook(lambda m, given, out: found.append((m, given[0], out.shape)))
    with torch.no_grad():
        model(*inputs)
    return found[:]  # the layers are called again


def measure(module, path, tiles):
    rows = []
    for layer, x, shape in convolutions_of(path):
        w, b, transposed = layer.weight.detach(), None if layer.bias is None else layer.bias.detach(), layer.transposed
        settings = dict(stride=layer.stride, padding=layer.padding, dilation=layer.dilation, groups=layer.groups)
        own = timed(lambda: layer(x))
        call = conv_cases.functional(x, transposed)
        extra = dict(settings, output_padding=layer.output_padding) if transposed else settings
        few = x[:1]
        want = call(few.double(), w.double(), None if b is None else b.double(), **extra)
        torch_error = error(layer(x)[:1], want)
        made, direct = made_for(module, x, w, shape, settings, transposed)
        least = 4 * (x.numel() + shape.numel()) / 4.2e9
        for tile in [None] if direct else [t for t in tiles if not t.get("direct") or made.geometry.regular]:
            label = "%s %s" % (path.stem[:24], " ".join("%s=%s" % item for item in (tile or {}).items()))
            try:
                if direct:
                    go = lambda: direct(x, w, b)
                else:
                    made.tile = made.tile_for(**{"precise": False, **tile})
                    made.precise = made.tile.precise
                    packed = made.pack(0, w)
                    go = lambda: run(module, made, packed, x, w, b)
                out = go()
                e = error(out[:1], want)
                same = torch.equal(out, go())
                del out
                ours, parts = timed(go), []
                if not direct:
                    plan = next(iter(packed.plans.values()))
                    scratch = torch.empty(plan.x_bytes, dtype=torch.uint8, device="cuda")
                    zeroed, out = torch.zeros(4, dtype=torch.int32, device="cuda"), torch.empty(shape, device="cuda")
                    plan.input.at, plan.output.at, plan.packed.value, plan.largest.value = x.data_ptr(), out.data_ptr(), scratch.data_ptr(), zeroed.data_ptr()
                    parts = [timed(lambda: module._driver().launch(c.launch)) for c in plan.calls]
                    del scratch, out
            except Exception as failure:
                traceback.print_exc()
                rows.append("%-48s failed: %s" % (label, str(failure)[:160]))
                continue
            wrong = "" if e <= 2 * torch_error and same else "  WRONG same=%s" % same
            if wrong:
                WRONG.append(label)
            where = " ".join("%.3f" % p for p in parts)
            rows.append("%-48s %7.3f %7.3f %5.2fx  [%s] floor %.3f  error %.1e / %.1e%s" % (label, own, ours, own / ours, where, least, e, torch_error, wrong))
            print(rows[-1], flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*", type=pathlib.Path)
    parser.add_argument("--tiles", action="store_true")
    parser.add_argument("--no-shapes", action="store_true")
    parser.add_argument("--seconds", type=float, default=200)
    options = parser.parse_args()
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("skipped: there is no Hopper GPU")
        return 77
    torch.set_grad_enabled(False)
    module = runtime()
    tiles = TILES if options.tiles else [dict(), dict(precise=True)]
    if not options.no_shapes:
        check_shapes(module, tiles)
    rows = []
    for path in options.tasks:
        if time.monotonic() - BEGAN > options.seconds:
            rows.append("%-48s no time left" % path.stem[:34])
            continue
        try:
            rows += measure(module, path, tiles)
        except Exception as failure:
            traceback.print_exc()
            rows.append("%-48s failed: %s" % (path.stem[:34], str(failure)[:160]))
        torch.cuda.empty_cache()
    print("\n%-48s PyTorch    Hone\n%s" % ("task", "\n".join(rows)))
    print("wrong: %s" % (WRONG or "none"))
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
