// Checks the contract for later use: what a user may do with the module after the verdict, such as loading
// other weights, calling it with another batch size, or copying it. The reference does each step first. If it
// fails, the step is not required of the candidate. The parent compares the values.
//
// The steps change the candidate's weights and mode. They come last, because the process cannot be used
// afterwards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation/contract_plan.h"
#include "evaluation/measurement.h"
#include "evaluation/progress.h"
#include "evaluation/reference_session.h"
#include "evaluation/run_messages.h"

namespace hone {

class ContractCheck {
 public:
  // `call_s` is the time of one call. It decides how much is checked.
  ContractCheck(ReferenceSession& session, WorkerProcess& candidate, double call_s)
      : session_(session), candidate_(candidate), call_s_(call_s) {}

  // For a candidate whose random draws differ from PyTorch's: the allowed distance of two draws, by instance
  // and output.
  void HoldToRanges(std::vector<std::vector<std::optional<DrawRange>>> ranges) {
    ranges_ = std::move(ranges);
  }
  // Returns an Error only if Hone itself or the reference failed. If the candidate dies, its entry is broken.
  Result<std::vector<ContractEntry>> Run(const Progress& progress);

 private:
  // The result of one step: an entry if it is decided.
  using Decided = std::optional<ContractEntry>;

  Result<ContractReply> Step(WorkerProcess& worker, const ContractRequest& request,
                             const std::vector<int>& descriptors);
  // Returns what is wrong with the candidate's answer to the case, or an empty string if it is right.
  Result<std::string> CheckAnswer(const std::string& slot, const std::string& inputs, const Case& one);
  Result<std::optional<TensorTree>> RunOn(WorkerProcess& worker, const std::string& slot,
                                          const std::string& inputs, uint64_t seed, std::string* problem);
  // Loads the weights of an instance into a slot of the candidate. Returns an entry if that failed.
  Result<Decided> SetWeights(const std::string& name, const std::string& how, const std::string& slot,
                             const Instance& instance);
  Result<ContractEntry> CheckWeights(const std::string& name, const std::string& how);
  Result<ContractEntry> CheckBatchSize();
  Result<ContractEntry> CheckGradients();
  Result<ContractEntry> CheckDeepcopy();
  Result<ContractEntry> CheckPickle();
  Result<ContractEntry> CheckGlobalState();
  Result<bool> PutInputs(const Case& one, const std::string& name);
  const Case* FirstCase(size_t instance) const;
  Result<ContractSizes> Sizes() const;
  double LimitOf(size_t instance, size_t leaf) const;

  ReferenceSession& session_;
  WorkerProcess& candidate_;
  double call_s_;
  std::vector<std::vector<std::optional<DrawRange>>> ranges_;
  const Case* own_ = nullptr;     // a case with the task's own weights
  const Case* stress_ = nullptr;  // a case with other weights; null if the module has none
};

}  // namespace hone
