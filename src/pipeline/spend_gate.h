// A budget of tokens or money that parallel calls share. The use of a request is unknown until it ends, but
// its maximum is often known (model.h, MostUse). Requests run in parallel while the sum of their maximums
// fits into the rest. A request that does not fit, or whose maximum is unknown, waits until no other runs.
// Only such a request can exceed the budget, so at most one call ever does.
//
// Waiting requests proceed in order of arrival.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "model/model.h"
#include "pipeline/run_options.h"

namespace hone {

class SpendGate {
 public:
  explicit SpendGate(const Budget& budget) : budget_(budget) {}

  // False: there is no such budget, and every request may proceed.
  bool keeps_any() const { return budget_.tokens > 0 || budget_.usd > 0; }
  // Adds what earlier sessions spent.
  void Begin(int64_t tokens, double usd);

  enum class Answer { kGo, kSpent, kGivenUp };
  // Waits until the call may send a request that uses at most `most`, the budget is spent, or `give_up`
  // returns true. After kGo, call Leave. The call that exceeded the budget may still finish.
  Answer Enter(const std::string& call, const MostUse& most, const std::function<bool()>& give_up);
  void Leave(const std::string& call, const MostUse& most, const Usage& used);

  // "the budget of $5 is spent"; empty while it is not.
  std::string WhySpent();

 private:
  bool Spent() const;
  bool Fits(const MostUse& most) const;

  const Budget budget_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t tokens_ = 0;  // spent
  double usd_ = 0;
  int64_t reserved_tokens_ = 0;  // for pending requests
  double reserved_usd_ = 0;
  int under_way_ = 0;
  bool alone_ = false;      // the pending one does not fit, or its maximum is unknown
  std::string crossed_by_;  // the call whose request spent the budget
  uint64_t next_ticket_ = 0;
  std::set<uint64_t> waiting_;
};

}  // namespace hone
