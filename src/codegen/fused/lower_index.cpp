// Views of computed values, and elements selected by an index: slices, glu, embedding, gather. Views of
// tensors in memory are left to ATen, where they cost nothing.
//
// An index beyond the end gives NaN (0 if the type has none), where PyTorch raises an error.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "codegen/fused/lower.h"

namespace hone::fused {

namespace {

// Returns `shape` with another size for one axis.
Shape WithAxis(Shape shape, size_t axis, int64_t size) {
  shape[axis] = size;
  return shape;
}

}  // namespace

ItemId Lowering::Sliced(ItemId x, size_t axis, int64_t from, int64_t size, int64_t step) {
  const Strides linear = graph::ContiguousStrides(ShapeOf(x));
  Strides strides = linear;
  strides[axis] *= step;
  return out_.program.View(x, WithAxis(ShapeOf(x), axis, size), std::move(strides), from * linear[axis]);
}

// Applies to computed values; a permuted tensor in memory needs no copy.
std::vector<ItemId> Lowering::LowerPermute(const graph::Node& node, const std::string& name) {
  const std::optional<ValueId> self = node.ValueArg("self");
  if (!self) return {};
  const Shape& shape = graph_.type(*self).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (name == "permute") {
    order = node.IntsArg("dims").value_or(std::vector<int64_t>{});
    if (order.size() != shape.size()) return {};
    for (int64_t& axis : order) axis = axis < 0 ? axis + rank : axis;
  } else if (name == "transpose" || name == "swapaxes" || name == "t") {
    const bool swaps = name == "swapaxes", both = name == "t";
    const std::optional<int64_t> a = both ? 0 : node.IntArg(swaps ? "axis0" : "dim0"),
                                 b = both ? 1 : node.IntArg(swaps ? "axis1" : "dim1");
    if (!a || !b || rank < 2) return {};
    std::swap(order[static_cast<size_t>(*a < 0 ? *a + rank : *a)],
              order[static_cast<size_t>(*b < 0 ? *b + rank : *b)]);
  } else {
    return {};
  }
  const ItemId x = ItemOf(*self);
  if (!out_.program.at(x).computes()) return {};
  const Strides linear = graph::ContiguousStrides(shape);
  Shape made;
  Strides strides;
  for (const int64_t axis : order) {
    made.push_back(shape[static_cast<size_t>(axis)]);
    strides.push_back(linear[static_cast<size_t>(axis)]);
  }
  return {out_.program.View(x, made, strides, 0)};
}

std::vector<ItemId> Lowering::LowerSlice(const graph::Node& node, const std::string& name) {
  const std::optional<ValueId> self = node.ValueArg("self");
  if (!self || graph_.type(*self).rank() == 0) return {};
  const Shape& shape = graph_.type(*self).shape;
  const std::optional<int64_t> found =
      graph::NormalizeAxis(node.IntArg("dim").value_or(0), static_cast<int64_t>(shape.size()));
  if (!found) return {};
  const size_t axis = static_cast<size_t>(*found);
  const int64_t length = shape[axis];
  const auto within = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + length : at, 0, length); };
  if (name == "glu") {
    const int64_t rest = static_cast<int64_t>(shape.size()) - 1;
    const std::optional<int64_t> given = graph::NormalizeAxis(node.IntArg("dim").value_or(-1), rest + 1);
    if (!given || !graph::IsFloating(TypeOf(node))) return {};
    const size_t halved = static_cast<size_t>(*given);
    const int64_t half = shape[halved] / 2;
    const ItemId x = ItemOf(*self);
    return {out_.program.Map(
        "$0 * Sigmoid($1)", {Sliced(x, halved, 0, half, 1), Sliced(x, halved, half, half, 1)}, TypeOf(node))};
  }
  const bool slices = name == "slice" || name == "narrow" || name == "select";
  const bool splits = name == "split" || name == "split_with_sizes" || name == "chunk" ||
                      name == "tensor_split" || name == "unbind";
  if (!slices && !splits) return {};
  const ItemId x = ItemOf(*self);
  if (!out_.program.at(x).computes()) return {};
  const auto part = [&](ValueId result, int64_t from, int64_t size, int64_t step) {
    return out_.program.Reshape(Sliced(x, axis, from, size, step), graph_.type(result).shape);
  };
  if (slices) {
    const bool one = name == "select";
    const int64_t step = node.IntArg("step").value_or(1);
    const int64_t from = within(node.IntArg(one ? "index" : "start").value_or(0));
    return {part(node.result(), from, one ? 1 : graph_.type(node.result()).shape[axis], step)};
  }
  Items items;
  int64_t from = 0;
  for (const ValueId result : node.results) {
    const int64_t size = name == "unbind" ? 1 : graph_.type(result).shape[axis];
    items.push_back(part(result, from, size, 1));
    from += size;
  }
  return from == length ? items : Items{};
}

ItemId Lowering::Chosen(ItemId x, const Shape& shape, Strides strides, size_t axis, ItemId index) {
  Program& p = out_.program;
  const DType dtype = p.at(x).dtype, counted = p.at(index).dtype;
  const ItemId end = p.Number(static_cast<double>(ShapeOf(x)[axis]), counted);
  const ItemId exists = p.CheapMap("$0 >= $2 && $0 < $1", {index, end, p.Number(0, counted)}, DType::kBool);
  const ItemId safe = p.CheapMap("Select($0 < ($C)0 || $0 >= $1, ($C)0, $0)", {index, end}, counted);
  const ItemId nothing =
      p.Number(graph::IsFloating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 0, dtype);
  const ItemId picked = p.Gather(x, shape, std::move(strides), {static_cast<int64_t>(axis)}, {safe});
  return p.Map("Select($0, $1, $2)", {exists, picked, nothing}, dtype);
}

std::vector<ItemId> Lowering::LowerIndex(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  const bool embeds = name == "embedding";
  const std::optional<ValueId> self = node.ValueArg(embeds ? "weight" : "self");
  if (!self || graph_.type(*self).rank() == 0) return {};
  const Shape& shape = graph_.type(*self).shape;
  const Shape& made = graph_.type(node.result()).shape;
  Strides linear = graph::ContiguousStrides(shape);
  const auto index_type = [&](ValueId index) {
    const DType dtype = graph_.type(index).dtype;
    return dtype == DType::kInt64 || dtype == DType::kInt32;
  };
  const auto axis_of = [&](const char* which) {
    return graph::NormalizeAxis(node.IntArg(which).value_or(0), static_cast<int64_t>(shape.size()));
  };
  // One index tensor replaces one axis.
  const auto in_place_of = [&](size_t axis, ValueId index, bool wraps) -> Items {
    ItemId at = ItemOf(index);
    const size_t behind = shape.size() - axis - 1;
    Shape spread = graph_.type(index).shape;
    const size_t rank = spread.size();
    spread.insert(spread.end(), behind, 1);
    at = p.Reshape(at, spread);
    if (wraps)
      at = p.CheapMap("Select($0 < ($C)0, $0 + $1, $0)",
                      {at, p.Number(static_cast<double>(shape[axis]), p.at(at).dtype)}, p.at(at).dtype);
    Strides strides(linear.begin(), linear.begin() + static_cast<std::ptrdiff_t>(axis));
    strides.insert(strides.end(), rank, 0);
    strides.insert(strides.end(), linear.begin() + static_cast<std::ptrdiff_t>(axis) + 1, linear.end());
    if (strides.size() != made.size()) return {};
    return {Chosen(ItemOf(*self), made, std::move(strides), axis, at)};
  };
  if (embeds) {
    const std::optional<ValueId> index = node.ValueArg("indices");
    return !index || !index_type(*index) || shape.size() != 2 ? Items{} : in_place_of(0, *index, false);
  }
  if (name == "index_select") {
    const std::optional<ValueId> index = node.ValueArg("index");
    const std::optional<int64_t> axis = axis_of("dim");
    if (!index || !index_type(*index) || !axis || graph_.type(*index).rank() != 1) return {};
    return in_place_of(static_cast<size_t>(*axis), *index, false);
  }
  if (name == "index") {
    const auto* indices = std::get_if<graph::ValueList>(&node.Arg("indices"));
    std::vector<size_t> axes;
    for (size_t i = 0; indices != nullptr && i < indices->size(); ++i)
      if ((*indices)[i]) axes.push_back(i);
    for (const size_t axis : axes)
      if (!index_type(*(*indices)[axis])) return {};
    if (axes.empty()) return {};
    if (axes.size() == 1) return in_place_of(axes[0], *(*indices)[axes[0]], true);
    // Several adjacent indices: their common broadcast shape replaces their axes.
    const size_t first = axes.front(), behind = axes.back() + 1;
    if (behind - first != axes.size()) return {};
    Shape common;
    for (const size_t axis : axes) {
      const std::optional<Shape> wider = graph::BroadcastShapes(common, graph_.type(*(*indices)[axis]).shape);
      if (!wider) return {};
      common = *wider;
    }
    Strides strides(linear.begin(), linear.begin() + static_cast<std::ptrdiff_t>(first));
    strides.insert(strides.end(), common.size(), 0);
    strides.insert(strides.end(), linear.begin() + static_cast<std::ptrdiff_t>(behind), linear.end());
    if (strides.size() != made.size()) return {};
    std::vector<int64_t> moved;
    Items safe;
    ItemId exists = -1;
    for (const size_t axis : axes) {
      Shape spread = graph_.type(*(*indices)[axis]).shape;
      spread.insert(spread.end(), shape.size() - behind, 1);
      ItemId at = p.Reshape(ItemOf(*(*indices)[axis]), spread);
      const DType counted = p.at(at).dtype;
      const ItemId end = p.Number(static_cast<double>(shape[axis]), counted);
      at = p.CheapMap("Select($0 < ($C)0, $0 + $1, $0)", {at, end}, counted);
      const ItemId inside = p.CheapMap("$0 >= $2 && $0 < $1", {at, end, p.Number(0, counted)}, DType::kBool);
      exists = exists < 0 ? inside : p.CheapMap("$0 && $1", {exists, inside}, DType::kBool);
      safe.push_back(p.CheapMap("Select($0 < ($C)0 || $0 >= $1, ($C)0, $0)", {at, end}, counted));
      moved.push_back(static_cast<int64_t>(axis));
    }
    const DType dtype = graph_.type(*self).dtype;
    const ItemId nothing =
        p.Number(graph::IsFloating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 0, dtype);
    const ItemId picked =
        p.Gather(ItemOf(*self), made, std::move(strides), std::move(moved), std::move(safe));
    return {p.Map("Select($0, $1, $2)", {exists, picked, nothing}, dtype)};
  }
  if (name == "gather" || name == "take_along_dim") {
    const std::optional<ValueId> index = node.ValueArg(name == "gather" ? "index" : "indices");
    const std::optional<int64_t> axis = axis_of("dim");
    if (!index || !index_type(*index) || !axis ||
        graph_.type(*index).rank() != static_cast<int64_t>(shape.size()))
      return {};
    for (size_t i = 0; i < shape.size(); ++i)  // take_along_dim broadcasts
      if (shape[i] == 1 && made[i] != 1) linear[i] = 0;
    linear[static_cast<size_t>(*axis)] = 0;
    return {Chosen(ItemOf(*self), made, linear, static_cast<size_t>(*axis), ItemOf(*index))};
  }
  return {};
}

}  // namespace hone::fused
