// The host's clock. Verdicts rest on no other clock.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

// CLOCK_MONOTONIC_RAW in nanoseconds. Time adjustments do not slew it during a measurement.
int64_t NowNs();
// Seconds since the epoch, and the same as "2026-01-31T23:59:59Z".
int64_t UnixSeconds();
std::string UtcTimestamp();
std::string UtcTimestamp(int64_t unix_seconds);

class Stopwatch {
 public:
  Stopwatch() : start_ns_(NowNs()) {}
  double seconds() const { return static_cast<double>(NowNs() - start_ns_) * 1e-9; }

 private:
  int64_t start_ns_;
};

// A point in time after which waiting ends.
class Deadline {
 public:
  static Deadline After(double seconds);
  static Deadline Never();
  bool passed() const;
  double seconds_left() const;
  // The timeout for poll(2). -1 means no limit. Rounds up, so that a wait never ends before the deadline.
  int poll_ms() const;

 private:
  explicit Deadline(int64_t at_ns) : at_ns_(at_ns) {}
  int64_t at_ns_;
};

}  // namespace hone
