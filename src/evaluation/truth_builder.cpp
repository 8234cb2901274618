#include "evaluation/truth_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/ids.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr double kMutantMargin = 10;  // told apart: ten times over the limit
constexpr size_t kLeanWeights = size_t{1} << 30;

// 52 bits fit into a double, so no JSON reader rounds the seed.
uint64_t NewSeed() {
  return RandomU64() >> 12;
}

}  // namespace

Result<Json> TruthBuilder::BuildInstance(const std::string& slot, const std::string& regime) {
  Instance instance;
  instance.slot = slot;
  instance.regime = regime;
  instance.seed = NewSeed();
  HONE_ASSIGN_OR_RETURN(
      const Json built,
      worker_.Require("build", {{"slot", slot}, {"class", "Model"}, {"seed", instance.seed}}));
  if (!regime.empty())
    HONE_RETURN_IF_ERROR(worker_.Require(
        "stress", {{"slot", slot}, {"regime", regime}, {"seed", instance.seed}, {"inputs", "default#1"}}));
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("weights"));
  HONE_ASSIGN_OR_RETURN(const Json reply, worker_.Require("weights", {{"slot", slot}}, {blob.fd()}));
  for (const Json& name : GetMember(reply, "names")) instance.weight_names.push_back(name.get<std::string>());
  HONE_ASSIGN_OR_RETURN(instance.weights, ParseTree(GetMember(reply, "tree"), std::move(blob), "weights"));
  lean_ = lean_ || instance.weights.total_bytes() > kLeanWeights;
  truth_.instances.push_back(std::move(instance));
  return built;
}

Result<TensorTree> TruthBuilder::Run(const std::string& slot, const std::string& inputs, uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("reference"));
  HONE_ASSIGN_OR_RETURN(
      const Json reply,
      worker_.Require("run", {{"slot", slot}, {"inputs", inputs}, {"seed", seed}}, {blob.fd()}));
  return ParseTree(GetMember(reply, "tree"), std::move(blob), "output");
}

// A module with state gives another output in the second call. A module with random draws gives another
// output under another seed.
Status TruthBuilder::DetectState() {
  HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("probe"));
  HONE_RETURN_IF_ERROR(
      worker_.Require("make_inputs", {{"inputs", "probe"}, {"seed", 1}, {"slot", "default"}}, {blob.fd()}));
  HONE_RETURN_IF_ERROR(worker_.Require("snapshot", {{"slot", "default"}}));
  HONE_ASSIGN_OR_RETURN(const TensorTree first, Run("default", "probe", 1));
  HONE_ASSIGN_OR_RETURN(const TensorTree reseeded, Run("default", "probe", 2));
  HONE_RETURN_IF_ERROR(
      worker_.Require("build", {{"slot", "probe"}, {"class", "Model"}, {"seed", truth_.instances[0].seed}}));
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
    HONE_RETURN_IF_ERROR(worker_.Require(
        "build", {{"slot", "default"}, {"class", "Model"}, {"seed", truth_.instances[0].seed}}));
  HONE_RETURN_IF_ERROR(worker_.Require("drop", {{"slots", {"probe"}}, {"inputs", {"probe"}}}));
  return Ok();
}

Result<Json> TruthBuilder::AddDefaultCases(const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(Json built, BuildInstance("default", ""));
  HONE_RETURN_IF_ERROR(DetectState());
  const int own_trials = std::max(2, (options_.trials + 1) / 2);
  for (int i = 0; i < own_trials; ++i) {
    progress("running the reference", i, own_trials);
    HONE_RETURN_IF_ERROR(AddCase(0, fmt::format("default#{}", i + 1), ""));
  }
  return built;
}

Status TruthBuilder::AddCase(size_t instance, const std::string& id, const std::string& variant) {
  Case added;
  added.id = id;
  added.instance = instance;
  added.variant = variant;
  added.input_seed = NewSeed();
  added.call_seed = NewSeed();
  const Instance& owner = truth_.instances[instance];
  Json message = {{"inputs", id}, {"seed", added.input_seed}, {"slot", owner.slot}};
  if (!variant.empty()) message["variant"] = variant;
  if (!owner.regime.empty()) message["regime"] = owner.regime;
  HONE_ASSIGN_OR_RETURN(SharedBlob inputs, SharedBlob::Create("inputs"));
  HONE_ASSIGN_OR_RETURN(const Json made, worker_.Require("make_inputs", message, {inputs.fd()}));
  HONE_ASSIGN_OR_RETURN(added.inputs, ParseTree(GetMember(made, "tree"), std::move(inputs), "input"));
  HONE_ASSIGN_OR_RETURN(added.expected, Run(owner.slot, id, added.call_seed));
  HONE_ASSIGN_OR_RETURN(SharedBlob wide, SharedBlob::Create("truth"));
  HONE_ASSIGN_OR_RETURN(
      const WorkerReply truth,
      worker_.Call("truth",
                   {{"slot", owner.slot}, {"inputs", id}, {"seed", added.call_seed}, {"keep", !lean_}},
                   {wide.fd()}, 600));
  bool usable = truth.ok();
  if (usable) {
    HONE_ASSIGN_OR_RETURN(added.truth, ParseTree(GetMember(truth.body, "tree"), std::move(wide), "output"));
    usable = added.truth.leaves.size() == added.expected.leaves.size();
    for (size_t i = 0; usable && i < added.truth.leaves.size(); ++i)
      usable = added.truth.leaves[i].elements() == added.expected.leaves[i].elements();
  }
  if (!usable) {
    if (!worker_.alive())
      return Error{ErrorKind::kInvalid,
                   "the float64 run ended the reference worker: " + truth.failure->message};
    added.truth = added.expected;
    truth_.note =
        "PyTorch's own float32 answer (the module does not run in float64" +
        (truth.ok() ? std::string(")") : ": " + SafeForTerminal(truth.failure->message).substr(0, 200) + ")");
  }
  for (size_t i = 0; i < added.expected.leaves.size(); ++i) {
    const TensorLeaf& leaf = added.expected.leaves[i];
    const TensorLeaf& exact = added.truth.leaves[i];
    added.reference_error.push_back(
        Compare(leaf.dtype, added.expected.Bytes(leaf), exact.dtype, added.truth.Bytes(exact)));
  }
  truth_.cases.push_back(std::move(added));
  return Ok();
}

Status TruthBuilder::AddStressCases(bool task_has_stress, const Progress& progress) {
  std::vector<std::string> regimes = {"stress", "stress-mild", "stress-inputs"};
  if (task_has_stress) regimes = {"stress"};
  const size_t before = truth_.cases.size();
  for (const std::string& regime : regimes) {
    progress("looking for a stress regime", 0, 0);
    HONE_RETURN_IF_ERROR(BuildInstance("stress", regime));
    if (truth_.stateful) HONE_RETURN_IF_ERROR(worker_.Require("snapshot", {{"slot", "stress"}}));
    HONE_RETURN_IF_ERROR(AddCase(truth_.instances.size() - 1, "stress#1", ""));
    if (truth_.IsAccurate(truth_.cases.back()) || task_has_stress) break;
    if (regime == regimes.back()) break;  // the mildest is kept: other weights and inputs at the least
    truth_.cases.resize(before);
    truth_.instances.pop_back();
  }
  const int wanted = std::max(2, options_.trials - static_cast<int>(before));
  for (int i = 1; i < wanted; ++i)
    HONE_RETURN_IF_ERROR(AddCase(truth_.instances.size() - 1, fmt::format("stress#{}", i + 1), ""));
  return Ok();
}

Status TruthBuilder::Audit(const Progress& progress) {
  std::map<std::string, MutantResult> found;
  std::vector<std::string> order;
  auto note = [&](const std::string& name, const Case& one, const TensorTree& wrong) {
    double ratio = 0;
    for (size_t i = 0; i < one.truth.leaves.size() && i < wrong.leaves.size(); ++i) {
      const TensorLeaf& leaf = wrong.leaves[i];
      if (leaf.elements() != one.truth.leaves[i].elements()) continue;
      const Distance distance = Compare(leaf.dtype, wrong.Bytes(leaf), one.truth.leaves[i].dtype,
                                        one.truth.Bytes(one.truth.leaves[i]));
      const double limit = std::max(truth_.LimitFor(one.instance, i).relative, 1e-30);
      ratio = std::max(ratio, distance.non_finite > 0 ? 1e9 : distance.relative / limit);
    }
    if (found.count(name) == 0) order.push_back(name);
    MutantResult& result = found[name];
    result.name = name;
    if (ratio >= result.error) {
      result.error = ratio;
      result.regime = truth_.instances[one.instance].slot;
    }
    result.told_apart = result.error > kMutantMargin;
  };

  for (const Case& one : truth_.cases) {
    if (!EndsWith(one.id, "#1")) continue;
    std::vector<std::byte> zeros(one.expected.total_bytes());
    HONE_ASSIGN_OR_RETURN(SharedBlob zero_blob, SharedBlob::Of("zeros", zeros));
    HONE_ASSIGN_OR_RETURN(const TensorTree zero_tree,
                          ParseTree(one.expected.description, std::move(zero_blob), "output"));
    note("zeros", one, zero_tree);
    // The output of another case stands for a constant that looks right: the mean of outputs, or a cached
    // output.
    for (const Case& other : truth_.cases) {
      if (other.instance != one.instance || other.id == one.id || !other.variant.empty()) continue;
      note("another input's answer", one, other.expected);
      break;
    }
    const std::string slot = truth_.instances[one.instance].slot;
    HONE_ASSIGN_OR_RETURN(const Json names, worker_.Require("mutants", {{"slot", slot}, {"inputs", one.id}}));
    const Json& list = GetMember(names, "names");
    for (size_t i = 0; i < list.size() && i < 12; ++i) {
      progress("auditing the task", static_cast<int>(i), static_cast<int>(list.size()));
      const std::string name = list[i].get<std::string>();
      HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("mutant"));
      HONE_ASSIGN_OR_RETURN(
          const WorkerReply reply,
          worker_.Call("run", {{"slot", slot}, {"inputs", one.id}, {"seed", one.call_seed}, {"mutant", name}},
                       {blob.fd()}, 600));
      if (!reply.ok()) {
        if (!worker_.alive())
          return Error{ErrorKind::kInvalid, "the reference worker died under mutant " + name};
        continue;  // an input that must keep its form (sorted offsets, say) has no such mutant
      }
      HONE_ASSIGN_OR_RETURN(const TensorTree wrong,
                            ParseTree(GetMember(reply.body, "tree"), std::move(blob), "output"));
      note(name, one, wrong);
    }
  }
  for (const std::string& name : order) truth_.mutants.push_back(found[name]);
  return Ok();
}

}  // namespace hone
