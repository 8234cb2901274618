// Compares the values of trees of tensors in place: on the host in memory files, or on the device in the
// parent's own memory. Both trees of a comparison must be in the same place.
#pragma once

#include <map>
#include <utility>

#include "evaluation/compare.h"
#include "evaluation/device_plane.h"

namespace hone {

// The values of one tree, in one allocation of the parent on the device.
class DeviceValues {
 public:
  DeviceValues(DevicePlane& plane, DeviceBuffer buffer) : plane_(plane), buffer_(std::move(buffer)) {}

  DevicePlane& plane() const { return plane_; }
  const DeviceBuffer& buffer() const { return buffer_; }
  DeviceSpan Span(const TensorLeaf& leaf) const { return buffer_.span().Part(leaf.offset, leaf.bytes); }
  // The scales of a leaf's rows and channels, for answers with this dtype. Computed once.
  Result<std::shared_ptr<const TruthScales>> Scales(const TensorLeaf& leaf, Dtype answer_dtype);

 private:
  DevicePlane& plane_;
  DeviceBuffer buffer_;
  std::map<std::pair<size_t, Dtype>, std::shared_ptr<const TruthScales>> scales_;  // by offset and dtype
};

// Whether the values are available. A mere layout has none.
bool HasValues(const TensorTree& tree);

// Compares leaf `leaf` of both trees as CompareShaped (compare.h) does. The leaves must have equally many
// elements.
Result<Distance> CompareLeaves(const TensorTree& answer, const TensorTree& truth, size_t leaf);
// The same without the element-wise part.
Result<Distance> CompareNorms(const TensorTree& answer, const TensorTree& truth, size_t leaf);
// Compares bit by bit. Leaves of different sizes differ.
Result<bool> SameValues(const TensorTree& a, const TensorTree& b, size_t leaf);
// As CountFar (compare.h).
Result<size_t> CountFarValues(const TensorTree& answer, const TensorTree& truth, size_t leaf, double atol,
                              double rtol);
// Copies the values of one leaf from wherever they are, for code that reads single elements.
Result<std::vector<std::byte>> CopyToHost(const TensorTree& tree, size_t leaf);
// Returns the same layout in the same place, with all bytes zero.
Result<TensorTree> ZerosLike(const TensorTree& tree);

}  // namespace hone
