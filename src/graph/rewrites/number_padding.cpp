// Writes the padding of a convolution with padding="same" or "valid" as numbers, for which kernels and other
// rules are written. With "same", an even kernel may need one more row on one side: these are padded before,
// as in PyTorch.
#include <algorithm>

#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

int NumberPadding(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    const auto* padding = std::get_if<std::string>(&node.Arg("padding"));
    const std::optional<ValueId> input = node.ValueArg("input"), weight = node.ValueArg("weight");
    if (node.op != Op::kConv || padding == nullptr || !input || !weight) return false;
    const Shape taps = graph.type(*weight).shape;
    const TensorType from = graph.type(*input);
    const std::optional<std::vector<int64_t>> dilation = node.IntsArg("dilation");
    if (taps.size() < 3 || from.shape.size() + 1 < taps.size() || !dilation || dilation->empty())
      return false;
    const size_t axes = taps.size() - 2;
    if (dilation->size() != 1 && dilation->size() != axes) return false;
    if (*padding != "same" && *padding != "valid") return false;
    std::vector<int64_t> both(axes, 0);
    std::vector<int64_t> more;  // from the last axis on: in front of it, behind it
    bool uneven = false;
    for (size_t i = axes; *padding == "same" && i-- > 0;) {
      const int64_t all = (*dilation)[dilation->size() == 1 ? 0 : i] * (taps[i + 2] - 1);
      both[i] = all / 2;
      more.insert(more.end(), {0, all % 2});
      uneven = uneven || all % 2 != 0;
    }
    Builder build(graph, id);
    ValueId padded = *input;
    if (uneven) {
      Shape shape = from.shape;
      for (size_t i = 0; i < axes; ++i) shape[shape.size() - 1 - i] += more[2 * i + 1];
      padded = build.Insert("aten.constant_pad_nd.default",
                            {{"self", *input}, {"pad", more}, {"value", int64_t{0}}},
                            ContiguousType(from.dtype, shape));
    }
    std::vector<Argument> arguments = node.arguments;
    for (Argument& argument : arguments) {
      if (argument.name == "input") argument.value = padded;
      if (argument.name == "padding") argument.value = both;
    }
    const std::string target = std::string("aten.") + std::string(BaseName(node.target)) + ".default";
    graph.ReplaceUses(node.result(), build.Insert(target, std::move(arguments), graph.type(node.result())));
    return true;
  });
}

}  // namespace hone::graph
