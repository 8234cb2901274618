// Chooses the convolutions of a graph that Hone's own kernels compute on Hopper
// (templates/conv_convolution.py, conv_depthwise.py): 1 to 3 axes, plain or transposed, float32, with weights
// that do not depend on inputs, if that is expected to be faster than cuDNN. All others stay ATen calls.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/device_costs.h"
#include "graph/graph.h"

namespace hone::fused {

struct Convolution {
  graph::ValueId x{-1}, w{-1};
  std::optional<graph::ValueId> bias;
  graph::Shape in, out;  // shapes of x and of the result
  std::vector<int64_t> kernel, stride, padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
  bool depthwise = false;  // uses a separate kernel in float32
  double us = 0, pytorch_us = 0;

  std::string About() const;  // "16 x 64 x 512 x 512 by 128 kernels of 3 x 3"
};

// Returns the node as a convolution, without costs. No value if the kernels do not support it.
std::optional<Convolution> ConvolutionOfNode(const graph::Graph& graph, const graph::Node& node);

// Sets the expected times of Hone's kernels and PyTorch.
void EstimateConvolution(const ConvolutionCosts& costs, Convolution* convolution);

// Returns the convolutions that are expected to be faster than PyTorch's.
std::map<graph::NodeId, Convolution> ChooseConvolutions(const graph::Graph& graph, const GpuCosts& gpu);

}  // namespace hone::fused
