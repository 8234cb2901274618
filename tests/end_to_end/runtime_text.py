"""Runtimes as recipes write them into candidates, for tests and benchmarks that run one without a build: the expansion
of RuntimeText in src/codegen/recurrent_text.cpp. expert_test.py compares the two."""

import functools
import json
import pathlib
import re

CODEGEN = pathlib.Path(__file__).resolve().parents[2] / "src/codegen"
COMMON = ("part_runtime.py", "part_recurrent_modules.py")
CLUSTER = (*COMMON, "part_cuda_driver.py", "recurrent_cuda.py")
WHOLE = (*CLUSTER, "recurrent_grid.py", "recurrent_step.py")
SPLIT_GEMM = ("part_runtime.py", "part_cuda_driver.py", "split_gemm.py")
SPLIT_PRODUCT = ("part_runtime.py", "part_cuda_driver.py", "part_fused_graph.py", "fused_cuda.py", "split_product.py")
CONVOLUTION = ("part_runtime.py", "part_cuda_driver.py", "part_fused_graph.py", "fused_cuda.py", "conv_convolution.py", "conv_depthwise.py")
TRITON = (*COMMON, "recurrent_triton.py")
CPU = (*COMMON, "part_cpu_build.py", "recurrent_cpu.py")


@functools.lru_cache(None)
def device(name="h200.json"):
    """A device's figures, with their remarks."""
    return json.loads((CODEGEN / "devices" / name).read_text())


def without_remarks(value):
    return {k: without_remarks(v) for k, v in value.items() if k != "about"} if isinstance(value, dict) else value


def included(name):
    file, colon, section = name.partition(":")
    return json.dumps(without_remarks(functools.reduce(dict.__getitem__, section.split("."), device(file)))) if colon else expanded((CODEGEN / "templates" / file).read_text())


def expanded(text):
    return re.sub("@@(.*?)@@", lambda found: included(found[1]), text)


def runtime_text(files):
    return "\n\n\n".join(expanded((CODEGEN / "templates" / name).read_text()).strip() for name in files)
