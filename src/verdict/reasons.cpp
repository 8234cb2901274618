#include "verdict/reasons.h"

#include <array>

namespace hone {

namespace {

struct DecisionRow {
  Decision decision;
  const char* name;
};
constexpr std::array<DecisionRow, 5> kDecisions = {{
    {Decision::kAccepted, "accepted"},
    {Decision::kRejected, "rejected"},
    {Decision::kNoDifference, "no_difference"},
    {Decision::kCannotJudge, "cannot_judge"},
    {Decision::kInconclusive, "inconclusive"},
}};

struct ReasonRow {
  Reason reason;
  const char* name;
  Decision decision;
};
constexpr std::array<ReasonRow, 30> kReasons = {{
    {Reason::kFaster, "faster", Decision::kAccepted},
    {Reason::kNoDifference, "no-difference", Decision::kNoDifference},
    {Reason::kSpeedNotJudged, "speed-not-judged", Decision::kNoDifference},
    {Reason::kOnlyInARow, "only-in-a-row", Decision::kNoDifference},
    {Reason::kBuildFailed, "build-failed", Decision::kRejected},
    {Reason::kImportFailed, "import-failed", Decision::kRejected},
    {Reason::kCrashed, "crashed", Decision::kRejected},
    {Reason::kTimeout, "timeout", Decision::kRejected},
    {Reason::kOutOfMemory, "out-of-memory", Decision::kRejected},
    {Reason::kWrongOutput, "wrong-output", Decision::kRejected},
    {Reason::kWrongShape, "wrong-shape", Decision::kRejected},
    {Reason::kWrongDtype, "wrong-dtype", Decision::kRejected},
    {Reason::kNonFinite, "non-finite", Decision::kRejected},
    {Reason::kUnwrittenOutput, "unwritten-output", Decision::kRejected},
    {Reason::kInputModified, "input-modified", Decision::kRejected},
    {Reason::kNondeterministic, "nondeterministic", Decision::kRejected},
    {Reason::kStaleResult, "stale-result", Decision::kRejected},
    {Reason::kWeightsNotTransferred, "weights-not-transferred", Decision::kRejected},
    {Reason::kTimerTampering, "timer-tampering", Decision::kRejected},
    {Reason::kUnsynchronised, "unsynchronised", Decision::kRejected},
    {Reason::kTooFast, "too-fast", Decision::kRejected},
    {Reason::kEscaped, "escaped", Decision::kRejected},
    {Reason::kSlower, "slower", Decision::kRejected},
    {Reason::kInaccurateReference, "inaccurate-reference", Decision::kCannotJudge},
    {Reason::kBlindTask, "blind-task", Decision::kCannotJudge},
    {Reason::kBlindInput, "blind-input", Decision::kCannotJudge},
    {Reason::kBlindParameter, "blind-parameter", Decision::kCannotJudge},
    {Reason::kBlindOutput, "blind-output", Decision::kCannotJudge},
    {Reason::kFixedInputs, "fixed-inputs", Decision::kCannotJudge},
    {Reason::kMachineBusy, "machine-busy", Decision::kInconclusive},
}};

// Each row has the index of its enum value, so that a lookup is an index operation.
constexpr bool InOrder() {
  for (size_t i = 0; i < kDecisions.size(); ++i)
    if (kDecisions[i].decision != static_cast<Decision>(i)) return false;
  for (size_t i = 0; i < kReasons.size(); ++i)
    if (kReasons[i].reason != static_cast<Reason>(i)) return false;
  return true;
}
static_assert(InOrder());

}  // namespace

const char* NameOf(Decision decision) {
  return kDecisions[static_cast<size_t>(decision)].name;
}
const char* NameOf(Reason reason) {
  return kReasons[static_cast<size_t>(reason)].name;
}
Decision DecisionOf(Reason reason) {
  return kReasons[static_cast<size_t>(reason)].decision;
}

std::vector<std::string> ReasonNames(Decision decision) {
  std::vector<std::string> names;
  for (const ReasonRow& row : kReasons)
    if (row.decision == decision) names.emplace_back(row.name);
  return names;
}

const std::vector<std::string>& RejectReasons() {
  static const std::vector<std::string> names = ReasonNames(Decision::kRejected);
  return names;
}

}  // namespace hone
