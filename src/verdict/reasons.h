// The words of a verdict: five decisions, and the reasons that belong to each. The names are part of the JSON
// contract and of the store; one table holds them all.
#pragma once

#include <string>
#include <vector>

namespace hone {

enum class Decision {
  kAccepted,
  kRejected,
  kNoDifference,
  kCannotJudge,   // the task cannot tell a right answer from a wrong one
  kInconclusive,  // nothing is wrong with the file, and the machine was too busy to time it
};

enum class Reason {
  kFaster,
  kNoDifference,
  kSpeedNotJudged,
  kOnlyInARow,
  kBuildFailed,
  kImportFailed,
  kCrashed,
  kTimeout,
  kOutOfMemory,
  kWrongOutput,
  kWrongShape,
  kWrongDtype,
  kNonFinite,
  kUnwrittenOutput,
  kInputModified,
  kNondeterministic,
  kStaleResult,
  kWeightsNotTransferred,
  kTimerTampering,
  kUnsynchronised,
  kTooFast,
  kEscaped,
  kSlower,
  kInaccurateReference,
  kBlindTask,
  kBlindInput,
  kBlindParameter,
  kBlindOutput,
  kFixedInputs,
  kMachineBusy,
};

const char* NameOf(Decision decision);
const char* NameOf(Reason reason);
Decision DecisionOf(Reason reason);

// The names of all reasons of one decision, in the order of the table.
std::vector<std::string> ReasonNames(Decision decision);
// Every reason a rejection may carry, for documentation and tests.
const std::vector<std::string>& RejectReasons();

}  // namespace hone
