// Losses as items: a map of elements, or a reduction along the last axis or the classes, followed by a sum or
// a mean.
#include <limits>
#include <numeric>
#include <string>

#include "codegen/fused/lower.h"

namespace hone::fused {

ItemId Lowering::WithLoss(ItemId x, int64_t reduction) {
  if (reduction == 0) return x;
  Program& p = out_.program;
  const DType dtype = p.at(x).dtype;
  const int64_t rank = static_cast<int64_t>(ShapeOf(x).size());
  const double count = static_cast<double>(p.at(x).elements());
  std::vector<int64_t> every(static_cast<size_t>(rank));
  std::iota(every.begin(), every.end(), 0);
  ItemId sum = rank == 0 ? x : p.Reshape(Reduced("ReduceSum", "value()", x, every, dtype), {});
  return reduction == 2 ? sum : p.Map("$0 / $1", {sum, p.Number(count, dtype)}, dtype);
}

// Losses of several tensors, which have no argument `self`.
std::vector<ItemId> Lowering::LowerDistanceLoss(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  if (name != "margin_ranking_loss" && name != "cosine_embedding_loss" && name != "triplet_margin_loss")
    return {};
  const DType dtype = TypeOf(node);
  const bool triplet = name == "triplet_margin_loss";
  std::vector<ItemId> given;
  for (const char* which :
       {triplet ? "anchor" : "input1", triplet ? "positive" : "input2", triplet ? "negative" : "target"}) {
    const std::optional<ValueId> value = node.ValueArg(which);
    if (!value || dtype != DType::kFloat32) return {};
    const bool target = !triplet && given.size() == 2;
    if (!target && graph_.type(*value).dtype != dtype) return {};
    if (graph_.type(*value).dtype == DType::kFloat64) return {};
    given.push_back(p.Cast(ItemOf(*value), dtype));
  }
  const auto number = [&](double value) { return p.Number(value, dtype); };
  const int64_t reduction = node.IntArg("reduction").value_or(1);
  const ItemId margin = number(node.NumberArg("margin").value_or(triplet ? 1 : 0));
  if (name == "margin_ranking_loss")
    return {
        WithLoss(p.Map("AtLeast(-$2 * ($0 - $1) + $3, ($C)0)", {given[0], given[1], given[2], margin}, dtype),
                 reduction)};
  const int64_t rank = static_cast<int64_t>(ShapeOf(given[0]).size());
  if (rank < 1 || ShapeOf(given[0])[static_cast<size_t>(rank - 1)] < 2) return {};
  for (size_t i = 1; i < (triplet ? 3 : 2); ++i)
    if (ShapeOf(given[i]) != ShapeOf(given[0])) return {};
  const std::vector<int64_t> last = {rank - 1};
  const auto sum = [&](const char* op, std::vector<ItemId> args) {
    return WithoutAxes(Reduced("ReduceSum", "value()", p.Map(op, std::move(args), dtype), last, dtype), last,
                       false);
  };
  if (!triplet) {
    if (rank > 2 || static_cast<int64_t>(ShapeOf(given[2]).size()) != rank - 1) return {};
    const ItemId small = number(1e-12);
    const ItemId angle = p.Map(
        "$0 / Sqrt(($1 + $3) * ($2 + $3))",
        {sum("$0 * $1", {given[0], given[1]}), sum("$0 * $0", {given[0]}), sum("$0 * $0", {given[1]}), small},
        dtype);
    return {WithLoss(
        p.Map("Select($1 == ($C)1, ($C)1 - $0, Select($1 == ($C)-1, AtLeast($0 - $2, ($C)0), ($C)0))",
              {angle, given[2], margin}, dtype),
        reduction)};
  }
  const double order = node.NumberArg("p").value_or(2);
  if (order != 2 && order != 1) return {};
  const ItemId eps = number(node.NumberArg("eps").value_or(1e-6));
  const auto distance = [&](ItemId a, ItemId b) {
    if (order == 1) return sum("Abs($0 - $1 + $2)", {a, b, eps});
    return p.Map("Sqrt($0)", {sum("($0 - $1 + $2) * ($0 - $1 + $2)", {a, b, eps})}, dtype);
  };
  ItemId far = distance(given[0], given[2]);
  if (node.BoolArg("swap").value_or(false))
    far = p.Map("Min($0, $1)", {far, distance(given[1], given[2])}, dtype);
  return {WithLoss(p.Map("AtLeast($2 + $0 - $1, ($C)0)", {distance(given[0], given[1]), far, margin}, dtype),
                   reduction)};
}

// Cross entropy with class probabilities as targets.
std::vector<ItemId> Lowering::LowerSoftCrossEntropy(const graph::Node& node) {
  Program& p = out_.program;
  const ValueId self = *node.ValueArg("self"), other = *node.ValueArg("target");
  const graph::TensorType& in = graph_.type(self);
  const DType dtype = TypeOf(node);
  const std::optional<ValueId> weight = node.ValueArg("weight");
  const double smoothing = node.NumberArg("label_smoothing").value_or(0);
  if (in.rank() < 2 || graph_.type(other).shape != in.shape || graph_.type(other).dtype != dtype ||
      in.shape[1] < 2 || (weight && graph_.type(*weight).dtype != dtype))
    return {};
  const double classes = static_cast<double>(in.shape[1]),
               rows = static_cast<double>(in.elements()) / classes;
  const ItemId x = ItemOf(self);
  const ItemId whole = Reduced("ReduceExps", "log_sum()", x, {1}, dtype);
  ItemId share = ItemOf(other);
  if (smoothing > 0)
    share = p.Map("$0 * $1 + $2",
                  {share, p.Number(1 - smoothing, dtype), p.Number(smoothing / classes, dtype)}, dtype);
  ItemId loss = p.Map("$0 * ($1 - $2)", {share, whole, x}, dtype);
  if (weight) loss = p.Map("$0 * $1", {loss, Channels(*weight, 1, in.rank())}, dtype);
  const ItemId sums = Reduced("ReduceSum", "value()", loss, {1}, dtype);
  const int64_t reduction = node.IntArg("reduction").value_or(1);
  if (reduction == 0) return {p.Reshape(sums, graph_.type(node.result()).shape)};
  const ItemId sum = WithLoss(sums, 2);
  return {reduction == 2 ? sum : p.Map("$0 / $1", {sum, p.Number(rows, dtype)}, dtype)};
}

// Gathers the target's class from x, for each row of the reduction over classes. If `of_logs`, x holds
// logarithms already. An invalid class gives NaN, where PyTorch raises an error.
std::vector<ItemId> Lowering::LowerCrossEntropy(const graph::Node& node, bool of_logs) {
  Program& p = out_.program;
  const ValueId self = *node.ValueArg("self"), other = *node.ValueArg("target");
  const ItemId x = ItemOf(self), y = ItemOf(other);
  const DType dtype = TypeOf(node);
  const graph::TensorType& in = graph_.type(self);
  const std::optional<ValueId> weight = node.ValueArg("weight");
  const int64_t reduction = node.IntArg("reduction").value_or(1);
  const double smoothing = node.NumberArg("label_smoothing").value_or(0);
  const auto index = [&](int64_t value) { return p.Number(static_cast<double>(value), DType::kInt64); };
  const ItemId ignored = index(node.IntArg("ignore_index").value_or(-100));
  if (graph_.type(other).dtype != DType::kInt64 || in.rank() < 2 ||
      (weight && graph_.type(*weight).dtype != dtype))
    return {};
  const int64_t classes = in.shape[1];
  Shape targets = in.shape;
  targets[1] = 1;
  if (classes < 2 || p.at(y).elements() != graph::ElementsOf(targets)) return {};
  ItemId t = p.Reshape(y, targets);
  if (p.at(y).kind == ItemKind::kTensor) {
    Strides strides = p.at(y).strides;
    strides.insert(strides.begin() + 1, 0);
    t = p.Seen(y, targets, strides);
  }
  const ItemId whole = of_logs ? p.Number(0, dtype) : Reduced("ReduceExps", "log_sum()", x, {1}, dtype);
  const ItemId skip = p.CheapMap("$0 == $1", {t, ignored}, DType::kBool);
  const ItemId safe =
      p.CheapMap("Select($0 < ($C)0 || $0 >= $1, ($C)0, $0)", {t, index(classes)}, DType::kInt64);
  const ItemId exists = p.CheapMap("$0 == $1 || $2", {safe, t, skip}, DType::kBool);
  const auto at_class = [&](ItemId item, Strides steps) {
    steps[1] = 0;
    return p.Gather(item, targets, std::move(steps), {1}, {safe});
  };
  const ItemId picked = at_class(x, graph::ContiguousStrides(in.shape));
  ItemId loss = p.Map("$0 - $1", {whole, picked}, dtype), share = -1;
  if (weight) {
    const ItemId by_class = Channels(*weight, 1, in.rank());
    share = at_class(by_class, Strides(in.shape.size(), 0));
    loss = p.Map("$0 * $1", {loss, share}, dtype);
    if (smoothing > 0) {
      const ItemId sum = Reduced("ReduceSum", "value()", p.Map("$0 * $1", {x, by_class}, dtype), {1}, dtype);
      const ItemId total =
          Reduced("ReduceSum", "value()",
                  p.Map("$0 + $1 * ($C)0", {p.Broadcast(by_class, in.shape), x}, dtype), {1}, dtype);
      loss = p.Map("$0 * $3 + ($1 * $4 - $2) * $5",
                   {loss, whole, sum, p.Number(1 - smoothing, dtype), total,
                    p.Number(smoothing / static_cast<double>(classes), dtype)},
                   dtype);
    }
  } else if (smoothing > 0) {
    const ItemId sum = Reduced("ReduceSum", "value()", x, {1}, dtype);
    loss = p.Map(
        "$0 * $3 + ($1 * $4 - $2) * $5",
        {loss, whole, sum, p.Number(1 - smoothing, dtype), p.Number(static_cast<double>(classes), dtype),
         p.Number(smoothing / static_cast<double>(classes), dtype)},
        dtype);
  }
  loss = p.Map("Select($0, ($C)0, Select($1, $2, $3))",
               {skip, exists, loss, p.Number(std::numeric_limits<double>::quiet_NaN(), dtype)}, dtype);
  if (reduction == 0) return {p.Reshape(loss, graph_.type(node.result()).shape)};
  const ItemId sum = WithLoss(loss, 2);
  if (reduction == 2) return {sum};
  const ItemId counted = WithLoss(weight ? p.Map("Select($0, ($C)0, $1)", {skip, share}, dtype)
                                         : p.Map("Select($0 == $1, ($C)0, ($C)1)", {y, ignored}, dtype),
                                  2);
  return {p.Map("$0 / $1", {sum, counted}, dtype)};
}

std::vector<ItemId> Lowering::LowerLoss(const graph::Node& node, const std::string& name) {
  Program& p = out_.program;
  if (const Items items = LowerDistanceLoss(node, name); !items.empty()) return items;
  const std::optional<ValueId> self = node.ValueArg("self"), other = node.ValueArg("target");
  const DType dtype = TypeOf(node);
  if (!self || !other || dtype != DType::kFloat32 || graph_.type(*self).dtype != DType::kFloat32) return {};
  const int64_t reduction = node.IntArg("reduction").value_or(1);
  const auto finish = [&](ItemId item) { return Items{WithLoss(item, reduction)}; };
  const auto number = [&](double value) { return p.Number(value, dtype); };
  const bool shares = graph::IsFloating(graph_.type(*other).dtype);
  if (name == "cross_entropy_loss")
    return shares ? LowerSoftCrossEntropy(node) : LowerCrossEntropy(node, false);
  if (name == "nll_loss" || name == "nll_loss_nd" || name == "nll_loss2d")
    return node.results.size() == 1 ? LowerCrossEntropy(node, true) : Items{};
  const ItemId x = ItemOf(*self), y = p.Cast(ItemOf(*other), dtype);
  if (!graph::IsFloating(graph_.type(*other).dtype) || graph_.type(*other).dtype == DType::kFloat64)
    return {};
  if (name == "soft_margin_loss") return finish(p.Map("Log1p(Exp(-$1 * $0))", {x, y}, dtype));
  if (name == "hinge_embedding_loss")
    return finish(
        p.Map("Select($1 != ($C)1, AtLeast($2 - $0, ($C)0), ($C)0) + Select($1 != ($C)-1, $0, ($C)0)",
              {x, y, number(node.NumberArg("margin").value_or(1))}, dtype));
  if (name == "mse_loss") return finish(p.Map("($0 - $1) * ($0 - $1)", {x, y}, dtype));
  if (name == "l1_loss") return finish(p.Map("Abs($0 - $1)", {x, y}, dtype));
  if (name == "smooth_l1_loss" || name == "huber_loss") {
    const double limit = node.NumberArg(name == "huber_loss" ? "delta" : "beta").value_or(1);
    const ItemId d = p.Map("Abs($0 - $1)", {x, y}, dtype);
    if (limit == 0) return finish(d);
    return finish(p.Map(name == "huber_loss" ? "Select($0 < $1, $0 * $0 / ($C)2, $1 * ($0 - $1 / ($C)2))"
                                             : "Select($0 < $1, $0 * $0 / ($1 + $1), $0 - $1 / ($C)2)",
                        {d, number(limit)}, dtype));
  }
  if (name == "kl_div") {
    const bool logs = node.BoolArg("log_target").value_or(false);
    return finish(p.Map(logs ? "Exp($1) * ($1 - $0)" : "Xlogy($1, $1) - $1 * $0", {x, y}, dtype));
  }
  const std::optional<ValueId> weight = node.ValueArg("weight"), positive = node.ValueArg("pos_weight");
  for (const std::optional<ValueId>& scale : {weight, positive})
    if (scale && graph_.type(*scale).dtype != dtype) return {};
  const auto weighted = [&](ItemId loss) {
    return finish(weight ? p.Map("$0 * $1", {loss, ItemOf(*weight)}, dtype) : loss);
  };
  if (name == "binary_cross_entropy")
    return weighted(p.Map("($1 - ($C)1) * AtLeast(Log1p(-$0), ($C)-100) - $1 * AtLeast(Log($0), ($C)-100)",
                          {x, y}, dtype));
  if (name == "binary_cross_entropy_with_logits" && positive)
    return weighted(p.Map("(($C)1 - $1) * $0 - (($2 - ($C)1) * $1 + ($C)1) * LogSigmoid($0)",
                          {x, y, ItemOf(*positive)}, dtype));
  if (name == "binary_cross_entropy_with_logits")
    return weighted(p.Map("(($C)1 - $1) * $0 - LogSigmoid($0)", {x, y}, dtype));
  return {};
}

}  // namespace hone::fused
