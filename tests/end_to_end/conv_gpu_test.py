"""Convolutions of cuda/fused_graph on a Hopper GPU against float64: odd shapes with every tile that conv_product has, hard numbers, and that answers repeat.

Usage: conv_gpu_test.py
Exit code 1 when anything failed, 77 without torch or a suitable GPU.
"""

import sys
import types

import torch_python

torch_python.need_torch()
import torch

import conv_cases
import runtime_text

TILES = [dict(), dict(direct=True), dict(precise=True)]
WRONG = []


def runtime():
    module = types.ModuleType("convolution_runtime")
    exec(compile(runtime_text.runtime_text(runtime_text.CONVOLUTION), "convolution_runtime.py", "exec"), module.__dict__)
    return module


def error(got, want):
    if got.shape != want.shape or not bool(torch.isfinite(got).all()):
        return float("inf")
    return float((got.double() - want).norm() / want.norm().clamp_min(1e-300))


def each(settings, name, filler, axes):
    value = settings.get(name, filler)
    return (value,) * axes if isinstance(value, int) else tuple(value)


def made_for(module, x, w, shape, settings, transposed):
    axes = x.dim() - 2
    four = [each(settings, *pair, axes) for pair in (("stride", 1), ("padding", 0), ("dilation", 1))]
    if not transposed and settings.get("groups", 1) == x.shape[1] > 1 and axes == 2:
        made = module._Depthwise(tuple(x.shape), tuple(shape), tuple(w.shape[2:]), *four)
        return made, lambda x, w, b: made(0, module._raw_stream(0), x, w, b, lambda: None)
    made = module._Convolution(tuple(x.shape), tuple(shape), tuple(w.shape[2:]), *four, settings.get("groups", 1), transposed)
    return made, None


def run(module, made, packed, x, w, b):
    return made(0, module._raw_stream(0), x, w, b, packed, lambda: (_ for _ in ()).throw(AssertionError("left to PyTorch")))


def check_shapes(module, tiles):
    worst = 0.0
    for transposed, cases in ((False, conv_cases.CASES + conv_cases.DEPTHWISE), (True, conv_cases.TRANSPOSED)):
        for label, x, w, settings in cases:
            torch.manual_seed(0)
            x, w = torch.randn(x, device="cuda"), torch.randn(w, device="cuda")
            call = conv_cases.functional(x, transposed)
            bias = torch.randn(w.shape[1] * settings.get("groups", 1) if transposed else w.shape[0], device="cuda")
            want = call(x.double(), w.double(), bias.double(), **settings)
            made, direct = made_for(module, x, w, want.shape, settings, transposed)
            for tile in [None] if direct else [t for t in tiles if not t.get("direct") or made.geometry.regular]:
                try:
                    if direct:
                        got = direct(x, w, bias)
                    else:
                        made.tile = made.tile_for(**{"precise": False, **tile})
                        made.precise = made.tile.precise
                        got = run(module, made, made.pack(0, w), x, w, bias)
                    torch.cuda.synchronize()
                    e = error(got, want)
                except module._Unsupported as failure:
                    print("  refused  %s %s: %s" % (label, tile, str(failure)[:300]), flush=True)
                    continue
                worst = max(worst, e)
                if not e < (1e-6 if direct or tile.get("precise") else 6e-4):
                    WRONG.append((label, tile))
                    print("  WRONG %s%s %s: %.2e" % ("transposed " if transposed else "", label, tile, e), flush=True)
    print("shapes: worst error %.2e, %d wrong" % (worst, len(WRONG)), flush=True)


def expect(condition, what):
    if not condition:
        WRONG.append(what)
        print("  WRONG " + what, flush=True)


def check_numbers(module):
    """Scales that differ from the preset, NaN and infinities, and answers that repeat bit by bit."""
    torch.manual_seed(1)
    x, w = torch.randn(4, 40, 33, 35, device="cuda"), torch.randn(70, 40, 3, 3, device="cuda")
    for choice in (dict(direct=False), dict(direct=True), dict(precise=True)):
        for by_x, by_w in ((1.0, 1.0), (2.0**90, 2.0**20), (2.0**-60, 2.0**-60), (0.0, 1.0), (1.0, 0.0)):
            made, _ = made_for(module, x, w, (4, 70, 33, 35), dict(padding=1), False)
            made.tile = made.tile_for(**{"precise": False, **choice})
            made.precise = made.tile.precise
            packed, scaled = made.pack(0, w * by_w), x * by_x
            got = run(module, made, packed, scaled, w * by_w, None)
            want = torch.nn.functional.conv2d(scaled.double(), (w * by_w).double(), padding=1)
            expect(error(got, want) < (1e-6 if made.precise else 6e-4), "x * %g, w * %g, %s" % (by_x, by_w, choice))
            expect(all(torch.equal(got, run(module, made, packed, scaled, w * by_w, None)) for _ in range(20)), "answers differ, %s" % choice)
        hurt = x.clone()
        hurt[0, 3, 4, 4], hurt[1, 0, 0, 0] = float("inf"), float("nan")
        got, own = run(module, made, made.pack(0, w), hurt, w, None), torch.nn.functional.conv2d(hurt, w, padding=1)
        expect(torch.equal(got.isfinite(), own.isfinite()), "NaN or infinities stand elsewhere, %s" % choice)


def check_left(module):
    """Where PyTorch must not round to TF32, it runs."""
    x, w = torch.randn(1, 8, 9, 9, device="cuda"), torch.randn(8, 8, 3, 3, device="cuda")
    made, _ = made_for(module, x, w, (1, 8, 7, 7), {}, False)
    made.tile, made.precise = made.tile_for(False), False
    allowed, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
    try:
        expect(made(0, module._raw_stream(0), x, w, None, made.pack(0, w), lambda: "PyTorch") == "PyTorch", "TF32 is off, and the kernels ran")
    finally:
        torch.backends.cudnn.allow_tf32 = allowed


def main():
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9:
        print("skipped: there is no Hopper GPU")
        return 77
    torch.set_grad_enabled(False)
    module = runtime()
    check_shapes(module, TILES)
    check_numbers(module)
    check_left(module)
    print("%d wrong" % len(WRONG))
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
