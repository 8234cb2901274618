// Shows progress to a user: one line redrawn in place on a terminal, plain lines per phase otherwise. It
// always uses stderr, so that stdout can be piped.
#pragma once

#include <string>

#include "base/clock.h"
#include "evaluation/progress.h"

namespace hone {

class LiveLine {
 public:
  enum class Mode { kTerminal, kPlain, kSilent };
  explicit LiveLine(Mode mode) : mode_(mode) {}
  ~LiveLine() { Clear(); }
  // Returns terminal mode if stderr is a terminal. Otherwise plain, or silent if `quiet`.
  static Mode Choose(bool quiet);

  Progress AsProgress(const std::string& subject);
  void Clear();

 private:
  void Show(const std::string& subject, const std::string& phase, int done, int total);
  Mode mode_;
  std::string last_phase_;
  int64_t last_drawn_ns_ = 0;
  bool drawn_ = false;
  Stopwatch since_;
};

}  // namespace hone
