// Shows a run's progress: on a terminal one line per candidate with the current activity below them,
// otherwise plain lines. It always uses stderr, so that stdout can be piped.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/terminal.h"
#include "pipeline/recorder.h"
#include "pipeline/run_options.h"
#include "pipeline/spine.h"

namespace hone {

class RunView {
 public:
  enum class Mode { kTerminal, kPlain, kSilent };
  RunView(const RunRecord& run, const RunOptions& options, Mode mode);
  ~RunView() { Close(); }
  static Mode Choose();

  RunWatcher Watcher();
  void Close();

 private:
  void Print(const std::string& line);
  void Redraw();
  void Erase();

  Mode mode_;
  Style style_;
  Budget budget_;
  double seconds_before_;
  std::mutex mutex_;
  std::map<std::string, std::string> doing_;  // current activity, by key; the live part
  std::map<std::string, int64_t> tokens_;
  int64_t tokens_total_ = 0;
  int evaluations_ = 0;
  std::string best_ = "PyTorch";
  double best_speed_ = 1;
  int drawn_lines_ = 0;
  int64_t last_drawn_ns_ = 0;
  Stopwatch since_;
};

// The text at the end of a run.
std::string EndText(const RunRecord& run, const RunEnd& end, const Style& style);

}  // namespace hone
