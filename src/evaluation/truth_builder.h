// Asks the reference worker for what a right answer is: builds the instances, draws the cases, runs each in
// PyTorch and in float64, and runs the mutants that the task should tell apart.
#pragma once

#include "evaluation/progress.h"
#include "evaluation/session_options.h"
#include "evaluation/truth.h"
#include "evaluation/worker.h"

namespace hone {

class TruthBuilder {
 public:
  TruthBuilder(WorkerProcess& worker, const SessionOptions& options, Truth* truth)
      : worker_(worker), options_(options), truth_(*truth) {}

  // The task's own weights and inputs. Returns the worker's reply to the build, with facts about the task's
  // folder.
  Result<Json> AddDefaultCases(const Progress& progress);
  // The stress instance and the task's variants.
  Status AddStressCases(bool task_has_stress, const Progress& progress);
  Status AddVariant(const std::string& variant) { return AddCase(0, "variant " + variant, variant); }
  // Runs known wrong computations and notes which of them the cases tell apart.
  Status Audit(const Progress& progress);

 private:
  Result<Json> BuildInstance(const std::string& slot, const std::string& regime);
  Status AddCase(size_t instance, const std::string& id, const std::string& variant);
  Result<TensorTree> Run(const std::string& slot, const std::string& inputs, uint64_t seed);
  Status DetectState();

  WorkerProcess& worker_;
  const SessionOptions& options_;
  Truth& truth_;
  bool lean_ = false;  // weights too large to keep several copies
};

}  // namespace hone
