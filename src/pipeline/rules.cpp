#include "pipeline/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "evaluation/kernel_profile.h"
#include "model/knowledge.h"

namespace hone {

namespace {

// A stage must beat the best by more than two verdicts on the same file usually differ.
constexpr double kBetter = 1.01;
// Within this factor of the floor, no block size is worth an evaluation.
constexpr double kNearTheFloor = 1.25;

bool MentionsAny(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(text, word); });
}

// A persistent kernel with the time loop inside it makes sense only for a recurrence, because a persistent
// GEMM has no steps. The card decides first, then the class that the record names, and its prose last. Prose
// that names a persistent kernel to exclude it does not ask for one. Prose that names another kind of kernel
// asks for one only if it also names the time loop.
bool AsksForPersistentRecurrence(const AnalysisRecord& record, const Json& card) {
  if (!record.time_loop.empty()) return IsRecurrent(card) && record.time_loop == "inside_kernel";
  const std::string type = ToLower(record.kernel_type);
  std::string text = type + " " + ToLower(record.optimisation_method);
  for (const char* joint : {"-", "_", "\n"}) text = ReplaceAll(text, joint, " ");
  if (!IsRecurrent(card) || !Contains(text, "persistent") || WhereTheLoopIs(record) != LoopPlace::kInside)
    return false;
  if (Contains(type, "recurrent")) return true;
  const bool names_another = MentionsAny(text, {"gemm", "matmul", "product", "conv", "elementwise",
                                                "element wise", "reduction", "attention", "scan"});
  return !names_another || MentionsAny(text, {"time loop", "loop over time", "loop inside", "recurren",
                                              "all time steps", "all steps", "whole sequence"});
}

// Static analysis classifies Triton and CUDA kernels but not C++. It does recognise code that gets compiled.
bool CompilesItsOwn(const CandidateRecord& candidate) {
  const Result<Json> facts = ParseJson(candidate.facts);
  return facts.ok() && !GetMember(*facts, "compiles").empty();
}

// The profiler's result for it, if there is one.
std::string WhyBusyAlready(const CandidateRecord& best, const std::vector<DecisionRecord>& decisions) {
  for (const DecisionRecord& decision : decisions)
    if (decision.phase == "profile" && decision.key == kProfileKeys + best.key) {
      const Result<Json> json = ParseJson(decision.json);
      if (json.ok()) return WhyBusyAlready(KernelProfileFromJson(*json));
    }
  return "";
}

}  // namespace

bool IsRight(const CandidateRecord& candidate) {
  return candidate.right();
}

bool IsBroken(const CandidateRecord& candidate) {
  return candidate.judged() && !IsRight(candidate) && !candidate.unknown();
}

bool FailedOrLost(const CandidateRecord& candidate) {
  return IsBroken(candidate) || candidate.vs_best < 1.0;
}

std::string BestOfPyTorch(const std::vector<CandidateRecord>& all, const std::string& at_first_look) {
  std::string best = at_first_look.empty() ? "eager" : at_first_look;
  double fastest_us = 0;
  for (const CandidateRecord& one : all) {
    const Result<Json> record = ParseJson(one.json);
    if (!record.ok()) continue;
    const Json& speedup = GetMember(*record, "speedup");
    const double us = GetNumber(speedup, "best_us");
    if (us <= 0 || (fastest_us > 0 && us >= fastest_us)) continue;
    fastest_us = us;
    best = GetString(speedup, "best_baseline", best);
  }
  return best;
}

std::string NotWhatWasAsked(const AnalysisRecord& asked, const CandidateRecord& candidate, const Json& card) {
  if (!AsksForPersistentRecurrence(asked, card) || candidate.kernel_class == "persistent_recurrent" ||
      candidate.kernel_class == "none")
    return "";
  return fmt::format(
      "The plan asks for a persistent kernel with the time loop inside it. This candidate is of class {}: {}",
      candidate.kernel_class,
      candidate.kernel_class == "launch_per_step"
          ? "the time loop is still on the host, around the launch. Move it into the kernel."
          : "no kernel in it carries state from step to step. Put the time loop, and the state, into one "
            "kernel.");
}

std::string WhyNotTuned(const CandidateRecord& best, const RunOptions& options, const Json& card,
                        const std::vector<DecisionRecord>& decisions) {
  if (!options.tuning) return "tuning is switched off";
  if (best.kernel_class == "none" && !CompilesItsOwn(best)) return "it has no kernel of its own to tune";
  if (options.class_check &&
      (best.kernel_class == "persistent_recurrent" || best.kernel_class == "launch_per_step"))
    return best.kernel_class == "persistent_recurrent"
               ? "a persistent kernel's grid and blocks are part of its algorithm"
               : "it is bound by launches, which no block size changes";
  const double floor_us = GetNumber(card, "floor_us");
  if (best.candidate_us > 0 && best.candidate_us < kNearTheFloor * floor_us)
    return fmt::format("it runs at {:.0f}% of the roofline already", 100 * floor_us / best.candidate_us);
  // The analysis behind this candidate, or behind the one it was repaired from.
  const size_t algorithm = best.key.find(".algorithm");
  for (const DecisionRecord& decision : decisions) {
    if (algorithm == std::string::npos) break;
    if (decision.phase != "analysis" || !StartsWith(decision.key, best.key.substr(0, algorithm) + "."))
      continue;
    const Result<Json> record = ParseJson(decision.json);
    if (record.ok() && GetString(*record, "implementation_complexity") == "high")
      return "its analysis says that its complexity is high";
  }
  return WhyBusyAlready(best, decisions);
}

bool StageIsBetter(const CandidateRecord& winner, const CandidateRecord& best) {
  return winner.accepted() && winner.vs_best > kBetter * (best.accepted() ? best.vs_best : 0);
}

}  // namespace hone
