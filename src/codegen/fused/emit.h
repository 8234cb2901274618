// Writes a kernel of a plan in a language: chooses how threads and vectors cover its domain, prints its
// instructions, and fills in a template (templates/fused_*). It does not know where the operands come from;
// the file's runtime passes their addresses in the same order.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/fused/groups.h"
#include "codegen/fused/print.h"

namespace hone::fused {

// A launch on a GPU. On a CPU it is a call of the entry function.
struct Launch {
  std::string entry;
  int64_t blocks = 0;
  int64_t threads = 0;
  int64_t cluster = 1;
  int64_t shared_bytes = 0;
  bool resident = false;  // launches only as many blocks as fit on the device at once; they share the work
};

struct KernelOperand {
  enum class Role { kInput, kOutput, kScratch } role = Role::kInput;
  ItemId item = -1;   // for an input or output
  int64_t bytes = 0;  // for scratch memory
  int64_t align = 1;  // bytes; alignment of an input that the accesses need
};

struct KernelText {
  std::string source;  // without the part that all kernels share
  std::string about;   // one line
  std::string layout;  // "pointwise", "row", "column", "scan", "pool"
  std::vector<KernelOperand> operands;
  std::vector<Launch> launches;
  double bytes = 0;  // bytes through memory, each operand once
  // For a map with one float32 result in CUDA: the map as a function of one element (conv_chain.cu), for the
  // kernel that computes one of its operands.
  std::string chain;
};

struct EmitterDevice {
  int64_t processors = 1;
  int64_t shared_bytes = 0;  // per block of a GPU
  // For a GPU: processors that clusters of 2, 4, 8 and 16 blocks can use.
  std::array<int64_t, 4> cluster_processors = {};
};

// Placeholder for a kernel's name in its text, so that two kernels with the same text are one.
inline constexpr char kKernelName[] = "HONE_KERNEL";

// Returns an Error if no template supports the kernel, which groups.cpp then should not have made.
Result<KernelText> EmitKernel(Language language, const Program& program, const Kernel& kernel,
                              const EmitterDevice& device);

}  // namespace hone::fused
