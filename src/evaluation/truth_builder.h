// Asks the reference worker for what a right answer is: builds the instances, draws the cases, and runs each
// in PyTorch and in float64. The reference goes first: a regime that it refuses, or in which it is
// inaccurate, is left out and blames nobody.
#pragma once

#include <optional>

#include "evaluation/progress.h"
#include "evaluation/session_options.h"
#include "evaluation/setup_messages.h"
#include "evaluation/truth.h"
#include "evaluation/worker.h"

namespace hone {

class TruthBuilder {
 public:
  TruthBuilder(WorkerProcess& worker, const SessionOptions& options, Truth* truth)
      : worker_(worker), options_(options), truth_(*truth) {}

  // The task's own weights and inputs. Returns the worker's reply to the build, with facts about the task's
  // folder.
  Result<BuildReply> AddDefaultCases(const Progress& progress);
  // An instance with other weights, and inputs of the same nature that are drawn more widely.
  Status AddStressCases(bool task_has_stress, const Progress& progress);
  // Inputs that are shifted, scaled, in another memory order, or fewer.
  Status AddChangedCases(const Progress& progress);
  Status AddVariant(const std::string& variant);

 private:
  struct Regime {
    std::string weights;  // "" for the task's own
    std::string draw;     // how inputs are drawn: "wide", "positive" or "own"
  };

  Result<BuildReply> BuildInstance(const std::string& slot, const Regime& regime);
  // Returns nothing if the reference refuses the case and `may_fail`.
  Result<std::optional<Case>> MakeCase(size_t instance, const std::string& id, const std::string& variant,
                                       const std::string& change, bool may_fail);
  Status AddTruth(Case* made);
  Status AddNearby(Case* made);
  // Request: one whose reply is a tree of tensors.
  template <class Request>
  Result<std::optional<TensorTree>> Ask(const Request& request, const char* root, bool may_fail);
  Result<TensorTree> Run(const std::string& slot, const std::string& inputs, uint64_t seed);
  Status DetectState();

  WorkerProcess& worker_;
  const SessionOptions& options_;
  Truth& truth_;
  std::vector<Regime> regimes_;  // per instance
  bool lean_ = false;            // weights too large to keep several copies
  double call_s_ = 0;            // one call of the reference, with its transfer
};

}  // namespace hone
