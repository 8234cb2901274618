// Loops of a kernel: what they may iterate over, the values they carry, and the state after them. See
// kernel_interpreter.h.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "base/text.h"

namespace hone {

void KernelInterpreter::For(const PyNode* node) {
  const PyNode* iterated = node->value;
  if (!node->orelse.empty()) Unsupported(node, "else after for", "Move the else block after the loop.");
  if (iterated == nullptr) return;
  if (!iterated->Is(PyKind::kCall)) {
    const bool literal = iterated->Is(PyKind::kTuple) || iterated->Is(PyKind::kList) ||
                         iterated->Is(PyKind::kName) || iterated->Is(PyKind::kComprehension) ||
                         iterated->Is(PyKind::kString);
    if (literal)
      Unsupported(node, fmt::format("`for` over {}", Text(iterated)),
                  "Loop over range, tl.range or tl.static_range and index from there.");
    return;
  }
  const std::string dotted = scopes_.Resolve(iterated->value);
  std::vector<KernelValue> bounds;
  for (const PyNode* argument : iterated->args) bounds.push_back(Eval(argument));
  for (const PyNode* keyword : iterated->keywords) Eval(keyword->value);
  if (StartsWith(dotted, "triton.language."))
    CheckArguments(iterated, "triton.language", dotted.substr(16), false);
  const bool is_static = dotted == "triton.language.static_range";
  if (dotted == "enumerate" || dotted == "zip" || dotted == "reversed") {
    if (frame().names.count(dotted) == 0)
      Unsupported(node, fmt::format("`for` over {}()", dotted),
                  "Loop over range, tl.range or tl.static_range and compute the rest from the counter.");
    return;
  }
  if (is_static) {
    for (size_t i = 0; i < bounds.size() && i < iterated->args.size(); ++i)
      if (bounds[i].is_tensor() && (bounds[i].run_time || bounds[i].Is(Kind::kScalar)))
        Report(ProblemKind::kUnsupported, iterated->args[i],
               fmt::format("tl.static_range over {}, which is not a constexpr", Text(iterated->args[i])), "",
               fmt::format("Declare {} as tl.constexpr, or use range.", Text(iterated->args[i])));
    StaticFor(node, bounds);
    return;
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].is_block() && std::any_of(bounds[i].shape.begin(), bounds[i].shape.end(),
                                            [](int64_t extent) { return extent > 1; }))
      Unsupported(iterated->args[i], fmt::format("range over {}, a block", Text(iterated->args[i])),
                  "Loop over a single number.");
    else if (bounds[i].is_tensor() && (bounds[i].is_float || bounds[i].element.substr(0, 2) == "fp"))
      Unsupported(iterated->args[i],
                  fmt::format("range over {}, which is not an integer", Text(iterated->args[i])),
                  "Use // instead of /, or tl.cdiv.");
  }
  KernelValue counter = KernelValue::Of(Kind::kScalar);
  counter.element = "int32";
  counter.run_time = true;
  counter.loops = 1u << std::min(loop_count_, 31);
  if (node->target != nullptr && node->target->Is(PyKind::kName)) frame().names[node->target->name] = counter;
  const size_t bound = bounds.size() > 1 ? 1 : 0;
  // range(program_id, tiles, programs): the loop assigns independent tiles to programs.
  if (bounds.size() > 1 && bounds[0].program_axes != 0) trace_->tile_loops |= counter.loops;
  LoopBody(node, bound < iterated->args.size() ? Text(iterated->args[bound]) : "");
}

void KernelInterpreter::StaticFor(const PyNode* node, const std::vector<KernelValue>& bounds) {
  const auto number = [&](size_t i, int64_t fallback) {
    return i < bounds.size() && bounds[i].constant.is_int() ? bounds[i].constant.integer : fallback;
  };
  bool known = !bounds.empty();
  for (const KernelValue& bound : bounds)
    known = known && bound.Is(Kind::kConstexpr) && bound.constant.is_int();
  const int64_t start = bounds.size() > 1 ? number(0, 0) : 0;
  const int64_t stop = number(bounds.size() > 1 ? 1 : 0, 0);
  const int64_t step = std::max<int64_t>(1, number(2, 1));
  std::string_view counter;
  if (node->target != nullptr && node->target->Is(PyKind::kName)) counter = node->target->name;
  if (Recording()) {
    KernelLoop loop;
    loop.node = node;
    loop.is_static = true;
    loop.bit = 1u << std::min(loop_count_, 31);
    if (!node->value->args.empty()) loop.trip = Text(node->value->args[bounds.size() > 1 ? 1 : 0]);
    trace_->loops.push_back(std::move(loop));
  }
  const uint32_t bit = 1u << std::min(loop_count_, 31);
  ++loop_count_;
  // Null marks an unrolled loop, whose body is straight-line code for Triton.
  loop_stack_.push_back(nullptr);
  constexpr int64_t kMaxUnrolled = 4;
  int64_t done = 0;
  for (int64_t i = start; known && i < stop && done < kMaxUnrolled; i += step, ++done) {
    KernelValue value = KernelValue::Constexpr(Constant::Int(i));
    value.loops = bit;
    frame().names[counter] = std::move(value);
    Block(node->body);
  }
  if (!known) {
    KernelValue value = KernelValue::Constexpr(Constant());
    value.loops = bit;
    frame().names[counter] = std::move(value);
    Block(node->body);
  }
  loop_stack_.pop_back();
}

void KernelInterpreter::LoopBody(const PyNode* node, const std::string& trip) {
  const Environment before = frame().names;
  steps_left_ -= static_cast<int>(before.size() / 4);
  if (node->Is(PyKind::kWhile)) Eval(node->test);
  loop_stack_.push_back(node);
  const uint32_t bit = 1u << std::min(loop_count_, 31);
  ++loop_count_;
  Block(node->body);
  loop_stack_.pop_back();
  Environment after = std::move(frame().names);
  frame().names = before;

  std::set<std::string_view> assigned;
  WalkPython(node, [&](const PyNode* part) {
    const PyNode* target = part->Is(PyKind::kAssign) && !part->args.empty() ? part->args[0]
                           : part->Is(PyKind::kAugAssign)                   ? part->target
                                                                            : nullptr;
    if (target != nullptr && target->Is(PyKind::kName)) assigned.insert(target->name);
    return true;
  });
  KernelLoop loop;
  loop.node = node;
  loop.trip = trip;
  loop.bit = bit;
  for (auto& [name, value] : frame().names) {
    const auto it = after.find(name);
    if (it == after.end() || (node->target != nullptr && node->target->IsName(name))) continue;
    const KernelValue& later = it->second;
    if (assigned.count(name) == 0) continue;
    loop.carried.emplace_back(name);
    if (value.Is(Kind::kConstexpr) && later.is_tensor() && value.constant.kind != Constant::Kind::kNone) {
      Unsupported(node, fmt::format("reassigning the constexpr {} inside a loop", name),
                  fmt::format("Copy {} into another variable before the loop and change that one.", name));
    } else if (value.is_tensor() && later.is_tensor()) {
      const bool shape_changes = value.kind != later.kind || value.shape.size() != later.shape.size() ||
                                 !std::equal(value.shape.begin(), value.shape.end(), later.shape.begin(),
                                             [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; });
      const bool type_changes =
          !value.element.empty() && !later.element.empty() && value.element != later.element;
      if (shape_changes && (later.is_block() || value.is_block()))
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} enters the loop as {} and leaves an iteration as {}", name,
                           value.is_block() ? "a block of shape " + value.ExtentsText() : "a scalar",
                           later.is_block() ? "a block of shape " + later.ExtentsText() : "a scalar"),
               value.is_block()
                   ? fmt::format("Keep the shape of {} the same in every iteration.", name)
                   : fmt::format("Start {} as tl.zeros({}, dtype=tl.float32).", name, later.ExtentsText()),
               0, {value, later});
      else if (StartsWith(value.element, "int") && later.element.empty() && later.is_float)
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} enters the loop as {} and leaves an iteration as a floating-point value", name,
                           value.element),
               fmt::format("Start {} as a float: 0.0, or tl.zeros with dtype=tl.float32.", name), 0,
               {value, later});
      else if (type_changes)
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} enters the loop as {} and leaves an iteration as {}", name, value.element,
                           later.element),
               fmt::format("Start {} with the type it has in the loop, or cast the new value back.", name), 0,
               {value, later});
    }
    value.DependOn(later);
    value.run_time = true;
    value.carries_state = true;
    value.from_load = false;
    if (value.element != later.element) value.element.clear();
    if (!value.is_tensor() || value.kind != later.kind)
      value = later.is_tensor() && value.is_tensor() ? KernelValue() : value;
  }
  for (const auto& [name, value] : after) {
    if (frame().names.count(name) != 0) continue;
    KernelValue gone = KernelValue::Of(Kind::kUndefined);
    gone.note =
        fmt::format("{} is first assigned inside the {} loop, and names assigned there do not outlive it",
                    name, node->Is(PyKind::kWhile) ? "while" : "for");
    frame().names[name] = std::move(gone);
  }
  if (Recording()) trace_->loops.push_back(std::move(loop));
}

}  // namespace hone
