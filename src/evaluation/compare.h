// Computes how far an output is from the float64 result. The parent does this on raw bytes, in double
// precision, for every element.
#pragma once

#include "evaluation/tensor_tree.h"

namespace hone {

// Memory that was never written holds this byte (the worker fills it).
inline constexpr unsigned char kPoisonByte = 0x7F;

struct Distance {
  double relative = 0;    // ||y - t|| / ||t||; absolute when ||t|| is 0
  double worst = 0;       // max |y - t| / rms(t); absolute when rms(t) is 0
  size_t non_finite = 0;  // NaN or infinity where the truth is finite
  size_t poisoned = 0;    // elements that still hold the poison
  size_t elements = 0;
  size_t worst_at = 0;  // flat index of the worst element
  // max |y - t| over the scale of the element's own row and channel. A mask of -1e9 or one large channel
  // makes the norms above blind for the rest; this one is not. 0 where no shape was given.
  double scaled = 0;
  size_t scaled_at = 0;
  double typical = 0;           // rms(t)
  double largest = 0;           // max |t|
  size_t truth_non_finite = 0;  // NaN or infinity in the truth itself
};

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b);

// Both leaves must have the same number of elements. Integers and booleans count as different or equal:
// relative is then the fraction that differs.
Distance Compare(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                 std::span<const std::byte> truth);
// The same, with `scaled`.
Distance CompareShaped(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                       std::span<const std::byte> truth, const std::vector<int64_t>& shape);

// Elements with |y - t| > atol + rtol * |t|, and those that are not finite where t is.
size_t CountFar(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                std::span<const std::byte> truth, double atol, double rtol);

// Values at or above this are giants: a group apart, such as a mask of -1e9, with nothing of a size between
// them and the rest. `counts`: how many finite values other than zero have each of the 2048 exponents of a
// double.
double GiantsFrom(const std::vector<uint64_t>& counts);

// Element `index` as a number (the real part of a complex one).
double ElementAt(Dtype dtype, std::span<const std::byte> bytes, size_t index);

}  // namespace hone
