// Writes a kernel of a plan in a language: chooses how its domain is laid out over threads and vectors,
// prints its instructions, and fills in a template (templates/fused_*). Nothing here knows where the operands
// come from; the file's runtime passes addresses in this order.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/fused/groups.h"
#include "codegen/fused/print.h"

namespace hone::fused {

// Of a GPU. A launch on a CPU is a call of its entry.
struct Launch {
  std::string entry;
  int64_t blocks = 0;
  int64_t threads = 0;
  int64_t cluster = 1;
  int64_t shared_bytes = 0;
  bool resident = false;  // as many of the blocks as the device holds at once; they share the work
};

struct KernelOperand {
  enum class Role { kInput, kOutput, kScratch } role = Role::kInput;
  ItemId item = -1;   // of an input or output
  int64_t bytes = 0;  // of scratch memory
  int64_t align = 1;  // bytes, of an input: what the accesses need
};

struct KernelText {
  std::string source;  // without the part that all kernels share
  std::string about;   // one line
  std::string layout;  // "pointwise", "row", "column", "scan", "pool"
  std::vector<KernelOperand> operands;
  std::vector<Launch> launches;
  double bytes = 0;  // through memory, each operand once
  // Of a map with one float32 result in CUDA: the same as a function of an element (conv_chain.cu), for what
  // computes one of its operands.
  std::string chain;
};

struct EmitterDevice {
  int64_t processors = 1;
  int64_t shared_bytes = 0;  // of one block of a GPU
  // Of a GPU: processors that clusters of 2, 4, 8 and 16 blocks can use.
  std::array<int64_t, 4> cluster_processors = {};
};

// Where a kernel's text has this word, its name follows: two kernels with the same text are one.
inline constexpr char kKernelName[] = "HONE_KERNEL";

// An Error if no template covers the kernel, which groups.cpp should not have made then.
Result<KernelText> EmitKernel(Language language, const Program& program, const Kernel& kernel,
                              const EmitterDevice& device);

}  // namespace hone::fused
