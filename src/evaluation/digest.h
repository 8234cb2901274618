// A short description of a tensor's values: an exact hash of its bytes, and projections that say how far two
// tensors are apart. It stands in for an answer that memory cannot hold until it is compared. Hashes and
// weights depend on a secret key, so a process that does not know it cannot aim at a digest.
//
// The parent computes digests, on the device (device_kernels.h) or here; both give the same bits. How it is
// computed: kernels/digest_core.h.
#pragma once

#include <array>

#include "evaluation/kernels/digest_core.h"
#include "evaluation/tensor_tree.h"

namespace hone {

struct Digest {
  uint64_t hash = 0;  // equal bytes have equal hashes; others collide with a chance of about 2^-32
  std::array<double, 4> projections = {};  // zero for integers and booleans, whose digest is the hash
  double squares = 0;                      // sum of squares of finite numbers
  size_t non_finite = 0;                   // numbers (a complex element has two)
  uint64_t non_finite_places = 0;          // depends on where they are and of which kind
  size_t bytes = 0;
  bool projected = false;
};

// On the host. Data is aligned to 16 bytes.
Digest DigestOf(Dtype dtype, std::span<const std::byte> bytes, uint64_t key);

inline bool SameBytes(const Digest& a, const Digest& b) {
  return a.bytes == b.bytes && a.hash == b.hash;
}

// An estimate of ||got - want|| / ||want||. The square of the estimate divided by the true square is
// distributed about as chi-squared over its four degrees of freedom: the estimate is under a tenth of the
// true value with a chance of 2e-4 and over three times the true value with a chance of 3e-7. Infinity when
// the digests cannot belong to close tensors: other sizes, other places of NaN and infinity, integers that
// differ, sums that overflowed. Absolute where want is 0.
double EstimateDifference(const Digest& got, const Digest& want);

// From a kernel's sums.
Digest FinishDigest(const kernels::DigestPartial& sums, Dtype dtype, size_t bytes);

}  // namespace hone
