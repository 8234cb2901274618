#include "codegen/forward_trace.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "codegen/flow_value.h"

namespace hone {

namespace {

constexpr int kMaxDepth = 12;
// Nested loops double the work at every level; past this everything counts as used.
constexpr int kMaxSteps = 200'000;

std::optional<int64_t> IntegerOf(const PyNode* node) {
  if (node == nullptr) return std::nullopt;
  if (node->Is(PyKind::kInt) && !node->big) return node->integer;
  if (node->Is(PyKind::kUnaryOp) && node->op == "-" && node->value->Is(PyKind::kInt))
    return -node->value->integer;
  return std::nullopt;
}

class Tracer : private FlowValues {
 public:
  Tracer(const Scopes& scopes, const ModuleTypes& types, std::vector<RecurrentModule>* modules)
      : FlowValues(modules), scopes_(scopes), types_(types) {}

  void Run() {
    const PyNode* model = scopes_.ClassNamed("Model");
    const PyNode* forward = model != nullptr ? FindMethod(scopes_, model, "forward") : nullptr;
    if (forward != nullptr) {
      std::vector<FlowValue> arguments(1);
      arguments[0] = ModuleValue("");
      for (size_t i = 1; i < forward->params.size(); ++i) {
        FlowValue argument;
        argument.origin.caller = true;
        arguments.push_back(argument);
      }
      Use(Enter(forward, arguments, {}));
    }
    for (size_t i = 0; i < modules_.size(); ++i) {
      RecurrentModule& module = modules_[i];
      module.traced = traced_.count(i) != 0 && !gave_up_ && !lost(i);
      if (!module.traced) module.used = module.touched = {true, true, true, module.kind == "LSTM"};
    }
  }

 private:
  struct Frame {
    FlowNames names;
    FlowValue returned;
  };

  bool Spend() {
    if (--steps_left_ <= 0) gave_up_ = true;
    return !gave_up_;
  }

  // Statements

  void Block(const std::vector<PyNode*>& body, Frame* frame) {
    for (const PyNode* statement : body) Statement(statement, frame);
  }

  void Statement(const PyNode* node, Frame* frame) {
    if (node == nullptr || !Spend()) return;
    switch (node->kind) {
      case PyKind::kReturn:
        if (node->value != nullptr) {
          const FlowValue value = Eval(node->value, frame);
          frame->returned = frame_returned_ ? Join(frame->returned, value) : value;
          frame_returned_ = true;
        }
        return;
      case PyKind::kAssign: {
        const FlowValue value = Eval(node->value, frame);
        for (const PyNode* target : node->args) Bind(target, value, frame);
        return;
      }
      case PyKind::kAnnAssign:
        if (node->value != nullptr) Bind(node->target, Eval(node->value, frame), frame);
        return;
      case PyKind::kAugAssign: {
        const FlowValue before = Eval(node->target, frame);
        const FlowValue value = Eval(node->value, frame);
        Bind(node->target, Plain({&before, &value}), frame);
        return;
      }
      case PyKind::kFor:
        ForLoop(node, frame);
        return;
      case PyKind::kWhile:
        Use(Condition(node->test, frame));
        for (int round = 0; round < 2; ++round) {
          const FlowNames before = frame->names;
          Block(node->body, frame);
          frame->names = JoinNames(before, frame->names);
        }
        Block(node->orelse, frame);
        return;
      case PyKind::kIf: {
        Use(Condition(node->test, frame));
        const FlowNames before = frame->names;
        NotNone(node->test, "is not", frame);
        Block(node->body, frame);
        FlowNames then = std::move(frame->names);
        frame->names = before;
        NotNone(node->test, "is", frame);
        Block(node->orelse, frame);
        frame->names = JoinNames(then, frame->names);
        return;
      }
      case PyKind::kWith:
        for (const PyNode* item : node->args) {
          const FlowValue value = Eval(item->value, frame);
          if (item->target != nullptr) Bind(item->target, value, frame);
        }
        Block(node->body, frame);
        return;
      case PyKind::kTry: {
        const FlowNames before = frame->names;
        Block(node->body, frame);
        const FlowNames after = frame->names;
        for (const PyNode* handler : node->args) {
          FlowNames other = JoinNames(before, after);
          std::swap(frame->names, other);
          Block(handler->body, frame);
          frame->names = JoinNames(frame->names, after);
        }
        Block(node->orelse, frame);
        Block(node->finally, frame);
        return;
      }
      case PyKind::kExprStmt:
        Use(Eval(node->value, frame));
        return;
      case PyKind::kAssert:
        Use(Condition(node->test, frame));
        return;
      case PyKind::kPass:
      case PyKind::kBreak:
      case PyKind::kContinue:
      case PyKind::kGlobal:
      case PyKind::kImport:
      case PyKind::kImportFrom:
      case PyKind::kDelete:
        return;
      default:
        // Nested functions, raise, match: everything named in there is taken as read.
        WalkPython(node, [&](const PyNode* inner) {
          if (inner->Is(PyKind::kName)) {
            const auto found = frame->names.find(inner->name);
            if (found != frame->names.end()) {
              if (found->second.kind == FlowValue::Kind::kModule) gave_up_ = gave_up_ || UsesModules(node);
              Use(found->second);
            }
          }
          return true;
        });
    }
  }

  // In the branch that `h0 is None` (or its opposite) excludes, h0 is not the default.
  static void NotNone(const PyNode* test, std::string_view op, Frame* frame) {
    if (!test->Is(PyKind::kCompare) || test->ops.size() != 1 || test->ops[0] != op) return;
    if (!test->left->Is(PyKind::kName) || !test->args[0]->Is(PyKind::kNone)) return;
    const auto found = frame->names.find(test->left->name);
    if (found != frame->names.end()) found->second.origin.zeros = false;
  }

  // Whether a nested function or the like touches a submodule at all.
  bool UsesModules(const PyNode* node) const {
    bool touches = false;
    WalkPython(node, [&](const PyNode* inner) {
      if (inner->Is(PyKind::kAttribute))
        for (const auto& [path, type] : types_) touches = touches || path == inner->name;
      return !touches;
    });
    return touches;
  }

  void ForLoop(const PyNode* node, Frame* frame) {
    const PyNode* iterated = node->value;
    bool numbered = false;
    if (iterated->Is(PyKind::kCall) && iterated->value->IsName("enumerate") && !iterated->args.empty()) {
      iterated = iterated->args[0];
      numbered = true;
    }
    const FlowValue over = Eval(iterated, frame);
    if (over.kind == FlowValue::Kind::kModule) {
      const std::vector<std::string> children = Children(over.path);
      for (const std::string& child : children) {
        FlowValue item = ModuleValue(child);
        if (numbered) {
          FlowValue pair;
          pair.kind = FlowValue::Kind::kTuple;
          pair.elements = {FlowValue(), item};
          item = pair;
        }
        Bind(node->target, item, frame);
        Block(node->body, frame);
      }
      Block(node->orelse, frame);
      return;
    }
    FlowValue item = Plain({&over});
    if (iterated != node->value || !over.needs.empty() || over.kind != FlowValue::Kind::kPlain)
      item.origin = over.origin;
    for (int round = 0; round < 2; ++round) {
      const FlowNames before = frame->names;
      Bind(node->target, item, frame);
      Block(node->body, frame);
      frame->names = JoinNames(before, frame->names);
    }
    Block(node->orelse, frame);
  }

  void Bind(const PyNode* target, const FlowValue& value, Frame* frame) {
    switch (target->kind) {
      case PyKind::kName:
        frame->names[target->name] = value;
        return;
      case PyKind::kTuple:
      case PyKind::kList:
        for (size_t i = 0; i < target->args.size(); ++i) {
          const PyNode* part = target->args[i];
          if (part->Is(PyKind::kStarred))
            Bind(part->value, Plain({&value}), frame);
          else
            Bind(part, Element(value, static_cast<int64_t>(i), target->args.size()), frame);
        }
        return;
      case PyKind::kSubscript: {
        // Written into something: it holds the value from now on.
        const PyNode* root = target->value;
        while (root->Is(PyKind::kSubscript)) root = root->value;
        if (root->Is(PyKind::kName)) {
          const auto found = frame->names.find(root->name);
          if (found != frame->names.end() && found->second.kind == FlowValue::Kind::kPlain) {
            found->second.needs.merge(All(value));
            found->second.origin.other = true;
          }
        }
        Use(value);
        return;
      }
      default:
        Use(value);  // an attribute, or something stranger: it lasts
    }
  }

  // Expressions

  // `x is None`, isinstance and hasattr look at no number.
  FlowValue Condition(const PyNode* test, Frame* frame) {
    if (test->Is(PyKind::kCompare) && !test->ops.empty() &&
        (test->ops[0] == "is" || test->ops[0] == "is not"))
      return {};
    return Eval(test, frame);
  }

  FlowValue Eval(const PyNode* node, Frame* frame) {
    if (node == nullptr || !Spend()) return {};
    switch (node->kind) {
      case PyKind::kName: {
        const auto found = frame->names.find(node->name);
        if (found != frame->names.end()) return found->second;
        FlowValue plain;
        plain.origin.other = true;
        return plain;
      }
      case PyKind::kNone: {
        FlowValue none;
        none.origin.zeros = true;
        return none;
      }
      case PyKind::kTuple:
      case PyKind::kList: {
        FlowValue tuple;
        tuple.kind = FlowValue::Kind::kTuple;
        for (const PyNode* element : node->args) {
          tuple.elements.push_back(Eval(element, frame));
          MergeSources(&tuple.origin, tuple.elements.back().origin);
          if (element->Is(PyKind::kStarred)) return Plain({&tuple});
        }
        return tuple;
      }
      case PyKind::kAttribute:
        return Attribute(node, frame);
      case PyKind::kSubscript:
        return Subscript(node, frame);
      case PyKind::kCall:
        return Call(node, frame);
      case PyKind::kIfExp: {
        const FlowValue test = Condition(node->test, frame);
        FlowValue joined = Join(Eval(node->left, frame), Eval(node->right, frame));
        joined.needs.merge(All(test));
        return joined;
      }
      case PyKind::kNamedExpr: {
        const FlowValue value = Eval(node->value, frame);
        Bind(node->target, value, frame);
        return value;
      }
      case PyKind::kComprehension: {
        for (const PyNode* clause : node->args) {
          const FlowValue over = Eval(clause->value, frame);
          if (over.kind == FlowValue::Kind::kModule) {
            gave_up_ = gave_up_ || !Children(over.path).empty();
            continue;
          }
          Bind(clause->target, Plain({&over}), frame);
        }
        const FlowValue element = Eval(node->value, frame);
        return Plain({&element});
      }
      case PyKind::kLambda:
        gave_up_ = gave_up_ || UsesModules(node);
        break;
      default:
        break;
    }
    FlowValue value;
    value.origin.other = true;
    for (const PyNode* child : node->children) {
      const FlowValue part = Eval(child, frame);
      value.needs.merge(All(part));
    }
    return value;
  }

  FlowValue Attribute(const PyNode* node, Frame* frame) {
    const FlowValue owner = Eval(node->value, frame);
    const std::string name(node->name);
    if (owner.kind == FlowValue::Kind::kModule) {
      const std::string path = owner.path.empty() ? name : owner.path + "." + name;
      if (types_.count(path) != 0) return ModuleValue(path);
      FlowValue attribute;
      attribute.origin.attribute = true;
      return attribute;
    }
    if (name == "dtype" || name == "device" || name == "ndim" || name == "is_cuda" || name == "data") {
      TouchLightly(owner);
      return name == "data" ? owner : FlowValue();
    }
    if (name == "shape") {
      All(owner);
      return {};
    }
    return Plain({&owner});
  }

  FlowValue Subscript(const PyNode* node, Frame* frame) {
    const FlowValue owner = Eval(node->value, frame);
    const PyNode* index = node->target;
    const std::optional<int64_t> constant = IntegerOf(index);
    if (owner.kind == FlowValue::Kind::kModule) {
      const std::vector<std::string> children = Children(owner.path);
      if (constant.has_value()) {
        const int64_t at = *constant < 0 ? *constant + static_cast<int64_t>(children.size()) : *constant;
        if (at >= 0 && at < static_cast<int64_t>(children.size()))
          return ModuleValue(children[static_cast<size_t>(at)]);
      }
      FlowValue unknown;
      unknown.needs = All(owner);
      return unknown;
    }
    if (owner.kind == FlowValue::Kind::kSequence && TakesLastStep(modules_[owner.module], index)) {
      TouchLightly(owner);
      return Belonging(FlowValue::Kind::kLast, owner);
    }
    if (constant.has_value() &&
        (owner.kind == FlowValue::Kind::kTuple || owner.kind == FlowValue::Kind::kResult ||
         owner.kind == FlowValue::Kind::kState))
      return Element(owner, *constant, 0);
    const FlowValue at = Eval(index, frame);
    FlowValue plain = Plain({&owner, &at});
    if (owner.kind == FlowValue::Kind::kPlain && owner.needs.empty()) plain.origin = owner.origin;
    return plain;
  }

  std::vector<std::string> Children(const std::string& path) const {
    std::vector<std::pair<long, std::string>> found;
    for (const auto& [child, type] : types_) {
      if (!StartsWith(child, path + ".")) continue;
      const std::string last = child.substr(path.size() + 1);
      if (!last.empty() &&
          std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
          last.size() < 7)
        found.emplace_back(std::stol(last), child);
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> children;
    for (auto& [index, child] : found) children.push_back(std::move(child));
    return children;
  }

  std::string TypeOf(const std::string& path) const {
    if (path.empty()) return "Model";
    const auto found = types_.find(path);
    return found == types_.end() ? "" : found->second;
  }

  FlowValue Call(const PyNode* node, Frame* frame) {
    FlowArguments arguments;
    for (const PyNode* argument : node->args)
      arguments.positional.push_back(
          Eval(argument->Is(PyKind::kStarred) ? argument->value : argument, frame));
    for (const PyNode* keyword : node->keywords) arguments.named[keyword->name] = Eval(keyword->value, frame);
    if (node->value->Is(PyKind::kAttribute)) {
      const PyNode* callee = node->value;
      const FlowValue owner = Eval(callee->value, frame);
      if (owner.kind == FlowValue::Kind::kModule) {
        const std::string path =
            owner.path.empty() ? std::string(callee->name) : owner.path + "." + std::string(callee->name);
        if (types_.count(path) != 0) return CallModule(path, arguments);
        if (callee->name == "forward") return CallModule(owner.path, arguments);
        const PyNode* type = scopes_.ClassNamed(TypeOf(owner.path));
        const PyNode* method = type != nullptr ? FindMethod(scopes_, type, callee->name) : nullptr;
        if (method != nullptr) return CallFunction(method, arguments, &owner);
        return Together(arguments);
      }
      return CallMethod(node, owner, arguments, frame);
    }
    const FlowValue callee = Eval(node->value, frame);
    if (callee.kind == FlowValue::Kind::kModule) return CallModule(callee.path, arguments);
    if (node->value->Is(PyKind::kName) && depth_ < kMaxDepth) {
      const std::vector<const PyNode*> functions = scopes_.FunctionsNamed(node->value->name);
      if (functions.size() == 1 && EnclosingClass(functions[0]) == nullptr)
        return CallFunction(functions[0], arguments, nullptr);
    }
    FlowValue result = Together(arguments);
    result.needs.merge(All(callee));
    return result;
  }

  FlowValue CallMethod(const PyNode* node, const FlowValue& owner, const FlowArguments& arguments,
                       Frame* frame) {
    const std::string_view name = node->value->name;
    static const std::set<std::string_view> kSame = {"contiguous", "clone",   "detach",         "to",
                                                     "float",      "double",  "half",           "cuda",
                                                     "cpu",        "type_as", "requires_grad_", "bfloat16"};
    static const std::set<std::string_view> kNoData = {"size", "dim", "numel", "stride", "is_contiguous"};
    static const std::set<std::string_view> kZeros = {"zeros", "zeros_like", "new_zeros"};
    static const std::set<std::string_view> kDraws = {"randn", "rand", "randn_like", "rand_like", "normal"};
    if (kSame.count(name) != 0) {
      TouchLightly(owner);
      return owner;
    }
    if (kNoData.count(name) != 0) {
      All(owner);
      return {};
    }
    if (kZeros.count(name) != 0 || kDraws.count(name) != 0) {
      FlowValue made;
      made.origin.zeros = kZeros.count(name) != 0;
      made.origin.drawn = kDraws.count(name) != 0;
      return made;
    }
    if (name == "select" && owner.kind == FlowValue::Kind::kSequence && node->args.size() == 2) {
      const RecurrentModule& module = modules_[owner.module];
      const int64_t time = module.unbatched() || !module.batch_first ? 0 : 1;
      if (!module.input_shape.empty() && IntegerOf(node->args[0]) == time && IntegerOf(node->args[1]) == -1) {
        TouchLightly(owner);
        return Belonging(FlowValue::Kind::kLast, owner);
      }
    }
    if ((name == "append" || name == "extend" || name == "insert") && node->value->value->Is(PyKind::kName)) {
      const auto found = frame->names.find(node->value->value->name);
      if (found != frame->names.end()) {
        const FlowValue added = Together(arguments);
        found->second = Plain({&found->second, &added});
      }
      return Together(arguments);
    }
    FlowValue result = Together(arguments);
    result.needs.merge(All(owner));
    result.packed |= EndsWith(name, "pack_padded_sequence") || EndsWith(name, "pack_sequence");
    if (owner.kind == FlowValue::Kind::kPlain && owner.needs.empty() && arguments.positional.size() <= 3 &&
        (name == "unsqueeze" || name == "expand" || name == "repeat" || name == "view" || name == "squeeze" ||
         name == "transpose" || name == "reshape"))
      result.origin = owner.origin;
    return result;
  }

  FlowValue CallFunction(const PyNode* function, const FlowArguments& arguments, const FlowValue* self) {
    if (depth_ >= kMaxDepth) {
      gave_up_ = true;
      return Together(arguments);
    }
    std::vector<FlowValue> positional;
    if (self != nullptr) positional.push_back(*self);
    positional.insert(positional.end(), arguments.positional.begin(), arguments.positional.end());
    return Enter(function, positional, arguments.named);
  }

  FlowValue Enter(const PyNode* function, const std::vector<FlowValue>& positional,
                  const std::map<std::string_view, FlowValue>& named) {
    Frame frame;
    size_t next = 0;
    for (const PyNode* param : function->params) {
      if (!param->op.empty()) {
        FlowValue rest;
        rest.origin.other = true;
        for (; next < positional.size(); ++next) rest.needs.merge(All(positional[next]));
        for (const auto& [name, value] : named) rest.needs.merge(All(value));
        frame.names[param->name] = rest;
        continue;
      }
      const auto given = named.find(param->name);
      if (next < positional.size()) {
        frame.names[param->name] = positional[next++];
        // The task may call forward without it.
        if (depth_ == 0 && param->value != nullptr)
          MergeSources(&frame.names[param->name].origin, Eval(param->value, &frame).origin);
      } else if (given != named.end()) {
        frame.names[param->name] = given->second;
      } else if (param->value != nullptr) {
        frame.names[param->name] = Eval(param->value, &frame);
      }
    }
    ++depth_;
    const bool outer = std::exchange(frame_returned_, false);
    Block(function->body, &frame);
    frame_returned_ = outer;
    --depth_;
    return frame.returned;
  }

  FlowValue CallModule(const std::string& path, const FlowArguments& arguments) {
    for (size_t i = 0; i < modules_.size(); ++i)
      if (modules_[i].path == path) return CallRecurrent(i, arguments);
    const std::string type = TypeOf(path);
    if (type == "Sequential") {
      FlowArguments flowing = arguments;
      for (const std::string& child : Children(path)) {
        FlowValue out = CallModule(child, flowing);
        flowing = FlowArguments{{std::move(out)}, {}};
      }
      return flowing.positional.empty() ? FlowValue() : flowing.positional[0];
    }
    const PyNode* class_node = scopes_.ClassNamed(type);
    const PyNode* forward = class_node != nullptr ? FindMethod(scopes_, class_node, "forward") : nullptr;
    if (forward != nullptr) {
      const FlowValue self = ModuleValue(path);
      return CallFunction(forward, arguments, &self);
    }
    return Together(arguments);
  }

  FlowValue CallRecurrent(size_t index, const FlowArguments& arguments) {
    RecurrentModule& module = modules_[index];
    traced_.insert(index);
    const FlowValue* state = nullptr;
    if (arguments.positional.size() > 1) state = &arguments.positional[1];
    const auto named = arguments.named.find("hx");
    if (named != arguments.named.end()) state = &named->second;
    if (state == nullptr)
      module.state.zeros = true;
    else
      MergeSources(&module.state, state->origin);
    FlowValue result;
    result.kind = module.cell ? (module.kind == "LSTM" ? FlowValue::Kind::kState : FlowValue::Kind::kHidden)
                              : FlowValue::Kind::kResult;
    result.module = index;
    result.needs = Together(arguments).needs;
    result.origin.other = true;
    for (const FlowValue& argument : arguments.positional) module.packed_input |= argument.packed;
    return result;
  }

  const Scopes& scopes_;
  const ModuleTypes& types_;
  std::set<size_t> traced_;
  int depth_ = 0;
  int steps_left_ = kMaxSteps;
  bool frame_returned_ = false;
  bool gave_up_ = false;
};

}  // namespace

const PyNode* FindMethod(const Scopes& scopes, const PyNode* class_node, std::string_view name) {
  for (int depth = 0; class_node != nullptr && depth < 16; ++depth) {
    for (const PyNode* member : class_node->body)
      if (member->Is(PyKind::kFunction) && member->name == name) return member;
    const PyNode* base = nullptr;
    for (const PyNode* candidate : class_node->args)
      if (base == nullptr && candidate->Is(PyKind::kName)) base = scopes.ClassNamed(candidate->name);
    if (base == class_node) return nullptr;
    class_node = base;
  }
  return nullptr;
}

void TraceForward(const Scopes& scopes, const ModuleTypes& types, std::vector<RecurrentModule>* modules) {
  Tracer(scopes, types, modules).Run();
}

}  // namespace hone
