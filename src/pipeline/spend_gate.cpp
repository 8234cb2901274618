#include "pipeline/spend_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace hone {

namespace {

// Ctrl-C and deadlines cause no notification.
constexpr std::chrono::milliseconds kLookAgain(50);

}  // namespace

void SpendGate::Begin(int64_t tokens, double usd) {
  const std::scoped_lock lock(mutex_);
  tokens_ = tokens;
  usd_ = usd;
}

bool SpendGate::Spent() const {
  return (budget_.tokens > 0 && tokens_ >= budget_.tokens) || (budget_.usd > 0 && usd_ >= budget_.usd);
}

bool SpendGate::Fits(const MostUse& most) const {
  if (budget_.tokens > 0 && (most.tokens < 0 || tokens_ + reserved_tokens_ + most.tokens > budget_.tokens))
    return false;
  return budget_.usd <= 0 || (most.usd >= 0 && usd_ + reserved_usd_ + most.usd <= budget_.usd);
}

SpendGate::Answer SpendGate::Enter(const std::string& call, const MostUse& most,
                                   const std::function<bool()>& give_up) {
  if (!keeps_any()) return Answer::kGo;
  std::unique_lock lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  waiting_.insert(ticket);
  const auto leave_queue = [&](Answer answer) {
    waiting_.erase(ticket);
    changed_.notify_all();
    return answer;
  };
  while (true) {
    if (give_up()) return leave_queue(Answer::kGivenUp);
    if (Spent() && call != crossed_by_) return leave_queue(Answer::kSpent);
    const bool fits = Fits(most);
    if (*waiting_.begin() == ticket && (under_way_ == 0 || (fits && !alone_))) {
      ++under_way_;
      alone_ = !fits;
      reserved_tokens_ += std::max<int64_t>(most.tokens, 0);
      reserved_usd_ += std::max(most.usd, 0.0);
      return leave_queue(Answer::kGo);
    }
    changed_.wait_for(lock, kLookAgain);
  }
}

void SpendGate::Leave(const std::string& call, const MostUse& most, const Usage& used) {
  if (!keeps_any()) return;
  const std::scoped_lock lock(mutex_);
  const bool before = Spent();
  tokens_ += used.total();
  usd_ += used.cost_usd;
  if (!before && Spent()) crossed_by_ = call;
  --under_way_;
  alone_ = false;
  // A sum of dollars that grew and shrank may not return to exactly 0.
  reserved_tokens_ = under_way_ == 0 ? 0 : reserved_tokens_ - std::max<int64_t>(most.tokens, 0);
  reserved_usd_ = under_way_ == 0 ? 0 : reserved_usd_ - std::max(most.usd, 0.0);
  changed_.notify_all();
}

std::string SpendGate::WhySpent() {
  const std::scoped_lock lock(mutex_);
  if (budget_.tokens > 0 && tokens_ >= budget_.tokens)
    return fmt::format("the budget of {} token{} is spent", budget_.tokens, budget_.tokens == 1 ? "" : "s");
  if (budget_.usd > 0 && usd_ >= budget_.usd) return fmt::format("the budget of ${:g} is spent", budget_.usd);
  return "";
}

}  // namespace hone
