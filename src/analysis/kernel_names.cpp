// Names and attributes inside a kernel: Triton's lookup order, the globals that it allows, and what each
// release's modules offer. See kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_tables.h"
#include "analysis/usual_imports.h"
#include "base/text.h"

namespace hone {

namespace {

const std::set<std::string_view>& PythonBuiltins() {
  static const std::set<std::string_view> kNames = {
      "abs",     "all",  "any",    "bin",       "bool",  "bytes",  "callable", "chr",
      "complex", "dict", "divmod", "enumerate", "eval",  "filter", "format",   "frozenset",
      "hash",    "id",   "input",  "iter",      "map",   "next",   "object",   "open",
      "ord",     "pow",  "repr",   "reversed",  "round", "set",    "setattr",  "slice",
      "sorted",  "str",  "sum",    "super",     "tuple", "type",   "vars",     "zip"};
  return kNames;
}

// Names that Triton's front end adds to a kernel's namespace.
bool IsKernelBuiltin(std::string_view name) {
  static const std::set<std::string_view> kNames = {
      "len", "list", "range", "float", "int", "isinstance", "getattr", "hasattr", "print", "min", "max"};
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

bool IsDtypeName(std::string_view name) {
  for (std::string_view prefix : {"float", "uint", "int", "bfloat"})
    if (StartsWith(name, prefix) && name.size() > prefix.size() && name[prefix.size()] >= '0' &&
        name[prefix.size()] <= '9')
      return true;
  return false;
}

std::string ShortType(std::string_view name) {
  if (name == "float32") return "fp32";
  if (name == "float16") return "fp16";
  if (name == "bfloat16") return "bf16";
  if (name == "float64") return "fp64";
  return std::string(name);
}

// True if the value is certainly a Python number, even an unknown one: math.log(2.0), or 1 / x of such an x.
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
    case PyKind::kSubscript:
      return node->value != nullptr && node->value->Is(PyKind::kAttribute) && node->value->name == "shape";
    case PyKind::kCall:
      if (node->value != nullptr && node->value->Is(PyKind::kAttribute) &&
          (node->value->name == "size" || node->value->name == "stride" || node->value->name == "numel"))
        return !node->args.empty() || node->value->name == "numel";
      return StartsWith(scopes.Resolve(node->value), "math.");
    case PyKind::kAttribute:
      return StartsWith(scopes.Resolve(node), "math.");
    default:
      return false;
  }
}

}  // namespace

KernelValue KernelInterpreter::EvalName(const PyNode* node) {
  const auto it = frame().names.find(node->name);
  if (it == frame().names.end()) return GlobalName(node);
  if (!it->second.Is(Kind::kUndefined)) return it->second;
  Report(ProblemKind::kUndefinedName, node, std::string(node->name), it->second.note,
         fmt::format("Assign {} before, on every path, with the same shape and type.", node->name));
  return {};
}

KernelValue KernelInterpreter::GlobalName(const PyNode* node) {
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = scopes_.Find(node->name, frame().kernel->function, &scope);
  if (bindings != nullptr && !bindings->empty()) {
    if (scope == scopes_.module()) return GlobalValue(node, bindings->back());
    return ClosureValue(node, bindings->back());
  }
  if (IsKernelBuiltin(node->name)) {
    KernelValue builtin = KernelValue::Of(Kind::kBuiltin);
    builtin.path = std::string(node->name);
    return builtin;
  }
  if (scopes_.has_star_import()) return {};
  const ScopeNames& local = scopes_.NamesIn(frame().kernel->function);
  if (PythonBuiltins().count(node->name) != 0)
    Report(ProblemKind::kUndefinedName, node, std::string(node->name),
           fmt::format("Python's {}() does not exist inside a kernel", node->name),
           BuiltinReplacement(node->name));
  else if (local.count(node->name) != 0)
    Report(ProblemKind::kUndefinedName, node, std::string(node->name),
           fmt::format("{} is used before it is assigned", node->name),
           fmt::format("Assign {} before this line.", node->name));
  else
    Report(ProblemKind::kUndefinedName, node, std::string(node->name),
           fmt::format("{} is not defined in {} nor in the file", node->name, frame().kernel->name),
           node->name == "tl" || node->name == "math" || node->name == "libdevice"
               ? fmt::format("Add: {}", UsualImport(node->name))
               : fmt::format("Define {}, or pass it to the kernel as a parameter.", node->name));
  return {};
}

// A name of the host function in which the kernel is defined. Triton up to 3.3 does not find such names;
// later releases treat them like globals.
KernelValue KernelInterpreter::ClosureValue(const PyNode* node, const Binding& binding) {
  const std::string around =
      fmt::format("{} is a variable of the host function around the kernel", node->name);
  if (binding.node->Is(PyKind::kParam)) {
    const Constant constant = values_.Eval(node);
    const bool number = constant.is_number();
    Report(ProblemKind::kUndefinedName, node, std::string(node->name), around,
           fmt::format("Pass {} to the kernel as a {}parameter.", node->name,
                       number && constant.is_int() ? "tl.constexpr " : ""),
           number ? kTriton3 : TritonUpTo("3.3"));
    return number ? KernelValue::Constexpr(constant) : KernelValue();
  }
  const KernelValue value = GlobalValue(node, binding);
  Report(ProblemKind::kUndefinedName, node, std::string(node->name), around,
         value.Is(Kind::kJit) || value.Is(Kind::kModule)
             ? fmt::format("Move {} to the top level of the file.", node->name)
             : fmt::format("Pass {} to the kernel as a parameter.", node->name),
         TritonUpTo("3.3"));
  return value;
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
  if (binding.value == nullptr) {
    // B, T, H = x.shape in the host function: host numbers that a nested kernel cannot read.
    const PyNode* unpacked = binding.node->Is(PyKind::kAssign) ? binding.node->value : nullptr;
    if (unpacked != nullptr && unpacked->Is(PyKind::kAttribute) && unpacked->name == "shape")
      Report(ProblemKind::kUndefinedName, node, std::string(node->name),
             fmt::format("{} is a variable of the host around the kernel", node->name),
             fmt::format("Pass {} to the kernel as a parameter.", node->name), kTriton3);
    return {};
  }
  if (Kernel* kernel = kernels_.Resolve(node)) {
    value.kind = Kind::kJit;
    value.jit = kernel;
    return value;
  }
  const std::string dotted = scopes_.Resolve(binding.value);
  if (StartsWith(dotted, "triton.language")) {
    // A name may refer to itself, as in tl = tl.math.
    if (global_depth_ >= kMaxCallDepth) return {};
    ++global_depth_;
    value = Eval(binding.value);
    --global_depth_;
    return value;
  }
  if (binding.value->Is(PyKind::kCall) &&
      scopes_.Resolve(binding.value->value) == "triton.language.constexpr")
    return KernelValue::Constexpr(values_.Eval(binding.value));
  const Constant constant = values_.Eval(binding.value);
  if (!constant.known() && !IsPlainNumber(scopes_, binding.value)) return {};
  if (constant.kind == Constant::Kind::kNone) return KernelValue::Constexpr(constant);
  uint32_t refused_by = 0;
  if (binding.node->Is(PyKind::kAnnAssign) &&
      EndsWith(scopes_.Resolve(binding.node->annotation), "constexpr"))
    refused_by =
        kAllTriton & ~(TritonVersionMask("3.0") | TritonVersionMask("3.1") | TritonVersionMask("3.2"));
  else
    refused_by = kTriton3;
  Report(ProblemKind::kUndefinedName, node, std::string(node->name),
         fmt::format("{} is an ordinary Python global, and kernels see only globals that are tl.constexpr",
                     node->name),
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
      if (is_value && TritonReleasesWith("tensor", node->name) == 0 && !StartsWith(node->name, "_"))
        Report(ProblemKind::kUnknownOp, node, fmt::format(".{}", node->name),
               fmt::format("blocks have no attribute {}", node->name), "");
      KernelValue method = KernelValue::Of(Kind::kMethod);
      method.path = std::string(node->name);
      method.items.push_back(object);
      return method;
    }
    case Kind::kTuple:
      if (node->name == "append" || node->name == "extend" || node->name == "insert")
        Unsupported(node, fmt::format("changing a list with .{}", node->name),
                    "Build the tuple in one expression, or keep the values in separate names.");
      return {};
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
  const bool table =
      module == "triton.language" || module == "triton.language.math" || module == "triton" || libdevice;
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
  if (module == "math" && (node->name == "pi" || node->name == "e" || node->name == "inf" ||
                           node->name == "nan" || node->name == "tau"))
    return KernelValue::Constexpr(Constant::Float(3.14159));
  value.kind = Kind::kBuiltin;
  return value;
}

}  // namespace hone
