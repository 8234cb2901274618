// Computes the distance of an output from the float64 result. The parent does this on raw bytes, in double
// precision, for every element.
#pragma once

#include "evaluation/tensor_tree.h"

namespace hone {

// The worker fills output memory with this byte, which marks memory that was never written.
inline constexpr unsigned char kPoisonByte = 0x7F;

struct Distance {
  double relative = 0;    // ||y - t|| / ||t||; absolute if ||t|| is 0
  double worst = 0;       // max |y - t| / rms(t); absolute if rms(t) is 0
  size_t non_finite = 0;  // elements that are NaN or infinite although the truth is finite
  size_t poisoned = 0;    // elements that still hold the poison byte
  size_t elements = 0;
  size_t worst_at = 0;  // flat index of the worst element
  // max |y - t| relative to the scale of the element's own row and channel. A mask of -1e9 or one large
  // channel hides errors elsewhere from the norms above, but not from this value. 0 if no shape was given.
  double scaled = 0;
  size_t scaled_at = 0;
  double typical = 0;           // rms(t)
  double largest = 0;           // max |t|
  size_t truth_non_finite = 0;  // NaN or infinite elements in the truth itself
};

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b);

// Both leaves must have the same number of elements. Integers and booleans are compared for equality, and
// relative is the fraction that differs.
Distance Compare(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                 std::span<const std::byte> truth);
// The same, and also sets `scaled`.
Distance CompareShaped(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                       std::span<const std::byte> truth, const std::vector<int64_t>& shape);

// Counts elements with |y - t| > atol + rtol * |t|, and those that are not finite although t is.
size_t CountFar(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                std::span<const std::byte> truth, double atol, double rtol);

// The threshold from which values are giants: a separate group, such as a mask of -1e9, far above all other
// values. `counts` holds the number of finite nonzero values for each of the 2048 exponents of a double.
double GiantsFrom(const std::vector<uint64_t>& counts);

// Returns element `index` as a number (the real part of a complex one).
double ElementAt(Dtype dtype, std::span<const std::byte> bytes, size_t index);

}  // namespace hone
