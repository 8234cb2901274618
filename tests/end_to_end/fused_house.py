"""Shared by tests of fused kernels: a module becomes a graph, the expert writes its file, and the file runs on a CPU. Files of
cuda/fused_graph are compiled for the host (cuda_on_host.h), and a fake driver launches them. Files of cpu/fused_graph run
unchanged, compiled with less optimisation."""

import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

import torch

HERE = pathlib.Path(__file__).resolve().parent
HOST_FLAGS = ["-std=c++20", "-O0", "-w", "-fPIC", "-ffp-contract=fast", "-DHONE_HOST", "-fno-strict-aliasing"]
CPU_FLAGS = []  # additional compiler flags, for example for narrower vectors
ROOT = HERE.parents[1]
sys.path.insert(0, os.environ.get("HONE_WORKER") or str(ROOT / "worker"))


def graph_of(model, inputs):
    """The graph, marked as verified, because the tests compare answers themselves."""
    import hone_graph

    return {**hone_graph.capture(model, inputs), "verified": True}


def candidate_text(tool, source, graph, folder, device="cuda", recipe=None):
    """The file that the recipe (the fused graph of the device) writes for a task, or its reason for declining."""
    folder = pathlib.Path(folder)
    task = folder / "task.py"
    task.write_text(source)
    machine = {"cores": 2, "threads": 2, "sm": 90, "torch": "2.11.0", "nvcc": True, "nvrtc": True, "gxx": True}
    language, device = device, "cuda" if device == "triton" else device
    if language == "triton":
        machine["has_triton"] = True
    inputs = {"task": str(task), "device": device, "target": language, "machine": machine, "facts": {}, "card": {}, "ceilings": {}, "graph": graph}
    (folder / "inputs.json").write_text(json.dumps(inputs))
    done = subprocess.run([tool, str(folder / "inputs.json"), str(folder / "out")], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    answer = json.loads((folder / "out" / "answer.json").read_text())
    recipe = recipe or language + "/fused_graph"
    for proposal in answer.get("proposals", []):
        if proposal["recipe"] == recipe:
            return (folder / "out" / proposal["file"]).read_text(), None
    return None, next(d["why"] for d in answer["declined"] if d["recipe"] == recipe)


def _compile_header(cache, flags):
    """The standard library's headers take half of a kernel's compile time. Other processes may need this header at the same
    time."""
    made = cache / "cuda_on_host.h.gch"
    with open(cache / "cuda_on_host.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists() or made.stat().st_mtime < (HERE / "cuda_on_host.h").stat().st_mtime:
            subprocess.run(["g++", *flags, "-x", "c++-header", str(HERE / "cuda_on_host.h"), "-o", str(made) + ".tmp"], check=True)
            os.replace(str(made) + ".tmp", made)


class HostDriver:
    """Receives launches as the CUDA driver does and runs them with the kernels compiled for the host."""

    def __init__(self, source, folder):
        wrappers, space = [], ""
        launch = ""
        for found in re.finditer(r'^namespace (in_\w+) \{$|extern "C" __global__ void [^\n]*?(\w+)\(const Arguments a\) \{', source, re.M):
            if found[1]:
                space = found[1]
                body = source[found.end() : source.find("\nnamespace ", found.end())]
                launch = "hone_launch" if re.search(r"__sync|shfl|from_lane|shuffle|merge_lanes|cluster_sync", body) else "hone_launch_apart"
            if found[2]:
                wrappers.append(
                    'extern "C" void run_%s(void* const* a, unsigned b, unsigned t, unsigned c, unsigned long s) {\n  %s::Arguments g;\n'
                    "  std::memcpy(&g, a, sizeof(g));\n  %s([&] { %s::%s(g); }, b, t, c, s);\n}\n" % (found[2], space, launch, space, found[2])
                )
        text = '#include "cuda_on_host.h"\n' + source + "\n" + "\n".join(wrappers)
        name = hashlib.sha256((text + (HERE / "cuda_on_host.h").read_text()).encode()).hexdigest()[:20]
        cache = pathlib.Path(os.environ.get("HONE_HOST_KERNELS") or pathlib.Path(folder).parent)
        cache.mkdir(parents=True, exist_ok=True)
        library = cache / (name + ".so")
        if not library.exists():
            file = cache / (name + ".cpp")
            file.write_text(text)
            _compile_header(cache, HOST_FLAGS)
            subprocess.run(["g++", *HOST_FLAGS, "-shared", "-I", str(cache), "-I", str(HERE), str(file), "-o", str(library) + ".tmp", "-lpthread"], check=True)
            os.replace(str(library) + ".tmp", library)
        self.library, self.entries = ctypes.CDLL(str(library)), []

    def function(self, device, name, macros, entry):
        self.entries.append(getattr(self.library, "run_" + entry))
        return ctypes.c_void_p(len(self.entries))

    def enter(self, device):
        pass

    def __call__(self, name, *arguments):
        if name == "cuOccupancyMaxActiveClusters":  # so few that each takes several rows
            arguments[0]._obj.value = 2

    def launch(self, call):
        config, function, arguments, _ = call
        config = config._obj
        cluster = config.attributes[0].x if config.count else 1
        self.entries[function.value - 1](ctypes.c_void_p(arguments[0]), config.gx, config.bx, cluster, ctypes.c_ulong(config.shared))


class _Poisoned:
    """torch as the file sees it. Fresh memory is filled with NaN, so that memory that no kernel writes is detected."""

    @staticmethod
    def empty(*shape, **options):
        made = torch.empty(*shape, **options)
        return made.fill_(float("nan") if made.is_floating_point() else 1 if made.dtype is torch.bool else 99)

    def __getattr__(self, name):
        return getattr(torch, name)


class _OnCpu(_Poisoned):
    """The same, with questions about devices answered for the CPU."""

    compiler = types.SimpleNamespace(is_compiling=lambda: False)

    def __init__(self):
        here = lambda *_: contextlib.nullcontext()
        stream = types.SimpleNamespace(synchronize=lambda: None)
        self.cuda = types.SimpleNamespace(
            current_device=lambda: 0, OutOfMemoryError=MemoryError, device=here, current_stream=lambda *_: stream, synchronize=lambda *_: None,
            is_current_stream_capturing=lambda: False)  # fmt: skip

    @staticmethod
    def device(*_):
        return torch.device("cpu")


def _import(text, folder):
    path = pathlib.Path(folder) / ("candidate_%s.py" % hashlib.sha256(text.encode()).hexdigest()[:12])
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_cpu(text, folder):
    """A compiled candidate of cpu/fused_graph. Memory that no kernel writes is detected."""
    module = _import(text, folder)
    module._FUSED_FLAGS = ["-O1" if flag == "-O3" else flag for flag in module._FUSED_FLAGS] + CPU_FLAGS
    module._cache_folders = lambda: iter([os.environ.get("HONE_HOST_KERNELS") or str(pathlib.Path(folder).parent)])
    module._library()
    module.torch = _Poisoned()
    return module


def cuda_source(text, folder):
    """All kernels of a candidate of cuda/fused_graph as one source."""
    return _import(text, folder)._SOURCES["fused"]


def load_cuda(text, folder):
    """A candidate of cuda/fused_graph as a module whose kernels run on the host."""
    module = _import(text, folder)
    driver = HostDriver(module._SOURCES["fused"], folder)
    module._driver = lambda: driver
    module._function = driver.function
    module._raw_stream = lambda device: 0
    module._autocast = lambda device: False
    module._KERNEL_DEVICE = "cpu"
    module.torch = _OnCpu()
    return module


def load(text, folder, device="cuda"):
    if device == "triton":
        import triton_house

        return triton_house.load(text, folder)
    return load_cuda(text, folder) if device == "cuda" else load_cpu(text, folder)
