// The effects of triton.language operations on shapes, types and memory, and the arguments they reject. See
// kernel_interpreter.h; kernel_calls.cpp calls this code.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {

// A dtype argument must be one of triton.language's types.
void KernelInterpreter::CheckType(const PyNode* node, const KernelValue* type) {
  if (type == nullptr) return;
  const bool from_torch = type->Is(Kind::kBuiltin) && StartsWith(type->path, "torch.");
  const bool text = type->Is(Kind::kConstexpr) && type->constant.kind == Constant::Kind::kString;
  if (!from_torch && !text) return;
  const std::string given = from_torch ? type->path : type->constant.Text();
  Report(ProblemKind::kBadCall, node, given, fmt::format("{} is not a type of triton.language", given),
         from_torch ? fmt::format("Use tl.{}.", type->path.substr(6)) : "Use tl.float32 and the like.");
}

KernelValue KernelInterpreter::Arange(const PyNode* node, const std::vector<KernelValue>& args) {
  KernelValue out = KernelValue::Block({KernelValue::kAnyExtent});
  out.element = "int32";
  out.ranges = true;
  const KernelValue* start = Argument(node, args, 0, "start");
  const KernelValue* end = Argument(node, args, 1, "end");
  if (call_depth_ == 0 && start != nullptr && end != nullptr) {
    const bool known = start->constant.is_int() && end->constant.is_int();
    const int64_t extent = known ? end->constant.integer - start->constant.integer : KernelValue::kAnyExtent;
    const auto [place, is_new] = trace_->range_extents.try_emplace({node, launch_, config_}, extent);
    if (!is_new && place->second != extent) place->second = KernelValue::kAnyExtent;
  }
  if (start == nullptr || end == nullptr || args.size() > 2) {
    const bool few = start == nullptr || end == nullptr;
    Report(ProblemKind::kBadCall, node, "tl.arange",
           few ? "tl.arange takes a start and an end, and gets one number"
               : "tl.arange takes a start and an end and no step",
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
           is_float    ? fmt::format("{} is a float", written)
           : parameter ? fmt::format("{} is an ordinary parameter of {}", written, frame().kernel->name)
                       : fmt::format("{} is computed at run time", written),
           is_float ? "Use // so that the extent stays an integer."
           : parameter
               ? fmt::format("Declare it {}: tl.constexpr and pass it by keyword.", written)
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
             number ? fmt::format("tl.arange({}, {}) has {} elements", start->constant.Text(),
                                  end->constant.Text(), extent)
                    : fmt::format("{} is {} here, so tl.arange has {} elements", written,
                                  end->constant.Text(), extent),
             fmt::format("Use {} and mask the rest, or triton.next_power_of_2 on the host.", next));
    } else {
      out.shape[0] = extent;
    }
  }
  return out;
}

std::vector<int64_t> KernelInterpreter::ShapeFrom(const PyNode* node, const KernelValue& value, bool report,
                                                  bool* known) {
  std::vector<int64_t> shape;
  *known = value.Is(Kind::kTuple);
  if (!*known) return shape;
  for (const KernelValue& item : value.items) {
    int64_t extent = KernelValue::kAnyExtent;
    if (item.Is(Kind::kConstexpr) && item.constant.is_int()) extent = item.constant.integer;
    if (report && item.is_tensor()) {
      Report(ProblemKind::kArangeNotConstexpr, node, item.note,
             fmt::format("{} is not a compile-time number",
                         item.note.empty() ? "an extent of the shape" : item.note),
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

KernelValue KernelInterpreter::Shaped(const PyNode* node, const std::string& name,
                                      const std::vector<KernelValue>& args) {
  const KernelValue* shape = Argument(node, args, name == "broadcast_to" ? 1 : 0, "shape");
  if (shape == nullptr) return {};
  bool known = false;
  std::vector<int64_t> extents = ShapeFrom(node, *shape, true, &known);
  const bool is_number =
      shape->Is(Kind::kConstexpr) ? shape->constant.is_int() : shape->Is(Kind::kScalar) && shape->run_time;
  if (is_number && name != "broadcast_to") {
    const std::string number = shape->Is(Kind::kConstexpr) ? shape->constant.Text() : shape->note;
    Report(ProblemKind::kBadCall, node, "tl." + name,
           fmt::format("tl.{} gets the number {} as its shape", name, number),
           fmt::format("Write tl.{}(({},), ...).", name, number));
  }
  if (!known) return {};
  KernelValue out = extents.empty() ? KernelValue::Of(Kind::kScalar) : KernelValue::Block(std::move(extents));
  out.run_time = true;
  if (name == "broadcast_to") {
    if (!args.empty()) {
      if (args[0].is_block() && args[0].shape.size() != out.shape.size() && !out.shape.empty() &&
          args.size() == 2) {
        Report(ProblemKind::kShapeMismatch, node, "tl.broadcast_to",
               fmt::format("tl.broadcast_to turns {} into {}, but the ranks differ", args[0].ExtentsText(),
                           out.ExtentsText()),
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
  CheckType(node, type);
  return out;
}

KernelValue KernelInterpreter::Access(const PyNode* node, const std::string& name,
                                      const std::vector<KernelValue>& args) {
  const KernelValue* pointer = Argument(node, args, 0, "pointer");
  if (pointer == nullptr) return {};
  const bool load = name == "load";
  const bool store = name == "store";
  const size_t mask_index = load ? 1 : name == "atomic_cas" ? 9 : 2;
  const KernelValue* mask = Argument(node, args, mask_index, "mask");
  const KernelValue* value = load ? nullptr : Argument(node, args, 1, store ? "value" : "val");
  if (Recording()) {
    MemoryAccess access;
    access.kind = load    ? MemoryAccess::Kind::kLoad
                  : store ? MemoryAccess::Kind::kStore
                          : MemoryAccess::Kind::kAtomic;
    access.node = node;
    access.base = pointer->base;
    access.program_axes = pointer->program_axes;
    access.loops = pointer->loops;
    access.ranges = pointer->ranges;
    for (const PyNode* loop : loop_stack_)
      if (loop != nullptr) access.inside.push_back(loop);
    // A keyword that is unknown may be the mask under another name.
    access.masked =
        mask != nullptr || Argument(node, args, 99, "boundary_check") != nullptr || node == unknown_keyword_;
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
  const KernelValue* fallback = load ? Argument(node, args, 2, "other") : nullptr;
  const bool no_fallback = fallback == nullptr || fallback->constant.kind == Constant::Kind::kNone;
  if (load && mask == nullptr && !no_fallback && !fallback->Is(Kind::kUnknown))
    Report(ProblemKind::kBadCall, node, "tl.load", "tl.load gets other but no mask",
           "Add a mask, or leave other out.");
  const bool scalar_pointer = pointer->Is(Kind::kScalar);
  const std::string what = load ? "tl.load" : "tl." + name;
  for (const KernelValue* other : {mask, value, fallback}) {
    if (other == nullptr || !other->is_block()) continue;
    const std::string role = other == mask ? "mask" : other == value ? "value" : "fallback";
    if (scalar_pointer) {
      Report(ProblemKind::kShapeMismatch, node, what,
             fmt::format("the {} of {} has shape {} but its pointer is a single address", role, what,
                         other->ExtentsText()),
             "Add the offsets to the pointer, or reduce the block to one number first.");
      return {};
    }
    if (!pointer->is_block()) continue;
    std::vector<int64_t> shape;
    const bool fits = BroadcastShapes(pointer->shape, other->shape, &shape);
    const bool grows = fits && (shape.size() > pointer->shape.size() ||
                                !std::equal(shape.begin(), shape.end(), pointer->shape.begin(),
                                            [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; }));
    // Up to 3.5, ranks must also agree, and a load does not broadcast its pointers to the mask.
    const bool ranks_differ = other->shape.size() != pointer->shape.size();
    const bool certain = !fits || (grows && !load);
    if (certain || grows || ranks_differ) {
      Report(ProblemKind::kShapeMismatch, node, what,
             fmt::format("the {} of {} has shape {} but its pointers have shape {}", role, what,
                         other->ExtentsText(), pointer->ExtentsText()),
             fmt::format("Give the {} the shape of the pointers.", role),
             certain ? 0 : kAllTriton & ~TritonVersionMask("3.6"),
             other == value ? std::vector<KernelValue>{*pointer, *value} : std::vector<KernelValue>());
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
  // other=0.0 implies that the tensor is floating-point.
  out.is_float = fallback != nullptr && fallback->constant.kind == Constant::Kind::kFloat;
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
  if ((a->is_block() && a->shape.size() < 2) || (b->is_block() && b->shape.size() < 2) ||
      (a->Is(Kind::kScalar) && a->run_time) || (b->Is(Kind::kScalar) && b->run_time)) {
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot needs two matrices and gets {} and {}", a->ExtentsText(), b->ExtentsText()),
           "Use tl.sum(a * b, axis=...) for vectors, or give both operands two dimensions of at least 16.", 0,
           {*a, *b});
    return {};
  }
  if (!a->is_block() || !b->is_block() || a->shape.size() != b->shape.size()) return {};
  const size_t rank = a->shape.size();
  const int64_t m = a->shape[rank - 2];
  const int64_t k = a->shape[rank - 1];
  const int64_t k2 = b->shape[rank - 2];
  const int64_t n = b->shape[rank - 1];
  if (k > 0 && k2 > 0 && k != k2) {
    std::vector<KernelValue> sides = {*a, *b};
    if (const KernelValue* acc = Argument(node, args, 2, "acc"); acc != nullptr && acc->is_block())
      sides.push_back(*acc);
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}: the inner extents {} and {} differ", a->ExtentsText(),
                       b->ExtentsText(), k, k2),
           k > 0 && k == n ? "Transpose the second operand, or stop transposing it."
                           : "Load both operands with the same block extent along K.",
           0, std::move(sides));
    return {};
  }
  if ((k > 0 && k < 16) || (k2 > 0 && k2 < 16))
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}, but K must be at least 16", a->ExtentsText(),
                       b->ExtentsText()),
           "Use a block of at least 16 along K and mask, or write tl.sum(a * b, axis=...).", 0, {*a, *b});
  else if ((m > 0 && m < 16) || (n > 0 && n < 16))
    Report(ProblemKind::kShapeMismatch, node, "tl.dot",
           fmt::format("tl.dot multiplies {} by {}; Triton up to 3.4 needs at least 16 in every extent",
                       a->ExtentsText(), b->ExtentsText()),
           "Use blocks of at least 16 and mask.", TritonUpTo("3.4"));
  if (!a->element.empty() && !b->element.empty() && a->element != b->element &&
      a->element.find("8") == std::string::npos)
    Report(
        ProblemKind::kShapeMismatch, node, "tl.dot",
        fmt::format("tl.dot multiplies {} by {}; both operands need the same type", a->element, b->element),
        fmt::format("Cast one of them: .to(tl.{}).", a->element == "fp32"   ? "float32"
                                                     : a->element == "fp16" ? "float16"
                                                                            : a->element));
  std::vector<int64_t> shape = a->shape;
  shape[rank - 1] = n;
  KernelValue out = KernelValue::Block(shape);
  out.DependOn(*a);
  out.DependOn(*b);
  const KernelValue* type = Argument(node, args, 99, "out_dtype");
  out.element = type != nullptr                                            ? type->element
                : a->element == "fp64" || a->element.substr(0, 3) == "int" ? ""
                                                                           : "fp32";
  if (a->element.empty() && type == nullptr) out.element.clear();
  const KernelValue* acc = Argument(node, args, 2, "acc");
  if (acc != nullptr && acc->is_block()) {
    std::vector<int64_t> ignored;
    const bool same = acc->shape.size() == rank &&
                      std::equal(acc->shape.begin(), acc->shape.end(), out.shape.begin(),
                                 [](int64_t x, int64_t y) { return x == y || x < 0 || y < 0; });
    if (!same)
      Report(ProblemKind::kShapeMismatch, node, "tl.dot",
             fmt::format("the accumulator has shape {} but the product has shape {}", acc->ExtentsText(),
                         out.ExtentsText()),
             "Give the accumulator the shape of the product.");
  }
  return out;
}

KernelValue KernelInterpreter::Reduce(const PyNode* node, const std::string& name,
                                      const std::vector<KernelValue>& args) {
  if (Recording()) {
    ReductionUse use;
    use.node = node;
    use.op = name;
    for (const PyNode* loop : loop_stack_)
      if (loop != nullptr) use.inside.push_back(loop);
    trace_->reductions.push_back(std::move(use));
  }
  if (args.empty()) return {};
  const KernelValue& input = args[0];
  const KernelValue* axis = Argument(node, args, 1, "axis");
  if (axis != nullptr && (axis->is_block() || axis->constant.kind == Constant::Kind::kFloat) &&
      (name == "max" || name == "min")) {
    Report(ProblemKind::kBadCall, node, "tl." + name,
           fmt::format("tl.{} reduces along an axis; its second argument {} is a value", name,
                       node->args.size() > 1 ? Text(node->args[1]) : "given"),
           fmt::format("Use tl.{}imum(a, b).", name));
    return {};
  }
  const KernelValue* keep = Argument(node, args, 99, "keep_dims");
  if (keep != nullptr && !keep->constant.known()) return {};
  const bool keeps = keep != nullptr && keep->constant.truthy();
  if (input.Is(Kind::kScalar) && input.run_time && input.base.empty() && axis != nullptr &&
      axis->constant.is_int() && !input.carries_state)
    Report(ProblemKind::kShapeMismatch, node, "tl." + name,
           fmt::format("tl.{} reduces axis {} of a single number", name, axis->constant.Text()),
           "Reduce a block, or use the number as it is.");
  if (!input.is_block()) return {};
  KernelValue out = input;
  out.from_load = false;
  out.base = {};
  if (name == "argmax" || name == "argmin") {
    out.element = "int32";
    out.is_float = false;
  }
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
           fmt::format("tl.{} reduces axis {} of a block of shape {}", name, at, input.ExtentsText()),
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

KernelValue KernelInterpreter::Reshape(const PyNode* node, const std::string& name,
                                       const std::vector<KernelValue>& args) {
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
      if (order.size() == 2 && order[0].constant == Constant::Int(1) &&
          order[1].constant == Constant::Int(0)) {
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
  if (const KernelValue* given = Argument(node, args, 1, "shape");
      given != nullptr && given->Is(Kind::kTuple)) {
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
  for (int64_t extent : out.shape)
    numbers = numbers && extent > 0 && !__builtin_mul_overflow(before, extent, &before);
  for (int64_t extent : extents)
    numbers = numbers && extent > 0 && !__builtin_mul_overflow(after, extent, &after);
  if (numbers && before != after)
    Report(ProblemKind::kShapeMismatch, node, "tl." + name,
           fmt::format("tl.{} turns {} elements ({}) into {}", name, before, out.ExtentsText(), after),
           "Keep the number of elements the same.");
  out.shape = std::move(extents);
  return out;
}

}  // namespace hone
