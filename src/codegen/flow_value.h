// What is known of a value while `forward` is followed: whether it is an output of a recurrent call, or
// depends on some, and where it came from. Only sets and joins; who calls what is forward_trace.cpp's
// business.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/recurrent_plan.h"
#include "source/python_ast.h"

namespace hone {

enum class Output : uint8_t { kSequence, kLast, kHidden, kCell };

struct Dependence {
  size_t module;
  Output output;
  auto operator<=>(const Dependence&) const = default;
};
using Dependences = std::set<Dependence>;

struct FlowValue {
  enum class Kind { kPlain, kResult, kSequence, kLast, kState, kHidden, kCell, kTuple, kModule };
  Kind kind = Kind::kPlain;
  size_t module = 0;                // of the kinds that belong to a recurrent call
  std::string path;                 // of kModule
  std::vector<FlowValue> elements;  // of kTuple
  Dependences needs;                // what it depends on besides its own kind
  StateSource origin;
  bool packed = false;
};
using FlowNames = std::map<std::string_view, FlowValue>;

struct FlowArguments {
  std::vector<FlowValue> positional;
  std::map<std::string_view, FlowValue> named;
};

void MergeSources(StateSource* into, const StateSource& from);

class FlowValues {
 public:
  explicit FlowValues(std::vector<RecurrentModule>* modules) : modules_(*modules) {}

  static FlowValue ModuleValue(std::string path);
  // An output of the call that `from` is the result of.
  static FlowValue Belonging(FlowValue::Kind kind, const FlowValue& from);

  // Everything that reading the value whole depends on; it counts as touched from then on.
  Dependences All(const FlowValue& value) const;
  FlowValue Plain(std::initializer_list<const FlowValue*> parts) const;
  FlowValue Together(const FlowArguments& arguments) const;
  // It reaches something that lasts.
  void Use(const FlowValue& value);
  // An operation that keeps the value what it is: of a sequence, any length will do.
  void TouchLightly(const FlowValue& value);
  FlowValue Join(const FlowValue& a, const FlowValue& b) const;
  FlowNames JoinNames(const FlowNames& a, const FlowNames& b) const;
  // Element i of a value that is unpacked into `count` parts (0: by subscript).
  FlowValue Element(const FlowValue& value, int64_t i, size_t count) const;
  // x[index] for a sequence: is it the last step and nothing else?
  static bool TakesLastStep(const RecurrentModule& module, const PyNode* index);
  // The module was handed to something that may call it unseen.
  bool lost(size_t module) const { return lost_.count(module) != 0; }

 protected:
  std::vector<RecurrentModule>& modules_;

 private:
  mutable std::set<size_t> lost_;
};

}  // namespace hone
