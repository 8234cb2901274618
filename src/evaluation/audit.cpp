#include "evaluation/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "evaluation/run_messages.h"
#include "evaluation/trial_judge.h"

namespace hone {

namespace {

constexpr double kMutantMargin = 10;  // detected: ten times over the limit
constexpr double kSurelySensitive =
    100;                             // its gradient alone shows that it is detected: ten times kMutantMargin
constexpr double kSurelyOver = 1e9;  // a structure or number that no limit allows
constexpr double kUnmoved = 1e-9;    // float64 rounding, invisible in a float32 answer
constexpr int kAtLeastMutants = 8;   // per instance, whatever their time
constexpr double kBudgetCalls = 30;  // budget in calls of the reference
constexpr double kBudgetSeconds = 0.4;  // minimum of the budget
constexpr int kGradientFrom = 8;        // with this many parameters, one backward pass is cheaper
constexpr char kAnotherAnswer[] = "another input's answer";
constexpr char kParameter[] = "parameter:";

constexpr double kPasses = 2;  // a wrong answer this close to the limit may pass

bool Passes(const MutantResult& mutant) {
  return !(mutant.error > kPasses);
}

class Auditor {
 public:
  Auditor(TruthBuilder& builder, Truth* truth, const Progress& progress)
      : builder_(builder), worker_(builder.worker()), truth_(*truth), progress_(progress) {}

  Status Run() {
    leaf_ratio_.assign(truth_.cases[0].truth.leaves.size(), 0);
    HONE_RETURN_IF_ERROR(CompareConstants());
    HONE_RETURN_IF_ERROR(CompareOwnDraws());
    // The stress instance comes first: mutants that it detects need no second test.
    for (size_t instance = truth_.instances.size(); instance-- > 0;)
      HONE_RETURN_IF_ERROR(RunMutants(instance));
    for (const std::string& name : order_) truth_.mutants.push_back(found_[name]);
    truth_.CheckAccuracy();
    HONE_RETURN_IF_ERROR(DoubtInputs());
    HONE_RETURN_IF_ERROR(DoubtOutputs());
    DoubtTask();
    if (!left_out_.empty())
      truth_.remarks.push_back(
          fmt::format("not audited, because it would take too long: {} of the task's "
                      "mutants ({})",
                      left_out_.size(), Join(left_out_, ", ").substr(0, 200)));
    return Ok();
  }

 private:
  const Case* FirstOf(size_t instance) const {
    for (const Case& one : truth_.cases)
      if (one.instance == instance && one.change.empty() && one.variant.empty()) return &one;
    return nullptr;
  }

  Status Note(const std::string& name, const Case& one, const TensorTree& wrong) {
    double ratio = 0;
    for (size_t i = 0; i < one.truth.leaves.size() && i < wrong.leaves.size(); ++i) {
      if (wrong.leaves[i].shape != one.expected.leaves[i].shape) {
        // The size depends on the values, so such an answer is rejected for its shape.
        ratio = kSurelyOver;
        if (i < leaf_ratio_.size()) leaf_ratio_[i] = ratio;
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const double leaf, OverLimit(one, wrong, i));
      if (i < leaf_ratio_.size()) leaf_ratio_[i] = std::max(leaf_ratio_[i], leaf);
      ratio = std::max(ratio, leaf);
    }
    Add(name, ratio, truth_.instances[one.instance].slot);
    return Ok();
  }

  // The ratio of one output's error to its limit.
  Result<double> OverLimit(const Case& one, const TensorTree& wrong, size_t i) const {
    if (!IsFloating(one.expected.leaves[i].dtype)) {
      // As in a trial, a single wrong integer rejects a candidate.
      HONE_ASSIGN_OR_RETURN(const double share, WrongIntegers(one, wrong, i));
      return share > 0 ? kSurelyOver : 0.0;
    }
    HONE_ASSIGN_OR_RETURN(const Distance distance, CompareLeaves(wrong, one.truth, i));
    const Limit limit = truth_.LimitFor(one.instance, i);
    const double off = truth_.NormShare(one.instance, i, distance) *
                       std::max(distance.relative / std::max(limit.relative, 1e-30),
                                distance.scaled / std::max(limit.scaled, 1e-30));
    return distance.non_finite > 0 ? kSurelyOver : std::min(off, kSurelyOver);
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

  // Mutants that need no run: zeros, and the answer of another case, which stands for any plausible constant.
  Status CompareConstants() {
    for (size_t instance = 0; instance < truth_.instances.size(); ++instance) {
      const Case& one = *FirstOf(instance);
      HONE_ASSIGN_OR_RETURN(const CaseLease lease, builder_.Hold(one));
      {
        HONE_ASSIGN_OR_RETURN(const TensorTree zeros, ZerosLike(one.expected));
        HONE_RETURN_IF_ERROR(Note("zeros", one, zeros));
      }
      for (const Case& other : truth_.cases) {
        if (&other == &one || !other.variant.empty() || !other.change.empty()) continue;
        HONE_ASSIGN_OR_RETURN(const CaseLease another, builder_.Hold(other));
        HONE_RETURN_IF_ERROR(Note(kAnotherAnswer, one, other.expected));
        if (ToldApart(kAnotherAnswer)) break;
      }
    }
    return Ok();
  }

  // Timed calls use draws of get_inputs. If the answer to one draw passes for another draw, timed calls
  // cannot detect a candidate that returns stored answers.
  Status CompareOwnDraws() {
    const Case& one = truth_.cases[0];
    for (const Case& other : truth_.cases) {
      if (&other == &one || other.instance != 0 || !other.variant.empty() || !other.change.empty()) continue;
      if (one.truth.leaves.size() != other.expected.leaves.size()) return Ok();
      HONE_ASSIGN_OR_RETURN(const CaseLease own, builder_.Hold(one));
      HONE_ASSIGN_OR_RETURN(const CaseLease another, builder_.Hold(other));
      for (size_t i = 0; i < one.truth.leaves.size(); ++i) {
        if (other.expected.leaves[i].shape != one.expected.leaves[i].shape) return Ok();
        HONE_ASSIGN_OR_RETURN(const double over, OverLimit(one, other.expected, i));
        if (over > kPasses) return Ok();
      }
      truth_.alike_draws = true;
      return Ok();
    }
    return Ok();
  }

  // Request is RunRequest or TruthRequest.
  template <class Request>
  Result<std::optional<TensorTree>> Answer(const Case& one, const std::string& mutant) {
    Request request;
    request.slot = truth_.instances[one.instance].slot;
    request.inputs = one.id;
    request.seed = one.call_seed;
    request.mutant = mutant;
    HONE_ASSIGN_OR_RETURN(auto reply, AskForTree(worker_, builder_.plane(), request, {.root = "output"}));
    if (!reply.ok() && !worker_.alive())
      return Error{ErrorKind::kInvalid, "the reference worker died under mutant " + mutant};
    // This mutant does not exist for an input that must keep its form, such as sorted offsets.
    if (!reply.ok()) {
      HONE_RETURN_IF_ERROR(builder_.Recover());
      return std::optional<TensorTree>();
    }
    return std::optional<TensorTree>(std::move(reply.tree));
  }

  Status RunMutants(size_t instance) {
    const Case& one = *FirstOf(instance);
    HONE_ASSIGN_OR_RETURN(const CaseLease lease, builder_.Hold(one));
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
        left_out_.push_back(name);
        continue;
      }
      progress_("auditing the task", static_cast<int>(i), static_cast<int>(reply.names.size()));
      const Stopwatch call;
      HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> wrong, Answer<RunRequest>(one, name));
      call_s = ran == 0 ? call.seconds() : std::min(call_s, call.seconds());
      ++ran;
      std::erase(left_out_, name);
      if (wrong) HONE_RETURN_IF_ERROR(Note(name, one, *wrong));
    }
    return Ok();
  }

  // How another value of an input or parameter affects the float64 answer.
  enum class Effect { kNone, kMoves, kRefused };

  // The mutant that replaces the value. It works even if no regime changed a constant.
  static std::string AnotherValue(const std::string& mutant) {
    if (StartsWith(mutant, kParameter)) return "another:" + mutant.substr(sizeof kParameter - 1);
    return mutant.substr(0, mutant.size() - sizeof "ignored" + 1) + "replaced";
  }

  Result<Effect> EffectOf(const std::string& mutant) {
    bool ran = false;
    for (size_t instance = 0; instance < truth_.instances.size(); ++instance) {
      if (StartsWith(mutant, kParameter) && instance == 0) continue;
      const Case& one = *FirstOf(instance);
      HONE_ASSIGN_OR_RETURN(const CaseLease lease, builder_.Hold(one));
      HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> wrong,
                            Answer<TruthRequest>(one, AnotherValue(mutant)));
      if (!wrong) continue;
      ran = true;
      if (wrong->leaves.size() != one.truth.leaves.size()) return Effect::kMoves;
      for (size_t i = 0; i < wrong->leaves.size(); ++i) {
        if (wrong->leaves[i].elements() != one.truth.leaves[i].elements()) return Effect::kMoves;
        HONE_ASSIGN_OR_RETURN(const Distance moved, CompareLeaves(*wrong, one.truth, i));
        if (moved.non_finite > 0 || !(moved.relative <= kUnmoved)) return Effect::kMoves;
      }
    }
    return ran ? Effect::kNone : Effect::kRefused;
  }

  Status DoubtInputs() {
    std::vector<std::string> unused, fixed;
    const bool has_truth = truth_.note == "float64";
    for (const MutantResult& mutant : truth_.mutants) {
      const bool input = StartsWith(mutant.name, "input-") && EndsWith(mutant.name, "-ignored") &&
                         !Contains(mutant.name, "-dim-");
      const bool parameter = StartsWith(mutant.name, kParameter);
      if (!Passes(mutant) || (!input && !parameter)) continue;
      const std::string what = parameter ? "parameter " + mutant.name.substr(sizeof kParameter - 1)
                                         : "input " + Split(mutant.name, '-')[1];
      HONE_ASSIGN_OR_RETURN(const Effect effect, EffectOf(mutant.name));
      if (has_truth && effect != Effect::kMoves) {
        (effect == Effect::kNone ? unused : fixed).push_back(what);
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
    if (!fixed.empty())
      truth_.remarks.push_back(Join(fixed, ", ") +
                               " has one value only: the task refuses the others that were tried");
    return Ok();
  }

  Result<bool> IsConstant(size_t leaf) {
    const Case& one = truth_.cases[0];
    HONE_ASSIGN_OR_RETURN(const CaseLease own, builder_.Hold(one));
    for (const Case& other : truth_.cases) {
      if (other.truth.leaves[leaf].elements() != one.truth.leaves[leaf].elements()) continue;
      HONE_ASSIGN_OR_RETURN(const CaseLease lease, builder_.Hold(other));
      HONE_ASSIGN_OR_RETURN(const Distance moved, CompareNorms(other.truth, one.truth, leaf));
      if (moved.non_finite > 0 || !(moved.relative <= kUnmoved)) return false;
    }
    return true;
  }

  Status DoubtOutputs() {
    if (leaf_ratio_.size() < 2) return Ok();  // DoubtTask covers a single output
    for (size_t leaf = 0; leaf < leaf_ratio_.size(); ++leaf) {
      if (leaf_ratio_[leaf] > kPasses || truth_.cases[0].truth.leaves[leaf].elements() == 0) continue;
      const std::string path = truth_.cases[0].expected.leaves[leaf].path;
      HONE_ASSIGN_OR_RETURN(const bool constant, IsConstant(leaf));
      if (constant)
        truth_.remarks.push_back(path + " is the same for all inputs and weights");
      else
        truth_.doubts.push_back(
            {DoubtKind::kBlindOutput,
             path + " passes whatever is computed; define get_stress with inputs that change "
                    "it, or pass --allow-blind"});
    }
    return Ok();
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

  TruthBuilder& builder_;
  WorkerProcess& worker_;
  Truth& truth_;
  const Progress& progress_;
  std::map<std::string, MutantResult> found_;
  std::vector<std::string> order_;
  std::vector<double> leaf_ratio_;     // per output: the largest ratio of a mutant's error to the limit
  std::vector<std::string> left_out_;  // mutants beyond the budget
};

}  // namespace

Status AuditTask(TruthBuilder& builder, Truth* truth, const Progress& progress) {
  return Auditor(builder, truth, progress).Run();
}

}  // namespace hone
