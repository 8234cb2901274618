// A small data-flow over one CUDA kernel: which parameter each memory access goes through, and whether its
// address differs from block to block. Local variables are followed in the order of the text; a pointer that
// goes into a function we cannot see makes the picture incomplete, and then nothing is concluded from it.
#pragma once

#include <string_view>
#include <vector>

#include "source/syntax_tree.h"

namespace hone {

struct CudaAccess {
  const SyntaxNode* node = nullptr;
  std::string_view base;  // the pointer parameter, or ""
  bool is_store = false;
  bool differs_by_block = false;
  std::vector<const SyntaxNode*> loops;  // around it, outermost first
};

struct CudaFlow {
  std::vector<std::string_view> params;  // in order; pointers and numbers
  std::vector<CudaAccess> accesses;
  bool complete = true;
  const SyntaxNode* spin_loop = nullptr;  // a while loop that waits on an atomic or a volatile
  bool accumulates_product = false;       // acc += a[...] * b[...] over two different arrays, in a loop
  bool accumulates = false;               // a local or shared value is combined over a loop or across threads
};

CudaFlow TraceCuda(const SyntaxNode* definition);

}  // namespace hone
