#include "evaluation/timed_memory.h"

#include <algorithm>
#include <cstring>

#include "base/ids.h"

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

Status TimedMemory::Put(TimedRegion& region, size_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return Ok();
  if (on_device()) return plane_->Upload(region.device.span().Part(offset, bytes.size()), bytes);
  std::memcpy(region.host->bytes().subspan(offset, bytes.size()).data(), bytes.data(), bytes.size());
  return Ok();
}

Result<bool> TimedMemory::Holds(const TimedRegion& region, size_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return true;
  if (!on_device()) return SameBytes(bytes, region.host->bytes().subspan(offset, bytes.size()));
  std::vector<std::byte> there(bytes.size());
  HONE_RETURN_IF_ERROR(plane_->Download(there, region.device.span().Part(offset, bytes.size())));
  return SameBytes(bytes, there);
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

Result<Distance> TimedMemory::Compare(Dtype dtype, const KeptAnswers& got, const KeptAnswers& want,
                                      size_t offset, size_t bytes, const std::vector<int64_t>& shape) {
  if (on_device())
    return plane_->Compare(dtype, got.region->device.span().Part(offset, bytes), dtype,
                           want.region->device.span().Part(offset, bytes));
  const auto answer = std::span(got.bytes).subspan(offset, bytes);
  const auto expected = std::span(want.bytes).subspan(offset, bytes);
  // The same bytes differ in nothing, NaN included; most answers of a right candidate are of this kind.
  if (SameBytes(answer, expected)) return Distance{.elements = bytes / DtypeSize(dtype)};
  return CompareShaped(dtype, answer, dtype, expected, shape);
}

}  // namespace hone
