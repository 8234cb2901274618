// The analysis of a candidate that a model writes before it writes a better one. It is parsed leniently,
// because only the content matters, and then checked against measurements.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

struct AnalysisRecord {
  bool worth_optimizing = true;
  std::string reason;
  std::string bottleneck;
  std::string optimisation_method;
  std::string modification_plan;
  double expected_speedup = 0;  // a factor: 1.3 for "30%", 2 for "~2x"; 0 if the reply has none
  std::string implementation_complexity = "medium";  // low, medium or high
  std::string kernel_type;
  std::string time_loop;  // "inside_kernel", "host" or "none" (no such loop); "" if the reply has none
};

// The JSON schema of the record, in the subset that servers support: every field is required, and others are
// forbidden.
std::string AnalysisSchema();

// Parses the record in a reply: JSON or a Python dict, in prose or in fences, with the record's field names
// or older ones with spaces. The Error is a sentence that can be sent back to the model.
Result<AnalysisRecord> ParseAnalysis(const std::string& reply);

Json ToJson(const AnalysisRecord& record);
Result<AnalysisRecord> AnalysisFromJson(const Json& json);

// Where the plan runs the loop over time steps: from the field time_loop, else from the plan's prose.
enum class LoopPlace { kInside, kOnHost, kNone, kNotSaid };
LoopPlace WhereTheLoopIs(const AnalysisRecord& record);

// Returns what is wrong with the record, in words to send back once. No value if nothing is. `facts` is
// {"card": ToJson(Card), "verdict": the candidate's bench record or null, "generous_step_us": a dependent
// step that takes longer on this kind of device can be made faster}; parts may be missing.
std::optional<std::string> CheckAgainstFacts(const AnalysisRecord& record, const Json& facts);

}  // namespace hone
