#include "graph/graph_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::graph {

namespace {

std::string IdText(ValueId id) {
  return fmt::format("%{}", static_cast<int>(id));
}

struct ArgumentPrinter {
  std::string operator()(None) const { return "None"; }
  std::string operator()(ValueId id) const { return IdText(id); }
  std::string operator()(bool flag) const { return flag ? "True" : "False"; }
  std::string operator()(int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const { return fmt::format("{}", number); }
  std::string operator()(DType dtype) const { return NameOf(dtype); }
  std::string operator()(const std::string& text) const { return "'" + text + "'"; }
  std::string operator()(const Symbol& symbol) const { return symbol.name; }
  std::string operator()(const std::vector<int64_t>& numbers) const {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  }
  std::string operator()(const std::vector<double>& numbers) const {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  }
  std::string operator()(const std::vector<bool>& flags) const {
    std::string text;
    for (const bool flag : flags) text += (text.empty() ? "" : ", ") + (*this)(flag);
    return "[" + text + "]";
  }
  std::string operator()(const ValueList& values) const {
    std::string text;
    for (const std::optional<ValueId>& value : values)
      text += (text.empty() ? "" : ", ") + (value ? IdText(*value) : "None");
    return "[" + text + "]";
  }
};

std::string TreeText(const ValueTree& tree) {
  switch (tree.kind) {
    case ValueTree::Kind::kValue:
      return IdText(tree.value);
    case ValueTree::Kind::kLiteral:
      return ToText(tree.literal);
    default:
      break;
  }
  std::string text;
  for (size_t i = 0; i < tree.children.size(); ++i) {
    if (i > 0) text += ", ";
    if (tree.kind == ValueTree::Kind::kDict) text += "'" + tree.keys[i] + "': ";
    text += TreeText(tree.children[i]);
  }
  if (tree.kind == ValueTree::Kind::kTuple) return "(" + text + ")";
  return tree.kind == ValueTree::Kind::kList ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace

std::string ToText(const ArgumentValue& value) {
  return std::visit(ArgumentPrinter{}, value);
}

std::string NodeText(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::string text;
  for (const ValueId result : node.results)
    text += (text.empty() ? "" : ", ") + IdText(result) + " " + ToText(graph.type(result));
  text += " = " + node.target + "(";
  for (size_t i = 0; i < node.arguments.size(); ++i)
    text +=
        fmt::format("{}{}={}", i == 0 ? "" : ", ", node.arguments[i].name, ToText(node.arguments[i].value));
  text += ")";
  if (!node.module.empty()) text += "  # " + node.module;
  return text;
}

std::string ToText(const Graph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Value& value = graph.value(id);
    if (value.kind == ValueKind::kResult) continue;
    if (graph.Users(id).empty() && !graph.IsOutput(id) && value.kind != ValueKind::kInput) continue;
    text += fmt::format("{} {} = {} {}\n", IdText(id), ToText(value.type), NameOf(value.kind), value.name);
  }
  for (const NodeId id : graph.order()) text += NodeText(graph, id) + "\n";
  return text + "return " + TreeText(graph.outputs()) + "\n";
}

}  // namespace hone::graph
