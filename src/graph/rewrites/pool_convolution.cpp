// Replaces the sum or mean of a convolution over all positions. It is linear in the input: for each tap of
// the kernel, sum the inputs that the tap reads, then multiply the sums by the weights.
//
// Because of padding and stride, a 0/1 matrix [positions, taps] per axis says which inputs a tap reads. The
// input [batch, channels, positions...] is multiplied by one such matrix per axis, which gives [batch,
// channels, taps...], and then by the weights as one linear layer. This reads the input once.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

// Elements of a 0/1 matrix. It becomes a part of the generated file.
constexpr int64_t kMostMatrixElements = 1 << 16;

struct Geometry {
  bool transposed = false;
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
};

std::optional<std::vector<int64_t>> PerAxis(const Node& node, const char* name, size_t axes) {
  std::optional<std::vector<int64_t>> numbers = node.IntsArg(name);
  if (numbers && numbers->size() == 1) numbers->assign(axes, numbers->front());
  return numbers && numbers->size() == axes ? numbers : std::nullopt;
}

std::optional<Geometry> GeometryOf(const Node& node, size_t axes) {
  if ((node.op != Op::kConv && node.op != Op::kConvTranspose) || node.IntArg("groups") != 1)
    return std::nullopt;
  const auto stride = PerAxis(node, "stride", axes);
  const auto padding = PerAxis(node, "padding", axes);
  const auto dilation = PerAxis(node, "dilation", axes);
  if (!stride || !padding || !dilation) return std::nullopt;
  return Geometry{node.op == Op::kConvTranspose, *stride, *padding, *dilation};
}

// Row-major matrix: 1 if the input at a position contributes to the output through a tap.
std::vector<double> TapMatrix(const Geometry& geometry, size_t axis, int64_t positions, int64_t taps,
                              int64_t outputs) {
  std::vector<double> matrix;
  const int64_t stride = geometry.stride[axis];
  for (int64_t i = 0; i < positions; ++i)
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t tap = k * geometry.dilation[axis];
      bool meets = false;
      if (geometry.transposed) {
        const int64_t output = i * stride - geometry.padding[axis] + tap;
        meets = output >= 0 && output < outputs;
      } else {
        const int64_t offset = i + geometry.padding[axis] - tap;
        meets = offset >= 0 && offset % stride == 0 && offset / stride < outputs;
      }
      matrix.push_back(meets ? 1 : 0);
    }
  return matrix;
}

// Whether a node reduces all axes but batch and channels. True: it takes the mean; false: the sum; no value:
// it does not.
std::optional<bool> PoolsPositions(const Graph& graph, const Node& node) {
  const std::optional<ValueId> self = node.ValueArg("self");
  if (!self || graph.type(*self).dtype != graph.type(node.result()).dtype) return std::nullopt;
  if (node.op == Op::kAdaptiveAvgPool) {
    const auto size = node.IntsArg("output_size");
    if (!size || size->size() + 2 != graph.type(*self).shape.size()) return std::nullopt;
    return std::all_of(size->begin(), size->end(), [](int64_t one) { return one == 1; }) ? std::optional(true)
                                                                                         : std::nullopt;
  }
  if (node.op != Op::kMean && node.op != Op::kSum) return std::nullopt;
  const auto axes = ReducedAxes(graph, node);
  if (!axes || axes->empty() || axes->front() != 2 ||
      static_cast<int64_t>(axes->size()) + 2 != graph.type(*self).rank())
    return std::nullopt;
  return node.op == Op::kMean;
}

}  // namespace

int PoolConvolution(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    const std::optional<bool> mean = PoolsPositions(graph, node);
    if (!mean) return false;
    const Node* before = OnlyDefinition(graph, *node.ValueArg("self"));
    if (before == nullptr || !before->ValueArg("input") || !before->ValueArg("weight")) return false;
    const Node convolution = *before;
    const ValueId input = *convolution.ValueArg("input");
    const TensorType from = graph.type(input);
    const TensorType to = graph.type(convolution.result());
    const TensorType weight_type = graph.type(*convolution.ValueArg("weight"));
    if (from.shape.size() < 3 || from.shape.size() != weight_type.shape.size() ||
        from.shape.size() != to.shape.size())
      return false;
    if (!CanFoldWeights(from.dtype) || weight_type.dtype != from.dtype) return false;
    const size_t axes = from.shape.size() - 2;
    const std::optional<Geometry> geometry = GeometryOf(convolution, axes);
    if (!geometry) return false;

    for (size_t axis = 0; axis < axes; ++axis)
      if (from.shape[axis + 2] * weight_type.shape[axis + 2] > kMostMatrixElements) return false;
    Builder build(graph, id);
    ValueId sums = input;
    std::vector<int64_t> rotation = {0, 1,
                                     static_cast<int64_t>(axes) + 1};  // the last axis goes to the front
    for (size_t i = 0; i + 1 < axes; ++i) rotation.push_back(static_cast<int64_t>(i) + 2);
    int64_t taps_in_all = 1;
    int64_t count = 1;
    for (size_t axis = axes; axis-- > 0;) {
      const int64_t positions = from.shape[axis + 2];
      const int64_t taps = weight_type.shape[axis + 2];
      const int64_t outputs = to.shape[axis + 2];
      const ValueId matrix = graph.AddConstant("", ContiguousType(from.dtype, {positions, taps}),
                                               TapMatrix(*geometry, axis, positions, taps, outputs));
      Shape shape = graph.type(sums).shape;
      shape.back() = taps;
      sums = build.Permute(build.Matmul(sums, matrix, shape), rotation);
      taps_in_all *= taps;
      count *= outputs;
    }
    sums = build.Reshape(sums, {from.shape[0], from.shape[1] * taps_in_all});
    ValueId weight = *convolution.ValueArg("weight");
    if (geometry->transposed) {
      std::vector<int64_t> order = {1, 0};
      for (size_t axis = 0; axis < axes; ++axis) order.push_back(static_cast<int64_t>(axis) + 2);
      weight = build.Permute(weight, order);
    }
    weight = build.Reshape(weight, {to.shape[1], from.shape[1] * taps_in_all});
    std::optional<ValueId> bias = convolution.ValueArg("bias");
    if (*mean)
      weight = build.Mul(weight, 1.0 / static_cast<double>(count));
    else if (bias)
      bias = build.Mul(*bias, static_cast<double>(count));
    const ValueId pooled = build.Linear(sums, weight, bias);
    const Shape shape = graph.type(node.result()).shape;
    graph.ReplaceUses(node.result(), build.Reshape(pooled, shape));
    return true;
  });
}

}  // namespace hone::graph
