#include "evaluation/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "evaluation/run_messages.h"

namespace hone {

namespace {

constexpr double kMutantMargin = 10;       // told apart: ten times over the limit
constexpr double kSurelySensitive = 1000;  // by its gradient alone: far over the limit
constexpr double kUnmoved = 1e-9;          // float64 rounding, and nothing a float32 answer could show
constexpr int kAtLeastMutants = 8;         // per instance, however long they take
constexpr double kBudgetCalls = 30;        // in calls of the reference
constexpr double kBudgetSeconds = 0.4;     // at least
constexpr int kGradientFrom = 8;           // parameters; from here on one backward pass is cheaper
constexpr char kAnotherAnswer[] = "another input's answer";
constexpr char kParameter[] = "parameter:";

constexpr double kPasses = 2;  // a wrong answer this near the limit may pass

bool Passes(const MutantResult& mutant) {
  return !(mutant.error > kPasses);
}

class Auditor {
 public:
  Auditor(WorkerProcess& worker, Truth* truth, const Progress& progress)
      : worker_(worker), truth_(*truth), progress_(progress) {}

  Status Run() {
    leaf_ratio_.assign(truth_.cases[0].truth.leaves.size(), 0);
    HONE_RETURN_IF_ERROR(CompareConstants());
    // The stress instance first: what it tells apart need not be tried again.
    for (size_t instance = truth_.instances.size(); instance-- > 0;)
      HONE_RETURN_IF_ERROR(RunMutants(instance));
    for (const std::string& name : order_) truth_.mutants.push_back(found_[name]);
    truth_.CheckAccuracy();
    HONE_RETURN_IF_ERROR(DoubtInputs());
    DoubtOutputs();
    DoubtTask();
    return Ok();
  }

 private:
  const Case* FirstOf(size_t instance) const {
    for (const Case& one : truth_.cases)
      if (one.instance == instance && one.change.empty() && one.variant.empty()) return &one;
    return nullptr;
  }

  void Note(const std::string& name, const Case& one, const TensorTree& wrong) {
    double ratio = 0;
    for (size_t i = 0; i < one.truth.leaves.size() && i < wrong.leaves.size(); ++i) {
      if (wrong.leaves[i].shape != one.expected.leaves[i].shape) continue;
      const Distance distance = CompareLeaves(wrong, one.truth, i);
      const Limit limit = truth_.LimitFor(one.instance, i);
      const double off = std::max(distance.relative / std::max(limit.relative, 1e-30),
                                  distance.scaled / std::max(limit.scaled, 1e-30));
      const double leaf = distance.non_finite > 0 ? 1e9 : std::min(off, 1e9);
      if (i < leaf_ratio_.size()) leaf_ratio_[i] = std::max(leaf_ratio_[i], leaf);
      ratio = std::max(ratio, leaf);
    }
    Add(name, ratio, truth_.instances[one.instance].slot);
  }

  void Add(const std::string& name, double ratio, const std::string& regime) {
    if (found_.count(name) == 0) order_.push_back(name);
    MutantResult& result = found_[name];
    result.name = name;
    if (ratio >= result.error) {
      result.error = ratio;
      result.regime = regime;
    }
    result.told_apart = result.error > kMutantMargin;
  }

  bool ToldApart(const std::string& name) const {
    const auto it = found_.find(name);
    return it != found_.end() && it->second.told_apart;
  }

  // Answers that need no run: zeros, and the answer of another case, which stands for every constant that
  // looks right.
  Status CompareConstants() {
    for (size_t instance = 0; instance < truth_.instances.size(); ++instance) {
      const Case& one = *FirstOf(instance);
      std::vector<std::byte> zeros(one.expected.total_bytes());
      HONE_ASSIGN_OR_RETURN(SharedBlob zero_blob, SharedBlob::Of("zeros", zeros));
      HONE_ASSIGN_OR_RETURN(const TensorTree zero_tree,
                            ParseTree(one.expected.description, std::move(zero_blob), "output"));
      Note("zeros", one, zero_tree);
      for (const Case& other : truth_.cases) {
        if (&other == &one || !other.variant.empty() || !other.change.empty()) continue;
        Note(kAnotherAnswer, one, other.expected);
        if (ToldApart(kAnotherAnswer)) break;
      }
    }
    return Ok();
  }

  // Request: RunRequest or TruthRequest.
  template <class Request>
  Result<std::optional<TensorTree>> Answer(const Case& one, const std::string& mutant) {
    HONE_ASSIGN_OR_RETURN(SharedBlob blob, SharedBlob::Create("mutant"));
    Request request;
    request.slot = truth_.instances[one.instance].slot;
    request.inputs = one.id;
    request.seed = one.call_seed;
    request.mutant = mutant;
    HONE_ASSIGN_OR_RETURN(const auto reply, worker_.Call(request, {blob.fd()}, 600));
    if (!reply.ok() && !worker_.alive())
      return Error{ErrorKind::kInvalid, "the reference worker died under mutant " + mutant};
    // An input that must keep its form (sorted offsets, say) has no such mutant.
    if (!reply.ok()) return std::optional<TensorTree>();
    HONE_ASSIGN_OR_RETURN(TensorTree tree, ParseTree(reply.body.tree, std::move(blob), "output"));
    return std::optional<TensorTree>(std::move(tree));
  }

  Status RunMutants(size_t instance) {
    const Case& one = *FirstOf(instance);
    HONE_ASSIGN_OR_RETURN(const MutantsReply reply,
                          worker_.Require(MutantsRequest{truth_.instances[instance].slot, one.id,
                                                         one.call_seed, kGradientFrom}));
    double limit = 1e-30;
    for (size_t i = 0; i < one.truth.leaves.size(); ++i)
      limit = std::max(limit, truth_.LimitFor(instance, i).relative);
    const Stopwatch watch;
    double call_s = 0;
    int ran = 0;
    for (size_t i = 0; i < reply.names.size(); ++i) {
      const std::string& name = reply.names[i];
      if (ToldApart(name)) continue;
      if (StartsWith(name, kParameter)) {
        const auto found = reply.sensitivities.find(name.substr(sizeof kParameter - 1));
        const double moved = found == reply.sensitivities.end() ? 0 : found->second;
        if (moved > kSurelySensitive * limit) {
          Add(name, std::min(moved / limit, 1e9), truth_.instances[instance].slot);
          continue;
        }
      }
      if (ran >= kAtLeastMutants && watch.seconds() > std::max(kBudgetSeconds, kBudgetCalls * call_s)) {
        ++left_out_;
        continue;
      }
      progress_("auditing the task", static_cast<int>(i), static_cast<int>(reply.names.size()));
      const Stopwatch call;
      HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> wrong, Answer<RunRequest>(one, name));
      call_s = ran == 0 ? call.seconds() : std::min(call_s, call.seconds());
      ++ran;
      if (wrong) Note(name, one, *wrong);
    }
    return Ok();
  }

  // Whether the float64 answer stays the same, whatever this input or parameter is: then it is unused.
  Result<bool> IsUnused(const std::string& mutant) {
    for (size_t instance = 0; instance < truth_.instances.size(); ++instance) {
      if (StartsWith(mutant, kParameter) && instance == 0) continue;
      const Case& one = *FirstOf(instance);
      HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> wrong, Answer<TruthRequest>(one, mutant));
      if (!wrong || wrong->leaves.size() != one.truth.leaves.size()) return false;
      for (size_t i = 0; i < wrong->leaves.size(); ++i) {
        if (wrong->leaves[i].elements() != one.truth.leaves[i].elements()) return false;
        const Distance moved = CompareLeaves(*wrong, one.truth, i);
        if (moved.non_finite > 0 || !(moved.relative <= kUnmoved)) return false;
      }
    }
    return true;
  }

  Status DoubtInputs() {
    std::vector<std::string> unused;
    const bool has_truth = truth_.note == "float64";
    for (const MutantResult& mutant : truth_.mutants) {
      const bool input = StartsWith(mutant.name, "input-") && EndsWith(mutant.name, "-ignored") &&
                         !Contains(mutant.name, "-dim-");
      const bool parameter = StartsWith(mutant.name, kParameter);
      if (!Passes(mutant) || (!input && !parameter)) continue;
      const std::string what = parameter ? "parameter " + mutant.name.substr(sizeof kParameter - 1)
                                         : "input " + Split(mutant.name, '-')[1];
      HONE_ASSIGN_OR_RETURN(const bool never_moves, IsUnused(mutant.name));
      if (never_moves && has_truth) {
        unused.push_back(what);
        continue;
      }
      truth_.doubts.push_back({parameter ? DoubtKind::kBlindParameter : DoubtKind::kBlindInput,
                               fmt::format("{} can be ignored and the answers still pass in every regime; "
                                           "define get_stress so that it matters, or "
                                           "pass --allow-blind",
                                           what)});
    }
    if (!unused.empty())
      truth_.remarks.push_back(Join(unused, ", ") +
                               " does not change the float64 answer: unused by the task");
    return Ok();
  }

  bool IsConstant(size_t leaf) const {
    const Case& one = truth_.cases[0];
    for (const Case& other : truth_.cases) {
      if (other.truth.leaves[leaf].elements() != one.truth.leaves[leaf].elements()) continue;
      const TensorLeaf& a = other.truth.leaves[leaf];
      const TensorLeaf& b = one.truth.leaves[leaf];
      const Distance moved = Compare(a.dtype, other.truth.Bytes(a), b.dtype, one.truth.Bytes(b));
      if (moved.non_finite > 0 || !(moved.relative <= kUnmoved)) return false;
    }
    return true;
  }

  void DoubtOutputs() {
    if (leaf_ratio_.size() < 2) return;  // of a single output DoubtTask speaks
    for (size_t leaf = 0; leaf < leaf_ratio_.size(); ++leaf) {
      if (leaf_ratio_[leaf] > kPasses || truth_.cases[0].truth.leaves[leaf].elements() == 0) continue;
      const std::string path = truth_.cases[0].expected.leaves[leaf].path;
      if (IsConstant(leaf))
        truth_.remarks.push_back(path + " is the same for all inputs and weights");
      else
        truth_.doubts.push_back(
            {DoubtKind::kBlindOutput,
             path + " passes whatever is computed; define get_stress with inputs that change "
                    "it, or pass --allow-blind"});
    }
  }

  void DoubtTask() {
    const bool none = std::none_of(truth_.mutants.begin(), truth_.mutants.end(),
                                   [](const MutantResult& mutant) { return !Passes(mutant); });
    const std::string passes = none                             ? "every known wrong computation"
                               : Passes(found_["zeros"])        ? "an answer of zeros"
                               : Passes(found_[kAnotherAnswer]) ? "the answer to another input"
                                                                : "";
    if (!passes.empty())
      truth_.doubts.push_back({DoubtKind::kBlindTask,
                               passes +
                                   " passes: the task cannot tell right from wrong. Define get_stress with "
                                   "weights and inputs whose answers differ"});
  }

  WorkerProcess& worker_;
  Truth& truth_;
  const Progress& progress_;
  std::map<std::string, MutantResult> found_;
  std::vector<std::string> order_;
  std::vector<double> leaf_ratio_;  // per output: how far over the limit the farthest mutant was
  int left_out_ = 0;
};

}  // namespace

Status AuditTask(WorkerProcess& worker, Truth* truth, const Progress& progress) {
  return Auditor(worker, truth, progress).Run();
}

}  // namespace hone
