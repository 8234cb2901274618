// The values of trees of tensors, compared where they lie: on the host in memory files, or on the device in
// the parent's own memory. Two trees that are compared lie in the same place.
#pragma once

#include <map>
#include <utility>

#include "evaluation/compare.h"
#include "evaluation/device_plane.h"

namespace hone {

// The values of one tree in one allocation of the parent's on the device.
class DeviceValues {
 public:
  DeviceValues(DevicePlane& plane, DeviceBuffer buffer) : plane_(plane), buffer_(std::move(buffer)) {}

  DevicePlane& plane() const { return plane_; }
  const DeviceBuffer& buffer() const { return buffer_; }
  DeviceSpan Span(const TensorLeaf& leaf) const { return buffer_.span().Part(leaf.offset, leaf.bytes); }
  // The scales of a leaf's rows and channels, for answers of this dtype. Computed once.
  Result<std::shared_ptr<const TruthScales>> Scales(const TensorLeaf& leaf, Dtype answer_dtype);

 private:
  DevicePlane& plane_;
  DeviceBuffer buffer_;
  std::map<std::pair<size_t, Dtype>, std::shared_ptr<const TruthScales>> scales_;  // by offset
};

// Whether the values can be read: a layout alone has none.
bool HasValues(const TensorTree& tree);

// Leaf `leaf` of both trees, which must have the same number of elements: as CompareShaped (compare.h).
Result<Distance> CompareLeaves(const TensorTree& answer, const TensorTree& truth, size_t leaf);
// The same without the element-wise part.
Result<Distance> CompareNorms(const TensorTree& answer, const TensorTree& truth, size_t leaf);
// Bit by bit. Leaves of different sizes differ.
Result<bool> SameValues(const TensorTree& a, const TensorTree& b, size_t leaf);
// As CountFar (compare.h).
Result<size_t> CountFarValues(const TensorTree& answer, const TensorTree& truth, size_t leaf, double atol,
                              double rtol);
// The values of one leaf, wherever they lie, for code that looks at single elements.
Result<std::vector<std::byte>> CopyToHost(const TensorTree& tree, size_t leaf);
// The same layout, all bytes zero, in the same place.
Result<TensorTree> ZerosLike(const TensorTree& tree);

}  // namespace hone
