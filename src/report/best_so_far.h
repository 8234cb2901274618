// The best speed-up after each model call of a run, and the dollars spent by then, for comparing search
// policies at equal cost. It is a pure function of the store's records.
//
// A candidate belongs to the call that made it (the second one if the model was asked again), and so do all
// replies of one call. A candidate that no call made (by the expert, an earlier run, mechanical repair or the
// search for numbers) belongs to the calls made before it was judged: all calls behind earlier candidates,
// and all that ended before it was written. Times in the store are whole seconds, so a call in the same
// second counts only if a candidate shows that it came first.
#pragma once

#include <vector>

#include "store/records.h"

namespace hone {

struct CostCurve {
  double before = 1;         // the best before the first call; 1 is PyTorch
  std::vector<double> best;  // after each call
  std::vector<double> usd;   // dollars spent by then
  bool priced = true;        // the price of every call is known

  double AfterCalls(double calls) const;
  double AfterDollars(double dollars) const;
  // The last value. A run that ended keeps it, whatever another run spends later.
  double AtEnd() const { return best.empty() ? before : best.back(); }
  double Dollars() const { return usd.empty() ? 0 : usd.back(); }
};

// The number of calls up to each candidate, in the order of the candidates.
std::vector<size_t> CallsByThen(const std::vector<CandidateRecord>& candidates,
                                const std::vector<CallRecord>& calls);

// Both in the order of the store. Summaries suffice.
CostCurve BestSoFar(const std::vector<CandidateRecord>& candidates, const std::vector<CallRecord>& calls);

}  // namespace hone
