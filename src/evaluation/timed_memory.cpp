#include "evaluation/timed_memory.h"

#include <algorithm>
#include <cstring>

#include "base/ids.h"
#include "evaluation/tree_values.h"

namespace hone {

Result<std::shared_ptr<TimedRegion>> TimedMemory::Make(const std::string& label, size_t bytes) {
  auto region = std::make_shared<TimedRegion>();
  region->bytes = bytes;
  if (on_device()) {
    HONE_ASSIGN_OR_RETURN(region->device, plane_->Allocate(std::max<size_t>(bytes, 1), true));
    HONE_ASSIGN_OR_RETURN(region->exported, region->device.Export());
    region->mapped = region->device.mapped_bytes();
  } else {
    HONE_ASSIGN_OR_RETURN(region->host, SharedRegion::Create(label, bytes));
    region->mapped = bytes;
  }
  return region;
}

Status TimedMemory::Fill(TimedRegion& region, unsigned char byte) {
  if (region.bytes == 0) return Ok();
  if (on_device()) return plane_->Fill(region.device.span(), byte);
  std::memset(region.host->bytes().data(), byte, region.bytes);
  return Ok();
}

Status TimedMemory::Put(TimedRegion& region, size_t offset, const TimedRegion& from, size_t base,
                        size_t bytes) {
  if (bytes == 0) return Ok();
  if (on_device())
    return plane_->Copy(region.device.span().Part(offset, bytes), from.device.span().Part(base, bytes));
  std::memcpy(region.host->bytes().subspan(offset, bytes).data(),
              from.HostBytes().subspan(base, bytes).data(), bytes);
  return Ok();
}

Result<bool> TimedMemory::Holds(const TimedRegion& region, size_t offset, const TimedRegion& other,
                                size_t base, size_t bytes) {
  if (bytes == 0) return true;
  if (on_device())
    return plane_->Equal(region.device.span().Part(offset, bytes), other.device.span().Part(base, bytes));
  return SameBytes(region.HostBytes().subspan(offset, bytes), other.HostBytes().subspan(base, bytes));
}

Result<KeptAnswers> TimedMemory::Keep(std::shared_ptr<TimedRegion> region) {
  KeptAnswers kept;
  kept.region = std::move(region);
  if (on_device()) {
    kept.key = RandomU64();
    HONE_ASSIGN_OR_RETURN(kept.digest, plane_->DigestOf(Dtype::kU8, kept.region->device.span(), kept.key));
  } else {
    kept.bytes.assign(kept.region->host->bytes().begin(), kept.region->host->bytes().end());
  }
  return kept;
}

Result<bool> TimedMemory::Unchanged(const KeptAnswers& kept) {
  if (!on_device()) return true;
  HONE_ASSIGN_OR_RETURN(const Digest now, plane_->DigestOf(Dtype::kU8, kept.region->device.span(), kept.key));
  return now.hash == kept.digest.hash;
}

Result<Distance> TimedMemory::Compare(Dtype dtype, AnswerPart got, AnswerPart want, size_t bytes,
                                      const std::vector<int64_t>& shape) {
  if (on_device())
    return plane_->Compare(dtype, got.kept.region->device.span().Part(got.offset, bytes), dtype,
                           want.kept.region->device.span().Part(want.offset, bytes));
  const auto answer = std::span(got.kept.bytes).subspan(got.offset, bytes);
  const auto expected = std::span(want.kept.bytes).subspan(want.offset, bytes);
  // Equal bytes have no difference, even NaN. Most answers of a right candidate are equal.
  if (SameBytes(answer, expected)) return Distance{.elements = bytes / DtypeSize(dtype)};
  return CompareShaped(dtype, answer, dtype, expected, shape);
}

Result<size_t> TimedMemory::CountFar(Dtype dtype, AnswerPart got, AnswerPart want, size_t bytes, double atol,
                                     double rtol) {
  if (bytes == 0) return size_t{0};
  if (!on_device())
    return hone::CountFar(dtype, std::span(got.kept.bytes).subspan(got.offset, bytes), dtype,
                          std::span(want.kept.bytes).subspan(want.offset, bytes), atol, rtol);
  HONE_ASSIGN_OR_RETURN(
      const ComparedSums sums,
      plane_->CompareSums(dtype, got.kept.region->device.span().Part(got.offset, bytes), dtype,
                          want.kept.region->device.span().Part(want.offset, bytes), {nullptr, atol, rtol}));
  return static_cast<size_t>(sums.partial.far);
}

Result<TensorTree> TimedMemory::TreeOf(AnswerPart answer, TensorTree form) {
  if (!on_device()) {
    const auto bytes = std::span(answer.kept.bytes).subspan(answer.offset, form.size);
    HONE_ASSIGN_OR_RETURN(form.blob, SharedBlob::Of("an answer", bytes));
    HONE_RETURN_IF_ERROR(form.blob.Seal());
    return form;
  }
  HONE_ASSIGN_OR_RETURN(DeviceBuffer buffer, plane_->Allocate(std::max<size_t>(form.size, 1), false));
  if (form.size > 0)
    HONE_RETURN_IF_ERROR(plane_->Copy(buffer.span().Part(0, form.size),
                                      answer.kept.region->device.span().Part(answer.offset, form.size)));
  form.device = std::make_shared<DeviceValues>(*plane_, std::move(buffer));
  return form;
}

}  // namespace hone
