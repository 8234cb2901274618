// The words of a verdict: five decisions, and the reasons for each. The names are part of the JSON contract
// and of the store. One table defines them all.
#pragma once

#include <string>
#include <vector>

namespace hone {

enum class Decision {
  kAccepted,
  kRejected,
  kNoDifference,
  kCannotJudge,   // the task cannot tell a right answer from a wrong one
  kInconclusive,  // no error was found, but the machine was too busy to time the file
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

// The names of all reasons for one decision, in table order.
std::vector<std::string> ReasonNames(Decision decision);
// All reasons for a rejection, for documentation and tests.
const std::vector<std::string>& RejectReasons();

}  // namespace hone
