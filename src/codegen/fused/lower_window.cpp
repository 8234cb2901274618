// Poolings whose windows a block cannot slide over: windows of several sizes (adaptive pooling), and maxima
// whose indices are needed. The elements of a window become a separate axis that is reduced. It comes first,
// so that neighbouring outputs are adjacent.
//
// If a window has several NaN, this returns the index of the first one; PyTorch returns the last.
#include <algorithm>
#include <limits>
#include <string>

#include "base/text.h"
#include "codegen/fused/lower.h"

namespace hone::fused {

namespace {

constexpr int64_t kMostExact = int64_t{1} << 24;  // integers that a float represents exactly
constexpr int64_t kMostWindowTaps = 1024;

}  // namespace

// The begin, the end and the number of elements of an axis's windows, by the output's position.
std::optional<Lowering::WindowAxis> Lowering::AdaptiveAxis(int64_t from, int64_t to, int64_t behind) {
  if ((from + 1) * (to + 1) >= kMostExact) return std::nullopt;
  Program& p = out_.program;
  const auto number = [&](int64_t value) { return p.Number(static_cast<double>(value), DType::kFloat32); };
  // Floats are exact here: the numbers are below 2^24, and the rounding error of a quotient is smaller than
  // its distance to the next integer.
  const ItemId place = p.Cast(p.Place(to, behind), DType::kFloat32);
  WindowAxis axis;
  axis.begin =
      p.Cast(p.Map("Floor($0 * $1 / $2)", {place, number(from), number(to)}, DType::kFloat32), DType::kInt32);
  axis.end = p.Cast(p.Map("Floor(($0 * $1 + $3) / $2)",
                          {place, number(from), number(to), number(from + to - 1)}, DType::kFloat32),
                    DType::kInt32);
  for (int64_t i = 0; i < to; ++i)
    axis.taps = std::max(axis.taps, ((i + 1) * from + to - 1) / to - i * from / to);
  return axis;
}

Lowering::WindowAxis Lowering::StridedAxis(const Window& window, size_t which, int64_t from, int64_t to,
                                           int64_t behind) {
  Program& p = out_.program;
  const auto number = [&](int64_t value) { return p.Number(static_cast<double>(value), DType::kInt32); };
  WindowAxis axis;
  axis.step = window.dilation[which];
  axis.taps = window.kernel[which];
  const ItemId first = p.Map(
      "$0 * $1 - $2", {p.Place(to, behind), number(window.stride[which]), number(window.padding[which])},
      DType::kInt32);
  axis.end = p.Map("AtMost($0 + $1, $2)", {first, number((axis.taps - 1) * axis.step + 1), number(from)},
                   DType::kInt32);
  axis.begin = p.Map("AtLeast($0, ($C)0)", {first}, DType::kInt32);
  if (axis.step == 1) return axis;
  // The first element inside the tensor.
  const ItemId skipped = p.Cast(
      p.Map("Floor(($1 - $0) / $2)",
            {p.Cast(first, DType::kFloat32), p.Number(static_cast<double>(axis.step - 1), DType::kFloat32),
             p.Number(static_cast<double>(axis.step), DType::kFloat32)},
            DType::kFloat32),
      DType::kInt32);
  axis.begin =
      p.Map("Select($0 < ($C)0, $0 + $1 * $2, $0)", {first, skipped, number(axis.step)}, DType::kInt32);
  return axis;
}

std::vector<ItemId> Lowering::LowerTaps(const graph::Node& node, const std::string& name) {
  const std::optional<PoolName> pool = NamedPool(name);
  const std::optional<ValueId> self = node.ValueArg("self");
  if (!pool || !self) return {};
  Program& p = out_.program;
  const Shape &in = graph_.type(*self).shape, &made = graph_.type(node.result()).shape;
  const DType dtype = TypeOf(node);
  const size_t spatial = pool->spatial;
  if (!graph::IsFloating(dtype) || in.size() < spatial + 1 || made.size() != in.size()) return {};
  const bool asked =
      node.results.size() > 1 && (!graph_.Users(node.results[1]).empty() || graph_.IsOutput(node.results[1]));
  if (node.results.size() > 1 && !pool->maximum) return {};
  if (!pool->adaptive && !asked) return {};
  const size_t lead = in.size() - spatial;
  const Window window = WindowOf(node, spatial);
  Shape taps;
  std::vector<WindowAxis> axes;
  int64_t all = 1;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t from = in[lead + i], to = made[lead + i], behind = static_cast<int64_t>(spatial - i) - 1;
    std::optional<WindowAxis> axis;
    if (pool->adaptive)
      axis = AdaptiveAxis(from, to, behind);
    else if (window.kernel.size() == spatial && window.stride.size() == spatial &&
             window.padding.size() == spatial && window.dilation.size() == spatial && from < kMostExact)
      axis = StridedAxis(window, i, from, to, behind);
    if (!axis) return {};
    taps.push_back(axis->taps);
    all *= axis->taps;
    axes.push_back(*axis);
  }
  if (all > kMostWindowTaps || all < 2) return {};
  // All elements of each window; the axes of the window come first.
  Shape shape = taps;
  shape.insert(shape.end(), made.begin(), made.end());
  const Strides linear = graph::ContiguousStrides(in);
  Strides strides(spatial, 0);
  strides.insert(strides.end(), linear.begin(), linear.begin() + static_cast<std::ptrdiff_t>(lead));
  strides.insert(strides.end(), spatial, 0);
  std::vector<int64_t> moved, reduced;
  Items indices;
  std::optional<ItemId> inside, count;
  for (size_t i = 0; i < spatial; ++i) {
    const ItemId tap = p.Place(taps[i], static_cast<int64_t>(shape.size() - i) - 1);
    const ItemId at = p.Map("$0 + $1 * $2",
                            {axes[i].begin, tap, p.Number(static_cast<double>(axes[i].step), DType::kInt32)},
                            DType::kInt32);
    const ItemId here = p.Map("$0 < $1", {at, axes[i].end}, DType::kBool);
    inside = inside ? p.Map("$0 && $1", {*inside, here}, DType::kBool) : here;
    indices.push_back(p.Map("AtMost($0, $1)",
                            {at, p.Number(static_cast<double>(in[lead + i] - 1), DType::kInt32)},
                            DType::kInt32));
    const ItemId size = p.Cast(p.Map("$0 - $1", {axes[i].end, axes[i].begin}, DType::kInt32), dtype);
    count = count ? p.Map("$0 * $1", {*count, size}, dtype) : size;
    moved.push_back(static_cast<int64_t>(lead + i));
    reduced.push_back(static_cast<int64_t>(i));
  }
  const ItemId x = p.Gather(ItemOf(*self), shape, strides, moved, indices, inside);
  const DType wide = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  const double nothing = pool->maximum ? -std::numeric_limits<double>::infinity() : 0;
  const ItemId value = p.Map("Select($0, $1, $2)", {*inside, x, p.Number(nothing, wide)}, wide);
  if (!pool->maximum)
    return {
        WithoutAxes(p.Map("$0 / $1", {Reduced("ReduceSum", "value()", value, reduced, wide), *count}, dtype),
                    reduced, false)};
  Items out(node.results.size(), -1);
  if (!asked) {
    out[0] = WithoutAxes(Reduced("ReduceMax", "value()", value, reduced, dtype), reduced, false);
    return out;
  }
  const ItemId most = p.Reduce("ReduceArgMax", value, reduced);
  out[0] = WithoutAxes(p.Field(most, "value()", dtype), reduced, false);
  // Converts an element's number in its window to its index in the plane.
  ItemId rest = p.Cast(p.Field(most, "index()", DType::kInt64), DType::kFloat32), flat = -1;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t behind = 1;
    for (size_t j = i + 1; j < spatial; ++j) behind *= taps[j];
    const ItemId by = p.Number(static_cast<double>(behind), DType::kFloat32);
    const ItemId tap = p.Map("Floor($0 / $1)", {rest, by}, DType::kFloat32);
    rest = p.Map("$0 - $1 * $2", {rest, tap, by}, DType::kFloat32);
    const ItemId at = p.Map("$0 + $1 * $2",
                            {p.Cast(axes[i].begin, DType::kInt64), p.Cast(tap, DType::kInt64),
                             p.Number(static_cast<double>(axes[i].step), DType::kInt64)},
                            DType::kInt64);
    flat = flat < 0
               ? at
               : p.Map("$0 * $1 + $2", {flat, p.Number(static_cast<double>(in[lead + i]), DType::kInt64), at},
                       DType::kInt64);
  }
  out[1] = WithoutAxes(flat, reduced, false);
  return out;
}

}  // namespace hone::fused
