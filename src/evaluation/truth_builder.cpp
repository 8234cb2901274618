#include "evaluation/truth_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ids.h"
#include "base/text.h"
#include "evaluation/run_messages.h"

namespace hone {

namespace {

constexpr size_t kLeanWeights = size_t{1} << 30;
// Changed inputs are tried only where that is cheap: each costs the reference and every candidate a call.
constexpr double kCheapCall = 0.25;
constexpr size_t kCheapBytes = size_t{1} << 26;
constexpr int kNearby = 6;  // float64 runs that show which integers depend on rounding
constexpr double kJitterUlp = 16;

// 52 bits fit into a double, so no JSON reader rounds the seed.
uint64_t NewSeed() {
  return RandomU64() >> 12;
}

}  // namespace

Result<BuildReply> TruthBuilder::BuildInstance(const std::string& slot, const Regime& regime) {
  Instance instance;
  instance.slot = slot;
  instance.regime = regime.weights;
  instance.seed = NewSeed();
  HONE_ASSIGN_OR_RETURN(BuildReply built, worker_.Require(BuildRequest{slot, "Model", instance.seed}));
  if (!regime.weights.empty())
    HONE_RETURN_IF_ERROR(worker_.Require(StressRequest{slot, regime.weights, instance.seed, "default#1"}));
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("weights"));
  HONE_ASSIGN_OR_RETURN(WeightsReply reply, worker_.Require(WeightsRequest{slot}, {blob.fd()}));
  instance.weight_names = std::move(reply.names);
  HONE_ASSIGN_OR_RETURN(instance.weights, ParseTree(reply.tree, std::move(blob), "weights"));
  lean_ = lean_ || instance.weights.total_bytes() > kLeanWeights;
  truth_.instances.push_back(std::move(instance));
  regimes_.push_back(regime);
  return built;
}

Result<TensorTree> TruthBuilder::Run(const std::string& slot, const std::string& inputs, uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("reference"));
  HONE_ASSIGN_OR_RETURN(const RunReply reply, worker_.Require(RunRequest{slot, inputs, seed}, {blob.fd()}));
  return ParseTree(reply.tree, std::move(blob), "output");
}

// A module with state gives another output in the second call. A module with random draws gives another
// output under another seed.
Status TruthBuilder::DetectState() {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("probe"));
  HONE_RETURN_IF_ERROR(worker_.Require(MakeInputsRequest{"probe", 1, "default"}, {blob.fd()}));
  HONE_RETURN_IF_ERROR(worker_.Require(SnapshotRequest{"default"}));
  HONE_ASSIGN_OR_RETURN(const TensorTree first, Run("default", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree reseeded, Run("default", "probe", 2));
  HONE_RETURN_IF_ERROR(worker_.Require(BuildRequest{"probe", "Model", truth_.instances[0].seed}));
  HONE_ASSIGN_OR_RETURN(const TensorTree fresh, Run("probe", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree again, Run("probe", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree same, Run("default", "probe", 1));
  auto distance = [](const TensorTree& a, const TensorTree& b) {
    if (a.leaves.size() != b.leaves.size()) return 1.0;
    double largest = 0;
    for (size_t i = 0; i < a.leaves.size(); ++i) {
      if (a.leaves[i].bytes != b.leaves[i].bytes) return 1.0;
      const Distance found =
          Compare(a.leaves[i].dtype, a.Bytes(a.leaves[i]), b.leaves[i].dtype, b.Bytes(b.leaves[i]));
      largest = std::max(largest, found.non_finite > 0 ? 1.0 : found.relative);
    }
    return largest;
  };
  // Library kernels may differ slightly between two runs. That is neither state nor randomness.
  const double noise = 8 * std::max(distance(first, same), 1e-12);
  truth_.random = distance(first, reseeded) > noise;
  truth_.stateful = distance(fresh, again) > noise;
  if (!truth_.stateful)  // no need to put anything back
    HONE_RETURN_IF_ERROR(worker_.Require(BuildRequest{"default", "Model", truth_.instances[0].seed}));
  HONE_RETURN_IF_ERROR(worker_.Require(DropRequest{{"probe"}, {"probe"}}));
  return Ok();
}

Result<BuildReply> TruthBuilder::AddDefaultCases(const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(BuildReply built, BuildInstance("default", {}));
  HONE_RETURN_IF_ERROR(DetectState());
  const int own_trials = std::max(2, (options_.trials + 1) / 2);
  for (int i = 0; i < own_trials; ++i) {
    progress("running the reference", i, own_trials);
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(0, fmt::format("default#{}", i + 1), "", "", false));
    truth_.cases.push_back(std::move(*made));
  }
  return built;
}

Status TruthBuilder::AddVariant(const std::string& variant) {
  HONE_ASSIGN_OR_RETURN(std::optional<Case> made, MakeCase(0, "variant " + variant, variant, "", false));
  truth_.cases.push_back(std::move(*made));
  return Ok();
}

// A tree that the worker returns. Nothing if the task's code raised an exception and `may_fail`.
template <class Request>
Result<std::optional<TensorTree>> TruthBuilder::Ask(const Request& request, const char* root, bool may_fail) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create(root));
  Json description;
  if (may_fail) {
    HONE_ASSIGN_OR_RETURN(auto reply, worker_.Call(request, {blob.fd()}, 600));
    if (!reply.ok() && !worker_.alive())
      return Error{ErrorKind::kInvalid, "the reference worker died: " + reply.failure->message};
    if (!reply.ok() || reply.body.tree.is_null()) return std::optional<TensorTree>();
    description = std::move(reply.body.tree);
  } else {
    HONE_ASSIGN_OR_RETURN(auto reply, worker_.Require(request, {blob.fd()}));
    description = std::move(reply.tree);
  }
  HONE_ASSIGN_OR_RETURN(TensorTree tree, ParseTree(description, std::move(blob), root));
  return std::optional<TensorTree>(std::move(tree));
}

Result<std::optional<Case>> TruthBuilder::MakeCase(size_t instance, const std::string& id,
                                                   const std::string& variant, const std::string& change,
                                                   bool may_fail) {
  Case made;
  made.id = id;
  made.instance = instance;
  made.variant = variant;
  made.change = change;
  made.input_seed = NewSeed();
  made.call_seed = NewSeed();
  const Instance& owner = truth_.instances[instance];
  MakeInputsRequest request = {id, made.input_seed, owner.slot, variant};
  if (!owner.regime.empty()) {
    request.regime = owner.regime;
    request.draw = regimes_[instance].draw;
  }
  if (!change.empty()) {
    request.change = change;
    for (const TensorLeaf& leaf : truth_.cases[0].expected.leaves)
      request.output_shapes.push_back(leaf.shape);
  }
  HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> inputs, Ask(request, "input", may_fail));
  if (!inputs) return std::optional<Case>();
  made.inputs = std::move(*inputs);
  const Stopwatch watch;
  HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> expected,
                        Ask(RunRequest{owner.slot, id, made.call_seed}, "output", may_fail));
  if (!expected) return std::optional<Case>();
  made.expected = std::move(*expected);
  if (change.empty()) call_s_ = watch.seconds();
  HONE_RETURN_IF_ERROR(AddTruth(&made));
  for (size_t i = 0; i < made.expected.leaves.size(); ++i)
    made.reference_error.push_back(CompareLeaves(made.expected, made.truth, i));
  HONE_RETURN_IF_ERROR(AddNearby(&made));
  return std::optional<Case>(std::move(made));
}

Status TruthBuilder::AddTruth(Case* made) {
  HONE_ASSIGN_OR_RETURN(SharedBlob wide, SharedBlob::Create("truth"));
  HONE_ASSIGN_OR_RETURN(const auto truth, worker_.Call(TruthRequest{truth_.instances[made->instance].slot,
                                                                    made->id, made->call_seed, !lean_},
                                                       {wide.fd()}, 600));
  bool usable = truth.ok();
  if (usable) {
    HONE_ASSIGN_OR_RETURN(made->truth, ParseTree(truth.body.tree, std::move(wide), "output"));
    usable = made->truth.leaves.size() == made->expected.leaves.size();
    for (size_t i = 0; usable && i < made->truth.leaves.size(); ++i)
      usable = made->truth.leaves[i].elements() == made->expected.leaves[i].elements();
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

// Indices and comparisons turn over where two float64 values are as close as rounding. Runs on inputs that
// differ by that much show where.
Status TruthBuilder::AddNearby(Case* made) {
  const auto whole = [](const TensorLeaf& leaf) { return !IsFloating(leaf.dtype) && leaf.elements() > 0; };
  if (truth_.note != "float64" || std::none_of(made->truth.leaves.begin(), made->truth.leaves.end(), whole))
    return Ok();
  double error = 0;  // of the float outputs beside it: their computation is most likely the same
  for (const Distance& distance : made->reference_error)
    if (std::isfinite(distance.relative))
      error = std::max(error, distance.typical > 0 ? distance.relative : 0);
  const double size = std::clamp(4 * error, kJitterUlp * Epsilon(Dtype::kF32), 1e-3);
  for (int i = 0; i < kNearby; ++i) {
    const TruthRequest request = {
        truth_.instances[made->instance].slot, made->id, made->call_seed, !lean_, "", size, NewSeed()};
    HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> tree, Ask(request, "output", true));
    if (!tree || tree->leaves.size() != made->truth.leaves.size()) continue;
    made->nearby.push_back(std::move(*tree));
  }
  // The share of elements that rounding decides, for whoever compares shares.
  for (size_t k = 0; k < made->truth.leaves.size(); ++k) {
    if (!whole(made->truth.leaves[k])) continue;
    for (const TensorTree& near : made->nearby)
      if (near.leaves[k].shape == made->truth.leaves[k].shape)
        made->reference_error[k].relative =
            std::max(made->reference_error[k].relative, CompareLeaves(near, made->truth, k).relative);
  }
  return Ok();
}

Status TruthBuilder::AddStressCases(bool task_has_stress, const Progress& progress) {
  std::vector<Regime> regimes = {
      {"stress", "wide"},           {"stress-mild", "wide"},       {"stress-small", "wide"},
      {"stress-small", "positive"}, {"stress-inputs", "positive"}, {"stress-inputs", "own"}};
  if (task_has_stress) regimes = {{"stress", "own"}};
  const size_t before = truth_.cases.size();
  for (const Regime& regime : regimes) {
    progress("looking for a stress regime", 0, 0);
    const bool last = regime.weights == regimes.back().weights && regime.draw == regimes.back().draw;
    HONE_RETURN_IF_ERROR(BuildInstance("stress", regime));
    if (truth_.stateful) HONE_RETURN_IF_ERROR(worker_.Require(SnapshotRequest{"stress"}));
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(truth_.instances.size() - 1, "stress#1", "", "", !last));
    // The mildest is kept whatever it is: other weights and inputs at the least.
    if (made && (last || truth_.IsAccurate(*made))) {
      truth_.cases.push_back(std::move(*made));
      break;
    }
    truth_.instances.pop_back();
    regimes_.pop_back();
  }
  const int wanted = std::max(2, options_.trials - static_cast<int>(before));
  for (int i = 1; i < wanted; ++i) {
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made, MakeCase(truth_.instances.size() - 1,
                                                             fmt::format("stress#{}", i + 1), "", "", false));
    truth_.cases.push_back(std::move(*made));
  }
  return Ok();
}

Status TruthBuilder::AddChangedCases(const Progress& progress) {
  const size_t bytes = truth_.cases[0].inputs.total_bytes() + truth_.cases[0].expected.total_bytes();
  if (call_s_ > kCheapCall || bytes > kCheapBytes) {
    truth_.remarks.push_back(
        "shifted, scaled and non-contiguous inputs and other batches were not tried: the task is too large");
    return Ok();
  }
  for (const char* change : {"shift", "scale", "strides", "fewer", "more"}) {
    progress("changing the inputs", 0, 0);
    HONE_ASSIGN_OR_RETURN(std::optional<Case> made,
                          MakeCase(0, fmt::format("changed by {}", change), "", change, true));
    if (!made || !truth_.IsAccurate(*made)) continue;
    // Another batch must come back with that batch, or the first dimension is none.
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
  return Ok();
}

}  // namespace hone
