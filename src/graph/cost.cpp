#include "graph/cost.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "graph/einsum.h"

namespace hone::graph {

namespace {

double Elements(const Graph& graph, ValueId id) {
  return static_cast<double>(graph.type(id).elements());
}

// FLOPs of one dot product per element of the result, each as long as the last axis of `left`.
double ProductFlops(const Graph& graph, const Node& node, const char* left) {
  const std::optional<ValueId> id = node.ValueArg(left);
  if (!id || graph.type(*id).shape.empty()) return 0;
  return 2 * Elements(graph, node.result()) * static_cast<double>(graph.type(*id).shape.back());
}

double ConvolutionFlops(const Graph& graph, const Node& node) {
  const std::optional<ValueId> input = node.ValueArg("input");
  const std::optional<ValueId> weight = node.ValueArg("weight");
  if (!input || !weight || graph.type(*weight).shape.empty()) return 0;
  // Each output element takes one multiplication per weight entry of its channel, that is, per entry outside
  // the weight's first axis. In a transposed convolution that holds for each input element.
  const ValueId swept = node.op == Op::kConvTranspose ? *input : node.result();
  const double per_element = Elements(graph, *weight) / static_cast<double>(graph.type(*weight).shape[0]);
  return 2 * Elements(graph, swept) * per_element;
}

// Every weight matrix is applied once to each step of each sequence.
double RecurrentFlops(const Graph& graph, const Node& node) {
  const std::optional<ValueId> input = node.ValueArg("input");
  const auto* params = std::get_if<ValueList>(&node.Arg("params"));
  if (!input || params == nullptr || graph.type(*input).shape.empty()) return 0;
  const double steps = Elements(graph, *input) / static_cast<double>(graph.type(*input).shape.back());
  double flops = 0;
  for (const std::optional<ValueId>& one : *params)
    if (one && graph.type(*one).rank() == 2) flops += 2 * steps * Elements(graph, *one);
  return flops;
}

// One step: both weight matrices meet every row.
double CellFlops(const Graph& graph, const Node& node) {
  const std::optional<ValueId> input = node.ValueArg("input");
  if (!input || graph.type(*input).shape.empty()) return 0;
  const double rows = Elements(graph, *input) / static_cast<double>(graph.type(*input).shape.back());
  double flops = 0;
  for (const char* name : {"w_ih", "w_hh"})
    if (const std::optional<ValueId> weight = node.ValueArg(name))
      flops += 2 * rows * Elements(graph, *weight);
  return flops;
}

// Two operands: one product for each combination of the extents. What only one operand has and the result has
// not is summed before. More operands count in the cheapest order; PyTorch's own may take more.
double EinsumFlops(const Graph& graph, const Node& node) {
  const auto* equation = std::get_if<std::string>(&node.Arg("equation"));
  const auto* operands = std::get_if<ValueList>(&node.Arg("tensors"));
  if (equation == nullptr || operands == nullptr) return 0;
  if (operands->size() > 2) {
    const std::optional<Einsum> einsum = EinsumOf(graph, node);
    return einsum ? CheapestFlops(*einsum) : 0;
  }
  if (operands->size() != 2) return 0;
  const size_t arrow = equation->find("->");
  struct Axis {
    double extent = 1;
    std::set<size_t> operands;
  };
  std::map<char, Axis> axes;
  size_t operand = 0, place = 0;
  for (const char letter : equation->substr(0, arrow)) {
    if (letter == ' ') continue;
    if (letter == ',') {
      ++operand;
      place = 0;
      continue;
    }
    const std::optional<ValueId> id = operand < 2 ? (*operands)[operand] : std::nullopt;
    if (!id || letter == '.' || place >= graph.type(*id).shape.size()) return 0;
    Axis& axis = axes[letter];
    axis.extent = std::max(axis.extent, static_cast<double>(graph.type(*id).shape[place++]));
    axis.operands.insert(operand);
  }
  const std::string result = arrow == std::string::npos ? "" : equation->substr(arrow);
  double combinations = 1;
  for (const auto& [letter, axis] : axes)
    // Without an arrow, what stands in both operands is summed, and the result has the others.
    if (axis.operands.size() == 2 || arrow == std::string::npos || Contains(result, {&letter, 1}))
      combinations *= axis.extent;
  const bool sums = combinations > Elements(graph, node.result());
  return sums ? 2 * combinations : 0;  // else elementwise
}

// Products that the graph has no operator of its own for.
double OtherProductFlops(const Graph& graph, const Node& node) {
  const auto is = [&](const char* name) {
    return StartsWith(node.target, std::string("aten.") + name + ".");
  };
  if (is("addmv")) return ProductFlops(graph, node, "mat");
  if (is("vdot")) return ProductFlops(graph, node, "self");
  const std::optional<ValueId> left = node.ValueArg(is("addbmm") ? "batch1" : "input1");
  const std::optional<ValueId> right = node.ValueArg(is("addbmm") ? "batch2" : "input2");
  if (!left || !right || graph.type(*right).shape.empty()) return 0;
  const auto last = static_cast<double>(graph.type(*right).shape.back());
  if (is("addbmm")) return 2 * Elements(graph, *left) * last;
  const std::optional<ValueId> weight = node.ValueArg("weight");
  if (!is("bilinear") || !weight) return 0;
  return 2 * Elements(graph, *right) / last * Elements(graph, *weight) +
         2 * Elements(graph, node.result()) * last;
}

double AttentionFlops(const Graph& graph, const Node& node) {
  const std::optional<ValueId> query = node.ValueArg("query");
  const std::optional<ValueId> key = node.ValueArg("key");
  if (!query || !key || graph.type(*key).rank() < 2 || graph.type(*query).rank() < 2) return 0;
  const Shape& queries_shape = graph.type(*query).shape;
  const Shape& keys_shape = graph.type(*key).shape;
  const auto queries = static_cast<double>(queries_shape[queries_shape.size() - 2]);
  const auto keys = static_cast<double>(keys_shape[keys_shape.size() - 2]);
  double pairs = queries * keys;
  if (node.BoolArg("is_causal") == true) {  // a query attends to the keys up to its own position
    const double below = std::min(queries, keys);
    pairs = below * (below + 1) / 2 + (queries - below) * keys;
  }
  const double per_pair = (Elements(graph, *query) + Elements(graph, node.result())) / queries;
  return queries == 0 ? 0 : 2 * pairs * per_pair;
}

}  // namespace

double FlopsOf(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::kLinear:
      return ProductFlops(graph, node, "input");
    case Op::kMatmul:
    case Op::kMm:
    case Op::kBmm:
    case Op::kMv:
    case Op::kDot:
      return ProductFlops(graph, node, "self");
    case Op::kAddmm:
      return ProductFlops(graph, node, "mat1");
    case Op::kBaddbmm:
      return ProductFlops(graph, node, "batch1");
    case Op::kConv:
    case Op::kConvTranspose:
      return ConvolutionFlops(graph, node);
    case Op::kAttention:
      return AttentionFlops(graph, node);
    case Op::kGru:
    case Op::kLstm:
    case Op::kRnnTanh:
    case Op::kRnnRelu:
      return RecurrentFlops(graph, node);
    case Op::kGruCell:
    case Op::kLstmCell:
    case Op::kRnnCell:
      return CellFlops(graph, node);
    case Op::kEinsum:
      return EinsumFlops(graph, node);
    case Op::kOther:
      return OtherProductFlops(graph, node);
    default:
      return 0;
  }
}

namespace {

// Bytes of `operand` that the node reads. A view moves nothing, so it reads as much as the readers of its
// results. A gather reads as much as it returns.
double BytesReadBy(const Graph& graph, const Node& node, ValueId operand, const std::vector<double>& read) {
  const auto whole = static_cast<double>(graph.type(operand).bytes());
  double bytes = 0;
  if (ClassOf(node.op) == OpClass::kCreate) return 0;  // zeros_like(x) reads no element
  if (ClassOf(node.op) == OpClass::kView) {
    for (const ValueId result : node.results) bytes += read[static_cast<size_t>(result)];
  } else if (ClassOf(node.op) == OpClass::kGather && node.op != Op::kScatter &&
             (node.ValueArg("weight") == operand || node.ValueArg("self") == operand)) {
    bytes = static_cast<double>(graph.type(node.result()).bytes());
  } else {
    return whole;
  }
  return std::min(whole, bytes);
}

}  // namespace

namespace {

// Returns the half of the matrix that is not zero: "lower", "upper" or "" for both.
std::string ZeroHalfOf(const Graph& graph, ValueId id) {
  const Node* node = graph.Definition(id);
  if (node == nullptr) return graph.value(id).drawn_triangle;
  const int64_t diagonal = node->IntArg("diagonal").value_or(0);
  if (node->op == Op::kTril && diagonal <= 0) return "lower";
  return node->op == Op::kTriu && diagonal >= 0 ? "upper" : "";
}

double SkippableOf(const Graph& graph, const Node& node) {
  const std::optional<ValueId> a = node.ValueArg("self");
  const std::optional<ValueId> b = node.ValueArg(node.op == Op::kMm ? "mat2" : "other");
  if ((node.op != Op::kMm && node.op != Op::kMatmul) || !a || !b) return 0;
  const Shape& left = graph.type(*a).shape;
  const Shape& right = graph.type(*b).shape;
  if (left.size() != 2 || right.size() != 2) return 0;
  const std::string of_left = ZeroHalfOf(graph, *a);
  const std::string of_right = ZeroHalfOf(graph, *b);
  double pairs = 0;  // multiplications of two elements that are not zero
  for (int64_t k = 0; k < left[1]; ++k) {
    const int64_t rows = of_left == "lower"   ? std::max<int64_t>(0, left[0] - k)
                         : of_left == "upper" ? std::min(k + 1, left[0])
                                              : left[0];
    const int64_t columns = of_right == "lower"   ? std::min(k + 1, right[1])
                            : of_right == "upper" ? std::max<int64_t>(0, right[1] - k)
                                                  : right[1];
    pairs += static_cast<double>(rows) * static_cast<double>(columns);
  }
  return FlopsOf(graph, node) - 2 * pairs;
}

}  // namespace

double SkippableFlops(const Graph& graph) {
  const std::vector<bool> moving = ValuesFromInputs(graph);
  double flops = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (moving[static_cast<size_t>(node.result())]) flops += SkippableOf(graph, node);
  }
  return flops;
}

double BytesPerCall(const Graph& graph) {
  const std::vector<bool> moving = ValuesFromInputs(graph);
  const auto moves = [&](ValueId id) { return moving[static_cast<size_t>(id)]; };
  // For each value, the bytes that nodes of one call read. Filled from the last node to the first.
  std::vector<double> read(graph.value_count(), 0);
  double written = 0;
  std::vector<ValueId> outputs = graph.outputs().Leaves();
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  for (const ValueId id : outputs) {
    written += static_cast<double>(graph.type(id).bytes());
    read[static_cast<size_t>(id)] = static_cast<double>(graph.type(id).bytes());
  }
  double total = written;
  for (size_t i = graph.order().size(); i-- > 0;) {
    const Node& node = graph.node(graph.order()[i]);
    if (!moves(node.result())) continue;
    std::vector<ValueId> operands;
    for (const Argument& argument : node.arguments)
      ForEachValue(argument.value, [&](ValueId id) { operands.push_back(id); });
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    for (const ValueId id : operands) {
      double& sum = read[static_cast<size_t>(id)];
      sum = std::min(static_cast<double>(graph.type(id).bytes()), sum + BytesReadBy(graph, node, id, read));
    }
  }
  for (size_t i = 0; i < read.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const bool is_output = std::binary_search(outputs.begin(), outputs.end(), id);
    if (is_output) continue;  // the bytes of an input that is returned unchanged were counted above
    if (graph.value(id).kind == ValueKind::kInput || !moves(id)) total += read[i];
  }
  return total;
}

int NodesPerCall(const Graph& graph) {
  const std::vector<bool> moving = ValuesFromInputs(graph);
  return static_cast<int>(std::count_if(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    return moving[static_cast<size_t>(graph.node(id).result())];
  }));
}

namespace {

template <class Counts>
double SumPerCall(const Graph& graph, Counts counts) {
  const std::vector<bool> moving = ValuesFromInputs(graph);
  double flops = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (moving[static_cast<size_t>(node.result())] && counts(node)) flops += FlopsOf(graph, node);
  }
  return flops;
}

// A single cell is two plain products.
bool IsCudnns(const Node& node) {
  switch (node.op) {
    case Op::kConv:
    case Op::kConvTranspose:
    case Op::kGru:
    case Op::kLstm:
    case Op::kRnnTanh:
    case Op::kRnnRelu:
      return true;
    default:
      return false;
  }
}

}  // namespace

double FlopsPerCall(const Graph& graph) {
  return SumPerCall(graph, [](const Node&) { return true; });
}

double CudnnFlopsPerCall(const Graph& graph) {
  return SumPerCall(graph, &IsCudnns);
}

}  // namespace hone::graph
