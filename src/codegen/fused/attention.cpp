#include "codegen/fused/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/split_cost.h"
#include "graph/cost.h"
#include "graph/rewrites/builder.h"

namespace hone::fused {

namespace {

using graph::DType;
using graph::Node;
using graph::Shape;
using graph::ValueId;

struct Attention {
  ValueId query{-1}, key{-1}, value{-1};
  Shape batch;
  int64_t queries = 0, keys = 0, width = 0, value_width = 0;
  bool causal = false;
  double scale = 1;
};

std::optional<Attention> AttentionOf(const graph::Graph& graph, const Node& node) {
  if (node.op != graph::Op::kAttention) return std::nullopt;
  const std::optional<ValueId> q = node.ValueArg("query"), k = node.ValueArg("key"),
                               v = node.ValueArg("value");
  if (!q || !k || !v || node.NumberArg("dropout_p").value_or(0) != 0 ||
      node.BoolArg("enable_gqa").value_or(false))
    return std::nullopt;
  const Shape &qs = graph.type(*q).shape, &ks = graph.type(*k).shape, &vs = graph.type(*v).shape;
  if (qs.size() < 3 || ks.size() != qs.size() || vs.size() != qs.size()) return std::nullopt;
  for (const ValueId one : {*q, *k, *v})
    if (graph.type(one).dtype != graph.type(node.result()).dtype || graph.type(one).elements() == 0)
      return std::nullopt;
  const size_t rank = qs.size();
  Attention out{*q, *k, *v, Shape(qs.begin(), qs.end() - 2)};
  if (Shape(ks.begin(), ks.end() - 2) != out.batch || Shape(vs.begin(), vs.end() - 2) != out.batch)
    return std::nullopt;
  out.queries = qs[rank - 2], out.width = qs[rank - 1];
  out.keys = ks[rank - 2], out.value_width = vs[rank - 1];
  if (ks[rank - 1] != out.width || vs[rank - 2] != out.keys) return std::nullopt;
  out.causal = node.BoolArg("is_causal").value_or(false);
  out.scale = node.NumberArg("scale").value_or(1 / std::sqrt(static_cast<double>(out.width)));
  return out;
}

// The axes of a tensor in memory order, outermost first.
std::vector<int64_t> OrderOf(const graph::TensorType& type) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < type.rank(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return type.strides[static_cast<size_t>(a)] > type.strides[static_cast<size_t>(b)];
  });
  return order;
}

// If readers only use the result with heads and rows exchanged, it is stored in that order.
std::vector<int64_t> WrittenOrder(const graph::Graph& graph, const Node& node) {
  const graph::TensorType& type = graph.type(node.result());
  std::vector<int64_t> order = OrderOf(type);
  if (!type.is_contiguous() || type.rank() != 4 || !graph.HasOneUse(node.result())) return order;
  const Node& reader = graph.node(graph.Users(node.result()).front());
  const bool exchanges = reader.op == graph::Op::kTranspose &&
                         graph::NormalizeAxis(reader.IntArg("dim0").value_or(9), 4) == 1 &&
                         graph::NormalizeAxis(reader.IntArg("dim1").value_or(9), 4) == 2;
  if (exchanges || reader.IntsArg("dims") == std::vector<int64_t>{0, 2, 1, 3}) order = {0, 2, 1, 3};
  return order;
}

void Expand(graph::Graph& graph, graph::NodeId id, const Attention& a) {
  graph::Builder build(graph, id);
  const ValueId result = graph.node(id).result();
  const DType dtype = graph.type(result).dtype;
  const int64_t rank = static_cast<int64_t>(a.batch.size()) + 2;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(rank) - 1], order[static_cast<size_t>(rank) - 2]);
  Shape shape = a.batch;
  shape.insert(shape.end(), {a.queries, a.keys});
  ValueId scores = build.Mul(build.Matmul(a.query, build.Permute(a.key, order), shape), a.scale);
  if (a.causal) {
    // A query sees the keys up to its own position, counted from the first key, so each sees at least one.
    const graph::TensorType square = graph::ContiguousType(DType::kBool, {a.queries, a.keys});
    const ValueId later = build.Insert(
        "aten.triu.default",
        {{"self", build.Full(a.query, {a.queries, a.keys}, 1, DType::kBool)}, {"diagonal", int64_t{1}}},
        square);
    scores =
        build.Insert("aten.masked_fill.Scalar",
                     {{"self", scores}, {"mask", later}, {"value", -std::numeric_limits<double>::infinity()}},
                     graph::ContiguousType(dtype, shape));
  }
  const ValueId shares =
      build.Insert("aten.softmax.int", {{"self", scores}, {"dim", int64_t{-1}}, {"dtype", graph::None{}}},
                   graph::ContiguousType(dtype, shape));
  shape.back() = a.value_width;
  ValueId made = build.Matmul(shares, a.value, shape);
  const std::vector<int64_t> memory = OrderOf(graph.type(result));
  if (!std::is_sorted(memory.begin(), memory.end())) {  // readers rely on the memory order of its elements
    std::vector<int64_t> back(memory.size());
    for (size_t i = 0; i < memory.size(); ++i) back[static_cast<size_t>(memory[i])] = static_cast<int64_t>(i);
    made = build.Permute(made, memory);
    const graph::TensorType written = graph::ContiguousType(dtype, graph.type(made).shape);
    made = build.Insert(
        "aten.contiguous.default",
        {{"self", made}, {"memory_format", graph::Symbol{"memory_format", "contiguous_format"}}}, written);
    made = build.Permute(made, back);
  }
  graph.ReplaceUses(result, made);
}

template <class Pays>
int ExpandWhere(graph::Graph& graph, Pays pays) {
  const int times = graph::ForEachNode(graph, [&](graph::NodeId id, const Node& node) {
    const std::optional<Attention> found = AttentionOf(graph, node);
    if (!found || node.ValueArg("attn_mask") || !pays(*found)) return false;
    Expand(graph, id, *found);
    return true;
  });
  if (times > 0) graph.EraseDead();
  return times;
}

constexpr int64_t kMostWidth = 128;       // width of a head, because accumulators are in registers
constexpr double kLeastScores = 1 << 22;  // with fewer there is little to gain

// The factor and the operand of a product with a number; a division is a product by the inverse.
struct Scaled {
  ValueId value{-1};
  double by = 1;
};
std::optional<Scaled> ScaledOf(const Node& node) {
  const std::optional<ValueId> self = node.ValueArg("self");
  const std::optional<double> number = node.NumberArg("other");
  if (!self || !number) return std::nullopt;
  if (node.op == graph::Op::kMul) return Scaled{*self, *number};
  if (node.op == graph::Op::kDiv && *number != 0) return Scaled{*self, 1 / *number};
  return std::nullopt;
}

struct Pair {
  ValueId left{-1}, right{-1};
};
std::optional<Pair> ProductOf(const Node* node) {
  if (node == nullptr || (node->op != graph::Op::kMatmul && node->op != graph::Op::kBmm)) return std::nullopt;
  const std::optional<ValueId> left = node->ValueArg("self"),
                               right = node->ValueArg(node->op == graph::Op::kBmm ? "mat2" : "other");
  return left && right ? std::optional<Pair>({*left, *right}) : std::nullopt;
}

// A score of this or less has a share of 0 in float32 beside scores above half of it. Attention whose scores
// are all below that would see hidden keys in PyTorch, and does not here.
constexpr double kHides = -5e8;

// What a query that sees no key gets. The kernel gives NaN, as the softmax of infinities does.
enum class Without {
  kNaN,
  kMean,  // of all values: the softmax of equal finite scores
  kZero,  // as the operator of newer releases of PyTorch does
};

// A mask of keys for each query, in the place of which scores get a number that hides them.
struct Hidden {
  ValueId scores{-1}, mask{-1};
  bool shows = false;  // the mask is true for the keys that are seen
  double fill = 0;
};

// The number that an argument is: written as such, a constant of one element, or a tensor of equal elements.
std::optional<double> UniformArg(const graph::Graph& graph, const Node& node, const char* name) {
  if (const std::optional<double> number = node.NumberArg(name)) return number;
  const std::optional<ValueId> value = node.ValueArg(name);
  if (!value) return std::nullopt;
  const graph::Value& known = graph.value(*value);
  if (known.has_data && known.data.size() == 1) return known.data[0];
  const Node* made = graph.Definition(*value);
  if (made == nullptr) return std::nullopt;
  switch (made->op) {
    case graph::Op::kZeros:
    case graph::Op::kZerosLike:
      return 0;
    case graph::Op::kFull:
    case graph::Op::kFullLike:
      return made->NumberArg("fill_value");
    default:
      return std::nullopt;
  }
}

// masked_fill(scores, mask, fill) and where(mask, scores, fill), with the mask's two senses.
std::optional<Hidden> HiddenBy(const graph::Graph& graph, const Node& node) {
  if (node.op == graph::Op::kMaskedFill) {
    const std::optional<ValueId> self = node.ValueArg("self"), mask = node.ValueArg("mask");
    const std::optional<double> fill = UniformArg(graph, node, "value");
    if (!self || !mask || !fill) return std::nullopt;
    return Hidden{*self, *mask, false, *fill};
  }
  if (node.op != graph::Op::kWhere) return std::nullopt;
  const std::optional<ValueId> mask = node.ValueArg("condition");
  if (!mask) return std::nullopt;
  for (const bool shows : {true, false}) {
    const std::optional<ValueId> scores = node.ValueArg(shows ? "self" : "other");
    const std::optional<double> fill = UniformArg(graph, node, shows ? "other" : "self");
    if (scores && fill && *fill <= kHides) return Hidden{*scores, *mask, shows, *fill};
  }
  return std::nullopt;
}

// The mask behind a bias of scores that is 0 where a key is seen and minus infinity elsewhere.
std::optional<Hidden> HiddenByBias(const graph::Graph& graph, ValueId bias) {
  const Node* made = graph.Definition(bias);
  if (made == nullptr) return std::nullopt;
  const auto is_infinite = [](std::optional<double> one) { return one && std::isinf(*one) && *one < 0; };
  if (made->op == graph::Op::kMaskedFill) {
    const std::optional<ValueId> mask = made->ValueArg("mask");
    if (!mask || UniformArg(graph, *made, "self") != 0.0 || !is_infinite(UniformArg(graph, *made, "value")))
      return std::nullopt;
    return Hidden{ValueId{-1}, *mask, false, -std::numeric_limits<double>::infinity()};
  }
  const std::optional<ValueId> mask = made->ValueArg("condition");
  if (made->op != graph::Op::kWhere || !mask) return std::nullopt;
  for (const bool shows : {true, false})
    if (UniformArg(graph, *made, shows ? "self" : "other") == 0.0 &&
        is_infinite(UniformArg(graph, *made, shows ? "other" : "self")))
      return Hidden{ValueId{-1}, *mask, shows, -std::numeric_limits<double>::infinity()};
  return std::nullopt;
}

// Attention written as matmul(softmax(...), v). The keys have the shape in which they are multiplied: [...,
// width, keys].
struct Written {
  Attention attention;
  std::optional<ValueId> mask;
  bool shows = false;  // the mask is true for the keys that are seen
  Without without = Without::kNaN;
};

// Whether one mask of [queries, keys] serves all heads.
bool IsMaskOfAllHeads(const graph::Graph& graph, ValueId id, const Attention& a) {
  const graph::TensorType& mask = graph.type(id);
  if (mask.dtype != DType::kBool || mask.rank() < 2) return false;
  // A mask of keys for each item of a batch may have as many elements.
  return mask.elements() == a.queries * a.keys && mask.shape[mask.rank() - 2] == a.queries &&
         mask.shape.back() == a.keys;
}

// The operator, with a mask of bools, or of minus infinities that forward makes from bools.
std::optional<Written> MaskedOperator(const graph::Graph& graph, const Node& node) {
  const std::optional<Attention> attention = AttentionOf(graph, node);
  if (!attention) return std::nullopt;
  Written out{*attention, node.ValueArg("attn_mask")};
  if (!out.mask) return out;
  out.shows = true;
  out.without = Without::kZero;
  if (const std::optional<Hidden> bias = HiddenByBias(graph, *out.mask)) {
    out.mask = bias->mask;
    out.shows = bias->shows;
  }
  if (attention->causal || !IsMaskOfAllHeads(graph, *out.mask, *attention)) return std::nullopt;
  return out;
}
std::optional<Written> WrittenAttention(const graph::Graph& graph, const Node& node) {
  const std::optional<Pair> outer = ProductOf(&node);
  if (!outer) return std::nullopt;
  const Node* softmax = graph::OnlyDefinition(graph, outer->left);
  if (softmax == nullptr || softmax->op != graph::Op::kSoftmax ||
      graph.type(outer->left).dtype != DType::kFloat32)
    return std::nullopt;
  const int64_t rank = graph.type(outer->left).rank();
  std::optional<ValueId> at = graph::Operand(*softmax);
  if (!at || graph.type(*at).dtype != DType::kFloat32 || rank < 3 ||
      graph::NormalizeAxis(softmax->IntArg("dim").value_or(0), rank) != rank - 1)
    return std::nullopt;
  Written out;
  Attention& a = out.attention;
  const Node* before = graph::OnlyDefinition(graph, *at);
  std::optional<Hidden> hidden;
  if (before != nullptr) hidden = HiddenBy(graph, *before);
  if (before != nullptr && before->op == graph::Op::kAdd && before->NumberArg("alpha").value_or(1) == 1) {
    for (const bool first : {true, false}) {
      const std::optional<ValueId> scores = before->ValueArg(first ? "self" : "other"),
                                   bias = before->ValueArg(first ? "other" : "self");
      if (hidden || !scores || !bias || graph.type(*scores).shape != graph.type(*at).shape) continue;
      hidden = HiddenByBias(graph, *bias);
      if (hidden) hidden->scores = *scores;
    }
  }
  if (hidden) {
    if (!(hidden->fill <= kHides) || graph.type(hidden->scores).shape != graph.type(*at).shape)
      return std::nullopt;
    out.mask = hidden->mask;
    out.shows = hidden->shows;
    out.without = std::isinf(hidden->fill) ? Without::kNaN : Without::kMean;
    before = graph::OnlyDefinition(graph, hidden->scores);
  }
  if (before != nullptr)
    if (const std::optional<Scaled> scaled = ScaledOf(*before)) {
      a.scale = scaled->by;
      before = graph::OnlyDefinition(graph, scaled->value);
    }
  const std::optional<Pair> inner = ProductOf(before);
  if (!inner) return std::nullopt;
  a.query = inner->left, a.key = inner->right, a.value = outer->right;
  // A factor of the queries or of the keys is one of the scores.
  for (ValueId* const operand : {&a.query, &a.key}) {
    const Node* scaled = graph::OnlyDefinition(graph, *operand);
    const std::optional<Scaled> inside = scaled == nullptr ? std::nullopt : ScaledOf(*scaled);
    if (!inside || graph.type(inside->value).shape != graph.type(*operand).shape ||
        graph.type(inside->value).dtype != graph.type(*operand).dtype)
      continue;
    a.scale *= inside->by;
    *operand = inside->value;
  }
  const Shape &qs = graph.type(a.query).shape, &ks = graph.type(a.key).shape, &vs = graph.type(a.value).shape;
  if (static_cast<int64_t>(qs.size()) != rank || ks.size() != qs.size() || vs.size() != qs.size())
    return std::nullopt;
  a.batch = Shape(qs.begin(), qs.end() - 2);
  if (Shape(ks.begin(), ks.end() - 2) != a.batch || Shape(vs.begin(), vs.end() - 2) != a.batch)
    return std::nullopt;
  const size_t last = qs.size() - 1;
  a.queries = qs[last - 1], a.width = qs[last], a.keys = ks[last], a.value_width = vs[last];
  if (ks[last - 1] != a.width || vs[last - 1] != a.keys) return std::nullopt;
  if (out.mask && !IsMaskOfAllHeads(graph, *out.mask, a)) return std::nullopt;
  return out;
}

bool KernelCovers(const graph::Graph& graph, const Attention& a) {
  for (const ValueId one : {a.query, a.key, a.value})
    if (graph.type(one).dtype != DType::kFloat32 || graph.type(one).elements() == 0) return false;
  return a.width <= kMostWidth && a.value_width <= kMostWidth && graph::ElementsOf(a.batch) <= 65535;
}

// Gives the queries that see no key what PyTorch gives them. `hides` is [queries, keys].
ValueId Mended(graph::Builder& build, ValueId made, ValueId hides, const Written& found) {
  if (found.without == Without::kNaN) return made;
  const Attention& a = found.attention;
  const ValueId alone =
      build.Insert("aten.all.dim", {{"self", hides}, {"dim", int64_t{1}}, {"keepdim", true}},
                   graph::ContiguousType(DType::kBool, {a.queries, 1}));
  const graph::TensorType type = build.type(made);
  if (found.without == Without::kZero)
    return build.Insert("aten.masked_fill.Scalar", {{"self", made}, {"mask", alone}, {"value", 0.0}}, type);
  const ValueId mean = build.Mean(a.value, {type.rank() - 2}, true);
  return build.Insert("aten.where.self", {{"condition", alone}, {"self", mean}, {"other", made}}, type);
}

FusedAttention FuseWhere(graph::Graph& graph, const GpuCosts& gpu, double least_scores) {
  FusedAttention out;
  graph::ForEachNode(graph, [&](graph::NodeId id, const Node& node) {
    Written found;
    bool written = false;
    if (const std::optional<Written> whole = MaskedOperator(graph, node)) {
      found = *whole;
    } else if (std::optional<Written> parts = WrittenAttention(graph, node)) {
      found = *parts;
      written = true;
    } else {
      return false;
    }
    const Attention& a = found.attention;
    const double scores = static_cast<double>(graph::ElementsOf(a.batch)) * static_cast<double>(a.queries) *
                          static_cast<double>(a.keys);
    if (!KernelCovers(graph, a) || scores < least_scores) return false;
    graph::Builder build(graph, id);
    ValueId key = a.key;
    if (written) {
      std::vector<int64_t> order;
      for (int64_t i = 0; i < graph.type(key).rank(); ++i) order.push_back(i);
      std::swap(order[order.size() - 1], order[order.size() - 2]);
      key = build.Permute(key, order);
    }
    graph::ArgumentValue mask = graph::None{}, tiles = graph::None{};
    ValueId plain{-1};
    if (found.mask) {
      plain = build.Reshape(*found.mask, {a.queries, a.keys});
      if (found.shows)
        plain = build.Insert("aten.logical_not.default", {{"self", plain}},
                             graph::ContiguousType(DType::kBool, {a.queries, a.keys}));
      mask = plain;
      tiles =
          build.Insert("hone.attention_tiles.default", {{"mask", plain}},
                       graph::ContiguousType(DType::kUInt8, {(a.keys + 63) / 64, (a.queries + 127) / 128}));
    }
    Shape shape = a.batch;
    shape.insert(shape.end(), {a.queries, a.value_width});
    std::vector<int64_t> memory = WrittenOrder(graph, node);
    if (found.without != Without::kNaN) std::sort(memory.begin(), memory.end());  // another kernel reads it
    if (memory.back() + 1 != static_cast<int64_t>(shape.size()) ||
        (shape.size() > 4 && !std::is_sorted(memory.begin(), memory.end())))
      return false;
    const ValueId made = build.Insert(kAttention,
                                      {{"query", a.query},
                                       {"key", key},
                                       {"value", a.value},
                                       {"mask", mask},
                                       {"tiles", tiles},
                                       {"scale", a.scale},
                                       {"causal", a.causal},
                                       {"order", memory}},
                                      graph::ContiguousType(DType::kFloat32, shape));
    graph.ReplaceUses(node.result(), Mended(build, made, plain, found));
    const double flops = 2 * static_cast<double>(graph::ElementsOf(a.batch)) *
                         static_cast<double>(a.queries * a.keys) *
                         static_cast<double>(a.width + a.value_width) * (a.causal ? 0.5 : 1);
    out.count += 1;
    out.us += 3 * flops / gpu.split_gemm.product_flops_per_us + gpu.split_gemm.call_us;
    out.pytorch_us += flops / gpu.split_gemm.pytorch_flops_per_us;
    return true;
  });
  if (out.count > 0) graph.EraseDead();
  return out;
}

}  // namespace

FusedAttention FuseAttention(graph::Graph& graph, const GpuCosts& gpu) {
  return FuseWhere(graph, gpu, kLeastScores);
}

FusedAttention FuseAllAttention(graph::Graph& graph) {
  return FuseWhere(graph, GpuCosts(), 0);
}

int ExpandAllAttention(graph::Graph& graph) {
  return ExpandWhere(graph, [](const Attention&) { return true; });
}

int ExpandAttention(graph::Graph& graph, const GpuCosts& gpu) {
  return ExpandWhere(graph, [&](const Attention& a) {
    if (graph.type(a.query).dtype != DType::kFloat32) return false;
    const auto number = [](int64_t value) { return static_cast<double>(value); };
    const double heads = number(graph::ElementsOf(a.batch)), scores = heads * number(a.queries * a.keys);
    SplitProductSize of_keys = {number(a.queries), number(a.keys), number(a.width), heads},
                     of_values = {number(a.queries), number(a.value_width), number(a.keys), heads};
    of_keys.split_elements = heads * number((a.queries + a.keys) * a.width);
    of_values.split_elements = scores + heads * number(a.keys * a.value_width);
    const SplitProductCost first = CostOfSplitProduct(of_keys, gpu),
                           second = CostOfSplitProduct(of_values, gpu);
    if (!first.pays || !second.pays) return false;
    // The softmax reads and writes the scores. PyTorch's single kernel keeps them on the chip and skips
    // masked ones.
    const double softmax_us = 8 * scores / gpu.split_gemm.bytes_per_us;
    const double flops = 2 * scores * number(a.width + a.value_width) * (a.causal ? 0.5 : 1);
    return first.ours_us + second.ours_us + softmax_us <
           gpu.split_gemm.of_pytorch * flops / gpu.split_gemm.pytorch_flops_per_us;
  });
}

}  // namespace hone::fused
