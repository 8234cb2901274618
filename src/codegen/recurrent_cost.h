// How long a recurrent module is predicted to take, with each of Hone's kernels and with cuDNN. The figures
// come from the device's file (device_costs.h). The runtime in a candidate file (templates/recurrent_grid.py,
// recurrent_step.py) predicts with the same formulas and figures and runs the fastest; tests check both
// against tests/golden/recurrent_costs.json.
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
  int64_t terms = 1;  // per operand: 1 at PyTorch's default precision, 2 at that of float32
  bool relu = false;  // an RNN's states are then unbounded

  int64_t gates() const { return kind == "GRU" ? 3 : kind == "LSTM" ? 4 : 1; }
};
RecurrentShape ShapeOf(const RecurrentModule& module);
// A hand-written loop, or one over cells of this kind. PyTorch multiplies those in full float32.
RecurrentShape ShapeOf(const TimeLoop& loop, const std::vector<TensorShape>& inputs, const std::string& kind);

// In clusters (recipes/cuda_cluster.cpp): what they hold, and how long it takes where they hold it.
struct ClusterFit {
  int64_t largest_hidden = 0;  // that the registers of a cluster hold
  int64_t clusters = 0;        // that the shape needs
  int64_t resident = 0;        // that the device holds at once
  bool at_once = false;        // they wait for each other, so all of them have to be resident
  bool fits(const RecurrentShape& shape) const {
    return shape.hidden <= largest_hidden && (!at_once || clusters <= resident);
  }
};
ClusterFit FitClusters(const RecurrentShape& shape, const ClusterCosts& costs);
std::optional<double> ClusterUs(const RecurrentShape& shape, const ClusterCosts& costs);

// Over the whole chip, where it holds the weights (recipes/cuda_grid.cpp).
std::optional<double> GridUs(const RecurrentShape& shape, const GpuCosts& costs);

// A product and a kernel per step (recipes/cuda_grid.cpp).
std::optional<double> StepUs(const RecurrentShape& shape, const StepGraphCosts& costs);

// cuDNN's steps in a CUDA graph.
double PytorchUs(const RecurrentShape& shape, const CudnnCosts& costs);

}  // namespace hone
