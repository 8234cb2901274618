// Facts about one piece of CUDA or C++: a whole file, or a string inside a Python file. Offsets refer to the
// outer file, so that findings show its lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cuda_flow.h"
#include "source/syntax_tree.h"

namespace hone {

struct SharedAccess {
  const SyntaxNode* node = nullptr;
  const SyntaxNode* statement = nullptr;
  std::string_view array;
  std::string_view index;  // as written, all dimensions
  bool is_write = false;
};

// One event in a kernel body, in text order.
struct CudaEvent {
  enum class Kind { kShared, kBarrier, kLoopBegin, kLoopEnd };
  Kind kind = Kind::kShared;
  SharedAccess access;
};

struct CudaKernel {
  std::string_view name;
  const SyntaxNode* definition = nullptr;
  const SyntaxNode* body = nullptr;
  CudaFlow flow;
  std::vector<std::string_view> shared_arrays;
  int64_t static_shared_bytes = 0;  // total of the arrays with known extents
  std::vector<CudaEvent> events;
  std::vector<const SyntaxNode*> loops;
  std::vector<std::string_view> loop_conditions;
  bool block_axes[3] = {false, false, false};
  bool uses_thread_index = false;
  int barriers = 0;
  int atomics = 0;
  bool grid_sync = false;
  bool cluster_sync = false;  // the hardware runs all blocks of a cluster at the same time
  bool volatile_shared = false;
  int matrix_ops = 0;  // mma, wmma
};

struct CudaLaunch {
  const SyntaxNode* node = nullptr;
  std::string_view kernel;
  std::string_view grid;
  std::string_view block;
  bool in_loop = false;
  bool checked = false;  // an error check follows in the same function
  bool cooperative = false;
  bool cluster = false;
  std::vector<std::string_view> arguments;
  const SyntaxNode* function = nullptr;  // the enclosing host function
};

struct CudaUnit {
  std::unique_ptr<std::string> text;
  SyntaxTree tree;
  uint32_t offset = 0;  // position of the text in the outer file
  std::vector<CudaKernel> kernels;
  std::vector<CudaLaunch> launches;
  std::vector<std::string_view> library_calls;  // cublas..., cudnn..., at::, torch:: heavy functions

  uint32_t OuterStart(const SyntaxNode* node) const { return offset + node->start; }
  uint32_t OuterEnd(const SyntaxNode* node) const { return offset + node->end; }
};

CudaUnit ReadCuda(std::string text, uint32_t offset);
// Whether a string in a Python file looks like CUDA or C++.
bool LooksLikeCuda(std::string_view text);

}  // namespace hone
