// Calls inside a kernel: jitted helpers, the few Python builtins, and triton.language. See
// kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {

namespace {

const std::set<std::string_view>& ElementwiseOps() {
  static const std::set<std::string_view> kNames = {
      "abs", "ceil", "clamp", "cos", "cumprod", "cumsum", "div_rn", "erf", "exp", "exp2", "fdiv", "flip", "floor", "fma",
      "log", "log2", "max_constancy", "max_contiguous", "maximum", "minimum", "multiple_of", "rsqrt", "sigmoid", "sin",
      "softmax", "sort", "sqrt", "sqrt_rn", "umulhi", "where", "zeros_like", "cast", "add", "mul", "sub", "cdiv",
      "associative_scan", "rand", "randn", "randint"};
  return kNames;
}

bool IsReduction(std::string_view name) {
  return name == "sum" || name == "max" || name == "min" || name == "argmax" || name == "argmin" || name == "reduce" ||
         name == "xor_sum" || name == "reduce_or";
}

bool GivesFloat(std::string_view name) {
  static const std::set<std::string_view> kNames = {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "sigmoid",
                                                    "erf", "softmax", "sqrt_rn", "div_rn"};
  return kNames.count(name) != 0;
}

}  // namespace

const KernelValue* KernelInterpreter::Argument(const PyNode* call, const std::vector<KernelValue>& args, size_t index,
                                               std::string_view name) {
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
    // tl.reduce and tl.associative_scan take a jitted function by name; everything else is a value.
    args.push_back(Eval(argument));
  }
  for (const PyNode* keyword : node->keywords) keyword_values_[keyword] = Eval(keyword->value);
  switch (callee.kind) {
    case Kind::kJit:
      return CallJit(node, *callee.jit, args);
    case Kind::kHostFunction:
      Report(ProblemKind::kHostCall, node, callee.path,
             fmt::format("{} is a plain Python function, and a kernel can call only @triton.jit functions", callee.path),
             fmt::format("Decorate {} with @triton.jit and write it with triton.language operations.", callee.path));
      return {};
    case Kind::kMethod:
      if (!callee.items.empty() && callee.items[0].Is(Kind::kBlockPointer) && callee.path == "load")
        return KernelValue::Block(callee.items[0].shape);
      // A parameter may be a tensor descriptor, whose methods mean something else.
      if (!callee.items.empty() && !callee.items[0].base.empty() && !callee.items[0].is_block() && callee.path != "to") {
        trace_->opaque_calls = true;
        return {};
      }
      return CallTriton(node, callee.path, std::move(args));
    case Kind::kBuiltin: {
      if (callee.path.find('.') == std::string::npos) return CallPython(node, callee.path, args);
      if (Contains(callee.path, ".libdevice.")) {
        // Device library functions work element by element.
        KernelValue out;
        for (const KernelValue& arg : args) out = out.Is(Kind::kUnknown) ? arg : Broadcast(node, out, arg, "libdevice");
        out.base = {};
        out.from_load = false;
        return out.is_tensor() ? out : KernelValue();
      }
      if (StartsWith(callee.path, "triton.language.math.")) return CallTriton(node, callee.path.substr(21), std::move(args));
      if (StartsWith(callee.path, "triton.language.extra") || StartsWith(callee.path, "triton.experimental")) {
        trace_->opaque_calls = true;
        return {};
      }
      if (StartsWith(callee.path, "triton.language.")) return CallTriton(node, callee.path.substr(16), std::move(args));
      return CallPython(node, callee.path, args);
    }
    default:
      trace_->opaque_calls = true;
      return {};
  }
}

KernelValue KernelInterpreter::CallJit(const PyNode* node, const Kernel& callee, const std::vector<KernelValue>& args) {
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
  // A return in the helper leaves the helper, not a loop of its caller.
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
  if ((name == "triton.cdiv" || name == "triton.next_power_of_2") &&
      std::any_of(args.begin(), args.end(), [](const KernelValue& a) { return a.is_tensor() && a.run_time; })) {
    Report(ProblemKind::kHostCall, node, Text(node->value),
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

KernelValue KernelInterpreter::CallTriton(const PyNode* node, const std::string& name, std::vector<KernelValue> args) {
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
    const int64_t at = axis != nullptr && axis->constant.is_int() ? axis->constant.integer : 0;
    if (axis != nullptr && axis->constant.is_int() && (at < 0 || at > 2))
      Report(ProblemKind::kBadCall, node, "tl." + name, fmt::format("tl.{}({}): a grid has only axes 0, 1 and 2", name, at),
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
    KernelValue out = args[0];
    out.literal = false;
    if (!out.is_tensor()) return {};
    if (!out.base.empty() && !out.is_block()) out.base = {};
    out.element = type != nullptr && type->Is(Kind::kType) ? type->element : "";
    if (Recording() && (out.element == "fp16" || out.element == "bf16" || StartsWith(out.element, "float8")))
      trace_->low_precision_casts.push_back(node);
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
    if (Recording() && (name == "associative_scan" || name == "cumsum" || name == "cumprod")) trace_->scans.push_back(node);
    KernelValue out;
    const bool first_only = name == "cumsum" || name == "cumprod" || name == "softmax" || name == "sort" || name == "flip" ||
                            name == "associative_scan" || name == "multiple_of" || name == "max_contiguous" ||
                            name == "max_constancy" || name == "zeros_like";
    for (const PyNode* keyword : node->keywords)
      if (!first_only && keyword->name != "propagate_nan" && keyword->name != "dtype") args.push_back(keyword_values_[keyword]);
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

KernelValue KernelInterpreter::Arange(const PyNode* node, const std::vector<KernelValue>& args) {
  KernelValue out = KernelValue::Block({KernelValue::kAnyExtent});
  out.element = "int32";
  out.ranges = true;
  const KernelValue* start = Argument(node, args, 0, "start");
  const KernelValue* end = Argument(node, args, 1, "end");
  if (start == nullptr || end == nullptr || args.size() > 2) {
    const bool few = start == nullptr || end == nullptr;
    Report(ProblemKind::kBadCall, node, "tl.arange",
           few ? "tl.arange takes a start and an end, and gets one number" : "tl.arange takes a start and an end and no step",
           few ? fmt::format("Write tl.arange(0, {}).", node->args.empty() ? "N" : Text(node->args[0]))
               : "Multiply the result by the step instead.");
    return out;
  }
  for (const KernelValue* bound : {start, end}) {
    const bool at_run_time = bound->is_tensor();
    const bool is_float = bound->Is(Kind::kConstexpr) && bound->constant.kind == Constant::Kind::kFloat;
    if (!at_run_time && !is_float) continue;
    const PyNode* text = bound == start ? (!node->args.empty() ? node->args[0] : nullptr)
                                        : (node->args.size() > 1 ? node->args[1] : nullptr);
    const std::string written = text != nullptr ? Text(text) : bound->note;
    const bool parameter = frame().kernel->Param(written) != nullptr && bound->origin == nullptr;
    Report(ProblemKind::kArangeNotConstexpr, node, written,
           is_float ? fmt::format("{} is a float", written)
           : parameter
               ? fmt::format("{} is an ordinary parameter of {}", written, frame().kernel->name)
               : fmt::format("{} is computed at run time", written),
           is_float    ? "Use // so that the extent stays an integer."
           : parameter ? fmt::format("Declare it {}: tl.constexpr and pass it by keyword.", written)
                       : fmt::format("Write {}: tl.constexpr = ..., or make it a tl.constexpr parameter.", written));
    return out;
  }
  if (start->constant.is_int() && end->constant.is_int()) {
    const int64_t extent = end->constant.integer - start->constant.integer;
    if (!IsPowerOfTwo(extent)) {
      const std::string written = node->args.size() > 1 ? Text(node->args[1]) : std::string("end");
      const bool number = node->args.size() > 1 && node->args[1]->Is(PyKind::kInt);
      int64_t next = 1;
      while (next < extent && next < (int64_t{1} << 40)) next *= 2;
      Report(ProblemKind::kArangeNotPowerOfTwo, node, written,
             number ? fmt::format("tl.arange({}, {}) has {} elements", start->constant.Text(), end->constant.Text(), extent)
                    : fmt::format("{} is {} here, so tl.arange has {} elements", written, end->constant.Text(), extent),
             fmt::format("Use {} and mask the rest, or triton.next_power_of_2 on the host.", next));
    } else {
      out.shape[0] = extent;
    }
  }
  return out;
}

std::vector<int64_t> KernelInterpreter::ShapeFrom(const PyNode* node, const KernelValue& value, bool report, bool* known) {
  std::vector<int64_t> shape;
  *known = value.Is(Kind::kTuple);
  if (!*known) return shape;
  for (const KernelValue& item : value.items) {
    int64_t extent = KernelValue::kAnyExtent;
    if (item.Is(Kind::kConstexpr) && item.constant.is_int()) extent = item.constant.integer;
    if (report && item.is_tensor()) {
      Report(ProblemKind::kArangeNotConstexpr, node, item.note, fmt::format("{} is not a compile-time number", item.note.empty() ? "an extent of the shape" : item.note),
             "Declare it as tl.constexpr.");
    } else if (report && extent != KernelValue::kAnyExtent && !IsPowerOfTwo(extent)) {
      Report(ProblemKind::kArangeNotPowerOfTwo, node, Text(node->value),
             fmt::format("{} makes a block with an extent of {}", Text(node->value), extent),
             "Round the extent up to a power of two and mask what lies beyond.");
      extent = KernelValue::kAnyExtent;
    }
    shape.push_back(extent);
  }
  return shape;
}

KernelValue KernelInterpreter::Shaped(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args) {
  const KernelValue* shape = Argument(node, args, name == "broadcast_to" ? 1 : 0, "shape");
  if (shape == nullptr) return {};
  bool known = false;
  std::vector<int64_t> extents = ShapeFrom(node, *shape, true, &known);
  if (!known) return {};
  KernelValue out = extents.empty() ? KernelValue::Of(Kind::kScalar) : KernelValue::Block(std::move(extents));
  out.run_time = true;
  if (name == "broadcast_to") {
    if (!args.empty()) {
      if (args[0].is_block() && args[0].shape.size() != out.shape.size() && !out.shape.empty() && args.size() == 2) {
        Report(ProblemKind::kShapeMismatch, node, "tl.broadcast_to",
               fmt::format("tl.broadcast_to turns {} into {}, but the ranks differ", args[0].ShapeText(), out.ShapeText()),
               "Add the missing dimension first, with [:, None] or [None, :].");
      }
      out.DependOn(args[0]);
      out.element = args[0].element;
      out.base = args[0].base;
    }
    return out;
  }
  const KernelValue* type = Argument(node, args, name == "full" ? 2 : 1, "dtype");
  if (type == nullptr)
    Report(ProblemKind::kBadCall, node, "tl." + name, fmt::format("tl.{} is called without a dtype", name),
           "Add dtype=tl.float32.");
  else if (type->Is(Kind::kType))
    out.element = type->element;
  return out;
}

KernelValue KernelInterpreter::Access(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args) {
  const KernelValue* pointer = Argument(node, args, 0, "pointer");
  if (pointer == nullptr) return {};
  const bool load = name == "load";
  const bool store = name == "store";
  const size_t mask_index = load ? 1 : name == "atomic_cas" ? 9 : 2;
  const KernelValue* mask = Argument(node, args, mask_index, "mask");
  const KernelValue* value = load ? nullptr : Argument(node, args, 1, store ? "value" : "val");
  if (Recording()) {
    MemoryAccess access;
    access.kind = load ? MemoryAccess::Kind::kLoad : store ? MemoryAccess::Kind::kStore : MemoryAccess::Kind::kAtomic;
    access.node = node;
    access.base = pointer->base;
    access.program_axes = pointer->program_axes;
    access.loops = pointer->loops;
    access.ranges = pointer->ranges;
    for (const PyNode* loop : loop_stack_)
      if (loop != nullptr) access.inside.push_back(loop);
    access.masked = mask != nullptr || Argument(node, args, 99, "boundary_check") != nullptr;
    access.address_known = pointer->is_tensor() || pointer->Is(Kind::kBlockPointer);
    access.is_block = pointer->is_block() || pointer->Is(Kind::kBlockPointer);
    access.op = name;
    if (load && pointer->divided) trace_->divides_loop_index = true;
    trace_->accesses.push_back(std::move(access));
  }
  if (pointer->Is(Kind::kBlockPointer)) {
    if (!load) return {};
    KernelValue out = pointer->shape.empty() ? KernelValue() : KernelValue::Block(pointer->shape);
    out.from_load = true;
    out.load_loop = InnermostLoop();
    return out;
  }
  const bool scalar_pointer = pointer->Is(Kind::kScalar);
  const std::string what = load ? "tl.load" : "tl." + name;
  for (const KernelValue* other : {mask, value}) {
    if (other == nullptr || !other->is_block()) continue;
    const std::string role = other == mask ? "mask" : "value";
    if (scalar_pointer) {
      Report(ProblemKind::kShapeMismatch, node, what,
             fmt::format("the {} of {} has shape {} but its pointer is a single address", role, what, other->ShapeText()),
             "Add the offsets to the pointer, or reduce the block to one number first.");
      return {};
    }
    if (!pointer->is_block()) continue;
    std::vector<int64_t> shape;
    const bool fits = BroadcastShapes(pointer->shape, other->shape, &shape);
    const bool grows = fits && (shape.size() > pointer->shape.size() ||
                                !std::equal(shape.begin(), shape.end(), pointer->shape.begin(), [](int64_t a, int64_t b) {
                                  return a == b || a < 0 || b < 0;
                                }));
    // Up to 3.5 ranks have to agree as well, and a load does not widen its pointers to the mask.
    const bool ranks_differ = other->shape.size() != pointer->shape.size();
    const bool certain = !fits || (grows && !load);
    if (certain || grows || ranks_differ) {
      Report(ProblemKind::kShapeMismatch, node, what,
             fmt::format("the {} of {} has shape {} but its pointers have shape {}", role, what, other->ShapeText(),
                         pointer->ShapeText()),
             fmt::format("Give the {} the shape of the pointers.", role), certain ? 0 : kAllTriton & ~TritonVersionMask("3.6"));
      if (certain) return {};
    }
  }
  if (!load) {
    KernelValue out = *pointer;
    out.base = {};
    out.element.clear();
    return store ? KernelValue() : out;
  }
  KernelValue out = *pointer;
  if (!out.is_tensor()) return {};
  out.base = {};
  out.element.clear();
  out.run_time = true;
  out.from_load = true;
  out.load_loop = InnermostLoop();
  out.literal = false;
  out.constant = Constant();
  return out;
}

KernelValue KernelInterpreter::Dot(const PyNode* node, const std::vector<KernelValue>& args) {
  const KernelValue* a = Argument(node, args, 0, "input");
  const KernelValue* b = Argument(node, args, 1, "other");
  if (a == nullptr || b == nullptr) return {};
  if (Recording() || (launch_ != nullptr && call_depth_ == 0)) {
    DotUse use;
    use.node = node;
    use.launch = launch_;
    use.config = config_;
    use.a = *a;
    use.b = *b;
    for (const PyNode* loop : loop_stack_)
      if (loop != nullptr) use.inside.push_back(loop);
    for (const PyNode* keyword : node->keywords)
      if (keyword->name == "input_precision" || keyword->name == "allow_tf32")
        use.precision = std::string(keyword->name) + "=" + Text(keyword->value);
    trace_->dots.push_back(std::move(use));
  }
  for (const PyNode* keyword : node->keywords) {
    if (keyword->name == "trans_a" || keyword->name == "trans_b")
      Report(ProblemKind::kBadCall, node, "tl.dot", fmt::format("tl.dot has no argument {}", keyword->name),
             "Transpose the operand: tl.dot(a, tl.trans(b)).", kTriton3);
  }
  if ((a->is_block() && a->shape.size() < 2) || (b->is_block() && b->shape.size() < 2) ||
      (a->Is(Kind::kScalar) && a->run_time) || (b->Is(Kind::kScalar) && b->run_time)) {
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot needs two matrices and gets {} and {}", a->ShapeText(), b->ShapeText()),
           "Use tl.sum(a * b, axis=...) for vectors, or give both operands two dimensions of at least 16.");
    return {};
  }
  if (!a->is_block() || !b->is_block() || a->shape.size() != b->shape.size()) return {};
  const size_t rank = a->shape.size();
  const int64_t m = a->shape[rank - 2];
  const int64_t k = a->shape[rank - 1];
  const int64_t k2 = b->shape[rank - 2];
  const int64_t n = b->shape[rank - 1];
  if (k > 0 && k2 > 0 && k != k2) {
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}: the inner extents {} and {} differ", a->ShapeText(), b->ShapeText(), k, k2),
           k > 0 && k == n ? "Transpose the second operand, or stop transposing it." : "Load both operands with the same block extent along K.");
    return {};
  }
  if ((k > 0 && k < 16) || (k2 > 0 && k2 < 16))
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}, but K must be at least 16", a->ShapeText(), b->ShapeText()),
           "Use a block of at least 16 along K and mask, or write tl.sum(a * b, axis=...).");
  else if ((m > 0 && m < 16) || (n > 0 && n < 16))
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}; Triton up to 3.2 needs at least 16 in every extent", a->ShapeText(), b->ShapeText()),
           "Use blocks of at least 16 and mask.", TritonVersionMask("2.1") | TritonVersionMask("2.2") | TritonVersionMask("3.0") | TritonVersionMask("3.1"));
  if (!a->element.empty() && !b->element.empty() && a->element != b->element && a->element.find("8") == std::string::npos)
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}; both operands need the same type", a->element, b->element),
           fmt::format("Cast one of them: .to(tl.{}).", a->element == "fp32" ? "float32" : a->element == "fp16" ? "float16" : a->element));
  std::vector<int64_t> shape = a->shape;
  shape[rank - 1] = n;
  KernelValue out = KernelValue::Block(shape);
  out.DependOn(*a);
  out.DependOn(*b);
  const KernelValue* type = Argument(node, args, 99, "out_dtype");
  out.element = type != nullptr ? type->element : a->element == "fp64" || a->element.substr(0, 3) == "int" ? "" : "fp32";
  if (a->element.empty() && type == nullptr) out.element.clear();
  const KernelValue* acc = Argument(node, args, 2, "acc");
  if (acc != nullptr && acc->is_block()) {
    std::vector<int64_t> ignored;
    const bool same = acc->shape.size() == rank && std::equal(acc->shape.begin(), acc->shape.end(), out.shape.begin(),
                                                              [](int64_t x, int64_t y) { return x == y || x < 0 || y < 0; });
    if (!same)
      Report(ProblemKind::kShapeMismatch, node, "tl.dot",
             fmt::format("the accumulator has shape {} but the product has shape {}", acc->ShapeText(), out.ShapeText()),
             "Give the accumulator the shape of the product.");
  }
  return out;
}

KernelValue KernelInterpreter::Reduce(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args) {
  if (Recording()) {
    ReductionUse use;
    use.node = node;
    use.op = name;
    for (const PyNode* loop : loop_stack_)
      if (loop != nullptr) use.inside.push_back(loop);
    trace_->reductions.push_back(std::move(use));
  }
  for (const PyNode* keyword : node->keywords)
    if (keyword->name == "keepdims" || keyword->name == "keepdim" || keyword->name == "dim")
      Report(ProblemKind::kBadCall, node, "tl." + name, fmt::format("tl.{} has no argument {}", name, keyword->name),
             fmt::format("The argument is called {}.", keyword->name == "dim" ? "axis" : "keep_dims"));
  if (args.empty()) return {};
  const KernelValue& input = args[0];
  const KernelValue* axis = Argument(node, args, 1, "axis");
  if (axis != nullptr && (axis->is_block() || axis->constant.kind == Constant::Kind::kFloat) && (name == "max" || name == "min")) {
    Report(ProblemKind::kBadCall, node, "tl." + name,
           fmt::format("tl.{} reduces along an axis; its second argument {} is a value", name, node->args.size() > 1 ? Text(node->args[1]) : "given"),
           fmt::format("Use tl.{}imum(a, b).", name));
    return {};
  }
  const KernelValue* keep = Argument(node, args, 99, "keep_dims");
  if (keep != nullptr && !keep->constant.known()) return {};
  const bool keeps = keep != nullptr && keep->constant.truthy();
  if (!input.is_block()) return {};
  KernelValue out = input;
  out.from_load = false;
  out.base = {};
  if (name == "argmax" || name == "argmin") out.element = "int32";
  if (axis == nullptr || axis->constant.kind == Constant::Kind::kNone) {
    if (name == "argmax" || name == "argmin" || keeps) return {};
    out.kind = Kind::kScalar;
    out.shape.clear();
    return out;
  }
  if (!axis->Is(Kind::kConstexpr) || !axis->constant.is_int()) return {};
  const auto rank = static_cast<int64_t>(input.shape.size());
  int64_t at = axis->constant.integer;
  if (at < -rank || at >= rank) {
    Report(ProblemKind::kShapeMismatch, node, "tl." + name,
           fmt::format("tl.{} reduces axis {} of a block of shape {}", name, at, input.ShapeText()),
           fmt::format("The axis has to be below {}.", rank));
    return {};
  }
  if (at < 0) at += rank;
  if (keeps)
    out.shape[static_cast<size_t>(at)] = 1;
  else
    out.shape.erase(out.shape.begin() + at);
  if (name == "reduce") return {};
  if (out.shape.empty()) out.kind = Kind::kScalar;
  return out;
}

KernelValue KernelInterpreter::Reshape(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args) {
  if (args.empty() || !args[0].is_block()) return {};
  KernelValue out = args[0];
  out.from_load = name == "trans" && out.from_load;
  if (name == "trans" || name == "permute") {
    if (out.shape.size() == 2 && args.size() == 1 && node->keywords.empty()) {
      std::swap(out.shape[0], out.shape[1]);
      return out;
    }
    if (out.shape.size() == 2) {
      std::vector<KernelValue> order(args.begin() + 1, args.end());
      if (order.size() == 1 && order[0].Is(Kind::kTuple)) {
        std::vector<KernelValue> items = order[0].items;
        order = std::move(items);
      }
      if (order.size() == 2 && order[0].constant == Constant::Int(1) && order[1].constant == Constant::Int(0)) {
        std::swap(out.shape[0], out.shape[1]);
        return out;
      }
    }
    return {};
  }
  if (name == "expand_dims") {
    const KernelValue* axis = Argument(node, args, 1, "axis");
    if (axis == nullptr || !axis->Is(Kind::kConstexpr) || !axis->constant.is_int()) return {};
    int64_t at = axis->constant.integer;
    const auto rank = static_cast<int64_t>(out.shape.size());
    if (at < 0) at += rank + 1;
    if (at < 0 || at > rank) return {};
    out.shape.insert(out.shape.begin() + at, 1);
    return out;
  }
  if (name == "ravel") return {};
  KernelValue shape;
  if (const KernelValue* given = Argument(node, args, 1, "shape"); given != nullptr && given->Is(Kind::kTuple)) {
    shape = *given;
  } else {
    shape = KernelValue::Of(Kind::kTuple);
    shape.items.assign(args.begin() + 1, args.end());
  }
  bool known = false;
  std::vector<int64_t> extents = ShapeFrom(node, shape, false, &known);
  if (!known || extents.empty()) return {};
  int64_t before = 1;
  int64_t after = 1;
  bool numbers = true;
  for (int64_t extent : out.shape) numbers = numbers && extent > 0 && !__builtin_mul_overflow(before, extent, &before);
  for (int64_t extent : extents) numbers = numbers && extent > 0 && !__builtin_mul_overflow(after, extent, &after);
  if (numbers && before != after)
    Report(ProblemKind::kShapeMismatch, node, "tl." + name,
           fmt::format("tl.{} turns {} elements ({}) into {}", name, before, out.ShapeText(), after),
           "Keep the number of elements the same.");
  out.shape = std::move(extents);
  return out;
}

}  // namespace hone
