#include "cli/live_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/terminal.h"
#include "base/text.h"

namespace hone {

LiveLine::Mode LiveLine::Choose(bool quiet) {
  if (IsTerminal(stderr)) return Mode::kTerminal;
  return quiet ? Mode::kSilent : Mode::kPlain;
}

Progress LiveLine::AsProgress(const std::string& subject) {
  return
      [this, subject](const std::string& phase, int done, int total) { Show(subject, phase, done, total); };
}

void LiveLine::Show(const std::string& raw_subject, const std::string& phase, int done, int total) {
  const std::string subject = SafeForTerminal(ReplaceAll(raw_subject, "\n", " "));
  const bool new_phase = phase != last_phase_;
  last_phase_ = phase;
  if (mode_ == Mode::kSilent) return;
  if (mode_ == Mode::kPlain) {
    if (new_phase) fmt::print(stderr, "hone: {}: {}\n", subject, phase);
    return;
  }
  if (!new_phase && NowNs() - last_drawn_ns_ < 50'000'000) return;
  last_drawn_ns_ = NowNs();
  std::string text = fmt::format("{} {}", subject, phase);
  if (total > 0) text += fmt::format(" {}/{}", done + 1, total);
  text += fmt::format("  {}", HumanSeconds(since_.seconds()));
  // Cuts between UTF-8 characters, never before a continuation byte.
  size_t end = std::min(text.size(), static_cast<size_t>(TerminalWidth() - 1));
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  fmt::print(stderr, "\r\x1b[2K{}", text.substr(0, end));
  std::fflush(stderr);
  drawn_ = true;
}

void LiveLine::Clear() {
  if (drawn_) {
    fmt::print(stderr, "\r\x1b[2K");
    std::fflush(stderr);
  }
  drawn_ = false;
  last_phase_.clear();
}

}  // namespace hone
