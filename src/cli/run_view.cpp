#include "cli/run_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/plural.h"
#include "base/text.h"
#include "base/text_wrap.h"
#include "report/run_report.h"
#include "store/run_result.h"

namespace hone {

std::string EndText(const RunRecord& run, const RunEnd& end, const Style& style) {
  std::string text;
  const auto sentence = [&](const char* label, const std::string& words) {
    constexpr int kIndent = 16;
    text += fmt::format("  {:<{}}{}\n", label, kIndent - 2,
                        WrapIndented(SafeForTerminal(words), kIndent, style.width()));
  };
  if (end.best) {
    text += fmt::format("{}  {} {}\n", style.Bold(run.task), style.Green("accepted"),
                        SafeForTerminal(end.best->key));
    text += fmt::format(
        "  speed-up      {} vs the best PyTorch baseline (95%: {:.2f} to {:.2f}), {:.2f}x vs eager\n",
        style.Bold(fmt::format("{:.2f}x", end.best->vs_best)), end.best->ci_low, end.best->ci_high,
        end.best->vs_eager);
    text += fmt::format("  error         {} where {} is allowed\n", HumanNumber(end.best->error),
                        HumanNumber(end.best->error_limit));
    if (!end.best->kind.empty()) text += fmt::format("  kind          {}\n", end.best->kind);
  } else if (end.result == kKeptPyTorch) {
    text += fmt::format("{}  {}\n", style.Bold(run.task), style.Yellow("keep PyTorch"));
    constexpr char kMark[] = "keep PyTorch: ";
    const size_t at = end.outcome.find(kMark);
    sentence("why", at == std::string::npos ? end.outcome : end.outcome.substr(at + sizeof kMark - 1));
  } else {
    text += fmt::format("{}  {}\n", style.Bold(run.task), style.Red(ResultWords(end.result)));
    if (end.status == "done") sentence("why", end.outcome);
  }
  if (end.status != "done") sentence("ended early", end.outcome);
  text += fmt::format("  took          {}\n", HumanSeconds(run.seconds));
  // Of any other run, best.py is the task's own module.
  if (end.best || end.result == kKeptPyTorch)
    text += fmt::format("  file          {}\n", (fs::path(run.folder) / "best.py").string());
  text += fmt::format("  next          hone {} {}\n", end.status == "done" ? "show" : "resume", run.name);
  return text;
}

RunView::RunView(const RunRecord& run, const RunOptions& options, Mode mode)
    : mode_(mode), style_(stderr), budget_(options.budget), seconds_before_(run.seconds) {}

RunView::Mode RunView::Choose() {
  return IsTerminal(stderr) ? Mode::kTerminal : Mode::kPlain;
}

RunWatcher RunView::Watcher() {
  RunWatcher watcher;
  watcher.said = [this](const std::string& line) { Print(SafeForTerminal(line)); };
  watcher.judged = [this](const CandidateRecord& candidate) {
    {
      const std::scoped_lock lock(mutex_);
      if (candidate.verdict != "baseline") ++evaluations_;
      if (candidate.accepted() && candidate.vs_best > best_speed_) {
        best_ = candidate.key;
        best_speed_ = candidate.vs_best;
      }
    }
    Print(CandidateLine(candidate, style_));
  };
  watcher.doing = [this](const std::string& key, const std::string& what) {
    const std::scoped_lock lock(mutex_);
    if (what.empty()) {
      doing_.erase(key);
      tokens_total_ += tokens_[key];
      tokens_.erase(key);
    } else if (mode_ == Mode::kPlain && doing_[key] != what) {
      fmt::print(stderr, "hone: {}: {}\n", SafeForTerminal(key), SafeForTerminal(what));
    }
    if (!what.empty()) doing_[key] = what;
    if (mode_ == Mode::kTerminal && NowNs() - last_drawn_ns_ > 80'000'000) Redraw();
  };
  watcher.tokens = [this](const std::string& key, int64_t tokens) {
    const std::scoped_lock lock(mutex_);
    tokens_[key] = tokens;
    if (mode_ == Mode::kTerminal && NowNs() - last_drawn_ns_ > 80'000'000) Redraw();
  };
  return watcher;
}

void RunView::Print(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  if (mode_ == Mode::kSilent) return;
  Erase();
  fmt::print(stderr, "{}{}\n", mode_ == Mode::kPlain ? "hone: " : "", line);
  if (mode_ == Mode::kTerminal) Redraw();
}

void RunView::Erase() {
  for (; drawn_lines_ > 0; --drawn_lines_) fmt::print(stderr, "\x1b[1A\x1b[2K");
}

void RunView::Redraw() {
  Erase();
  last_drawn_ns_ = NowNs();
  const size_t width = static_cast<size_t>(TerminalWidth() - 1);
  auto draw = [&](std::string line) {
    size_t end = std::min(line.size(), width);
    while (end > 0 && end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    fmt::print(stderr, "{}\n", style_.Dim(line.substr(0, end)));
    ++drawn_lines_;
  };
  for (const auto& [key, what] : doing_) {
    const auto tokens = tokens_.find(key);
    draw(fmt::format(
        "  {} {}{}", SafeForTerminal(key), SafeForTerminal(what),
        tokens != tokens_.end() && tokens->second > 0 ? fmt::format("  {} tokens", tokens->second) : ""));
  }
  const double seconds = seconds_before_ + since_.seconds();
  std::string status = fmt::format("  best so far {}", best_);
  if (best_speed_ > 1) status += fmt::format(" {:.2f}x", best_speed_);
  status += budget_.evaluations > 0 ? fmt::format("  {} verdicts of {}", evaluations_, budget_.evaluations)
                                    : "  " + CountAndNoun(evaluations_, "verdict");
  if (budget_.minutes > 0)
    status += fmt::format("  {} left", HumanSeconds(std::max(0.0, 60 * budget_.minutes - seconds)));
  draw(status + "  " + HumanSeconds(seconds));
  std::fflush(stderr);
}

void RunView::Close() {
  const std::scoped_lock lock(mutex_);
  Erase();
  std::fflush(stderr);
}

}  // namespace hone
