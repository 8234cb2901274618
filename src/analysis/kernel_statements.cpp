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

}  // namespace

void KernelInterpreter::Run(const Kernel& kernel, const Launch* launch, const TuneConfig* config) {
  launch_ = launch;
  config_ = config;
  steps_left_ = kMaxSteps;
  recording_ = !recorded_;
  recorded_ = true;
  keyword_values_.clear();
  loop_stack_.clear();
  loop_count_ = 0;
  loop_base_ = 0;
  uncertain_ = 0;
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
      if (const auto it = config->values.find(std::string(param.name)); it != config->values.end()) constant = it->second;
    if (param.is_constexpr || constant.kind == Constant::Kind::kNone) {
      value = KernelValue::Constexpr(constant);
    } else {
      value.kind = Kind::kScalar;
      value.base = param.name;
      // The value 1 is specialised into the kernel, so only another constant makes it certainly run-time.
      value.run_time = constant.is_number() && !(constant == Constant::Int(1));
    }
    value.note = std::string(param.name);
    frame.names[param.name] = std::move(value);
  }
  Block(kernel.function->body);
  frame_ = nullptr;
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
      if (node->args.size() > 1)
        Unsupported(node, "a = b = value", "Write one assignment per line.");
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
          // constexpr(tensor) is accepted and fails wherever a number is needed; keep it run-time then.
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
                    "Compute a condition before the loop, or mask the work inside it; a kernel may return only outside loops.");
      return;
    case PyKind::kIf:
      If(node);
      return;
    case PyKind::kFor:
      For(node);
      return;
    case PyKind::kWhile: {
      if (!node->orelse.empty()) Unsupported(node, "else after while", "Move the else block after the loop.");
      LoopBody(node, node->test != nullptr ? Text(node->test) : "");
      return;
    }
    case PyKind::kAssert:
      Eval(node->test);
      return;
    case PyKind::kPass:
      return;
    case PyKind::kContinue:
      Unsupported(node, "continue",
                  "Turn the condition around and put the rest of the loop body under it, or fold it into the mask.");
      return;
    case PyKind::kBreak:
      Unsupported(node, "break", "Use a while loop whose condition ends it, or mask the remaining iterations.");
      return;
    case PyKind::kTry:
      Unsupported(node, "try", "Remove it: nothing raises inside a kernel.");
      return;
    case PyKind::kWith:
      Unsupported(node, "with", "Remove it: context managers of the host mean nothing inside a kernel.");
      return;
    case PyKind::kRaise:
      Unsupported(node, "raise", "Use tl.device_assert, or check on the host.");
      return;
    case PyKind::kDelete:
      Unsupported(node, "del", "Remove it; values die by themselves.");
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
      // Assignment turns a compile-time number into a run-time one; types, tuples and None stay what they are.
      if (value.Is(Kind::kConstexpr) && value.constant.kind != Constant::Kind::kNone) {
        const bool maybe_not_number = !value.constant.known() || value.constant.kind == Constant::Kind::kString;
        value.kind = maybe_not_number && value.constant.kind == Constant::Kind::kString ? Kind::kUnknown : Kind::kScalar;
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
    const bool outer = a.is_block() && b.is_block() && a.shape.size() == 2 && b.shape.size() == 2 && a.shape != b.shape;
    if (scalar_vector || outer) trace_->scalar_vector_products.push_back(node);
  }
  Assign(node->target, std::move(result), node);
}

void KernelInterpreter::If(const PyNode* node) {
  const KernelValue test = Eval(node->test);
  if (test.is_block() && !test.shape.empty()) {
    const bool several = std::any_of(test.shape.begin(), test.shape.end(), [](int64_t d) { return d > 1; });
    if (several)
      Unsupported(node->test, fmt::format("`if` on {}, a block of shape {}", Text(node->test), test.ShapeText()),
                  "Use tl.where, or reduce the condition to one value with tl.max or tl.sum first.");
  }
  if (test.Is(Kind::kConstexpr) && test.constant.known()) {
    Block(test.constant.truthy() ? node->body : node->orelse);
    return;
  }
  const bool certain = test.is_tensor() && test.run_time;
  if (InOwnLoop() && certain &&
      (ContainsReturn(node->body) || ContainsReturn(node->orelse))) {
    Unsupported(node, "return inside a loop",
                "Compute a condition before the loop, or mask the work inside it; a kernel may return only outside loops.");
  }
  const Environment before = frame().names;
  // A condition the compiler folds, to a value we do not know, leaves one of the branches out.
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
    if (!same && both_known && certain) {
      std::vector<int64_t> ignored;
      const bool ranks_differ = value.kind != other->second.kind || value.shape.size() != other->second.shape.size();
      const bool extents_differ =
          !ranks_differ && !std::equal(value.shape.begin(), value.shape.end(), other->second.shape.begin(),
                                       [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; });
      if (ranks_differ || extents_differ)
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} has shape {} in one branch of `if {}` and {} in the other", name, value.ShapeText(),
                           Text(node->test), other->second.ShapeText()),
               fmt::format("Give {} the same shape in both branches.", name));
    }
    if (!same) {
      // Equal compile-time values stay; anything else that differs is not known any more.
      const bool equal_constants = value.Is(Kind::kConstexpr) && other->second.Is(Kind::kConstexpr) &&
                                   value.constant.known() && value.constant == other->second.constant;
      if (!equal_constants && value.kind != other->second.kind) otherwise[name] = KernelValue();
      if (value.kind == other->second.kind && value.is_block() && value.shape.size() != other->second.shape.size())
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

void KernelInterpreter::For(const PyNode* node) {
  const PyNode* iterated = node->value;
  if (!node->orelse.empty()) Unsupported(node, "else after for", "Move the else block after the loop.");
  if (iterated == nullptr) return;
  if (!iterated->Is(PyKind::kCall)) {
    const bool literal = iterated->Is(PyKind::kTuple) || iterated->Is(PyKind::kList) || iterated->Is(PyKind::kName) ||
                         iterated->Is(PyKind::kComprehension) || iterated->Is(PyKind::kString);
    if (literal)
      Unsupported(node, fmt::format("`for` over {}", Text(iterated)),
                  "Loop over range, tl.range or tl.static_range and index from there.");
    return;
  }
  const std::string dotted = scopes_.Resolve(iterated->value);
  std::vector<KernelValue> bounds;
  for (const PyNode* argument : iterated->args) bounds.push_back(Eval(argument));
  for (const PyNode* keyword : iterated->keywords) Eval(keyword->value);
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
    if (bounds[i].is_tensor() && bounds[i].element.substr(0, 2) == "fp")
      Unsupported(iterated->args[i], fmt::format("range over {}, which is not an integer", Text(iterated->args[i])),
                  "Use // instead of /, or tl.cdiv.");
  }
  KernelValue counter = KernelValue::Of(Kind::kScalar);
  counter.element = "int32";
  counter.run_time = true;
  counter.loops = 1u << std::min(loop_count_, 31);
  if (node->target != nullptr && node->target->Is(PyKind::kName)) frame().names[node->target->name] = counter;
  const size_t bound = bounds.size() > 1 ? 1 : 0;
  // range(program_id, tiles, programs): the loop hands out independent tiles.
  if (bounds.size() > 1 && bounds[0].program_axes != 0) trace_->tile_loops |= counter.loops;
  LoopBody(node, bound < iterated->args.size() ? Text(iterated->args[bound]) : "");
}

void KernelInterpreter::StaticFor(const PyNode* node, const std::vector<KernelValue>& bounds) {
  const auto number = [&](size_t i, int64_t fallback) {
    return i < bounds.size() && bounds[i].constant.is_int() ? bounds[i].constant.integer : fallback;
  };
  bool known = !bounds.empty();
  for (const KernelValue& bound : bounds) known = known && bound.Is(Kind::kConstexpr) && bound.constant.is_int();
  const int64_t start = bounds.size() > 1 ? number(0, 0) : 0;
  const int64_t stop = number(bounds.size() > 1 ? 1 : 0, 0);
  const int64_t step = std::max<int64_t>(1, number(2, 1));
  std::string_view counter;
  if (node->target != nullptr && node->target->Is(PyKind::kName)) counter = node->target->name;
  if (Recording()) {
    KernelLoop loop;
    loop.node = node;
    loop.is_static = true;
    if (!node->value->args.empty()) loop.trip = Text(node->value->args[bounds.size() > 1 ? 1 : 0]);
    trace_->loops.push_back(std::move(loop));
  }
  const uint32_t bit = 1u << std::min(loop_count_, 31);
  ++loop_count_;
  // A null marks an unrolled loop: its body is straight-line code to Triton.
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
  if (node->Is(PyKind::kWhile)) Eval(node->test);
  loop_stack_.push_back(node);
  ++loop_count_;
  Block(node->body);
  loop_stack_.pop_back();
  Environment after = std::move(frame().names);
  frame().names = before;

  KernelLoop loop;
  loop.node = node;
  loop.trip = trip;
  for (auto& [name, value] : frame().names) {
    const auto it = after.find(name);
    if (it == after.end() || (node->target != nullptr && node->target->IsName(name))) continue;
    const KernelValue& later = it->second;
    bool assigned = false;
    for (const PyNode* statement : node->body) {
      WalkPython(statement, [&, wanted = name](const PyNode* part) {
        const bool assigns = (part->Is(PyKind::kAssign) && !part->args.empty() && part->args[0]->IsName(wanted)) ||
                             (part->Is(PyKind::kAugAssign) && part->target != nullptr && part->target->IsName(wanted));
        assigned = assigned || assigns;
        return !assigned;
      });
    }
    if (!assigned) continue;
    loop.carried.emplace_back(name);
    if (value.Is(Kind::kConstexpr) && later.is_tensor() && value.constant.kind != Constant::Kind::kNone) {
      Unsupported(node, fmt::format("reassigning the constexpr {} inside a loop", name),
                  fmt::format("Copy {} into another variable before the loop and change that one.", name));
    } else if (value.is_tensor() && later.is_tensor()) {
      const bool shape_changes =
          value.kind != later.kind || value.shape.size() != later.shape.size() ||
          !std::equal(value.shape.begin(), value.shape.end(), later.shape.begin(),
                      [](int64_t a, int64_t b) { return a == b || a < 0 || b < 0; });
      const bool type_changes = !value.element.empty() && !later.element.empty() && value.element != later.element;
      if (shape_changes && (later.is_block() || value.is_block()))
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} enters the loop as {} and leaves an iteration as {}", name,
                           value.is_block() ? "a block of shape " + value.ShapeText() : "a scalar",
                           later.is_block() ? "a block of shape " + later.ShapeText() : "a scalar"),
               value.is_block() ? fmt::format("Keep the shape of {} the same in every iteration.", name)
                                : fmt::format("Start {} as tl.zeros({}, dtype=tl.float32).", name, later.ShapeText()));
      else if (type_changes)
        Report(ProblemKind::kShapeMismatch, node, std::string(name),
               fmt::format("{} enters the loop as {} and leaves an iteration as {}", name, value.element, later.element),
               fmt::format("Start {} with the type it has in the loop, or cast the new value back.", name));
    }
    value.DependOn(later);
    value.run_time = true;
    value.carries_state = true;
    value.from_load = false;
    if (value.element != later.element) value.element.clear();
    if (!value.is_tensor() || value.kind != later.kind) value = later.is_tensor() && value.is_tensor() ? KernelValue() : value;
  }
  for (const auto& [name, value] : after) {
    if (frame().names.count(name) != 0) continue;
    KernelValue gone = KernelValue::Of(Kind::kUndefined);
    gone.note = fmt::format("{} is first assigned inside the {} loop, and names assigned there do not outlive it", name,
                            node->Is(PyKind::kWhile) ? "while" : "for");
    frame().names[name] = std::move(gone);
  }
  if (Recording()) trace_->loops.push_back(std::move(loop));
}

}  // namespace hone
