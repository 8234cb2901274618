// Helpers for rules that change the weights of a product. A product has a weight and a bias with one entry
// per output channel, so a scale or a shift per channel can be folded into them.
#pragma once

#include <optional>

#include "graph/rewrites/builder.h"

namespace hone::graph {

struct Product {
  ValueId weight{-1};
  std::optional<ValueId> bias;
  int64_t channels = 0;
  size_t weight_axis = 0;   // axis of the channels in the weight
  size_t channel_axis = 0;  // axis of the channels in the result
  bool can_scale = true;    // a grouped transposed convolution spreads its channels over two axes
};

// Matches linear layers, convolutions and transposed convolutions whose weights do not depend on inputs.
std::optional<Product> ProductOf(const Graph& graph, const Node& node, const std::vector<bool>& fixed);

// Inserts the same product with other weights before `id`. `bias` has the shape [channels].
ValueId WithWeights(Graph& graph, NodeId id, const Node& product, ValueId weight,
                    std::optional<ValueId> bias);

// Reshapes a vector [channels] so that it scales the weight: [channels, 1, 1, 1].
ValueId AlongWeight(Builder& build, const Product& product, ValueId vector);

}  // namespace hone::graph
