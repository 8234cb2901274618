// Evaluates host expressions from the file alone: assignments, defaults, attributes set in __init__,
// arguments at every visible call. One unknown part makes the whole value unknown. Each object serves one
// thread.
#pragma once

#include <map>
#include <string>

#include "analysis/constant.h"
#include "analysis/scopes.h"

namespace hone {

class HostValues {
 public:
  explicit HostValues(const Scopes& scopes) : scopes_(scopes) {}

  Constant Eval(const PyNode* expression) const {
    steps_left_ = kMaxSteps;
    return Eval(expression, 0);
  }
  // Constructor arguments of ModelNew or the task's Model, by parameter name, if the task provides them.
  void SetInitArguments(std::map<std::string, Constant> arguments) { init_arguments_ = std::move(arguments); }

 private:
  static constexpr int kMaxDepth = 24;
  // Limits definitions that double (a = b + b; b = c + c; ...), which would take exponential time.
  static constexpr int kMaxSteps = 4000;

  Constant Eval(const PyNode* expression, int depth) const;
  Constant EvalName(const PyNode* name, int depth) const;
  Constant EvalParameter(const PyNode* param, int depth) const;
  Constant EvalAttribute(const PyNode* attribute, int depth) const;
  Constant EvalCall(const PyNode* call, int depth) const;
  Constant EvalSubscript(const PyNode* subscript, int depth) const;
  Constant EvalBindings(const std::vector<Binding>& bindings, int depth) const;
  std::vector<Binding> Reaching(const std::vector<Binding>& bindings, const PyNode* use) const;

  const Scopes& scopes_;
  std::map<std::string, Constant> init_arguments_;
  mutable int steps_left_ = 0;
};

}  // namespace hone
