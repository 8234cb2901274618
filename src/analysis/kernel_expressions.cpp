// Expressions of a kernel: names, operators, subscripts. See kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {

namespace {

bool IsFloat(const std::string& element) {
  return element.substr(0, 2) == "fp" || element == "bf16";
}

}  // namespace

std::string PromoteElements(const KernelValue& a, const KernelValue& b) {
  if (a.element.empty() || b.element.empty()) return "";
  if (a.element == b.element) return a.element;
  // A Python number takes the type of the other operand, unless a float meets an integer.
  if (a.literal != b.literal) {
    const KernelValue& number = a.literal ? a : b;
    const KernelValue& other = a.literal ? b : a;
    if (!IsFloat(number.element) || IsFloat(other.element))
      return IsFloat(number.element) == IsFloat(other.element) || IsFloat(other.element) ? other.element : "";
    return "fp32";
  }
  const auto either = [&](std::string_view type) { return a.element == type || b.element == type; };
  if (either("fp64")) return "fp64";
  if (either("fp32")) return "fp32";
  if (IsFloat(a.element) && IsFloat(b.element)) return "fp32";
  if (IsFloat(a.element)) return a.element;
  if (IsFloat(b.element)) return b.element;
  return "";
}

std::string KernelInterpreter::Text(const PyNode* node) const {
  std::string out;
  switch (node == nullptr ? PyKind::kError : node->kind) {
    case PyKind::kName:
      return std::string(node->name);
    case PyKind::kAttribute:
      return Text(node->value) + "." + std::string(node->name);
    case PyKind::kInt:
      return std::to_string(node->integer);
    case PyKind::kFloat:
      return fmt::format("{}", node->number);
    case PyKind::kNone:
      return "None";
    case PyKind::kTrue:
      return "True";
    case PyKind::kFalse:
      return "False";
    case PyKind::kString:
      return node->string.size() < 30 ? "'" + node->string + "'" : "'...'";
    case PyKind::kBinOp:
      return fmt::format("{} {} {}", Text(node->left), node->op, Text(node->right));
    case PyKind::kUnaryOp:
      return fmt::format("{}{}{}", node->op, node->op == "not" ? " " : "", Text(node->value));
    case PyKind::kSubscript:
      return Text(node->value) + "[" + Text(node->target) + "]";
    case PyKind::kSlice:
      return (node->left != nullptr ? Text(node->left) : "") + ":" +
             (node->right != nullptr ? Text(node->right) : "");
    case PyKind::kCompare:
      out = Text(node->left);
      for (size_t i = 0; i < node->args.size() && i < node->ops.size(); ++i)
        out += fmt::format(" {} {}", node->ops[i], Text(node->args[i]));
      return out;
    case PyKind::kCall:
    case PyKind::kTuple:
    case PyKind::kList:
      if (node->Is(PyKind::kCall)) out = Text(node->value);
      out += node->Is(PyKind::kList) ? "[" : "(";
      for (size_t i = 0; i < node->args.size(); ++i) out += (i == 0 ? "" : ", ") + Text(node->args[i]);
      return out + (node->Is(PyKind::kList) ? "]" : ")");
    default:
      return "...";
  }
}

void KernelInterpreter::Report(ProblemKind kind, const PyNode* node, std::string subject, std::string detail,
                               std::string fix, uint32_t refused_by, std::vector<KernelValue> sides) {
  // A certain report replaces an earlier uncertain report of the same problem.
  const auto [place, is_new] = reported_.insert({{static_cast<int>(kind), node}, trace_->problems.size()});
  if (!is_new && (uncertain_ > 0 || launch_ == nullptr || trace_->problems[place->second].runs)) return;
  KernelProblem problem;
  problem.kind = kind;
  problem.node = node;
  problem.subject = std::move(subject);
  problem.detail = std::move(detail);
  problem.fix = std::move(fix);
  problem.launch = launch_;
  problem.config = config_;
  problem.runs = launch_ != nullptr && launch_->runs && !launch_->conditional && uncertain_ == 0;
  problem.refused_by = refused_by;
  problem.sides = std::move(sides);
  if (is_new)
    trace_->problems.push_back(std::move(problem));
  else
    trace_->problems[place->second] = std::move(problem);
}

KernelValue KernelInterpreter::Eval(const PyNode* node) {
  if (node == nullptr || --steps_left_ <= 0) return {};
  switch (node->kind) {
    case PyKind::kInt:
      return KernelValue::Constexpr(node->big ? Constant() : Constant::Int(node->integer));
    case PyKind::kFloat:
      return KernelValue::Constexpr(Constant::Float(node->number));
    case PyKind::kTrue:
      return KernelValue::Constexpr(Constant::Bool(true));
    case PyKind::kFalse:
      return KernelValue::Constexpr(Constant::Bool(false));
    case PyKind::kNone:
      return KernelValue::Constexpr(Constant::None());
    case PyKind::kString:
      return KernelValue::Constexpr(Constant::String(node->string));
    case PyKind::kName:
      return EvalName(node);
    case PyKind::kAttribute:
      return EvalAttribute(node);
    case PyKind::kCall:
      return EvalCall(node);
    case PyKind::kBinOp: {
      const KernelValue left = Eval(node->left);
      return EvalBinary(node, node->op, left, Eval(node->right));
    }
    case PyKind::kUnaryOp: {
      KernelValue value = Eval(node->value);
      if (value.Is(Kind::kConstexpr)) return KernelValue::Constexpr(FoldUnary(node->op, value.constant));
      if (node->op == "not") {
        value.element = value.is_tensor() ? "int1" : "";
        value.is_float = false;
      }
      value.base = {};
      value.constant = Constant();
      value.from_load = false;
      return value.is_tensor() ? value : KernelValue();
    }
    case PyKind::kCompare:
      return EvalCompare(node);
    case PyKind::kBoolOp:
      return EvalBoolOp(node);
    case PyKind::kSubscript:
      return EvalSubscript(node);
    case PyKind::kIfExp:
      return EvalIfExp(node);
    case PyKind::kTuple:
    case PyKind::kList: {
      KernelValue tuple = KernelValue::Of(Kind::kTuple);
      for (const PyNode* item : node->args) tuple.items.push_back(Eval(item));
      return tuple;
    }
    case PyKind::kLambda:
      Unsupported(node, "lambda", "Write a small @triton.jit function instead.");
      return {};
    case PyKind::kDict:
      Unsupported(node, "a dictionary", "Use separate variables or a tuple.");
      return {};
    case PyKind::kSet:
      Unsupported(node, "a set", "Use comparisons joined with |.");
      return {};
    case PyKind::kNamedExpr:
      Unsupported(node, "the := operator", "Assign on a line of its own.");
      return {};
    case PyKind::kComprehension: {
      // Release 3.6 accepts a list comprehension over a tuple. No release accepts any other comprehension.
      const bool over_range =
          !node->args.empty() && node->args[0]->value != nullptr && node->args[0]->value->Is(PyKind::kCall);
      if (node->op != "list" || over_range)
        Unsupported(
            node, fmt::format("a {}{}", node->op, node->op == "generator" ? " expression" : " comprehension"),
            "Unroll it with tl.static_range or write the terms out.");
      return {};
    }
    case PyKind::kFString:
      for (const PyNode* part : node->args) {
        const KernelValue value = Eval(part);
        if (value.is_tensor() && value.run_time)
          Unsupported(node, fmt::format("an f-string with the run-time value {}", Text(part)),
                      "Pass the value as a separate argument: tl.device_print('name', value).");
      }
      return KernelValue::Constexpr(Constant());
    case PyKind::kYield:
    case PyKind::kAwait:
      Unsupported(node, node->Is(PyKind::kYield) ? "yield" : "await", "Remove it.");
      return {};
    default:
      return {};
  }
}

KernelValue KernelInterpreter::Broadcast(const PyNode* node, const KernelValue& a, const KernelValue& b,
                                         std::string_view what) {
  KernelValue out;
  if (a.is_block() && b.is_block()) {
    std::vector<int64_t> shape;
    if (!BroadcastShapes(a.shape, b.shape, &shape)) {
      Report(ProblemKind::kShapeMismatch, node, std::string(what),
             fmt::format("{} has shape {} on one side and {} on the other", what, a.ExtentsText(),
                         b.ExtentsText()),
             "Make the extents equal, or add a dimension of 1 with [:, None] or [None, :].", 0, {a, b});
      return {};
    }
    out = KernelValue::Block(std::move(shape));
  } else if (a.is_block() || b.is_block()) {
    const KernelValue& other = a.is_block() ? b : a;
    if (!other.Is(Kind::kScalar) && !other.Is(Kind::kConstexpr)) return {};
    out = KernelValue::Block(a.is_block() ? a.shape : b.shape);
  } else if (a.Is(Kind::kScalar) || b.Is(Kind::kScalar)) {
    const KernelValue& other = a.Is(Kind::kScalar) ? b : a;
    if (!other.Is(Kind::kScalar) && !other.Is(Kind::kConstexpr)) return {};
    out.kind = Kind::kScalar;
  } else {
    return {};
  }
  out.DependOn(a);
  out.DependOn(b);
  out.element = PromoteElements(a, b);
  const auto is_float = [](const KernelValue& side) { return side.is_float || IsFloat(side.element); };
  out.is_float = is_float(a) || is_float(b);
  return out;
}

KernelValue KernelInterpreter::EvalBinary(const PyNode* node, std::string_view op, const KernelValue& left,
                                          const KernelValue& right) {
  if (op == "@") {
    Unsupported(node, "the @ operator", "Use tl.dot(a, b).");
    return {};
  }
  if (left.Is(Kind::kConstexpr) && right.Is(Kind::kConstexpr)) {
    KernelValue out = KernelValue::Constexpr(FoldBinary(op, left.constant, right.constant));
    if (!out.constant.known()) out.element = PromoteElements(left, right);
    return out;
  }
  if (op == "**" && (left.is_tensor() || right.is_tensor()) && (left.run_time || right.run_time)) {
    const bool square = right.constant == Constant::Int(2) && node->left != nullptr;
    Unsupported(node, "** on a run-time value",
                square ? fmt::format("Write {} * {}.", Text(node->left), Text(node->left))
                       : "Multiply for small powers, or use tl.exp(y * tl.log(x)).");
    return {};
  }
  const auto is_float_number = [](const KernelValue& side) {
    return side.constant.kind == Constant::Kind::kFloat;
  };
  if (op == "//" && (is_float_number(left) || is_float_number(right)) && (left.run_time || right.run_time)) {
    Unsupported(node, "// with a floating-point operand", "Use tl.floor(a / b).");
    return {};
  }
  KernelValue out = Broadcast(node, left, right, fmt::format("`{}`", op));
  if (op == "+" || op == "-") {
    // Pointers change only by addition, so the base of a sum is the base of its pointer operand.
    out.base = !left.base.empty() ? left.base : op == "+" ? right.base : std::string_view();
  } else if (op == "/") {
    out.is_float = true;
    if (out.element == "int32" || out.element == "int1") out.element = "fp32";
  }
  if ((op == "//" || op == "%") && (left.loops & ~trace_->tile_loops) != 0) out.divided = true;
  out.literal = left.literal && right.literal;
  return out;
}

KernelValue KernelInterpreter::EvalCompare(const PyNode* node) {
  if (node->args.size() > 1) {
    Unsupported(node, fmt::format("the chained comparison {}", Text(node)),
                "Split it: (a <= b) & (b < c), with parentheses because & binds tighter than comparisons.");
    for (const PyNode* part : node->args) Eval(part);
    return {};
  }
  const KernelValue left = Eval(node->left);
  if (node->args.empty() || node->ops.empty()) return {};
  const KernelValue right = Eval(node->args[0]);
  const std::string_view op = node->ops[0];
  if (op == "is" || op == "is not") {
    if (left.Is(Kind::kConstexpr) && right.Is(Kind::kConstexpr) && left.constant.known() &&
        right.constant.known())
      return KernelValue::Constexpr(FoldCompare(op, left.constant, right.constant));
    return KernelValue::Constexpr(Constant());
  }
  if (op == "in" || op == "not in") {
    Unsupported(node, fmt::format("the operator `{}`", op),
                "Compare with == and join the comparisons with |.");
    return {};
  }
  if (left.Is(Kind::kConstexpr) && right.Is(Kind::kConstexpr))
    return KernelValue::Constexpr(FoldCompare(op, left.constant, right.constant));
  KernelValue out = Broadcast(node, left, right, fmt::format("`{}`", op));
  if (out.is_tensor()) out.element = "int1";
  out.is_float = false;
  return out;
}

KernelValue KernelInterpreter::EvalBoolOp(const PyNode* node) {
  KernelValue out;
  bool first = true;
  bool all_constexpr = true;
  for (const PyNode* part : node->args) {
    const KernelValue value = Eval(part);
    if (value.Is(Kind::kConstexpr) && value.constant.known()) {
      if (value.constant.truthy() == (node->op == "or")) return value;
    } else {
      all_constexpr = all_constexpr && value.Is(Kind::kConstexpr);
    }
    out = first ? value : Broadcast(node, out, value, fmt::format("`{}`", node->op));
    first = false;
  }
  if (node->args.size() > 2)
    Unsupported(node, fmt::format("a chain of more than one `{}`", node->op),
                "Add parentheses so that each operator joins two values, or use & and |.", TritonUpTo("3.3"));
  return all_constexpr ? KernelValue::Constexpr(Constant()) : out;
}

KernelValue KernelInterpreter::EvalIfExp(const PyNode* node) {
  const KernelValue test = Eval(node->test);
  if (test.Is(Kind::kConstexpr) && test.constant.known())
    return Eval(test.constant.truthy() ? node->left : node->right);
  const KernelValue then = Eval(node->left);
  const KernelValue otherwise = Eval(node->right);
  if (test.is_block() && test.run_time &&
      std::any_of(test.shape.begin(), test.shape.end(), [](int64_t extent) { return extent > 1; }))
    Unsupported(node, fmt::format("`x if {} else y` on a block", Text(node->test)),
                "Use tl.where(condition, x, y).");
  if (then.kind != otherwise.kind || then.shape != otherwise.shape) return {};
  KernelValue out = then;
  out.DependOn(otherwise);
  if (out.element != otherwise.element) out.element.clear();
  if (!(out.constant == otherwise.constant)) out.constant = Constant();
  return out;
}

bool KernelInterpreter::ComputesWith(const PyNode* name) {
  bool found = false;
  WalkPython(frame().kernel->function, [&](const PyNode* node) {
    if (node->Is(PyKind::kBinOp))
      found = found || (node->left != nullptr && node->left->IsName(name->name)) ||
              (node->right != nullptr && node->right->IsName(name->name));
    if (node->Is(PyKind::kCall) && node->value != nullptr && node->value->Is(PyKind::kAttribute) &&
        (node->value->name == "load" || node->value->name == "store") && !node->args.empty())
      found = found || node->args[0]->IsName(name->name);
    return !found;
  });
  return found;
}

KernelValue KernelInterpreter::EvalSubscript(const PyNode* node) {
  const KernelValue object = Eval(node->value);
  const PyNode* index = node->target;
  if (index == nullptr) return {};
  if (object.Is(Kind::kTuple)) {
    const KernelValue at = Eval(index);
    if (at.Is(Kind::kConstexpr) && at.constant.is_int() && at.constant.integer >= 0 &&
        at.constant.integer < static_cast<int64_t>(object.items.size()))
      return object.items[static_cast<size_t>(at.constant.integer)];
    return {};
  }
  if (!object.is_tensor()) {
    WalkPython(index, [&](const PyNode* part) {
      if (part->Is(PyKind::kName)) Eval(part);
      return true;
    });
    return {};
  }
  std::vector<const PyNode*> parts;
  if (index->Is(PyKind::kTuple))
    parts.assign(index->args.begin(), index->args.end());
  else
    parts.push_back(index);
  std::vector<int64_t> shape;
  size_t used = 0;
  for (const PyNode* part : parts) {
    if (part->Is(PyKind::kNone)) {
      shape.push_back(1);
      continue;
    }
    const bool whole =
        part->Is(PyKind::kSlice) && part->left == nullptr && part->right == nullptr && part->test == nullptr;
    if (whole) {
      if (used < object.shape.size()) shape.push_back(object.shape[used]);
      ++used;
      continue;
    }
    const KernelValue at = part->Is(PyKind::kSlice) ? KernelValue::Of(Kind::kScalar) : Eval(part);
    const bool none_in_disguise = at.Is(Kind::kConstexpr) && part->Is(PyKind::kName) &&
                                  (!at.constant.known() || at.constant.kind == Constant::Kind::kNone);
    if (none_in_disguise || (object.Is(Kind::kScalar) && !object.run_time && object.base.empty())) return {};
    // A plain parameter may be a tuple, unless the kernel also computes with it.
    if (object.Is(Kind::kScalar) && !object.base.empty() && node->value->IsName(object.base) &&
        !ComputesWith(node->value) && !at.is_tensor())
      return {};
    Report(ProblemKind::kTensorIndexing, node, Text(node->value),
           object.is_block() ? fmt::format("indexes the block {} with {}", Text(node->value), Text(part))
                             : fmt::format("indexes {}, which is a pointer or a number, with {}",
                                           Text(node->value), Text(part)),
           object.is_block()
               ? fmt::format(
                     "Take one element with tl.sum(tl.where(index == {}, {}, 0.0)), or load it from memory.",
                     part->Is(PyKind::kSlice) ? "i" : Text(part), Text(node->value))
               : fmt::format("Load it: tl.load({} + {}).", Text(node->value), Text(part)));
    return {};
  }
  if (object.Is(Kind::kScalar)) return {};
  for (; used < object.shape.size(); ++used) shape.push_back(object.shape[used]);
  if (shape.size() > object.shape.size() + parts.size()) return {};
  KernelValue out = object;
  out.shape = std::move(shape);
  return out;
}

}  // namespace hone
