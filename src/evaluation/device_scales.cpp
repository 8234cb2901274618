#include "evaluation/device_scales.h"

#include <cmath>

#include "evaluation/compare.h"
#include "evaluation/kernels/host_twin.h"

namespace hone {

namespace {

using kernels::GroupArgs;
using kernels::GroupPartial;

GroupPartial ReduceLanes(std::vector<GroupPartial> sums) {
  for (size_t stride = sums.size() / 2; stride > 0; stride /= 2)
    for (size_t lane = 0; lane < stride; ++lane) sums[lane] = Merge(sums[lane], sums[lane + stride]);
  return sums[0];
}

std::vector<GroupPartial> SumGroups(const GroupArgs& args) {
  const kernels::GroupPlan plan = PlanGroups(args);
  std::vector<GroupPartial> items(plan.chunks * args.groups);
  for (uint64_t item = 0; item < items.size(); ++item) {
    std::vector<GroupPartial> lanes(plan.lanes);
    for (unsigned lane = 0; lane < plan.lanes; ++lane) lanes[lane] = SumGroup(args, plan, item, lane);
    items[item] = ReduceLanes(std::move(lanes));
  }
  std::vector<GroupPartial> sums(args.groups);
  const unsigned lanes = plan.chunks >= kernels::kLanes ? kernels::kLanes : 1;
  for (uint64_t group = 0; group < args.groups; ++group) {
    std::vector<GroupPartial> parts(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane)
      parts[lane] = kernels::MergeItems(items.data(), args.groups, plan.chunks, group, lane, lanes);
    sums[group] = ReduceLanes(std::move(parts));
  }
  return sums;
}

}  // namespace

kernels::Number NumberOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return kernels::kF16;
    case Dtype::kBf16:
      return kernels::kBf16;
    case Dtype::kF32:
    case Dtype::kC64:
      return kernels::kF32;
    case Dtype::kF64:
    case Dtype::kC128:
      return kernels::kF64;
    case Dtype::kU8:
    case Dtype::kBool:
      return kernels::kU8;
    case Dtype::kI8:
      return kernels::kI8;
    case Dtype::kI16:
      return kernels::kI16;
    case Dtype::kI32:
      return kernels::kI32;
    case Dtype::kI64:
      break;
  }
  return kernels::kI64;
}

ShapeView ViewOf(Dtype dtype, uint64_t numbers, const std::vector<int64_t>& shape) {
  ShapeView view;
  view.numbers = numbers;
  if (!IsFloating(dtype) || numbers == 0 || shape.empty()) return view;
  const uint64_t row_length = static_cast<uint64_t>(shape.back()) * (IsComplex(dtype) ? 2 : 1);
  if (row_length >= kernels::kShortRow) view.row_length = row_length;
  const uint64_t channels = shape.size() > 1 ? static_cast<uint64_t>(shape[1]) : 1;
  if (channels > 1 && numbers / channels >= kernels::kShortRow) {
    view.outer = static_cast<uint64_t>(shape[0]);
    view.channels = channels;
    view.inner = numbers / (view.outer * channels);
  }
  return view;
}

GroupArgs RowsOf(const ShapeView& view, int truth_number, const void* truth, double giant) {
  return {truth, 1, view.numbers / view.row_length, view.row_length, giant, truth_number};
}

GroupArgs ChannelsOf(const ShapeView& view, int truth_number, const void* truth, double giant) {
  return {truth, view.outer, view.channels, view.inner, giant, truth_number};
}

GroupArgs WholeOf(const ShapeView& view, int truth_number, const void* truth, double giant) {
  return {truth, 1, 1, view.numbers, giant, truth_number};
}

HostScales ScalesOnHost(Dtype dtype, Dtype truth_dtype, std::span<const std::byte> truth,
                        const std::vector<int64_t>& shape) {
  HostScales scales;
  const kernels::Number number = NumberOf(truth_dtype);
  scales.view = ViewOf(dtype, truth.size() / kernels::NumberSize(number), shape);
  std::vector<uint64_t> counts(kernels::kExponents);
  for (uint64_t i = 0; i < scales.view.numbers; ++i) {
    const unsigned exponent = kernels::ExponentOf(kernels::ReadNumber(number, truth.data(), i));
    if (exponent < kernels::kExponents) ++counts[exponent];
  }
  scales.giant = GiantsFrom(counts);
  scales.typical = TypicalOf(SumGroups(WholeOf(scales.view, number, truth.data(), scales.giant))[0]);
  if (scales.view.row_length > 0)
    for (const GroupPartial& sum : SumGroups(RowsOf(scales.view, number, truth.data(), scales.giant)))
      scales.rows.push_back(ScaleOfGroup(sum, scales.typical));
  if (scales.view.channels > 0)
    for (const GroupPartial& sum : SumGroups(ChannelsOf(scales.view, number, truth.data(), scales.giant)))
      scales.channels.push_back(ScaleOfGroup(sum, scales.typical));
  return scales;
}

}  // namespace hone
