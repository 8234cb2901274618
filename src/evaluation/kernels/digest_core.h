// Computes a digest of a tensor in one pass at memory speed: a keyed hash of its bytes, which tells whether
// two tensors are equal, and four keyed random projections, which estimate their distance.
//
// Projection k is the sum of w_k[i] * x[i], with weights of +1 or -1 that depend on the key. For two tensors
// the expected value of the sum over k of (difference of projections)^2 is 4 * ||x - y||^2. The weights for
// the numbers in one 16-byte vector combine a random sign for every number, a 4 x 4 Hadamard matrix, and a
// random sign for every projection. This takes three additions per number instead of eight, and no periodic
// error pattern vanishes in all four.
//
// NaN and infinity count as 0 in the projections. A separate sum covers their number, kind and position.
#pragma once

#include "evaluation/kernels/portable.h"

namespace hone::kernels {

#ifndef HONE_DIGEST_VECTORS
#define HONE_DIGEST_VECTORS 4
#endif
constexpr unsigned kVectors = HONE_DIGEST_VECTORS;  // per thread and tile
constexpr uint64_t kTileVectors = static_cast<uint64_t>(kVectors) * kThreads;
constexpr uint64_t kVectorBytes = 16;

struct alignas(16) Vector {
  uint32_t word[4];
};

struct DigestArgs {
  const void* data;
  uint64_t bytes;
  uint64_t key;
};

struct DigestPartial {
  double projection[4] = {0, 0, 0, 0};
  double squares = 0;
  uint64_t hash = 0;
  uint64_t non_finite = 0;
  uint64_t non_finite_places = 0;
};

struct DigestWords {
  uint64_t words[sizeof(DigestPartial) / 8];
};

HONE_BOTH uint64_t DigestTiles(uint64_t bytes) {
  return (bytes + kTileVectors * kVectorBytes - 1) / (kTileVectors * kVectorBytes);
}

HONE_BOTH DigestPartial Merge(DigestPartial a, const DigestPartial& b) {
  HONE_UNROLL
  for (int k = 0; k < 4; ++k) a.projection[k] += b.projection[k];
  a.squares += b.squares;
  a.hash += b.hash;
  a.non_finite += b.non_finite;
  a.non_finite_places += b.non_finite_places;
  return a;
}

// Flips the sign of `value` if the top bit of `bits` is set.
HONE_BOTH double TurnSign(double value, uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __hiloint2double(static_cast<int>(__double2hiint(value) ^ (bits & 0x80000000U)),
                          __double2loint(value));
#else
  return BitCast<double>(BitCast<uint64_t>(value) ^ static_cast<uint64_t>(bits & 0x80000000U) << 32);
#endif
}

// The numbers of one vector that are not finite. Returned by value, because a pointer to the sums would force
// them out of registers.
struct SetAside {
  uint64_t count, places;
};

// Counts numbers that are not finite. `first` is the index of the vector's first number.
template <class Read>
HONE_APART SetAside FindNonFinite(Vector vector, uint64_t first, uint64_t key) {
  using T = typename Read::Stored;
  SetAside found = {0, 0};
  for (unsigned i = 0; i < kVectorBytes / sizeof(T); ++i) {
    T stored;
    memcpy(&stored, reinterpret_cast<const unsigned char*>(&vector) + i * sizeof(T), sizeof stored);
    const double x = Read()(stored);
    if (IsFinite(x)) continue;
    ++found.count;
    found.places += Mix64(Mix64(key + first + i) + (IsNan(x) ? 1 : x > 0 ? 2 : 3));
  }
  return found;
}

// Adds one vector. `random` holds 32 random bits for this vector.
template <class Read>
HONE_BOTH void Project(const Vector& vector, uint64_t index, uint32_t random, uint64_t key,
                       DigestPartial* sums) {
  using T = typename Read::Stored;
  constexpr int kCount = static_cast<int>(kVectorBytes / sizeof(T));
  static_assert(kCount == 2 || kCount == 4 || kCount == 8, "float64, float32 or a 16-bit float");
  T stored[kCount];
  memcpy(stored, &vector, sizeof stored);
  const Read read;
  double x[kCount];
  double squares = 0;
  HONE_UNROLL
  for (int i = 0; i < kCount; ++i) x[i] = read(stored[i]);
  HONE_UNROLL
  for (int i = 0; i < kCount; ++i) squares += x[i] * x[i];
  if (!IsFinite(squares)) {  // this also happens if finite numbers overflow; then there is nothing to count
    const SetAside aside = FindNonFinite<Read>(vector, index * kCount, key);
    sums->non_finite += aside.count;
    sums->non_finite_places += aside.places;
    squares = 0;
    HONE_UNROLL
    for (int i = 0; i < kCount; ++i) {
      if (!IsFinite(x[i])) x[i] = 0;
      squares += x[i] * x[i];
    }
  }
  sums->squares += squares;
  HONE_UNROLL
  for (int i = 0; i < kCount; ++i) x[i] = TurnSign(x[i], random << i);
  double z[4] = {x[0], x[1], x[2 % kCount], x[3 % kCount]};
  if (kCount == 8) {
    HONE_UNROLL
    for (int i = 0; i < 4; ++i) z[i] += x[(i + 4) % kCount];
  }
  double y[4];
  if (kCount == 2) {
    y[0] = y[2] = z[0] + z[1];
    y[1] = y[3] = z[0] - z[1];
  } else {
    const double a = z[0] + z[1], b = z[0] - z[1], c = z[2] + z[3], d = z[2] - z[3];
    y[0] = a + c;
    y[1] = b + d;
    y[2] = a - c;
    y[3] = b - d;
  }
  HONE_UNROLL
  for (int k = 0; k < 4; ++k) sums->projection[k] += TurnSign(y[k], random << (8 + k));
}

struct HashOnly {};

template <class Read>
struct Projector {
  static HONE_BOTH void Add(const Vector& vector, uint64_t index, uint32_t random, uint64_t key,
                            DigestPartial* sums) {
    Project<Read>(vector, index, random, key, sums);
  }
};
template <>
struct Projector<HashOnly> {
  static HONE_BOTH void Add(const Vector&, uint64_t, uint32_t, uint64_t, DigestPartial*) {}
};

// Loads vector `index`, with zeros past the end. The device reads the last vector whole and masks the bytes
// past the end. They are readable, because data is aligned to 16 bytes and mappings end on pages.
HONE_BOTH Vector LoadVector(const DigestArgs& args, uint64_t index) {
  Vector vector = {{0, 0, 0, 0}};
  if (index * kVectorBytes >= args.bytes) return vector;
  const uint64_t left = args.bytes - index * kVectorBytes;
#ifdef __CUDA_ARCH__
  vector = static_cast<const Vector*>(args.data)[index];
  if (left < kVectorBytes) {
    for (unsigned i = 0; i < 4; ++i) {
      const uint64_t valid = left > 4 * i ? left - 4 * i : 0;
      if (valid < 4) vector.word[i] &= (1U << (8 * valid)) - 1;
    }
  }
#else
  memcpy(&vector, static_cast<const unsigned char*>(args.data) + index * kVectorBytes,
         left < kVectorBytes ? left : kVectorBytes);
#endif
  return vector;
}

template <class Read>
HONE_BOTH void AddDigest(const DigestArgs& args, uint64_t tile, unsigned thread, DigestPartial* sums) {
  const uint64_t first = tile * kTileVectors + thread;
  Vector vectors[kVectors];
  if ((tile + 1) * kTileVectors * kVectorBytes <= args.bytes) {
    HONE_UNROLL
    for (unsigned j = 0; j < kVectors; ++j)
      vectors[j] = static_cast<const Vector*>(args.data)[first + static_cast<uint64_t>(j) * kThreads];
  } else {
    HONE_UNROLL
    for (unsigned j = 0; j < kVectors; ++j)
      vectors[j] = LoadVector(args, first + static_cast<uint64_t>(j) * kThreads);
  }
  const uint64_t of_tile = Mix64(args.key + (tile + 1) * 0x9E3779B97F4A7C15ULL);
  const uint32_t low = static_cast<uint32_t>(of_tile), high = static_cast<uint32_t>(of_tile >> 32);
  HONE_UNROLL
  for (unsigned j = 0; j < kVectors; ++j) {
    const uint64_t index = first + static_cast<uint64_t>(j) * kThreads;
    const uint32_t inside = Mix32(low + (j * kThreads + thread) * 0x9E3779B1U);
    const uint32_t random = inside ^ high;
    const uint32_t other = inside * 0x85EBCA6BU + high;
    const Vector& v = vectors[j];
    // NH, the universal hash of UMAC: a changed word changes the sum unless its partner plus a key is 0.
    sums->hash +=
        static_cast<uint64_t>(v.word[0] + random) * static_cast<uint64_t>(v.word[1] + other) +
        static_cast<uint64_t>(v.word[2] + inside) * static_cast<uint64_t>(v.word[3] + (other ^ low));
    Projector<Read>::Add(v, index, random, args.key, sums);
  }
}

}  // namespace hone::kernels
