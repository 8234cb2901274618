"""The Triton runtime for recurrent networks against float64 and against PyTorch. Without --gpu in Triton's interpreter, every program a
process of its own, so that they wait for each other as on a device; with it on the GPU: odd shapes, stacks as wavefronts, both directions,
a stress regime, repeats beside a busy stream, reloaded weights.

Usage: recurrent_triton_test.py [--gpu [--bench]]
Prints what fails; exit code 1 when anything failed, 77 without torch, Triton or, with --gpu, a GPU.
"""

import argparse
import copy
import importlib.util
import os
import pathlib
import statistics
import sys
import tempfile
import traceback
import warnings

import runtime_text
import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn

KINDS = {"GRU": nn.GRU, "LSTM": nn.LSTM, "RNN_TANH": nn.RNN, "RNN_RELU": nn.RNN}
failures = []
passed = 0


def load_runtime(folder):
    """The runtime as the recipe writes it into a candidate. Triton reads the source of its kernels from a file."""
    path = pathlib.Path(folder) / "recurrent_triton_runtime.py"
    path.write_text(runtime_text.runtime_text(runtime_text.TRITON))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def mend_interpreter():
    """Triton 3.6 converts arrays of one element to numbers in a way that NumPy 2.4 rejects. It also runs programs one after the other,
    so that a barrier between them would never be passed. Here each program is a process, on tensors in shared memory."""
    import triton.runtime.interpreter as interpreter

    class Done(BaseException):
        pass

    builder, own = interpreter.interpreter_builder, []
    patch_tensor, set_index, run_grid = interpreter._patch_lang_tensor, type(builder).set_grid_idx, interpreter.GridExecutor.__call__

    def patch(tensor, scope):
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    def index(self, x, y, z):
        if own:
            os._exit(0)  # this process has run its program
        programs = [(i, j, k) for i in range(self.grid_dim[0]) for j in range(self.grid_dim[1]) for k in range(self.grid_dim[2])]
        children = []
        for program in programs:
            child = os.fork() if len(programs) > 1 else 0
            if child == 0:
                own.extend(programs[1:])
                return set_index(self, *program)
            children.append(child)
        codes = [os.waitpid(child, 0)[1] for child in children]
        if any(codes):
            raise RuntimeError("programs ended with %s" % codes)
        raise Done

    def run(self, *arguments, **named):
        for tensor in arguments:
            if isinstance(tensor, torch.Tensor):
                tensor.share_memory_()
        try:
            return run_grid(self, *arguments, **named)
        except Done:
            return None
        except BaseException:
            if own:
                traceback.print_exc()
                os._exit(1)
            raise

    interpreter._patch_lang_tensor, type(builder).set_grid_idx, interpreter.GridExecutor.__call__ = patch, index, run


def expect(condition, what):
    global passed
    passed += bool(condition)
    if not condition:
        failures.append(what)
        print("FAILED ", what, flush=True)


def draw(device, cell, T, B, I, H, L=1, bi=False, bf=False, bias=True, state=True, stress=False):
    torch.manual_seed(T + B + I + H + L)
    options = {"nonlinearity": "relu"} if cell == "RNN_RELU" else {}
    module = KINDS[cell](I, H, L, bidirectional=bi, batch_first=bf, bias=bias, **options).to(device).eval()
    sample = torch.randn if stress else torch.rand
    if stress:
        with torch.no_grad():
            for name, w in module.named_parameters():
                if name.startswith("weight_ih"):
                    w.mul_(2)
                if name.startswith("bias_ih") and cell in ("GRU", "LSTM"):
                    w[H : 2 * H] += 2.0
    x = sample(*((B, T, I) if bf else (T, B, I)), device=device)
    shape = (L * (2 if bi else 1), B, H)
    h0 = sample(*shape, device=device) if state else None
    return module, x, (h0, sample(*shape, device=device)) if cell == "LSTM" and state else h0


def adopted(runtime, module):
    return runtime.adopt(nn.ModuleList([copy.deepcopy(module)]))[0]


def flat(answer):
    y, state = answer
    return [y, *(state if isinstance(state, tuple) else (state,))]


def error(got, want):
    if got.shape != want.shape or not torch.isfinite(got).all():
        return float("inf")
    return float((got.double() - want.double()).norm() / want.double().norm().clamp_min(1e-30))


def compare(runtime, device, tf32=False, **case):
    label = "%s %s" % ("tf32" if tf32 else "fp32", " ".join("%s=%s" % item for item in case.items()))
    module, x, state = draw(device, **case)
    ours = adopted(runtime, module)
    up = lambda s: None if s is None else tuple(up(t) for t in s) if isinstance(s, tuple) else s.double()
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=tf32), warnings.catch_warnings():
        warnings.simplefilter("error")
        got, again, own = flat(ours(x, state)), flat(ours(x, state)), flat(module(x, state))
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):
        want = flat(copy.deepcopy(module).double()(x.double(), up(state)))
    for name, a, b, theirs, exact in zip(("y", "h_n", "c_n"), got, again, own, want):
        limit = max(1e-3 if tf32 else 2e-6, 2 * error(theirs, exact))
        expect(error(a, exact) <= limit, "%s: %s is off by %.2e, PyTorch by %.2e" % (label, name, error(a, exact), error(theirs, exact)))
        expect(torch.equal(a, b), "%s: %s differs from call to call" % (label, name))


def interpreted(runtime):
    for cell in KINDS:
        compare(runtime, "cpu", cell=cell, T=4, B=3, I=5, H=13)
        compare(runtime, "cpu", cell=cell, T=3, B=17, I=4, H=16, bi=True, L=2, bf=True, stress=cell != "RNN_RELU")
        compare(runtime, "cpu", cell=cell, T=1, B=1, I=1, H=1, bias=False, state=False)
        compare(runtime, "cpu", cell=cell, T=3, B=2, I=4, H=20, L=3, stress=cell != "RNN_RELU")
    w = nn.Linear(9, 6), nn.Linear(6, 2)
    x, h = torch.randn(4, 3, 3), torch.randn(3, 6)
    with torch.no_grad():
        outputs, hidden = [], h
        for step in x:
            hidden = torch.tanh(w[0](torch.cat((step, hidden), 1)))
            outputs.append(w[1](hidden))
        y, last = runtime._elman(x, h, w[0].weight[:, :3], w[0].weight[:, 3:], w[0].bias, None, "tanh", w[1].weight, w[1].bias)
    expect(error(y, torch.stack(outputs)) < 1e-6 and error(last, hidden) < 1e-6, "a loop with a head")


def on_gpu(runtime):
    device = "cuda"
    for tf32 in (True, False):
        for stress in (False, True):
            compare(runtime, device, tf32, cell="GRU", T=64, B=10, I=128, H=256, L=6, stress=stress)
            compare(runtime, device, tf32, cell="LSTM", T=64, B=10, I=128, H=256, L=6, stress=stress)
            compare(runtime, device, tf32, cell="GRU", T=64, B=10, I=128, H=256, L=2, bi=True, stress=stress)
        compare(runtime, device, tf32, cell="LSTM", T=33, B=37, I=20, H=100, L=2, bi=True, bf=True)
        compare(runtime, device, tf32, cell="RNN_TANH", T=50, B=1, I=3, H=7, L=3, state=False)
        compare(runtime, device, tf32, cell="GRU", T=20, B=70, I=40, H=130, L=2, bias=False)
        compare(runtime, device, tf32, cell="RNN_RELU", T=1, B=5, I=16, H=512)
    module, x, state = draw(device, "GRU", 128, 10, 128, 256, 6)
    ours = adopted(runtime, module)
    with torch.no_grad():
        want = ours(x, state)[0]
        load, side = torch.randn(4096, 4096, device=device, dtype=torch.bfloat16), torch.cuda.Stream()
        for i in range(100):
            if i % 4 == 0:
                with torch.cuda.stream(side):
                    load @ load
            expect(torch.equal(ours(x, state)[0], want), "repeat %d differs" % i)
        other, _, _ = draw(device, "GRU", 1, 1, 128, 256, 6, stress=True)
        ours.load_state_dict(other.state_dict())
        expect(error(ours(x, state)[0], other(x, state)[0]) < 2e-3, "reloaded weights are not seen")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        y = ours(x, state)[0]
    expect(y.requires_grad and any("gradients" in str(w.message) for w in said), "gradients are not left to PyTorch")


def bench(runtime):
    for name, case in (("GRU", dict(cell="GRU")), ("LSTM", dict(cell="LSTM")), ("GRU, both directions", dict(cell="GRU", bi=True))):
        module, x, state = draw("cuda", T=512, B=10, I=128, H=256, L=6, **case)
        ours = adopted(runtime, module)
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad():
            for _ in range(2):
                module(x, state), ours(x, state)
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                module(x, state)
            found = {"PyTorch": [], "CUDA graph": [], "ours": []}
            for _ in range(7):
                for who, call in (("PyTorch", lambda: module(x, state)), ("CUDA graph", graph.replay), ("ours", lambda: ours(x, state))):
                    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    begin.record()
                    call()
                    end.record()
                    end.synchronize()
                    found[who].append(begin.elapsed_time(end))
        print("%-22s %s" % (name, "  ".join("%s %.2f ms" % (who, statistics.median(ms)) for who, ms in found.items())), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--bench", action="store_true")
    options = parser.parse_args()
    if importlib.util.find_spec("triton") is None or options.gpu and not torch.cuda.is_available():
        print("skipped: no Triton or no GPU")
        return 77
    if not options.gpu:
        os.environ["TRITON_INTERPRET"] = "1"
        torch.set_num_threads(1)  # processes that fork
        mend_interpreter()
    with tempfile.TemporaryDirectory() as folder:
        runtime = load_runtime(folder)
        (on_gpu if options.gpu else interpreted)(runtime)
        if options.bench:
            bench(runtime)
    print("%d passed, %d failed" % (passed, len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
