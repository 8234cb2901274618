"""Compiles kernels of a candidate's runtime as host code, for tests that substitute the tensor cores. cuda_on_host.h provides the threads of a
block. This file adds the intrinsics that those kernels use, and makes each kernel a function that takes a launch.
"""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess

import torch

import fused_house

HERE = pathlib.Path(__file__).resolve().parent
PRELUDE = """
#include "cuda_on_host.h"
using std::max; using std::min;
#define __align__(n) __attribute__((aligned(n)))
static HoneIndex blockDim;
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct uint4 { unsigned x, y, z, w; };
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline unsigned __float_as_uint(float v) { return (unsigned)__float_as_int(v); }
static inline float __uint_as_float(unsigned v) { return __int_as_float((int)v); }
static inline unsigned atomicMax(unsigned* at, unsigned v) { const unsigned had = *at; *at = max(had, v); return had; }
static inline unsigned atomicMin(unsigned* at, unsigned v) { const unsigned had = *at; *at = min(had, v); return had; }
static inline unsigned atomicOr(unsigned* at, unsigned v) { const unsigned had = *at; *at |= v; return had; }
static inline unsigned atomicAdd(unsigned* at, unsigned v) { const unsigned had = *at; *at += v; return had; }
static inline void __threadfence() {}
static inline unsigned __ballot_sync(unsigned, bool v) {
  unsigned bits = v ? 1u << threadIdx.x % 32 : 0;
  for (int step = 16; step > 0; step /= 2) bits |= hone_exchange(bits, threadIdx.x % 32 ^ step);
  return bits;
}
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __ffs(unsigned v) { return __builtin_ffs(v); }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __shfl_xor_sync(unsigned, float v, int lanes) { return __int_as_float((int)hone_exchange(__float_as_uint(v), threadIdx.x % 32 ^ lanes)); }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline unsigned __ldcg(const unsigned* at) { return *at; }
template <class T> static inline T __ldg(const T* at) { return *at; }
static inline unsigned __reduce_max_sync(unsigned, unsigned v) {
  for (int step = 16; step > 0; step /= 2) v = max(v, hone_exchange(v, threadIdx.x % 32 ^ step));
  return v;
}
static int hone_any;
static inline int __syncthreads_or(int v) {
  if (threadIdx.x == 0) hone_any = 0;
  __syncthreads();
  if (v) hone_any = 1;
  __syncthreads();
  const int any = hone_any;
  __syncthreads();
  return any;
}
static inline unsigned pack_halves(float a, float b) { return float_to_half(a) | (unsigned)float_to_half(b) << 16; }
static inline float2 unpack_halves(unsigned v) { return {half_to_float(v & 0xffff), half_to_float(v >> 16)}; }
"""


def wrapped(source):
    """The kernels as functions that take a launch."""
    wrappers = []
    for name, parameters in re.findall(r'extern "C" __global__ void __launch_bounds__\(\d+\)\n(\w+)\((.*?)\) \{', source, re.S):
        kinds = [re.sub(r"\s*\w+$", "", p.strip()) for p in parameters.split(",")]
        given = ", ".join("*(%s*)a[%d]" % (kind, i) for i, kind in enumerate(kinds))
        wrappers.append(
            'extern "C" void run_%s(void** a, unsigned x, unsigned y, unsigned z, unsigned t) {\n  gridDim = {x, y, z}; blockDim = {t, 1, 1};\n'
            "  for (blockIdx.z = 0; blockIdx.z < z; ++blockIdx.z) for (blockIdx.y = 0; blockIdx.y < y; ++blockIdx.y)\n"
            "    hone_launch([&] { %s(%s); }, x, t, 1, 0);\n}\n" % (name, name, given)
        )
    return PRELUDE + source + "\n".join(wrappers)


def library_of(text, folder, defines=(), optimised=False):
    """Compiled once per folder. Optimised if the kernels run longer than the optimiser."""
    cache = pathlib.Path(os.environ.get("HONE_HOST_KERNELS") or folder)
    cache.mkdir(parents=True, exist_ok=True)
    identity = text + (HERE / "cuda_on_host.h").read_text() + " ".join(defines) + str(optimised)
    library = cache / ("host-" + hashlib.sha256(identity.encode()).hexdigest()[:20] + ".so")
    if not library.exists():
        library.with_suffix(".cpp").write_text(text)
        flags = fused_house.HOST_FLAGS
        if optimised:
            flags = ["-O1" if flag == "-O0" else flag for flag in flags]
        else:
            fused_house._compile_header(cache, flags)
        subprocess.run(["g++", *flags, "-shared", *defines, "-I", str(cache), "-I", str(HERE), str(library.with_suffix(".cpp")), "-o", str(library) + ".tmp", "-lpthread"], check=True)
        os.replace(str(library) + ".tmp", library)
    return ctypes.CDLL(str(library))


def memory(at, count, dtype):
    """The content at an address, without a copy."""
    size = count * torch.empty(0, dtype=dtype).element_size()
    return torch.frombuffer((ctypes.c_char * size).from_address(at), dtype=dtype)
