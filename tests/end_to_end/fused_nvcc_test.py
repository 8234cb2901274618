"""Compiles CUDA files of fused_graph_test.py with nvcc and reads the compiler's report: every layout, no spills, no local memory. All cases
are one source, because nvcc reads its own headers for longer than it compiles a kernel. Needs no GPU.

Usage: fused_nvcc_test.py --tool hone_expert_tool [--only WORD] [--show]
Exit code 1 when a kernel does not compile or spills, 77 without nvcc or torch.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import torch_python

NVCC = shutil.which("nvcc") or os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
# Cases of fused_graph_test.py, by purpose. Sines are left out, because their slow path keeps an array on the stack.
CASES = {
    "pointwise": ("bias over channels", "activations of odd numbers"),
    "row, lanes of a warp": ("lengths that divide by nothing", "float16"),
    "row, one block": ("layer norm of rows of 24 KB", "one long row"),
    "row, a cluster, registers": ("few rows in clusters", "one row of a cluster"),
    "row, a cluster, shared memory": ("rows in shared memory",),
    "row, a cluster, nothing kept": ("rows that fit nowhere",),
    "row, split": ("weights for several rows of a block", "one row over all blocks"),
    "row, read once": ("instance norm", "cross entropy"),
    "column": ("rms norm by hand over channels", "columns that divide by nothing"),
    "column, split": ("softmax of columns over all blocks",),
    "scan": ("scan of long rows", "scan of columns from the end"),
    "elements chosen and moved": ("embedding", "embedding, then a layer norm", "cat", "cat along the innermost axis", "constant padding", "roll", "triangles"),
    "column, windows as an axis": ("windows of several sizes", "indices of a pooling"),
    "pool": ("max pooling 1d, dilated", "max pooling 2d", "average pooling without padding", "average pooling 3d", "max pooling in half"),
}


def problems(report):
    """One line for each kernel that uses local memory."""
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers", report, re.S)
    lines = ["%s: %s bytes stack frame, %s spill stores, %s spill loads, %s registers" % kernel for kernel in found if any(int(n) for n in kernel[1:4])]
    return lines, len(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true", help="the compiler's report")
    options = parser.parse_args()
    if not os.path.exists(NVCC):
        print("skipped: no nvcc")
        return 77
    torch_python.need_torch()
    import fused_graph_test
    import fused_house

    wanted = {name for names in CASES.values() for name in names if options.only in name}
    cases = [case for case in fused_graph_test.cases() if case[0] in wanted]
    if {name for name, _, _ in cases} != wanted:
        print("there is no case " + ", ".join(sorted(wanted - {name for name, _, _ in cases})))
        return 1
    options.devices = ["cuda"]
    with tempfile.TemporaryDirectory(prefix="hone-nvcc-") as root:
        root = pathlib.Path(root)
        bundle = fused_graph_test.Bundle(cases, options, root / "all").write()
        source = fused_house.cuda_source(*bundle.files["cuda"])
        (root / "fused.cu").write_text(source)
        command = [NVCC, "-std=c++17", "-arch=sm_90a", "-cubin", "-Xptxas", "-v", "-o", str(root / "fused.cubin"), str(root / "fused.cu")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if options.show:
        print(done.stdout)
    if done.returncode:
        print("nvcc fails:\n" + done.stdout[-3000:])
        return 1
    wrong, count = problems(done.stdout)
    about = dict(re.findall(r"^namespace in_(\w+) \{\n// (.*)", source, re.M))
    for line in wrong:
        print("FAILED  %s (%s)" % (line, about.get(re.match(r"[a-z]+\d+", line)[0], "?")))
    expected = len(re.findall(r'extern "C" __global__', source))
    if count != expected:
        wrong.append("reports")
        print("FAILED  %d kernels, but %d reports" % (expected, count))
    print("%d kernels of %d cases, %d wrong" % (count, len(cases), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
