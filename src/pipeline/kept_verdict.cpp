#include "pipeline/kept_verdict.h"

#include <type_traits>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

// The list: calls `each` with the path in the JSON, the member of the row and the member of the verdict.
template <class Row, class Told, class Each>
void ForEachKept(Row& row, Told& verdict, Each each) {
  each("verdict", row.verdict, verdict.verdict);
  each("reason", row.reason, verdict.reason);
  each("detail", row.detail, verdict.detail);
  each("kind", row.kind, verdict.kind);
  each("speedup/vs_best", row.vs_best, verdict.vs_best.estimate);
  each("speedup/ci95/0", row.ci_low, verdict.vs_best.low);
  each("speedup/ci95/1", row.ci_high, verdict.vs_best.high);
  each("speedup/vs_eager", row.vs_eager, verdict.vs_eager.estimate);
  each("speedup/candidate_us", row.candidate_us, verdict.candidate_us);
  each("error/candidate", row.error, verdict.error);
  each("error/limit", row.error_limit, verdict.error_limit);
}

// Null if the path does not exist.
const Json& ValueAt(const Json& record, const char* place) {
  static const Json kNone;
  const Json* at = &record;
  for (const std::string& part : Split(place, '/')) {
    const bool is_index = part == "0" || part == "1";
    const size_t index = part == "1" ? 1 : 0;
    at = !is_index ? &GetMember(*at, part) : at->is_array() && index < at->size() ? &(*at)[index] : &kNone;
  }
  return *at;
}

}  // namespace

void KeepVerdict(const Verdict& verdict, CandidateRecord* candidate) {
  ForEachKept(*candidate, verdict, [](const char*, auto& kept, const auto& value) { kept = value; });
}

Verdict VerdictOf(const CandidateRecord& candidate) {
  Verdict verdict;
  ForEachKept(candidate, verdict, [](const char*, const auto& kept, auto& value) { value = kept; });
  return verdict;
}

Verdict VerdictFromJson(const Json& record) {
  Verdict verdict;
  const CandidateRecord unused;
  ForEachKept(unused, verdict, [&](const char* place, const auto&, auto& value) {
    const Json& found = ValueAt(record, place);
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (found.is_string()) value = found.get<std::string>();
    } else {
      if (found.is_number()) value = found.get<double>();
    }
  });
  return verdict;
}

}  // namespace hone
