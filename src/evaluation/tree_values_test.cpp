#include "evaluation/tree_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/device_fixture.h"
#include "evaluation/truth_fixtures.h"

namespace hone {
namespace {

// The values are in memory files (false), or on a fake device that runs the kernels' own arithmetic (true).
class TreeValues : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    driver_ = FakeDriver(&device_);
    if (GetParam()) {
      Result<std::unique_ptr<DevicePlane>> plane = DevicePlane::Open(0, &driver_);
      ASSERT_TRUE(plane.ok()) << plane.error().message;
      plane_ = std::move(*plane);
    }
  }
  void TearDown() override {
    plane_.reset();
    EXPECT_TRUE(device_.IsClean());
  }

  // Leaves begin at multiples of 64, as in workers.
  TensorTree Tree(const std::vector<HandTensor>& tensors) {
    TensorTree tree = HandTree(tensors);
    if (!GetParam()) return tree;
    size_t total = 0;
    std::vector<std::vector<std::byte>> values;
    for (TensorLeaf& leaf : tree.leaves) {
      const std::span<const std::byte> bytes = tree.Bytes(leaf);
      values.emplace_back(bytes.begin(), bytes.end());
      leaf.offset = total;
      total += (leaf.bytes + 63) / 64 * 64;
    }
    DeviceBuffer buffer = *plane_->Allocate(std::max<size_t>(total, 1), true);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(
          plane_->Upload(buffer.span().Part(tree.leaves[i].offset, values[i].size()), values[i]).ok());
    tree.blob = SharedBlob();
    tree.size = total;
    tree.device = std::make_shared<DeviceValues>(*plane_, std::move(buffer));
    return tree;
  }

  FakeDevice device_;
  Driver driver_;
  std::unique_ptr<DevicePlane> plane_;
};

std::vector<double> Ramp(size_t count, double first) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(first + 0.25 * static_cast<double>(i));
  return values;
}

TEST_P(TreeValues, ComparesEveryLeafWithItsTruth) {
  std::vector<double> off = Ramp(64, 1);
  off[17] += 0.5;
  const TensorTree answer = Tree({{"float32", {2, 32}, off}, {"float32", {3}, {1, 2, 3}}});
  const TensorTree truth = Tree({{"float64", {2, 32}, Ramp(64, 1)}, {"float64", {3}, {1, 2, 3}}});
  const Distance first = *CompareLeaves(answer, truth, 0);
  EXPECT_GT(first.relative, 0);
  EXPECT_EQ(first.worst_at, 17u);
  EXPECT_GT(first.scaled, 0);
  EXPECT_EQ(CompareNorms(answer, truth, 0)->relative, first.relative);
  EXPECT_EQ(CompareNorms(answer, truth, 0)->scaled, 0);
  EXPECT_EQ(CompareLeaves(answer, truth, 1)->relative, 0);
}

TEST_P(TreeValues, IntegersDifferOrDoNot) {
  const TensorTree answer = Tree({{"int64", {4}, {1, 2, 3, 4}}}),
                   truth = Tree({{"int64", {4}, {1, 2, 0, 4}}});
  EXPECT_EQ(CompareLeaves(answer, truth, 0)->relative, 0.25);
  const std::vector<std::byte> bytes = *CopyToHost(answer, 0);
  EXPECT_EQ(ElementAt(Dtype::kI64, bytes, 2), 3);
}

TEST_P(TreeValues, CountsElementsBeyondATolerance) {
  const TensorTree answer = Tree({{"float32", {3}, {1, 2.1, 3.5}}}),
                   truth = Tree({{"float32", {3}, {1, 2, 3}}});
  EXPECT_EQ(*CountFarValues(answer, truth, 0, 0.2, 0), 1u);
  EXPECT_EQ(*CountFarValues(answer, truth, 0, 0, 1), 0u);
}

TEST_P(TreeValues, SameMeansBitByBit) {
  const TensorTree one = Tree({{"float32", {2}, {0.0, 2}}});
  EXPECT_TRUE(*SameValues(one, Tree({{"float32", {2}, {0.0, 2}}}), 0));
  EXPECT_FALSE(*SameValues(one, Tree({{"float32", {2}, {-0.0, 2}}}), 0));
  EXPECT_FALSE(*SameValues(one, Tree({{"float32", {3}, {0, 2, 3}}}), 0));
}

TEST_P(TreeValues, ZerosHaveTheLayoutAndNothingElse) {
  const TensorTree tree = Tree({{"float32", {3}, {1, 2, 3}}});
  const TensorTree zeros = *ZerosLike(tree);
  EXPECT_EQ(zeros.structure, tree.structure);
  EXPECT_EQ(CompareNorms(zeros, tree, 0)->relative, 1);
  EXPECT_EQ(ElementAt(Dtype::kF32, *CopyToHost(zeros, 0), 1), 0);
}

TEST_P(TreeValues, ALayoutAloneIsNotCompared) {
  const TensorTree tree = Tree({{"float32", {3}, {1, 2, 3}}});
  TensorTree layout = tree;
  layout.device.reset();
  layout.blob = SharedBlob();
  EXPECT_TRUE(HasValues(tree));
  EXPECT_FALSE(HasValues(layout));
  EXPECT_FALSE(CompareLeaves(layout, tree, 0).ok());
}

TEST_P(TreeValues, NothingIsTheSameAsNothing) {
  const TensorTree one = Tree({{"float32", {0}, {}}}), other = Tree({{"float32", {0}, {}}});
  EXPECT_TRUE(*SameValues(one, other, 0));
  EXPECT_EQ(CompareLeaves(one, other, 0)->relative, 0);
}

INSTANTIATE_TEST_SUITE_P(Place, TreeValues, testing::Bool(),
                         [](const auto& info) { return info.param ? "Device" : "Host"; });

}  // namespace
}  // namespace hone
