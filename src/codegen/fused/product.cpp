#include "codegen/fused/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "codegen/split_cost.h"
#include "graph/rewrites/builder.h"

namespace hone::fused {

namespace {

using graph::Op;
using graph::Shape;
using graph::TensorType;
using graph::ValueId;

constexpr int64_t kMostBatches = 4096;  // 65535 CTAs along z, with up to 16 parts of k
constexpr int64_t kMostShares = 4096;   // a warp holds a softmax row in registers

// The leading axes of a batch of matrices.
Shape BatchOf(const Shape& shape) {
  return {shape.begin(), shape.end() - 2};
}

// matmul of tensors with at least two axes: x[..., rows, k] other[..., k, units].
std::optional<Product> OfMatrices(const graph::Graph& graph, ValueId x, ValueId other) {
  const Shape& left = graph.type(x).shape;
  const Shape& right = graph.type(other).shape;
  if (left.size() < 2 || right.size() < 2) return std::nullopt;
  Product product;
  product.x = x;
  product.w = other;
  product.w_view = "lambda t: t.mT";
  product.width = left.back();
  product.units = right.back();
  if (right.size() == 2) {
    product.rows = graph::ElementsOf(left) / std::max<int64_t>(1, product.width);
    return product;
  }
  product.rows = left[left.size() - 2];
  product.batch = graph::BroadcastShapes(BatchOf(left), BatchOf(right));
  if (!product.batch) return std::nullopt;
  product.batches = graph::ElementsOf(*product.batch);
  for (const Shape& shape : {BatchOf(left), BatchOf(right)})
    if (graph::ElementsOf(shape) != 1 && graph::ElementsOf(shape) != product.batches) return std::nullopt;
  return product;
}

std::string Permuted(const std::string& have, const std::string& want) {
  if (have == want) return "lambda t: t";
  std::vector<std::string> axes;
  for (const char letter : want) axes.push_back(std::to_string(have.find(letter)));
  return "lambda t: t.permute(" + Join(axes, ", ") + ")";
}

// Einsums such as "bijl,lk->bijk": one letter is summed over, the letters of the rows come before those of
// the units, and only one of the two consists of several letters.
std::optional<Product> OfEinsum(const graph::Graph& graph, const graph::Node& node) {
  const auto* equation = std::get_if<std::string>(&node.Arg("equation"));
  const auto* tensors = std::get_if<graph::ValueList>(&node.Arg("tensors"));
  if (equation == nullptr || tensors == nullptr || tensors->size() != 2) return std::nullopt;
  if (!(*tensors)[0] || !(*tensors)[1]) return std::nullopt;
  const std::string text = ReplaceAll(*equation, " ", "");
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || Contains(text, ".")) return std::nullopt;
  const std::string names[2] = {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1)};
  const std::string out = text.substr(arrow + 2);
  for (size_t i = 0; i < 2; ++i)
    if (graph.type(*(*tensors)[i]).shape.size() != names[i].size()) return std::nullopt;
  const auto has = [](const std::string& word, char letter) {
    return word.find(letter) != std::string::npos;
  };
  std::string batch, summed, own[2];
  for (const std::string& name : {names[0], names[1], out}) {
    std::string sorted = name;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  }
  for (const char letter : names[0])
    if (has(names[1], letter)) (has(out, letter) ? batch : summed) += letter;
  for (size_t i = 0; i < 2; ++i)
    for (const char letter : names[i])
      if (!has(names[1 - i], letter)) {
        if (!has(out, letter)) return std::nullopt;
        own[i] += letter;
      }
  if (summed.size() != 1) return std::nullopt;
  // The operand whose letters come first in the result provides the rows.
  for (const size_t first : {0, 1}) {
    const std::string &rows = own[first], &units = own[1 - first];
    if (out != batch + rows + units || units.size() != 1 || rows.empty() ||
        (!batch.empty() && rows.size() != 1))
      continue;
    Product product;
    product.x = *(*tensors)[first];
    product.w = *(*tensors)[1 - first];
    product.x_view = Permuted(names[first], batch + rows + summed);
    product.w_view = Permuted(names[1 - first], batch + units + summed);
    const auto size = [&](char letter) {
      const size_t at = names[0].find(letter);
      return at != std::string::npos ? graph.type(*(*tensors)[0]).shape[at]
                                     : graph.type(*(*tensors)[1]).shape[names[1].find(letter)];
    };
    product.rows = 1;
    for (const char letter : rows) product.rows *= size(letter);
    product.units = size(units[0]);
    product.width = size(summed[0]);
    if (!batch.empty()) {
      product.batch = Shape();
      for (const char letter : batch) product.batch->push_back(size(letter));
      product.batches = graph::ElementsOf(*product.batch);
    }
    return product;
  }
  return std::nullopt;
}

std::optional<Product> OfLinear(const graph::Graph& graph, const graph::Node& node) {
  const std::optional<ValueId> input = node.ValueArg("input"), weight = node.ValueArg("weight");
  if (!input || !weight || graph.type(*weight).rank() != 2 || graph.type(*input).rank() < 1)
    return std::nullopt;
  Product product;
  product.x = *input;
  product.w = *weight;
  product.bias = node.ValueArg("bias");
  product.units = graph.type(*weight).shape[0];
  product.width = graph.type(*weight).shape[1];
  product.rows = graph.type(*input).elements() / std::max<int64_t>(1, product.width);
  if (graph.type(*input).rank() == 1) product.x_view = "lambda t: t[None]";
  return product;
}

std::optional<Product> OfPair(const graph::Graph& graph, const graph::Node& node, std::string_view first,
                              std::string_view second) {
  const std::optional<ValueId> x = node.ValueArg(first), other = node.ValueArg(second);
  return x && other ? OfMatrices(graph, *x, *other) : std::nullopt;
}

}  // namespace

std::string Product::About() const {
  return fmt::format("{}{} x {} x {}", batches > 1 ? std::to_string(batches) + " x " : "", rows, width,
                     units);
}

std::optional<Product> ProductOfNode(const graph::Graph& graph, const graph::Node& node) {
  std::optional<Product> product;
  if (node.target == kSoftmaxProduct || node.target == kKeptProduct)
    product = OfPair(graph, node, "self", "other");
  if (product && node.target == kSoftmaxProduct) {
    product->softmax = node.NumberArg("factor").value_or(1);
    product->order = node.IntsArg("order").value_or(std::vector<int64_t>{});
  }
  if (product && node.target == kKeptProduct) {
    product->kept = node.IntArg("kept") == 1 ? Kept::kUpper : Kept::kLower;
    product->diagonal = node.IntArg("diagonal").value_or(0);
  }
  switch (node.op) {
    case Op::kLinear:
      product = OfLinear(graph, node);
      break;
    case Op::kMatmul:
      product = OfPair(graph, node, "self", "other");
      break;
    case Op::kMm:
    case Op::kBmm:
      product = OfPair(graph, node, "self", "mat2");
      break;
    case Op::kAddmm:
      product = OfPair(graph, node, "mat1", "mat2");
      if (product) product->bias = node.ValueArg("self");
      if (node.NumberArg("beta") != 1.0 || node.NumberArg("alpha") != 1.0) return std::nullopt;
      break;
    case Op::kEinsum:
      product = OfEinsum(graph, node);
      break;
    default:
      break;
  }
  if (!product || product->batches > kMostBatches) return std::nullopt;
  if (std::min({product->rows, product->units, product->width, product->batches}) < 1) return std::nullopt;
  std::vector<ValueId> tensors = {product->x, product->w, node.result()};
  if (product->bias) tensors.push_back(*product->bias);
  for (const ValueId tensor : tensors)
    if (graph.type(tensor).dtype != graph::DType::kFloat32) return std::nullopt;
  if (product->bias && graph.type(*product->bias).shape != Shape{product->units}) return std::nullopt;
  if (product->order.empty() && !graph.type(node.result()).is_contiguous()) return std::nullopt;
  return product;
}

namespace {

// The node's product with its costs, if it is expected to be faster than PyTorch's.
std::optional<Product> WorthwhileProduct(const graph::Graph& graph, const graph::Node& node,
                                         const std::vector<bool>& fixed, const GpuCosts& gpu) {
  const auto is_fixed = [&](ValueId id) {
    return static_cast<size_t>(id) < fixed.size() && fixed[static_cast<size_t>(id)];
  };
  std::optional<Product> product = ProductOfNode(graph, node);
  if (!product || is_fixed(node.result())) return std::nullopt;
  product->of = is_fixed(product->w) ? "w" : is_fixed(product->x) && !product->softmax ? "x" : "";
  SplitProductSize size = {static_cast<double>(product->rows), static_cast<double>(product->units),
                           static_cast<double>(product->width), static_cast<double>(product->batches)};
  for (const ValueId operand : {product->x, product->w}) {
    const TensorType& type = graph.type(operand);
    const bool across = operand == product->x && type.strides.back() != 1;
    (is_fixed(operand) ? size.kept_elements
     : across          ? size.across_elements
                       : size.split_elements) += static_cast<double>(type.elements());
  }
  SplitProductCost cost = CostOfSplitProduct(size, gpu);
  // With few tiles, PyTorch's kernel uses few processors.
  const auto [tile, least_filled] = gpu.product;
  const double tiles = size.batches * std::ceil(size.rows / tile) * std::ceil(size.units / tile);
  if (size.rows >= tile && size.units >= tile)
    cost.pytorch_us /= std::clamp(tiles / static_cast<double>(gpu.processors), least_filled, 1.0);
  if (cost.ours_us >= gpu.split_gemm.of_pytorch * cost.pytorch_us) return std::nullopt;
  product->us = cost.ours_us;
  product->pytorch_us = cost.pytorch_us;
  return product;
}

struct Softmax {
  ValueId scores{-1};
  double factor = 1;
};

// The softmax along the last axis that only the product reads, with an optional scale of its scores.
std::optional<Softmax> SoftmaxBefore(const graph::Graph& graph, const Product& product) {
  const graph::Node* softmax = graph::OnlyDefinition(graph, product.x);
  if (softmax == nullptr || softmax->op != Op::kSoftmax || product.width > kMostShares) return std::nullopt;
  const std::optional<ValueId> self = graph::Operand(*softmax);
  const int64_t rank = graph.type(product.x).rank();
  if (!self || graph.type(*self).dtype != graph::DType::kFloat32 ||
      graph::NormalizeAxis(softmax->IntArg("dim").value_or(0), rank) != rank - 1)
    return std::nullopt;
  Softmax found = {*self};
  const graph::Node* scaled = graph::OnlyDefinition(graph, found.scores);
  if (scaled == nullptr || (scaled->op != Op::kMul && scaled->op != Op::kDiv)) return found;
  const std::optional<ValueId> scores = scaled->ValueArg("self");
  const std::optional<double> number = scaled->NumberArg("other");
  if (!scores || !number || *number == 0 || !std::isfinite(*number) ||
      graph.type(*scores).dtype != graph::DType::kFloat32 ||
      graph.type(*scores).shape != graph.type(found.scores).shape)
    return found;
  return Softmax{*scores, scaled->op == Op::kMul ? *number : 1 / *number};
}

// A permutation after the product, a copy and the inverse permutation: they set the result's memory order.
struct Reordered {
  std::vector<int64_t> order;
  ValueId result{-1};
};
std::optional<Reordered> ReorderedBehind(const graph::Graph& graph, const Product& product, ValueId result) {
  const auto reader = [&](ValueId id) {
    return graph.HasOneUse(id) ? &graph.node(graph.Users(id).front()) : nullptr;
  };
  const graph::Node* there = reader(result);
  if (there == nullptr || there->op != Op::kPermute || !product.batch || product.batch->size() > 2)
    return std::nullopt;
  const graph::Node* copy = reader(there->result());
  if (copy == nullptr || copy->target != "aten.contiguous.default") return std::nullopt;
  const graph::Node* back = reader(copy->result());
  const std::optional<std::vector<int64_t>> order = there->IntsArg("dims");
  if (back == nullptr || back->op != Op::kPermute || !order) return std::nullopt;
  const std::optional<std::vector<int64_t>> dims = back->IntsArg("dims");
  const size_t rank = order->size();
  if (!dims || dims->size() != rank || order->back() + 1 != static_cast<int64_t>(rank)) return std::nullopt;
  for (size_t axis = 0; axis < rank; ++axis)
    if ((*order)[static_cast<size_t>((*dims)[axis])] != static_cast<int64_t>(axis)) return std::nullopt;
  return Reordered{*order, back->result()};
}

// The triu or tril that is the product's only reader and has the same rows.
const graph::Node* TriangleBehind(const graph::Graph& graph, const Product& product, ValueId result) {
  if (!graph.HasOneUse(result) || product.bias || (!product.batch && graph.type(product.x).rank() != 2))
    return nullptr;
  const graph::Node& reader = graph.node(graph.Users(result).front());
  return reader.op == Op::kTriu || reader.op == Op::kTril ? &reader : nullptr;
}

}  // namespace

int FoldAroundProducts(graph::Graph& graph, const GpuCosts& gpu) {
  const std::vector<bool> fixed = graph::FixedValues(graph);
  const int times = graph::ForEachNode(graph, [&](graph::NodeId id, const graph::Node& node) {
    if (node.op != Op::kMatmul && node.op != Op::kMm && node.op != Op::kBmm) return false;
    const std::optional<Product> product = WorthwhileProduct(graph, node, fixed, gpu);
    if (!product) return false;
    graph::Builder build(graph, id);
    const TensorType type = graph.type(node.result());
    if (const std::optional<Softmax> before = SoftmaxBefore(graph, *product)) {
      const std::optional<Reordered> reordered = ReorderedBehind(graph, *product, node.result());
      const ValueId replaced = reordered ? reordered->result : node.result();
      const graph::ArgumentValue order =
          reordered ? graph::ArgumentValue(reordered->order) : graph::ArgumentValue(graph::None{});
      graph.ReplaceUses(
          replaced,
          build.Insert(
              kSoftmaxProduct,
              {{"self", before->scores}, {"other", product->w}, {"factor", before->factor}, {"order", order}},
              TensorType(graph.type(replaced))));
      return true;
    }
    const graph::Node* triangle = TriangleBehind(graph, *product, node.result());
    if (triangle == nullptr) return false;
    const ValueId kept = triangle->result();
    const int64_t part = triangle->op == Op::kTriu ? 1 : 2,
                  diagonal = triangle->IntArg("diagonal").value_or(0);
    graph.ReplaceUses(
        kept,
        build.Insert(kKeptProduct,
                     {{"self", product->x}, {"other", product->w}, {"kept", part}, {"diagonal", diagonal}},
                     type));
    return true;
  });
  if (times > 0) graph.EraseDead();
  return times;
}

std::map<graph::NodeId, Product> ChooseProducts(const graph::Graph& graph, const GpuCosts& gpu) {
  std::map<graph::NodeId, Product> chosen;
  const std::vector<bool> fixed = graph::FixedValues(graph);
  for (const graph::NodeId id : graph.order())
    if (std::optional<Product> product = WorthwhileProduct(graph, graph.node(id), fixed, gpu))
      chosen.emplace(id, std::move(*product));
  return chosen;
}

}  // namespace hone::fused
