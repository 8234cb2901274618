#include "report/best_so_far.h"

#include <algorithm>
#include <map>

#include "model/replies.h"
#include "report/run_figures.h"

namespace hone {

namespace {

constexpr char kAgentCalls[] = "agent";

// The number of calls that ended before the candidate was written. An agent's call starts before its
// candidates, and its time is its start.
size_t CallsBefore(const CandidateRecord& candidate, const std::vector<CallRecord>& calls) {
  const std::optional<double> written = SecondsOf(candidate.created);
  if (!written) return 0;
  size_t before = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::optional<double> at = SecondsOf(calls[i].created);
    if (at && (*at < *written || (*at == *written && calls[i].call_type == kAgentCalls))) before = i + 1;
  }
  return before;
}

}  // namespace

double CostCurve::AfterCalls(double calls) const {
  const double made = std::min(calls, static_cast<double>(best.size()));
  return made < 1 ? before : best[static_cast<size_t>(made) - 1];
}

double CostCurve::AfterDollars(double dollars) const {
  const auto beyond = std::upper_bound(usd.begin(), usd.end(), dollars);
  return beyond == usd.begin() ? before : best[static_cast<size_t>(beyond - usd.begin()) - 1];
}

std::vector<size_t> CallsByThen(const std::vector<CandidateRecord>& candidates,
                                const std::vector<CallRecord>& calls) {
  std::map<std::string, size_t> made_by;  // number of the call, starting at 1
  for (size_t i = 0; i < calls.size(); ++i) made_by[calls[i].key] = i + 1;
  std::vector<size_t> by_then;
  size_t so_far = 0;
  for (const CandidateRecord& one : candidates) {
    size_t with = 0;
    for (const std::string& call : {CallKeyOf(one.key), one.key + ".again"})
      if (const auto own = made_by.find(call); own != made_by.end()) with = std::max(with, own->second);
    if (with == 0) with = std::max(so_far, CallsBefore(one, calls));
    so_far = std::max(so_far, with);
    by_then.push_back(with);
  }
  return by_then;
}

CostCurve BestSoFar(const std::vector<CandidateRecord>& candidates, const std::vector<CallRecord>& calls) {
  const std::vector<size_t> by_then = CallsByThen(candidates, calls);
  std::vector<double> reached(calls.size() + 1, 1.0);
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].phase != "zero" && candidates[i].accepted())
      reached[by_then[i]] = std::max(reached[by_then[i]], candidates[i].vs_best);
  CostCurve curve;
  curve.before = reached[0];
  double best = curve.before;
  double usd = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    best = std::max(best, reached[i + 1]);
    usd += calls[i].cost_usd;
    curve.best.push_back(best);
    curve.usd.push_back(usd);
    curve.priced = curve.priced && calls[i].price_known;
  }
  return curve;
}

}  // namespace hone
