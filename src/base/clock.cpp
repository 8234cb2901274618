#include "base/clock.h"

#include <time.h>

#include <algorithm>
#include <limits>

namespace hone {

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int64_t UnixSeconds() {
  return static_cast<int64_t>(time(nullptr));
}

std::string UtcTimestamp() {
  return UtcTimestamp(UnixSeconds());
}

std::string UtcTimestamp(int64_t unix_seconds) {
  const time_t at = static_cast<time_t>(unix_seconds);
  tm parts{};
  gmtime_r(&at, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Deadline Deadline::After(double seconds) {
  if (seconds > 1e9) return Never();
  return Deadline(NowNs() + static_cast<int64_t>(seconds * 1e9));
}

Deadline Deadline::Never() {
  return Deadline(std::numeric_limits<int64_t>::max());
}

bool Deadline::passed() const {
  return NowNs() >= at_ns_;
}

double Deadline::seconds_left() const {
  if (at_ns_ == std::numeric_limits<int64_t>::max()) return 1e18;
  return static_cast<double>(at_ns_ - NowNs()) * 1e-9;
}

int Deadline::poll_ms() const {
  const double left = seconds_left();
  if (left > 1e6) return -1;
  return static_cast<int>(std::max(0.0, left * 1e3 + 1));
}

}  // namespace hone
