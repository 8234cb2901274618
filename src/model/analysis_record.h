// The analysis that a model writes about a candidate before it writes a better one. It is parsed leniently,
// because content matters and punctuation does not, and then checked against what was measured.
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
  double expected_speedup = 0;  // a factor: 1.3 for "30%", 2 for "~2x"; 0 when it does not say
  std::string implementation_complexity = "medium";  // low, medium or high
  std::string kernel_type;
  std::string time_loop;  // "inside_kernel", "host" or "none" (there is none); "" when it does not say
};

// The JSON schema of the record, in the subset that servers hold a model to: every field is required, and
// there are no others.
std::string AnalysisSchema();

// Parses the record in a reply: JSON or a Python dict, in prose or in fences, with the field names of the
// record or older ones with spaces. The Error is a sentence that can be sent back to the model.
Result<AnalysisRecord> ParseAnalysis(const std::string& reply);

Json ToJson(const AnalysisRecord& record);
Result<AnalysisRecord> AnalysisFromJson(const Json& json);

// Where the plan has the loop over time steps run: what the field time_loop says, and where a reply has no
// such field, what the prose of the plan says.
enum class LoopPlace { kInside, kOnHost, kNone, kNotSaid };
LoopPlace WhereTheLoopIs(const AnalysisRecord& record);

// Says what is wrong with the record, in words to send back once, or nothing. `facts` is {"card":
// ToJson(Card), "verdict": the candidate's bench record or null, "generous_step_us": a dependent step of a
// recurrence that takes longer on this kind of device can be made faster}; parts may be missing.
std::optional<std::string> CheckAgainstFacts(const AnalysisRecord& record, const Json& facts);

}  // namespace hone
