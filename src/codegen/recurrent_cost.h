// How long a recurrent module is predicted to take, by the way it is run. The constants are measured on an
// H200; the runtime in a candidate file (templates/recurrent_grid.py, recurrent_step.py) predicts with the
// same formulas and takes the fastest way.
#pragma once

#include <optional>
#include <string>

#include "codegen/recurrent_plan.h"

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

  int64_t gates() const { return kind == "GRU" ? 3 : kind == "LSTM" ? 4 : 1; }
};
RecurrentShape ShapeOf(const RecurrentModule& module);

// In clusters, where they hold the weights and enough of them are resident (recipes/cuda_cluster.cpp).
std::optional<double> ClusterUs(const RecurrentShape& shape);

// Over the whole chip, where it holds the weights (recipes/cuda_grid.cpp).
std::optional<double> GridUs(const RecurrentShape& shape, int64_t processors);

// A product and a kernel per step (recipes/cuda_step.cpp).
std::optional<double> StepUs(const RecurrentShape& shape);

// cuDNN's steps in a CUDA graph.
double PytorchUs(const RecurrentShape& shape);

}  // namespace hone
