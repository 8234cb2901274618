#include "graph/rewrites/product.h"

namespace hone::graph {

std::optional<Product> ProductOf(const Graph& graph, const Node& node, const std::vector<bool>& fixed) {
  const bool linear = node.op == Op::kLinear;
  const bool transposed = node.op == Op::kConvTranspose;
  if (!linear && !transposed && node.op != Op::kConv) return std::nullopt;
  const std::optional<ValueId> weight = node.ValueArg("weight");
  const auto is_fixed = [&](ValueId id) {
    return static_cast<size_t>(id) < fixed.size() && fixed[static_cast<size_t>(id)];
  };
  if (!weight || !is_fixed(*weight)) return std::nullopt;
  Product product;
  product.weight = *weight;
  product.bias = node.ValueArg("bias");
  if (product.bias && !is_fixed(*product.bias)) return std::nullopt;
  const TensorType& result = graph.type(node.result());
  const TensorType& weight_type = graph.type(*weight);
  if (linear) {
    if (weight_type.rank() != 2 || result.rank() < 1) return std::nullopt;
    product.channel_axis = result.shape.size() - 1;
  } else {
    // Without a batch axis the channels would come first, which is not supported.
    if (result.rank() != weight_type.rank()) return std::nullopt;
    product.channel_axis = 1;
    const int64_t groups = node.IntArg("groups").value_or(1);
    product.weight_axis = transposed ? 1 : 0;
    product.can_scale = !transposed || groups == 1;
  }
  product.channels = result.shape[product.channel_axis];
  return product;
}

ValueId WithWeights(Graph& graph, NodeId id, const Node& product, ValueId weight,
                    std::optional<ValueId> bias) {
  std::vector<Argument> arguments = product.arguments;
  for (Argument& argument : arguments) {
    if (argument.name == "weight") argument.value = weight;
    if (argument.name == "bias") argument.value = bias ? ArgumentValue(*bias) : ArgumentValue(None{});
  }
  const TensorType type = graph.type(product.result());
  const NodeId made = graph.InsertBefore(id, {product.target, std::move(arguments), {type}, product.module});
  return graph.node(made).result();
}

ValueId AlongWeight(Builder& build, const Product& product, ValueId vector) {
  Shape shape(build.type(product.weight).shape.size(), 1);
  shape[product.weight_axis] = product.channels;
  return build.Reshape(vector, shape);
}

}  // namespace hone::graph
