// The scales of rows and channels for CompareShaped (evaluation/compare.h): the root mean square of the truth
// over each group of numbers, without giants. Numbers form an array [outer][groups][inner]: rows are
// [1][rows][row length], channels are [shape 0][shape 1][the rest].
//
// An item is a part of one group. One thread or the 32 lanes of a warp sum its numbers. Then the items of a
// group are merged in order.
#pragma once

#include "evaluation/kernels/compare_core.h"

namespace hone::kernels {

constexpr unsigned kExponents = 2048;
constexpr unsigned kLanes = 32;
constexpr uint64_t kRunNumbers = 8192;      // longer runs are divided
constexpr uint64_t kWantedItems = 1 << 15;  // enough to fill a device
constexpr uint64_t kShortRow = 16;          // the same as in compare.cpp
constexpr double kSmallestShare = 1e-4;     // the same as in compare.cpp

struct GroupArgs {
  const void* truth;
  uint64_t outer, groups, inner;
  double giant;  // values from here on are excluded
  int truth_number;
};

struct GroupPartial {
  double squares = 0;
  uint64_t count = 0;
};

HONE_BOTH GroupPartial Merge(GroupPartial a, const GroupPartial& b) {
  a.squares += b.squares;
  a.count += b.count;
  return a;
}

// How the numbers of a group are divided. It depends only on the view.
struct GroupPlan {
  uint64_t runs_per_inner;  // pieces of one run of `inner` numbers
  uint64_t chunks;          // items per group
  unsigned lanes;           // threads per item
};

HONE_BOTH GroupPlan PlanGroups(const GroupArgs& args) {
  GroupPlan plan;
  plan.runs_per_inner = (args.inner + kRunNumbers - 1) / kRunNumbers;
  const uint64_t runs = args.outer * plan.runs_per_inner;
  plan.chunks = (kWantedItems + args.groups - 1) / args.groups;
  if (plan.chunks > runs) plan.chunks = runs;
  plan.lanes = args.inner >= kLanes ? kLanes : 1;
  return plan;
}

HONE_BOTH double ReadNumber(int number, const void* data, uint64_t at) {
  switch (number) {
    case kF16:
      return ReadF16()(static_cast<const uint16_t*>(data)[at]);
    case kBf16:
      return ReadBf16()(static_cast<const uint16_t*>(data)[at]);
    case kF32:
      return static_cast<const float*>(data)[at];
    default:
      return static_cast<const double*>(data)[at];
  }
}

// The contribution of one lane to an item.
HONE_BOTH GroupPartial SumGroup(const GroupArgs& args, const GroupPlan& plan, uint64_t item, unsigned lane) {
  GroupPartial sum;
  const uint64_t group = item % args.groups, chunk = item / args.groups;
  const uint64_t runs = args.outer * plan.runs_per_inner;
  const uint64_t piece = (args.inner + plan.runs_per_inner - 1) / plan.runs_per_inner;
  const uint64_t end_run = runs * (chunk + 1) / plan.chunks;
  for (uint64_t run = runs * chunk / plan.chunks; run < end_run; ++run) {
    const uint64_t outer = run / plan.runs_per_inner, first = run % plan.runs_per_inner * piece;
    const uint64_t base = (outer * args.groups + group) * args.inner;
    const uint64_t last = first + piece < args.inner ? first + piece : args.inner;
    for (uint64_t i = first + lane; i < last; i += plan.lanes) {
      const double value = ReadNumber(args.truth_number, args.truth, base + i);
      if (!IsFinite(value) || Absolute(value) >= args.giant) continue;
      sum.squares += value * value;
      ++sum.count;
    }
  }
  return sum;
}

// One lane's part of merging the items of a group, which are `groups` apart in memory.
HONE_BOTH GroupPartial MergeItems(const GroupPartial* items, uint64_t groups, uint64_t chunks, uint64_t group,
                                  unsigned lane, unsigned lanes) {
  GroupPartial sum;
  for (uint64_t chunk = lane; chunk < chunks; chunk += lanes) sum = Merge(sum, items[chunk * groups + group]);
  return sum;
}

// A group that is too small has no scale of its own, because it would be random.
HONE_BOTH double ScaleOfGroup(const GroupPartial& sum, double otherwise) {
#ifdef __CUDA_ARCH__
  const double root = __dsqrt_rn(sum.squares / static_cast<double>(sum.count));
#else
  const double root = __builtin_sqrt(sum.squares / static_cast<double>(sum.count));
#endif
  return sum.count < kShortRow / 2 ? otherwise : root;
}

HONE_BOTH double TypicalOf(const GroupPartial& sum) {
#ifdef __CUDA_ARCH__
  return sum.count > 0 ? __dsqrt_rn(sum.squares / static_cast<double>(sum.count)) : 0;
#else
  return sum.count > 0 ? __builtin_sqrt(sum.squares / static_cast<double>(sum.count)) : 0;
#endif
}

// The exponent of a number that counts, else kExponents.
HONE_BOTH unsigned ExponentOf(double value) {
  const unsigned exponent = static_cast<unsigned>(BitCast<uint64_t>(value) >> 52) & 0x7FF;
  return value == 0 || exponent == 0x7FF ? kExponents : exponent;
}

}  // namespace hone::kernels
