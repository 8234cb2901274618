#include "evaluation/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "base/files.h"
#include "base/text.h"
#include "evaluation/setup_messages.h"
#include "evaluation/tree_exchange.h"
#include "evaluation/trial_judge.h"

namespace hone {

namespace {

// Trials hold a candidate to the exact limit. A wrong answer here means old weights or no gradient at all.
constexpr double kSlack = 4;
constexpr double kGradientSlack = 20;
constexpr double kLeastGradientLimit = 1e-3;
constexpr double kStepSeconds = 120;

ContractEntry Holds(const std::string& name) {
  return {name, ContractState::kHolds, ""};
}
ContractEntry Broken(const std::string& name, const std::string& detail) {
  return {name, ContractState::kBroken, detail};
}
ContractEntry NotApplicable(const std::string& name, const std::string& detail) {
  return {name, ContractState::kNotApplicable, detail};
}

std::string FailureOf(const ContractReply& reply) {
  return SafeForTerminal(reply.failed);
}

// Returns the first difference, or an empty string if the two agree.
Result<std::string> Difference(const TensorTree& got, const TensorTree& want,
                               const std::function<double(size_t)>& limit) {
  if (got.leaves.size() != want.leaves.size())
    return fmt::format("it gives {} tensors where PyTorch gives {}", got.leaves.size(), want.leaves.size());
  for (size_t i = 0; i < got.leaves.size(); ++i) {
    const TensorLeaf& a = got.leaves[i];
    const TensorLeaf& b = want.leaves[i];
    if (a.shape != b.shape || a.dtype != b.dtype)
      return fmt::format("it gives {} {} where PyTorch gives {} {}", DtypeName(a.dtype), ShapeText(a.shape),
                         DtypeName(b.dtype), ShapeText(b.shape));
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(got, want, i));
    if (distance.non_finite > 0 || !(distance.relative <= limit(i)))
      return fmt::format("its values are off by {} of their norm", HumanNumber(distance.relative));
  }
  return std::string();
}

// The largest distance of two trees; infinite if their shapes differ.
Result<double> Apart(const TensorTree& a, const TensorTree& b) {
  if (a.leaves.size() != b.leaves.size()) return 1e30;
  double most = 0;
  for (size_t i = 0; i < a.leaves.size(); ++i) {
    if (a.leaves[i].shape != b.leaves[i].shape) return 1e30;
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareNorms(a, b, i));
    most = std::max(most, distance.relative);
  }
  return most;
}

}  // namespace

Result<ContractReply> ContractCheck::Step(WorkerProcess& worker, const ContractRequest& request,
                                          const std::vector<int>& descriptors) {
  HONE_ASSIGN_OR_RETURN(auto reply, worker.Call(request, descriptors, kStepSeconds));
  if (!reply.ok()) reply.body.failed = reply.failure->message;
  return std::move(reply.body);
}

Result<std::optional<TensorTree>> ContractCheck::RunOn(WorkerProcess& worker, const std::string& slot,
                                                       const std::string& inputs, uint64_t seed,
                                                       std::string* problem) {
  HONE_ASSIGN_OR_RETURN(auto reply,
                        AskForTree(worker, session_.device_plane(), RunRequest{slot, inputs, seed},
                                   {.root = "output", .seconds = kStepSeconds}));
  if (!reply.ok()) {
    const std::string& type = reply.failure->type;
    *problem = SafeForTerminal((type.empty() ? "" : type + ": ") + reply.failure->message).substr(0, 300);
    return std::optional<TensorTree>();
  }
  return std::optional<TensorTree>(std::move(reply.tree));
}

Result<std::string> ContractCheck::CheckAnswer(const std::string& slot, const std::string& inputs,
                                               const Case& one) {
  std::string problem;
  HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> answer,
                        RunOn(candidate_, slot, inputs, one.call_seed, &problem));
  if (!answer) return problem;
  return Difference(*answer, one.expected, [&](size_t leaf) { return LimitOf(one.instance, leaf); });
}

double ContractCheck::LimitOf(size_t instance, size_t leaf) const {
  if (instance < ranges_.size() && leaf < ranges_[instance].size() && ranges_[instance][leaf])
    return ranges_[instance][leaf]->high;
  return kSlack * session_.LimitFor(instance, leaf).relative;
}

Result<bool> ContractCheck::PutInputs(const Case& one, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(const auto reply,
                        PutTree(candidate_, name, one.inputs, false, kStepSeconds, nullptr));
  return reply.ok();
}

const Case* ContractCheck::FirstCase(size_t instance) const {
  for (const Case& one : session_.cases())
    if (one.instance == instance && one.variant.empty()) return &one;
  return nullptr;
}

Result<ContractSizes> ContractCheck::Sizes() const {
  ContractSizes sizes;
  sizes.input_bytes = static_cast<double>(session_.card().input_bytes);
  sizes.output_bytes = static_cast<double>(session_.card().output_bytes);
  for (const Instance& instance : session_.instances())
    sizes.weight_bytes = std::max(sizes.weight_bytes, static_cast<double>(instance.weights.size));
  sizes.call_s = call_s_;
  if (DevicePlane* const plane = session_.device_plane(); plane != nullptr) {
    HONE_ASSIGN_OR_RETURN(const MemoryInfo memory, plane->Memory());
    sizes.free_bytes = static_cast<double>(memory.free_bytes);
    return sizes;
  }
  HONE_ASSIGN_OR_RETURN(const std::string meminfo, ReadFile("/proc/meminfo"));
  const size_t at = meminfo.find("MemAvailable:");
  if (at != std::string::npos) sizes.free_bytes = 1024.0 * std::atof(meminfo.c_str() + at + 13);
  return sizes;
}

Result<ContractCheck::Decided> ContractCheck::SetWeights(const std::string& name, const std::string& how,
                                                         const std::string& slot, const Instance& instance) {
  ContractRequest request = {ContractStep::kSetWeights};
  request.slot = slot;
  request.how = how;
  request.names = instance.weight_names;
  request.tree = instance.weights.description;
  HONE_ASSIGN_OR_RETURN(const ContractReply set, Step(candidate_, request, {instance.weights.blob.fd()}));
  if (const std::string failed = FailureOf(set); !failed.empty()) return Decided(Broken(name, failed));
  if (!set.not_applicable.empty()) return Decided(NotApplicable(name, SafeForTerminal(set.not_applicable)));
  if (session_.stateful()) {
    HONE_RETURN_IF_ERROR(candidate_.Call(SnapshotRequest{slot}, kStepSeconds));
  }
  return Decided();
}

Result<ContractEntry> ContractCheck::CheckWeights(const std::string& name, const std::string& how) {
  HONE_ASSIGN_OR_RETURN(const Decided decided,
                        SetWeights(name, how, "default", session_.instances()[stress_->instance]));
  if (decided) return *decided;
  HONE_ASSIGN_OR_RETURN(const std::string wrong, CheckAnswer("default", "contract_stress", *stress_));
  // The next checks need the task's own weights again, and each of them must be able to detect old weights.
  HONE_RETURN_IF_ERROR(SetWeights(name, "load", "default", session_.instances()[0]));
  if (wrong.empty()) return Holds(name);
  return Broken(name, "it does not compute with the changed weights: " + wrong);
}

Result<ContractEntry> ContractCheck::CheckBatchSize() {
  const std::string name = "batch_size";
  for (const size_t dim : {0, 1}) {
    const auto first = std::find_if(own_->inputs.leaves.begin(), own_->inputs.leaves.end(),
                                    [&](const TensorLeaf& leaf) { return leaf.shape.size() > dim; });
    if (first == own_->inputs.leaves.end() || first->shape[dim] < 2) continue;
    const int64_t full = first->shape[dim];
    ContractRequest cut = {ContractStep::kSlice};
    cut.dim = dim;
    cut.full = full;
    cut.size = full / 2;
    cut.as = "contract_batch";
    cut.inputs = own_->id;
    HONE_RETURN_IF_ERROR(Step(session_.worker(), cut, {}));
    std::string problem;
    HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> expected,
                          RunOn(session_.worker(), "default", "contract_batch", own_->call_seed, &problem));
    HONE_RETURN_IF_ERROR(session_.worker().Require(DropRequest{{}, {"contract_batch"}}));
    if (!expected) continue;
    cut.inputs = "contract";
    HONE_RETURN_IF_ERROR(Step(candidate_, cut, {}));
    HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> answer,
                          RunOn(candidate_, "default", "contract_batch", own_->call_seed, &problem));
    const std::string with = fmt::format("with {} instead of {} along dimension {}: ", full / 2, full, dim);
    if (!answer) return Broken(name, with + problem);
    HONE_ASSIGN_OR_RETURN(const std::string wrong, Difference(*answer, *expected, [&](size_t leaf) {
                            return LimitOf(own_->instance, leaf);
                          }));
    return wrong.empty() ? Holds(name) : Broken(name, with + wrong);
  }
  return NotApplicable(name, "PyTorch's module takes no other size");
}

Result<ContractEntry> ContractCheck::CheckGradients() {
  const std::string name = "train_and_gradients";
  // The reference trains a copy, because a step in train mode changes running statistics.
  ContractRequest copy = {ContractStep::kDeepcopy};
  copy.slot = "default";
  copy.as = "contract";
  HONE_ASSIGN_OR_RETURN(ContractReply last, Step(session_.worker(), copy, {}));
  std::vector<TensorTree> expected;
  ContractRequest train = {ContractStep::kGradients};
  train.slot = "contract";
  train.inputs = own_->id;
  // A large task is trained only on the first entries of its batch.
  const std::vector<TensorLeaf>& leaves = own_->inputs.leaves;
  const int64_t full = leaves.empty() || leaves[0].shape.empty() ? 1 : leaves[0].shape[0];
  HONE_ASSIGN_OR_RETURN(const ContractSizes sizes, Sizes());
  const bool part = TrainingBatch(full, sizes) < full;
  ContractRequest cut = {ContractStep::kSlice};
  cut.full = full;
  cut.size = TrainingBatch(full, sizes);
  cut.as = "contract_part";
  cut.inputs = own_->id;
  if (part) {
    HONE_RETURN_IF_ERROR(Step(session_.worker(), cut, {}));
    train.inputs = cut.as;
  }
  for (const uint64_t seed : {1, 2, 1}) {
    if (!FailureOf(last).empty()) break;
    HONE_ASSIGN_OR_RETURN(SharedBlob out, SharedBlob::Create("gradients"));
    train.seed = seed;
    HONE_ASSIGN_OR_RETURN(last, Step(session_.worker(), train, {out.fd()}));
    if (!FailureOf(last).empty()) break;
    HONE_ASSIGN_OR_RETURN(TensorTree tree, ParseTree(last.tree, std::move(out), "gradient"));
    expected.push_back(std::move(tree));
  }
  HONE_RETURN_IF_ERROR(session_.worker().Require(DropRequest{{"contract"}, {cut.as}}));
  if (const std::string failed = FailureOf(last); !failed.empty())
    return NotApplicable(
        name, (part ? fmt::format(
                          "PyTorch's module with {} of {} entries, since the task is large: ", cut.size, full)
                    : "PyTorch's module: ") +
                  failed);
  train.slot = "default";
  train.inputs = "contract";
  if (part) {
    cut.inputs = "contract";
    HONE_RETURN_IF_ERROR(Step(candidate_, cut, {}));
    train.inputs = cut.as;
  }
  train.names = last.names;
  train.seed = 1;
  HONE_ASSIGN_OR_RETURN(SharedBlob out, SharedBlob::Create("gradients"));
  HONE_ASSIGN_OR_RETURN(const ContractReply given, Step(candidate_, train, {out.fd()}));
  if (const std::string failed = FailureOf(given); !failed.empty()) return Broken(name, failed);
  Result<TensorTree> got = ParseTree(given.tree, std::move(out), "gradient");
  if (!got.ok()) return Broken(name, got.error().message);
  if (got->leaves.size() != expected[0].leaves.size())
    return Broken(name, "some parameters of the reference have no counterpart");
  // If PyTorch's own gradients depend on the seed or on the previous step, only their presence is checked.
  HONE_ASSIGN_OR_RETURN(const double by_seed, Apart(expected[0], expected[1]));
  HONE_ASSIGN_OR_RETURN(const double by_step, Apart(expected[0], expected[2]));
  const bool comparable = std::max(by_seed, by_step) < 1e-5;
  HONE_ASSIGN_OR_RETURN(
      const std::string wrong, Difference(*got, expected[0], [&](size_t) {
        return comparable ? std::max(kLeastGradientLimit, kGradientSlack * session_.WidestLimit()) : 1e30;
      }));
  return wrong.empty() ? Holds(name) : Broken(name, "gradients: " + wrong);
}

Result<ContractEntry> ContractCheck::CheckDeepcopy() {
  const std::string name = "deepcopy";
  ContractRequest request = {ContractStep::kDeepcopy};
  request.slot = "default";
  request.as = "contract_copy";
  HONE_ASSIGN_OR_RETURN(const ContractReply copied, Step(candidate_, request, {}));
  if (const std::string failed = FailureOf(copied); !failed.empty()) return Broken(name, failed);
  if (stress_ != nullptr) {
    HONE_ASSIGN_OR_RETURN(const Decided decided,
                          SetWeights(name, "load", "contract_copy", session_.instances()[stress_->instance]));
    if (decided) return *decided;
    HONE_ASSIGN_OR_RETURN(const std::string wrong, CheckAnswer("contract_copy", "contract_stress", *stress_));
    if (!wrong.empty()) return Broken(name, "the copy with weights of its own: " + wrong);
  } else {
    HONE_ASSIGN_OR_RETURN(const std::string wrong, CheckAnswer("contract_copy", "contract", *own_));
    if (!wrong.empty()) return Broken(name, "the copy: " + wrong);
  }
  HONE_ASSIGN_OR_RETURN(const std::string wrong, CheckAnswer("default", "contract", *own_));
  return wrong.empty() ? Holds(name)
                       : Broken(name, "the original, after the copy's weights changed: " + wrong);
}

Result<ContractEntry> ContractCheck::CheckPickle() {
  const std::string name = "pickle";
  ContractRequest request = {ContractStep::kPickle};
  request.slot = "default";
  request.as = "contract_pickled";
  HONE_ASSIGN_OR_RETURN(const ContractReply reference, Step(session_.worker(), request, {}));
  HONE_RETURN_IF_ERROR(session_.worker().Require(DropRequest{{"contract_pickled"}}));
  if (const std::string failed = FailureOf(reference); !failed.empty())
    return NotApplicable(name, "PyTorch's module: " + failed);
  HONE_ASSIGN_OR_RETURN(const ContractReply kept, Step(candidate_, request, {}));
  if (const std::string failed = FailureOf(kept); !failed.empty()) return Broken(name, failed);
  HONE_ASSIGN_OR_RETURN(const std::string wrong, CheckAnswer("contract_pickled", "contract", *own_));
  return wrong.empty() ? Holds(name) : Broken(name, "what torch.load gives back: " + wrong);
}

Result<ContractEntry> ContractCheck::CheckGlobalState() {
  const std::string name = "global_state";
  ContractRequest request = {ContractStep::kGlobals};
  request.slot = "default";
  request.inputs = own_->id;
  request.seed = 1;
  HONE_ASSIGN_OR_RETURN(const ContractReply reference, Step(session_.worker(), request, {}));
  request.inputs = "contract";
  HONE_ASSIGN_OR_RETURN(const ContractReply left, Step(candidate_, request, {}));
  if (const std::string failed = FailureOf(left); !failed.empty()) return Broken(name, failed);
  std::vector<std::string> changed;
  for (size_t i = 0; i < left.changed.size() && i < 8; ++i)
    changed.push_back(SafeForTerminal(left.changed[i]));
  if (left.draws && !reference.draws)
    changed.push_back("the random generator, which PyTorch's module does not move");
  return changed.empty() ? Holds(name) : Broken(name, "it leaves changed: " + Join(changed, ", "));
}

Result<std::vector<ContractEntry>> ContractCheck::Run(const Progress& progress) {
  std::vector<ContractEntry> entries;
  session_.worker().Thaw();
  candidate_.Thaw();
  own_ = FirstCase(0);
  for (size_t i = 1; i < session_.instances().size() && stress_ == nullptr; ++i)
    if (!session_.instances()[i].weight_names.empty()) stress_ = FirstCase(i);
  if (own_ == nullptr) return entries;

  HONE_ASSIGN_OR_RETURN(const ContractSizes sizes, Sizes());
  // If the inputs do not fit in memory, no entry is tried.
  const bool has_room = WhyNotTried("global_state", sizes).empty();
  std::vector<CaseLease> leases;
  std::string no_memory;
  const auto hold = [&](const Case& one, const std::string& name) -> Result<bool> {
    Result<CaseLease> lease = session_.Hold(one);
    if (!lease.ok() && lease.error().kind == ErrorKind::kUnavailable) {  // other processes use the memory
      no_memory = lease.error().message;
      return true;
    }
    if (!lease.ok()) return lease.error();
    leases.push_back(std::move(*lease));
    return PutInputs(one, name);
  };
  if (has_room) {
    HONE_ASSIGN_OR_RETURN(const bool put_own, hold(*own_, "contract"));
    if (!put_own) return entries;
  }
  if (has_room && stress_ != nullptr && no_memory.empty()) {
    HONE_ASSIGN_OR_RETURN(const bool put_stress, hold(*stress_, "contract_stress"));
    if (!put_stress) return entries;
  }

  struct Check {
    const char* name;
    bool about_weights;
    std::function<Result<ContractEntry>()> run;
  };
  const std::vector<Check> checks = {
      {"weights_through_data", true, [&] { return CheckWeights("weights_through_data", "data"); }},
      {"weights_in_place", true, [&] { return CheckWeights("weights_in_place", "in_place"); }},
      {"load_state_dict", true, [&] { return CheckWeights("load_state_dict", "load"); }},
      {"batch_size", false, [&] { return CheckBatchSize(); }},
      {"deepcopy", false, [&] { return CheckDeepcopy(); }},
      {"pickle", false, [&] { return CheckPickle(); }},
      {"global_state", false, [&] { return CheckGlobalState(); }},
      {"train_and_gradients", false, [&] { return CheckGradients(); }},
  };
  for (size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    progress("checking the contract for later use", static_cast<int>(i), static_cast<int>(checks.size()));
    if (check.about_weights && stress_ == nullptr) {
      entries.push_back(NotApplicable(check.name, "the module has no weights"));
      continue;
    }
    const std::string why = no_memory.empty() ? WhyNotTried(check.name, sizes) : no_memory;
    if (!why.empty()) {
      entries.push_back(NotApplicable(check.name, why));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(ContractEntry entry, check.run());
    entries.push_back(std::move(entry));
    if (!candidate_.alive()) break;
  }
  return entries;
}

}  // namespace hone
