// What a right answer to a task is: the instances (weights), the cases (inputs, PyTorch's output, the float64
// output) and the limits that follow from PyTorch's own error. Plain data and arithmetic; truth_builder.h
// fills it by asking the reference worker.
//
// Expected values stay in this process. Seeds come from the kernel and appear only in the verdict.
#pragma once

#include <string>
#include <vector>

#include "evaluation/compare.h"
#include "evaluation/tensor_tree.h"

namespace hone {

// The largest allowed error of an output.
struct Limit {
  double relative = 0;
  double worst = 0;
};

struct Instance {
  std::string slot;    // "default" or "stress"
  std::string regime;  // "" for the task's own weights
  uint64_t seed = 0;
  TensorTree weights;
  std::vector<std::string> weight_names;
};

struct Case {
  std::string id;  // "default#1", "stress#2", "variant one_step"
  size_t instance = 0;
  std::string variant;
  uint64_t input_seed = 0;
  uint64_t call_seed = 0;
  TensorTree inputs;
  TensorTree expected;                    // PyTorch's own default run
  TensorTree truth;                       // float64
  std::vector<Distance> reference_error;  // per output
};

struct MutantResult {
  std::string name;
  double error = 0;    // the largest over regimes, relative to the limit there
  std::string regime;  // where it showed most
  bool told_apart = false;
};

struct Truth {
  std::vector<Instance> instances;
  std::vector<Case> cases;
  std::vector<MutantResult> mutants;
  std::string note = "float64";  // what the expected values are
  std::string precision;         // --precision
  bool stateful = false;         // a second call gives another answer
  bool random = false;           // another seed gives another answer

  // The limit for one output of one instance: twice PyTorch's own error, and at least a few ulp.
  Limit LimitFor(size_t instance, size_t leaf) const;
  // The largest relative limit in use, for the summary.
  double WidestLimit() const;
  double WidestReferenceError() const;
  // A stress regime is usable only while PyTorch itself stays accurate in it.
  bool IsAccurate(const Case& one) const;
};

}  // namespace hone
