// A short summary of a tensor's values: a hash of its bytes, and projections that estimate the distance of
// two tensors. It replaces an answer that memory cannot hold until it is compared. Hashes and weights depend
// on a secret key, so a process without the key cannot forge a digest.
//
// The parent computes digests on the device (device_kernels.h) or here, with the same bits. The algorithm is
// in kernels/digest_core.h.
#pragma once

#include <array>

#include "evaluation/kernels/digest_core.h"
#include "evaluation/tensor_tree.h"

namespace hone {

struct Digest {
  uint64_t hash = 0;  // equal bytes have equal hashes; other collisions have probability about 2^-32
  std::array<double, 4> projections = {};  // zero for integers and booleans, for which the hash is enough
  double squares = 0;                      // sum of squares of finite numbers
  size_t non_finite = 0;                   // numbers (a complex element has two)
  uint64_t non_finite_places = 0;          // depends on their positions and kinds
  size_t bytes = 0;
  bool projected = false;
};

// Computes a digest on the host. Data is aligned to 16 bytes.
Digest DigestOf(Dtype dtype, std::span<const std::byte> bytes, uint64_t key);

inline bool SameBytes(const Digest& a, const Digest& b) {
  return a.bytes == b.bytes && a.hash == b.hash;
}

// An estimate of ||got - want|| / ||want||. The squared estimate divided by the true square is distributed
// roughly as chi-squared over its four degrees of freedom: the estimate is under a tenth of the true value
// with probability 2e-4 and over three times the true value with probability 3e-7. Infinity if the digests
// cannot belong to close tensors: different sizes, different positions of NaN and infinity, different
// integers, or overflowed sums. Absolute if want is 0.
double EstimateDifference(const Digest& got, const Digest& want);

// Converts a kernel's sums to a digest.
Digest FinishDigest(const kernels::DigestPartial& sums, Dtype dtype, size_t bytes);

}  // namespace hone
