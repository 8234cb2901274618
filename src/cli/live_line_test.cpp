#include "cli/live_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/terminal.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Returns what `use` makes the line write to stderr.
template <class Use>
std::string Written(LiveLine::Mode mode, Use use) {
  testing::internal::CaptureStderr();
  {
    LiveLine line(mode);
    use(line);
  }
  return testing::internal::GetCapturedStderr();
}

void TwoPhases(LiveLine& line) {
  const Progress progress = line.AsProgress("39_GRU");
  for (int i = 0; i < 3; ++i) progress("checking", i, 3);
  progress("timing", 0, 0);
}

TEST(LiveLine, IsNotATerminalHereSoItIsPlainOrSilent) {
  testing::internal::CaptureStderr();
  const LiveLine::Mode loud = LiveLine::Choose(false), quiet = LiveLine::Choose(true);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(loud, LiveLine::Mode::kPlain);
  EXPECT_EQ(quiet, LiveLine::Mode::kSilent);
}

TEST(LiveLine, SaysEachPhaseOnceInALogFile) {
  EXPECT_EQ(Written(LiveLine::Mode::kPlain, TwoPhases), "hone: 39_GRU: checking\nhone: 39_GRU: timing\n");
}

TEST(LiveLine, SaysNothingWhenItIsSilent) {
  EXPECT_THAT(Written(LiveLine::Mode::kSilent, TwoPhases), IsEmpty());
}

TEST(LiveLine, RedrawsInPlaceOnATerminalAndLeavesNoTrace) {
  const std::string written = Written(LiveLine::Mode::kTerminal, TwoPhases);
  EXPECT_THAT(written, HasSubstr("\r\x1b[2K39_GRU checking 1/3"));
  EXPECT_THAT(written, HasSubstr("\r\x1b[2K39_GRU timing"));
  EXPECT_THAT(written, Not(HasSubstr("\n")));
  EXPECT_TRUE(EndsWith(written, "\r\x1b[2K")) << "the line is wiped at the end";
}

TEST(LiveLine, DrawsNothingWhenThereWasNothingToSay) {
  EXPECT_THAT(Written(LiveLine::Mode::kTerminal, [](LiveLine& line) { line.Clear(); }), IsEmpty());
}

std::string DrawnFor(const std::string& subject) {
  const std::string written =
      Written(LiveLine::Mode::kTerminal, [&](LiveLine& line) { line.AsProgress(subject)("checking", 0, 0); });
  return Split(written, '\r').at(1).substr(std::string("\x1b[2K").size());
}

TEST(LiveLine, NeverWrapsSoThatItCanBeWiped) {
  const std::string drawn = DrawnFor(std::string(2000, 'x'));
  EXPECT_LT(drawn.size(), static_cast<size_t>(TerminalWidth()));
  EXPECT_GT(drawn.size(), 10u);
}

TEST(LiveLine, CutsNoCharacterInHalf) {
  for (const char* character : {"\xC3\xB6", "\xE2\x98\x83", "\xF0\x9F\x90\xA2"})
    for (const char* before : {"", "x"}) {
      std::string subject = before;
      for (int i = 0; i < 1000; ++i) subject += character;
      EXPECT_TRUE(DrawnFor(subject) == ValidUtf8(DrawnFor(subject)))
          << character << " after '" << before << "'";
    }
}

TEST(LiveLine, LetsNoEscapeInAFileNameThrough) {
  for (const LiveLine::Mode mode : {LiveLine::Mode::kPlain, LiveLine::Mode::kTerminal}) {
    const std::string written =
        Written(mode, [](LiveLine& line) { line.AsProgress("evil\x1b]0;owned\x07")("checking", 0, 0); });
    EXPECT_THAT(written, Not(HasSubstr("\x1b]0;")));
    EXPECT_THAT(written, Not(HasSubstr("\x07")));
  }
}

}  // namespace
}  // namespace hone
