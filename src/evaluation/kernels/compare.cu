// The launches of the parent's kernels. What they compute is in compare_core.h and digest_core.h, which the
// host compiles too. build_ptx.sh turns this file into compare.ptx, which is committed and carried in the
// binary.
#include "evaluation/kernels/compare_core.h"
#include "evaluation/kernels/digest_core.h"
#include "evaluation/kernels/scales_core.h"

namespace hone::kernels {

// Reduces the values of a block's threads in a fixed order; thread 0 returns the whole.
template <class Value, class Words, class Join>
__device__ __forceinline__ Value ReduceBlock(const Value& mine, Join join) {
  static_assert(sizeof(Value) == sizeof(Words), "a value is words");
  __shared__ Words shared[kThreads];
  const unsigned thread = threadIdx.x;
  memcpy(&shared[thread], &mine, sizeof mine);
  __syncthreads();
#pragma unroll 1
  for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
    if (thread < stride) {
      Value a, b;
      memcpy(&a, &shared[thread], sizeof a);
      memcpy(&b, &shared[thread + stride], sizeof b);
      a = join(a, b);
      memcpy(&shared[thread], &a, sizeof a);
    }
    __syncthreads();
  }
  Value whole;
  memcpy(&whole, &shared[0], sizeof whole);
  return whole;
}

struct JoinLargest {
  __device__ double operator()(double a, double b) const { return MergeLargest(a, b); }
};
template <class Partial>
struct JoinPartials {
  __device__ Partial operator()(const Partial& a, const Partial& b) const { return Merge(a, b); }
};

// The partial results of `count` blocks become one, by a single block.
template <class Value, class Words, class Join>
__device__ __forceinline__ void MergeAll(const Value* partials, unsigned count, Value* result, Join join) {
  Value mine{};
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < count; i += kThreads) mine = join(mine, partials[i]);
  const Value whole = ReduceBlock<Value, Words>(mine, join);
  if (threadIdx.x == 0) *result = whole;
}

extern "C" {

__global__ void __launch_bounds__(kThreads) hone_largest(CompareArgs args, double* partials) {
  double mine = 0;
  const uint64_t tiles = CompareTiles(args.numbers);
  for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    AddLargest(args, tile, threadIdx.x, &mine);
  const double whole = ReduceBlock<double, uint64_t>(mine, JoinLargest());
  if (threadIdx.x == 0) partials[blockIdx.x] = whole;
}

__global__ void __launch_bounds__(kThreads)
    hone_merge_largest(const double* partials, unsigned count, double* result) {
  MergeAll<double, uint64_t>(partials, count, result, JoinLargest());
}

__global__ void __launch_bounds__(kThreads)
    hone_compare(CompareArgs args, const double* largest, ComparePartial* partials) {
  ComparePartial mine;
  const double scale = ScaleFor(*largest), typical = args.typical != nullptr ? *args.typical : 0;
  const uint64_t tiles = CompareTiles(args.numbers);
  for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    AddCompared(args, scale, typical, tile, threadIdx.x, &mine);
  const ComparePartial whole =
      ReduceBlock<ComparePartial, CompareWords>(mine, JoinPartials<ComparePartial>());
  if (threadIdx.x == 0) partials[blockIdx.x] = whole;
}

__global__ void __launch_bounds__(kThreads)
    hone_merge_compare(const ComparePartial* partials, unsigned count, ComparePartial* result) {
  MergeAll<ComparePartial, CompareWords>(partials, count, result, JoinPartials<ComparePartial>());
}

// How many numbers of the truth have each exponent; the caller has set the counts to 0. Sums of integers do
// not depend on the order of adding.
__global__ void __launch_bounds__(kThreads) hone_exponents(CompareArgs args, unsigned long long* counts) {
  __shared__ unsigned mine[kExponents];
  for (unsigned i = threadIdx.x; i < kExponents; i += kThreads) mine[i] = 0;
  __syncthreads();
  const uint64_t tiles = CompareTiles(args.numbers);
  for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    TileNumbers truth;
    ReadTile(args.truth_number, args.truth, tile * kTileNumbers + 2ULL * threadIdx.x, args.numbers, 0,
             &truth);
#pragma unroll
    for (double value : truth.value) {
      const unsigned exponent = ExponentOf(value);
      if (exponent < kExponents) atomicAdd(&mine[exponent], 1U);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kExponents; i += kThreads)
    if (mine[i] != 0) atomicAdd(&counts[i], static_cast<unsigned long long>(mine[i]));
}

__device__ __forceinline__ GroupPartial ReduceLanes(GroupPartial sum, unsigned lanes) {
  for (unsigned stride = kLanes / 2; stride > 0 && lanes == kLanes; stride /= 2) {
    GroupPartial other;
    other.squares = __shfl_down_sync(0xFFFFFFFFU, sum.squares, stride);
    other.count = __shfl_down_sync(0xFFFFFFFFU, static_cast<unsigned long long>(sum.count), stride);
    sum = Merge(sum, other);
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads) hone_group_sums(GroupArgs args, GroupPartial* items) {
  const GroupPlan plan = PlanGroups(args);
  const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * kThreads / plan.lanes;
  const unsigned lane = static_cast<unsigned>(thread % plan.lanes);
  for (uint64_t item = thread / plan.lanes; item < plan.chunks * args.groups; item += step) {
    const GroupPartial sum = ReduceLanes(SumGroup(args, plan, item, lane), plan.lanes);
    if (lane == 0) items[item] = sum;
  }
}

// Scales of groups; without `typical`, the root mean square of the one group there is.
__global__ void __launch_bounds__(kThreads)
    hone_group_scales(const GroupPartial* items, uint64_t groups, uint64_t chunks, const double* typical,
                      double* scales) {
  const unsigned lanes = chunks >= kLanes ? kLanes : 1;
  const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * kThreads / lanes;
  const unsigned lane = static_cast<unsigned>(thread % lanes);
  for (uint64_t group = thread / lanes; group < groups; group += step) {
    const GroupPartial sum = ReduceLanes(MergeItems(items, groups, chunks, group, lane, lanes), lanes);
    if (lane == 0) scales[group] = typical != nullptr ? ScaleOfGroup(sum, *typical) : TypicalOf(sum);
  }
}

#define HONE_DIGEST_KERNEL(name, read)                                                         \
  __global__ void __launch_bounds__(kThreads) name(DigestArgs args, DigestPartial* partials) { \
    DigestPartial mine;                                                                        \
    const uint64_t tiles = DigestTiles(args.bytes);                                            \
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x)                          \
      AddDigest<read>(args, tile, threadIdx.x, &mine);                                         \
    const DigestPartial whole =                                                                \
        ReduceBlock<DigestPartial, DigestWords>(mine, JoinPartials<DigestPartial>());          \
    if (threadIdx.x == 0) partials[blockIdx.x] = whole;                                        \
  }
HONE_DIGEST_KERNEL(hone_digest_f16, ReadF16)
HONE_DIGEST_KERNEL(hone_digest_bf16, ReadBf16)
HONE_DIGEST_KERNEL(hone_digest_f32, ReadAs<float>)
HONE_DIGEST_KERNEL(hone_digest_f64, ReadAs<double>)
HONE_DIGEST_KERNEL(hone_digest_bytes, HashOnly)

__global__ void __launch_bounds__(kThreads)
    hone_merge_digest(const DigestPartial* partials, unsigned count, DigestPartial* result) {
  MergeAll<DigestPartial, DigestWords>(partials, count, result, JoinPartials<DigestPartial>());
}

// Sets *differs where two ranges of bytes are not the same; the caller has set it to 0.
__global__ void __launch_bounds__(kThreads)
    hone_differs(const void* a, const void* b, uint64_t bytes, unsigned* differs) {
  const DigestArgs left = {a, bytes, 0}, right = {b, bytes, 0};
  const uint64_t vectors = (bytes + kVectorBytes - 1) / kVectorBytes;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * kThreads;
  uint32_t any = 0;
  uint64_t at = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (; at + 3 * step + 1 < vectors; at += 4 * step) {
    Vector x[4], y[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      x[j] = static_cast<const Vector*>(a)[at + j * step];
      y[j] = static_cast<const Vector*>(b)[at + j * step];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) any |= x[j].word[i] ^ y[j].word[i];
  }
#pragma unroll 1
  for (; at < vectors; at += step) {
    const Vector x = LoadVector(left, at), y = LoadVector(right, at);
    for (int i = 0; i < 4; ++i) any |= x.word[i] ^ y.word[i];
  }
  if (any != 0) *differs = 1;
}

}  // extern "C"

}  // namespace hone::kernels
