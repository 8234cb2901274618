"""Tests the host part of the CUDA runtime without a GPU. A fake driver reads the kernels' arguments (packed weights, addresses,
strides) from CPU memory and computes with them in float64. The answers must equal PyTorch's.

Usage: cuda_host_test.py     (HONE_UPDATE_GOLDEN=1 writes what is predicted to tests/golden/recurrent_costs.json)
Exit code 1 when anything is wrong, 77 without torch.
"""

import ctypes
import itertools
import json
import os
import pathlib
import sys
import types
import warnings

import torch_python

torch_python.need_torch()
import numpy as np
import torch
import torch.nn as nn

import recurrent_cuda_test as gpu_test
import runtime_text

ROOT = pathlib.Path(__file__).resolve().parents[2]


def array(address, count, kind):
    return np.frombuffer((ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(address), dtype=kind)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


class FakeDriver:
    """Receives launches as the driver does. A kernel's handle is a number that identifies it."""

    def __init__(self, runtime):
        self.runtime, self.kernels, self.compute = runtime, [], True
        self.calls = []  # driver calls by name; launches by their kernel's name

    def function(self, device, name, macros):
        self.calls.append("load " + name)
        self.kernels.append((name, dict(macros)))
        return ctypes.c_void_p(len(self.kernels))

    def enter(self, device):
        pass

    def __call__(self, name, *arguments):
        self.calls.append(name)
        if name == "cuOccupancyMaxActiveClusters":
            arguments[0]._obj.value = 15
        if name == "cuOccupancyMaxActiveBlocksPerMultiprocessor":
            arguments[0]._obj.value = 1

    def launch(self, call):
        config, function, arguments, _ = call
        name, macros = self.kernels[function.value - 1]
        self.calls.append("launch " + name)
        if self.compute:
            getattr(self, name)(macros, config._obj, arguments)

    def product_tf32(self, macros, config, arguments):
        a, w, _, out, a_row, out_row = (ctypes.c_longlong.from_address(arguments[i]).value for i in range(6))
        m, n, k = (ctypes.c_int.from_address(arguments[i]).value for i in range(6, 9))
        assert (a_row, out_row, config.gx, config.gy) == (k, n, -(-n // 64), -(-m // 64))
        array(out, m * n, np.float32).reshape(m, n)[:] = array(a, m * k, np.float32).reshape(m, k) @ array(w, n * k, np.float32).reshape(n, k).T

    def unpacked(self, shape, address, scale):
        """[gates][unit][k] from the fragments, at the positions where a kernel's thread reads them."""
        s, parts = shape, []
        lane, reg, pair = np.ogrid[:32, :4, :2]
        row = lane // 4 + 8 * (reg & 1)
        for rank, group, tile, step in itertools.product(range(s.cluster), range(s.groups), range(s.tiles), range(s.ksteps)):
            k = 16 * step + 2 * (lane % 4) + 8 * (reg >> 1) + pair
            gate, unit = (0, group * 16 + row) if s.gates == 1 else (2 * tile + row // 8, group * 8 + row % 8)
            parts.append((((gate * s.padded) + rank * s.units + unit) * s.padded + k).ravel())
        index, total = np.concatenate(parts), np.zeros(4 * s.padded * s.padded)
        for part in range(s.parts):
            total[index] += array(address + part * index.size * 2, index.size, np.float16)
        return total.reshape(4, s.padded, s.padded)[: s.gates, : s.hidden, : s.hidden] * scale

    def recurrent_cluster(self, macros, config, arguments):
        s = self.runtime._Shape(*(macros[n] for n in ("CELL", "HIDDEN", "SLABS", "CHAINED", "SEQUENCES", "CLUSTER", "KSPLIT", "PARTS")))
        p = self.runtime._problem_type(s.slabs).from_address(arguments[0])
        assert config.gx == p.groups * s.slabs * s.cluster and (p.groups - 1) * p.per_group < p.batch <= p.groups * p.per_group
        assert not s.chained or (config.count == 3 and p.exchange and p.flags and p.control)
        below = None
        for number in range(s.slabs):
            slab = p.slab[number]
            w = self.unpacked(s, slab.w_hh, slab.unscale_hh)
            w_in = None if slab.gates else self.unpacked(s, slab.w_ih, slab.unscale_ih)
            b = array(slab.bias, s.padded * 4, np.float32).reshape(s.padded, 4)[: s.hidden].T.astype(float)
            def store(step, i, h):
                if slab.y:
                    array(slab.y + 4 * (step * p.y_t + i * p.y_b), s.hidden, np.float32)[:] = h
                if slab.y16:
                    array(slab.y16 + 2 * (step * p.y16_t + i * p.y16_b), s.hidden, np.float16)[:] = h

            below = self.slab_steps(s, p, slab, w, w_in, b, below, store, slab.unscale_ih)

    def cell(self, cell, x, r, b, h, c):
        if cell == "GRU":
            n = np.tanh(x[2] + b[2] + sigmoid(x[0] + r[0] + b[0]) * (r[2] + b[3]))
            return n + sigmoid(x[1] + r[1] + b[1]) * (h - n), c
        if cell == "LSTM":
            i, f, g, o = (x[j] + r[j] + b[j] for j in range(4))
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        return np.tanh(x[0] + r[0] + b[0]), c

    def slab_steps(self, s, p, slab, w, w_in, b, below, store, unscale_gates):
        """The states of one slab, step by step, as stored for the slab above."""
        state = lambda at: array(at, p.batch * s.hidden, np.float32).reshape(p.batch, s.hidden)
        h, c = (state(at).astype(float) if at else np.zeros((p.batch, s.hidden)) for at in (slab.h0, slab.c0))
        states = []
        for t in range(p.steps):
            step = p.steps - 1 - t if slab.reverse else t
            if w_in is None:
                rows = [array(slab.gates + 4 * (step * p.gates_t + i * p.gates_b), s.gates * s.hidden, np.float32) for i in range(p.batch)]
                x = np.stack(rows).reshape(p.batch, s.gates, s.hidden).transpose(1, 0, 2) * unscale_gates
            else:
                x = below[t] @ w_in.transpose(0, 2, 1)
            if t == 0 and slab.first:
                assert not slab.h0
                x = x + array(slab.first, p.batch * s.gates * s.hidden, np.float32).reshape(p.batch, s.gates, s.hidden).transpose(1, 0, 2)
            h, c = self.cell(s.cell, x, h @ w.transpose(0, 2, 1), b, h, c)
            states.append(h)
            for i in range(p.batch):
                store(step, i, h[i])
        for at, value in ((slab.hn, h), (slab.cn, c)):
            if at:
                state(at)[:] = value
        return states

    def grid_shape(self, macros):
        names = ("CELL", "HIDDEN", "SLABS", "CHAINED", "UNITS", "WARPS", "NTP", "PHASES", "PARTS")
        return self.runtime._GridShape(*(macros[n] for n in names))

    def grid_unpacked(self, s, address, scale, below):
        """[gates][unit][k] from the fragments, at the positions where a thread of recurrent_grid.cu reads them."""
        rank, warp, step, tile, lane, reg, pair = np.ogrid[: s.ctas, : s.warps, : 2 * s.wb, : s.tiles, :32, :4, :2]
        rows = tile * 8 + lane // 4  # two units of one gate
        gate, unit = rows // (s.units // 2), rank * s.units + rows % (s.units // 2) * 2 + (reg & 1)
        k = (warp * s.wb + step // 2) * 32 + 8 * (lane % 4) + 4 * (step % 2) + 2 * (reg >> 1) + pair
        gate, unit, k = np.broadcast_arrays(gate, unit, k)
        depth = s.warps * s.wb * 32
        total = np.zeros((-(-s.tiles * 16 // s.units) + 1, s.ctas * s.units, depth))
        for part in range(s.parts):
            total[gate, unit, k] += array(address + part * gate.size * 2, gate.size, np.float16).reshape(gate.shape) * (1.0 if part == 0 else 2.0**-11)
        order = [0, 1, 3 if below else 2] if s.row_gates == 4 and s.cell == "GRU" else list(range(s.gates))
        unused = [g for g in range(len(total)) if g not in order]
        assert not total[unused].any() and not total[:, s.hidden :].any() and not total[:, :, s.hidden :].any()
        return total[order, : s.hidden, : s.hidden] * scale

    def recurrent_grid(self, macros, config, arguments):
        s = self.grid_shape(macros)
        p = self.runtime._grid_problem_type(s.slabs).from_address(arguments[0])
        assert config.gx == p.teams * s.slabs * s.ctas <= 132 and (p.teams - 1) * s.sequences < p.batch <= p.teams * s.sequences
        words = s.slabs * p.teams * (p.steps + 1 if s.chained else 2) * s.slot_words
        assert config.count == 1 and config.shared == s.shared_bytes and not array(p.exchange, words, np.uint32).any()
        below = None
        for number in range(s.slabs):
            slab = p.slab[number]
            w = self.grid_unpacked(s, slab.w_hh, slab.unscale, False)
            w_in = self.grid_unpacked(s, slab.w_ih, slab.unscale, True) if s.chained and number else None
            assert bool(slab.gates) == (w_in is None)
            b = array(slab.bias, s.ctas * s.units * 4, np.float32).reshape(-1, 4)[: s.hidden].T.astype(float)
            kind = (np.float32, np.float16, np.uint16)[slab.y_format]
            below = self.slab_steps(s, p, slab, w, w_in, b, below, lambda step, i, h: array(slab.y + kind().itemsize * (step * p.y_t + i * p.y_b), s.hidden, kind).__setitem__(slice(None), h) if slab.y else None, slab.unscale_gates)

    def recurrent_step(self, macros, config, arguments):
        a = self.runtime._StepArguments.from_address(arguments[0])
        gates = {"GRU": 3, "LSTM": 4}.get(macros["CELL"], 1)
        for d in range(config.gy):
            one = a.direction[d]
            view = lambda at, kind, *shape: array(at, int(np.prod(shape)), kind).reshape(shape)
            r = view(one.product, np.float32, a.batch, gates, a.hidden).transpose(1, 0, 2) * one.unscale
            x = np.stack([view(one.gates + 4 * i * a.gates_b, np.float32, gates, a.hidden) for i in range(a.batch)], 1) * one.unscale_gates
            h, c = view(one.h, np.float32, a.batch, a.hidden), view(one.c, np.float32, a.batch, a.hidden) if one.c else None
            h[:], new_c = self.cell(macros["CELL"], x, r, view(one.bias, np.float32, a.hidden, 4).T, h, c)
            if c is not None:
                c[:] = new_c
            view(one.h16, np.float16, a.batch, a.hidden)[:] = h
            kind = (np.float32, np.float16, np.uint16)[a.y_format]
            for i in range(a.batch if one.y else 0):
                view(one.y + kind().itemsize * i * a.y_b, kind, a.hidden)[:] = h[i]


def multiply(a, b, out_dtype=None, out=None):
    product = a.float() @ b.float()  # torch.mm and bmm support out_dtype only on CUDA
    return product if out is None else out.copy_(product)


class Proxy:
    """torch as the runtime sees it, with questions about the device answered for the CPU."""

    mm = bmm = staticmethod(multiply)
    device = staticmethod(lambda *_: torch.device("cpu"))

    def __getattr__(self, name):
        return getattr(torch, name)


def on_cpu(runtime):
    driver = FakeDriver(runtime)
    runtime._driver = lambda: driver
    runtime._function = driver.function
    runtime._capturing = lambda: False
    runtime._raw_stream = lambda device: 7
    runtime._check_weights = lambda *_: None
    runtime._check_call = lambda x, states, weights: 0
    properties = types.SimpleNamespace(multi_processor_count=132)
    nothing = types.SimpleNamespace(synchronize=lambda: None)
    guard = type("guard", (), {"__init__": lambda *_: None, "__enter__": lambda *_: None, "__exit__": lambda *_: None})
    proxy = Proxy()
    proxy.cuda = types.SimpleNamespace(current_device=lambda: 0, synchronize=lambda *_: None, get_device_properties=lambda _: properties,
                                       current_stream=lambda _: nothing, device=guard)  # fmt: skip
    proxy.zeros = lambda *shape, **options: Pinned(torch.zeros(*shape, **options)) if options.get("dtype") is torch.int32 else torch.zeros(*shape, **options)
    runtime.torch = proxy
    return driver


def Pinned(tensor):
    tensor.pin_memory = lambda: tensor
    return tensor


failures = []


def expect_close(got, want, limit, label):
    error = float("inf") if got is None or got.shape != want.shape else float((got.double() - want.double()).norm() / want.double().norm())
    if not error <= limit:
        failures.append(label)
        print("FAILED ", label, "%.2e" % error, None if got is None else tuple(got.shape), tuple(want.shape))


SHAPES = [  # steps, batch, inputs, hidden, layers, bidirectional, batch_first, bias, state, batched
    (5, 3, 7, 33, 2, False, False, True, True, True), (5, 10, 40, 20, 3, False, True, True, True, True), (6, 3, 40, 20, 2, True, True, False, False, True),
    (4, 9, 8, 36, 2, True, False, True, True, True), (4, 1, 36, 64, 1, False, False, True, True, False), (3, 1, 36, 64, 2, True, True, True, True, False)]  # fmt: skip
OUTPUTS = [None, ("last",), ("h_n",), ("last", "h_n", "c_n"), ("sequence", "c_n")]


def check_modules(runtime, way=None):
    for kind, shape, wanted, tf32 in itertools.product((nn.GRU, nn.LSTM, nn.RNN), SHAPES, OUTPUTS[:4:3] if way else OUTPUTS, (True, False)):
        if way == "step" and not tf32:
            continue  # its products have fp16 operands
        steps, batch, inputs, hidden, layers, bi, batch_first, bias, with_state, batched = shape
        label = "%s %s %s tf32 %s %s" % (kind.__name__, shape, wanted, tf32, way or "")
        torch.manual_seed(0)
        module = kind(inputs, hidden, layers, bias=bias, batch_first=batch_first, bidirectional=bi)
        ours = gpu_test.adopted(runtime, module, wanted)
        x = torch.randn(*((steps, inputs) if not batched else (batch, steps, inputs) if batch_first else (steps, batch, inputs)))
        size = (layers * (1 + bi), batch, hidden) if batched else (layers * (1 + bi), hidden)
        state = None if not with_state else (torch.randn(size), torch.randn(size)) if kind is nn.LSTM else torch.randn(size)
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=tf32):
            y, h_n, c_n = (*gpu_test.flat(gpu_test.no_warning(lambda: ours(x, state))), None)[:3]
            want_y, want_h, want_c = (*gpu_test.flat(module(x, state)), None)[:3]
        outputs, limit = wanted or ("sequence", "h_n", "c_n"), 2e-3 if tf32 else 2e-6
        axis = 1 if batch_first and batched else 0
        if "sequence" in outputs:
            expect_close(y, want_y, limit, label + " y")
        elif "last" in outputs:
            step = lambda t: t.narrow(axis, t.size(axis) - 1, 1)
            expect(y.shape == want_y.shape, label + " shape")
            expect_close(step(y), step(want_y), limit, label + " last")
        if "h_n" in outputs:
            expect_close(h_n, want_h, limit, label + " h_n")
        if "c_n" in outputs and kind is nn.LSTM:
            expect_close(c_n, want_c, limit, label + " c_n")


def expect(condition, label):
    if not condition:
        failures.append(label)
        print("FAILED ", label)


def check_predictions(runtime):
    """tests/golden/recurrent_costs.json, against which src/codegen/cuda_grid_test.cpp checks the recipes' own model: the predicted time
    of each way, and the chosen way."""
    device = runtime_text.device()["device"]
    runtime._grid_choice = lambda s, steps, batch: runtime._choose_grid(
        s.cell, s.hidden, s.layers, s.directions, steps, batch, s.parts, device["processors"], device["shared_bytes"], s.inputs)  # fmt: skip
    golden = ROOT / "tests/golden/recurrent_costs.json"
    rows = json.loads(golden.read_text())
    for row in rows:
        stack = types.SimpleNamespace(**row, gates=runtime._GATES[row["cell"]], hand_written=False)
        stack.parts = 2 if stack.terms == 2 or stack.cell == "RNN_RELU" else 1
        stack.slabs, stack.chained = (2, False) if stack.directions == 2 else (stack.layers, stack.layers > 1)
        found, _ = runtime._predictions(stack, stack.steps, stack.batch)
        kept, us = runtime._pytorch_us(stack, stack.steps, stack.batch), {name: us for us, name in found}
        chosen = found[0][1] if found and found[0][0] <= runtime._CHOICE["of_pytorch"] * kept else "pytorch"
        if os.environ.get("HONE_UPDATE_GOLDEN"):
            row.update({name + "_us": us.get(name) and round(us[name], 1) for name in ("cluster", "grid", "step")}, pytorch_us=round(kept, 1), chosen=chosen)
        for name in ("cluster", "grid", "step"):
            want = row[name + "_us"]
            same = us.get(name) is want or None not in (us.get(name), want) and abs(us[name] - want) < 0.1
            expect(same, "%s is predicted to take %s us: %s" % (name, us.get(name), row))
        expect(abs(kept - row["pytorch_us"]) < 0.1, "PyTorch is predicted to take %.1f us: %s" % (kept, row))
        expect(chosen == row["chosen"], "%s is chosen: %s" % (chosen, row))
    if os.environ.get("HONE_UPDATE_GOLDEN"):
        golden.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def check_hidden(runtime):
    """The table of hidden units that clusters hold, which recipes decide by, against the configurations themselves."""
    cells = {"GRU": ("GRU",), "LSTM": ("LSTM",), "RNN": ("RNN_TANH", "RNN_RELU")}
    for kind, rows in runtime_text.without_remarks(runtime_text.device()["cluster_hidden"]).items():
        for name, cell in itertools.product(rows, cells[kind]):
            if cell == "RNN_RELU" and not name.startswith("precise"):
                continue
            chained, parts, held = name.endswith("stacked"), 2 if name.startswith("precise") else 1, {}
            for hidden in range(8, 1100, 8):
                try:
                    shape = runtime._choose_shape(cell, hidden, 2 if chained else 1, chained, runtime._CLUSTER["sequences"], parts)
                except runtime._Unsupported:
                    continue
                held["of_16"] = hidden
                if shape.cluster <= 8:
                    held["of_8"] = hidden
            expect(held == rows[name], "clusters hold %s of %s, %s, and the file says %s" % (held, cell, name, rows[name]))


def check_half(runtime, way):
    for dtype, bi in itertools.product((torch.float16, torch.bfloat16), (False, True)):
        torch.manual_seed(0)
        module = nn.LSTM(12, 20, 2, bidirectional=bi).to(dtype)
        ours, x = gpu_test.adopted(runtime, module, ("h_n", "c_n")), torch.randn(5, 3, 12, dtype=dtype)
        with torch.no_grad():
            _, (h, c) = gpu_test.no_warning(lambda: ours(x))
            _, (want_h, want_c) = module.float()(x.float())
        for name, got, want in (("h_n", h, want_h), ("c_n", c, want_c)):
            expect_close(got, want.to(dtype), 4e-3 if dtype is torch.bfloat16 else 6e-4, "%s %s %s" % (way, dtype, name))


def check_loop(runtime):
    torch.manual_seed(0)
    joined, head = nn.Linear(64, 24), nn.Linear(24, 5)
    for x in (torch.randn(6, 4, 40), torch.randn(4, 6, 40).transpose(0, 1), torch.randn(6, 4, 80)[:, :, ::2]):
        with torch.no_grad():
            start = hidden = torch.randn(4, 24)
            y, last = runtime.elman(x, start, joined.weight[:, :40], joined.weight[:, 40:], None, joined.bias, "tanh", head.weight, head.bias)
            outputs = []
            for row in x:
                hidden = torch.tanh(joined(torch.cat((row, hidden), 1)))
                outputs.append(head(hidden))
            expect_close(y, torch.stack(outputs), 2e-6, "loop outputs")
            expect_close(last, hidden, 2e-6, "loop state")


def check_reload(runtime, way=""):
    for kind in (nn.GRU, nn.LSTM):
        module, state = kind(8, 16, 2), torch.randn(2, 2, 16)
        state = (state, state) if kind is nn.LSTM else state
        ours, x = gpu_test.adopted(runtime, module), torch.randn(3, 2, 8)
        with torch.no_grad():
            gpu_test.no_warning(lambda: ours(x, state))
            module.weight_hh_l1.mul_(2)
            ours.load_state_dict(module.state_dict())
            expect_close(ours(x, state)[0], module(x, state)[0], 2e-3, "reloaded weights of %s %s" % (kind.__name__, way))


def check_reset():
    """After a device reset the driver rejects every launch: one warning with the driver's message, and PyTorch's answer."""
    runtime = gpu_test.load_runtime()
    on_cpu(runtime)
    module = nn.GRU(8, 16, 2)
    ours, x = gpu_test.adopted(runtime, module), torch.randn(3, 2, 8)

    def words(code, text):
        text._obj.value = b"context is destroyed"
        return 0

    lost = runtime._Driver.__new__(runtime._Driver)
    lost.library, lost.contexts = types.SimpleNamespace(cuGetErrorString=words, cuCtxSetCurrent=lambda _: 0), {0: ctypes.c_void_p(1)}
    lost.launch_kernel = lambda *_: 709
    with torch.no_grad(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ours(x)  # it worked before
        runtime._driver = lambda: lost
        expect_close(ours(x)[0], module(x)[0], 1e-6, "after a device reset")
        expect_close(ours(x)[0], module(x)[0], 1e-6, "after a device reset, again")
    told = [str(w.message) for w in said if "Hone's" in str(w.message)]
    if len(told) != 1 or "context is destroyed (709)" not in told[0]:
        failures.append("a device reset is not told once, but %s" % told)
        print(failures[-1])


def check_host_work(runtime, driver):
    """The host's cost of a call, in counts that do not depend on the machine's load. For a known shape, only its launches and products
    reach the driver, and few functions are called."""
    products = []
    driver.compute, runtime.torch.mm = False, lambda *_, **__: products.append(1)
    for directions, layers, most_functions in ((1, 6, 60), (2, 6, 90)):
        ours = gpu_test.adopted(runtime, nn.GRU(128, 256, layers, bidirectional=directions == 2), ("sequence",))
        x, h0 = torch.rand(512, 10, 128), torch.rand(layers * directions, 10, 256)
        with torch.no_grad():
            ours(x, h0)
            expect(any(c.startswith("load") for c in driver.calls), "the first call loads kernels")
            driver.calls, functions = [], []
            products.clear()
            sys.setprofile(lambda frame, event, _: functions.append(frame.f_code.co_name) if event == "call" else None)
            try:
                ours(x, h0)
            finally:
                sys.setprofile(None)
        launches = layers if directions == 2 else 1
        want = ["launch product_tf32", *["launch recurrent_cluster"] * launches]
        expect(driver.calls == want, "%d directions: a call is %s, not %s" % (directions, driver.calls, want))
        expect(len(products) == launches - 1, "%d directions: %d products of torch's" % (directions, len(products)))
        print("%d directions: %d functions of Python per call" % (directions, len(functions)))
        expect(len(functions) <= most_functions, "%d directions: a call runs %d functions of Python: %s" % (directions, len(functions), functions))


def main():
    gpu_test.DEVICE = "cpu"
    runtime = gpu_test.load_runtime()
    driver = on_cpu(runtime)
    check_modules(runtime)
    check_loop(runtime)
    check_reload(runtime)
    check_half(runtime, "cluster")
    check_reset()
    check_host_work(runtime, driver)
    for way in ("grid", "step"):
        runtime = gpu_test.load_runtime(gpu_test.WHOLE_RUNTIME, (way,))
        runtime._StepPlan._replay = runtime._StepPlan._run  # no graphs without a GPU
        on_cpu(runtime)
        check_modules(runtime, way)
        check_reload(runtime, way)
        check_half(runtime, way)
    runtime = gpu_test.load_runtime(gpu_test.WHOLE_RUNTIME)
    on_cpu(runtime)
    check_predictions(runtime)
    check_hidden(runtime)
    print("%d wrong" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
