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
HOPPER_ONLY = {"split_gemm"}  # its wgmma exists on sm_90a alone

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
        yield "split_gemm", split._Launch(rows, units, 1024, 132).macros()


def compile_one(source, name, macros, arch):
    """What is wrong, or None."""
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
    split._SOURCES["split_gemm"] += runtime_text.included("split_plain.cu")
    sources = {**runtime._SOURCES, **split._SOURCES}
    jobs = [(sources[c[0]], *c, arch) for c in configurations(runtime, split) for arch in architectures(c[0])]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = [p for p in pool.map(lambda job: compile_one(*job), jobs) if p]
    print("\n".join(problems + ["%d configurations, %d wrong" % (len(jobs), len(problems))]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
