#include "evaluation/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hone {

namespace {

template <class T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  double value = exponent == 0    ? std::ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                  : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

double Bf16ToDouble(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Calls visit(function element -> double, numbers per element) with the decoder of the dtype. Complex numbers
// are read as pairs.
template <class Visit>
auto WithDecoder(Dtype dtype, const std::byte* data, Visit visit) {
  switch (dtype) {
    case Dtype::kF16:
      return visit([data](size_t i) { return HalfToDouble(Load<uint16_t>(data + 2 * i)); });
    case Dtype::kBf16:
      return visit([data](size_t i) { return Bf16ToDouble(Load<uint16_t>(data + 2 * i)); });
    case Dtype::kF32:
    case Dtype::kC64:
      return visit([data](size_t i) { return static_cast<double>(Load<float>(data + 4 * i)); });
    case Dtype::kF64:
    case Dtype::kC128:
      return visit([data](size_t i) { return Load<double>(data + 8 * i); });
    case Dtype::kU8:
    case Dtype::kBool:
      return visit([data](size_t i) { return static_cast<double>(Load<uint8_t>(data + i)); });
    case Dtype::kI8:
      return visit([data](size_t i) { return static_cast<double>(Load<int8_t>(data + i)); });
    case Dtype::kI16:
      return visit([data](size_t i) { return static_cast<double>(Load<int16_t>(data + 2 * i)); });
    case Dtype::kI32:
      return visit([data](size_t i) { return static_cast<double>(Load<int32_t>(data + 4 * i)); });
    case Dtype::kI64:
      break;
  }
  return visit([data](size_t i) { return static_cast<double>(Load<int64_t>(data + 8 * i)); });
}

size_t CountPoison(Dtype dtype, std::span<const std::byte> bytes) {
  const size_t size = DtypeSize(dtype);
  if (size < 4 && !IsFloating(dtype)) return 0;  // in a small integer type, 127 is a common value
  unsigned char pattern[16];
  std::memset(pattern, kPoisonByte, sizeof pattern);
  size_t count = 0;
  for (size_t at = 0; at + size <= bytes.size(); at += size)
    if (std::memcmp(bytes.data() + at, pattern, size) == 0) ++count;
  return count;
}

}  // namespace

namespace {

// A double represents integers exactly only up to 2^53.
bool SameInteger(Dtype a_dtype, std::span<const std::byte> a, Dtype b_dtype, std::span<const std::byte> b,
                 size_t index) {
  if (a_dtype != Dtype::kI64 || b_dtype != Dtype::kI64) return true;
  return Load<int64_t>(a.data() + 8 * index) == Load<int64_t>(b.data() + 8 * index);
}

}  // namespace

double ElementAt(Dtype dtype, std::span<const std::byte> bytes, size_t index) {
  const size_t number = IsComplex(dtype) ? 2 * index : index;
  return WithDecoder(dtype, bytes.data(), [&](auto element) { return element(number); });
}

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

Distance Compare(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                 std::span<const std::byte> truth) {
  Distance distance;
  distance.elements = bytes.size() / DtypeSize(dtype);
  distance.poisoned = CountPoison(dtype, bytes);
  const size_t numbers = distance.elements * (IsComplex(dtype) ? 2 : 1);
  if (numbers == 0) return distance;
  // Divides values by the largest one before squaring, so that nothing over- or underflows.
  double largest = 0;
  WithDecoder(truth_dtype, truth.data(), [&](auto expected) {
    for (size_t i = 0; i < numbers; ++i) {
      const double size = std::abs(expected(i));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
  });
  const double scale = largest > 0 ? 1 / largest : 1;
  const bool exact = !IsFloating(dtype) && !IsFloating(truth_dtype);
  double difference_squared = 0, truth_squared = 0, worst = 0;
  size_t differing = 0;
  WithDecoder(dtype, bytes.data(), [&](auto element) {
    WithDecoder(truth_dtype, truth.data(), [&](auto expected) {
      for (size_t i = 0; i < numbers; ++i) {
        const double want = expected(i);
        const double got = element(i);
        if (!std::isfinite(want)) ++distance.truth_non_finite;
        if (!std::isfinite(got) || !std::isfinite(want)) {
          // If the float64 result itself is infinite or NaN, the candidate must return the same value.
          const bool same = (std::isnan(want) && std::isnan(got)) || want == got;
          if (!same) {
            if (distance.non_finite++ == 0) distance.worst_at = i;
            ++differing;
          }
          continue;
        }
        const double off = std::abs(got - want);
        if (off != 0 || (exact && !SameInteger(dtype, bytes, truth_dtype, truth, i))) ++differing;
        difference_squared += off * scale * (off * scale);
        truth_squared += want * scale * (want * scale);
        if (off > worst) {
          worst = off;
          if (distance.non_finite == 0) distance.worst_at = i;
        }
      }
    });
  });
  if (IsComplex(dtype)) distance.worst_at /= 2;
  if (!IsFloating(dtype)) {
    distance.relative = static_cast<double>(differing) / static_cast<double>(numbers);
    distance.worst = worst;
    return distance;
  }
  worst *= scale;
  const double norm = std::sqrt(truth_squared);
  const double rms = norm / std::sqrt(static_cast<double>(numbers));
  distance.relative = norm > 0 ? std::sqrt(difference_squared) / norm : std::sqrt(difference_squared);
  distance.worst = rms > 0 ? worst / rms : worst;
  distance.typical = rms * (largest > 0 ? largest : 1);
  distance.largest = largest;
  return distance;
}

namespace {

constexpr int kGapOfExponents = 10;        // giants are a thousand times larger than all other values
constexpr int kGiantExponent = 1023 + 13;  // 8192: smaller values are no mask, however small the rest is

}  // namespace

double GiantsFrom(const std::vector<uint64_t>& counts) {
  uint64_t total = 0, above = 0;
  for (const uint64_t count : counts) total += count;
  int empty = 0, lowest = 2047;
  for (int exponent = 2046; exponent >= 0; --exponent) {
    const uint64_t count = counts[static_cast<size_t>(exponent)];
    if (count == 0) {
      ++empty;
      continue;
    }
    // A few outliers near zero do not form a group.
    if (lowest < kGiantExponent && above > 0) return INFINITY;
    if (above > 0 && empty >= kGapOfExponents && 100 * (total - above) >= total)
      return std::ldexp(1.0, lowest - 1023);
    empty = 0;
    lowest = exponent;
    above += count;
  }
  return INFINITY;
}

namespace {

constexpr size_t kShortRow = 16;  // a shorter row gets no scale of its own, because it would be random
constexpr double kSmallestShare = 1e-4;

int ExponentOf(double value) {
  return static_cast<int>((std::bit_cast<uint64_t>(value) >> 52) & 0x7FF);
}

template <class Values>
double GiantsFrom(Values expected, size_t numbers) {
  std::vector<uint64_t> counts(2048);
  for (size_t i = 0; i < numbers; ++i) {
    const double value = expected(i);
    if (std::isfinite(value) && value != 0) ++counts[static_cast<size_t>(ExponentOf(value))];
  }
  return hone::GiantsFrom(counts);
}

struct Sums {
  std::vector<double> squares;
  std::vector<uint32_t> counts;

  explicit Sums(size_t groups) : squares(groups), counts(groups) {}
  void Add(size_t group, double value) {
    squares[group] += value * value;
    ++counts[group];
  }
  // The root mean square of a group, or `otherwise` if the group is too small.
  double Scale(size_t group, double otherwise) const {
    return counts[group] < kShortRow / 2 ? otherwise : std::sqrt(squares[group] / counts[group]);
  }
};

}  // namespace

Distance CompareShaped(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                       std::span<const std::byte> truth, const std::vector<int64_t>& shape) {
  Distance distance = Compare(dtype, bytes, truth_dtype, truth);
  if (!IsFloating(dtype) || distance.elements == 0 || shape.empty()) return distance;
  const size_t numbers = distance.elements * (IsComplex(dtype) ? 2 : 1);
  const size_t row_length = static_cast<size_t>(shape.back()) * (IsComplex(dtype) ? 2 : 1);
  const size_t channels = shape.size() > 1 ? static_cast<size_t>(shape[1]) : 1;
  const size_t inner = numbers / (static_cast<size_t>(shape[0]) * channels);
  const bool by_row = row_length >= kShortRow;
  const bool by_channel = channels > 1 && numbers / channels >= kShortRow;
  WithDecoder(truth_dtype, truth.data(), [&](auto expected) {
    const double giant = GiantsFrom(expected, numbers);
    Sums rows(by_row ? numbers / row_length : 0), columns(by_channel ? channels : 0), all(1);
    for (size_t i = 0; i < numbers; ++i) {
      const double value = expected(i);
      if (!std::isfinite(value) || std::abs(value) >= giant) continue;
      all.Add(0, value);
      if (by_row) rows.Add(i / row_length, value);
      if (by_channel) columns.Add(i / inner % channels, value);
    }
    const double typical = all.counts[0] > 0 ? std::sqrt(all.squares[0] / all.counts[0]) : 0;
    WithDecoder(dtype, bytes.data(), [&](auto element) {
      for (size_t i = 0; i < numbers; ++i) {
        const double want = expected(i), got = element(i);
        if (!std::isfinite(want) || !std::isfinite(got) || got == want) continue;
        double scale = typical;
        if (by_row) scale = std::min(scale, rows.Scale(i / row_length, typical));
        if (by_channel) scale = std::min(scale, columns.Scale(i / inner % channels, typical));
        scale = std::max({scale, kSmallestShare * typical, std::abs(want)});
        const double off = std::abs(got - want) / (scale > 0 ? scale : 1);
        if (off <= distance.scaled) continue;
        distance.scaled = off;
        distance.scaled_at = IsComplex(dtype) ? i / 2 : i;
      }
    });
  });
  return distance;
}

size_t CountFar(Dtype dtype, std::span<const std::byte> bytes, Dtype truth_dtype,
                std::span<const std::byte> truth, double atol, double rtol) {
  const size_t numbers = bytes.size() / DtypeSize(dtype) * (IsComplex(dtype) ? 2 : 1);
  size_t far = 0;
  WithDecoder(dtype, bytes.data(), [&](auto element) {
    WithDecoder(truth_dtype, truth.data(), [&](auto expected) {
      for (size_t i = 0; i < numbers; ++i) {
        const double want = expected(i), got = element(i);
        const bool same = want == got || (std::isnan(want) && std::isnan(got));
        far += same || std::abs(got - want) <= atol + rtol * std::abs(want) ? 0 : 1;
      }
    });
  });
  return far;
}

}  // namespace hone
