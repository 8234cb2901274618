// Code shared by the kernels and their host versions: how work is divided, and how numbers are read.
//
// All computation is in these headers, which compile for both sides; compare.cu adds only the launches. The
// host runs the same functions in the same order, thread by thread. Both sides therefore give the same bits,
// and tests without a GPU check the code that the GPU runs. The division of work depends only on the data's
// size, never on the GPU, so results are reproducible.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define HONE_BOTH __host__ __device__ __forceinline__
#define HONE_APART __host__ __device__ __noinline__
#define HONE_UNROLL _Pragma("unroll")
#else
#define HONE_BOTH inline
#define HONE_APART inline
#define HONE_UNROLL
#endif

namespace hone::kernels {

constexpr unsigned kThreads = 256;
// 16 blocks for each of an H200's multiprocessors.
constexpr unsigned kMaxBlocks = 2112;

HONE_BOTH unsigned BlocksFor(uint64_t tiles) {
  return tiles < kMaxBlocks ? static_cast<unsigned>(tiles) : kMaxBlocks;
}

// How one number is stored. A complex number is two numbers; a boolean is a byte.
enum Number : int { kF16, kBf16, kF32, kF64, kU8, kI8, kI16, kI32, kI64 };

HONE_BOTH unsigned NumberSize(int number) {
  switch (number) {
    case kU8:
    case kI8:
      return 1;
    case kF16:
    case kBf16:
    case kI16:
      return 2;
    case kF32:
    case kI32:
      return 4;
    default:
      return 8;
  }
}

template <class To, class From>
HONE_BOTH To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

HONE_BOTH bool IsFinite(double value) {
  return (BitCast<uint64_t>(value) >> 52 & 0x7FF) != 0x7FF;
}

HONE_BOTH bool IsNan(double value) {
  return value != value;
}

HONE_BOTH double Absolute(double value) {
  return BitCast<double>(BitCast<uint64_t>(value) & 0x7FFFFFFFFFFFFFFFULL);
}

struct ReadF16 {
  using Stored = uint16_t;
  HONE_BOTH double operator()(uint16_t bits) const {
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    // Moves exponent and mantissa to their positions in a float. The product corrects the exponent's bias,
    // also for subnormal numbers.
    float value = BitCast<float>(static_cast<uint32_t>(bits & 0x7FFF) << 13) * 0x1p112F;
    if (value >= 65536.0F) value = BitCast<float>(BitCast<uint32_t>(value) | 0x7F800000U);
    return BitCast<float>(BitCast<uint32_t>(value) | static_cast<uint32_t>(bits & 0x8000) << 16);
#endif
  }
};

struct ReadBf16 {
  using Stored = uint16_t;
  HONE_BOTH double operator()(uint16_t bits) const {
    return BitCast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

template <class T>
struct ReadAs {
  using Stored = T;
  HONE_BOTH double operator()(T value) const { return static_cast<double>(value); }
};

// The finaliser of splitmix64: every output bit depends on every input bit.
HONE_BOTH uint64_t Mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ x >> 31;
}

HONE_BOTH uint32_t Mix32(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  x ^= x >> 13;
  x *= 0xC2B2AE35U;
  return x ^ x >> 16;
}

}  // namespace hone::kernels
