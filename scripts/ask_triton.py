#!/usr/bin/env python3
"""Puts candidates to the real Triton compiler, on a machine without a GPU.

A stand-in for the CUDA driver compiles for sm_90 and launches nothing, and tensors that ask for a GPU stay on the
CPU, so a candidate runs from its constructor to the end of forward() exactly as far as Triton lets it.
One line of JSON per file: {"file", "ok", "kind", "line", "detail", "cause"}.

    PYTHONPATH=FOLDER_WITH_ANOTHER_TRITON ask_triton.py FILE...

A file brings its own get_inputs and get_init_inputs. What it prints is what Triton refuses, not what is wrong or slow."""
import importlib.util
import json
import multiprocessing
import os
import re
import sys
import traceback
import warnings



# Replaces the machine code: ptxas takes most of the time and hardly ever rejects code.
NO_BINARY = b"none"


def install():
    import torch
    import triton
    from torch.overrides import TorchFunctionMode
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.runtime import autotuner, driver

    release = tuple(int(part) for part in triton.__version__.split(".")[:2])

    class Utils:
        def get_device_properties(self, device):
            return {"max_shared_mem": 232448, "multiprocessor_count": 132, "max_num_regs": 65536, "warpSize": 32,
                    "sm_clock_rate": 1, "mem_clock_rate": 1, "mem_bus_width": 1}

        def load_binary(self, *args):
            return (1, 1, 32, 0, 1024) if release >= (3, 4) else (1, 1, 32, 0)

        def unload_module(self, *args):
            pass

    class Driver:
        utils = Utils()
        launcher_cls = staticmethod(lambda src, metadata: lambda *args: None)

        def get_current_device(self):
            return 0

        def get_current_stream(self, device=None):
            return 0

        def get_current_target(self):
            return GPUTarget("cuda", 90, 32)

        def get_active_torch_device(self):
            return torch.device("cpu")

        def get_device_interface(self):
            return torch.cpu

        def get_benchmarker(self):
            return bench

    def bench(call, quantiles=None, **kwargs):
        call()
        return [1.0, 1.0, 1.0]

    driver.set_active(Driver())
    autotuner.do_bench = bench
    import triton.testing
    triton.testing.do_bench = bench
    CUDABackend.make_cubin = lambda self, src, metadata, *rest: NO_BINARY

    def home(value):
        if isinstance(value, torch.device) and value.type == "cuda":
            return torch.device("cpu")
        if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
            return "cpu"
        return value

    class OnCpu(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "")
            if name == "cuda":
                return args[0]
            if name == "__get__" and getattr(function, "__self__", None) is torch.Tensor.is_cuda:
                return True
            return function(*[home(a) for a in args], **{k: home(v) for k, v in (kwargs or {}).items()})

    torch.nn.Module.cuda = lambda self, device=None: self
    torch.cuda.is_available = lambda: True
    torch.cuda.synchronize = lambda *args: None
    torch.cuda.current_device = lambda: 0
    torch.cuda.empty_cache = lambda: None
    torch.cuda.get_device_capability = lambda *args: (9, 0)
    properties = type("P", (), {"multi_processor_count": 132, "name": "H200", "major": 9, "minor": 0})
    torch.cuda.get_device_properties = lambda *args: properties
    return OnCpu()


def ask(path):
    warnings.simplefilter("ignore")
    import torch
    mode = install()
    try:
        with mode:
            spec = importlib.util.spec_from_file_location("candidate_" + re.sub(r"\W", "_", os.path.basename(path)), path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            inputs = module.get_inputs() if hasattr(module, "get_inputs") else []
            init = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
            model = module.ModelNew(*init) if isinstance(init, (list, tuple)) else module.ModelNew(**init)
            with torch.no_grad():
                model(*inputs)
    except BaseException as error:
        chain = error
        while chain.__cause__ is not None:
            chain = chain.__cause__
        detail = " | ".join(line.strip() for line in str(error).splitlines() if line.strip())
        where = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
        return {"file": os.path.basename(path), "ok": False, "kind": type(chain).__name__,
                "line": where[-1].lineno if where else 0, "detail": detail[-300:], "cause": str(chain)[-200:]}
    return {"file": os.path.basename(path), "ok": True, "kind": "", "detail": ""}


def child(path, out):
    sys.stdout = open(os.devnull, "w")
    sys.stderr = sys.stdout
    out.put(ask(path))


def main():
    context = multiprocessing.get_context("fork")
    import torch  # noqa: F401
    import triton
    print(json.dumps({"triton": triton.__version__}))
    for path in sys.argv[1:]:
        out = context.Queue()
        process = context.Process(target=child, args=(os.path.abspath(path), out))
        process.start()
        try:
            answer = out.get(timeout=120)
        except Exception:
            answer = {"file": os.path.basename(path), "ok": False, "kind": "died", "detail": ""}
        process.join(5)
        if process.is_alive():
            process.kill()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
