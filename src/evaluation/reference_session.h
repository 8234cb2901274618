// Everything about a task that does not depend on a candidate: the reference worker, the cases (inputs,
// PyTorch's output, the float64 output), the limits, the mutants that the task can tell apart, the card, and
// the baselines. Prepared once and used for every candidate of the task.
//
// Expected values stay in this process. Seeds come from the kernel and appear only in the verdict.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evaluation/compare.h"
#include "evaluation/device_ceilings.h"
#include "evaluation/ladder.h"
#include "evaluation/progress.h"
#include "evaluation/worker.h"
#include "task/card.h"
#include "task/task_file.h"

namespace hone {

struct SessionOptions {
  PythonInfo python;
  std::string target = "cpu";     // "cuda", "triton" or "cpu", as asked
  std::string device = "cpu";     // "cuda" or "cpu", as found
  bool interpret_triton = false;  // --target triton without a GPU
  std::string precision;          // "", "fp32", "tf32" or "bf16"
  int trials = 5;                 // cases at the least
  SandboxLevel sandbox = SandboxLevel::kNone;
  double timeout_s = 0;               // per call of a candidate; 0: derived from the reference
  double build_timeout_s = 300;       // import, compile, constructor
  std::string compile_rung = "auto";  // "auto", "always" or "never"
  std::vector<std::string> ladder;    // rungs to measure; empty: all that apply
  bool lint = true;                   // static analysis; what it is certain of and dangerous is not run
  bool lint_predicts = false;         // also leave out what lint predicts to fail (for proposals)
  Deadline end = Deadline::Never();   // whatever is going on then stops, as with Ctrl-C
};

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

class ReferenceSession {
 public:
  static Result<std::unique_ptr<ReferenceSession>> Open(TaskFile task, SessionOptions options,
                                                        const Progress& progress);

  const TaskFile& task() const { return task_; }
  const SessionOptions& options() const { return options_; }
  const Card& card() const { return card_; }
  const Ceilings& ceilings() const { return ceilings_.rates; }
  const std::vector<Case>& cases() const { return cases_; }
  const std::vector<Instance>& instances() const { return instances_; }
  const std::vector<MutantResult>& mutants() const { return mutants_; }
  const Ladder& ladder() const { return ladder_; }
  const TensorTree& init_inputs() const { return init_inputs_; }
  bool init_inputs_opaque() const { return init_opaque_; }
  bool stateful() const { return stateful_; }
  bool random_in_forward() const { return random_; }
  int threads() const { return threads_; }
  const Json& facts() const { return facts_; }
  const std::string& truth_note() const { return truth_note_; }
  double eager_us() const { return eager_us_; }
  int64_t reference_launches() const { return launches_; }
  WorkerProcess& worker() { return *worker_; }

  // The limit for one output of one instance: twice PyTorch's own error, and at least a few ulp.
  Limit LimitFor(size_t instance, size_t leaf) const;
  // The largest relative limit in use, for the summary.
  double WidestLimit() const;
  double WidestReferenceError() const;

  // Prepares torch.compile if it is wanted. This is slow, so callers ask only when it can change a verdict.
  // Its time relative to the best other baseline is kept per task, device and library versions. If it was
  // clearly slower before, it is not prepared again.
  Status PrepareCompile(double best_other_us, const Progress& progress);
  // Measures PyTorch's time now, in microseconds.
  Result<double> TimeEager() { return TimeCall("default", "eager", 0.3); }
  // The deadline for one call of a candidate, in seconds.
  double CallDeadline() const;

 private:
  ReferenceSession() = default;
  Status Start(const Progress& progress);
  Status BuildInstance(const std::string& slot, const std::string& regime);
  Status AddCase(size_t instance, const std::string& id, const std::string& variant);
  Result<TensorTree> Run(const std::string& slot, const std::string& inputs, uint64_t seed,
                         const Json& extra = Json::object());
  Status DetectState();
  Status ChooseStress(const Progress& progress);
  Status Audit(const Progress& progress);
  Status ChooseThreads();
  bool Wants(const std::string& rung) const;
  Status PrepareRung(const std::string& name);
  Status LearnCeilings(const Progress& progress);
  void CorrectCeilings(const Progress& progress);
  Result<double> TimeCall(const std::string& slot, const std::string& rung, double at_most_s);
  bool Accurate(const Case& candidate) const;

  TaskFile task_;
  SessionOptions options_;
  std::unique_ptr<WorkerProcess> worker_;
  Json facts_;
  Card card_;
  DeviceCeilings ceilings_;
  TensorTree init_inputs_;
  bool init_opaque_ = false;
  bool has_stress_ = false;
  std::vector<std::string> variants_;
  std::vector<Instance> instances_;
  std::vector<Case> cases_;
  std::vector<MutantResult> mutants_;
  Ladder ladder_;
  bool stateful_ = false;
  bool random_ = false;
  bool lean_ = false;  // weights too large to keep several copies
  int threads_ = 0;
  int64_t launches_ = -1;
  double eager_us_ = 0;
  std::string truth_note_ = "float64";
};

}  // namespace hone
