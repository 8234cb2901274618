// Builds the right answers with the reference worker: builds the instances, draws the cases, and runs each in
// PyTorch and in float64. The reference runs first: a regime that it refuses, or in which it is inaccurate,
// is left out and rejects no candidate.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "evaluation/progress.h"
#include "evaluation/session_options.h"
#include "evaluation/setup_messages.h"
#include "evaluation/tree_exchange.h"
#include "evaluation/truth.h"
#include "evaluation/worker.h"

namespace hone {

// Keeps a case's values in memory during its lifetime.
class CaseLease {
 public:
  CaseLease() = default;
  explicit CaseLease(std::function<void()> release) : release_(std::move(release)) {}
  CaseLease(CaseLease&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
  CaseLease& operator=(CaseLease&&) = delete;
  ~CaseLease() {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

enum class CaseValues { kInputs, kAll };

class TruthBuilder {
 public:
  // If `plane` is null, values are passed through the host.
  TruthBuilder(WorkerProcess& worker, LoadRequest task, DevicePlane* plane, const SessionOptions& options,
               Truth* truth)
      : worker_(worker), task_(std::move(task)), plane_(plane), options_(options), truth_(*truth) {}

  // Adds cases with the task's own weights and inputs. Returns the worker's reply to the build, with facts
  // about the task's folder.
  Result<BuildReply> AddDefaultCases(const Progress& progress);
  // Adds the others: stress, the task's variants, changed inputs.
  Status AddFurtherCases(bool task_has_stress, const std::vector<std::string>& variants,
                         const Progress& progress);
  // Makes all cases again under other seeds. The task's own weights stay, because the baselines were prepared
  // with them.
  Status DrawAnew(bool task_has_stress, const std::vector<std::string>& variants, const Progress& progress);

  // A case with the inputs of a timed call, drawn under this seed. No value if the reference refuses it.
  Result<std::optional<Case>> MakeTimedCase(uint64_t seed);

  // PyTorch's own error on inputs that differ from the case's by rounding, or on another draw if the inputs
  // cannot be moved. No value if the reference refuses them. The values of the case must be in memory.
  Result<std::optional<std::vector<Distance>>> DrawOwnError(const Case& one);

  // Holds the values of a case. A transient case is recomputed, and freed with the lease. `wanted` can
  // request the inputs alone, which saves memory.
  Result<CaseLease> Hold(const Case& one, CaseValues wanted = CaseValues::kAll);
  WorkerProcess& worker() { return worker_; }
  // While the lock is held, no other thread requests values from the reference.
  std::unique_lock<std::recursive_mutex> Alone() { return std::unique_lock(lease_mutex_); }
  DevicePlane* plane() { return plane_; }
  // Call it after the task's code has failed. A failed assertion in a kernel (a probability above 1, an index
  // out of range) makes every later call of the process fail. In that case it starts a new process.
  Status Recover();

 private:
  struct Regime {
    std::string weights;  // "" for the task's own weights
    std::string draw;     // how inputs are drawn: "wide", "positive", "constants" or "own"
  };

  Status AddOwnCases(const Progress& progress);
  // Adds an instance with other weights, and inputs of the same kind that are drawn more widely.
  Status AddStressCases(bool task_has_stress, const Progress& progress);
  // Adds inputs that are shifted, scaled, in another memory order, or of another batch size.
  Status AddChangedCases(const Progress& progress);
  Status AddRareCases(const Progress& progress);
  // Adds an input whose rows come from several regimes.
  Status AddMixedCase(const Progress& progress);
  Status AddLaterCall(const Progress& progress);
  Status AddVariant(const std::string& variant);
  Result<BuildReply> BuildInstance(const std::string& slot, const Regime& regime);
  // Returns no value if the reference refuses the case and `may_fail` is set.
  Result<std::optional<Case>> MakeCase(size_t instance, const std::string& id, const std::string& variant,
                                       const std::string& change, bool may_fail);
  // Computes the values, and the distance of PyTorch's from float64.
  Result<bool> MakeJudged(Case* made, bool may_fail);
  // Draws the inputs and makes PyTorch answer them. Returns false if the reference refuses and `may_fail` is
  // set.
  Result<bool> MakeValues(Case* made, bool may_fail);
  Status AddTruth(Case* made);
  Status AddNearby(Case* made);
  // Returns an Error with a reason if the task is too large for the device or this machine.
  Status PlanMemory(const Case& first) const;
  // Bytes that the values of cases may use while they are not needed.
  Result<size_t> KeptRoom() const;
  // Records which inputs are equal in all draws.
  void NoteFixedInputs(const Case& last);
  // Decides whether the values of a new case stay in memory.
  Status Settle(Case* made);
  void Forget(Case* made);
  // Frees a case that is not used after all.
  void Discard(const std::optional<Case>& made);
  // Request has a tree of tensors as its reply.
  template <class Request>
  Result<std::optional<TensorTree>> Ask(const Request& request, const char* root, bool may_fail);
  Result<TensorTree> RunWatched(const std::string& slot, const std::string& inputs, uint64_t seed);
  Status DetectState();

  WorkerProcess& worker_;
  LoadRequest task_;
  DevicePlane* plane_;
  const SessionOptions& options_;
  Truth& truth_;
  std::vector<Regime> regimes_;                     // one per instance
  std::map<std::string, MakeInputsRequest> draws_;  // one per case
  size_t kept_bytes_ = 0;                           // bytes of cases that stay in memory
  std::vector<uint64_t> fixed_, telling_;           // inputs that are equal in all draws (MakeInputsReply)
  std::map<const Case*, int> leases_;
  std::set<const Case*> inputs_alone_;  // leased without answers
  std::recursive_mutex lease_mutex_;    // only one thread at a time may use a transient case
  bool lean_ = false;                   // the weights are too large for several copies
  double call_s_ = 1e9;                 // shortest call of the reference so far
};

}  // namespace hone
