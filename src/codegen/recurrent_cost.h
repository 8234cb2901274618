// Predicts the time of a recurrent module with each of Hone's kernels and with cuDNN. The figures come from
// the device's file (device_costs.h). The runtime in a candidate file (templates/recurrent_grid.py,
// recurrent_step.py) uses the same formulas and figures and runs the fastest. Tests check both against
// tests/golden/recurrent_costs.json.
#pragma once

#include <optional>
#include <string>

#include "codegen/device_costs.h"
#include "codegen/recurrent_plan.h"
#include "task/card.h"

namespace hone {

struct RecurrentShape {
  std::string kind;  // "RNN", "GRU" or "LSTM"
  int64_t inputs = 0;
  int64_t hidden = 0;
  int64_t layers = 1;
  int64_t directions = 1;
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t terms = 1;  // terms per operand: 1 at PyTorch's default precision, 2 at float32 accuracy
  bool relu = false;  // the states of an RNN are then unbounded

  int64_t gates() const { return kind == "GRU" ? 3 : kind == "LSTM" ? 4 : 1; }
};
RecurrentShape ShapeOf(const RecurrentModule& module);
// The shape of a hand-written loop, or of one over cells of this kind. PyTorch multiplies these in full
// float32.
RecurrentShape ShapeOf(const TimeLoop& loop, const std::vector<TensorShape>& inputs, const std::string& kind);

// The cluster kernel (recipes/cuda_cluster.cpp): what it can hold, and its time if the shape fits.
struct ClusterFit {
  int64_t largest_hidden = 0;  // units that the registers of a cluster hold
  int64_t clusters = 0;        // clusters that the shape needs
  int64_t resident = 0;        // clusters that the device holds at once
  bool at_once = false;        // they wait for each other, so all must be resident
  bool fits(const RecurrentShape& shape) const {
    return shape.hidden <= largest_hidden && (!at_once || clusters <= resident);
  }
};
ClusterFit FitClusters(const RecurrentShape& shape, const ClusterCosts& costs);
std::optional<double> ClusterUs(const RecurrentShape& shape, const ClusterCosts& costs);

// The time on the whole chip, if it holds the weights (recipes/cuda_grid.cpp).
std::optional<double> GridUs(const RecurrentShape& shape, const GpuCosts& costs);

// The time with a product and a kernel per step (recipes/cuda_grid.cpp).
std::optional<double> StepUs(const RecurrentShape& shape, const StepGraphCosts& costs);

// The time of cuDNN's steps in a CUDA graph.
double PytorchUs(const RecurrentShape& shape, const CudnnCosts& costs);

}  // namespace hone
