// A budget of tokens or money that calls side by side share. What a request to a model will use is not known
// before it ends; what it can use at the most often is (model.h, MostUse). So requests go side by side while
// that much of all of them fits into what is left. A request that does not fit, or of which nobody knows the
// most, waits until it is alone. Only such a one can exceed the budget, so that no more than one call ever
// does.
//
// Those that wait go in the order in which they came.
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

  // False: there is no such budget, and everybody may pass.
  bool keeps_any() const { return budget_.tokens > 0 || budget_.usd > 0; }
  // What earlier sittings spent.
  void Begin(int64_t tokens, double usd);

  enum class Answer { kGo, kSpent, kGivenUp };
  // Waits until the call may send a request that uses no more than `most`, the budget is spent, or `give_up`.
  // After kGo, Leave follows. The call that crossed the budget may still finish what it began.
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
  int64_t reserved_tokens_ = 0;  // for requests that are under way
  double reserved_usd_ = 0;
  int under_way_ = 0;
  bool alone_ = false;      // the one under way does not fit, or nobody knows
  std::string crossed_by_;  // the call whose request spent the budget
  uint64_t next_ticket_ = 0;
  std::set<uint64_t> waiting_;
};

}  // namespace hone
