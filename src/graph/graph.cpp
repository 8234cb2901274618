#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::graph {

namespace {

void CollectLeaves(const ValueTree& tree, std::vector<ValueId>* leaves) {
  if (tree.kind == ValueTree::Kind::kValue) leaves->push_back(tree.value);
  for (const ValueTree& child : tree.children) CollectLeaves(child, leaves);
}

void ReplaceLeaves(ValueTree* tree, ValueId from, ValueId to) {
  if (tree->kind == ValueTree::Kind::kValue && tree->value == from) tree->value = to;
  for (ValueTree& child : tree->children) ReplaceLeaves(&child, from, to);
}

bool HasLeaf(const ValueTree& tree, ValueId id) {
  if (tree.kind == ValueTree::Kind::kValue && tree.value == id) return true;
  return std::any_of(tree.children.begin(), tree.children.end(),
                     [id](const ValueTree& child) { return HasLeaf(child, id); });
}

void ReplaceIn(ArgumentValue* value, ValueId from, ValueId to) {
  if (auto* one = std::get_if<ValueId>(value)) {
    if (*one == from) *one = to;
  } else if (auto* list = std::get_if<ValueList>(value)) {
    for (std::optional<ValueId>& item : *list)
      if (item == from) item = to;
  }
}

std::string ValueText(ValueId id) {
  return fmt::format("%{}", static_cast<int>(id));
}

Error Broken(const std::string& what) {
  return {ErrorKind::kInternal, "the graph is broken: " + what};
}

}  // namespace

const char* NameOf(ValueKind kind) {
  constexpr const char* kNames[] = {"input", "parameter", "buffer", "constant", "result"};
  return kNames[static_cast<size_t>(kind)];
}

const ArgumentValue& Node::Arg(std::string_view name) const {
  static const ArgumentValue kNone = None{};
  for (const Argument& argument : arguments)
    if (argument.name == name) return argument.value;
  return kNone;
}

std::optional<ValueId> Node::ValueArg(std::string_view name) const {
  const auto* value = std::get_if<ValueId>(&Arg(name));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<int64_t> Node::IntArg(std::string_view name) const {
  const auto* value = std::get_if<int64_t>(&Arg(name));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> Node::NumberArg(std::string_view name) const {
  return NumberOf(Arg(name));
}

std::optional<bool> Node::BoolArg(std::string_view name) const {
  const auto* value = std::get_if<bool>(&Arg(name));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::vector<int64_t>> Node::IntsArg(std::string_view name) const {
  return IntsOf(Arg(name));
}

std::vector<ValueId> ValueTree::Leaves() const {
  std::vector<ValueId> leaves;
  CollectLeaves(*this, &leaves);
  return leaves;
}

const Node* Graph::Definition(ValueId id) const {
  const Value& value = this->value(id);
  return value.kind == ValueKind::kResult ? &node(value.node) : nullptr;
}

std::vector<ValueId> Graph::ValuesOf(ValueKind kind) const {
  std::vector<ValueId> found;
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].kind == kind) found.push_back(static_cast<ValueId>(i));
  return found;
}

bool Graph::IsOutput(ValueId id) const {
  return HasLeaf(outputs_, id);
}

ValueId Graph::AddValue(ValueKind kind, std::string name, TensorType type) {
  Value value;
  value.kind = kind;
  value.name = std::move(name);
  value.type = std::move(type);
  values_.push_back(std::move(value));
  users_.emplace_back();
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::AddConstant(std::string name, TensorType type, std::vector<double> data) {
  const ValueId id = AddValue(ValueKind::kConstant, std::move(name), std::move(type));
  values_.back().has_data = true;
  values_.back().data = std::move(data);
  return id;
}

ValueId Graph::NewResult(NodeId node, int32_t index, TensorType type) {
  const ValueId id = AddValue(ValueKind::kResult, "", std::move(type));
  values_.back().node = node;
  values_.back().result = index;
  return id;
}

void Graph::AddUses(NodeId node, const ArgumentValue& value) {
  ForEachValue(value, [&](ValueId id) {
    std::vector<NodeId>& users = users_[static_cast<size_t>(id)];
    if (std::find(users.begin(), users.end(), node) == users.end()) users.push_back(node);
  });
}

void Graph::DropUses(NodeId node, const ArgumentValue& value) {
  ForEachValue(value, [&](ValueId id) { std::erase(users_[static_cast<size_t>(id)], node); });
}

NodeId Graph::Add(NewNode from, size_t position) {
  const auto id = static_cast<NodeId>(nodes_.size());
  Node node;
  node.op = OpFromTarget(from.target);
  node.target = std::move(from.target);
  node.arguments = std::move(from.arguments);
  node.module = std::move(from.module);
  for (size_t i = 0; i < from.results.size(); ++i)
    node.results.push_back(NewResult(id, static_cast<int32_t>(i), std::move(from.results[i])));
  for (const Argument& argument : node.arguments) AddUses(id, argument.value);
  nodes_.push_back(std::move(node));
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(position), id);
  return id;
}

NodeId Graph::Append(NewNode node) {
  return Add(std::move(node), order_.size());
}

NodeId Graph::InsertBefore(NodeId where, NewNode node) {
  const auto found = std::find(order_.begin(), order_.end(), where);
  return Add(std::move(node), static_cast<size_t>(found - order_.begin()));
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  if (from == to) return;
  const std::vector<NodeId> users = std::move(users_[static_cast<size_t>(from)]);
  users_[static_cast<size_t>(from)].clear();
  for (const NodeId user : users)
    for (Argument& argument : nodes_[static_cast<size_t>(user)].arguments) {
      ReplaceIn(&argument.value, from, to);
      AddUses(user, argument.value);
    }
  ReplaceLeaves(&outputs_, from, to);
}

void Graph::SetArgument(NodeId id, std::string_view name, ArgumentValue value) {
  Node& node = nodes_[static_cast<size_t>(id)];
  for (Argument& argument : node.arguments) {
    if (argument.name != name) continue;
    DropUses(id, argument.value);
    argument.value = std::move(value);
    break;
  }
  for (const Argument& argument : node.arguments) AddUses(id, argument.value);
}

void Graph::Erase(NodeId id) {
  for (const Argument& argument : node(id).arguments) DropUses(id, argument.value);
  std::erase(order_, id);
}

int Graph::EraseDead() {
  int erased = 0;
  for (size_t i = order_.size(); i-- > 0;) {
    const NodeId id = order_[i];
    const std::vector<ValueId>& results = node(id).results;
    const bool read = std::any_of(results.begin(), results.end(),
                                  [&](ValueId value) { return !Users(value).empty() || IsOutput(value); });
    if (read) continue;
    Erase(id);
    ++erased;
  }
  return erased;
}

Status Graph::Verify() const {
  std::vector<bool> defined(values_.size(), false);
  std::vector<std::vector<NodeId>> users(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    const TensorType& type = values_[i].type;
    if (type.strides.size() != type.shape.size())
      return Broken(fmt::format("%{} has {} axes and {} strides", i, type.shape.size(), type.strides.size()));
    defined[i] = values_[i].kind != ValueKind::kResult;
  }
  const auto known = [&](ValueId id) {
    const auto index = static_cast<size_t>(id);
    return index < values_.size() && defined[index];
  };
  for (const NodeId id : order_) {
    const Node& node = this->node(id);
    Status status = Ok();
    for (const Argument& argument : node.arguments)
      ForEachValue(argument.value, [&](ValueId value) {
        if (!known(value)) {
          status = Broken(fmt::format("{} reads {} before it is written", node.target, ValueText(value)));
          return;
        }
        std::vector<NodeId>& list = users[static_cast<size_t>(value)];
        if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
      });
    HONE_RETURN_IF_ERROR(std::move(status));
    if (node.results.empty()) return Broken(node.target + " has no result");
    for (size_t i = 0; i < node.results.size(); ++i) {
      const auto index = static_cast<size_t>(node.results[i]);
      if (index >= values_.size() || defined[index] || values_[index].node != id ||
          values_[index].result != static_cast<int32_t>(i))
        return Broken(fmt::format("result {} of {} is not its own", i, node.target));
      defined[index] = true;
    }
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    std::vector<NodeId> kept = users_[i];
    std::sort(kept.begin(), kept.end());
    std::sort(users[i].begin(), users[i].end());
    if (kept != users[i]) return Broken(fmt::format("the users of %{} are not those that read it", i));
  }
  for (const ValueId id : outputs_.Leaves())
    if (!known(id)) return Broken("an output is " + ValueText(id) + ", which nothing writes");
  for (const ValueTree& tree : inputs_)
    for (const ValueId id : tree.Leaves())
      if (!known(id) || value(id).kind != ValueKind::kInput)
        return Broken("an argument of forward is " + ValueText(id) + ", which is no input");
  return Ok();
}

bool Draws(const Node& node) {
  if (ClassOf(node.op) == OpClass::kRandom || node.op == Op::kEmpty || node.op == Op::kEmptyLike) return true;
  return node.op == Op::kDropout && node.BoolArg("train").value_or(true);
}

std::vector<bool> ValuesFromInputs(const Graph& graph) {
  std::vector<bool> moving(graph.value_count(), false);
  for (const ValueId id : graph.ValuesOf(ValueKind::kInput)) moving[static_cast<size_t>(id)] = true;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    bool any = Draws(node);
    const bool reads = ClassOf(node.op) != OpClass::kCreate;  // zeros_like(x) only takes shape and dtype
    if (reads)
      for (const Argument& argument : node.arguments)
        ForEachValue(argument.value, [&](ValueId value) { any = any || moving[static_cast<size_t>(value)]; });
    for (const ValueId result : node.results) moving[static_cast<size_t>(result)] = any;
  }
  return moving;
}

std::vector<bool> FixedValues(const Graph& graph) {
  std::vector<bool> fixed = ValuesFromInputs(graph);
  fixed.flip();
  // A node that takes its shape from a computed value can only run after that value.
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    bool waits = false;
    for (const Argument& argument : node.arguments)
      ForEachValue(argument.value, [&](ValueId value) {
        waits = waits || (graph.Definition(value) != nullptr && !fixed[static_cast<size_t>(value)]);
      });
    if (waits)
      for (const ValueId result : node.results) fixed[static_cast<size_t>(result)] = false;
  }
  return fixed;
}

}  // namespace hone::graph
