// Limits the request rate to a server, learned from its responses and shared by all threads: Retry-After and
// the rate limit headers of OpenAI's and Anthropic's APIs. It decides when a request may be sent, and sends
// nothing. retry.h decides how long to wait after a refusal without Retry-After.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace hone {

// Parses Go's durations ("6m0s", "120ms", "1h2m3.5s") and plain seconds. No value for other texts.
std::optional<double> DurationSeconds(const std::string& text);
// Seconds from `now` (since the epoch) to a time such as 2026-01-31T23:59:59Z; 0 if it has passed.
std::optional<double> SecondsUntil(const std::string& rfc3339, int64_t now);

class RateLimiter {
 public:
  using Headers = std::map<std::string, std::string>;  // names in lower case
  // Both clocks return seconds: a monotonic one and the calendar's.
  RateLimiter(std::function<double()> steady, std::function<int64_t()> calendar);
  RateLimiter();

  // One request. It is taken before sending, and gets the server's headers when the head of the response
  // arrives. A request without a response is ignored.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(RateLimiter* limiter, int64_t tokens, bool probe)
        : limiter_(limiter), tokens_(tokens), probe_(probe) {}
    Ticket(Ticket&& other) noexcept { *this = std::move(other); }
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { Lost(); }
    // Counts once; later calls do nothing.
    void Answered(int status, const Headers& headers);
    void Lost();

   private:
    RateLimiter* limiter_ = nullptr;
    int64_t tokens_ = 0;
    bool probe_ = false;
  };

  // A ticket, or the seconds to wait before the next try. `tokens` is the approximate size of the prompt.
  struct Answer {
    double wait_s = 0;  // 0: proceed
    Ticket ticket;
  };
  Answer Take(int64_t tokens);

  // No request is sent for this many seconds, and then one at a time until a response is no refusal.
  void Refused(double wait_s);

 private:
  // A quantity that refills evenly: its amount at the time `at`, and its rate per second, up to `most`.
  struct Bucket {
    double most = 0;  // 0: unknown
    double left = 0;
    double per_second = 0;
    double at = 0;

    double Wait(double amount, double now) const;
    void Spend(double amount, double now);
  };

  void Hear(int status, const Headers& headers, int64_t tokens, bool probe);
  void Forget(int64_t tokens, bool probe);
  void Read(const Headers& headers, const char* kind, double under_way, double now, Bucket* bucket);

  const std::function<double()> steady_;
  const std::function<int64_t()> calendar_;
  std::mutex mutex_;
  double not_before_ = 0;
  bool refused_ = false;  // the latest response about limits was a refusal
  bool probing_ = false;  // after a refusal, a single request is pending
  int64_t under_way_ = 0;
  int64_t tokens_under_way_ = 0;
  Bucket requests_;
  Bucket tokens_;
};

}  // namespace hone
