// Asks the reference worker for what a right answer is: builds the instances, draws the cases, and runs each
// in PyTorch and in float64. The reference goes first: a regime that it refuses, or in which it is
// inaccurate, is left out, and no candidate is rejected for it.
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

// While it lives, the values of a case are there.
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
  // `plane` null: values travel through the host.
  TruthBuilder(WorkerProcess& worker, LoadRequest task, DevicePlane* plane, const SessionOptions& options,
               Truth* truth)
      : worker_(worker), task_(std::move(task)), plane_(plane), options_(options), truth_(*truth) {}

  // The task's own weights and inputs. Returns the worker's reply to the build, with facts about the task's
  // folder.
  Result<BuildReply> AddDefaultCases(const Progress& progress);
  // The others: stress, the task's variants, changed inputs.
  Status AddFurtherCases(bool task_has_stress, const std::vector<std::string>& variants,
                         const Progress& progress);
  // All cases again under other seeds. The task's own weights stay; the baselines were prepared with them.
  Status DrawAnew(bool task_has_stress, const std::vector<std::string>& variants, const Progress& progress);

  // A case with the inputs of a timed call, which were drawn under this seed. Nothing if the reference
  // refuses it.
  Result<std::optional<Case>> MakeTimedCase(uint64_t seed);

  // PyTorch's own error on inputs that differ from those of the case by rounding; where nothing in them may
  // be moved, on another draw. Nothing if the reference refuses them. The values of the case must be there.
  Result<std::optional<std::vector<Distance>>> DrawOwnError(const Case& one);

  // The values of a case. Those of a transient one are made again, and forgotten with the lease. Where the
  // inputs are enough, the rest takes no memory.
  Result<CaseLease> Hold(const Case& one, CaseValues wanted = CaseValues::kAll);
  WorkerProcess& worker() { return worker_; }
  // While it is held, no other thread asks the reference for values.
  std::unique_lock<std::recursive_mutex> Alone() { return std::unique_lock(lease_mutex_); }
  DevicePlane* plane() { return plane_; }
  // To be called when the task's code has failed. An assertion in a kernel (a probability above 1, an index
  // out of range) makes every later call of the process fail; then a new one takes its place.
  Status Recover();

 private:
  struct Regime {
    std::string weights;  // "" for the task's own
    std::string draw;     // how inputs are drawn: "wide", "positive", "constants" or "own"
  };

  Status AddOwnCases(const Progress& progress);
  // An instance with other weights, and inputs of the same nature that are drawn more widely.
  Status AddStressCases(bool task_has_stress, const Progress& progress);
  // Inputs that are shifted, scaled, in another memory order, or fewer.
  Status AddChangedCases(const Progress& progress);
  Status AddRareCases(const Progress& progress);
  // Rows of several regimes in one input.
  Status AddMixedCase(const Progress& progress);
  Status AddLaterCall(const Progress& progress);
  Status AddVariant(const std::string& variant);
  Result<BuildReply> BuildInstance(const std::string& slot, const Regime& regime);
  // Returns nothing if the reference refuses the case and `may_fail`.
  Result<std::optional<Case>> MakeCase(size_t instance, const std::string& id, const std::string& variant,
                                       const std::string& change, bool may_fail);
  // The values, and how far PyTorch's are from float64.
  Result<bool> MakeJudged(Case* made, bool may_fail);
  // Draws the inputs and has PyTorch answer them. False: the reference refuses, and `may_fail`.
  Result<bool> MakeValues(Case* made, bool may_fail);
  Status AddTruth(Case* made);
  Status AddNearby(Case* made);
  // An Error with a sentence where the task is too large for the device, or for this machine.
  Status PlanMemory(const Case& first) const;
  // What the values of cases may fill while they are not in use.
  Result<size_t> KeptRoom() const;
  // Says which inputs are the same in all draws.
  void NoteFixedInputs(const Case& last);
  // Decides whether the values of a new case stay.
  Status Settle(Case* made);
  void Forget(Case* made);
  // A case that is not used after all.
  void Discard(const std::optional<Case>& made);
  // Request: one whose reply is a tree of tensors.
  template <class Request>
  Result<std::optional<TensorTree>> Ask(const Request& request, const char* root, bool may_fail);
  Result<TensorTree> RunWatched(const std::string& slot, const std::string& inputs, uint64_t seed);
  Status DetectState();

  WorkerProcess& worker_;
  LoadRequest task_;
  DevicePlane* plane_;
  const SessionOptions& options_;
  Truth& truth_;
  std::vector<Regime> regimes_;                     // per instance
  std::map<std::string, MakeInputsRequest> draws_;  // per case
  size_t kept_bytes_ = 0;                           // by cases that stay
  std::vector<uint64_t> fixed_, telling_;           // inputs that are the same in all draws (MakeInputsReply)
  std::map<const Case*, int> leases_;
  std::set<const Case*> inputs_alone_;  // leased without answers
  std::recursive_mutex lease_mutex_;    // a transient case is in the hands of one thread at a time
  bool lean_ = false;                   // weights too large to keep several copies
  double call_s_ = 1e9;                 // the shortest call of the reference so far
};

}  // namespace hone
