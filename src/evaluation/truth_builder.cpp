#include "evaluation/truth_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "base/files.h"
#include "base/ids.h"
#include "base/text.h"
#include "evaluation/run_messages.h"
#include "evaluation/trial_judge.h"

namespace hone {

namespace {

constexpr size_t kLeanWeights = size_t{1} << 30;
// Changed inputs are tried only if that is cheap: each costs the reference and every candidate a call.
constexpr double kCheapCall = 0.25;
constexpr size_t kCheapBytes = size_t{1} << 26;
constexpr size_t kCheapDeviceBytes = size_t{1} << 30;
// The fraction (1/8) of the device's memory, or the bytes on the host, that values of cases may use while
// they are not needed.
constexpr size_t kKeptShare = 8;
constexpr size_t kKeptOnHost = size_t{1} << 31;
// A case with rows of several regimes tests more than any other change, so it is tried with longer calls too.
constexpr double kMixedCall = 2.0;
// Rare values are tried only with short calls, because there are several such cases.
constexpr double kRareCall = 0.05;
// The number of draws of a stress case if PyTorch is inaccurate on the first one.
constexpr int kStressDraws = 4;
// If float64 runs make other random draws than PyTorch, the two differ by at least this.
constexpr double kOtherDraws = 1e-2;
// A float64 run of this size leaves memory in the allocator that the candidate's process may need.
constexpr size_t kTrimBytes = size_t{1} << 28;
constexpr int kNearby = 6;  // float64 runs that show which integers depend on rounding
constexpr double kJitterUlp = 16;
// A change of a case: the answer of a later call. It detects candidates that do not keep state.
constexpr char kLaterCall[] = "later call";
constexpr uint64_t kEarlierCalls = 2;

// The largest relative distance; 1 if the two have different forms.
Result<double> LargestDistance(const TensorTree& a, const TensorTree& b) {
  if (a.leaves.size() != b.leaves.size()) return 1.0;
  double largest = 0;
  for (size_t i = 0; i < a.leaves.size(); ++i) {
    if (a.leaves[i].elements() != b.leaves[i].elements()) return 1.0;
    HONE_ASSIGN_OR_RETURN(const Distance found, CompareNorms(a, b, i));
    largest = std::max(largest, found.non_finite > 0 ? 1.0 : found.relative);
  }
  return largest;
}

size_t SizeOf(const Case& one) {
  return one.inputs.size + one.expected.size + one.truth.size;
}

// 0 if unknown.
size_t FreeHostBytes() {
  const Result<std::string> meminfo = ReadFile("/proc/meminfo");
  if (!meminfo.ok()) return 0;
  const size_t at = meminfo->find("MemAvailable:");
  return at == std::string::npos ? 0 : static_cast<size_t>(std::atoll(meminfo->c_str() + at + 13)) * 1024;
}

}  // namespace

Result<BuildReply> TruthBuilder::BuildInstance(const std::string& slot, const Regime& regime) {
  Instance instance;
  instance.slot = slot;
  instance.regime = regime.weights;
  instance.seed = RandomSeed();
  HONE_ASSIGN_OR_RETURN(BuildReply built, worker_.Require(BuildRequest{slot, "Model", instance.seed}));
  if (!regime.weights.empty())
    HONE_RETURN_IF_ERROR(worker_.Require(StressRequest{slot, regime.weights, instance.seed, kFirstCase}));
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("weights"));
  HONE_ASSIGN_OR_RETURN(WeightsReply reply, worker_.Require(WeightsRequest{slot}, {blob.fd()}));
  instance.weight_names = std::move(reply.names);
  HONE_ASSIGN_OR_RETURN(instance.weights, ParseTree(reply.tree, std::move(blob), "weights"));
  lean_ = lean_ || instance.weights.size > kLeanWeights;
  truth_.instances.push_back(std::move(instance));
  regimes_.push_back(regime);
  return built;
}

// Records whether the call changes its inputs. If so, the worker makes later calls with copies.
Result<TensorTree> TruthBuilder::RunWatched(const std::string& slot, const std::string& inputs,
                                            uint64_t seed) {
  RunRequest request = {slot, inputs, seed};
  request.fresh = true;
  HONE_ASSIGN_OR_RETURN(auto reply, RequireTree(worker_, plane_, request, {.root = "output"}));
  truth_.writes_inputs = truth_.writes_inputs || reply.body.inputs_changed;
  return std::move(reply.tree);
}

// A module with state returns another output in the second call. A module with random draws returns another
// output under another seed.
Status TruthBuilder::DetectState() {
  HONE_RETURN_IF_ERROR(Ask(MakeInputsRequest{"probe", 1, "default"}, "probe", false));
  HONE_RETURN_IF_ERROR(worker_.Require(SnapshotRequest{"default"}));
  double reseeded = 0, noise = 0, again = 0;
  {
    HONE_ASSIGN_OR_RETURN(const TensorTree first, RunWatched("default", "probe", 1));
    for (const uint64_t seed : {2, 1}) {
      HONE_ASSIGN_OR_RETURN(const TensorTree other, RunWatched("default", "probe", seed));
      HONE_ASSIGN_OR_RETURN(seed == 1 ? noise : reseeded, LargestDistance(first, other));
    }
  }
  HONE_RETURN_IF_ERROR(worker_.Require(BuildRequest{"probe", "Model", truth_.instances[0].seed}));
  {
    HONE_ASSIGN_OR_RETURN(const TensorTree fresh, RunWatched("probe", "probe", 1));
    HONE_ASSIGN_OR_RETURN(const TensorTree second, RunWatched("probe", "probe", 1));
    HONE_ASSIGN_OR_RETURN(again, LargestDistance(fresh, second));
  }
  // Library kernels may differ slightly between two runs, which is neither state nor randomness.
  noise = 8 * std::max(noise, 1e-12);
  truth_.random = reseeded > noise;
  truth_.stateful = again > noise;
  if (!truth_.stateful)  // otherwise no state must be restored
    HONE_RETURN_IF_ERROR(worker_.Require(BuildRequest{"default", "Model", truth_.instances[0].seed}));
  HONE_RETURN_IF_ERROR(worker_.Require(DropRequest{{"probe"}, {"probe"}}));
  return Ok();
}

Result<BuildReply> TruthBuilder::AddDefaultCases(const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(BuildReply built, BuildInstance("default", {}));
  HONE_RETURN_IF_ERROR(DetectState());
  HONE_RETURN_IF_ERROR(AddOwnCases(progress));
  return built;
}

Status TruthBuilder::AddFurtherCases(bool task_has_stress, const std::vector<std::string>& variants,
                                     const Progress& progress) {
  HONE_RETURN_IF_ERROR(AddStressCases(task_has_stress, progress));
  for (const std::string& name : variants) HONE_RETURN_IF_ERROR(AddVariant(name));
  return AddChangedCases(progress);
}

Status TruthBuilder::DrawAnew(bool task_has_stress, const std::vector<std::string>& variants,
                              const Progress& progress) {
  DropRequest drop;
  for (const Case& one : truth_.cases) drop.inputs.push_back(one.id);
  HONE_RETURN_IF_ERROR(worker_.Require(drop));
  const std::vector<std::string> remarks = truth_.remarks;  // those about the task, not its draws
  truth_.cases.clear();
  truth_.instances.erase(truth_.instances.begin() + 1, truth_.instances.end());
  regimes_.resize(1);
  draws_.clear();
  leases_.clear();
  kept_bytes_ = 0;
  HONE_RETURN_IF_ERROR(AddOwnCases(progress));
  HONE_RETURN_IF_ERROR(AddFurtherCases(task_has_stress, variants, progress));
  truth_.remarks = remarks;
  return Ok();
}

Status TruthBuilder::AddOwnCases(const Progress& progress) {
  const int own_trials = std::max(2, (options_.trials + 1) / 2);
  for (int i = 0; i < own_trials; ++i) {
    progress("running the reference", i, own_trials);
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(0, fmt::format("default#{}", i + 1), "", "", false));
    NoteFixedInputs(*made);
    truth_.cases.push_back(std::move(*made));
  }
  return Ok();
}

void TruthBuilder::NoteFixedInputs(const Case& last) {
  truth_.fixed_inputs.clear();
  if (truth_.cases.empty()) return;  // one draw shows nothing
  const bool all = !fixed_.empty() && fixed_.size() == last.inputs.leaves.size();
  for (const uint64_t leaf : all ? fixed_ : telling_) {
    if (leaf >= last.inputs.leaves.size()) continue;
    const std::string& path = last.inputs.leaves[leaf].path;
    truth_.fixed_inputs += (truth_.fixed_inputs.empty() ? "" : ", ") + path;
  }
}

Status TruthBuilder::AddVariant(const std::string& variant) {
  HONE_ASSIGN_OR_RETURN(std::optional<Case> made, MakeCase(0, "variant " + variant, variant, "", false));
  truth_.cases.push_back(std::move(*made));
  return Ok();
}

// Returns the tree that the worker sends. No value if the task's code raised an exception and `may_fail` is
// set.
template <class Request>
Result<std::optional<TensorTree>> TruthBuilder::Ask(const Request& request, const char* root, bool may_fail) {
  HONE_ASSIGN_OR_RETURN(auto reply, AskForTree(worker_, plane_, request, {.root = root}));
  if constexpr (std::is_same_v<Request, MakeInputsRequest>) {
    fixed_ = reply.body.fixed;
    telling_ = reply.body.telling;
  }
  if (reply.ok() && !reply.tree.description.is_null())
    return std::optional<TensorTree>(std::move(reply.tree));
  if (!reply.ok() && !worker_.alive())
    return Error{ErrorKind::kInvalid, "the reference worker died: " + reply.failure->message};
  if (!reply.ok() && !may_fail) return WorkerProcess::ErrorOf(*reply.failure);
  if (!may_fail) return Error{ErrorKind::kInvalid, "the reference gave no tensors"};
  if (!reply.ok()) HONE_RETURN_IF_ERROR(Recover());
  return std::optional<TensorTree>();
}

// The minimum: the inputs in both processes and in the parent, a float64 run with its inputs and outputs, and
// the inputs and answers of both sides in a timed block. The module's intermediate results need more.
Status TruthBuilder::PlanMemory(const Case& first) const {
  const size_t in = first.inputs.size, out = first.expected.size, weights = truth_.instances[0].weights.size;
  if (plane_ == nullptr) {
    // Two processes with inputs and outputs, the float64 run, a case in the parent, and for a timed block two
    // draws, the regions of both sides and their answers. Cases that stay in memory are added.
    const size_t kept = std::min(kKeptOnHost, static_cast<size_t>(options_.trials + 6) * (in + 3 * out));
    truth_.memory_bytes = 9 * in + 9 * out + 10 * weights + kept;
    const size_t free = FreeHostBytes();
    if (free == 0 || truth_.memory_bytes <= free) return Ok();
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("judging this task takes about {} of memory ({} of inputs, {} of outputs, {} of "
                    "weights), and {} is free here; make the task's sizes smaller",
                    HumanBytes(static_cast<double>(truth_.memory_bytes)), HumanBytes(static_cast<double>(in)),
                    HumanBytes(static_cast<double>(out)), HumanBytes(static_cast<double>(weights)),
                    HumanBytes(static_cast<double>(free)))};
  }
  const size_t truth = 4 * in + 5 * out, timing = 7 * in + 6 * out;
  HONE_ASSIGN_OR_RETURN(const MemoryInfo memory, plane_->Memory());
  truth_.memory_bytes = std::max(truth, timing) + weights * 8;
  if (truth_.memory_bytes <= memory.total_bytes) return Ok();
  return Error{
      ErrorKind::kUnavailable,
      fmt::format(
          "judging this task takes about {} of GPU memory ({} of inputs, {} of outputs), and {} has {}; "
          "make the task's sizes smaller",
          HumanBytes(static_cast<double>(truth_.memory_bytes)), HumanBytes(static_cast<double>(in)),
          HumanBytes(static_cast<double>(out)), plane_->name(),
          HumanBytes(static_cast<double>(memory.total_bytes)))};
}

Status TruthBuilder::Recover() {
  if (options_.device != "cuda") return Ok();
  HONE_ASSIGN_OR_RETURN(const auto canary, worker_.Call(CanaryRequest{}, 60));
  if (canary.ok() && canary.body.right) return Ok();
  HONE_RETURN_IF_ERROR(worker_.Restart());
  HONE_RETURN_IF_ERROR(worker_.Require(HelloRequest{}, {}, 180));
  HONE_RETURN_IF_ERROR(worker_.Require(task_));
  for (const Instance& one : truth_.instances) {
    HONE_RETURN_IF_ERROR(worker_.Require(BuildRequest{one.slot, "Model", one.seed}));
    HONE_RETURN_IF_ERROR(worker_.Require(
        TakeWeightsRequest{one.slot, one.weight_names, one.weights.description}, {one.weights.blob.fd()}));
    if (truth_.stateful) HONE_RETURN_IF_ERROR(worker_.Require(SnapshotRequest{one.slot}));
  }
  for (const Case& one : truth_.cases)
    if (!one.transient || one.id == kFirstCase) HONE_RETURN_IF_ERROR(Ask(draws_.at(one.id), "input", false));
  if (truth_.writes_inputs) HONE_RETURN_IF_ERROR(RunWatched("default", kFirstCase, 1));
  return Ok();
}

Result<bool> TruthBuilder::MakeValues(Case* made, bool may_fail) {
  HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> inputs, Ask(draws_.at(made->id), "input", may_fail));
  if (!inputs) return false;
  made->inputs = std::move(*inputs);
  const Stopwatch watch;
  RunRequest run = {truth_.instances[made->instance].slot, made->id, made->call_seed};
  run.earlier = made->earlier;
  HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> expected, Ask(run, "output", may_fail));
  if (!expected) return false;
  made->expected = std::move(*expected);
  if (truth_.writes_inputs) {
    run.want_inputs = true;
    HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> after, Ask(run, "input", false));
    made->inputs_after = std::move(*after);
  }
  if (made->id == kFirstCase) HONE_RETURN_IF_ERROR(PlanMemory(*made));
  if (made->change.empty()) call_s_ = std::min(call_s_, watch.seconds());
  HONE_RETURN_IF_ERROR(AddTruth(made));
  return true;
}

Result<std::optional<Case>> TruthBuilder::MakeCase(size_t instance, const std::string& id,
                                                   const std::string& variant, const std::string& change,
                                                   bool may_fail) {
  Case made;
  made.id = id;
  made.instance = instance;
  made.variant = variant;
  made.change = change;
  made.input_seed = RandomSeed();
  made.call_seed = RandomSeed();
  const Instance& owner = truth_.instances[instance];
  MakeInputsRequest& request = draws_[id] = {id, made.input_seed, owner.slot, variant};
  if (!owner.regime.empty()) {
    request.regime = owner.regime;
    request.draw = regimes_[instance].draw;
  }
  if (change == kLaterCall) {
    made.earlier = kEarlierCalls;
  } else if (!change.empty()) {
    request.change = change;
    for (const TensorLeaf& leaf : truth_.cases[0].expected.leaves)
      request.output_shapes.push_back(leaf.shape);
  }
  HONE_ASSIGN_OR_RETURN(const bool there, MakeJudged(&made, may_fail));
  if (!there) return std::optional<Case>();
  HONE_RETURN_IF_ERROR(Settle(&made));
  return std::optional<Case>(std::move(made));
}

Result<bool> TruthBuilder::MakeJudged(Case* made, bool may_fail) {
  HONE_ASSIGN_OR_RETURN(const bool there, MakeValues(made, may_fail));
  if (!there) return false;
  for (size_t i = 0; i < made->expected.leaves.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareLeaves(made->expected, made->truth, i));
    made->reference_error.push_back(distance);
  }
  HONE_RETURN_IF_ERROR(AddNearby(made));
  return true;
}

Result<std::optional<Case>> TruthBuilder::MakeTimedCase(uint64_t seed) {
  const std::unique_lock alone(lease_mutex_);
  worker_.Thaw();
  Case made;
  made.id = made.change = "timed";  // it has its own error, like a changed input
  made.input_seed = seed;
  made.call_seed = RandomSeed();
  draws_[made.id] = {made.id, seed, truth_.instances[0].slot};
  HONE_ASSIGN_OR_RETURN(const bool there, MakeJudged(&made, true));
  (void)worker_.Call(DropRequest{{}, {made.id}}, 60);
  draws_.erase(made.id);
  return there ? std::optional<Case>(std::move(made)) : std::optional<Case>();
}

Result<std::optional<std::vector<Distance>>> TruthBuilder::DrawOwnError(const Case& one) {
  const std::unique_lock alone(lease_mutex_);
  worker_.Thaw();
  constexpr char kNear[] = "near";
  const std::string& slot = truth_.instances[one.instance].slot;
  const auto known = draws_.find(one.id);
  MakeInputsRequest draw =
      known != draws_.end() ? known->second : MakeInputsRequest{"", one.input_seed, slot};
  draw.inputs = kNear;
  draw.near = RandomSeed();
  HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> inputs, Ask(draw, "input", true));
  bool same = inputs && inputs->leaves.size() == one.inputs.leaves.size();
  for (size_t i = 0; same && i < inputs->leaves.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(same, SameValues(*inputs, one.inputs, i));
  }
  if (same) {
    draw.near = 0;
    draw.seed = RandomSeed();
    HONE_ASSIGN_OR_RETURN(inputs, Ask(draw, "input", true));
  }
  std::optional<TensorTree> own, exact;
  if (inputs) {
    RunRequest run = {slot, kNear, one.call_seed};
    run.earlier = one.earlier;
    HONE_ASSIGN_OR_RETURN(own, Ask(run, "output", true));
  }
  if (own) {
    TruthRequest run = {slot, kNear, one.call_seed, !lean_};
    run.earlier = one.earlier;
    HONE_ASSIGN_OR_RETURN(exact, Ask(run, "output", true));
  }
  (void)worker_.Call(DropRequest{{}, {kNear}}, 60);
  if (!exact || own->leaves.size() != exact->leaves.size()) return std::optional<std::vector<Distance>>();
  std::vector<Distance> errors;
  for (size_t i = 0; i < own->leaves.size(); ++i) {
    if (own->leaves[i].elements() != exact->leaves[i].elements())
      return std::optional<std::vector<Distance>>();
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareLeaves(*own, *exact, i));
    if (distance.non_finite > 0) return std::optional<std::vector<Distance>>();
    errors.push_back(distance);
  }
  return std::optional<std::vector<Distance>>(std::move(errors));
}

Status TruthBuilder::AddTruth(Case* made) {
  const TreeWish wish = {.root = "output", .trim = made->expected.size + made->inputs.size > kTrimBytes};
  TruthRequest request = {truth_.instances[made->instance].slot, made->id, made->call_seed, !lean_};
  request.earlier = made->earlier;
  HONE_ASSIGN_OR_RETURN(auto truth, AskForTree(worker_, plane_, request, wish));
  bool usable = truth.ok();
  if (usable) {
    made->truth = std::move(truth.tree);
    usable = made->truth.leaves.size() == made->expected.leaves.size();
    for (size_t i = 0; usable && i < made->truth.leaves.size(); ++i)
      usable = made->truth.leaves[i].elements() == made->expected.leaves[i].elements();
  }
  if (usable && truth_.random) {
    HONE_ASSIGN_OR_RETURN(const double apart, LargestDistance(made->expected, made->truth));
    if (apart > kOtherDraws) {
      made->truth = made->expected;
      truth_.note = "PyTorch's own float32 answer (its random draws cannot be repeated in float64)";
    }
  }
  if (usable) return Ok();
  if (!worker_.alive())
    return Error{ErrorKind::kInvalid,
                 "the float64 run ended the reference worker: " + truth.failure->message};
  made->truth = made->expected;
  truth_.note =
      "PyTorch's own float32 answer (the module does not run in float64" +
      (truth.ok() ? std::string(")") : ": " + SafeForTerminal(truth.failure->message).substr(0, 200) + ")");
  return Ok();
}

Status TruthBuilder::Settle(Case* made) {
  if (!made->nearby.empty()) return Ok();
  const size_t bytes = SizeOf(*made);
  HONE_ASSIGN_OR_RETURN(const size_t room, KeptRoom());
  made->transient = kept_bytes_ + bytes > room;
  if (made->transient)
    Forget(made);
  else
    kept_bytes_ += bytes;
  return Ok();
}

void TruthBuilder::Discard(const std::optional<Case>& made) {
  if (made && !made->transient && made->nearby.empty()) kept_bytes_ -= SizeOf(*made);
}

Result<size_t> TruthBuilder::KeptRoom() const {
  if (plane_ == nullptr) return kKeptOnHost;
  HONE_ASSIGN_OR_RETURN(const MemoryInfo memory, plane_->Memory());
  return memory.total_bytes / kKeptShare;
}

void TruthBuilder::Forget(Case* made) {
  for (TensorTree* tree : {&made->inputs, &made->inputs_after, &made->expected, &made->truth}) {
    tree->device.reset();
    tree->blob = SharedBlob();
  }
  // The first case's inputs stay in the worker for the baselines. If the worker has ended, the next call
  // reports it.
  if (made->id != kFirstCase) (void)worker_.Call(DropRequest{{}, {made->id}}, 60);
}

Result<CaseLease> TruthBuilder::Hold(const Case& one, CaseValues wanted) {
  if (!one.transient) return CaseLease();
  std::unique_lock alone(lease_mutex_);
  Case& made = truth_.cases[static_cast<size_t>(&one - truth_.cases.data())];
  if (leases_[&one] == 0 || (wanted == CaseValues::kAll && inputs_alone_.contains(&one))) {
    worker_.Thaw();
    if (wanted == CaseValues::kAll) {
      HONE_RETURN_IF_ERROR(MakeValues(&made, false));
      inputs_alone_.erase(&one);
    } else {
      HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> inputs, Ask(draws_.at(made.id), "input", false));
      made.inputs = std::move(*inputs);
      inputs_alone_.insert(&one);
    }
  }
  ++leases_[&one];
  alone.release();  // until the lease ends, in the same thread
  return CaseLease([this, &made] {
    const std::unique_lock held(lease_mutex_, std::adopt_lock);
    if (--leases_[&made] > 0) return;
    inputs_alone_.erase(&made);
    Forget(&made);
  });
}

// Indices and comparisons can flip if two float64 values are as close as rounding. Runs on inputs that differ
// by that much show which ones.
Status TruthBuilder::AddNearby(Case* made) {
  const auto whole = [](const TensorLeaf& leaf) { return !IsFloating(leaf.dtype) && leaf.elements() > 0; };
  if (truth_.note != "float64" || std::none_of(made->truth.leaves.begin(), made->truth.leaves.end(), whole))
    return Ok();
  double error = 0;  // error of the float outputs, whose computation is most likely the same
  for (const Distance& distance : made->reference_error)
    if (std::isfinite(distance.relative))
      error = std::max(error, distance.typical > 0 ? distance.relative : 0);
  const double size = std::clamp(4 * error, kJitterUlp * Epsilon(Dtype::kF32), 1e-3);
  for (int i = 0; i < kNearby; ++i) {
    TruthRequest request = {
        truth_.instances[made->instance].slot, made->id, made->call_seed, !lean_, "", size, RandomSeed()};
    request.earlier = made->earlier;
    HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> tree, Ask(request, "output", true));
    if (!tree || tree->leaves.size() != made->truth.leaves.size()) continue;
    made->nearby.push_back(std::move(*tree));
  }
  // The share of elements that rounding decides, for code that compares shares.
  for (size_t k = 0; k < made->truth.leaves.size(); ++k) {
    if (!whole(made->truth.leaves[k])) continue;
    for (const TensorTree& near : made->nearby)
      if (near.leaves[k].shape == made->truth.leaves[k].shape) {
        HONE_ASSIGN_OR_RETURN(const Distance apart, CompareLeaves(near, made->truth, k));
        made->reference_error[k].relative = std::max(made->reference_error[k].relative, apart.relative);
      }
  }
  return Ok();
}

Status TruthBuilder::AddStressCases(bool task_has_stress, const Progress& progress) {
  // "-kept" keeps constant buffers, masks and integers, for tasks that refuse other ones.
  std::vector<Regime> regimes = {{"stress", "wide"},
                                 {"stress-mild", "wide"},
                                 {"stress-small", "wide"},
                                 {"stress-small", "positive"},
                                 {"stress-kept", "wide"},
                                 {"stress-mild-kept", "wide"},
                                 {"stress-small-kept", "wide"},
                                 {"stress-small-kept", "positive"},
                                 {"stress-inputs", "positive"},
                                 {"stress-inputs-kept", "positive"},
                                 {"stress-inputs", "constants"},
                                 {"stress-inputs", "own"}};
  if (task_has_stress) regimes = {{"stress", "own"}};
  const size_t before = truth_.cases.size();
  for (const Regime& regime : regimes) {
    progress("looking for a stress regime", 0, 0);
    const bool last = regime.weights == regimes.back().weights && regime.draw == regimes.back().draw;
    HONE_RETURN_IF_ERROR(BuildInstance("stress", regime));
    if (truth_.stateful) HONE_RETURN_IF_ERROR(worker_.Require(SnapshotRequest{"stress"}));
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(truth_.instances.size() - 1, "stress#1", "", "", !last));
    // The mildest regime is used in any case: it at least has other weights and inputs.
    if (made && (last || truth_.IsAccurate(*made))) {
      truth_.cases.push_back(std::move(*made));
      break;
    }
    Discard(made);
    truth_.instances.pop_back();
    regimes_.pop_back();
  }
  const int wanted = std::max(2, options_.trials - static_cast<int>(before));
  for (int i = 1; i < wanted; ++i) {
    const std::string id = fmt::format("stress#{}", i + 1);
    // Even in a sound regime, a single draw may be badly conditioned. It must not reject a candidate.
    for (int draw = 0; draw < kStressDraws; ++draw) {
      HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                            MakeCase(truth_.instances.size() - 1, id, "", "", draw + 1 < kStressDraws));
      if (!made || (draw + 1 < kStressDraws && !truth_.IsAccurate(*made))) {
        Discard(made);
        continue;
      }
      truth_.cases.push_back(std::move(*made));
      break;
    }
  }
  return Ok();
}

Status TruthBuilder::AddMixedCase(const Progress& progress) {
  for (const char* change : {"mixed", "mixed-mild"}) {
    progress("changing the inputs", 0, 0);
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made, MakeCase(0, "changed by mixed rows", "", change, true));
    if (!made || !truth_.IsAccurate(*made)) {
      Discard(made);
      continue;
    }
    truth_.cases.push_back(std::move(*made));
    break;
  }
  return Ok();
}

// Checks the state after several calls. All other cases start from the module's first state, in which a
// module without state is right too.
Status TruthBuilder::AddLaterCall(const Progress& progress) {
  if (!truth_.stateful) return Ok();
  progress("calling the reference several times", 0, 0);
  HONE_ASSIGN_OR_RETURN(std::optional<Case> made, MakeCase(0, "a later call", "", kLaterCall, true));
  if (made && truth_.IsAccurate(*made)) {
    truth_.cases.push_back(std::move(*made));
    return Ok();
  }
  Discard(made);
  truth_.remarks.push_back(
      "what the module keeps from call to call was not checked: PyTorch is inaccurate there");
  return Ok();
}

Status TruthBuilder::AddChangedCases(const Progress& progress) {
  HONE_RETURN_IF_ERROR(AddLaterCall(progress));
  const size_t bytes = truth_.cases[0].inputs.size + truth_.cases[0].expected.size;
  if (call_s_ <= kMixedCall && bytes <= kCheapDeviceBytes) HONE_RETURN_IF_ERROR(AddMixedCase(progress));
  if (call_s_ > kCheapCall || bytes > (plane_ != nullptr ? kCheapDeviceBytes : kCheapBytes)) {
    truth_.remarks.push_back(
        "shifted, scaled and non-contiguous inputs and other batches were not tried: the task is too large");
    return Ok();
  }
  for (const char* change : {"shift", "scale", "shrink", "strides", "fewer", "more"}) {
    progress("changing the inputs", 0, 0);
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(0, fmt::format("changed by {}", change), "", change, true));
    if (!made || !truth_.IsAccurate(*made)) continue;
    // With another batch size, the outputs must have that batch size. Otherwise the first dimension is no
    // batch.
    if (made->is_another_batch()) {
      const TensorTree& own = truth_.cases[0].expected;
      bool follows = true;
      for (size_t i = 0; i < own.leaves.size() && i < made->expected.leaves.size(); ++i)
        follows = follows && !own.leaves[i].shape.empty() && !made->expected.leaves[i].shape.empty() &&
                  made->expected.leaves[i].shape[0] != own.leaves[i].shape[0];
      if (!follows) continue;
    }
    truth_.cases.push_back(std::move(*made));
  }
  return call_s_ <= kRareCall ? AddRareCases(progress) : Ok();
}

// Adds values that get_inputs rarely draws and that a task may handle in a separate branch. The worker leaves
// out values for which PyTorch returns no finite answer.
Status TruthBuilder::AddRareCases(const Progress& progress) {
  for (const char* change : {kEnlarged, "zeros", "nan", "infinity"}) {
    progress("changing the inputs", 0, 0);
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(0, fmt::format("changed by {}", change), "", change, true));
    if (made && truth_.IsAccurate(*made))
      truth_.cases.push_back(std::move(*made));
    else
      Discard(made);
  }
  return Ok();
}

}  // namespace hone
