// Reductions, norms, softmax, pooling and scans as items. Losses are in lower_loss.cpp.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/text.h"
#include "codegen/fused/lower.h"

namespace hone::fused {

namespace {

std::vector<int64_t> AllAxes(int64_t rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<int64_t> AxesFrom(int64_t first, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// The type in which a reduction computes: float for half precision.
DType Computing(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}

constexpr int64_t kMostCounted = int64_t{1} << 32;  // elements of a row that ReduceMoments can count

}  // namespace

std::vector<int64_t> Lowering::AxesOf(const graph::Node& node, std::string_view name, int64_t rank) {
  const std::optional<std::vector<int64_t>> given = node.IntsArg(name);
  if (!given || given->empty()) return AllAxes(rank);
  std::vector<int64_t> axes;
  for (const int64_t axis : *given) axes.push_back(graph::NormalizeAxis(axis, rank).value_or(0));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

ItemId Lowering::Reduced(const std::string& op, const std::string& field, ItemId x, std::vector<int64_t> axes,
                         DType dtype) {
  if (axes.empty()) return x;
  return out_.program.Field(out_.program.Reduce(op, x, std::move(axes)), field, dtype);
}

ItemId Lowering::WithoutAxes(ItemId reduced, const std::vector<int64_t>& axes, bool keep) {
  if (keep) return reduced;
  const Shape& shape = ShapeOf(reduced);
  Shape rest;
  for (size_t i = 0; i < shape.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) rest.push_back(shape[i]);
  return out_.program.Reshape(reduced, rest);
}

std::vector<ItemId> Lowering::LowerReduction(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  const std::optional<ValueId> self = node.ValueArg("self");
  if (!self || graph_.type(*self).rank() == 0) return {};
  const graph::TensorType& in = graph_.type(*self);
  const DType dtype = TypeOf(node);
  const int64_t rank = in.rank();
  const bool keep = node.BoolArg("keepdim").value_or(false);
  const std::vector<int64_t> axes = AxesOf(node, "dim", rank);
  int64_t count = 1;
  for (const int64_t axis : axes) count *= in.shape[static_cast<size_t>(axis)];
  const auto done = [&](ItemId item) { return Items{WithoutAxes(item, axes, keep)}; };
  const auto number = [&](double value) { return p.Number(value, dtype); };

  if (count == 1) {  // nothing to reduce
    static const char* kSame[] = {"sum", "prod", "mean", "amax", "amin", "logsumexp"};
    if (std::find(std::begin(kSame), std::end(kSame), name) == std::end(kSame)) return {};
    return done(p.Cast(ItemOf(*self), dtype));
  }
  if (name == "sum" || name == "prod" || name == "mean" || name == "nansum") {
    if (name == "mean" && !graph::IsFloating(dtype)) return {};
    ItemId x = p.Cast(ItemOf(*self), Computing(dtype));
    if (name == "nansum") x = p.Map("Select($0 != $0, ($C)0, $0)", {x}, Computing(dtype));
    const ItemId sum = Reduced(name == "prod" ? "ReduceProd" : "ReduceSum", "value()", x, axes, dtype);
    return done(name == "mean" ? p.Map("$0 / $1", {sum, number(static_cast<double>(count))}, dtype) : sum);
  }
  if (name == "amax" || name == "amin" ||
      ((name == "max" || name == "min") && node.results.size() <= 2 && !node.ValueArg("other"))) {
    const bool most = name == "amax" || name == "max";
    const ItemId x = ItemOf(*self);
    if (node.results.size() < 2 ||
        (graph_.Users(node.results[1]).empty() && !graph_.IsOutput(node.results[1]))) {
      const ItemId value =
          WithoutAxes(Reduced(most ? "ReduceMax" : "ReduceMin", "value()", x, axes, dtype), axes, keep);
      return node.results.size() < 2 ? Items{value} : Items{value, -1};
    }
    const ItemId both = p.Reduce(most ? "ReduceArgMax" : "ReduceArgMin", x, axes);
    return {WithoutAxes(p.Field(both, "value()", dtype), axes, keep),
            WithoutAxes(p.Field(both, "index()", DType::kInt64), axes, keep)};
  }
  if (name == "argmax" || name == "argmin")
    return done(p.Field(p.Reduce(name == "argmax" ? "ReduceArgMax" : "ReduceArgMin", ItemOf(*self), axes),
                        "index()", DType::kInt64));
  if (name == "count_nonzero") {
    const ItemId truth = p.Cast(p.Cast(ItemOf(*self), DType::kBool), DType::kInt64);
    return done(Reduced("ReduceSum", "value()", truth, axes, DType::kInt64));
  }
  if (name == "any" || name == "all") {
    if (dtype != DType::kBool) return {};
    return done(Reduced(name == "any" ? "ReduceAny" : "ReduceAll", "value()", ItemOf(*self), axes, dtype));
  }
  if (!graph::IsFloating(dtype)) return {};
  if (name == "var" || name == "std" || name == "var_mean" || name == "std_mean") {
    double correction = node.NumberArg("correction").value_or(1);
    if (const std::optional<bool> unbiased = node.BoolArg("unbiased")) correction = *unbiased ? 1 : 0;
    if (static_cast<double>(count) <= correction || count >= kMostCounted) return {};
    const ItemId moments = p.Reduce("ReduceMoments", p.Cast(ItemOf(*self), Computing(in.dtype)), axes);
    ItemId spread =
        p.Map("$0 / $1",
              {p.Field(moments, "squares()", dtype), number(static_cast<double>(count) - correction)}, dtype);
    if (StartsWith(name, "std")) spread = p.Map("Sqrt($0)", {spread}, dtype);
    if (node.results.size() == 1) return done(spread);
    return {WithoutAxes(spread, axes, keep), WithoutAxes(p.Field(moments, "mean()", dtype), axes, keep)};
  }
  if (name == "norm" || name == "linalg_vector_norm" || name == "linalg_norm" || name == "frobenius_norm") {
    const std::optional<double> given = node.NumberArg(StartsWith(name, "linalg_") ? "ord" : "p");
    // With two axes, an order means a matrix norm.
    if (name == "linalg_norm" && (given || std::holds_alternative<std::string>(node.Arg("ord"))) &&
        axes.size() != 1)
      return {};
    const double order = given.value_or(2);
    const ItemId x = p.Cast(ItemOf(*self), Computing(dtype));
    if (order == 2)
      return done(p.Map(
          "Sqrt($0)", {Reduced("ReduceSum", "value()", p.Map("$0 * $0", {x}, Computing(dtype)), axes, dtype)},
          dtype));
    const ItemId size = p.Map("Abs($0)", {x}, Computing(dtype));
    if (order == 1) return done(Reduced("ReduceSum", "value()", size, axes, dtype));
    const double infinite = std::numeric_limits<double>::infinity();
    if (order == infinite || order == -infinite)
      return done(Reduced(order > 0 ? "ReduceMax" : "ReduceMin", "value()", size, axes, dtype));
    if (order == 0)
      return done(Reduced("ReduceSum", "value()",
                          p.Map("Select($0 == ($C)0, ($C)0, ($C)1)", {x}, Computing(dtype)), axes, dtype));
    const ItemId powers = p.Map("Pow($0, $1)", {size, p.Number(order, Computing(dtype))}, Computing(dtype));
    return done(p.Map("Pow($0, $1)",
                      {Reduced("ReduceSum", "value()", powers, axes, dtype), number(1 / order)}, dtype));
  }
  if (name == "logsumexp")
    return done(Reduced("ReduceExps", "log_sum()", p.Cast(ItemOf(*self), Computing(dtype)), axes, dtype));
  if (name == "softmax" || name == "_softmax" || name == "log_softmax" || name == "_log_softmax") {
    const ItemId x = p.Cast(ItemOf(*self), Computing(dtype));
    const ItemId exps = p.Reduce("ReduceExps", x, axes);
    const ItemId most = p.Field(exps, "most()", Computing(dtype)),
                 sum = p.Field(exps, "sum()", Computing(dtype));
    const ItemId below = p.Map("$0 - $1", {x, most}, Computing(dtype));
    if (Contains(name, "log"))
      return {p.Map("$0 - $1", {below, p.Map("Log($0)", {sum}, Computing(dtype))}, dtype)};
    return {p.Map("Exp($0) * $1", {below, p.Map("($C)1 / $0", {sum}, Computing(dtype))}, dtype)};
  }
  if (name == "adaptive_avg_pool1d" || name == "adaptive_avg_pool2d" || name == "adaptive_avg_pool3d") {
    const int64_t spatial = name[name.size() - 2] - '0';
    for (int64_t i = 0; i < spatial; ++i)
      if (graph_.type(node.result()).shape[static_cast<size_t>(rank - 1 - i)] != 1) return {};
    const std::vector<int64_t> last = AxesFrom(rank - spatial, rank);
    int64_t size = 1;
    for (const int64_t axis : last) size *= in.shape[static_cast<size_t>(axis)];
    return {p.Map(
        "$0 / $1",
        {Reduced("ReduceSum", "value()", ItemOf(*self), last, dtype), number(static_cast<double>(size))},
        dtype)};
  }
  return {};
}

// Reductions of two tensors along an axis.
std::vector<ItemId> Lowering::LowerSimilarity(const graph::Node& node, const std::string& name) {
  const bool cosine = name == "cosine_similarity";
  if (!cosine && name != "pairwise_distance") return {};
  Program& p = out_.program;
  const std::optional<ValueId> first = node.ValueArg("x1"), second = node.ValueArg("x2");
  const DType dtype = TypeOf(node), wide = Computing(dtype);
  if (!first || !second || !graph::IsFloating(dtype) || graph_.type(*first).dtype != dtype ||
      graph_.type(*second).dtype != dtype)
    return {};
  const std::optional<Shape> shape =
      graph::BroadcastShapes(graph_.type(*first).shape, graph_.type(*second).shape);
  if (!shape || shape->empty()) return {};
  const int64_t rank = static_cast<int64_t>(shape->size());
  const std::optional<int64_t> axis =
      cosine ? graph::NormalizeAxis(node.IntArg("dim").value_or(1), rank) : rank - 1;
  if (!axis || (*shape)[static_cast<size_t>(*axis)] < 2) return {};
  const std::vector<int64_t> axes = {*axis};
  const ItemId a = p.Broadcast(ItemOf(*first), *shape), b = p.Broadcast(ItemOf(*second), *shape),
               eps = p.Number(node.NumberArg("eps").value_or(cosine ? 1e-8 : 1e-6), wide);
  const auto sum = [&](const char* op, std::vector<ItemId> args) {
    return Reduced("ReduceSum", "value()", p.Map(op, std::move(args), wide), axes, wide);
  };
  if (cosine)
    return {WithoutAxes(p.Map("$0 / (AtLeast(Sqrt($1), $3) * AtLeast(Sqrt($2), $3))",
                              {sum("$0 * $1", {a, b}), sum("$0 * $0", {a}), sum("$0 * $0", {b}), eps}, dtype),
                        axes, false)};
  const double order = node.NumberArg("p").value_or(2);
  if (order != 1 && order != 2) return {};
  const ItemId distance =
      order == 1 ? sum("Abs($0 - $1 + $2)", {a, b, eps})
                 : p.Map("Sqrt($0)", {sum("($0 - $1 + $2) * ($0 - $1 + $2)", {a, b, eps})}, dtype);
  return {WithoutAxes(distance, axes, node.BoolArg("keepdim").value_or(false))};
}

// Views a vector along one axis of a tensor with `rank` axes.
ItemId Lowering::Channels(ValueId vector, int64_t axis, int64_t rank) {
  const ItemId item = ItemOf(vector);
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = graph_.type(vector).elements();
  if (out_.program.at(item).kind != ItemKind::kTensor) return out_.program.Reshape(item, shape);
  Strides strides(static_cast<size_t>(rank), 0);
  strides[static_cast<size_t>(axis)] =
      graph_.type(vector).rank() == 0 ? 0 : graph_.type(vector).strides.back();
  return out_.program.Seen(item, shape, strides);
}

ItemId Lowering::Affine(ItemId x, std::optional<ValueId> weight, std::optional<ValueId> bias, int64_t axis,
                        DType dtype) {
  const int64_t rank = static_cast<int64_t>(ShapeOf(x).size());
  const auto seen = [&](ValueId value) { return axis < 0 ? ItemOf(value) : Channels(value, axis, rank); };
  if (weight) x = out_.program.Map("$0 * $1", {x, seen(*weight)}, dtype);
  if (bias) x = out_.program.Map("$0 + $1", {x, seen(*bias)}, dtype);
  return x;
}

std::vector<ItemId> Lowering::LowerNorm(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  const std::optional<ValueId> self = node.ValueArg("input");
  const std::optional<ValueId> weight = node.ValueArg("weight"), bias = node.ValueArg("bias");
  if (!self || !graph::IsFloating(TypeOf(node)) || graph_.type(*self).dtype == DType::kFloat64) return {};
  const graph::TensorType& in = graph_.type(*self);
  const DType dtype = TypeOf(node), wide = Computing(dtype);
  const int64_t rank = in.rank();
  const double eps = node.NumberArg("eps").value_or(node.NumberArg("epsilon").value_or(1e-5));
  if (in.elements() >= kMostCounted) return {};
  const auto scaled_to_one = [&](ItemId x, const std::vector<int64_t>& axes) {
    double count = 1;
    for (const int64_t axis : axes) count *= static_cast<double>(ShapeOf(x)[static_cast<size_t>(axis)]);
    const ItemId moments = p.Reduce("ReduceMoments", x, axes);
    const ItemId spread =
        p.Map("($C)1 / Sqrt($0 / $1 + $2)",
              {p.Field(moments, "squares()", wide), p.Number(count, wide), p.Number(eps, wide)}, wide);
    return p.Map("($0 - $1) * $2", {x, p.Field(moments, "mean()", wide), spread}, wide);
  };
  if (name == "layer_norm") {
    const std::optional<std::vector<int64_t>> shape = node.IntsArg("normalized_shape");
    if (!shape || shape->empty()) return {};
    const ItemId x = scaled_to_one(ItemOf(*self), AxesFrom(rank - static_cast<int64_t>(shape->size()), rank));
    return {Affine(x, weight, bias, -1, dtype)};
  }
  if (name == "rms_norm") {
    const std::optional<std::vector<int64_t>> shape = node.IntsArg("normalized_shape");
    if (!shape || shape->empty()) return {};
    const double floor =
        node.NumberArg("eps").value_or(in.dtype == DType::kFloat16    ? 9.765625e-4
                                       : in.dtype == DType::kBFloat16 ? 7.8125e-3
                                                                      : 1.1920928955078125e-07);
    const std::vector<int64_t> axes = AxesFrom(rank - static_cast<int64_t>(shape->size()), rank);
    double count = 1;
    for (const int64_t axis : axes) count *= static_cast<double>(in.shape[static_cast<size_t>(axis)]);
    const ItemId x = ItemOf(*self);
    const ItemId squares = Reduced("ReduceSum", "value()", p.Map("$0 * $0", {x}, wide), axes, wide);
    const ItemId scale =
        p.Map("($C)1 / Sqrt($0 / $1 + $2)", {squares, p.Number(count, wide), p.Number(floor, wide)}, wide);
    return {Affine(p.Map("$0 * $1", {x, scale}, wide), weight, std::nullopt, -1, dtype)};
  }
  if (name == "group_norm" && rank >= 2) {
    const int64_t groups = node.IntArg("num_groups").value_or(0);
    if (groups < 1 || in.shape[1] % groups != 0) return {};
    Shape split = {in.shape[0], groups, in.shape[1] / groups};
    split.insert(split.end(), in.shape.begin() + 2, in.shape.end());
    const ItemId self_item = ItemOf(*self);
    ItemId x = -1;
    if (p.at(self_item).kind == ItemKind::kTensor) {
      Strides strides = {in.strides[0], in.strides[1] * split[2], in.strides[1]};
      strides.insert(strides.end(), in.strides.begin() + 2, in.strides.end());
      x = p.Seen(self_item, split, strides);
    } else {
      x = p.Reshape(self_item, split);
    }
    x = scaled_to_one(x, AxesFrom(2, rank + 1));
    return {Affine(p.Reshape(x, in.shape), weight, bias, 1, dtype)};
  }
  const std::optional<ValueId> mean = node.ValueArg("running_mean"), var = node.ValueArg("running_var");
  const auto with_given = [&] {
    const ItemId scale = p.Map("($C)1 / Sqrt($0 + $1)", {Channels(*var, 1, rank), p.Number(eps, wide)}, wide);
    const ItemId x = p.Map("($0 - $1) * $2", {ItemOf(*self), Channels(*mean, 1, rank), scale}, wide);
    return Affine(x, weight, bias, 1, dtype);
  };
  if (name == "instance_norm" && rank >= 3) {
    if (!node.BoolArg("use_input_stats").value_or(false)) return mean && var ? Items{with_given()} : Items{};
    if (mean) return {};  // the running statistics would be updated
    return {Affine(scaled_to_one(ItemOf(*self), AxesFrom(2, rank)), weight, bias, 1, dtype)};
  }
  if ((name == "batch_norm" || name == "native_batch_norm" ||
       name == "_native_batch_norm_legit_no_training") &&
      rank >= 2) {
    const bool training =
        name == "_native_batch_norm_legit_no_training" ? false : node.BoolArg("training").value_or(true);
    for (size_t i = 1; i < node.results.size(); ++i)
      if (!graph_.Users(node.results[i]).empty() || graph_.IsOutput(node.results[i])) return {};
    if (training ? mean || var : !mean || !var) return {};
    Items items(node.results.size(), -1);
    std::vector<int64_t> axes = AxesFrom(2, rank);
    axes.insert(axes.begin(), 0);
    items[0] = training ? Affine(scaled_to_one(ItemOf(*self), axes), weight, bias, 1, dtype) : with_given();
    return items;
  }
  return {};
}

// "adaptive_avg_pool2d" and "max_pool2d_with_indices" count as poolings as well.
std::optional<Lowering::PoolName> Lowering::NamedPool(const std::string& name) {
  const size_t at = name.find("_pool");
  if (at == std::string::npos || at + 6 >= name.size() || name[at + 6] != 'd') return std::nullopt;
  const std::string kind = name.substr(0, at), rest = name.substr(at + 7);
  if (kind != "max" && kind != "avg" && kind != "adaptive_max" && kind != "adaptive_avg") return std::nullopt;
  const size_t spatial = static_cast<size_t>(name[at + 5] - '0');
  if ((!rest.empty() && rest != "_with_indices") || spatial < 1 || spatial > 3) return std::nullopt;
  return PoolName{spatial, StartsWith(kind, "adaptive_"), EndsWith(kind, "max")};
}

Window Lowering::WindowOf(const graph::Node& node, size_t spatial) {
  const auto list = [&](std::string_view which, std::vector<int64_t> fallback) {
    std::vector<int64_t> given = node.IntsArg(which).value_or(std::vector<int64_t>{});
    if (given.empty()) given = fallback;
    if (given.size() == 1) given.assign(spatial, given[0]);
    return given;
  };
  Window window;
  window.kernel = list("kernel_size", {1});
  window.stride = list("stride", window.kernel);
  window.padding = list("padding", {0});
  window.dilation = list("dilation", {1});
  return window;
}

std::vector<ItemId> Lowering::LowerPool(const graph::Node& node, const std::string& name) {
  const std::optional<PoolName> pool = NamedPool(name);
  const std::optional<ValueId> self = node.ValueArg("self");
  if (!pool || !self) return {};
  const bool adaptive = pool->adaptive, maximum = pool->maximum;
  const size_t spatial = pool->spatial;
  for (size_t i = 1; i < node.results.size(); ++i)
    if (!graph_.Users(node.results[i]).empty() || graph_.IsOutput(node.results[i])) return {};
  const graph::TensorType& in = graph_.type(*self);
  if (!graph::IsFloating(in.dtype) || in.dtype == DType::kFloat64 || in.shape.size() < spatial + 1) return {};
  Window window = WindowOf(node, spatial);
  window.maximum = maximum;
  window.count_padding = node.BoolArg("count_include_pad").value_or(true);
  window.divisor = node.IntArg("divisor_override").value_or(0);
  const Shape& made = graph_.type(node.result()).shape;
  if (adaptive) {  // only disjoint windows of equal size; others overlap unevenly
    window.kernel.clear();
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t from = in.shape[in.shape.size() - spatial + i], to = made[made.size() - spatial + i];
      if (from % to != 0) return {};
      window.kernel.push_back(from / to);
    }
    window.stride = window.kernel;
  }
  // A last window that begins inside the padding and ends beyond it has a smaller divisor than the others.
  if (node.BoolArg("ceil_mode").value_or(false) && !maximum && window.divisor == 0) {
    if (window.count_padding && window.padding != std::vector<int64_t>(spatial, 0)) return {};
    window.count_padding = false;
  }
  for (const auto& values : {window.kernel, window.stride, window.padding, window.dilation})
    if (values.size() != spatial) return {};
  for (size_t i = 0; i < spatial; ++i)  // limits of a block
    if ((window.kernel[i] - 1) * window.dilation[i] >= 64 || window.stride[i] > 64) return {};
  Items items(node.results.size(), -1);
  // A window moves over memory, or over results of maps.
  ItemId x = ItemOf(*self);
  if (out_.program.at(WithoutReshapes(out_.program, x)).is_view())
    x = out_.program.Map("$0", {x}, out_.program.at(x).dtype);
  items[0] = out_.program.Pool(x, window, made);
  return items;
}

// flip, scan, flip is a reverse scan. A zero followed by the scan of all but the last element is an exclusive
// scan.
std::vector<ItemId> Lowering::LowerScan(const graph::Node& node, const std::string& name) {
  const auto made_by = [&](ValueId value, const char* which) {
    const graph::Node* maker = graph_.Definition(value);
    return maker != nullptr && graph::BaseName(maker->target) == which ? maker : nullptr;
  };
  const auto scanned = [&](const graph::Node& scan, ValueId x, bool reversed, bool exclusive) -> Items {
    const graph::TensorType& in = graph_.type(x);
    const std::optional<int64_t> axis = graph::NormalizeAxis(scan.IntArg("dim").value_or(0), in.rank());
    if (!axis || in.rank() == 0 || TypeOf(scan) == DType::kBool) return {};
    const std::string op = Contains(scan.target, "cumsum") ? "ReduceSum" : "ReduceProd";
    if (exclusive && op != "ReduceSum") return {};
    const ItemId item = out_.program.Cast(ItemOf(x), Computing(TypeOf(scan)));
    return {out_.program.Scan(op, item, *axis, TypeOf(scan), reversed, exclusive)};
  };
  const std::optional<ValueId> self = node.ValueArg("self");
  if (name == "cumsum" || name == "cumprod") return self ? scanned(node, *self, false, false) : Items{};
  if (name == "flip" && self) {
    const graph::Node* scan = made_by(*self, "cumsum");
    if (scan == nullptr) scan = made_by(*self, "cumprod");
    const std::optional<ValueId> flipped = scan == nullptr ? std::nullopt : scan->ValueArg("self");
    const graph::Node* first = flipped ? made_by(*flipped, "flip") : nullptr;
    if (first == nullptr || node.IntsArg("dims") != first->IntsArg("dims")) return {};
    const int64_t rank = graph_.type(*self).rank();
    const std::vector<int64_t> axes = AxesOf(node, "dims", rank);
    if (axes.size() != 1 || graph::NormalizeAxis(scan->IntArg("dim").value_or(0), rank) != axes[0]) return {};
    return scanned(*scan, *first->ValueArg("self"), true, false);
  }
  if (name == "cat") {
    const auto* parts = std::get_if<graph::ValueList>(&node.Arg("tensors"));
    if (parts == nullptr || parts->size() != 2 || !(*parts)[0] || !(*parts)[1]) return {};
    const graph::Node* zeros = made_by(*(*parts)[0], "zeros_like");
    if (zeros == nullptr) zeros = made_by(*(*parts)[0], "zeros");
    const graph::Node* scan = made_by(*(*parts)[1], "cumsum");
    const std::optional<ValueId> kept = scan == nullptr ? std::nullopt : scan->ValueArg("self");
    const graph::Node* most = kept ? made_by(*kept, "slice") : nullptr;
    if (kept && most == nullptr) most = made_by(*kept, "narrow");
    if (zeros == nullptr || most == nullptr || !most->ValueArg("self")) return {};
    const ValueId x = *most->ValueArg("self");
    const graph::TensorType& whole = graph_.type(x);
    const std::optional<int64_t> axis = graph::NormalizeAxis(node.IntArg("dim").value_or(0), whole.rank());
    if (!axis || graph::NormalizeAxis(scan->IntArg("dim").value_or(0), whole.rank()) != axis ||
        graph::NormalizeAxis(most->IntArg("dim").value_or(0), whole.rank()) != axis ||
        most->IntArg("start").value_or(0) != 0 || most->IntArg("step").value_or(1) != 1 ||
        graph_.type(*(*parts)[0]).shape[static_cast<size_t>(*axis)] != 1 ||
        graph_.type(*kept).shape[static_cast<size_t>(*axis)] + 1 != whole.shape[static_cast<size_t>(*axis)] ||
        graph_.type(node.result()).shape != whole.shape || TypeOf(node) != TypeOf(*scan))
      return {};
    return scanned(*scan, x, false, true);
  }
  return {};
}

}  // namespace hone::fused
