"""Tests products of cuda/fused_graph without a GPU: the kernels that split operands, add up parts and repair run on the host (cuda_on_host.h). A
substitute for the tensor cores multiplies the terms that they wrote, block by block as split_product does. Compared with float64 and PyTorch.

Usage: products_host_test.py --tool hone_expert_tool [--only WORD]
Exit code 1 when an answer is wrong, 77 without torch or g++.
"""

import argparse
import ctypes
import os
import shutil
import sys
import tempfile
import types

import torch_python

torch_python.need_torch()
import torch

import fused_house
import runtime_text
from host_kernels import library_of, memory, wrapped

TILE, DEPTH = 128, 64
ULP = 2.0**-23


# What each kernel's text depends on; the rest is the same for all.
MACROS = {"split_order": ("CLUSTER_M", "CLUSTER_N", "PANEL", "KEPT"), "split_plain": ("KEPT",), "split_softmax": ("SOFTMAX_TURNS",)}
DEFAULTS = {"TILE": TILE, "DEPTH": DEPTH, "COLUMN_BITS": 15, "CLUSTER_M": 1, "CLUSTER_N": 1, "PANEL": 16, "KEPT": 0, "SOFTMAX_TURNS": 1}


def host_source():
    product = runtime_text.included("split_gemm.cu")
    kernel = lambda name: product.rindex('extern "C"', 0, product.index("\n%s(" % name))  # where its declaration begins
    shapes = product[product.index("struct Shape {") : kernel("split_product")]
    sums = product[kernel("split_order") : kernel("split_repair")]
    return wrapped("\n".join((runtime_text.included("part_split_operand.cu"), shapes, sums, runtime_text.included("split_softmax.cu"), runtime_text.included("split_plain.cu"))))


class HostDriver:
    """Receives launches as the CUDA driver does."""

    def __init__(self, folder):
        self.folder, self.entries, self.launched, self.skipped = folder, [], [], 0

    def function(self, device, name, macros, entry=None):
        entry = entry or name
        own = {**DEFAULTS, **{k: v for k, v in macros.items() if k in MACROS.get(entry, ())}}
        self.entries.append((entry, own, macros))
        return ctypes.c_void_p(len(self.entries))

    def enter(self, device):
        pass

    def __call__(self, name, *arguments):
        pass

    def launch(self, call):
        config, function, addresses, _ = call
        (name, own, macros), config = self.entries[function.value - 1], config._obj
        self.launched.append(name)
        if name == "split_product":
            return multiply(self, addresses, macros)
        library = library_of(host_source(), self.folder, ["-D%s=%s" % item for item in sorted(own.items())], optimised=True)
        getattr(library, "run_" + name)(addresses, config.gx, config.gy, config.gz, config.bx)


def terms_of(at, tiles, blocks):
    """[term, rows, k] of a split matrix, from blocks of [term][TILE][DEPTH] with the swizzle undone."""
    raw = memory(at, tiles * blocks * 2 * TILE * DEPTH, torch.float16).view(tiles, blocks, 2, TILE, DEPTH // 8, 8)
    row, chunk = torch.arange(TILE)[:, None], torch.arange(DEPTH // 8)[None]
    plain = raw[:, :, :, row, chunk ^ (row & 7)]  # tiles, blocks, term, TILE, chunks, 8
    return plain.permute(2, 0, 3, 1, 4, 5).reshape(2, tiles * TILE, blocks * DEPTH).float()




def multiply(driver, addresses, macros):
    """split_product: three products into one sum for each block of k that is not marked as zeros; these sums are added one by one."""
    pointer = lambda i: ctypes.cast(addresses[i], ctypes.POINTER(ctypes.c_uint64))[0]
    w_at, x_at, w_scales, x_unscale, bias, out = (pointer(i) for i in range(6))
    shape = driver.module._Shape.from_address(addresses[6])
    w_present, x_present, order = (pointer(i) for i in range(7, 10))
    rows, units, blocks, splits, batches = shape.rows, shape.units, shape.blocks, shape.splits, shape.batches
    made = memory(out, splits * batches * rows * units, torch.float32)
    made = made.as_strided((splits, -(-batches // shape.inner), min(batches, shape.inner), rows, units), (batches * rows * units, shape.outer_step, shape.inner_step, shape.row_step, 1))
    tiles = lambda count: -(-count // TILE)
    size = lambda count: count * blocks * 4 * TILE * DEPTH

    def present(at, first, count):  # presence of blocks and tiles
        words = -(-blocks // 32)
        if not at:
            return torch.ones(blocks, count, dtype=torch.bool)
        bits = memory(at + 4 * first * words, count * words, torch.int32).view(count, words)
        return ((bits[:, torch.arange(blocks) // 32] >> torch.arange(blocks) % 32) & 1).bool().T

    place = torch.arange(units)[None] - torch.arange(rows)[:, None]
    kept = (torch.ones(rows, units, dtype=torch.bool), place >= shape.diagonal, place <= shape.diagonal)[macros["KEPT"]]
    counts = torch.zeros(batches, splits, tiles(rows), tiles(units), dtype=torch.int64)
    for batch in range(batches):
        w = terms_of(w_at + size(batch * shape.w_tiles), tiles(units), blocks)
        x = terms_of(x_at + size(batch * shape.x_tiles), tiles(rows), blocks)
        x_scale = memory(x_unscale + 4 * TILE * batch * shape.x_tiles, rows, torch.float32)
        w_scale = memory(w_scales + 4 * TILE * blocks * batch * shape.w_tiles, tiles(units) * blocks * TILE, torch.float32).view(tiles(units), blocks, TILE)
        used = present(x_present, batch * shape.x_tiles, tiles(rows))[:, :, None] & present(w_present, batch * shape.w_tiles, tiles(units))[:, None]
        for part in range(splits):
            total = torch.zeros(tiles(rows) * TILE, tiles(units) * TILE)
            for block in range(part * shape.blocks_per_split, min(blocks, (part + 1) * shape.blocks_per_split)):
                k = slice(block * DEPTH, (block + 1) * DEPTH)
                products = (x[0, :, k] @ w[1, :, k].T + x[1, :, k] @ w[0, :, k].T) + x[0, :, k] @ w[0, :, k].T
                total += torch.where(used[block].repeat_interleave(TILE, 0).repeat_interleave(TILE, 1), products * w_scale[:, block].flatten(), 0)
                counts[batch, part] += used[block]
                driver.skipped += int((~used[block]).sum())
            answer = total[:rows, :units] * x_scale[:, None]
            if splits == 1 and bias:
                answer += memory(bias, units, torch.float32)
            made[part, batch // shape.inner, batch % shape.inner] = torch.where(kept, answer, 0)
    if order:
        check_order(order, macros, shape, counts)


def check_order(at, macros, shape, counts):
    """Every tile of a cluster occurs once, and none with far fewer blocks precedes one with more."""
    m, n = macros["CLUSTER_M"], macros["CLUSTER_N"]
    batches, splits, across, down = counts.shape
    count, panel = counts.numel() // (m * n), macros["PANEL"]
    if not memory(at, 1, torch.int32)[0]:
        return expect(bool((counts == counts.flatten()[0]).all()) or shape.blocks % shape.blocks_per_split, "tiles differ and are not put in order")
    order = memory(at + 4, count, torch.int32).tolist()
    expect(sorted(order) == list(range(count)), "the order of tiles is not one: %s" % order)
    if macros["KEPT"] or m * n > 1:
        return  # a cluster's count is not that of its tiles
    lengths = []
    for number in order:
        product, square = divmod(number, across * down)
        begin, place = square // (panel * down) * panel, square % (panel * down)
        wide = min(panel, across - begin)
        lengths.append(int(counts[product // splits, product % splits, begin + place % wide, place // wide]))
    steps = [63 * length // shape.blocks_per_split for length in lengths]
    expect(steps == sorted(steps, reverse=True), "tiles do not go from long to short: %s" % lengths)


class _OnCpu(fused_house._OnCpu):
    def __init__(self):
        super().__init__()
        self.cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=132, major=9)


def on_host(module, folder):
    driver = HostDriver(folder)
    driver.module = module
    module._driver, module._function, module._raw_stream = lambda: driver, driver.function, lambda device: 0
    module._autocast, module._linear_tf32, module._KERNEL_DEVICE, module.torch = lambda device: False, lambda: False, "cpu", _OnCpu()
    return module, driver


def load_runtime(folder):
    module = types.ModuleType("split_product_runtime")
    exec(compile(runtime_text.runtime_text(runtime_text.SPLIT_PRODUCT), "split_product_runtime.py", "exec"), module.__dict__)
    return on_host(module, folder)


failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED ", what, flush=True)


def errors(got, want):
    difference, norm = got.double() - want, want.norm().clamp_min(1e-300)
    return float(difference.norm() / norm), float(difference.abs().max() / (norm / want.numel() ** 0.5))


def compare(label, got, own, want):
    if got.shape != want.shape or not torch.isfinite(got).all():
        return expect(False, "%s: shape %s, %d numbers are not finite" % (label, tuple(got.shape), (~torch.isfinite(got)).sum()))
    (norm, worst), (own_norm, own_worst) = errors(got, want), errors(own, want)
    expect(norm <= max(2 * ULP, 2 * own_norm), "%s: off by %.2e, PyTorch by %.2e" % (label, norm, own_norm))
    expect(worst <= max(16 * ULP, 2 * own_worst), "%s: the worst is off by %.2e, PyTorch's by %.2e" % (label, worst, own_worst))


def product(module, a, b, bias=None, of=None, **around):
    """matmul with the runtime."""
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if b.dim() > 2 else None
    rows = a.numel() // a.shape[-1] if batch is None else a.shape[-2]
    shape = (*(a.shape[:-1] if batch is None else (*batch, a.shape[-2])), b.shape[-1])
    count = 1 if batch is None else batch.numel() if hasattr(batch, "numel") else int(torch.tensor(batch).prod())
    made = module._SplitProduct(lambda t: t, lambda t: t.mT, (rows, b.shape[-1], a.shape[-1], count), None if batch is None else tuple(batch), shape, of, **around)
    packed = made.pack(0, a if of == "x" else b) if of else None
    in_pytorch = lambda: (_ for _ in ()).throw(AssertionError("left to PyTorch"))
    return made(0, 0, a, b, bias, packed, in_pytorch)


def section_shapes(module, driver):
    torch.manual_seed(0)
    draw = torch.randn
    cases = [
        ("plain", draw(200, 130), draw(130, 70)), ("transposed a", draw(130, 200).T, draw(130, 70)), ("transposed b", draw(200, 130), draw(70, 130).T),
        ("both", draw(130, 200).T, draw(70, 130).T), ("one", draw(1, 1), draw(1, 1)), ("one row", draw(1, 129), draw(129, 33)), ("k of one", draw(129, 1), draw(1, 40)),
        ("one unit", draw(33, 65), draw(65, 1)), ("batch", draw(3, 40, 70), draw(3, 70, 30)), ("batch, turned", draw(3, 70, 40).mT, draw(3, 30, 70).mT),
        ("3d x 2d", draw(3, 40, 70), draw(70, 30)), ("2d x 3d", draw(40, 70), draw(3, 70, 30)), ("heads", draw(2, 20, 3, 16).transpose(1, 2), draw(2, 25, 3, 16).permute(0, 2, 3, 1)),
        ("1 x 3d", draw(1, 40, 70), draw(3, 70, 30)), ("offset", draw(60, 71)[1:, 3:], draw(71, 33)[3:, 1:]), ("apart", draw(60, 140)[:, ::2], draw(140, 60)[::2, ::2]),
        ("expanded", draw(1, 70).expand(50, 70), draw(70, 40)), ("rows of 3d apart", draw(3, 80, 70)[:, ::2], draw(70, 40)), ("long k", draw(20, 2100), draw(2100, 24)), ("longer k", draw(7, 9001), draw(9001, 9)), ("rows of two warps", draw(131, 1100), draw(1100, 20)),
    ]  # fmt: skip
    for label, a, b in cases:
        wide = a.double() @ b.double()
        for of in (None, "w", "x"):
            compare("%s, %s" % (label, of), product(module, a, b, of=of), a @ b, wide)
    a, b, bias = draw(60, 70), draw(70, 50), draw(50)
    compare("bias", product(module, a, b, bias), a @ b + bias, a.double() @ b.double() + bias.double())
    a, b = draw(60, 2100), draw(2100, 50)
    compare("bias, divided k", product(module, a, b, bias), a @ b + bias, a.double() @ b.double() + bias.double())
    expect("split_sum" in driver.launched, "no case divides k")


def section_ranges(module, driver):
    torch.manual_seed(1)
    a, b = torch.randn(140, 100), torch.randn(100, 90)
    powers = lambda spread, *shape: torch.exp2(torch.randint(-spread, spread + 1, shape).float())
    cases = {
        "rows apart": (a * powers(60, 140, 1), b * powers(60, 1, 90)),
        "alike": (a * powers(30, 140, 100), b * powers(30, 100, 90)),
        "columns apart": (a * (p := powers(25, 100)), b / p[:, None]),
        "tiny and huge": (a * 2.0**110, b * 2.0**-115),
        "tiny": (a * 2.0**-60, b * 2.0**-50),
    }
    zero_a, zero_b = a.clone(), b.clone()
    zero_a[:, 7], zero_b[7] = 2.0**30, 0
    cases["a column that meets zeros"] = zero_a, zero_b
    cases["a row that meets zeros"] = zero_b.T, zero_a.T
    cases["all zeros"] = a, torch.zeros_like(b)
    for label, (x, y) in cases.items():
        for turned in (False, True):
            x, y = (x.T.contiguous().T, y.T.contiguous().T) if turned else (x, y)
            compare("%s, turned %s" % (label, turned), product(module, x, y), x @ y, x.double() @ y.double())
    for label in ("columns apart", "all zeros"):
        made = module._SplitProduct(lambda t: t, lambda t: t.mT, (140, 90, 100, 1), None, (140, 90), "w")
        module._warn_once = lambda error: None
        expect(made.pack(0, cases[label][1]).refused == (label == "columns apart"), label + ": as weights")


def section_not_finite(module, driver):
    torch.manual_seed(2)
    for turned in (False, True):
        a, b = torch.randn(140, 100), torch.randn(100, 150)
        a[3, 7], a[130, 99], a[131, 0] = float("inf"), float("nan"), -float("inf")
        for hurt in (False, True):
            if hurt:
                b[5, 140], b[6, 2] = float("inf"), float("nan")
            x, y = (a.T.contiguous().T, b.T.contiguous().T) if turned else (a, b)
            got, own = product(module, x, y), x @ y
            fine = own.isfinite()
            label = "turned %s, both %s" % (turned, hurt)
            expect(torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf()), label + ": NaN or infinities stand elsewhere")
            clean = lambda t: t.nan_to_num(0, 0, 0)
            want = torch.where(fine, clean(a).double() @ clean(b).double(), 0)
            compare(label, torch.where(fine, got, 0), torch.where(fine, own, 0), want)


def section_zeros(module, driver):
    """Blocks of zeros are skipped, tiles outside of a triangle too, and non-finite values are still right."""
    torch.manual_seed(5)
    module.torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=5, major=9)  # each takes several tiles
    draw = torch.randn
    n = 700
    upper, lower = draw(n, n).triu(), draw(n, n).tril()
    scattered = lambda rows, width: draw(rows, width) * (torch.rand(-(-rows // 128), -(-width // 64)) < 0.3).repeat_interleave(128, 0).repeat_interleave(64, 1)[:rows, :width]
    cases = {"upper": (upper, draw(n, n).triu()), "lower": (lower, draw(n, n).tril()), "one of two": (upper, draw(n, n)), "diagonal": (torch.diag(draw(n)), draw(n, 300)),
             "scattered": (scattered(n, 2300), scattered(2300, 300)), "batch": (torch.stack([scattered(300, 500) for _ in range(3)]), draw(3, 500, 200)),
             "one for a batch": (draw(3, 300, 500), scattered(500, 300)), "zeros": (torch.zeros(300, 300), draw(300, 300))}  # fmt: skip
    for label, (a, b) in cases.items():
        for turned in (False, True):
            x, y = (a.mT.contiguous().mT, b.mT.contiguous().mT) if turned else (a, b)
            for of in (None, "w") if b.dim() == 2 else (None,):
                if of and bool((y.abs().amax(1) == 0).all()):
                    continue
                driver.skipped = 0
                compare("%s, turned %s, %s" % (label, turned, of), product(module, x, y, of=of), x @ y, x.double() @ y.double())
                expect(driver.skipped > 0, "%s, turned %s: no block of zeros is left out" % (label, turned))
    expect("split_order" in driver.launched, "no case puts tiles in order")
    a, b = draw(300, 500).relu(), scattered(500, 300)
    a[130:260, 64:256] = 0
    a[7, 70], a[200, 300], b[3, 140], b[480, 2] = float("nan"), float("inf"), float("inf"), float("nan")
    got, own = product(module, a, b), a @ b
    expect(torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf()), "zeros meet what is not finite")
    for shape in ((n, 300, n), (130, 70, 600)):
        for kept, diagonal in ((1, 0), (2, 0), (1, -100), (2, 200), (1, 130)):
            keep = lambda t: (torch.triu if kept == 1 else torch.tril)(t, diagonal)
            x, y = draw(shape[0], shape[1]), draw(shape[1], shape[2])
            compare("kept %d %d" % (kept, diagonal), product(module, x, y, kept=(kept, diagonal)), keep(x @ y), keep(x.double() @ y.double()))
    x[3, 3], y[5, 500] = float("nan"), float("inf")
    got, own = product(module, x, y, kept=(1, 130)), (x @ y).triu(130)
    expect(torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf()), "a triangle of what is not finite")


def section_softmax(module, driver):
    torch.manual_seed(6)
    draw = torch.randn
    soft = lambda t, factor: torch.softmax(t * factor, -1)
    cases = {"plain": (draw(200, 130) * 3, draw(130, 70)), "batch": (draw(3, 40, 512), draw(3, 512, 96)), "heads": (draw(2, 3, 33, 127), draw(2, 127, 3, 24).transpose(1, 2)),
             "one": (draw(1, 1), draw(1, 1)), "long": (draw(20, 2100) * 5, draw(2100, 24)), "turned": (draw(130, 200).T, draw(130, 70)),
             "large scores": (draw(100, 300) * 80, draw(300, 50))}  # fmt: skip
    zeros = draw(300, 50)
    zeros[7], zeros[64:128] = 0, 0
    cases["values of zeros"] = draw(100, 300) * 3, zeros
    hidden = draw(100, 300)
    hidden[:, 200:] = -float("inf")
    hidden[50:, :128] = -float("inf")
    cases["hidden"] = hidden, draw(300, 50)
    cases["values apart"] = draw(100, 300), draw(300, 50) * torch.exp2(torch.randint(-20, 21, (300, 1)).float())
    for label, (a, b) in cases.items():
        for factor in (1.0, 0.125, -0.5) if label == "plain" else (0.5,) if label != "hidden" else (1.0,):
            compare("softmax, %s, %s" % (label, factor), product(module, a, b, softmax=factor), soft(a, factor) @ b, soft(a.double(), factor) @ b.double())
    compare("softmax of weights", product(module, *cases["plain"], of="w", softmax=0.5), soft(cases["plain"][0], 0.5) @ cases["plain"][1], soft(cases["plain"][0].double(), 0.5) @ cases["plain"][1].double())
    for shape, order in (((2, 3, 40), (0, 2, 1, 3)), ((3, 40), (1, 0, 2)), ((2, 3, 40), (2, 1, 0, 3))):
        for k in (130, 2100):  # which is divided
            a, b = draw(*shape, k) * 3, draw(*shape[:-1], k, 24)
            got = product(module, a, b, softmax=1.0, order=order)
            compare("order %s, %d" % (order, k), got, soft(a, 1.0) @ b, soft(a.double(), 1.0) @ b.double())
            expect(got.permute(order).is_contiguous(), "order %s, %d: it lies otherwise" % (order, k))
    a, b = draw(140, 100), draw(100, 150)
    a[3, 7], a[130, 99], a[131] = float("inf"), float("nan"), -float("inf")
    for hurt in (False, True):
        if hurt:
            b[5, 140], b[6, 2] = float("inf"), float("nan")
        got, own = product(module, a, b, softmax=1.0), soft(a, 1.0) @ b
        expect(torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf()), "softmax of what is not finite, %s" % hurt)
        fine = own.isfinite()
        clean = lambda t: t.nan_to_num(0, 0, 0)
        want = torch.where(fine, clean(soft(a.double(), 1.0)) @ clean(b.double()), 0)
        compare("softmax, finite part, %s" % hurt, torch.where(fine, got, 0), torch.where(fine, own, 0), want)


def section_candidate(module, driver):
    """A file as the recipe writes it, with changing weights."""
    source = (
        "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.Linear(2048, 2048)\n"
        "    def forward(self, x):\n        y = torch.relu(self.f(x))\n        return torch.matmul(y.T, x)\ndef get_inputs():\n    return [torch.randn(2048, 2048)]\n"
        "def get_init_inputs():\n    return []\n"
    )
    scope = {}
    exec(source, scope)
    model = scope["Model"]().eval()
    x = torch.randn(2048, 2048)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        text, why = fused_house.candidate_text(OPTIONS.tool, source, fused_house.graph_of(model, [x]), folder)
        expect(text is not None and text.count("= _SplitProduct(x=") == 2, "the recipe does not take both products: %s" % why)
        if text is None:
            return
        candidate = fused_house._import(text, folder)
        fused = fused_house.HostDriver(candidate._SOURCES["fused"], folder)
        candidate, driver = on_host(candidate, folder)
        split = driver.function

        def function(device, name, macros, entry=None):
            if name != "fused":
                return split(device, name, macros, entry)
            driver.entries.append((entry, {}, {}))
            setattr(driver, "of_" + entry, getattr(fused.library, "run_" + entry))
            return ctypes.c_void_p(len(driver.entries))

        launch = driver.launch

        def either(call):
            entry = driver.entries[call[1].value - 1][0]
            if not entry.startswith("fused"):
                return launch(call)
            config = call[0]._obj
            getattr(driver, "of_" + entry)(ctypes.c_void_p(call[2][0]), config.gx, config.bx, 1, ctypes.c_ulong(config.shared))

        candidate._function, driver.launch = function, either
        made = candidate.ModelNew().eval()
        made.load_state_dict(model.state_dict())
        for change in (lambda m: None, lambda m: m.f.weight.mul_(-2)):
            for m in (made, model):
                change(m)
            want = scope["Model"]().double()
            want.load_state_dict(model.state_dict())
            compare("candidate", candidate._run_graph(made, (x,)), model(x), want(x.double()))


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    OPTIONS = parser.parse_args()
    if not shutil.which("g++"):
        print("skipped: no g++")
        return 77
    torch.set_num_threads(1)  # most tensors are small, and more threads would wait for each other
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HONE_HOST_KERNELS", folder)  # every section has the same kernels
        for name, section in sorted(globals().items()):
            if name.startswith("section_") and OPTIONS.only in name:
                module, driver = load_runtime(folder)
                with torch.no_grad():
                    section(module, driver)
                print("done    " + name[8:], flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
