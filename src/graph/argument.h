// One argument of a node. Each kind of value in an ATen schema has its own type here, so that a rule that
// needs an int list cannot receive a tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/tensor_type.h"

namespace hone::graph {

// Ids are indices into the graph's tables and stay valid while the graph is rewritten.
enum class ValueId : int32_t {};
enum class NodeId : int32_t {};

struct None {
  friend bool operator==(const None&, const None&) = default;
};

// A device, a layout or a memory format: {"device", "cuda:0"}.
struct Symbol {
  std::string kind;
  std::string name;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// A list of tensors; an element may be absent, as in x[:, i].
using ValueList = std::vector<std::optional<ValueId>>;

using ArgumentValue = std::variant<None, ValueId, bool, int64_t, double, DType, std::string, Symbol,
                                   std::vector<int64_t>, std::vector<double>, std::vector<bool>, ValueList>;

// The name is that of the operator's schema. Defaults are filled in, so that all nodes of one operator have
// the same arguments in the same order.
struct Argument {
  std::string name;
  ArgumentValue value;
  friend bool operator==(const Argument&, const Argument&) = default;
};

// Returns an int or a float as a double. A bool does not count.
std::optional<double> NumberOf(const ArgumentValue& value);
// Returns an int list. A single int counts as a list of one.
std::optional<std::vector<int64_t>> IntsOf(const ArgumentValue& value);

// Calls `visit(ValueId)` for each tensor in the argument.
template <class Visit>
void ForEachValue(const ArgumentValue& value, Visit visit) {
  if (const auto* one = std::get_if<ValueId>(&value)) visit(*one);
  if (const auto* list = std::get_if<ValueList>(&value))
    for (const std::optional<ValueId>& item : *list)
      if (item) visit(*item);
}

}  // namespace hone::graph
