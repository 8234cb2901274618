// A small data-flow analysis of one CUDA kernel: through which parameter each memory access goes, and whether
// its address differs between blocks. It follows local variables in text order. If a pointer is passed to an
// unknown function, the result is incomplete and no conclusion is drawn from it.
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
  std::vector<const SyntaxNode*> loops;  // loops around it, outermost first
};

struct CudaFlow {
  std::vector<std::string_view> params;  // in order; pointers and numbers
  std::vector<CudaAccess> accesses;
  bool complete = true;
  const SyntaxNode* spin_loop = nullptr;  // a while loop that waits on an atomic or a volatile
  bool accumulates_product = false;       // acc += a[...] * b[...] over two different arrays, in a loop
  bool accumulates = false;               // a local or shared value is combined across iterations or threads
};

CudaFlow TraceCuda(const SyntaxNode* definition);

}  // namespace hone
