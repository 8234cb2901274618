// A plan as the Python of a candidate: its kernels in one CUDA source, and a function that runs them and
// ATen's operators in order.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "codegen/fused/convolution.h"
#include "codegen/fused/emit.h"
#include "codegen/fused/product.h"

namespace hone::fused {

struct GraphText {
  Json values = Json::object();  // for templates/fused_model.py, without `runtime`
  int kernels = 0;               // that differ
  int launches = 0;
  int calls = 0;           // of ATen's operators that do something
  int products = 0;        // that Hone's own kernel takes over
  int convolutions = 0;    // likewise
  double products_us = 0;  // expected of them, and of PyTorch's own
  double replaced_us = 0;
  double kernel_bytes = 0;                        // that the kernels move
  std::map<std::string, double> bytes_by_layout;  // the same by FusedGpuCosts' names
  std::vector<std::string> about;
  // Not empty: these nodes are in a kernel that no template covers, for the reason given, and nothing else is
  // written. DivideIntoKernels takes them as calls.
  std::set<graph::NodeId> uncovered;
  std::string why_uncovered;
};

// An Error of kind kInvalid says in one sentence why the graph cannot be written as a file.
// `products`, `convolutions`: calls of the plan that Hone's own kernels take over.
Result<GraphText> WriteGraph(const graph::Graph& graph, const Plan& plan, Language language,
                             const EmitterDevice& device,
                             const std::map<graph::NodeId, Product>& products = {},
                             const std::map<graph::NodeId, Convolution>& convolutions = {});

}  // namespace hone::fused
