// Operators that depend on an element's position: tril, triu, one-hot; and those that move elements by it:
// cat, stack, padding, roll, flip, pixel shuffle, nearest upsampling.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "codegen/fused/lower.h"

namespace hone::fused {

namespace {

constexpr size_t kMostPieces = 8;  // parts of a concatenation, because each element tests which part it is in

int64_t Behind(const Shape& shape, size_t axis) {
  return static_cast<int64_t>(shape.size() - axis) - 1;
}

}  // namespace

// An operator whose elements are those of a view.
ItemId Lowering::Copied(ItemId view, const Shape& shape) {
  Program& p = out_.program;
  const ItemId copy = p.Map("$0", {view}, p.at(view).dtype);
  return p.Reshape(copy, shape);
}

// Elements of `x` at `index` along some axes, and `other` where `inside` is false.
ItemId Lowering::Moved(ItemId x, const Shape& shape, std::vector<int64_t> axes, std::vector<ItemId> indices,
                       std::optional<ItemId> inside) {
  Strides strides = graph::ContiguousStrides(ShapeOf(x));
  for (const int64_t axis : axes) strides[static_cast<size_t>(axis)] = 0;
  return out_.program.Gather(x, shape, std::move(strides), std::move(axes), std::move(indices), inside);
}

std::vector<ItemId> Lowering::LowerCat(const graph::Node& node, const std::string& name) {
  if (name != "cat" && name != "concat" && name != "concatenate" && name != "stack") return {};
  Program& p = out_.program;
  const auto* parts = std::get_if<graph::ValueList>(&node.Arg("tensors"));
  const DType dtype = TypeOf(node);
  const Shape& shape = graph_.type(node.result()).shape;
  const std::optional<int64_t> found =
      graph::NormalizeAxis(node.IntArg("dim").value_or(0), static_cast<int64_t>(shape.size()));
  if (parts == nullptr || parts->size() < 2 || parts->size() > kMostPieces || !found) return {};
  const size_t axis = static_cast<size_t>(*found);
  const bool stacks = name == "stack";
  // ATen copies as fast as a kernel. A kernel is useful only if it joins a node before or after it.
  bool joins = false;
  for (const std::optional<ValueId>& part : *parts) {
    if (!part || graph_.type(*part).shape.size() + (stacks ? 1 : 0) != shape.size()) return {};
    joins = joins || p.at(ItemOf(*part)).computes();
  }
  for (const graph::NodeId user : graph_.Users(node.result())) {
    const graph::OpClass kind = graph::ClassOf(graph_.node(user).op);
    joins = joins || kind == graph::OpClass::kPointwise || kind == graph::OpClass::kReduction ||
            kind == graph::OpClass::kNorm || kind == graph::OpClass::kSoftmax ||
            kind == graph::OpClass::kPooling;
  }
  if (!joins || shape[axis] >= (int64_t{1} << 31)) return {};
  const ItemId place = p.Place(shape[axis], Behind(shape, axis));
  const auto number = [&](int64_t value) { return p.Number(static_cast<double>(value), DType::kInt32); };
  Items values;
  std::vector<int64_t> begins;
  int64_t from = 0;
  for (const std::optional<ValueId>& part : *parts) {
    ItemId x = ItemOf(*part);
    Shape own = graph_.type(*part).shape;
    if (stacks) own.insert(own.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    x = p.Reshape(x, own);
    const int64_t size = own[axis];
    const ItemId index =
        p.Map("AtMost(AtLeast($0 - $1, ($C)0), $2)", {place, number(from), number(size - 1)}, DType::kInt32);
    const ItemId inside =
        p.Map("$0 >= $1 && $0 < $2", {place, number(from), number(from + size)}, DType::kBool);
    const ItemId moved = Moved(x, shape, {static_cast<int64_t>(axis)}, {index}, inside);
    values.push_back(p.Cast(moved, dtype));
    begins.push_back(from);
    from += size;
  }
  ItemId out = values.back();
  for (size_t i = values.size() - 1; i-- > 0;)
    out = p.Map("Select($0 < $1, $2, $3)", {place, number(begins[i + 1]), values[i], out}, dtype);
  return {out};
}

std::vector<ItemId> Lowering::LowerPad(const graph::Node& node, const std::string& name) {
  static const char* kPads[] = {"pad",
                                "constant_pad_nd",
                                "reflection_pad1d",
                                "reflection_pad2d",
                                "reflection_pad3d",
                                "replication_pad1d",
                                "replication_pad2d",
                                "replication_pad3d"};
  if (std::find(std::begin(kPads), std::end(kPads), name) == std::end(kPads)) return {};
  Program& p = out_.program;
  const std::optional<ValueId> self = node.ValueArg("self");
  const std::optional<std::vector<int64_t>> pads =
      node.IntsArg(name == "pad" || name == "constant_pad_nd" ? "pad" : "padding");
  if (!self || !pads || pads->size() % 2 != 0) return {};
  const auto* given = std::get_if<std::string>(&node.Arg("mode"));
  const std::string mode = given != nullptr                  ? *given
                           : StartsWith(name, "reflection")  ? "reflect"
                           : StartsWith(name, "replication") ? "replicate"
                                                             : "constant";
  const DType dtype = TypeOf(node);
  const Shape& from = graph_.type(*self).shape;
  const Shape& shape = graph_.type(node.result()).shape;
  const auto number = [&](int64_t value) { return p.Number(static_cast<double>(value), DType::kInt32); };
  std::vector<int64_t> axes;
  Items indices;
  std::optional<ItemId> inside;
  for (size_t i = 0; i < pads->size() / 2; ++i) {
    const size_t axis = from.size() - 1 - i;
    const int64_t before = (*pads)[2 * i], behind = (*pads)[2 * i + 1], length = from[axis];
    if (before == 0 && behind == 0) continue;
    if (axis >= from.size() || shape[axis] >= (int64_t{1} << 31)) return {};
    const ItemId place = p.Place(shape[axis], Behind(shape, axis));
    const ItemId at = p.Map("$0 - $1", {place, number(before)}, DType::kInt32);
    const ItemId last = number(length - 1);
    axes.push_back(static_cast<int64_t>(axis));
    if (mode == "reflect") {
      indices.push_back(p.Map("Select(Abs($0) > $1, $1 + $1 - Abs($0), Abs($0))", {at, last}, DType::kInt32));
    } else if (mode == "circular") {
      indices.push_back(p.Map("Select($0 < ($C)0, $0 + $1, Select($0 >= $1, $0 - $1, $0))",
                              {at, number(length)}, DType::kInt32));
    } else {
      indices.push_back(p.Map("AtMost(AtLeast($0, ($C)0), $1)", {at, last}, DType::kInt32));
    }
    if (mode != "constant") continue;
    const ItemId here = p.Map("$0 == $1", {at, indices.back()}, DType::kBool);
    inside = inside ? p.Map("$0 && $1", {*inside, here}, DType::kBool) : here;
  }
  if (axes.empty()) return {};
  const ItemId x = ItemOf(*self);
  const ItemId moved = Moved(x, shape, axes, indices, inside);
  if (mode != "constant") return {Copied(moved, shape)};
  const ItemId value = p.Number(node.NumberArg("value").value_or(0), dtype);
  return {p.Map("Select($0, $1, $2)", {*inside, moved, value}, dtype)};
}

std::vector<ItemId> Lowering::LowerPlace(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  const std::optional<ValueId> self =
      node.ValueArg("self").has_value() ? node.ValueArg("self") : node.ValueArg("input");
  if (!self || graph_.type(*self).rank() == 0) return {};
  const DType dtype = TypeOf(node);
  const Shape& from = graph_.type(*self).shape;
  const Shape& shape = graph_.type(node.result()).shape;
  const size_t rank = from.size();
  const auto number = [&](int64_t value) { return p.Number(static_cast<double>(value), DType::kInt32); };
  for (const int64_t size : shape)
    if (size >= (int64_t{1} << 31)) return {};
  if ((name == "tril" || name == "triu") && rank >= 2) {
    const ItemId row = p.Place(shape[rank - 2], 1), column = p.Place(shape[rank - 1], 0);
    return {p.Map(name == "tril" ? "Select($1 - $2 <= $3, $0, ($C)0)" : "Select($1 - $2 >= $3, $0, ($C)0)",
                  {ItemOf(*self), column, row, number(node.IntArg("diagonal").value_or(0))}, dtype)};
  }
  if (name == "one_hot" && graph_.type(*self).dtype == DType::kInt64) {
    Shape column = from;
    column.push_back(1);
    const ItemId place = p.Cast(p.Place(shape.back(), 0), DType::kInt64);
    return {p.Cast(p.Map("$0 == $1", {p.Reshape(ItemOf(*self), column), place}, DType::kBool), dtype)};
  }
  if (name == "flip") {
    Strides strides = graph::ContiguousStrides(from);
    int64_t start = 0;
    for (const int64_t axis : AxesOf(node, "dims", static_cast<int64_t>(rank))) {
      const size_t i = static_cast<size_t>(axis);
      start += strides[i] * (from[i] - 1);
      strides[i] = -strides[i];
    }
    return {Copied(p.View(ItemOf(*self), from, strides, start), from)};
  }
  if (name == "roll") {
    const std::vector<int64_t> shifts = node.IntsArg("shifts").value_or(std::vector<int64_t>{}),
                               dims = node.IntsArg("dims").value_or(std::vector<int64_t>{});
    if (dims.empty() || dims.size() != shifts.size()) return {};
    std::vector<int64_t> axes;
    Items indices;
    for (size_t i = 0; i < dims.size(); ++i) {
      const std::optional<int64_t> axis = graph::NormalizeAxis(dims[i], static_cast<int64_t>(rank));
      if (!axis || std::find(axes.begin(), axes.end(), *axis) != axes.end()) return {};
      const int64_t length = from[static_cast<size_t>(*axis)], shift = (shifts[i] % length + length) % length;
      if (shift == 0) continue;
      axes.push_back(*axis);
      indices.push_back(p.Map(
          "Select($0 < $1, $0 + $2, $0 - $1)",
          {p.Place(length, Behind(from, static_cast<size_t>(*axis))), number(shift), number(length - shift)},
          DType::kInt32));
    }
    return {Copied(axes.empty() ? ItemOf(*self) : Moved(ItemOf(*self), shape, axes, indices, std::nullopt),
                   shape)};
  }
  const Strides linear = graph::ContiguousStrides(from);
  if (name == "pixel_shuffle" && rank >= 3) {
    const int64_t by = node.IntArg("upscale_factor").value_or(1);
    const size_t c = rank - 3;
    Shape split(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(c));
    Strides strides(linear.begin(), linear.begin() + static_cast<std::ptrdiff_t>(c));
    split.insert(split.end(), {from[c] / (by * by), from[c + 1], by, from[c + 2], by});
    strides.insert(strides.end(),
                   {linear[c] * by * by, linear[c + 1], linear[c] * by, linear[c + 2], linear[c]});
    return {Copied(p.View(ItemOf(*self), split, strides, 0), shape)};
  }
  if (name == "pixel_unshuffle" && rank >= 3) {
    const int64_t by = node.IntArg("downscale_factor").value_or(1);
    const size_t c = rank - 3;
    Shape split(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(c) + 1);
    Strides strides(linear.begin(), linear.begin() + static_cast<std::ptrdiff_t>(c) + 1);
    split.insert(split.end(), {by, by, from[c + 1] / by, from[c + 2] / by});
    strides.insert(strides.end(), {linear[c + 1], linear[c + 2], linear[c + 1] * by, linear[c + 2] * by});
    return {Copied(p.View(ItemOf(*self), split, strides, 0), shape)};
  }
  if (name == "channel_shuffle" && rank >= 2) {
    const int64_t groups = node.IntArg("groups").value_or(1);
    Shape split = {from[0], from[1] / groups, groups};
    Strides strides = {linear[0], linear[1], linear[1] * (from[1] / groups)};
    split.insert(split.end(), from.begin() + 2, from.end());
    strides.insert(strides.end(), linear.begin() + 2, linear.end());
    return {Copied(p.View(ItemOf(*self), split, strides, 0), shape)};
  }
  if (name == "upsample_nearest1d" || name == "upsample_nearest2d" || name == "upsample_nearest3d") {
    // For integer factors: each element is repeated.
    Shape split;
    Strides strides;
    const std::vector<double> none;
    const auto* scales = std::get_if<std::vector<double>>(&node.Arg("scale_factors"));
    for (size_t i = 0; i < rank; ++i) {
      if (shape[i] % from[i] != 0) return {};
      const int64_t by = shape[i] / from[i];
      if (scales != nullptr && i >= 2 && (*scales)[i - 2] != static_cast<double>(by)) return {};
      for (const char* which : {"scales", "scales_d", "scales_h", "scales_w"})
        if (node.NumberArg(which).has_value()) return {};
      split.insert(split.end(), {from[i], by});
      strides.insert(strides.end(), {linear[i], 0});
    }
    return {Copied(p.View(ItemOf(*self), split, strides, 0), shape)};
  }
  if ((name == "repeat" || name == "tile") && node.IntsArg(name == "repeat" ? "repeats" : "dims")) {
    Shape split;
    Strides strides;
    const size_t missing = shape.size() - rank;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t length = i < missing ? 1 : from[i - missing];
      split.insert(split.end(), {shape[i] / length, length});
      strides.insert(strides.end(), {0, i < missing ? 0 : linear[i - missing]});
    }
    return {Copied(p.View(ItemOf(*self), split, strides, 0), shape)};
  }
  return {};
}

}  // namespace hone::fused
