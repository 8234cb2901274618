#include "codegen/fused/view.h"

#include <gtest/gtest.h>

namespace hone::fused {
namespace {

using Opt = std::optional<Strides>;

TEST(View, AReshapeIsPassedThrough) {
  // A domain of 2 x 3 x 4 over a transposed tensor of shape {6, 4}.
  EXPECT_EQ(Through({12, 4, 1}, {2, 3, 4}, {6, 4}, {1, 6}), Opt(Strides{3, 1, 6}));
  // An axis that crosses two axes which are not consecutive.
  EXPECT_EQ(Through({4, 1}, {6, 4}, {2, 3, 4}, {1, 8, 2}), std::nullopt);
  EXPECT_EQ(Through({4, 1}, {6, 4}, {2, 3, 4}, {30, 10, 2}), Opt(Strides{10, 2}));
  EXPECT_EQ(Through({0, 1}, {6, 4}, {4}, {5}), Opt(Strides{0, 5}));
  EXPECT_EQ(Through({1}, {1}, {}, {}), Opt(Strides{0}));
}

TEST(View, ABroadcastAxisHasStrideZero) {
  EXPECT_EQ(BroadcastStrides({3, 1}, {1, 1}, {2, 3, 4}), (Strides{0, 1, 0}));
  // A whole axis that is split over two axes of the domain.
  EXPECT_EQ(Through({12, 4, 1}, {2, 3, 4}, {6, 4}, BroadcastStrides({6, 1}, {1, 1}, {6, 4})),
            Opt(Strides{3, 1, 0}));
}

TEST(View, BeginsBehindTheStartAndMayWalkBackwards) {
  // Columns 1 to 3 of {5, 4}, in a transposed tensor.
  const std::optional<Affine> part = AffineThrough({{4, 1}, 1}, {5, 3}, {5, 4}, {1, 5});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->strides, (Strides{1, 5}));
  EXPECT_EQ(part->start, 5);
  const std::optional<Affine> flipped = AffineThrough({{4, -1}, 3}, {5, 4}, {5, 4}, {4, 1});
  ASSERT_TRUE(flipped.has_value());
  EXPECT_EQ(flipped->strides, (Strides{4, -1}));
  EXPECT_EQ(flipped->start, 3);
  // A step that would carry into the next row, and one that would leave the first row at the front.
  EXPECT_FALSE(AffineThrough({{4, 1}, 2}, {5, 3}, {5, 4}, {1, 5}).has_value());
  EXPECT_FALSE(AffineThrough({{4, -1}, 1}, {5, 3}, {5, 4}, {4, 1}).has_value());
}

TEST(View, TheDomainIsAsFineAsItMustBe) {
  EXPECT_EQ(Refine({4, 6}, {2, 12}), std::optional<Shape>(Shape{2, 2, 6}));
  EXPECT_EQ(Refine({24}, {2, 1, 12}), std::optional<Shape>(Shape{2, 12}));
  EXPECT_EQ(Refine({4, 6}, {6, 4}), std::nullopt);
  EXPECT_EQ(Refine({4, 6}, {4, 5}), std::nullopt);
}

TEST(View, KnowsWhichAxesAreReduced) {
  EXPECT_EQ(AxesOfDomain({2, 2, 6}, {4, 6}, {0}), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(AxesOfDomain({2, 12}, {2, 1, 12}, {1, 2}), (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace hone::fused
