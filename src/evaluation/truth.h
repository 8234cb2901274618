// What a right answer to a task is: the instances (weights), the cases (inputs, PyTorch's output, the float64
// output) and the
// limits that follow from PyTorch's own error. Plain data and arithmetic; truth_builder.h
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
  double scaled = 0;
};

// PyTorch's own error on inputs that differ from those of a case by rounding, per output; one entry per look.
using OwnErrors = std::vector<std::vector<Distance>>;

// So many that their spread is known.
inline constexpr size_t kEnoughLooks = 16;

// How limits follow from PyTorch's own error. Everything but the defaults is a weaker claim, and the verdict
// says so.
struct LimitRule {
  std::string precision;    // --precision
  double error_factor = 2;  // --error-factor: times PyTorch's own error
  double atol = 0;          // --atol, --rtol: KernelBench's rule instead, if one is above 0
  double rtol = 0;

  bool is_weaker() const { return by_tolerance() || error_factor > 2; }
  bool by_tolerance() const { return atol > 0 || rtol > 0; }
};

// "twice PyTorch's own error", or what was asked for instead.
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
  std::string change;  // of the drawn inputs: hone_stress.py has their names
  uint64_t input_seed = 0;
  uint64_t call_seed = 0;
  TensorTree inputs;
  TensorTree expected;                    // PyTorch's own default run
  TensorTree truth;                       // float64
  std::vector<Distance> reference_error;  // per output
  TensorTree inputs_after;                // of a task that writes into its inputs
  // The float64 output for inputs that differ by rounding; only where an output holds integers or booleans.
  std::vector<TensorTree> nearby;
  // The values do not fit beside those of other cases: they are made again from the seeds when they are
  // needed (TruthBuilder::Hold).
  bool transient = false;

  // Calls on the same inputs before the one that is compared; for modules that keep state.
  uint64_t earlier = 0;

  bool is_another_batch() const { return change == "fewer" || change == "more"; }
};

struct MutantResult {
  std::string name;
  double error = 0;    // the largest over regimes, relative to the limit there
  std::string regime;  // where it showed most
  bool told_apart = false;
};

// Why the task cannot tell a right answer from a wrong one.
enum class DoubtKind { kInaccurateReference, kBlindTask, kBlindInput, kBlindParameter, kBlindOutput };
struct Doubt {
  DoubtKind kind;
  std::string detail;  // one sentence, with what to offer
};

struct Truth {
  std::vector<Instance> instances;
  std::vector<Case> cases;
  std::vector<MutantResult> mutants;
  std::string note = "float64";  // what the expected values are
  LimitRule rule;
  std::vector<Doubt> doubts;
  std::vector<std::string> remarks;  // what a reader of a verdict should know about the task
  size_t memory_bytes = 0;           // what judging takes where the task is computed, by estimate
  // Inputs that get_inputs makes the same under every seed, by name, where work on them could be done ahead
  // of the clock; empty if there are none.
  std::string fixed_inputs;
  bool alike_draws = false;    // the answer to one draw of get_inputs passes for that to another
  bool stateful = false;       // a second call gives another answer
  bool random = false;         // another seed gives another answer
  bool writes_inputs = false;  // a call changes its inputs

  // The limit for one output of one instance: twice PyTorch's own error, and at least a few ulp.
  Limit LimitFor(size_t instance, size_t leaf) const;
  // The same for the regime of one case: changed inputs have errors of their own. `looks`: what else is known
  // of PyTorch's error on this case (second_look.h).
  Limit LimitOf(const Case& one, size_t leaf, const OwnErrors& looks = {}) const;
  // The factor for a distance of an output with few elements. Sums that nearly cancel are small by chance,
  // and an error relative to such a sum means little. The norm that is usual for the instance is used
  // instead.
  double NormShare(size_t instance, size_t leaf, const Distance& distance) const;
  // The largest relative limit in use, for the summary.
  double WidestLimit() const;
  double WidestReferenceError() const;
  // A stress regime is usable only while PyTorch itself stays accurate in it: not much worse than on the
  // task's own cases, and never worse than what can be judged at all.
  bool IsAccurate(const Case& one) const;
  // Doubts that follow from PyTorch's own error.
  void CheckAccuracy();
};

}  // namespace hone
