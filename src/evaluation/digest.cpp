#include "evaluation/digest.h"

#include <cmath>
#include <limits>

#include "evaluation/kernels/host_twin.h"

namespace hone {

namespace {

template <class Read>
kernels::DigestPartial Run(const kernels::DigestArgs& args) {
  return kernels::RunOnHost<kernels::DigestPartial>(
      kernels::DigestTiles(args.bytes),
      [&](uint64_t tile, unsigned thread, kernels::DigestPartial* sums) {
        kernels::AddDigest<Read>(args, tile, thread, sums);
      },
      [](const kernels::DigestPartial& a, const kernels::DigestPartial& b) { return Merge(a, b); });
}

}  // namespace

Digest DigestOf(Dtype dtype, std::span<const std::byte> bytes, uint64_t key) {
  const kernels::DigestArgs args = {bytes.data(), bytes.size(), key};
  switch (dtype) {
    case Dtype::kF16:
      return FinishDigest(Run<kernels::ReadF16>(args), dtype, bytes.size());
    case Dtype::kBf16:
      return FinishDigest(Run<kernels::ReadBf16>(args), dtype, bytes.size());
    case Dtype::kF32:
    case Dtype::kC64:
      return FinishDigest(Run<kernels::ReadAs<float>>(args), dtype, bytes.size());
    case Dtype::kF64:
    case Dtype::kC128:
      return FinishDigest(Run<kernels::ReadAs<double>>(args), dtype, bytes.size());
    default:
      return FinishDigest(Run<kernels::HashOnly>(args), dtype, bytes.size());
  }
}

Digest FinishDigest(const kernels::DigestPartial& sums, Dtype dtype, size_t bytes) {
  Digest digest;
  digest.hash = kernels::Mix64(sums.hash + bytes);
  for (size_t k = 0; k < digest.projections.size(); ++k) digest.projections[k] = sums.projection[k];
  digest.squares = sums.squares;
  digest.non_finite = sums.non_finite;
  digest.non_finite_places = sums.non_finite_places;
  digest.bytes = bytes;
  digest.projected = IsFloating(dtype);
  return digest;
}

double EstimateDifference(const Digest& got, const Digest& want) {
  if (SameBytes(got, want)) return 0;
  constexpr double kApart = std::numeric_limits<double>::infinity();
  if (got.bytes != want.bytes || !got.projected || !want.projected) return kApart;
  if (got.non_finite != want.non_finite || got.non_finite_places != want.non_finite_places) return kApart;
  const double norm = std::sqrt(want.squares);
  const double scale = norm > 0 ? 1 / norm : 1;
  double squares = 0;
  for (size_t k = 0; k < want.projections.size(); ++k) {
    const double off = (got.projections[k] - want.projections[k]) * scale;
    squares += off * off;
  }
  const double estimate = std::sqrt(squares / static_cast<double>(want.projections.size()));
  return std::isfinite(estimate) && std::isfinite(norm) ? estimate : kApart;
}

}  // namespace hone
