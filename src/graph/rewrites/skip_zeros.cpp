// Products with triangular matrices skip zeros: tril(A) @ B reads only the part of A left of the diagonal,
// and triu(A @ B) computes only the columns right of it. The product is split into blocks of rows, each as
// long as necessary. Uses only matrices that forward makes triangular, not inputs that happened to be
// triangular.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

constexpr int64_t kBlocks = 4;
constexpr int64_t kLeastSize = 256;  // smaller products cost no more than the launches of their parts

enum class Triangle { kNone, kLower, kUpper };

// Recognises tril and triu. A diagonal across the main one keeps elements on the other side, so it does not
// count.
Triangle TriangleOf(const Graph& graph, ValueId id) {
  const Node* node = graph.Definition(id);
  if (node == nullptr) return Triangle::kNone;
  const int64_t diagonal = node->IntArg("diagonal").value_or(0);
  if (node->op == Op::kTril && diagonal <= 0) return Triangle::kLower;
  if (node->op == Op::kTriu && diagonal >= 0) return Triangle::kUpper;
  return Triangle::kNone;
}

ValueId Slice(Builder& build, ValueId id, int64_t axis, int64_t from, int64_t to) {
  TensorType type = build.type(id);
  if (from == 0 && to == type.shape[static_cast<size_t>(axis)]) return id;
  type.shape[static_cast<size_t>(axis)] = to - from;
  return build.Insert("aten.slice.Tensor",
                      {{"self", id}, {"dim", axis}, {"start", from}, {"end", to}, {"step", int64_t{1}}},
                      std::move(type));
}

ValueId Cat(Builder& build, const std::vector<ValueId>& parts, int64_t axis) {
  if (parts.size() == 1) return parts.front();
  TensorType type = build.type(parts.front());
  int64_t size = 0;
  ValueList list;
  for (const ValueId part : parts) {
    size += build.type(part).shape[static_cast<size_t>(axis)];
    list.emplace_back(part);
  }
  type.shape[static_cast<size_t>(axis)] = size;
  return build.Insert("aten.cat.default", {{"tensors", std::move(list)}, {"dim", axis}},
                      ContiguousType(type.dtype, type.shape));
}

struct Range {
  int64_t from;
  int64_t to;
};

}  // namespace

int SkipZeros(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    if (node.op != Op::kMatmul && node.op != Op::kMm) return false;
    const std::optional<ValueId> left = node.ValueArg("self");
    const std::optional<ValueId> right = node.ValueArg(node.op == Op::kMm ? "mat2" : "other");
    if (!left || !right || graph.type(*left).rank() != 2 || graph.type(*right).rank() != 2) return false;
    const int64_t rows = graph.type(*left).shape[0];
    const int64_t inner = graph.type(*left).shape[1];
    const int64_t columns = graph.type(*right).shape[1];
    if (std::min({rows, inner, columns}) < kLeastSize || !IsFloating(graph.type(node.result()).dtype))
      return false;
    const Triangle a = TriangleOf(graph, *left);
    const Triangle b = TriangleOf(graph, *right);
    // The half of the result that its only reader keeps.
    Triangle kept = Triangle::kNone;
    if (graph.HasOneUse(node.result()))
      kept = TriangleOf(graph, graph.node(graph.Users(node.result()).front()).result());
    if (a == Triangle::kNone && kept == Triangle::kNone) return false;
    Builder build(graph, id);
    const DType dtype = graph.type(node.result()).dtype;
    std::vector<ValueId> parts;
    for (int64_t block = 0; block < kBlocks; ++block) {
      const Range row = {rows * block / kBlocks, rows * (block + 1) / kBlocks};
      Range column = {0, columns};
      if (kept == Triangle::kUpper) column.from = std::min(row.from, columns);
      if (kept == Triangle::kLower) column.to = std::min(row.to, columns);
      Range sum = {0, inner};
      if (a == Triangle::kUpper) sum.from = std::max(sum.from, std::min(row.from, inner));
      if (a == Triangle::kLower) sum.to = std::min(sum.to, row.to);
      if (b == Triangle::kLower) sum.from = std::max(sum.from, std::min(column.from, inner));
      if (b == Triangle::kUpper) sum.to = std::min(sum.to, column.to);
      const int64_t height = row.to - row.from;
      std::vector<ValueId> line;
      const auto zeros = [&](int64_t width) {
        if (width > 0) line.push_back(build.Full(*left, {height, width}, 0, dtype));
      };
      if (sum.from >= sum.to || column.from >= column.to) {
        zeros(columns);
      } else {
        zeros(column.from);
        const ValueId x = Slice(build, Slice(build, *left, 0, row.from, row.to), 1, sum.from, sum.to);
        const ValueId y = Slice(build, Slice(build, *right, 0, sum.from, sum.to), 1, column.from, column.to);
        line.push_back(build.Matmul(x, y, {height, column.to - column.from}));
        zeros(columns - column.to);
      }
      parts.push_back(Cat(build, line, 1));
    }
    graph.ReplaceUses(node.result(), Cat(build, parts, 0));
    return true;
  });
}

}  // namespace hone::graph
