"""Compiles the CUDA templates with nvcc for every configuration that tasks 34 to 42 ask for, at both precisions, and for a range
of larger networks, and reads the compiler's report: no spills, no local memory, for sm_90a and sm_80; for sm_100a that it
compiles. Needs no GPU.

Usage: cuda_templates_test.py
Exit code 1 when a configuration does not compile or spills, 77 without nvcc or torch.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

import torch_python

NVCC = shutil.which("nvcc") or os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
# cell, hidden, layers that run at once (or directions), chained, sequences per cluster
STACKS = [("GRU", 256, 6, True, 5), ("LSTM", 256, 6, True, 5), ("GRU", 256, 2, False, 4), ("LSTM", 256, 2, False, 4), ("RNN_TANH", 256, 1, False, 4)]
HOPPER_ONLY = {"split_gemm", "conv_product", "conv_pack"}  # wgmma exists on sm_90a alone

# cell, hidden, layers, directions, batch, terms per operand; on 132 processors
GRIDS = [("GRU", 1024, 1, 1, 32, 1), ("GRU", 512, 4, 1, 32, 1), ("LSTM", 1536, 1, 1, 32, 1), ("GRU", 640, 2, 2, 12, 2)]
FROM_AMPERE = ("recurrent_grid", "recurrent_step")


def architectures(name):
    if name in HOPPER_ONLY:
        return ("sm_90a",)
    return ("sm_90a", "sm_100a", "sm_80") if name in FROM_AMPERE else ("sm_90a", "sm_100a")


def configurations(runtime, split):
    for cell, hidden, slabs, chained, sequences in STACKS:
        for parts in (1, 2):
            shape = runtime._choose_shape(cell, hidden, slabs, chained, sequences, parts)
            yield "recurrent_cluster", shape.macros
    for cell, hidden, layers, directions, batch, parts in GRIDS:
        for shape in {launch[0] for launch in runtime._choose_grid(cell, hidden, layers, directions, 256, batch, parts, 132, 227 * 1024).launches}:
            yield "recurrent_grid", shape.macros
    for cell in ("GRU", "LSTM", "RNN_TANH"):
        yield "recurrent_step", dict(CELL=cell)
    for products in (1, 3):
        for vector in (1, 4):
            yield "product_tf32", dict(PRODUCTS=products, VECTOR=vector)
    for rows, units in ((128, 256), (256, 128), (128, 128)):  # each kind of cluster
        launch = split._Launch(rows, units, 1024, 132)
        yield "split_gemm", launch.macros()
        yield "split_gemm", dict(launch.macros(1), SOFTMAX_TURNS=2)
    tile = dict(ROWS=128, WIDE=256, VECTOR=2, CTAS=1, DIRECT=0, PRECISE=0, SPREAD=1)
    for change in (dict(), dict(ROWS=64, VECTOR=4), dict(VECTOR=1, SPREAD=2), dict(VECTOR=1, SPREAD=4), dict(DIRECT=1), dict(PRECISE=1, WIDE=128), dict(PRECISE=1, WIDE=128, VECTOR=1, SPREAD=2)):
        yield "conv_product", {**tile, **change}
    yield "conv_pack", {}
    yield "conv_depthwise", dict(KY=3, KX=3, SY=1, SX=1, PY=1, PX=1, DY=1, DX=1, ROWS=4, COLUMNS=4, TIMES=1)
    yield "conv_depthwise", dict(KY=5, KX=5, SY=2, SX=2, PY=2, PX=2, DY=1, DX=1, ROWS=2, COLUMNS=4, TIMES=1)


def compile_one(source, name, macros, arch):
    """The error, or None."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, name + ".cu")
        with open(file, "w") as f:
            f.write(source)
        defines = ["-D%s=%s" % item for item in sorted(macros.items())]
        command = [NVCC, "-std=c++17", "-arch=" + arch, "-cubin", "-Xptxas", "-v", "-o", os.path.join(folder, "k.cubin"), *defines, file]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    label = "%s %s %s" % (name, arch, " ".join("%s=%s" % item for item in macros.items()))
    if done.returncode:
        return "%s does not compile:\n%s" % (label, done.stdout[-1500:])
    found = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stdout)
    if not found:
        return "%s: no report of registers:\n%s" % (label, done.stdout[-500:])
    if "wgmma.mma_async instructions are serialized" in done.stdout:
        return "%s: products wait for each other:\n%s" % (label, done.stdout[-500:])
    if arch != "sm_100a" and any(int(n) > 0 for kernel in found for n in kernel):
        return "%s: stack frame, spill stores, spill loads of its kernels: %s" % (label, found)
    return None


def main():
    if not os.path.exists(NVCC):
        print("skipped: no nvcc")
        return 77
    torch_python.need_torch()
    import recurrent_cuda_test
    import runtime_text
    import split_gemm_test

    runtime = recurrent_cuda_test.load_runtime(recurrent_cuda_test.WHOLE_RUNTIME)
    split = split_gemm_test.load_runtime()
    split._SOURCES["split_gemm"] += runtime_text.included("split_softmax.cu") + runtime_text.included("split_plain.cu")
    convolutions = {}
    exec(compile(runtime_text.runtime_text(runtime_text.CONVOLUTION), "convolution_runtime.py", "exec"), convolutions)
    sources = {**runtime._SOURCES, **split._SOURCES, **convolutions["_SOURCES"]}
    jobs = [(sources[c[0]], *c, arch) for c in configurations(runtime, split) for arch in architectures(c[0])]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = [p for p in pool.map(lambda job: compile_one(*job), jobs) if p]
    print("\n".join(problems + ["%d configurations, %d wrong" % (len(jobs), len(problems))]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
