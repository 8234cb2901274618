// Calls inside a kernel: jitted helpers, the few supported Python builtins, and triton.language. See
// kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {

namespace {

const std::set<std::string_view>& ElementwiseOps() {
  static const std::set<std::string_view> kNames = {"abs",
                                                    "ceil",
                                                    "clamp",
                                                    "cos",
                                                    "cumprod",
                                                    "cumsum",
                                                    "div_rn",
                                                    "erf",
                                                    "exp",
                                                    "exp2",
                                                    "fdiv",
                                                    "flip",
                                                    "floor",
                                                    "fma",
                                                    "log",
                                                    "log2",
                                                    "max_constancy",
                                                    "max_contiguous",
                                                    "maximum",
                                                    "minimum",
                                                    "multiple_of",
                                                    "rsqrt",
                                                    "sigmoid",
                                                    "sin",
                                                    "softmax",
                                                    "sort",
                                                    "sqrt",
                                                    "sqrt_rn",
                                                    "umulhi",
                                                    "where",
                                                    "zeros_like",
                                                    "cast",
                                                    "add",
                                                    "mul",
                                                    "sub",
                                                    "cdiv",
                                                    "associative_scan",
                                                    "rand",
                                                    "randn",
                                                    "randint"};
  return kNames;
}

bool IsReduction(std::string_view name) {
  return name == "sum" || name == "max" || name == "min" || name == "argmax" || name == "argmin" ||
         name == "reduce" || name == "xor_sum" || name == "reduce_or";
}

bool GivesFloat(std::string_view name) {
  static const std::set<std::string_view> kNames = {"exp",     "exp2",    "log",   "log2",    "sin",
                                                    "cos",     "sqrt",    "rsqrt", "sigmoid", "erf",
                                                    "softmax", "sqrt_rn", "div_rn"};
  return kNames.count(name) != 0;
}

}  // namespace

const KernelValue* KernelInterpreter::Argument(const PyNode* call, const std::vector<KernelValue>& args,
                                               size_t index, std::string_view name) {
  for (const PyNode* keyword : call->keywords)
    if (keyword->name == name)
      if (const auto it = keyword_values_.find(keyword); it != keyword_values_.end()) return &it->second;
  return index < args.size() ? &args[index] : nullptr;
}

KernelValue KernelInterpreter::EvalCall(const PyNode* node) {
  const KernelValue callee = Eval(node->value);
  std::vector<KernelValue> args;
  if (callee.Is(Kind::kMethod) && !callee.items.empty()) args.push_back(callee.items[0]);
  for (const PyNode* argument : node->args) {
    if (argument->Is(PyKind::kStarred)) {
      Eval(argument->value);
      return {};
    }
    // tl.reduce and tl.associative_scan take a jitted function by name. All other arguments are values.
    args.push_back(Eval(argument));
  }
  for (const PyNode* keyword : node->keywords) keyword_values_[keyword] = Eval(keyword->value);
  switch (callee.kind) {
    case Kind::kJit:
      return CallJit(node, *callee.jit, args);
    case Kind::kHostFunction:
      Report(ProblemKind::kHostCall, node, callee.path,
             fmt::format("{} is a plain Python function, and a kernel can call only @triton.jit functions",
                         callee.path),
             fmt::format("Decorate {} with @triton.jit and write it with triton.language operations.",
                         callee.path));
      return {};
    case Kind::kMethod:
      if (!callee.items.empty() && callee.items[0].Is(Kind::kBlockPointer) && callee.path == "load")
        return KernelValue::Block(callee.items[0].shape);
      // A parameter may be a tensor descriptor, whose methods have another meaning.
      if (!callee.items.empty() && !callee.items[0].base.empty() && !callee.items[0].is_block() &&
          callee.path != "to") {
        trace_->opaque_calls = true;
        return {};
      }
      if (!callee.items.empty() && callee.items[0].is_tensor())
        CheckArguments(node, "tensor", callee.path, true);
      return CallTriton(node, callee.path, std::move(args));
    case Kind::kBuiltin: {
      if (callee.path.find('.') == std::string::npos) return CallPython(node, callee.path, args);
      if (Contains(callee.path, ".libdevice.")) {
        CheckArguments(node, "libdevice", callee.path.substr(callee.path.rfind('.') + 1), false);
        // Device library functions work elementwise.
        KernelValue out;
        for (const KernelValue& arg : args)
          out = out.Is(Kind::kUnknown) ? arg : Broadcast(node, out, arg, "libdevice");
        out.base = {};
        out.from_load = false;
        return out.is_tensor() ? out : KernelValue();
      }
      if (StartsWith(callee.path, "triton.language.math.")) {
        CheckArguments(node, "triton.language.math", callee.path.substr(21), false);
        return CallTriton(node, callee.path.substr(21), std::move(args));
      }
      if (StartsWith(callee.path, "triton.language.extra") ||
          StartsWith(callee.path, "triton.experimental")) {
        trace_->opaque_calls = true;
        return {};
      }
      if (StartsWith(callee.path, "triton.language.")) {
        CheckArguments(node, "triton.language", callee.path.substr(16), false);
        return CallTriton(node, callee.path.substr(16), std::move(args));
      }
      return CallPython(node, callee.path, args);
    }
    case Kind::kType:
      // Only a type that is written out, because x.dtype.is_floating() is also a call on a type.
      if (StartsWith(callee.path, "triton.language."))
        Report(ProblemKind::kBadCall, node, Text(node->value),
               fmt::format("{} is a type and cannot be called", Text(node->value)),
               fmt::format("Cast with {}.to({}).", node->args.empty() ? "x" : Text(node->args[0]),
                           Text(node->value)));
      return {};
    default:
      if (Recording() && node->value != nullptr && node->value->Is(PyKind::kAttribute) &&
          node->value->name == "to" && node->args.size() == 1)
        trace_->casts.push_back({node, Text(node->args[0]), false});
      trace_->opaque_calls = true;
      return {};
  }
}

KernelValue KernelInterpreter::CallJit(const PyNode* node, const Kernel& callee,
                                       const std::vector<KernelValue>& args) {
  if (call_depth_ >= kMaxCallDepth) return {};
  if (callee.autotune != nullptr || callee.heuristics != nullptr) return {};
  Frame inner;
  inner.kernel = &callee;
  if (args.size() > callee.params.size()) {
    Report(ProblemKind::kBadCall, node, std::string(callee.name),
           fmt::format("{} takes {} arguments and gets {}", callee.name, callee.params.size(), args.size()),
           fmt::format("Call {} with the arguments it declares.", callee.name));
    return {};
  }
  for (size_t i = 0; i < callee.params.size(); ++i) {
    const KernelParam& param = callee.params[i];
    const KernelValue* given = Argument(node, args, i, param.name);
    bool splat = false;
    for (const PyNode* keyword : node->keywords) splat = splat || keyword->name.empty();
    if (given == nullptr && param.node->value == nullptr && param.node->op.empty() && !splat) {
      Report(ProblemKind::kBadCall, node, std::string(callee.name),
             fmt::format("{} is called without its argument {}", callee.name, param.name),
             fmt::format("Pass {}.", param.name));
      return {};
    }
    KernelValue value = given != nullptr ? *given : KernelValue::Constexpr(values_.Eval(param.node->value));
    value.note = std::string(param.name);
    inner.names[param.name] = std::move(value);
  }
  Frame* outer = frame_;
  // A return in the helper must not end a loop of its caller.
  const size_t outer_base = loop_base_;
  loop_base_ = loop_stack_.size();
  frame_ = &inner;
  ++call_depth_;
  Block(callee.function->body);
  --call_depth_;
  frame_ = outer;
  loop_base_ = outer_base;
  KernelValue out = std::move(inner.returned);
  if (out.Is(Kind::kConstexpr)) out.kind = Kind::kScalar;
  out.literal = false;
  out.from_load = false;
  return out;
}

KernelValue KernelInterpreter::CallPython(const PyNode* node, const std::string& name,
                                          const std::vector<KernelValue>& args) {
  const bool on_run_time = std::any_of(args.begin(), args.end(), [](const KernelValue& a) {
    return a.is_tensor() && (a.run_time || a.Is(Kind::kScalar));
  });
  if (StartsWith(name, "torch.") || StartsWith(name, "numpy.")) {
    if (Contains(name, "float") || Contains(name, "int") || Contains(name, "bfloat16")) return {};
    Report(ProblemKind::kHostCall, node, Text(node->value),
           fmt::format("{} runs on the host and cannot be called from a kernel", Text(node->value)),
           fmt::format("Use the triton.language operation of the same meaning, for example tl.{}.",
                       name.substr(name.rfind('.') + 1)));
    return {};
  }
  const bool math = StartsWith(name, "math.");
  if ((math || name == "float" || name == "int") && on_run_time) {
    Report(ProblemKind::kHostCall, node, Text(node->value),
           fmt::format("{}() needs a compile-time number and gets {}", Text(node->value),
                       node->args.empty() ? "a run-time value" : Text(node->args[0])),
           math ? fmt::format("Use tl.{} instead.", name.substr(5))
                : fmt::format("Use .to(tl.{}) instead.", name == "float" ? "float32" : "int32"));
    return {};
  }
  if (math && name != "math.pi")
    Report(ProblemKind::kHostCall, node, Text(node->value),
           fmt::format("{}() is a function of the host, which Triton up to 3.5 does not let a kernel call",
                       Text(node->value)),
           "Write the number, or compute it on the host and pass it in.", TritonUpTo("3.5"));
  if ((name == "triton.cdiv" || name == "triton.next_power_of_2") &&
      std::any_of(args.begin(), args.end(), [](const KernelValue& a) { return a.is_tensor(); })) {
    Report(
        ProblemKind::kHostCall, node, Text(node->value),
        fmt::format("{} works on the host and on constexpr values, not on run-time ones", Text(node->value)),
        name == "triton.cdiv" ? "Use tl.cdiv inside the kernel." : "Compute it on the host and pass it in.");
    return {};
  }
  if (name == "min" || name == "max") {
    if (args.size() != 2) return {};
    if (args[0].Is(Kind::kConstexpr) && args[1].Is(Kind::kConstexpr))
      return KernelValue::Constexpr(FoldCall(name, {args[0].constant, args[1].constant}));
    return Broadcast(node, args[0], args[1], name);
  }
  std::vector<Constant> constants;
  for (const KernelValue& arg : args) {
    if (name == "len" && arg.Is(Kind::kTuple))
      return KernelValue::Constexpr(Constant::Int(static_cast<int64_t>(arg.items.size())));
    constants.push_back(arg.Is(Kind::kConstexpr) ? arg.constant : Constant());
  }
  if (name == "float" && !args.empty() && args[0].constant.kind == Constant::Kind::kString)
    return KernelValue::Constexpr(Constant::Float(0.5));
  if (math || name == "float" || name == "int" || StartsWith(name, "triton."))
    return KernelValue::Constexpr(FoldCall(name, constants));
  return {};
}

KernelValue KernelInterpreter::CallTriton(const PyNode* node, const std::string& name,
                                          std::vector<KernelValue> args) {
  if (Recording()) ++trace_->op_counts[name];
  if (Recording() && name == "softmax") trace_->reductions.push_back({node, name, {}});
  if (name == "arange") return Arange(node, args);
  if (name == "zeros" || name == "full" || name == "broadcast_to") return Shaped(node, name, args);
  if (name == "load" || name == "store" || StartsWith(name, "atomic_")) return Access(node, name, args);
  if (name == "dot") return Dot(node, args);
  if (IsReduction(name)) return Reduce(node, name, args);
  if (name == "reshape" || name == "view" || name == "trans" || name == "permute" || name == "expand_dims" ||
      name == "ravel")
    return Reshape(node, name, args);
  if (name == "program_id" || name == "num_programs") {
    KernelValue out = KernelValue::Of(Kind::kScalar);
    out.element = "int32";
    out.run_time = true;
    const KernelValue* axis = Argument(node, args, 0, "axis");
    if (axis == nullptr)
      Report(ProblemKind::kBadCall, node, "tl." + name, fmt::format("tl.{} is called without an axis", name),
             fmt::format("Write tl.{}(0).", name));
    const int64_t at = axis != nullptr && axis->constant.is_int() ? axis->constant.integer : 0;
    if (axis != nullptr && axis->constant.is_int() && (at < 0 || at > 2))
      Report(ProblemKind::kBadCall, node, "tl." + name,
             fmt::format("tl.{}({}): a grid has only axes 0, 1 and 2", name, at),
             "Fold the extra dimension into one of the three axes.");
    if (name == "program_id") {
      out.program_axes = static_cast<uint8_t>(1u << std::clamp<int64_t>(at, 0, 7));
      if (Recording()) trace_->program_ids[static_cast<int>(std::clamp<int64_t>(at, 0, 7))].push_back(node);
    }
    return out;
  }
  if (name == "to" || name == "cast") {
    const KernelValue* type = Argument(node, args, 1, "dtype");
    if (args.empty()) return {};
    CheckType(node, type);
    KernelValue out = args[0];
    out.literal = false;
    out.element = type != nullptr && type->Is(Kind::kType) ? type->element : "";
    out.is_float = StartsWith(out.element, "fp") || out.element == "bf16";
    if (Recording()) {
      const PyNode* written = node->Keyword("dtype");
      const size_t at = args.size() > node->args.size() ? 0 : 1;  // x.to(type) or tl.cast(x, type)
      if (written == nullptr && at < node->args.size()) written = node->args[at];
      const bool lowers = out.element == "fp16" || out.element == "bf16" || StartsWith(out.element, "float8");
      trace_->casts.push_back({node, written != nullptr ? Text(written) : "", lowers && out.is_tensor()});
    }
    if (!out.is_tensor()) return {};
    if (!out.base.empty() && !out.is_block()) out.base = {};
    return out;
  }
  if (name == "make_block_ptr" || name == "make_tensor_descriptor") {
    KernelValue out = KernelValue::Of(Kind::kBlockPointer);
    const KernelValue* shape = Argument(node, args, name == "make_block_ptr" ? 4 : 3, "block_shape");
    bool known = false;
    if (shape != nullptr) out.shape = ShapeFrom(node, *shape, false, &known);
    if (const KernelValue* base = Argument(node, args, 0, "base")) {
      out.base = base->base;
      out.DependOn(*base);
    }
    if (const KernelValue* offsets = Argument(node, args, 3, "offsets"))
      for (const KernelValue& item : offsets->items) out.DependOn(item);
    out.run_time = true;
    return out;
  }
  if (name == "cat" && Argument(node, args, 2, "can_reorder") == nullptr)
    Report(ProblemKind::kBadCall, node, "tl.cat",
           "tl.cat is called without can_reorder=True, and it cannot keep the order",
           "Use tl.join, store the parts separately, or pass can_reorder=True if the order does not matter.");
  if (name == "advance") return args.empty() ? KernelValue() : args[0];
  if (name == "debug_barrier") {
    if (Recording()) trace_->barriers.push_back(node);
    return {};
  }
  if (name == "constexpr") return args.empty() ? KernelValue() : args[0];
  if (name == "broadcast" && args.size() == 2) {
    KernelValue out = KernelValue::Of(Kind::kTuple);
    const KernelValue both = Broadcast(node, args[0], args[1], "tl.broadcast");
    out.items = {both, both};
    return out;
  }
  if (ElementwiseOps().count(name) != 0) {
    if (Recording() && (name == "associative_scan" || name == "cumsum" || name == "cumprod"))
      trace_->scans.push_back(node);
    KernelValue out;
    const bool first_only = name == "cumsum" || name == "cumprod" || name == "softmax" || name == "sort" ||
                            name == "flip" || name == "associative_scan" || name == "multiple_of" ||
                            name == "max_contiguous" || name == "max_constancy" || name == "zeros_like";
    for (const PyNode* keyword : node->keywords)
      if (!first_only && keyword->name != "propagate_nan" && keyword->name != "dtype")
        args.push_back(keyword_values_[keyword]);
    if (GivesFloat(name) && name != "softmax" && !args.empty() && args[0].is_tensor() &&
        !args[0].element.empty() && args[0].element != "fp32" && args[0].element != "fp64")
      Report(ProblemKind::kBadCall, node, "tl." + name,
             fmt::format("tl.{} works on float32 and float64, and gets {}", name, args[0].element),
             "Cast first: .to(tl.float32).", kTriton3);
    size_t index = 0;
    bool all_constexpr = !args.empty();
    std::vector<Constant> constants;
    for (const KernelValue& arg : args) {
      if (first_only && index > 0) break;
      out = index == 0 ? arg : Broadcast(node, out, arg, "tl." + name);
      constants.push_back(arg.constant);
      all_constexpr = all_constexpr && arg.Is(Kind::kConstexpr);
      ++index;
    }
    if (all_constexpr && name == "cdiv") return KernelValue::Constexpr(FoldCall("triton.cdiv", constants));
    if (out.Is(Kind::kConstexpr)) out.kind = Kind::kScalar;
    if (!out.is_tensor()) return {};
    if (name != "multiple_of" && name != "max_contiguous") out.base = {};
    out.from_load = false;
    out.literal = false;
    out.constant = Constant();
    if (name == "where" && args.size() == 3) out.element = PromoteElements(args[1], args[2]);
    if (GivesFloat(name) && (out.element == "int32" || out.element == "int1")) out.element.clear();
    if (name == "rand" || name == "randn") out.element = "fp32";
    if (name == "cast") out.element.clear();
    if (name == "zeros_like") out.base = {};
    return out;
  }
  return {};
}

}  // namespace hone
