"""Tests the attention kernel of cuda/fused_graph without a GPU. Its text is compiled for the host (cuda_on_host.h), with substitutes for the
tensor-core instructions that move and multiply fragments as the device does. Compared with float64 and PyTorch: odd sizes, causal, masks,
strides, ranges.

Usage: attention_host_test.py [--only WORD]
Exit code 1 when an answer is wrong, 77 without torch or g++.
"""

import argparse
import ctypes
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import torch_python

torch_python.need_torch()
import torch

import runtime_text

HERE = pathlib.Path(__file__).resolve().parent
PRELUDE = """
#include "cuda_on_host.h"
using std::max; using std::min;
static unsigned* host_shared() { return (unsigned*)hone_block->shared.data(); }
static unsigned __cvta_generic_to_shared(const void* at) { return (unsigned)((const char*)at - hone_block->shared.data()); }
static unsigned pack(float a, float b) { return float_to_half(a) | (unsigned)float_to_half(b) << 16; }
static float half_of(unsigned v, int high) { return half_to_float(high ? v >> 16 : v & 0xffff); }
static void copy16(unsigned to, const void* from) { std::memcpy(hone_block->shared.data() + to, from, 16); }
static void end_copies() {}
static void wait_copies() {}
static unsigned short half_at(unsigned at) { unsigned short v; std::memcpy(&v, hone_block->shared.data() + at, 2); return v; }
// What each lane of a warp holds, for all lanes of it to read: one exchange instead of one per word.
static unsigned host_words[256][6];
static unsigned (*shown())[6] { hone_syncwarp(); return host_words + threadIdx.x / 32 * 32; }
// Lane 8 m + r has the address of row r of matrix m. A lane gets two neighbours of row lane / 4.
static void load4(unsigned (&r)[4], unsigned at) {
  const unsigned lane = threadIdx.x % 32;
  host_words[threadIdx.x][0] = at;
  const auto held = shown();
  for (unsigned m = 0; m < 4; ++m) {
    const unsigned row = held[m * 8 + lane / 4][0] + lane % 4 * 4;
    r[m] = half_at(row) | (unsigned)half_at(row + 2) << 16;
  }
  hone_syncwarp();
}
static void load4_across(unsigned (&r)[4], unsigned at) {
  const unsigned lane = threadIdx.x % 32;
  host_words[threadIdx.x][0] = at;
  const auto held = shown();
  for (unsigned m = 0; m < 4; ++m) {
    const unsigned one = held[m * 8 + lane % 4 * 2][0], two = held[m * 8 + lane % 4 * 2 + 1][0];
    r[m] = half_at(one + lane / 4 * 2) | (unsigned)half_at(two + lane / 4 * 2) << 16;
  }
  hone_syncwarp();
}
static void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned own[6] = {a[0], a[1], a[2], a[3], b0, b1};
  std::memcpy(host_words[threadIdx.x], own, sizeof(own));
  const auto held = shown();
  double sums[4] = {c[0], c[1], c[2], c[3]};
  for (unsigned k = 0; k < 8; ++k) {  // pairs of neighbours
    unsigned left[2], right[2];
    for (unsigned r = 0; r < 2; ++r) left[r] = held[lane / 4 * 4 + k % 4][r + k / 4 * 2];
    for (unsigned n = 0; n < 2; ++n) right[n] = held[(lane % 4 * 2 + n) * 4 + k % 4][4 + k / 4];
    for (unsigned i = 0; i < 4; ++i)
      for (int j = 0; j < 2; ++j) sums[i] += (double)half_of(left[i / 2], j) * half_of(right[i % 2], j);
  }
  hone_syncwarp();
  for (unsigned i = 0; i < 4; ++i) c[i] = (float)sums[i];
}
static float __shfl_xor_sync(unsigned, float v, int lanes) { return __int_as_float((int)hone_exchange((unsigned)__float_as_int(v), threadIdx.x % 32 ^ lanes)); }
"""
LAUNCH = """
extern "C" void run_%s(void** a, unsigned x, unsigned y, unsigned shared) {
  gridDim = {x, y, 1};
  for (blockIdx.y = 0; blockIdx.y < y; ++blockIdx.y) hone_launch([&] { %s(%s); }, x, 256, 1, shared);
}
"""


class Host:
    """The runtime of a candidate with the kernel as compiled for the host."""

    def __init__(self, folder):
        self.folder, self.libraries = pathlib.Path(folder), {}
        self.names = {"_SOURCES": {}, "ctypes": ctypes, "torch": torch, "math": math, "_up": lambda value, to: -(-value // to) * to, "_raw_stream": lambda device: 0}
        exec(runtime_text.included("part_attention.py"), self.names)
        self.names["_attention_launch"] = self.launch

    def library(self, macros):
        key = tuple(sorted(macros.items()))
        if key not in self.libraries:
            source = self.names["_SOURCES"]["attention"]
            text = PRELUDE + source
            for entry in ("attention_split", "attention") if macros else ("attention_split",):
                start = source.index(entry + "(", source.index('extern "C" __global__ void __launch_bounds__(256) attention_split') if entry == "attention_split" else source.index("attention(const word*"))
                kinds = [part.strip().rsplit(" ", 1)[0] for part in source[source.index("(", start) + 1 : source.index(")", start)].split(",")]
                text += LAUNCH % (entry, entry, ", ".join("*(%s*)a[%d]" % (kind, i) for i, kind in enumerate(kinds)))
            name = self.folder / ("attention%d" % len(self.libraries))
            name.with_suffix(".cpp").write_text(text)
            flags = ["-std=c++20", "-O1", "-w", "-fPIC", "-shared", "-DHONE_HOST", "-fno-strict-aliasing", "-I", str(HERE), *["-D%s=%s" % item for item in key]]
            subprocess.run(["g++", *flags, str(name.with_suffix(".cpp")), "-o", str(name.with_suffix(".so")), "-lpthread"], check=True)
            self.libraries[key] = ctypes.CDLL(str(name.with_suffix(".so")))
        return self.libraries[key]

    def launch(self, device, stream, macros, entry, grid, shared, *arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
        getattr(self.library(macros), "run_" + entry)(pointers, *grid, shared)

    def __call__(self, q, k, v, mask, scale, causal, order):
        tiles = None if mask is None else self.names["_attention_tiles"](mask)
        return self.names["_attention"](q, k, v, mask, tiles, scale, causal, order)


def reference(q, k, v, mask, scale, causal, dtype):
    scores = (q.to(dtype) @ k.to(dtype).mT) * scale
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    return scores.softmax(-1) @ v.to(dtype)


def draw(*shape):
    return torch.randn(*shape)


def cases():
    for n, k, d, values in ((1, 1, 16, 16), (7, 33, 8, 24), (65, 129, 32, 32), (129, 64, 100, 40)):
        yield "%d x %d, %d, %d" % (n, k, d, values), draw(2, n, d), draw(2, k, d), draw(2, k, values), None, False
    yield "causal", draw(1, 2, 140, 32), draw(1, 2, 140, 32), draw(1, 2, 140, 32), None, True
    yield "causal, more keys", draw(1, 70, 32), draw(1, 150, 32), draw(1, 150, 32), None, True
    mask = torch.rand(140, 100) < 0.5
    mask[3], mask[128:] = True, True  # rows without a key, and a tile without keys
    yield "mask", draw(2, 1, 140, 32), draw(2, 1, 100, 32), draw(2, 1, 100, 32), mask, False
    yield "small", draw(1, 70, 32) * 1e-12, draw(1, 70, 32) * 1e-12, draw(1, 70, 32) * 1e-20, None, False
    yield "large", draw(1, 70, 32) * 1e6, draw(1, 70, 32) * 1e-6, draw(1, 70, 32) * 1e20, None, False
    yield "large scores", draw(1, 70, 32) * 20, draw(1, 70, 32) * 20, draw(1, 70, 32), None, False
    packed = draw(70, 2, 3, 2, 32).permute(2, 1, 3, 0, 4)
    yield "strided", packed[0], packed[1], packed[2], None, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not shutil.which("g++"):
        print("there is no g++")
        return 77
    torch.set_num_threads(1)  # the tensors are small, and more threads would wait for each other
    torch.manual_seed(3)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        for label, q, k, v, mask, causal in cases():
            if options.only not in label:
                continue
            scale = q.shape[-1] ** -0.5
            order = [0, 2, 1, 3] if q.dim() == 4 else [0, 1, 2]
            got = host(q, k, v, mask, scale, causal, order)
            truth, plain = (reference(q, k, v, mask, scale, causal, dtype) for dtype in (torch.float64, torch.float32))
            some = torch.isfinite(truth)
            off, allowed = ((t.double() - truth)[some].norm() / truth[some].norm() for t in (got, plain))
            # The host's exp2 is exact; on a device its error is 2 ulp.
            right = got.shape == truth.shape and torch.equal(torch.isnan(got), torch.isnan(truth)) and off <= 2 * allowed + 2e-7
            print("%-20s error %.1e, PyTorch's %.1e%s" % (label, off, allowed, "" if right else "  WRONG"), flush=True)
            failures += not right
    return 1 if failures else 0


sys.exit(main())
