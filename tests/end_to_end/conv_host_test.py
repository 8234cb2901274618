"""Tests convolutions of cuda/fused_graph without a GPU. The kernels that lay the input out on its grid, and those in plain float32, run on
the host (cuda_on_host.h). A substitute for the tensor cores multiplies what the tables of conv_product say, stage by stage, from
windows as shared memory holds them. Compared with float64; the limit is the error of operands rounded to 11 bits.

Usage: conv_host_test.py --tool hone_expert_tool [--only WORD]
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

import conv_cases
import fused_house
import runtime_text
from host_kernels import library_of, memory, wrapped


def host_source():
    none = "namespace in_chain { struct Chain { const void* none; }; }\n#define CHAIN(v, i) (v)\n#define __grid_constant__\n"
    source = runtime_text.included("part_conv.cu") + none + runtime_text.included("conv_pack.cu") + runtime_text.included("conv_plain.cu")
    return wrapped(source)


class HostDriver:
    """Receives launches as the CUDA driver does."""

    def __init__(self, folder, runtime):
        self.library, self.entries, self.launched, self.runtime, self.folder, self.chains = library_of(host_source(), folder, optimised=True), [], [], runtime, folder, {}
        self.known, self.allowed = {}, {}

    def function(self, device, name, macros, entry=None):
        key = (name, entry, tuple(sorted(macros.items())))
        if key not in self.known:  # one handle per kernel, as in the runtime
            self._load(name, macros, entry)
            self.known[key] = len(self.entries)
        return ctypes.c_void_p(self.known[key])

    def _load(self, name, macros, entry):
        own = self._chain(name) if name.startswith("conv_product_") else None
        if name == "conv_depthwise":
            own = library_of(wrapped(runtime_text.included("conv_depthwise.cu")), self.folder, ["-D%s=%d" % item for item in sorted(macros.items())]).run_conv_depthwise
        self.entries.append((entry or name, macros, own))

    def _chain(self, name):
        """The maps after a convolution as a function of an array."""
        if name not in self.chains:
            source = self.runtime._SOURCES[name]
            chain = source[source.index("namespace in_chain {") : source.index("#define CHAIN(")]
            text = '#include "cuda_on_host.h"\n' + self.runtime._FUSED_PRELUDE + chain + (
                'extern "C" void run_chain(float* v, unsigned long n, void* a) {\n  in_chain::Chain c;\n  std::memcpy((void*)&c, a, sizeof(c));\n'
                "  for (unsigned long i = 0; i < n; ++i) v[i] = in_chain::chained(c, i, v[i]);\n}\n")  # fmt: skip
            self.chains[name] = library_of(text, self.folder, optimised=True).run_chain
        return self.chains[name]

    def enter(self, device):
        pass

    def __call__(self, name, *arguments):
        if name == "cuFuncSetAttribute" and arguments[1] == self.runtime._SHARED_BYTES:
            self.allowed[arguments[0].value] = arguments[2]

    def launch(self, call):
        config, function, addresses, _ = call
        (name, macros, own), config = self.entries[function.value - 1], config._obj
        self.launched.append(name)
        if config.shared > max(48 * 1024, self.allowed.get(function.value, 0)):
            raise AssertionError("invalid argument: the kernel may not have %d bytes of shared memory" % config.shared)
        if name == "conv_product":
            made = multiply(self.runtime, macros, addresses, config.shared)
            if own and made is not None:
                own(ctypes.c_void_p(made.data_ptr()), ctypes.c_ulong(made.numel()), ctypes.c_void_p(addresses[15]))
            return
        (own if name == "conv_depthwise" else getattr(self.library, "run_" + name))(addresses, config.gx, config.gy, config.gz, config.bx)


def multiply(runtime, macros, addresses, shared_bytes):
    """conv_product: every tile, stage by stage, from a copy of shared memory's content."""
    given = lambda i, kind: ctypes.cast(addresses[i], ctypes.POINTER(kind))[0]
    shape, grid, out = given(0, runtime._ConvShape), given(1, runtime._Grid), given(2, runtime._Output)
    x, w, unscale, bias, largest_at = (given(i, ctypes.c_uint64) for i in range(3, 8))
    source, preset, again = given(8, runtime._PackInput), given(9, runtime._Preset), given(10, ctypes.c_int)
    phases, stages, windows, steps = (given(i, ctypes.c_uint64) for i in range(11, 15))
    rows, wide = macros["ROWS"], macros["WIDE"]
    pixels, step_bytes = wide * (1 if rows == 128 else 2), rows * 32
    largest = memory(largest_at, 1, torch.int32).item()
    holds = largest == 0 or preset.low <= largest < preset.high or largest >= 0x7F800000
    if again and holds:
        return
    direct = macros["DIRECT"]
    scale = preset.scale if holds or direct and not again else 2.0 ** min(126, 13 - ((largest >> 23) - 127))
    channels = shape.channels * shape.groups.by
    size = grid.batches * out.batch_step
    made = memory(out.at, size, torch.float32)
    factor = memory(unscale, channels, torch.float32) / scale
    added = memory(bias, channels, torch.float32) if bias else torch.zeros(channels)
    pitch = [grid.pitch[a].by for a in range(3)]
    table = lambda at, count, width: memory(at, count * width, torch.int32).view(count, width).tolist()
    phase_table = table(phases, shape.phases.by, 7)
    stage_table = table(stages, max(first + count for first, count, *_ in phase_table), 6)
    window_table = table(windows, max(first + many for first, many, *_ in stage_table), 8)
    starts = []  # per stage: the first pixels of the windows that its steps multiply
    for first_window, many, first_step, stage_steps, window_bytes, step_number in stage_table:
        assert window_bytes + stage_steps * step_bytes <= shape.stage_bytes and shape.stage_bytes * shape.ring + 8 * shape.table_steps <= shared_bytes
        word = memory(steps, first_step + stage_steps, torch.int64)[first_step:]
        base, apart, eight = word & 0xFFFF, word >> 16 & 0xFFFF, word >> 32
        assert bool((eight == 8).all()) and bool(((base + apart + pixels) * 16 <= window_bytes).all())
        starts.append(torch.stack((base, base + apart), 1).flatten())
    factors = {}  # the factors of a stage's matrix product
    for tile in range(shape.tiles):
        above, phase_number = divmod(tile, shape.phases.by)
        row_and_group, row_tile = divmod(above, shape.row_tiles.by)
        pixel_tile, group = divmod(row_and_group, shape.groups.by)
        first_stage, count, phase_steps, weights, *start = phase_table[phase_number]
        sums = torch.zeros(rows, pixels)
        for s in range(first_stage, first_stage + count):
            first_window, many, first_step, stage_steps, window_bytes, step_number = stage_table[s]
            stage = torch.full((8, shape.stage_bytes // 16), float("nan"))
            for plane, offset, length, at, alike, channel, held, moves in window_table[first_window : first_window + many]:
                if direct:
                    seen = gathered(source, grid, group * shape.input_channels + channel, held, moves, pixel_tile * pixels + offset, length, largest_at, scale)
                else:
                    from_x = x + ((group * shape.planes + plane) * shape.plane_pixels + pixel_tile * pixels + offset) * 16
                    seen = memory(from_x, length * 8, torch.float16).view(length, 8)
                stage[:, at // 16 : at // 16 + length] = seen.T
            from_w = w + (weights + (group * shape.row_tiles.by + row_tile) * phase_steps + step_number) * step_bytes
            if from_w not in factors:
                packed = memory(from_w, stage_steps * step_bytes // 2, torch.float16).view(stage_steps, 2, rows, 8)
                factors[from_w] = packed.permute(2, 3, 0, 1).reshape(rows, -1).float()
            # A pixel beyond the grid holds NaN, which must not affect the others.
            sums += factors[from_w] @ stage.unfold(1, pixels, 1)[:, starts[s]].view(-1, pixels)
        number = torch.arange(pixel_tile * pixels, (pixel_tile + 1) * pixels)
        inside, at, step = torch.ones(pixels, dtype=torch.bool), torch.zeros(pixels, dtype=torch.int64), 1
        for a in (2, 1, 0):
            here = number % pitch[a]
            number = number // pitch[a]
            place = here * out.step[a] + start[a]
            if a == 2:
                along = here * out.step[a] + start[a]  # of the first row of a channel
                near, step = here < out.many[a], out.size[a]
                continue
            inside &= (here < out.many[a]) & (place >= 0) & (place < out.size[a])
            at += place * step
            step *= out.size[a]
        inside &= number < grid.batches
        at += number * out.batch_step
        spread, vector_size = macros["SPREAD"], macros["VECTOR"]
        own_rows = torch.arange(min(rows, shape.channels * spread - row_tile * rows))
        of_channel, of_part = (row_tile * rows + own_rows) // spread + group * shape.channels, (row_tile * rows + own_rows) % spread
        for part in range(spread):
            row, channel = own_rows[of_part == part], of_channel[of_part == part]
            if not len(row):
                continue
            some = inside & near & (along + part >= 0) & (along + part < out.size[2])
            vector, place = some.view(-1, vector_size), (at + along)[some]
            assert bool((vector.all(1) == vector.any(1)).all()) and bool((place.view(-1, vector_size)[:, 0] % vector_size == 0).all())
            answers = sums[row][:, some] * factor[channel, None] + added[channel, None]
            made[place + part + channel[:, None] * out.channel_step] = answers
    return made


def gathered(source, grid, channel, held, moves, first, count, largest_at, scale):
    """What a producer of conv_product writes into a window if the input was not packed before."""
    number, inside, at = torch.arange(first, first + count), torch.ones(count, dtype=torch.bool), torch.zeros(count, dtype=torch.int64)
    for a in (2, 1, 0):
        move = (moves >> 8 * a & 0xFF) - (256 if moves >> 8 * a & 0x80 else 0)
        here = number % grid.pitch[a].by * grid.step[a] + grid.low[a] + move
        number = number // grid.pitch[a].by
        inside &= (here >= 0) & (here < source.size[a])
        at += here * source.axis_step[a]
    inside &= number < grid.batches
    at += number * source.batch_step
    made = torch.zeros(count, 8)
    values = memory(source.at, 1 + int(at[inside].max()) + (channel + held - 1) * source.channel_step, torch.float32) if inside.any() else None
    for i in range(held if inside.any() else 0):
        made[inside, i] = values[at[inside] + (channel + i) * source.channel_step]
    word = memory(largest_at, 1, torch.int32)
    word[0] = max(word.item(), int(made.abs().view(torch.int32).max()))
    return (made * scale).half()


class _OnCpu(fused_house._OnCpu):
    def __init__(self):
        super().__init__()
        self.cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=132, major=9)
        self.cuda.get_device_capability = lambda *_: (9, 0)


def on_host(module, folder):
    driver = HostDriver(folder, module)
    module._driver, module._function, module._raw_stream = lambda: driver, driver.function, lambda device: 0
    module._autocast, module._convolution_tf32, module._KERNEL_DEVICE, module.torch = lambda device: False, lambda: True, "cpu", _OnCpu()
    return module, driver


def load_runtime(folder):
    module = types.ModuleType("convolution_runtime")
    exec(compile(runtime_text.runtime_text(runtime_text.CONVOLUTION), "convolution_runtime.py", "exec"), module.__dict__)
    return on_host(module, folder)


failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED ", what, flush=True)


def rounded(t):
    """Rounds to TF32's 11 bits."""
    m, e = torch.frexp(t)
    return torch.ldexp((m * 2048).round() / 2048, e)


def convolved(module, x, w, bias, settings, transposed, precise=False, **tile):
    axes = x.dim() - 2
    each = lambda name, filler: (lambda v: (v,) * axes if isinstance(v, int) else tuple(v))(settings.get(name, filler))
    shape = conv_cases.functional(x, transposed)(x, w, bias, **settings).shape
    made = module._Convolution(tuple(x.shape), tuple(shape), tuple(w.shape[2:]), each("stride", 1), each("padding", 0), each("dilation", 1), settings.get("groups", 1), transposed)
    made.tile, made.precise = made.tile_for(precise, **tile), precise
    in_pytorch = lambda: (_ for _ in ()).throw(AssertionError("left to PyTorch"))
    return made(0, 0, x, w, bias, made.pack(0, w), in_pytorch)


def compare(label, module, x, w, bias, settings, transposed, precise=False, **tile):
    call = conv_cases.functional(x, transposed)
    got = convolved(module, x, w, bias, settings, transposed, precise, **tile)
    wide = lambda t: None if t is None else t.double()
    want = call(wide(x), wide(w), wide(bias), **settings)
    own = call(wide(rounded(x)), wide(rounded(w)), wide(bias), **settings)
    norm = want.norm().clamp_min(1e-300)
    error, limit = float((got.double() - want).norm() / norm), float((own - want).norm() / norm)
    expect(got.shape == want.shape and bool(torch.isfinite(got).all()), label + ": shape or numbers that are not finite")
    limit = 5e-7 if precise else 1.2 * limit + 1e-6
    expect(error <= limit, "%s: off by %.2e, allowed %.2e" % (label, error, limit))


def section_shapes(module, driver):
    for transposed, cases in ((False, conv_cases.CASES), (True, conv_cases.TRANSPOSED)):
        for label, x, w, settings in cases:
            torch.manual_seed(0)
            x, w = torch.randn(x), torch.randn(w)
            units = w.shape[1] * settings.get("groups", 1) if transposed else w.shape[0]
            for choice in (dict(direct=False), dict(direct=True), dict(precise=True)):
                compare("%s%s, %s" % ("transposed " if transposed else "", label, choice), module, x, w, torch.randn(units), settings, transposed, **choice)
            if label == "3x3":
                compare("channels last", module, x.to(memory_format=torch.channels_last), w, None, settings, transposed)


def section_depthwise(module, driver):
    for label, x, w, settings in conv_cases.DEPTHWISE:
        torch.manual_seed(0)
        x, w, bias = torch.randn(x), torch.randn(w), torch.randn(w[0])
        each = lambda name, filler: (lambda v: (v, v) if isinstance(v, int) else v)(settings.get(name, filler))
        want = torch.nn.functional.conv2d(x.double(), w.double(), bias.double(), **settings)
        made = module._Depthwise(tuple(x.shape), tuple(want.shape), tuple(w.shape[2:]), each("stride", 1), each("padding", 0), each("dilation", 1))
        got = made(0, 0, x, w, bias, lambda: None)
        expect(got.shape == want.shape and float((got - want).abs().max() / want.abs().max()) < 1e-6, label)


def section_ranges(module, driver):
    torch.manual_seed(1)
    x, w = torch.randn(2, 16, 9, 11), torch.randn(8, 16, 3, 3)
    for label, by_x, by_w in (("large", 2.0**90, 2.0**20), ("small", 2.0**-60, 2.0**-60), ("zeros", 0.0, 1.0), ("no weights", 1.0, 0.0)):
        for choice in (dict(direct=False), dict(direct=True), dict(precise=True)):
            compare(label, module, x * by_x, w * by_w, None, dict(padding=1), False, **choice)
    apart = torch.exp2(torch.randint(-40, 40, (8, 1, 1, 1)).float())
    compare("channels apart", module, x, w * apart, None, {}, False)


def section_not_finite(module, driver):
    torch.manual_seed(2)
    for transposed, settings in ((False, dict(padding=1)), (True, dict(stride=2, padding=1))):
        x, w = torch.randn(2, 8, 9, 11), torch.randn(8, 8, 3, 3)
        x[0, 3, 4, 4], x[1, 0, 0, 0] = float("inf"), float("nan")
        got, own = convolved(module, x, w, None, settings, transposed), conv_cases.functional(x, transposed)(x, w, None, **settings)
        expect(torch.equal(got.isnan(), own.isnan()) and torch.equal(got.isinf(), own.isinf()), "NaN or infinities stand elsewhere, transposed %s" % transposed)
        fine = own.isfinite()
        expect(bool((got - own)[fine].abs().max() < 1e-4), "plain float32 differs, transposed %s" % transposed)


def section_one_kernel_for_two_convolutions(module, driver):
    """The second convolution needs less shared memory than the first, and the first is called again."""
    torch.manual_seed(3)
    calls, tiles = [], []
    for channels in (16, 8):
        x, w = torch.randn(1, channels, 12, 12), torch.randn(16, channels, 3, 3)
        made = module._Convolution(tuple(x.shape), (1, 16, 10, 10), (3, 3), (1, 1), (0, 0), (1, 1), 1, False)
        made.tile, made.precise = made.tile_for(False), False
        packed = made.pack(0, w)
        calls.append((lambda made=made, x=x, w=w, packed=packed: made(0, 0, x, w, None, packed, None), torch.nn.functional.conv2d(x, w)))
        tiles.append(made.tile)
    expect(tiles[0].macros() == tiles[1].macros() and tiles[0].shared > tiles[1].shared > 48 * 1024, "the convolutions do not test this: %s" % [t.shared for t in tiles])
    for number in (0, 1, 0):
        call, want = calls[number]
        expect(float((call() - want).norm() / want.norm()) < 1e-3, "convolution %d" % number)


FILE = """
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(32, 64, 5), nn.ConvTranspose2d(64, 32, 3, stride=2, padding=1)
        self.added = nn.Parameter(torch.randn(64, 1, 1))
    def forward(self, x):
        return torch.tanh(self.b(torch.relu(self.a(x)) * 2 + self.added))
def get_inputs():
    return [torch.randn(4, 32, 256, 256)]
def get_init_inputs():
    return []
"""


def section_candidate(module, driver):
    """A file as the recipe writes it, with changing weights; its maps run in epilogues."""
    scope = {}
    exec(FILE, scope)
    torch.manual_seed(3)
    model = scope["Model"]().eval()
    x = torch.randn(4, 32, 256, 256)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        text, why = fused_house.candidate_text(OPTIONS.tool, FILE, fused_house.graph_of(model, [x]), folder)
        counts = [0 if text is None else text.count(word) for word in ("= _Convolution(x=", ", chain=_chain")]
        expect(counts == [2, 2], "the recipe takes %s convolutions and chains: %s" % (counts, why))
        if text is None:
            return
        candidate = fused_house._import(text, folder)
        fused = fused_house.HostDriver(candidate._SOURCES["fused"], folder)
        candidate, driver = on_host(candidate, folder)
        candidate._Convolution._in_float32 = lambda self, weight: False
        own, launch = driver.function, driver.launch

        def function(device, name, macros, entry=None):
            if name != "fused":
                return own(device, name, macros, entry)
            driver.entries.append((entry, macros, getattr(fused.library, "run_" + entry)))
            return ctypes.c_void_p(len(driver.entries))

        def either(call):
            entry, _, run = driver.entries[call[1].value - 1]
            if not entry.startswith("fused"):
                return launch(call)
            config = call[0]._obj
            run(ctypes.c_void_p(call[2][0]), config.gx, config.bx, 1, ctypes.c_ulong(config.shared))

        candidate._function, driver.launch = function, either
        made = candidate.ModelNew().eval()
        made.load_state_dict(model.state_dict())
        for change in (lambda m: None, lambda m: m.a.weight.mul_(-2)):
            for m in (made, model):
                change(m)
            want = scope["Model"]().double()
            want.load_state_dict(model.state_dict())
            got, one = candidate._run_graph(made, (x,)), want(x.double())
            error = float((got.double() - one).norm() / one.norm())
            expect(got.shape == one.shape and error < 1e-3, "candidate: off by %.2e" % error)


OPTIONS = None


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool")
    parser.add_argument("--only", default="")
    OPTIONS = parser.parse_args()
    if shutil.which("g++") is None:
        print("there is no g++")
        return 77
    torch.set_num_threads(1)  # the tensors are small, and more threads would wait for each other
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HONE_HOST_KERNELS", folder)  # every section has the same kernels
        module, driver = load_runtime(folder)
        for name, section in sorted(globals().items()):
            if name.startswith("section_") and OPTIONS.only in name:
                section(module, driver)
                print(name[8:], flush=True)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
