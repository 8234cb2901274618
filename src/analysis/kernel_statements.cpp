// Statements of a kernel. See kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"

namespace hone {

namespace {

bool ContainsReturn(const std::vector<PyNode*>& body) {
  bool found = false;
  for (const PyNode* statement : body)
    WalkPython(statement, [&](const PyNode* node) {
      found = found || node->Is(PyKind::kReturn);
      return !node->Is(PyKind::kFunction) && !node->Is(PyKind::kLambda);
    });
  return found;
}

// Parameters that the kernel multiplies, divides, compares or uses as a loop bound are numbers, not
// addresses.
std::set<std::string_view> NumberParams(const Kernel& kernel) {
  std::set<std::string_view> out;
  const auto take = [&](const PyNode* node) {
    if (node != nullptr && node->Is(PyKind::kName)) out.insert(node->name);
  };
  WalkPython(kernel.function, [&](const PyNode* node) {
    if (node->Is(PyKind::kBinOp) && node->op != "+" && node->op != "-") {
      take(node->left);
      take(node->right);
    }
    if (node->Is(PyKind::kCompare) && !node->ops.empty() && node->ops[0] != "is" &&
        node->ops[0] != "is not") {
      take(node->left);
      for (const PyNode* part : node->args) take(part);
    }
    if (node->Is(PyKind::kCall) && node->value != nullptr &&
        (node->value->IsName("range") || (node->value->Is(PyKind::kAttribute) &&
                                          (node->value->name == "range" || node->value->name == "cdiv"))))
      for (const PyNode* part : node->args) take(part);
    return true;
  });
  return out;
}

}  // namespace

void KernelInterpreter::Run(const Kernel& kernel, const Launch* launch, const TuneConfig* config,
                            int* steps) {
  launch_ = launch;
  config_ = config;
  const int limit = std::min(kMaxSteps, std::max(0, *steps));
  steps_left_ = limit;
  recording_ = !recorded_;
  recorded_ = true;
  keyword_values_.clear();
  loop_stack_.clear();
  loop_count_ = 0;
  loop_base_ = 0;
  uncertain_ = 0;
  const std::set<std::string_view> numbers = NumberParams(kernel);
  Frame frame;
  frame.kernel = &kernel;
  frame_ = &frame;
  for (const KernelParam& param : kernel.params) {
    KernelValue value;
    const PyNode* argument = launch != nullptr ? launch->Argument(param.name) : nullptr;
    Constant constant;
    if (argument != nullptr)
      constant = values_.Eval(argument);
    else if (config == nullptr || config->values.count(std::string(param.name)) == 0)
      if (param.node->value != nullptr && launch != nullptr && launch->complete &&
          kernel.supplied.count(std::string(param.name)) == 0)
        constant = values_.Eval(param.node->value);
    if (config != nullptr)
      if (const auto it = config->values.find(std::string(param.name)); it != config->values.end())
        constant = it->second;
    if (param.is_constexpr || constant.kind == Constant::Kind::kNone) {
      value = KernelValue::Constexpr(constant);
    } else {
      value.kind = Kind::kScalar;
      if (numbers.count(param.name) == 0) value.base = param.name;
      // The value 1 is specialised into the kernel, so only other constants are certainly run-time values.
      value.run_time = constant.is_number() && !(constant == Constant::Int(1));
    }
    value.note = std::string(param.name);
    frame.names[param.name] = std::move(value);
  }
  Block(kernel.function->body);
  frame_ = nullptr;
  *steps -= limit - std::max(0, steps_left_);
  // Code that was not interpreted may have any effect.
  if (steps_left_ <= 0) trace_->opaque_calls = true;
}

void KernelInterpreter::Block(const std::vector<PyNode*>& statements) {
  for (const PyNode* statement : statements) {
    if (steps_left_ <= 0) return;
    Statement(statement);
    if (statement->Is(PyKind::kReturn)) return;
  }
}

void KernelInterpreter::Unsupported(const PyNode* node, const std::string& what, const std::string& fix,
                                    uint32_t refused_by) {
  Report(ProblemKind::kUnsupported, node, what, "", fix, refused_by);
}

void KernelInterpreter::Statement(const PyNode* node) {
  --steps_left_;
  switch (node->kind) {
    case PyKind::kExprStmt:
      Eval(node->value);
      return;
    case PyKind::kAssign: {
      if (node->args.size() > 1) Unsupported(node, "a = b = value", "Write one assignment per line.");
      const KernelValue value = Eval(node->value);
      for (const PyNode* target : node->args) Assign(target, value, node);
      return;
    }
    case PyKind::kAugAssign:
      AugAssign(node);
      return;
    case PyKind::kAnnAssign: {
      KernelValue value = Eval(node->value);
      const bool is_constexpr =
          node->annotation != nullptr && scopes_.Resolve(node->annotation) == "triton.language.constexpr";
      if (is_constexpr && node->target != nullptr && node->target->Is(PyKind::kName)) {
        if (value.Is(Kind::kConstexpr) || value.Is(Kind::kScalar)) {
          // constexpr(tensor) is accepted but fails where a number is needed, so it stays a run-time value.
          frame().names[node->target->name] = std::move(value);
        } else {
          frame().names[node->target->name] = KernelValue();
        }
        return;
      }
      if (node->value != nullptr) Assign(node->target, std::move(value), node);
      return;
    }
    case PyKind::kReturn:
      if (node->value != nullptr) {
        KernelValue value = Eval(node->value);
        frame().returned = frame().has_returned ? KernelValue() : std::move(value);
        frame().has_returned = true;
      }
      if (InOwnLoop())
        Unsupported(node, "return inside a loop",
                    "Compute a condition before the loop, or mask the work inside it; a kernel may return "
                    "only outside loops.");
      return;
    case PyKind::kIf:
      If(node);
      return;
    case PyKind::kFor:
      For(node);
      return;
    case PyKind::kWhile: {
      if (!node->orelse.empty()) Unsupported(node, "else after while", "Move the else block after the loop.");
      const KernelValue test = Eval(node->test);
      if (test.Is(Kind::kConstexpr) && test.constant.known())
        Unsupported(node,
                    fmt::format("`while {}`, a condition that is known at compile time", Text(node->test)),
                    "Loop on a condition that changes at run time, or use range.");
      if (test.is_block() &&
          std::any_of(test.shape.begin(), test.shape.end(), [](int64_t extent) { return extent > 1; }))
        Unsupported(node,
                    fmt::format("`while` on {}, a block of shape {}", Text(node->test), test.ExtentsText()),
                    "Reduce the condition to one value with tl.max or tl.sum first.");
      LoopBody(node, node->test != nullptr ? Text(node->test) : "");
      return;
    }
    case PyKind::kAssert:
      Eval(node->test);
      return;
    case PyKind::kPass:
      return;
    case PyKind::kContinue:
      Unsupported(
          node, "continue",
          "Invert the condition and put the rest of the loop body under it, or make it part of the mask.");
      return;
    case PyKind::kBreak:
      Unsupported(node, "break",
                  "Use a while loop whose condition ends it, or mask the remaining iterations.");
      return;
    case PyKind::kTry:
      Unsupported(node, "try", "Remove it: nothing raises inside a kernel.");
      return;
    case PyKind::kWith:
      Unsupported(node, "with", "Remove it: context managers of the host have no effect inside a kernel.");
      return;
    case PyKind::kRaise:
      Unsupported(node, "raise", "Use tl.device_assert, or check on the host.");
      return;
    case PyKind::kDelete:
      Unsupported(node, "del", "Remove it: a kernel needs no del.");
      return;
    case PyKind::kGlobal:
      Unsupported(node, "global", "Pass the value as an argument.");
      return;
    case PyKind::kImport:
    case PyKind::kImportFrom:
      Unsupported(node, "import", "Import at the top of the file.");
      return;
    case PyKind::kFunction:
      Unsupported(node, fmt::format("the nested function {}", node->name),
                  "Move it to the top level and decorate it with @triton.jit.");
      return;
    case PyKind::kClass:
      Unsupported(node, fmt::format("the class {}", node->name), "Move it out of the kernel.");
      return;
    default:
      return;
  }
}

void KernelInterpreter::Assign(const PyNode* target, KernelValue value, const PyNode* statement) {
  if (target == nullptr) return;
  switch (target->kind) {
    case PyKind::kName:
      // Assignment turns a compile-time number into a run-time one. Types, tuples and None do not change.
      if (value.Is(Kind::kConstexpr) && value.constant.kind != Constant::Kind::kNone) {
        const bool maybe_not_number =
            !value.constant.known() || value.constant.kind == Constant::Kind::kString;
        value.kind = maybe_not_number && value.constant.kind == Constant::Kind::kString ? Kind::kUnknown
                                                                                        : Kind::kScalar;
        value.literal = false;
        value.origin = statement;
        value.note = std::string(target->name);
      }
      value.from_load = value.from_load && value.is_block();
      frame().names[target->name] = std::move(value);
      return;
    case PyKind::kTuple:
    case PyKind::kList:
      for (size_t i = 0; i < target->args.size(); ++i) {
        const bool have = value.Is(Kind::kTuple) && i < value.items.size();
        Assign(target->args[i], have ? value.items[i] : KernelValue(), statement);
      }
      return;
    case PyKind::kSubscript: {
      Eval(target->value);
      Report(ProblemKind::kTensorIndexing, target, Text(target->value),
             fmt::format("assigns to {}, but blocks cannot be written element by element", Text(target)),
             "Build the new block with tl.where on an index, or store it with tl.store.");
      return;
    }
    default:
      return;
  }
}

void KernelInterpreter::AugAssign(const PyNode* node) {
  if (node->target == nullptr) return;
  if (node->target->Is(PyKind::kSubscript)) {
    Assign(node->target, KernelValue(), node);
    return;
  }
  const KernelValue left = Eval(node->target);
  const KernelValue right = Eval(node->value);
  KernelValue result = EvalBinary(node, node->op, left, right);
  if (Recording() && node->op == "+" && node->value != nullptr && node->value->Is(PyKind::kBinOp) &&
      node->value->op == "*" && !loop_stack_.empty()) {
    const KernelValue a = Eval(node->value->left);
    const KernelValue b = Eval(node->value->right);
    const bool scalar_vector = (a.Is(Kind::kScalar) && b.is_block()) || (a.is_block() && b.Is(Kind::kScalar));
    const bool outer =
        a.is_block() && b.is_block() && a.shape.size() == 2 && b.shape.size() == 2 && a.shape != b.shape;
    if (scalar_vector || outer) trace_->scalar_vector_products.push_back(node);
  }
  Assign(node->target, std::move(result), node);
}

void KernelInterpreter::If(const PyNode* node) {
  const KernelValue test = Eval(node->test);
  if (test.is_block() && !test.shape.empty()) {
    const bool several = std::any_of(test.shape.begin(), test.shape.end(), [](int64_t d) { return d > 1; });
    if (several)
      Unsupported(node->test,
                  fmt::format("`if` on {}, a block of shape {}", Text(node->test), test.ExtentsText()),
                  "Use tl.where, or reduce the condition to one value with tl.max or tl.sum first.");
  }
  if (test.Is(Kind::kConstexpr) && test.constant.known()) {
    Block(test.constant.truthy() ? node->body : node->orelse);
    return;
  }
  const bool certain = test.is_tensor() && test.run_time;
  if (InOwnLoop() && certain && (ContainsReturn(node->body) || ContainsReturn(node->orelse))) {
    Unsupported(node, "return inside a loop",
                "Compute a condition before the loop, or mask the work inside it; a kernel may return only "
                "outside loops.");
  }
  const Environment before = frame().names;
  steps_left_ -= static_cast<int>(before.size() / 4);
  // If the compiler folds the condition to a value unknown here, one branch is left out.
  const bool maybe_left_out = !test.is_tensor();
  uncertain_ += maybe_left_out ? 1 : 0;
  Block(node->body);
  Environment then = std::move(frame().names);
  frame().names = before;
  Block(node->orelse);
  uncertain_ -= maybe_left_out ? 1 : 0;
  MergeBranches(node, before, then, certain);
}

void KernelInterpreter::MergeBranches(const PyNode* node, const Environment& before, const Environment& then,
                                      bool certain) {
  Environment& otherwise = frame().names;
  const auto one_branch_only = [&](std::string_view name) {
    if (!certain) return KernelValue();
    KernelValue gone = KernelValue::Of(Kind::kUndefined);
    gone.note = fmt::format("{} is assigned in only one branch of `if {}`", name, Text(node->test));
    return gone;
  };
  for (const auto& [name, value] : then) {
    const auto other = otherwise.find(name);
    if (other == otherwise.end()) {
      otherwise[name] = one_branch_only(name);
      continue;
    }
    const bool both_known = value.is_tensor() && other->second.is_tensor();
    const bool same = both_known && value.kind == other->second.kind && value.shape == other->second.shape;
    const bool types_differ = same && certain && !value.element.empty() && !other->second.element.empty() &&
                              value.element != other->second.element;
    if (types_differ)
      Report(ProblemKind::kShapeMismatch, node, std::string(name),
             fmt::format("{} is {} in one branch of `if {}` and {} in the other", name, value.element,
                         Text(node->test), other->second.element),
             fmt::format("Give {} the same type in both branches.", name));
    if (!same && both_known && certain) {
      std::vector<int64_t> ignored;
      const bool ranks_differ =
          value.kind != other->second.kind || value.shape.size() != other->second.shape.size();
      const bool extents_differ =
          !ranks_differ && !std::equal(value.shape.begin(), value.shape.end(), other->second.shape.begin(),
                                       [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; });
      if (ranks_differ || extents_differ)
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} has shape {} in one branch of `if {}` and {} in the other", name,
                           value.ExtentsText(), Text(node->test), other->second.ExtentsText()),
               fmt::format("Give {} the same shape in both branches.", name));
    }
    if (!same) {
      // Equal compile-time values stay. Other differing values become unknown.
      const bool equal_constants = value.Is(Kind::kConstexpr) && other->second.Is(Kind::kConstexpr) &&
                                   value.constant.known() && value.constant == other->second.constant;
      if (!equal_constants && value.kind != other->second.kind) otherwise[name] = KernelValue();
      if (value.kind == other->second.kind && value.is_block() &&
          value.shape.size() != other->second.shape.size())
        otherwise[name] = KernelValue();
    } else {
      KernelValue merged = value;
      merged.DependOn(other->second);
      if (merged.element != other->second.element) merged.element.clear();
      merged.constant = Constant();
      if (before.count(name) != 0 && value.base.empty() != other->second.base.empty()) merged.base = {};
      otherwise[name] = std::move(merged);
    }
  }
  for (auto& [name, value] : otherwise)
    if (then.count(name) == 0) value = one_branch_only(name);
}

}  // namespace hone
