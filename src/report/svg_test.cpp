#include "report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Labels(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks())
    if (!tick.label.empty()) labels.push_back(tick.label);
  return labels;
}

TEST(Axis, ALinearAxisEndsAtRoundNumbersAndMapsExactly) {
  const Axis axis = Axis::Linear(0.2, 4.7, 100, 600);
  EXPECT_DOUBLE_EQ(axis.low(), 0);
  EXPECT_DOUBLE_EQ(axis.high(), 5);
  EXPECT_DOUBLE_EQ(axis.At(0), 100);
  EXPECT_DOUBLE_EQ(axis.At(1), 200);
  EXPECT_DOUBLE_EQ(axis.At(2.5), 350);
  EXPECT_DOUBLE_EQ(axis.At(5), 600);
  EXPECT_THAT(Labels(axis), ElementsAre("0", "1", "2", "3", "4", "5"));
}

TEST(Axis, ALogarithmicAxisGivesEveryDecadeTheSameLength) {
  const Axis axis = Axis::Log(1, 10000, 0, 400);
  EXPECT_DOUBLE_EQ(axis.At(1), 0);
  EXPECT_NEAR(axis.At(10), 100, 1e-9);
  EXPECT_NEAR(axis.At(1000), 300, 1e-9);
  EXPECT_THAT(Labels(axis), ElementsAre("1", "10", "100", "1000", "10k"));
}

TEST(Axis, AShortLogarithmicAxisHasTicksWithinADecade) {
  const Axis axis = Axis::Log(0.6, 2.6, 0, 500);
  EXPECT_THAT(Labels(axis), ElementsAre("0.5", "0.7", "1", "1.5", "2", "3"));
}

TEST(Axis, NothingFallsOutsideAndNothingIsNotANumber) {
  const Axis log = Axis::Log(1, 100, 10, 110);
  EXPECT_DOUBLE_EQ(log.At(0), 10);
  EXPECT_DOUBLE_EQ(log.At(-5), 10);
  EXPECT_DOUBLE_EQ(log.At(1e9), 110);
  for (const Axis& axis : {Axis::Linear(0, 0, 0, 100), Axis::Linear(3, 3, 0, 100), Axis::Log(0, 0, 0, 100),
                           Axis::Log(5, 5, 0, 100)}) {
    EXPECT_TRUE(std::isfinite(axis.At(3)));
    EXPECT_GT(axis.high(), axis.low());
    EXPECT_GE(axis.ticks().size(), 2u);
  }
}

TEST(Axis, AnAxisThatPointsUpMapsLargerValuesToSmallerCoordinates) {
  const Axis axis = Axis::Linear(0, 10, 200, 0);
  EXPECT_DOUBLE_EQ(axis.At(10), 0);
  EXPECT_DOUBLE_EQ(axis.At(5), 100);
}

TEST(Svg, NumbersAreShortAndTheSameEveryTime) {
  EXPECT_EQ(Coordinate(12.5), "12.5");
  EXPECT_EQ(Coordinate(12.0), "12");
  EXPECT_EQ(Coordinate(1.0 / 3), "0.33");
  EXPECT_EQ(Coordinate(-0.001), "0");
  EXPECT_EQ(Coordinate(NAN), "0");
  EXPECT_EQ(ShortNumber(0.5), "0.5");
  EXPECT_EQ(ShortNumber(1234), "1234");
  EXPECT_EQ(ShortNumber(25000), "25k");
  EXPECT_EQ(ShortNumber(3.2e9), "3.2G");
  EXPECT_EQ(ShortNumber(1e-7), "1e-07");
}

TEST(Svg, ShapesStandWhereTheyWerePut) {
  Svg svg("p", 200, 100, "Title", "What it shows");
  svg.Mark(MarkShape::kDot, 10.5, 20, 4, "ok", "a < b");
  svg.Interval(5, 15.25, 20, "ok");
  const std::string text = svg.Inline();
  EXPECT_THAT(
      text, HasSubstr("<circle class=\"ok\" cx=\"10.5\" cy=\"20\" r=\"4\"><title>a &lt; b</title></circle>"));
  EXPECT_THAT(text, HasSubstr("d=\"M5 16.5V23.5M15.25 16.5V23.5M5 20H15.25\""));
  EXPECT_THAT(text, HasSubstr("viewBox=\"0 0 200 100\""));
}

TEST(Svg, WhoDoesNotSeeThePictureIsToldWhatItIs) {
  const std::string text = Svg("p", 1, 1, "A & B", "x < y").Inline();
  EXPECT_THAT(text, HasSubstr("role=\"img\" aria-labelledby=\"p-title p-desc\""));
  EXPECT_THAT(text, HasSubstr("<title id=\"p-title\">A &amp; B</title>"));
  EXPECT_THAT(text, HasSubstr("<desc id=\"p-desc\">x &lt; y</desc>"));
}

TEST(Svg, ItsTextCannotLeaveTheDrawing) {
  Svg svg("p", 1, 1, "t", "d");
  svg.Text(0, 0, "</text><script>alert(1)</script>", "label");
  EXPECT_THAT(svg.Inline(), Not(HasSubstr("<script")));
}

TEST(Svg, AFileOfItsOwnCarriesNamespaceAndStyle) {
  const std::string text = Svg("p", 10, 20, "t", "d").Standalone("text{}");
  EXPECT_THAT(text,
              testing::StartsWith(
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(text, HasSubstr("<style>text{}</style>"));
}

TEST(Svg, ShorteningCutsBetweenCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 4), "abc\u2026");
  EXPECT_EQ(Shortened("äöüäöü", 3), "äö\u2026");
  EXPECT_EQ(Shortened("", 3), "");
}

}  // namespace
}  // namespace hone
