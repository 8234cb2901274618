// Expressions of a kernel: names, operators, subscripts. See kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {

namespace {

const std::set<std::string_view>& PythonBuiltins() {
  static const std::set<std::string_view> kNames = {
      "abs", "all", "any", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate", "eval",
      "filter", "format", "frozenset", "hash", "id", "input", "iter", "map", "next", "object", "open", "ord", "pow",
      "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip"};
  return kNames;
}

// What Triton's front end itself puts into a kernel's namespace.
bool IsKernelBuiltin(std::string_view name) {
  static const std::set<std::string_view> kNames = {"len", "list", "range", "float", "int", "isinstance", "getattr",
                                                    "hasattr", "print", "min", "max"};
  return kNames.count(name) != 0;
}

std::string BuiltinReplacement(std::string_view name) {
  if (name == "abs") return "Use tl.abs.";
  if (name == "sum") return "Use tl.sum(x, axis=0).";
  if (name == "pow") return "Multiply, or use tl.exp(y * tl.log(x)).";
  if (name == "round") return "Use tl.floor(x + 0.5).";
  if (name == "any") return "Use tl.max(x.to(tl.int32), axis=0).";
  if (name == "all") return "Use tl.min(x.to(tl.int32), axis=0).";
  if (name == "bool") return "Drop it, or compare with 0.";
  return "Compute it on the host and pass it in, or write it with triton.language operations.";
}

uint32_t RefusesChains() {
  uint32_t mask = 0;
  for (std::string_view version : {"2.1", "2.2", "3.0", "3.1", "3.2", "3.3"}) mask |= TritonVersionMask(version);
  return mask;
}

bool IsDtypeName(std::string_view name) {
  return StartsWith(name, "float") || StartsWith(name, "int") || StartsWith(name, "uint") || name == "bfloat16";
}

std::string ShortType(std::string_view name) {
  if (name == "float32") return "fp32";
  if (name == "float16") return "fp16";
  if (name == "bfloat16") return "bf16";
  if (name == "float64") return "fp64";
  return std::string(name);
}

// Certainly a Python number, even when its value is not known: math.log(2.0), 1 / x of such.
bool IsPlainNumber(const Scopes& scopes, const PyNode* node) {
  switch (node == nullptr ? PyKind::kError : node->kind) {
    case PyKind::kInt:
    case PyKind::kFloat:
    case PyKind::kTrue:
    case PyKind::kFalse:
      return true;
    case PyKind::kUnaryOp:
      return IsPlainNumber(scopes, node->value);
    case PyKind::kBinOp:
      return IsPlainNumber(scopes, node->left) && IsPlainNumber(scopes, node->right);
    case PyKind::kAttribute:
    case PyKind::kCall:
      return StartsWith(scopes.Resolve(node->Is(PyKind::kCall) ? node->value : node), "math.");
    default:
      return false;
  }
}

bool IsFloat(const std::string& element) { return element.substr(0, 2) == "fp" || element == "bf16"; }

}  // namespace

std::string PromoteElements(const KernelValue& a, const KernelValue& b) {
  if (a.element.empty() || b.element.empty()) return "";
  if (a.element == b.element) return a.element;
  // A Python number takes the type of what it meets, unless a float meets an integer.
  if (a.literal != b.literal) {
    const KernelValue& number = a.literal ? a : b;
    const KernelValue& other = a.literal ? b : a;
    if (!IsFloat(number.element) || IsFloat(other.element)) return IsFloat(number.element) == IsFloat(other.element) || IsFloat(other.element) ? other.element : "";
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
      return (node->left != nullptr ? Text(node->left) : "") + ":" + (node->right != nullptr ? Text(node->right) : "");
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
                               std::string fix, uint32_t refused_by) {
  // What is certain replaces an earlier report of the same thing that was not.
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
  problem.runs = launch_ != nullptr && launch_->runs && uncertain_ == 0;
  problem.refused_by = refused_by;
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
      if (node->op == "not") value.element = value.is_tensor() ? "int1" : "";
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
      // Release 3.6 accepts a list comprehension over a tuple; nothing else of the kind passes anywhere.
      const bool over_range = !node->args.empty() && node->args[0]->value != nullptr &&
                              node->args[0]->value->Is(PyKind::kCall);
      if (node->op != "list" || over_range)
        Unsupported(node, fmt::format("a {}{}", node->op, node->op == "generator" ? " expression" : " comprehension"),
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

KernelValue KernelInterpreter::EvalName(const PyNode* node) {
  const auto it = frame().names.find(node->name);
  if (it == frame().names.end()) return GlobalName(node);
  if (!it->second.Is(Kind::kUndefined)) return it->second;
  Report(ProblemKind::kUndefinedName, node, std::string(node->name), it->second.note,
         fmt::format("Assign {} before, on every path, with the same shape and type.", node->name));
  return {};
}

KernelValue KernelInterpreter::GlobalName(const PyNode* node) {
  const std::vector<Binding>* bindings = scopes_.Find(node->name, frame().kernel->function);
  if (bindings != nullptr && !bindings->empty()) return GlobalValue(node, bindings->back());
  if (IsKernelBuiltin(node->name)) {
    KernelValue builtin = KernelValue::Of(Kind::kBuiltin);
    builtin.path = std::string(node->name);
    return builtin;
  }
  if (scopes_.has_star_import()) return {};
  const ScopeNames& local = scopes_.NamesIn(frame().kernel->function);
  if (PythonBuiltins().count(node->name) != 0)
    Report(ProblemKind::kUndefinedName, node, std::string(node->name),
           fmt::format("Python's {}() does not exist inside a kernel", node->name), BuiltinReplacement(node->name));
  else if (local.count(node->name) != 0)
    Report(ProblemKind::kUndefinedName, node, std::string(node->name),
           fmt::format("{} is used before it is assigned", node->name),
           fmt::format("Assign {} before this line.", node->name));
  else
    Report(ProblemKind::kUndefinedName, node, std::string(node->name),
           fmt::format("{} is not defined in {} nor in the file", node->name, frame().kernel->name),
           node->name == "tl"     ? "Add: import triton.language as tl"
           : node->name == "math" ? "Add: import math"
                                  : fmt::format("Define {}, or pass it to the kernel as a parameter.", node->name));
  return {};
}

KernelValue KernelInterpreter::GlobalValue(const PyNode* node, const Binding& binding) {
  KernelValue value;
  if (binding.node->Is(PyKind::kAlias)) {
    value.path = scopes_.Resolve(node);
    value.kind = Kind::kModule;
    const size_t dot = value.path.rfind('.');
    if (dot != std::string::npos && value.path.substr(0, dot) == "triton.language" &&
        value.path != "triton.language.math" && value.path != "triton.language.extra")
      value.kind = IsDtypeName(value.path.substr(dot + 1)) ? Kind::kType : Kind::kBuiltin;
    return value;
  }
  if (binding.node->Is(PyKind::kFunction)) {
    value.jit = kernels_.OfFunction(binding.node);
    if (value.jit != nullptr)
      value.kind = Kind::kJit;
    else if (binding.node->decorators.empty())
      value.kind = Kind::kHostFunction;
    value.path = std::string(node->name);
    return value;
  }
  if (binding.value == nullptr) return {};
  if (Kernel* kernel = kernels_.Resolve(node)) {
    value.kind = Kind::kJit;
    value.jit = kernel;
    return value;
  }
  const std::string dotted = scopes_.Resolve(binding.value);
  if (StartsWith(dotted, "triton.language")) return Eval(binding.value);
  if (binding.value->Is(PyKind::kCall) && scopes_.Resolve(binding.value->value) == "triton.language.constexpr")
    return KernelValue::Constexpr(values_.Eval(binding.value));
  const Constant constant = values_.Eval(binding.value);
  if (!constant.known() && !IsPlainNumber(scopes_, binding.value)) return {};
  if (constant.kind == Constant::Kind::kNone) return KernelValue::Constexpr(constant);
  uint32_t refused_by = 0;
  if (binding.node->Is(PyKind::kAnnAssign) && EndsWith(scopes_.Resolve(binding.node->annotation), "constexpr"))
    refused_by = kAllTriton & ~(TritonVersionMask("3.0") | TritonVersionMask("3.1") | TritonVersionMask("3.2"));
  else
    refused_by = kTriton3;
  Report(ProblemKind::kUndefinedName, node, std::string(node->name),
         fmt::format("{} is an ordinary Python global, and kernels see only globals that are tl.constexpr", node->name),
         fmt::format("Write {} = tl.constexpr({}), or pass it as a tl.constexpr parameter.", node->name,
                     constant.known() ? constant.Text() : Text(binding.value)),
         refused_by);
  return KernelValue::Constexpr(constant);
}

KernelValue KernelInterpreter::EvalAttribute(const PyNode* node) {
  const KernelValue object = Eval(node->value);
  switch (object.kind) {
    case Kind::kModule:
      return ModuleMember(node, object.path);
    case Kind::kBlock:
    case Kind::kScalar:
    case Kind::kBlockPointer: {
      if (node->name == "T" && object.is_block()) {
        KernelValue out = object;
        std::reverse(out.shape.begin(), out.shape.end());
        return out;
      }
      if (node->name == "shape" && object.is_block()) {
        KernelValue tuple = KernelValue::Of(Kind::kTuple);
        for (int64_t extent : object.shape)
          tuple.items.push_back(KernelValue::Constexpr(extent < 0 ? Constant() : Constant::Int(extent)));
        return tuple;
      }
      if (node->name == "dtype") {
        KernelValue type = KernelValue::Of(Kind::kType);
        type.element = object.is_block() && object.base.empty() ? object.element : "";
        return type;
      }
      const bool is_value = object.is_tensor() && object.run_time && object.base.empty();
      if (is_value && TritonReleasesWith("tensor", node->name) == 0 &&
          !StartsWith(node->name, "_"))
        Report(ProblemKind::kUnknownOp, node, fmt::format(".{}", node->name),
               fmt::format("blocks have no attribute {}", node->name), "");
      KernelValue method = KernelValue::Of(Kind::kMethod);
      method.path = std::string(node->name);
      method.items.push_back(object);
      return method;
    }
    case Kind::kConstexpr:
      if (node->name == "value") return object;
      return {};
    case Kind::kType: {
      KernelValue type = KernelValue::Of(Kind::kType);
      return type;
    }
    default:
      return {};
  }
}

KernelValue KernelInterpreter::ModuleMember(const PyNode* node, const std::string& module) {
  const std::string path = module + "." + std::string(node->name);
  KernelValue value;
  value.path = path;
  const bool libdevice = EndsWith(module, "libdevice") && StartsWith(module, "triton.language");
  const bool table = module == "triton.language" || module == "triton.language.math" || module == "triton" || libdevice;
  if (table && !StartsWith(node->name, "_")) {
    const uint32_t has = TritonReleasesWith(libdevice ? "libdevice" : module, node->name);
    if (has != kAllTriton)
      Report(ProblemKind::kUnknownOp, node, Text(node),
             has == 0 ? fmt::format("{} has no {}", module, node->name)
                      : fmt::format("{} has {} only in Triton {}", module, node->name, DescribeVersions(has)),
             "", kAllTriton & ~has);
  }
  if (path == "triton.language" || path == "triton.language.math" || path == "triton.language.extra" ||
      StartsWith(path, "triton.language.extra.") || path == "triton.language.libdevice") {
    value.kind = Kind::kModule;
    if (libdevice) value.kind = Kind::kBuiltin;
    return value;
  }
  if (module == "triton.language" && IsDtypeName(node->name)) {
    value.kind = Kind::kType;
    value.element = ShortType(node->name);
    return value;
  }
  if (module == "math" &&
      (node->name == "pi" || node->name == "e" || node->name == "inf" || node->name == "nan" || node->name == "tau"))
    return KernelValue::Constexpr(Constant::Float(3.14159));
  value.kind = Kind::kBuiltin;
  return value;
}

KernelValue KernelInterpreter::Broadcast(const PyNode* node, const KernelValue& a, const KernelValue& b,
                                         std::string_view what) {
  KernelValue out;
  if (a.is_block() && b.is_block()) {
    std::vector<int64_t> shape;
    if (!BroadcastShapes(a.shape, b.shape, &shape)) {
      Report(ProblemKind::kShapeMismatch, node, std::string(what),
             fmt::format("{} has shape {} on one side and {} on the other", what, a.ShapeText(), b.ShapeText()),
             "Make the extents equal, or add a dimension of 1 with [:, None] or [None, :].");
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
  KernelValue out = Broadcast(node, left, right, fmt::format("`{}`", op));
  if (op == "+" || op == "-") {
    // Pointers only ever move by adding, so the base of a sum is the base of its pointer side.
    out.base = !left.base.empty() ? left.base : op == "+" ? right.base : std::string_view();
    if (!left.base.empty() && !right.base.empty() && !left.is_block() && right.is_block()) out.base = right.base;
  } else if (op == "/") {
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
    if (left.Is(Kind::kConstexpr) && right.Is(Kind::kConstexpr) && left.constant.known() && right.constant.known())
      return KernelValue::Constexpr(FoldCompare(op, left.constant, right.constant));
    return KernelValue::Constexpr(Constant());
  }
  if (op == "in" || op == "not in") {
    Unsupported(node, fmt::format("the operator `{}`", op), "Compare with == and join the comparisons with |.");
    return {};
  }
  if (left.Is(Kind::kConstexpr) && right.Is(Kind::kConstexpr))
    return KernelValue::Constexpr(FoldCompare(op, left.constant, right.constant));
  KernelValue out = Broadcast(node, left, right, fmt::format("`{}`", op));
  if (out.is_tensor()) out.element = "int1";
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
                "Add parentheses so that each operator joins two values, or use & and |.", RefusesChains());
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
    Unsupported(node, fmt::format("`x if {} else y` on a block", Text(node->test)), "Use tl.where(condition, x, y).");
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
      found = found || (node->left != nullptr && node->left->IsName(name->name)) || (node->right != nullptr && node->right->IsName(name->name));
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
    const bool whole = part->Is(PyKind::kSlice) && part->left == nullptr && part->right == nullptr && part->test == nullptr;
    if (whole) {
      if (used < object.shape.size()) shape.push_back(object.shape[used]);
      ++used;
      continue;
    }
    const KernelValue at = part->Is(PyKind::kSlice) ? KernelValue::Of(Kind::kScalar) : Eval(part);
    const bool none_in_disguise = at.Is(Kind::kConstexpr) && part->Is(PyKind::kName) &&
                                  (!at.constant.known() || at.constant.kind == Constant::Kind::kNone);
    if (none_in_disguise || (object.Is(Kind::kScalar) && !object.run_time && object.base.empty())) return {};
    // A bare parameter may be a tuple, unless the kernel also computes with it.
    if (object.Is(Kind::kScalar) && !object.base.empty() && node->value->IsName(object.base) && !ComputesWith(node->value) &&
        !at.is_tensor())
      return {};
    Report(ProblemKind::kTensorIndexing, node, Text(node->value),
           object.is_block() ? fmt::format("indexes the block {} with {}", Text(node->value), Text(part))
                             : fmt::format("indexes {}, which is a pointer or a number, with {}", Text(node->value), Text(part)),
           object.is_block()
               ? fmt::format("Take one element with tl.sum(tl.where(index == {}, {}, 0.0)), or load it from memory.",
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
