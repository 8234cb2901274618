// How often a server may be asked, learned from its answers and shared by all threads that ask it:
// Retry-After and the rate limit headers of OpenAI's and Anthropic's APIs. It decides when a request may go;
// it sends nothing, and how long to wait after a refusal without Retry-After is for retry.h to say.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace hone {

// Go's durations ("6m0s", "120ms", "1h2m3.5s") and plain seconds; nothing for anything else.
std::optional<double> DurationSeconds(const std::string& text);
// Seconds from `now` (since the epoch) to a time like 2026-01-31T23:59:59Z, 0 when it has passed.
std::optional<double> SecondsUntil(const std::string& rfc3339, int64_t now);

class RateLimiter {
 public:
  using Headers = std::map<std::string, std::string>;  // names in lower case
  // Both clocks in seconds: one that only goes forward, and that of the calendar.
  RateLimiter(std::function<double()> steady, std::function<int64_t()> calendar);
  RateLimiter();

  // One request: taken before it is sent, told what the server said when the head of its answer is there. A
  // request that came to no answer is forgotten.
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

  // A ticket, or the seconds after which to ask for one again. `tokens`: about how many the prompt has.
  struct Answer {
    double wait_s = 0;  // 0: go
    Ticket ticket;
  };
  Answer Take(int64_t tokens);

  // Nobody asks before so many seconds have passed, and then one at a time until an answer comes that is no
  // refusal.
  void Refused(double wait_s);

 private:
  // What refills evenly: so much at the moment `at`, so much more every second, never more than `most`.
  struct Bucket {
    double most = 0;  // 0: nothing is known
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
  bool refused_ = false;  // the last that was heard of the server's limits was a refusal
  bool probing_ = false;  // after one, a single request is under way
  int64_t under_way_ = 0;
  int64_t tokens_under_way_ = 0;
  Bucket requests_;
  Bucket tokens_;
};

}  // namespace hone
