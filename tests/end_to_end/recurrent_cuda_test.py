"""The CUDA runtime for recurrent networks against float64 and against PyTorch on a Hopper GPU: odd shapes, a stress regime,
repeats, streams, threads, graphs, reloaded weights, and everything it must leave to PyTorch.

Usage: recurrent_cuda_test.py [--quick] [SECTION...]
Prints what fails and one line per section; exit code 1 when anything failed, 77 without torch or a suitable GPU.
"""

import argparse
import concurrent.futures
import copy
import itertools
import os
import sys
import tempfile
import threading
import time
import types
import warnings

import runtime_text
import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn

CLUSTER_RUNTIME, WHOLE_RUNTIME = runtime_text.CLUSTER, runtime_text.WHOLE


def load_runtime(files=CLUSTER_RUNTIME, ways=None, **extra_macros):
    """The runtime as a recipe writes it into a candidate, as a separate module. `ways`: the ways to run a shape, if there are several."""
    module = types.ModuleType("recurrent_runtime")
    exec(compile(runtime_text.runtime_text(files), "recurrent_runtime.py", "exec"), module.__dict__)
    module._EXTRA_MACROS.update(extra_macros)
    module._only_ways = ways
    return module


DEVICE = "cuda"
KINDS = {"GRU": nn.GRU, "LSTM": nn.LSTM, "RNN_TANH": nn.RNN, "RNN_RELU": nn.RNN}
QUICK = False
failures = []
passed = 0


def expect(condition, what):
    global passed
    passed += bool(condition)
    if not condition:
        failures.append(what)
        print("FAILED ", what, flush=True)


def layer(cell, inputs, hidden, layers, **options):
    if cell == "RNN_RELU":
        options["nonlinearity"] = "relu"
    return KINDS[cell](inputs, hidden, layers, **options).to(DEVICE).eval()


def adopted(runtime, module, outputs=None):
    """A copy of the module that runs the kernel."""
    holder = nn.ModuleList([copy.deepcopy(module)])
    runtime.adopt(holder, {"0": outputs} if outputs else None)
    return holder[0]


def flat(answer):
    y, state = answer
    return [t for t in (y, *(state if isinstance(state, tuple) else (state,)))]


def reference(module, x, state):
    """In float64, step by step on the device without cuDNN."""
    double = copy.deepcopy(module).double()
    up = lambda s: None if s is None else tuple(up(t) for t in s) if isinstance(s, tuple) else s.double()
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):
        return flat(double(x.double(), up(state)))


def error(got, want):
    if got is None or got.shape != want.shape or not torch.isfinite(got).all():
        return float("inf")
    return float((got.double() - want.double()).norm() / want.double().norm().clamp_min(1e-30))


def no_warning(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def draw_case(cell, T, B, I, H, L, bi=False, bf=False, bias=True, state=True, stress=False, **_):
    torch.manual_seed(T + B + I + H + L)
    module = layer(cell, I, H, L, bidirectional=bi, batch_first=bf, bias=bias)
    draw = torch.randn if stress else torch.rand
    if stress:
        with torch.no_grad():
            for name, w in module.named_parameters():
                if name.startswith("weight_ih"):
                    w.mul_(2)
                if name.startswith("bias_ih") and cell in ("GRU", "LSTM"):
                    w[H : 2 * H] += 2.0
    x = draw(*((B, T, I) if bf else (T, B, I)), device=DEVICE)
    shape = (L * (2 if bi else 1), B, H)
    h0 = draw(*shape, device=DEVICE) if state else None
    return module, x, (h0, draw(*shape, device=DEVICE)) if cell == "LSTM" and state else h0


def compare(runtime, precision="tf32", dtype=torch.float32, may_decline=False, **case):
    """Compares with float64, relative to PyTorch's own error. True if a kernel ran."""
    label = "%s %s %s" % (precision, runtime._only_ways or "", " ".join("%s=%s" % item for item in case.items()))
    module, x, state = draw_case(**case)
    if dtype is not torch.float32:
        label = "%s %s" % (dtype, label)
        module, x = module.to(dtype), x.to(dtype)
        state = tuple(s.to(dtype) for s in state) if isinstance(state, tuple) else None if state is None else state.to(dtype)
    ours = adopted(runtime, module)
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=precision == "tf32"):
        first = flat(ours(x, state) if may_decline else no_warning(lambda: ours(x, state)))
        second = flat(ours(x, state))
        theirs = flat(module(x, state))
    want = reference(module, x, state)
    floor = {torch.float16: 2e-3, torch.bfloat16: 1e-2}.get(dtype, 1e-3 if precision == "tf32" else 2e-6)
    for name, got, again, own, exact in zip(("y", "h_n", "c_n"), first, second, theirs, want):
        limit, e = max(floor, 2 * error(own, exact)), error(got, exact)
        expect(e <= limit, "%s: %s is off by %.2e, PyTorch by %.2e" % (label, name, e, error(own, exact)))
        expect(torch.equal(got, again), "%s: %s differs from call to call" % (label, name))
        expect(got.data_ptr() != again.data_ptr(), "%s: %s is one buffer for both calls" % (label, name))
    entry = runtime._entries.get(ours)
    return entry is not None and any(type(plan) is not str for stack in entry.stacks.values() for plan in stack.plans.values())


def section_tasks(runtime):
    big = dict(T=512, B=10, I=128, H=256, L=6)
    for cell in ("GRU", "LSTM"):
        for bi in (False, True):
            compare(runtime, cell=cell, bi=bi, bf=cell == "LSTM", **big)
            compare(runtime, cell=cell, bi=bi, stress=True, **big)
        compare(runtime, "fp32", cell=cell, **big)


def section_odd(runtime):
    shapes = [(1, 1, 7, 33, 1), (5, 3, 7, 33, 2), (33, 3, 128, 100, 6), (64, 17, 7, 100, 2), (2, 5, 3, 1, 2), (9, 17, 128, 64, 1), (7, 1, 7, 320, 2), (1, 10, 128, 256, 6)]
    for T, B, I, H, L in shapes[:3] if QUICK else shapes:
        for cell in ("GRU", "LSTM") if QUICK else KINDS:
            for bi in (False, True):
                for precision in ("tf32", "fp32"):
                    if cell == "RNN_RELU" and precision == "fp32" or precision == "fp32" and H > 256:
                        continue
                    compare(runtime, precision, cell=cell, T=T, B=B, I=I, H=H, L=L, bi=bi)
                    compare(runtime, precision, cell=cell, T=T, B=B, I=I, H=H, L=L, bi=bi, bias=False, bf=True, state=False)


# Each of several ways to run a shape is tested alone: odd sizes, several teams, phases and chained slabs, K that does not divide.
GRID = [
    dict(T=1, B=1, I=7, H=33, L=1), dict(T=9, B=3, I=7, H=33, L=2), dict(T=33, B=17, I=7, H=100, L=3), dict(T=21, B=128, I=32, H=256, L=4),
    dict(T=37, B=32, I=64, H=1024, L=2), dict(T=17, B=5, I=16, H=1000, L=1), dict(T=12, B=70, I=16, H=640, L=2), dict(T=8, B=40, I=8, H=1500, L=1),
    dict(T=300, B=12, I=40, H=420, L=2)]  # fmt: skip


def compile_ahead(runtime, cases):
    """Compiles the kernels of all these cases on all cores, because compilation on first use is sequential."""
    processors, jobs = torch.cuda.get_device_properties(0).multi_processor_count, {}
    for case, cell, bi, parts in itertools.product(cases, ("GRU", "LSTM", "RNN_TANH"), (False, True), (1, 2)):
        if parts == 1 or case["H"] <= 640:
            choice = runtime._choose_grid(cell, case["H"], case["L"], 1 + bi, case["T"], case["B"], parts, processors, 227 * 1024)
            jobs.update({tuple(shape.macros.items()): shape.macros for shape, _, _ in choice.launches})
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda macros: next(iter(runtime._images("recurrent_grid", runtime._arch(0, "recurrent_grid"), macros))), jobs.values()))


def section_grid(_runtime):
    runtime = load_runtime(WHOLE_RUNTIME, ("grid",))
    compile_ahead(runtime, GRID[1:4] if QUICK else GRID)
    for case in GRID[1:4] if QUICK else GRID:
        for cell in ("GRU", "LSTM", "RNN_TANH"):
            for bi in (False, True):
                compare(runtime, cell=cell, bi=bi, stress=True, **case)
                if case["H"] <= 640:
                    compare(runtime, "fp32", cell=cell, bi=bi, bias=False, bf=True, state=False, **case)
    for dtype in (torch.float16, torch.bfloat16):
        compare(runtime, cell="GRU", dtype=dtype, **GRID[2])
        compare(runtime, cell="LSTM", dtype=dtype, bi=True, bf=True, **GRID[3])
    for section in (section_inputs, section_repeats, section_streams, section_graph, section_weights):
        section(runtime)


def section_step(_runtime):
    runtime = load_runtime(WHOLE_RUNTIME, ("step",))
    for case in [dict(T=9, B=3, I=7, H=33, L=2), dict(T=12, B=70, I=16, H=640, L=2), dict(T=6, B=300, I=16, H=2048, L=1)][: 1 if QUICK else 3]:
        for cell in ("GRU", "LSTM", "RNN_TANH"):
            for bi in (False, True):
                compare(runtime, cell=cell, bi=bi, **case)
        compare(runtime, cell="GRU", bf=True, state=False, **case)
        compare(runtime, cell="LSTM", dtype=torch.bfloat16, bi=True, **case)
    for section in (section_inputs, section_repeats, section_graph, section_weights):
        section(runtime)


def section_half(runtime):
    for dtype in (torch.float16, torch.bfloat16):
        compare(runtime, cell="GRU", dtype=dtype, T=64, B=10, I=128, H=256, L=6)
        compare(runtime, cell="LSTM", dtype=dtype, T=64, B=10, I=128, H=256, L=2, bi=True, bf=True)
        compare(runtime, cell="RNN_TANH", dtype=dtype, T=9, B=3, I=7, H=33, L=2)


def section_chosen(_runtime):
    """With every way allowed, the one with the shortest predicted time runs, or PyTorch if that is faster."""
    runtime = load_runtime(WHOLE_RUNTIME)
    for case, way in ((dict(T=64, B=8, I=64, H=256, L=2), "cluster"), (dict(T=64, B=8, I=64, H=1024, L=1), "grid")):
        module, x, state = draw_case("GRU", **case)
        ours = adopted(runtime, module)
        with torch.no_grad():
            no_warning(lambda: ours(x, state))
        plans = next(iter(runtime._entries[ours].stacks.values())).plans
        expect([p.way for p in plans.values()] == [way], "%s is not run by %s" % (case, way))


# Extreme shapes of users. PyTorch may compute the answer, but there must be one.
EXTREMES = [
    dict(T=8192, B=1, I=16, H=64, L=1), dict(T=8192, B=3, I=1, H=256, L=2), dict(T=16, B=1024, I=32, H=256, L=2), dict(T=4, B=1024, I=64, H=4096, L=1),
    dict(T=4, B=1, I=64, H=4096, L=1), dict(T=1, B=1024, I=1, H=1, L=1), dict(T=16, B=2, I=3, H=1, L=12), dict(T=64, B=8, I=128, H=256, L=12),
    dict(T=100, B=1, I=5, H=33, L=12), dict(T=20, B=33, I=2048, H=1537, L=1), dict(T=3, B=1000, I=17, H=95, L=3)]  # fmt: skip


def section_extremes(_runtime):
    runtime, taken, cases = load_runtime(WHOLE_RUNTIME), 0, 0
    for case in EXTREMES[4:7] if QUICK else EXTREMES:
        for cell in ("GRU", "LSTM", "RNN_TANH"):
            for bi in (False, True):
                if bi and case["H"] * case["B"] > 1 << 20:
                    continue  # float64, step by step, takes minutes
                taken += compare(runtime, may_decline=True, cell=cell, bi=bi, **case)
                cases += 1
        torch.cuda.empty_cache()
    print("%d of %d corners are taken, the others left to PyTorch" % (taken, cases))
    expect(QUICK or taken > 0, "no corner is taken")


def section_first(_runtime):
    """A given h0 affects the first steps most, in which PyTorch computes its product in float32. Checks the worst of all elements, as the judge
    does."""
    for files, ways in ((CLUSTER_RUNTIME, None), (WHOLE_RUNTIME, ("grid",)), (WHOLE_RUNTIME, ("step",))):
        runtime = load_runtime(files, ways)
        for cell in ("LSTM", "RNN_TANH"):
            for bi in (False, True):
                case = dict(cell=cell, T=48, B=10, I=128, H=256, L=3, bi=bi)
                module, x, state = draw_case(**case)
                ours = adopted(runtime, module)
                with torch.no_grad():
                    got, own = flat(no_warning(lambda: ours(x, state))), flat(module(x, state))
                for name, mine, theirs, exact in zip(("y", "h_n", "c_n"), got, own, reference(module, x, state)):
                    off = [float((t.double() - exact).abs().max()) for t in (mine, theirs)]
                    expect(off[0] <= 2 * off[1], "%s %s: an element of %s is off by %.2e, PyTorch's worst by %.2e" % (ways, case, name, *off))


GRU = dict(cell="GRU", T=64, B=10, I=128, H=256, L=6)


def section_inputs(runtime):
    """Views, unbatched input, no h0, no gradients, unused outputs."""
    for case in (GRU, dict(GRU, bi=True, L=2), dict(GRU, cell="LSTM", bf=True)):
        module, x, state = draw_case(**case)
        ours = adopted(runtime, module)
        both = lambda *arguments: (flat(no_warning(lambda: ours(*arguments))), flat(module(*arguments)))
        with torch.no_grad():
            wide = torch.rand(*x.shape[:2], 256, device=DEVICE)
            turned = torch.rand(x.size(1), x.size(0), x.size(2), device=DEVICE)
            shifted = torch.rand(x.numel() + 1, device=DEVICE)[1:].view(x.shape)
            asked = x.clone().requires_grad_()
            for name, view in (("strided", wide[:, :, ::2]), ("sliced", wide[:, :, 3:131]), ("transposed", turned.transpose(0, 1)), ("unaligned", shifted), ("requires_grad", asked)):
                for got, own in zip(*both(view, state)):
                    expect(error(got, own) < 2e-3, "%s input, %s" % (name, case))
            alone = x[:, 0] if not case.get("bf") else x[0]
            for got, own in zip(*both(alone)):
                expect(error(got, own) < 2e-3, "unbatched input, %s" % case)
            before = x.clone()
            y = flat(module(x, state))[0]
            for outputs in (("last",), ("h_n",), ("last", "h_n"), ("sequence",)):
                part = adopted(runtime, module, outputs)
                got, rest = no_warning(lambda: part(x, state))
                if "last" in outputs:
                    axis = 1 if case.get("bf") else 0
                    last = lambda t: t.narrow(axis, t.size(axis) - 1, 1)
                    expect(error(last(got), last(y)) < 2e-3, "last step, %s" % case)
                expect(got.shape == y.shape and got.device == y.device, "shape where not all is computed, %s" % case)
                expect((type(got) is not torch.Tensor) == (outputs == ("h_n",)), "y where it is not wanted, %s" % case)
            expect(torch.equal(x, before), "the input was changed")


def section_repeats(runtime):
    for case in (GRU, dict(GRU, bi=True, L=2), dict(GRU, cell="LSTM")):
        module, x, state = draw_case(**case)
        ours = adopted(runtime, module)
        with torch.no_grad():
            first = flat(ours(x, state))
            same = all(all(torch.equal(a, b) for a, b in zip(first, flat(ours(x, state)))) for _ in range(50 if QUICK else 200))
        expect(same, "repeats differ, %s" % case)


def section_streams(runtime):
    """One instance on two streams and from four threads, a second one beside it, a large product on a third stream."""
    module, x, state = draw_case(**GRU)
    ours, other = adopted(runtime, module), adopted(runtime, module)
    with torch.no_grad():
        want = ours(x, state)[0]
        other(x, state)
        torch.cuda.synchronize()
        streams, answers = [torch.cuda.Stream() for _ in range(3)], []
        load = torch.randn(4096, 4096, device=DEVICE, dtype=torch.bfloat16)
        for _ in range(10):
            for instance, stream in ((ours, streams[0]), (ours, streams[1]), (other, streams[1])):
                with torch.cuda.stream(stream):
                    answers.append(instance(x, state)[0])
            with torch.cuda.stream(streams[2]):
                load @ load
        torch.cuda.synchronize()
        expect(all(torch.equal(a, want) for a in answers), "answers on several streams differ")
        answers.clear()

        def work():
            with torch.no_grad():
                for _ in range(20):
                    answers.append(ours(x, state)[0])

        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads], [t.join() for t in threads]
        torch.cuda.synchronize()
        expect(len(answers) == 80 and all(torch.equal(a, want) for a in answers), "answers from several threads differ")


def section_graph(runtime):
    for case in (GRU, dict(GRU, bi=True, L=2), dict(GRU, cell="LSTM")):
        module, x, state = draw_case(**case)
        ours = adopted(runtime, module)
        with torch.no_grad():
            ours(x, state)
            torch.cuda.synchronize()
            graphs = []
            for _ in range(2):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    answer = no_warning(lambda: ours(x, state))[0]
                graphs.append((graph, answer))
            for _ in range(3):
                x.copy_(torch.rand_like(x))
                want = ours(x, state)[0]
                for graph, _ in graphs:
                    graph.replay()
                torch.cuda.synchronize()
                expect(all(torch.equal(answer, want) for _, answer in graphs), "a replayed graph differs, %s" % case)
            kept = graphs[0][1].clone()
            ours.weight_hh_l0.mul_(0.5)
            graphs[0][0].replay()
            torch.cuda.synchronize()
            expect(torch.equal(graphs[0][1], kept), "a captured graph does not keep the weights of its capture, %s" % case)
            cold = adopted(runtime, module)
            with warnings.catch_warnings(record=True) as said, torch.cuda.graph(torch.cuda.CUDAGraph()):
                warnings.simplefilter("always")
                cold(x, state)
            expect(any("captured" in str(w.message) for w in said) or case is not GRU, "capturing before a first call is not told")


def section_weights(runtime):
    module, x, state = draw_case(**GRU)
    ours = adopted(runtime, module)
    expect(list(ours.state_dict()) == list(module.state_dict()), "the state_dict changed")
    with torch.no_grad():
        ours(x, state)
        other = layer("GRU", 128, 256, 6)
        ours.load_state_dict(other.state_dict())
        expect(error(ours(x, state)[0], other(x, state)[0]) < 2e-3, "reloaded weights are not seen")
        ours.weight_hh_l2.mul_(0.5)
        other.weight_hh_l2.mul_(0.5)
        expect(error(ours(x, state)[0], other(x, state)[0]) < 2e-3, "a weight changed in place is not seen")
        twin = copy.deepcopy(ours)
        twin.bias_ih_l0.add_(1)
        other_twin = copy.deepcopy(other)
        other_twin.bias_ih_l0.add_(1)
        expect(error(twin(x, state)[0], other_twin(x, state)[0]) < 2e-3, "a deep copy does not follow its own weights")
        expect(error(ours(x, state)[0], other(x, state)[0]) < 2e-3, "a deep copy disturbed the original")
        many = [adopted(runtime, module) for _ in range(50)]
        want = many[0](x, state)[0]
        expect(all(torch.equal(m(x, state)[0], want) for m in many), "instances differ")


def section_loop(runtime):
    """A hand-written loop with plain Linears: float32, unless PyTorch's own products may be less exact."""
    torch.manual_seed(0)
    i2h, h2o = nn.Linear(1280, 256).to(DEVICE), nn.Linear(256, 128).to(DEVICE)
    x, h0 = torch.rand(256, 8, 1024, device=DEVICE), torch.rand(8, 256, device=DEVICE)

    def loop(i2h, h2o, x, hidden):
        outputs = []
        for t in range(x.size(0)):
            hidden = torch.tanh(i2h(torch.cat((x[t], hidden), 1)))
            outputs.append(h2o(hidden))
        return torch.stack(outputs), hidden

    with torch.no_grad():
        exact = loop(copy.deepcopy(i2h).double(), copy.deepcopy(h2o).double(), x.double(), h0.double())
        for allow in (False, True):
            torch.backends.cuda.matmul.allow_tf32 = allow
            try:
                own = loop(i2h, h2o, x, h0)
                for view in (x, x.transpose(0, 1).contiguous().transpose(0, 1)):
                    call = lambda: runtime.elman(view, h0, i2h.weight[:, :1024], i2h.weight[:, 1024:], i2h.bias, None, "tanh", h2o.weight, h2o.bias)
                    for got, theirs, want in zip(no_warning(call), own, exact):
                        limit = max(4 * 2**-23, 2 * error(theirs, want))
                        expect(error(got, want) <= limit, "loop, tf32 %s: off by %.2e, PyTorch by %.2e" % (allow, error(got, want), error(theirs, want)))
            finally:
                torch.backends.cuda.matmul.allow_tf32 = False


def section_fallbacks(runtime):
    module, x, state = draw_case(**GRU)

    def told(word, call):
        runtime._warned.clear()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            answer = call()
            call()
        said = [w for w in said if "Hone's" in str(w.message)]
        expect([word in str(w.message) for w in said] == [True], "%s: not told once, but %s" % (word, [str(w.message) for w in said]))
        return answer

    ours = adopted(runtime, module)
    y = told("gradients", lambda: ours(x, state)[0])
    expect(y.requires_grad and torch.equal(y, module(x, state)[0]), "with gradients the answer is not PyTorch's")
    with torch.no_grad():
        double = adopted(runtime, module.double())
        expect(torch.equal(told("float32", lambda: double(x.double(), state.double())[0]), module(x.double(), state.double())[0]), "float64")
        module.float()
        packed = nn.utils.rnn.pack_padded_sequence(x, [64] * 10)
        expect(torch.equal(told("packed", lambda: ours(packed, state)[0].data), module(packed, state)[0].data), "a packed sequence")
        cpu = adopted(runtime, module).cpu()
        told("for CUDA", lambda: cpu(x.cpu(), state.cpu()))
        large, wide_x = adopted(runtime, layer("GRU", 16, 1500, 1)), torch.rand(4, 2, 16, device=DEVICE)
        told("hidden units", lambda: large(wide_x))
        with torch.autocast("cuda", dtype=torch.float16):
            told("autocast", lambda: ours(x, state))
        torch.backends.cudnn.allow_tf32 = False
        relu = adopted(runtime, layer("RNN_RELU", 16, 32, 1))
        told("ReLU", lambda: relu(wide_x))
        torch.backends.cudnn.allow_tf32 = True
        try:
            ours(x[:, :, :7], state)
            expect(False, "an input of the wrong size is taken")
        except RuntimeError as e:
            expect("input" in str(e), "PyTorch does not word the error: %s" % e)


def section_surroundings(_runtime):
    """What is missing on a machine costs speed, not the answer: one warning that names it, and PyTorch's own result."""
    module, x, state = draw_case(**GRU)

    def differs(word, change):
        runtime = load_runtime(LIMIT_NS="1999999999u")  # its own macros, which no cache contains
        change(runtime)
        ours = adopted(runtime, module)
        with torch.no_grad(), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            y, again = ours(x, state)[0], ours(x, state)[0]
            own = module(x, state)[0]
        said = [str(w.message) for w in said if "Hone's" in str(w.message)]
        if word:
            expect(len(said) == 1 and word in said[0], "%s: not told once, but %s" % (word, said))
            expect(torch.equal(y, own) and torch.equal(again, own), "%s: the answer is not PyTorch's" % word)
        else:
            expect(not said and error(y, own) < 2e-3, "it does not run: %s" % said)

    def no_compiler(runtime):
        runtime._nvrtc, runtime._compile_nvcc = lambda: None, lambda *_: "there is no nvcc"
        runtime._cache_folders = lambda: iter(())

    def old_driver(runtime):
        def start():
            raise AttributeError("undefined symbol: cuLaunchKernelEx")

        runtime._Driver = start

    def no_memory(runtime):
        class Full:
            def __getattr__(self, name):
                return getattr(torch, name)

            def empty(self, *_, **__):
                raise torch.cuda.OutOfMemoryError("CUDA out of memory")

        runtime.torch = Full()

    def read_only_cache(runtime):
        runtime._cache_folders = lambda: iter(("/proc/hone-kernels",))

    def broken_cache(runtime):
        folder = tempfile.mkdtemp(prefix="hone-test-")
        runtime._cache_folders = lambda: iter((folder,))
        original = runtime._images

        def images(name, arch, macros):
            yield b"not a cubin"
            yield from original(name, arch, macros)

        runtime._images = images

    differs("could not be built", no_compiler)
    differs("too old", old_driver)
    differs("memory", no_memory)
    differs("", read_only_cache)
    differs("", broken_cache)


def section_watchdog(_runtime):
    for files, ways in ((CLUSTER_RUNTIME, None), (WHOLE_RUNTIME, ("grid",))):
        stuck(load_runtime(files, ways, STALL_FOR_TEST=1, LIMIT_NS="100000000u"))


def stuck(runtime):
    module, x, state = draw_case(**GRU)
    ours = adopted(runtime, module)
    with torch.no_grad():
        began = time.perf_counter()
        ours(x, state)
        torch.cuda.synchronize()
        expect(time.perf_counter() - began < 30, "a stuck peer holds the device")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            y = ours(x, state)[0]
        expect(any("watchdog" in str(w.message) for w in said), "a stuck peer is not told")
        expect(torch.equal(y, module(x, state)[0]), "after a stuck peer the answer is not PyTorch's")


SECTIONS = {name[8:]: f for name, f in list(globals().items()) if name.startswith("section_")}


def main():
    global QUICK
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("sections", nargs="*")
    options = parser.parse_args()
    QUICK = options.quick
    if not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] < 9:
        print("skipped: no GPU of sm_90 or later")
        return 77
    runtime = load_runtime()
    for name in options.sections or SECTIONS:
        began, before, failed = time.perf_counter(), passed, len(failures)
        try:
            SECTIONS[name](runtime)
        except Exception as e:  # the next section may still be useful
            expect(False, "%s stopped: %s: %s" % (name, type(e).__name__, str(e)[:300]))
        print("%s: %d passed, %d failed, %.1f s" % (name, passed - before, len(failures) - failed, time.perf_counter() - began), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
