// A task as a graph: what its forward computes, operator by operator.
//
// The worker captures the module with torch.export and sends it as JSON (worker/hone_graph.py, graph_json.h).
// Operators are ATen's and are not decomposed: a GRU, a convolution or a layer norm is one node. Shapes are
// those of the task's own inputs. No node writes in place: the capture turns `relu_` into `relu` and declines
// a module if it cannot do so. Every value is written once, and a node has no side effects.
//
// A *value* is a tensor: an input, a parameter, a buffer, a constant, or a result of a node. A *node* calls
// one operator. Its arguments are named and complete (argument.h). It has one result for each tensor that it
// returns. Nodes are in topological order: a node comes after the nodes whose results it reads. The graph
// records the users of each value. Ids stay valid during rewrites; ids of erased nodes are not reused.
//
// A value that depends only on parameters, buffers and constants need not be computed in every call
// (FixedValues). Rewrites use that: a folded weight is an ordinary node that reads parameters.
//
// The graph holds no devices, kernels or costs. codegen/ divides it into groups and generates code for them.
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
  // For a parameter or buffer, its name in the state_dict; a buffer that is not persistent counts as a
  // constant. For a constant, the module's attribute that holds it, or "" if forward creates it. Otherwise
  // PyTorch's name.
  std::string name;
  TensorType type;
  NodeId node{-1};  // for a result: the node that computes it, and the index among the node's results
  int32_t result = 0;
  std::vector<double> data;  // elements of a small constant, in order; empty if unknown
  bool has_data = false;
  // Set if all initial elements of a parameter or buffer equal this number.
  std::optional<double> uniform;
  // "lower" or "upper" for a matrix (or a batch of them) that was triangular in every draw of inputs. Other
  // inputs may differ, so a rewrite must not rely on it.
  std::string drawn_triangle;
};

struct Node {
  Op op = Op::kOther;
  std::string target;  // with its overload: "aten.softmax.int"
  std::vector<Argument> arguments;
  std::vector<ValueId> results;
  std::string module;  // path of the module that made the call: "encoder.layers.0"

  // The argument with this name; None if the operator has no such argument.
  const ArgumentValue& Arg(std::string_view name) const;
  // Return an argument of one type; no value if it has another type.
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
  std::vector<std::string> keys;  // keys of a dict, parallel to children
  ArgumentValue literal;          // a Python number, string or None among the tensors

  // The values in order. A repeated value is listed each time.
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
  size_t value_count() const { return values_.size(); }  // ids start at 0 and include erased values
  // The node that computes a value, or null.
  const Node* Definition(ValueId id) const;

  // One tree for each argument of forward, and one for its result.
  const std::vector<ValueTree>& inputs() const { return inputs_; }
  const ValueTree& outputs() const { return outputs_; }
  // Values of one kind in insertion order, including unused ones.
  std::vector<ValueId> ValuesOf(ValueKind kind) const;

  // Nodes that read the value, each once, in no particular order.
  std::span<const NodeId> Users(ValueId id) const { return users_[static_cast<size_t>(id)]; }
  bool IsOutput(ValueId id) const;
  // True if exactly one node reads the value and it is no output.
  bool HasOneUse(ValueId id) const { return Users(id).size() == 1 && !IsOutput(id); }

  bool verified = false;  // the worker ran this graph and the module, and their results agreed
  std::string note;       // how the graph was captured and checked, for users

  // Building the graph.
  ValueId AddValue(ValueKind kind, std::string name, TensorType type);
  ValueId AddConstant(std::string name, TensorType type, std::vector<double> data);
  void SetUniform(ValueId id, double value) { values_[static_cast<size_t>(id)].uniform = value; }
  void SetDrawnTriangle(ValueId id, std::string kind) {
    values_[static_cast<size_t>(id)].drawn_triangle = std::move(kind);
  }
  void AddInput(ValueTree tree) { inputs_.push_back(std::move(tree)); }
  void SetOutputs(ValueTree outputs) { outputs_ = std::move(outputs); }
  NodeId Append(NewNode node);

  // Rewriting the graph. A node is inserted before another one, so that the latter can read its results.
  NodeId InsertBefore(NodeId where, NewNode node);
  // Makes all readers of `from`, including the outputs, read `to`. `to` must be defined before them.
  void ReplaceUses(ValueId from, ValueId to);
  void SetArgument(NodeId node, std::string_view name, ArgumentValue value);
  // Erases a node. Its results must have no readers.
  void Erase(NodeId node);
  // Erases nodes whose results have no readers. Returns their number.
  int EraseDead();

  // Returns an Error if a value is read before it is written, the users are wrong, or a node has no result.
  Status Verify() const;

 private:
  ValueId NewResult(NodeId node, int32_t index, TensorType type);
  NodeId Add(NewNode node, size_t position);
  void AddUses(NodeId node, const ArgumentValue& value);
  void DropUses(NodeId node, const ArgumentValue& value);

  std::vector<Value> values_;
  std::vector<std::vector<NodeId>> users_;  // parallel to values_
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<ValueTree> inputs_;
  ValueTree outputs_;
};

// True for a draw from PyTorch's generator and for uninitialised memory. Dropout draws only in training.
bool Draws(const Node& node);
// For each value, by id: whether it depends only on parameters, buffers and constants, and on no random draw.
// Such values change only if the weights do.
std::vector<bool> FixedValues(const Graph& graph);
// For each value, by id: whether it depends on an input of forward or on a random draw.
std::vector<bool> ValuesFromInputs(const Graph& graph);

}  // namespace hone::graph
