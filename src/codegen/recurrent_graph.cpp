#include "codegen/recurrent_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "graph/demand.h"

namespace hone {

namespace {

using graph::Box;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpClass;
using graph::ValueId;
using graph::ValueKind;
using graph::ValueTree;
using Demands = std::vector<std::optional<Box>>;

bool IsRecurrentLayer(Op op) {
  return op == Op::kGru || op == Op::kLstm || op == Op::kRnnTanh || op == Op::kRnnRelu;
}

// nn.GRU removes the batch axis that it added itself, even if the state is unused.
bool IsOwnView(const Graph& graph, const Node& node) {
  const std::optional<ValueId> operand = node.ValueArg("self");
  const Node* maker = operand ? graph.Definition(*operand) : nullptr;
  return maker != nullptr && IsRecurrentLayer(maker->op) && maker->module == node.module;
}

// A packed sequence has no time axis.
bool IsPacked(const Node& node) {
  return EndsWith(node.target, ".data");
}

void AddOutputs(const Graph& graph, const Node& node, const Demands& demands, OutputsUsed* outputs) {
  const auto demand = [&](size_t result) -> const std::optional<Box>& {
    return demands[static_cast<size_t>(node.results[result])];
  };
  if (const std::optional<Box>& box = demand(0)) {
    const size_t time = node.BoolArg("batch_first").value_or(false) ? 1 : 0;
    const graph::Shape& shape = graph.type(node.results[0]).shape;
    const bool last_alone =
        !IsPacked(node) && time < shape.size() && shape[time] > 1 && (*box)[time].from == shape[time] - 1;
    outputs->last_step = true;
    outputs->sequence |= !last_alone;
  }
  outputs->h_n |= node.results.size() > 1 && demand(1).has_value();
  outputs->c_n |= node.results.size() > 2 && demand(2).has_value();
}

bool IsZero(const graph::Value& constant) {
  return constant.has_data &&
         std::all_of(constant.data.begin(), constant.data.end(), [](double number) { return number == 0; });
}

bool MakesZeros(const Node& node) {
  if (node.op == Op::kZeros || node.op == Op::kZerosLike) return true;
  return (node.op == Op::kFull || node.op == Op::kFullLike) && node.NumberArg("fill_value") == 0.0;
}

bool KeepsNumbers(const Node& node) {
  const OpClass op_class = graph::ClassOf(node.op);
  return op_class == OpClass::kView || op_class == OpClass::kCopy || node.op == Op::kToDtype;
}

void AddSource(const Graph& graph, ValueId id, StateSource* source) {
  const graph::Value& value = graph.value(id);
  switch (value.kind) {
    case ValueKind::kInput:
      source->caller = true;
      return;
    case ValueKind::kParameter:
    case ValueKind::kBuffer:
      source->attribute = true;
      return;
    case ValueKind::kConstant:
      source->attribute |= !value.name.empty();
      source->zeros |= value.name.empty() && IsZero(value);
      source->other |= value.name.empty() && !IsZero(value);
      return;
    case ValueKind::kResult:
      break;
  }
  const Node& node = *graph.Definition(id);
  if (MakesZeros(node)) {
    source->zeros = true;
  } else if (graph::Draws(node)) {
    source->drawn = true;
  } else if (KeepsNumbers(node)) {
    for (const graph::Argument& argument : node.arguments)
      graph::ForEachValue(argument.value, [&](ValueId part) { AddSource(graph, part, source); });
  } else {
    source->other = true;
  }
}

std::string LiteralText(const graph::ArgumentValue& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("float(\"{}\")", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return DumpJson(Json(*text));
  // None, or a value that equals no argument.
  return std::holds_alternative<graph::None>(value) ? "None" : "...";
}

std::string TreeText(const Graph& graph, const ValueTree& tree) {
  if (tree.kind == ValueTree::Kind::kLiteral) return LiteralText(tree.literal);
  std::vector<std::string> parts;
  if (tree.kind == ValueTree::Kind::kValue) {
    const graph::TensorType& type = graph.type(tree.value);
    for (const int64_t size : type.shape) parts.push_back(std::to_string(size));
    return fmt::format("(torch.{}, ({}{}))", graph::NameOf(type.dtype), Join(parts, ", "),
                       parts.size() == 1 ? "," : "");
  }
  const bool dict = tree.kind == ValueTree::Kind::kDict;
  for (size_t i = 0; i < tree.children.size(); ++i)
    parts.push_back((dict ? DumpJson(Json(tree.keys[i])) + ": " : "") + TreeText(graph, tree.children[i]));
  if (dict) return "{" + Join(parts, ", ") + "}";
  return fmt::format("({}, [{}])", tree.kind == ValueTree::Kind::kTuple ? "tuple" : "list",
                     Join(parts, ", "));
}

void CountAll(std::string why, RecurrentModule* module) {
  module->used = module->touched = {true, true, true, module->kind == "LSTM"};
  module->why_untraced = std::move(why);
}

}  // namespace

void ReadRecurrentGraph(const Graph& graph, std::vector<RecurrentModule>* modules) {
  const Demands used = graph::DemandedElements(graph);
  const Demands touched =
      graph::ReadElements(graph, [&](const Node& node) { return IsOwnView(graph, node); });
  for (RecurrentModule& module : *modules) {
    if (module.cell) continue;
    int64_t calls = 0;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!IsRecurrentLayer(node.op) || node.module != module.path) continue;
      ++calls;
      AddOutputs(graph, node, used, &module.used);
      AddOutputs(graph, node, touched, &module.touched);
      graph::ForEachValue(node.Arg("hx"), [&](ValueId state) { AddSource(graph, state, &module.state); });
      module.packed_input |= IsPacked(node);
    }
    if (calls != module.calls)
      CountAll(fmt::format("the graph has {} of its {} calls", calls, module.calls), &module);
  }
}

void CountAllOutputs(const std::string& why, std::vector<RecurrentModule>* modules) {
  for (RecurrentModule& module : *modules)
    if (!module.cell) CountAll(why, &module);
}

std::string CapturedArguments(const Graph& graph) {
  std::vector<std::string> parts;
  for (const ValueTree& tree : graph.inputs()) parts.push_back(TreeText(graph, tree));
  return "[" + Join(parts, ", ") + "]";
}

}  // namespace hone
