// Checks the contract for later use: what a user may do with the module after the verdict, such as loading
// other weights, calling it with another batch size, copying it. The reference does the same first; what it
// cannot do is not asked of the candidate. Values are compared here, in the parent.
//
// The steps change the candidate's weights and mode. They come last: the process is of no use afterwards.
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
  // `call_s`: the time of one call, which decides how much is checked.
  ContractCheck(ReferenceSession& session, WorkerProcess& candidate, double call_s)
      : session_(session), candidate_(candidate), call_s_(call_s) {}

  // Of a candidate whose random draws differ from PyTorch's: by instance and output, how far two draws may
  // lie apart.
  void HoldToRanges(std::vector<std::vector<std::optional<DrawRange>>> ranges) {
    ranges_ = std::move(ranges);
  }
  // An Error only when Hone itself or the reference failed. A candidate that dies breaks its entry.
  Result<std::vector<ContractEntry>> Run(const Progress& progress);

 private:
  // The result of one step: an entry that is decided, or nothing yet.
  using Decided = std::optional<ContractEntry>;

  Result<ContractReply> Step(WorkerProcess& worker, const ContractRequest& request,
                             const std::vector<int>& descriptors);
  // Empty when the candidate's answer to the case is right; else what is wrong with it.
  Result<std::string> CheckAnswer(const std::string& slot, const std::string& inputs, const Case& one);
  Result<std::optional<TensorTree>> RunOn(WorkerProcess& worker, const std::string& slot,
                                          const std::string& inputs, uint64_t seed, std::string* problem);
  // Gives a slot of the candidate the weights of an instance. Not empty: why that was not possible.
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
  const Case* own_ = nullptr;     // a case of the task's own weights
  const Case* stress_ = nullptr;  // a case of other weights; null when the module has none
};

}  // namespace hone
