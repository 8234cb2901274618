// The best speed-up so far after each model call of a run, and the dollars spent by then: what search
// policies are compared by at equal cost. A pure function of the store's records.
//
// A candidate counts with the call that made it (the second one where the model was asked again), as all
// replies of one call do. One that no
// call made, of the expert, an earlier run, mechanical repair or the search for numbers, counts with the
// calls made by the time it was judged: all calls that the candidates before it took, and all that ended
// before it was written. Times in the store are whole seconds, so a call of the same second is counted only
// if a candidate shows that it came first.
#pragma once

#include <vector>

#include "store/records.h"

namespace hone {

struct CostCurve {
  double before = 1;         // the best before the first call; 1 is PyTorch
  std::vector<double> best;  // after each call
  std::vector<double> usd;   // spent by then
  bool priced = true;        // the price of every call is known

  double AfterCalls(double calls) const;
  double AfterDollars(double dollars) const;
  // The last value: a run that ended keeps it, whatever another one went on to spend.
  double AtEnd() const { return best.empty() ? before : best.back(); }
  double Dollars() const { return usd.empty() ? 0 : usd.back(); }
};

// The number of calls that each candidate counts with, in the order of the candidates.
std::vector<size_t> CallsByThen(const std::vector<CandidateRecord>& candidates,
                                const std::vector<CallRecord>& calls);

// Both in the order of the store; summaries are enough.
CostCurve BestSoFar(const std::vector<CandidateRecord>& candidates, const std::vector<CallRecord>& calls);

}  // namespace hone
