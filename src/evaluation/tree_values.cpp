#include "evaluation/tree_values.h"

namespace hone {

Result<std::shared_ptr<const TruthScales>> DeviceValues::Scales(const TensorLeaf& leaf, Dtype answer_dtype) {
  std::shared_ptr<const TruthScales>& kept = scales_[{leaf.offset, answer_dtype}];
  if (kept == nullptr) {
    HONE_ASSIGN_OR_RETURN(TruthScales made,
                          plane_.PrepareScales(answer_dtype, leaf.dtype, Span(leaf), leaf.shape));
    kept = std::make_shared<const TruthScales>(std::move(made));
  }
  return kept;
}

bool HasValues(const TensorTree& tree) {
  return tree.device != nullptr || tree.size == 0 || tree.blob.bytes().size() >= tree.size;
}

namespace {

Status RequireSamePlace(const TensorTree& a, const TensorTree& b) {
  if (HasValues(a) && HasValues(b) && (a.device == nullptr) == (b.device == nullptr)) return Ok();
  return Error{ErrorKind::kInternal, "two trees that are compared do not lie in the same place"};
}

}  // namespace

Result<Distance> CompareLeaves(const TensorTree& answer, const TensorTree& truth, size_t leaf) {
  const TensorLeaf& got = answer.leaves[leaf];
  const TensorLeaf& want = truth.leaves[leaf];
  if (got.bytes == 0) return Distance();
  HONE_RETURN_IF_ERROR(RequireSamePlace(answer, truth));
  if (answer.device == nullptr)
    return CompareShaped(got.dtype, answer.Bytes(got), want.dtype, truth.Bytes(want), got.shape);
  if (!IsFloating(want.dtype) || !IsFloating(got.dtype)) return CompareNorms(answer, truth, leaf);
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const TruthScales> scales,
                        truth.device->Scales(want, got.dtype));
  return truth.device->plane().Compare(got.dtype, answer.device->Span(got), want.dtype,
                                       truth.device->Span(want), scales.get());
}

Result<Distance> CompareNorms(const TensorTree& answer, const TensorTree& truth, size_t leaf) {
  const TensorLeaf& got = answer.leaves[leaf];
  const TensorLeaf& want = truth.leaves[leaf];
  if (got.bytes == 0) return Distance();
  HONE_RETURN_IF_ERROR(RequireSamePlace(answer, truth));
  if (answer.device == nullptr) return Compare(got.dtype, answer.Bytes(got), want.dtype, truth.Bytes(want));
  return truth.device->plane().Compare(got.dtype, answer.device->Span(got), want.dtype,
                                       truth.device->Span(want));
}

Result<bool> SameValues(const TensorTree& a, const TensorTree& b, size_t leaf) {
  const TensorLeaf& one = a.leaves[leaf];
  const TensorLeaf& other = b.leaves[leaf];
  if (one.bytes != other.bytes) return false;
  if (one.bytes == 0) return true;
  HONE_RETURN_IF_ERROR(RequireSamePlace(a, b));
  if (a.device == nullptr) return SameBytes(a.Bytes(one), b.Bytes(other));
  return a.device->plane().Equal(a.device->Span(one), b.device->Span(other));
}

Result<size_t> CountFarValues(const TensorTree& answer, const TensorTree& truth, size_t leaf, double atol,
                              double rtol) {
  const TensorLeaf& got = answer.leaves[leaf];
  const TensorLeaf& want = truth.leaves[leaf];
  if (got.bytes == 0) return size_t{0};
  HONE_RETURN_IF_ERROR(RequireSamePlace(answer, truth));
  if (answer.device == nullptr)
    return CountFar(got.dtype, answer.Bytes(got), want.dtype, truth.Bytes(want), atol, rtol);
  HONE_ASSIGN_OR_RETURN(const ComparedSums sums,
                        truth.device->plane().CompareSums(got.dtype, answer.device->Span(got), want.dtype,
                                                          truth.device->Span(want), {nullptr, atol, rtol}));
  return static_cast<size_t>(sums.partial.far);
}

Result<std::vector<std::byte>> CopyToHost(const TensorTree& tree, size_t leaf) {
  const TensorLeaf& one = tree.leaves[leaf];
  if (tree.device == nullptr) {
    const std::span<const std::byte> bytes = tree.Bytes(one);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  std::vector<std::byte> bytes(one.bytes);
  HONE_RETURN_IF_ERROR(tree.device->plane().Download(bytes, tree.device->Span(one)));
  return bytes;
}

Result<TensorTree> ZerosLike(const TensorTree& tree) {
  TensorTree zeros = tree;
  if (tree.device == nullptr) {
    const std::vector<std::byte> bytes(tree.blob.bytes().size());
    HONE_ASSIGN_OR_RETURN(zeros.blob, SharedBlob::Of("zeros", bytes));
    HONE_RETURN_IF_ERROR(zeros.blob.Seal());
    return zeros;
  }
  DevicePlane& plane = tree.device->plane();
  HONE_ASSIGN_OR_RETURN(DeviceBuffer buffer, plane.Allocate(tree.device->buffer().bytes(), false));
  HONE_RETURN_IF_ERROR(plane.Fill(buffer.span(), 0));
  zeros.device = std::make_shared<DeviceValues>(plane, std::move(buffer));
  return zeros;
}

}  // namespace hone
