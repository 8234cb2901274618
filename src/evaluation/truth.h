// Defines right answers to a task: the instances (weights), the cases (inputs, PyTorch's output, the float64
// output) and the limits that follow from PyTorch's own error. It is plain data and arithmetic.
// truth_builder.h fills it with the reference worker's answers.
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
  double scaled = 0;
};

// PyTorch's own errors on inputs that differ from those of a case by rounding: one entry per sample, with one
// error per output.
using OwnErrors = std::vector<std::vector<Distance>>;

// Enough samples to estimate the spread.
inline constexpr size_t kEnoughLooks = 16;

// How limits follow from PyTorch's own error. Any value but the defaults weakens the claim, and the verdict
// says so.
struct LimitRule {
  std::string precision;    // --precision
  double error_factor = 2;  // --error-factor: multiples of PyTorch's own error
  double atol = 0;          // --atol, --rtol: if one is above 0, KernelBench's rule applies instead
  double rtol = 0;

  bool is_weaker() const { return by_tolerance() || error_factor > 2; }
  bool by_tolerance() const { return atol > 0 || rtol > 0; }
};

// "twice PyTorch's own error", or the requested rule.
std::string DescribeRule(const LimitRule& rule);

struct Instance {
  std::string slot;    // "default" or "stress"
  std::string regime;  // "" for the task's own weights
  uint64_t seed = 0;
  TensorTree weights;
  std::vector<std::string> weight_names;
};

inline constexpr char kFirstCase[] = "default#1";

struct Case {
  std::string id;  // "default#1", "stress#2", "variant one_step"
  size_t instance = 0;
  std::string variant;
  std::string change;  // how the drawn inputs were changed; names are those of hone_stress.py
  uint64_t input_seed = 0;
  uint64_t call_seed = 0;
  TensorTree inputs;
  TensorTree expected;                    // the output of PyTorch's default run
  TensorTree truth;                       // the float64 output
  std::vector<Distance> reference_error;  // per output
  TensorTree inputs_after;                // only for a task that writes into its inputs
  // Float64 outputs for inputs that differ by rounding. Only set if an output holds integers or booleans.
  std::vector<TensorTree> nearby;
  // The values do not fit into memory beside other cases. They are recomputed from the seeds on demand
  // (TruthBuilder::Hold).
  bool transient = false;

  // Number of calls on the same inputs before the compared one, for modules with state.
  uint64_t earlier = 0;

  bool is_another_batch() const { return change == "fewer" || change == "more"; }
};

struct MutantResult {
  std::string name;
  double error = 0;    // the largest over regimes, relative to their limits
  std::string regime;  // the regime with the largest error
  bool told_apart = false;
};

// Why the task cannot distinguish a right answer from a wrong one.
enum class DoubtKind { kInaccurateReference, kBlindTask, kBlindInput, kBlindParameter, kBlindOutput };
struct Doubt {
  DoubtKind kind;
  std::string detail;  // one sentence, with a remedy
};

struct Truth {
  std::vector<Instance> instances;
  std::vector<Case> cases;
  std::vector<MutantResult> mutants;
  std::string note = "float64";  // the kind of the expected values
  LimitRule rule;
  std::vector<Doubt> doubts;
  std::vector<std::string> remarks;  // what readers of a verdict should know about the task
  size_t memory_bytes = 0;           // estimated memory for judging, where the task is computed
  // Names of inputs that are equal under every seed, so that work on them could be done before the clock
  // starts; empty if there are none.
  std::string fixed_inputs;
  bool alike_draws = false;    // the answer to one draw of get_inputs passes for another draw
  bool stateful = false;       // a second call returns another answer
  bool random = false;         // another seed returns another answer
  bool writes_inputs = false;  // a call changes its inputs

  // The limit for one output of one instance: twice PyTorch's own error, and at least a few ulp.
  Limit LimitFor(size_t instance, size_t leaf) const;
  // The same for the regime of one case, because changed inputs have their own errors. `looks` holds further
  // samples of PyTorch's error on this case (second_look.h).
  Limit LimitOf(const Case& one, size_t leaf, const OwnErrors& looks = {}) const;
  // A factor for the distance of an output with few elements. Sums that nearly cancel are small by chance, so
  // an error relative to such a sum means little. The typical norm of the instance is used instead.
  double NormShare(size_t instance, size_t leaf, const Distance& distance) const;
  // The largest relative limit that is used, for the summary.
  double WidestLimit() const;
  double WidestReferenceError() const;
  // A stress regime is usable only while PyTorch itself is accurate in it: not much worse than on the task's
  // own cases, and within the range that can be judged.
  bool IsAccurate(const Case& one) const;
  // Adds the doubts that follow from PyTorch's own error.
  void CheckAccuracy();
};

}  // namespace hone
