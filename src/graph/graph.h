// A task as a graph: what its forward computes, operator by operator.
//
// The worker captures the module with torch.export and sends it as JSON (worker/hone_graph.py, graph_json.h).
// Operators are ATen's and are not decomposed: a GRU, a convolution, a layer norm is one node. Shapes are
// those of the task's own inputs. Nothing in the graph writes in place: the capture turns `relu_` into `relu`
// and declines what it cannot turn, so every value is written once and a node has no effect but its results.
//
// A *value* is a tensor: an input, a parameter, a buffer, a constant, or a result of a node. A *node* calls
// one operator; its arguments are named and complete (argument.h), its results are values, one for each
// tensor that it returns. Nodes stand in topological order: a node comes after the nodes whose results it
// reads. Graph keeps the users of each value. Ids stay valid while a graph is rewritten; ids of erased nodes
// are not reused.
//
// What depends on parameters, buffers and constants alone need not run in every call (IsFixed). Rewrites use
// that: a folded weight is an ordinary node that reads parameters.
//
// A graph knows no devices, kernels or costs. codegen/ divides it into groups and writes code for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/argument.h"
#include "graph/op.h"
#include "graph/tensor_type.h"

namespace hone::graph {

enum class ValueKind { kInput, kParameter, kBuffer, kConstant, kResult };
const char* NameOf(ValueKind kind);

struct Value {
  ValueKind kind = ValueKind::kResult;
  // A parameter or buffer: its name in the state_dict. A buffer that is not persistent is a constant. A
  // constant: the attribute of the module that holds it, or "" if forward makes it. Otherwise PyTorch's name.
  std::string name;
  TensorType type;
  NodeId node{-1};  // of a result: the node that computes it, and which of its results it is
  int32_t result = 0;
  std::vector<double> data;  // of a small constant: its elements in order; empty when it is not known here
  bool has_data = false;
  // Of a parameter or buffer: all its elements, as the module is built, are this number.
  std::optional<double> uniform;
  // "lower" or "upper": a matrix (or a batch of them) that was triangular in every draw of inputs. Nothing
  // promises it of other inputs; a rewrite must not rest on it.
  std::string drawn_triangle;
};

struct Node {
  Op op = Op::kOther;
  std::string target;  // with its overload: "aten.softmax.int"
  std::vector<Argument> arguments;
  std::vector<ValueId> results;
  std::string module;  // path of the module that made the call: "encoder.layers.0"

  // The argument of this name. None if the operator has no such argument.
  const ArgumentValue& Arg(std::string_view name) const;
  // Shorthands for an argument of one type; nothing if it has another.
  std::optional<ValueId> ValueArg(std::string_view name) const;
  std::optional<int64_t> IntArg(std::string_view name) const;
  std::optional<double> NumberArg(std::string_view name) const;  // int or float
  std::optional<bool> BoolArg(std::string_view name) const;
  std::optional<std::vector<int64_t>> IntsArg(std::string_view name) const;
  ValueId result() const { return results.front(); }
};

// The structure of the inputs or outputs: nested tuples, lists and dicts with values as leaves.
struct ValueTree {
  enum class Kind { kValue, kTuple, kList, kDict, kLiteral };
  Kind kind = Kind::kTuple;
  ValueId value{-1};
  std::vector<ValueTree> children;
  std::vector<std::string> keys;  // of a dict, beside children
  ArgumentValue literal;          // a Python number, string or None among the tensors

  // The values in order; one that stands there twice comes twice.
  std::vector<ValueId> Leaves() const;
};

// A node that is not yet part of a graph.
struct NewNode {
  std::string target;
  std::vector<Argument> arguments;
  std::vector<TensorType> results;
  std::string module = {};
};

class Graph {
 public:
  const std::vector<NodeId>& order() const { return order_; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  size_t value_count() const { return values_.size(); }  // ids run from 0; erased ones count
  // The node that computes a value, or null.
  const Node* Definition(ValueId id) const;

  // One tree per argument of forward, and what forward returns.
  const std::vector<ValueTree>& inputs() const { return inputs_; }
  const ValueTree& outputs() const { return outputs_; }
  // Values of a kind in the order they were added; also those that nobody reads.
  std::vector<ValueId> ValuesOf(ValueKind kind) const;

  // Nodes that read the value, each once, in no particular order.
  std::span<const NodeId> Users(ValueId id) const { return users_[static_cast<size_t>(id)]; }
  bool IsOutput(ValueId id) const;
  // Whether the only reader of the value is one node.
  bool HasOneUse(ValueId id) const { return Users(id).size() == 1 && !IsOutput(id); }

  bool verified = false;  // the worker ran this graph against the module and the answers agreed
  std::string note;       // how it was captured and checked, for people

  // Building.
  ValueId AddValue(ValueKind kind, std::string name, TensorType type);
  ValueId AddConstant(std::string name, TensorType type, std::vector<double> data);
  void SetUniform(ValueId id, double value) { values_[static_cast<size_t>(id)].uniform = value; }
  void SetDrawnTriangle(ValueId id, std::string kind) {
    values_[static_cast<size_t>(id)].drawn_triangle = std::move(kind);
  }
  void AddInput(ValueTree tree) { inputs_.push_back(std::move(tree)); }
  void SetOutputs(ValueTree outputs) { outputs_ = std::move(outputs); }
  NodeId Append(NewNode node);

  // Rewriting. A node is inserted before another, so that its results can be read there.
  NodeId InsertBefore(NodeId where, NewNode node);
  // Everyone who reads `from`, the outputs as well, reads `to` instead. `to` must be defined before them.
  void ReplaceUses(ValueId from, ValueId to);
  void SetArgument(NodeId node, std::string_view name, ArgumentValue value);
  // Nobody may read the node's results.
  void Erase(NodeId node);
  // Erases nodes whose results nobody reads; returns how many.
  int EraseDead();

  // An Error if a value is read before it is written, users are wrong, or a node has no result.
  Status Verify() const;

 private:
  ValueId NewResult(NodeId node, int32_t index, TensorType type);
  NodeId Add(NewNode node, size_t position);
  void AddUses(NodeId node, const ArgumentValue& value);
  void DropUses(NodeId node, const ArgumentValue& value);

  std::vector<Value> values_;
  std::vector<std::vector<NodeId>> users_;  // beside values_
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<ValueTree> inputs_;
  ValueTree outputs_;
};

// A draw from PyTorch's generator, or memory that nobody wrote. Dropout draws only in training.
bool Draws(const Node& node);
// For each value, by id: whether it depends on parameters, buffers and constants alone, and on no random
// draw. Such values change only when the weights do.
std::vector<bool> FixedValues(const Graph& graph);
// For each value, by id: whether it depends on an input of forward or on a random draw.
std::vector<bool> ValuesFromInputs(const Graph& graph);

}  // namespace hone::graph
