// Turns a plan into a candidate's Python: its kernels in one source, and a function that runs them and ATen's
// operators in order.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "codegen/fused/convolution.h"
#include "codegen/fused/emit.h"
#include "codegen/fused/product.h"

namespace hone::fused {

struct GraphText {
  Json values = Json::object();  // for templates/fused_model.py, without `runtime`
  int kernels = 0;               // number of distinct kernels
  int launches = 0;
  int calls = 0;           // ATen calls, not counting views and the like
  int products = 0;        // products that Hone's own kernel computes
  int convolutions = 0;    // convolutions that Hone's own kernels compute
  double products_us = 0;  // expected time of the products, and PyTorch's
  double replaced_us = 0;
  double kernel_bytes = 0;                        // bytes that the kernels move
  std::map<std::string, double> bytes_by_layout;  // the same by the names of FusedGpuCosts
  std::vector<std::string> about;
  // If not empty: nodes in a kernel that no template supports, with the reason. No other output is written
  // then. Pass them to DivideIntoKernels as calls.
  std::set<graph::NodeId> uncovered;
  std::string why_uncovered;
};

// An Error of kind kInvalid explains in one sentence why the graph cannot be written as a file. `products`
// and `convolutions` list calls of the plan that Hone's own kernels replace. `memory` is
// graph::MemoryOfOutputs of the graph before its rewrites; if empty, of `graph`.
Result<GraphText> WriteGraph(const graph::Graph& graph, const Plan& plan, Language language,
                             const EmitterDevice& device,
                             const std::map<graph::NodeId, Product>& products = {},
                             const std::map<graph::NodeId, Convolution>& convolutions = {},
                             std::vector<graph::ValueId> memory = {});

}  // namespace hone::fused
