// Compares numbers with a truth, as evaluation/compare.h does, in two passes: first the largest |truth|, then
// the sums.
//
// Threads read pairs of neighbouring numbers, so that loads of every dtype are wide and coalesced and one
// thread holds both parts of a complex number. A pass over rows (rms of each row, worst difference relative
// to it) needs another division of work but the same ReadTile.
#pragma once

#include "evaluation/kernels/portable.h"

namespace hone::kernels {

constexpr unsigned kPairs = 4;  // per thread and tile
constexpr uint64_t kTileNumbers = 2ULL * kPairs * kThreads;

// Divides by a number that is known before the launch, with a multiplication and at most one correction.
struct Divisor {
  uint64_t value;
  uint64_t reciprocal;
};

HONE_BOTH Divisor MakeDivisor(uint64_t value) {
  // This is floor(2^64 / value), except for 1, where the correction step compensates.
  return {value, value <= 1 ? UINT64_MAX : UINT64_MAX / value + (UINT64_MAX % value == value - 1 ? 1 : 0)};
}

HONE_BOTH uint64_t Divide(uint64_t number, const Divisor& by) {
#ifdef __CUDA_ARCH__
  uint64_t quotient = __umul64hi(number, by.reciprocal);
#else
  uint64_t quotient = static_cast<uint64_t>(static_cast<unsigned __int128>(number) * by.reciprocal >> 64);
#endif
  return number - quotient * by.value >= by.value ? quotient + 1 : quotient;
}

struct CompareArgs {
  const void* got;
  const void* truth;
  uint64_t numbers;
  int got_number;
  int truth_number;
  int poison_numbers;  // 0: poison is not counted; 1 or 2: numbers per element
  // Parameters of `far`, which is not counted if atol is negative.
  double atol, rtol;
  // Parameters of `scaled`, which is not computed if typical is null. Other pointers are null if a view has
  // no such groups.
  const double* typical;
  const double* row_scales;
  const double* channel_scales;
  Divisor row_length, inner, channels;
};

struct ComparePartial {
  double difference_squared = 0;  // sum over differences divided by the largest |truth|
  double truth_squared = 0;       // sum over truths divided by the largest |truth|
  double worst = 0;               // largest |got - truth|
  uint64_t worst_at = UINT64_MAX;
  uint64_t non_finite = 0;  // NaN or infinity on one side only, or of different kinds
  uint64_t first_non_finite = UINT64_MAX;
  uint64_t poisoned = 0;
  uint64_t differing = 0;
  double scaled = 0;  // largest |got - truth| relative to the scale of its row and channel
  uint64_t scaled_at = UINT64_MAX;
  uint64_t truth_non_finite = 0;
  uint64_t far = 0;  // |got - truth| > atol + rtol * |truth|
};

HONE_BOTH uint64_t CompareTiles(uint64_t numbers) {
  return (numbers + kTileNumbers - 1) / kTileNumbers;
}

// The memory layout of a partial result, because a kernel's shared memory cannot have constructors.
struct CompareWords {
  uint64_t words[sizeof(ComparePartial) / 8];
};

HONE_BOTH ComparePartial Merge(ComparePartial a, const ComparePartial& b) {
  a.difference_squared += b.difference_squared;
  a.truth_squared += b.truth_squared;
  if (b.worst > a.worst || (b.worst == a.worst && b.worst_at < a.worst_at)) {
    a.worst = b.worst;
    a.worst_at = b.worst_at;
  }
  a.non_finite += b.non_finite;
  if (b.first_non_finite < a.first_non_finite) a.first_non_finite = b.first_non_finite;
  a.poisoned += b.poisoned;
  a.differing += b.differing;
  if (b.scaled > a.scaled || (b.scaled == a.scaled && b.scaled_at < a.scaled_at)) {
    a.scaled = b.scaled;
    a.scaled_at = b.scaled_at;
  }
  a.truth_non_finite += b.truth_non_finite;
  a.far += b.far;
  return a;
}

HONE_BOTH double MergeLargest(double a, double b) {
  return b > a ? b : a;
}

// The numbers of one thread in one tile. Pair j starts at number first + j * 2 * kThreads.
struct TileNumbers {
  double value[2 * kPairs];
  unsigned poisoned;
};

template <class T>
struct alignas(2 * sizeof(T)) Two {
  T first, second;
};

template <class Read>
HONE_BOTH void ReadPairs(const void* data, uint64_t first, uint64_t numbers, int poison_numbers,
                         TileNumbers* out) {
  using T = typename Read::Stored;
  T poison;
  memset(&poison, 0x7F, sizeof poison);  // kPoisonByte
  const T* const stored = static_cast<const T*>(data);
  const Read read;
  Two<T> pairs[kPairs];
#ifdef __CUDA_ARCH__
  const bool whole = first + 2ULL * kThreads * (kPairs - 1) + 1 < numbers;
#endif
  HONE_UNROLL
  for (unsigned j = 0; j < kPairs; ++j) {
    const uint64_t at = first + 2ULL * kThreads * j;
#ifdef __CUDA_ARCH__
    // A pair that begins inside also ends inside, except for one number, which the mapping's last page
    // covers.
    pairs[j] = *reinterpret_cast<const Two<T>*>(stored + (whole || at < numbers ? at : 0));
    if (!whole && at >= numbers) pairs[j].first = T{};
    if (!whole && at + 1 >= numbers) pairs[j].second = T{};
#else
    pairs[j].first = at < numbers ? stored[at] : T{};
    pairs[j].second = at + 1 < numbers ? stored[at + 1] : T{};
#endif
  }
  out->poisoned = 0;
  HONE_UNROLL
  for (unsigned j = 0; j < kPairs; ++j) {
    out->value[2 * j] = read(pairs[j].first);
    out->value[2 * j + 1] = read(pairs[j].second);
    // Compares bits, because NaN equals nothing. Only float16's poison is NaN, and it is stored as an integer
    // here.
    const bool first_poisoned = pairs[j].first == poison;
    const bool second_poisoned = pairs[j].second == poison;
    if (poison_numbers == 1) out->poisoned += first_poisoned + second_poisoned;
    if (poison_numbers == 2) out->poisoned += first_poisoned && second_poisoned;
  }
}

HONE_BOTH void ReadTile(int number, const void* data, uint64_t first, uint64_t numbers, int poison_numbers,
                        TileNumbers* out) {
  switch (number) {
    case kF16:
      return ReadPairs<ReadF16>(data, first, numbers, poison_numbers, out);
    case kBf16:
      return ReadPairs<ReadBf16>(data, first, numbers, poison_numbers, out);
    case kF32:
      return ReadPairs<ReadAs<float>>(data, first, numbers, poison_numbers, out);
    case kF64:
      return ReadPairs<ReadAs<double>>(data, first, numbers, poison_numbers, out);
    case kU8:
      return ReadPairs<ReadAs<uint8_t>>(data, first, numbers, poison_numbers, out);
    case kI8:
      return ReadPairs<ReadAs<int8_t>>(data, first, numbers, poison_numbers, out);
    case kI16:
      return ReadPairs<ReadAs<int16_t>>(data, first, numbers, poison_numbers, out);
    case kI32:
      return ReadPairs<ReadAs<int32_t>>(data, first, numbers, poison_numbers, out);
    default:
      return ReadPairs<ReadAs<int64_t>>(data, first, numbers, poison_numbers, out);
  }
}

HONE_BOTH void AddLargest(const CompareArgs& args, uint64_t tile, unsigned thread, double* largest) {
  TileNumbers truth;
  ReadTile(args.truth_number, args.truth, tile * kTileNumbers + 2ULL * thread, args.numbers, 0, &truth);
  HONE_UNROLL
  for (double value : truth.value) {
    const double size = Absolute(value);
    if (size > *largest && IsFinite(size)) *largest = size;
  }
}

// Divides values by the largest |truth| before squaring, so that nothing over- or underflows.
HONE_BOTH double ScaleFor(double largest) {
  return largest > 0 ? 1 / largest : 1;
}

// The row and channel of a number.
struct Place {
  uint64_t row = 0, in_row = 0, channel = 0, in_inner = 0;
};

HONE_BOTH Place PlaceOf(const CompareArgs& args, uint64_t at) {
  Place place;
  if (args.row_scales != nullptr) {
    place.row = Divide(at, args.row_length);
    place.in_row = at - place.row * args.row_length.value;
  }
  if (args.channel_scales != nullptr) {
    const uint64_t run = Divide(at, args.inner);
    place.in_inner = at - run * args.inner.value;
    place.channel = run - Divide(run, args.channels) * args.channels.value;
  }
  return place;
}

HONE_BOTH void Advance(const CompareArgs& args, Place* place) {
  if (++place->in_row == args.row_length.value) ++place->row;
  if (++place->in_inner == args.inner.value)
    place->channel = place->channel + 1 == args.channels.value ? 0 : place->channel + 1;
}

HONE_BOTH void AddScaled(const CompareArgs& args, double typical, const Place& place, double off, double want,
                         uint64_t at, ComparePartial* sums) {
  double scale = typical;
  if (args.row_scales != nullptr && args.row_scales[place.row] < scale) scale = args.row_scales[place.row];
  if (args.channel_scales != nullptr && args.channel_scales[place.channel] < scale)
    scale = args.channel_scales[place.channel];
  const double least = 1e-4 * typical;  // kSmallestShare
  if (scale < least) scale = least;
  if (scale < Absolute(want)) scale = Absolute(want);
  if (scale == 0) scale = 1;
  // A division is expensive, and most differences are not the worst one.
  if (!(off > sums->scaled * scale)) return;
  const double scaled = off / scale;
  if (scaled > sums->scaled) {
    sums->scaled = scaled;
    sums->scaled_at = at;
  }
}

HONE_BOTH void AddCompared(const CompareArgs& args, double scale, double typical, uint64_t tile,
                           unsigned thread, ComparePartial* sums) {
  const bool whole_integers = args.got_number == kI64 && args.truth_number == kI64;
  const uint64_t first = tile * kTileNumbers + 2ULL * thread;
  TileNumbers got, truth;
  ReadTile(args.got_number, args.got, first, args.numbers, args.poison_numbers, &got);
  ReadTile(args.truth_number, args.truth, first, args.numbers, 0, &truth);
  sums->poisoned += got.poisoned;
  Place place;
  HONE_UNROLL
  for (unsigned i = 0; i < 2 * kPairs; ++i) {
    // Both are 0 past the end, which adds nothing.
    const uint64_t at = first + 2ULL * kThreads * (i / 2) + i % 2;
    if (args.typical != nullptr) {
      if (i % 2 == 0)
        place = PlaceOf(args, at < args.numbers ? at : 0);
      else
        Advance(args, &place);
    }
    const double is = got.value[i], want = truth.value[i];
    sums->truth_non_finite += !IsFinite(want);
    if (args.atol >= 0) {
      const bool same = want == is || (IsNan(want) && IsNan(is));
      sums->far += !(same || Absolute(is - want) <= args.atol + args.rtol * Absolute(want));
    }
    if (!IsFinite(is) || !IsFinite(want)) {
      // If the truth itself is infinite or NaN, the same value is right.
      const bool same = (IsNan(want) && IsNan(is)) || want == is;
      if (!same) {
        ++sums->non_finite;
        ++sums->differing;
        if (at < sums->first_non_finite) sums->first_non_finite = at;
      }
      continue;
    }
    const double off = Absolute(is - want);
    bool differs = off != 0;
    // A double represents integers exactly only up to 2^53.
    if (whole_integers && !differs && at < args.numbers)
      differs = static_cast<const int64_t*>(args.got)[at] != static_cast<const int64_t*>(args.truth)[at];
    sums->differing += differs;
    const double scaled = off * scale, scaled_truth = want * scale;
    sums->difference_squared += scaled * scaled;
    sums->truth_squared += scaled_truth * scaled_truth;
    if (off > sums->worst) {
      sums->worst = off;
      sums->worst_at = at;
    }
    if (args.typical != nullptr && differs) AddScaled(args, typical, place, off, want, at, sums);
  }
}

}  // namespace hone::kernels
