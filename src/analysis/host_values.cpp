#include "analysis/host_values.h"

#include <algorithm>

namespace hone {

Constant HostValues::Eval(const PyNode* expression, int depth) const {
  if (expression == nullptr || depth > kMaxDepth || --steps_left_ < 0) return {};
  switch (expression->kind) {
    case PyKind::kInt:
      return expression->big ? Constant() : Constant::Int(expression->integer);
    case PyKind::kFloat:
      return Constant::Float(expression->number);
    case PyKind::kTrue:
      return Constant::Bool(true);
    case PyKind::kFalse:
      return Constant::Bool(false);
    case PyKind::kNone:
      return Constant::None();
    case PyKind::kString:
      return Constant::String(expression->string);
    case PyKind::kName:
      return EvalName(expression, depth);
    case PyKind::kAttribute:
      return EvalAttribute(expression, depth);
    case PyKind::kCall:
      return EvalCall(expression, depth);
    case PyKind::kSubscript:
      return EvalSubscript(expression, depth);
    case PyKind::kBinOp:
      return FoldBinary(expression->op, Eval(expression->left, depth + 1),
                        Eval(expression->right, depth + 1));
    case PyKind::kUnaryOp:
      return FoldUnary(expression->op, Eval(expression->value, depth + 1));
    case PyKind::kCompare:
      if (expression->args.size() != 1 || expression->ops.size() != 1) return {};
      return FoldCompare(expression->ops[0], Eval(expression->left, depth + 1),
                         Eval(expression->args[0], depth + 1));
    case PyKind::kBoolOp: {
      Constant last;
      for (const PyNode* part : expression->args) {
        last = Eval(part, depth + 1);
        if (!last.known()) return {};
        if (last.truthy() == (expression->op == "or")) return last;
      }
      return last;
    }
    case PyKind::kIfExp: {
      const Constant test = Eval(expression->test, depth + 1);
      if (test.known()) return Eval(test.truthy() ? expression->left : expression->right, depth + 1);
      const Constant then = Eval(expression->left, depth + 1);
      return then.known() && then == Eval(expression->right, depth + 1) ? then : Constant();
    }
    case PyKind::kTuple:
    case PyKind::kList: {
      if (expression->args.size() > 64) return {};
      std::vector<Constant> items;
      for (const PyNode* item : expression->args) items.push_back(Eval(item, depth + 1));
      return Constant::Sequence(std::move(items));
    }
    case PyKind::kDict: {
      Constant out;
      out.kind = Constant::Kind::kDict;
      for (size_t i = 0; i < expression->args.size() && i < expression->keys.size(); ++i) {
        if (expression->keys[i] == nullptr) return {};
        const Constant key = Eval(expression->keys[i], depth + 1);
        if (!key.known()) return {};
        out.keys.push_back(key.kind == Constant::Kind::kString ? key.string : key.Text());
        out.items.push_back(Eval(expression->args[i], depth + 1));
      }
      return out;
    }
    default:
      return {};
  }
}

Constant HostValues::EvalBindings(const std::vector<Binding>& bindings, int depth) const {
  Constant common;
  for (const Binding& binding : bindings) {
    Constant value;
    if (binding.node->Is(PyKind::kParam))
      value = EvalParameter(binding.node, depth + 1);
    else
      value = Eval(binding.value, depth + 1);
    if (!value.known()) return {};
    if (common.known() && !(common == value)) return {};
    common = value;
  }
  return common;
}

// The bindings that may be in effect at `use`: the last unconditional one hides earlier ones.
std::vector<Binding> HostValues::Reaching(const std::vector<Binding>& bindings, const PyNode* use) const {
  const auto encloses = [&](const PyNode* statement) {
    const PyNode* owner = statement->parent;
    if (owner == nullptr) return false;
    for (const std::vector<PyNode*>* block : {&owner->body, &owner->orelse}) {
      if (std::find(block->begin(), block->end(), statement) == block->end()) continue;
      for (const PyNode* at = use; at != nullptr && at != owner; at = at->parent)
        if (at->parent == owner) return std::find(block->begin(), block->end(), at) != block->end();
    }
    return false;
  };
  const PyNode* last = nullptr;
  for (const Binding& binding : bindings)
    if (binding.node->Is(PyKind::kAssign) && binding.node->end <= use->start && encloses(binding.node))
      last = binding.node;
  if (last == nullptr) return bindings;
  bool in_loop = false;
  for (const PyNode* at = use; at != nullptr && !at->Is(PyKind::kFunction); at = at->parent)
    in_loop = in_loop || at->Is(PyKind::kFor) || at->Is(PyKind::kWhile);
  std::vector<Binding> out;
  for (const Binding& binding : bindings) {
    const bool hidden = binding.node != last && binding.node->start < last->start;
    const bool later = binding.node->start > use->start && !in_loop;
    if (!hidden && !later) out.push_back(binding);
  }
  return out;
}

Constant HostValues::EvalName(const PyNode* name, int depth) const {
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = scopes_.Find(name->name, name, &scope);
  if (bindings == nullptr) return {};
  // Order matters only between statements in the scope of the use.
  const bool same_scope = scope == scopes_.ScopeOf(name) && bindings->size() > 1;
  return EvalBindings(same_scope ? Reaching(*bindings, name) : *bindings, depth);
}

Constant HostValues::EvalParameter(const PyNode* param, int depth) const {
  if (depth > kMaxDepth || !param->op.empty() || param->name == "self") return {};
  const PyNode* function = param->parent;
  if (function == nullptr || !function->Is(PyKind::kFunction)) return {};
  if (function->name == "__init__" && function->parent != nullptr && function->parent->Is(PyKind::kClass) &&
      (function->parent->name == "ModelNew" || function->parent->name == "Model")) {
    const auto it = init_arguments_.find(std::string(param->name));
    return it == init_arguments_.end() ? Constant() : it->second;
  }
  if (function->name == "forward" || !function->decorators.empty()) return {};
  // Without a ModelNew the file is a library that other files may call.
  if (scopes_.ClassNamed("ModelNew") == nullptr) return {};
  size_t index = 0;
  while (index < function->params.size() && function->params[index] != param) ++index;
  const bool method = !function->params.empty() && function->params[0]->name == "self";
  if (method) --index;

  steps_left_ -= static_cast<int>(scopes_.calls().size() / 16);
  Constant common;
  int seen = 0;
  for (const PyNode* call : scopes_.calls()) {
    const PyNode* callee = call->value;
    if (callee == nullptr) continue;
    const bool by_name = callee->IsName(function->name);
    const bool by_attribute = callee->Is(PyKind::kAttribute) && callee->name == function->name;
    if (method ? !by_attribute : !(by_name || by_attribute)) continue;
    for (const PyNode* argument : call->args)
      if (argument->Is(PyKind::kStarred)) return {};
    for (const PyNode* keyword : call->keywords)
      if (keyword->name.empty()) return {};
    const PyNode* passed = call->Keyword(param->name);
    if (passed == nullptr && index < call->args.size()) passed = call->args[index];
    if (passed == nullptr) passed = param->value;
    if (passed == nullptr) return {};
    const Constant value = Eval(passed, depth + 2);
    if (!value.known() || (common.known() && !(common == value))) return {};
    common = value;
    ++seen;
  }
  return seen > 0 ? common : Constant();
}

Constant HostValues::EvalAttribute(const PyNode* attribute, int depth) const {
  const PyNode* object = attribute->value;
  if (scopes_.Resolve(attribute) == "math.pi") return Constant::Float(3.141592653589793);
  if (object == nullptr || !object->IsName("self")) return {};
  const PyNode* owner = EnclosingClass(attribute);
  if (owner == nullptr) return {};
  const std::vector<Binding> bindings = scopes_.AttributeBindings(owner, attribute->name);
  return bindings.empty() ? Constant() : EvalBindings(bindings, depth);
}

Constant HostValues::EvalCall(const PyNode* call, int depth) const {
  if (call->value == nullptr) return {};
  std::string function = scopes_.Resolve(call->value);
  if (call->value->Is(PyKind::kAttribute) && call->value->name == "get" && !call->args.empty()) {
    const Constant table = Eval(call->value->value, depth + 1);
    const Constant key = Eval(call->args[0], depth + 1);
    if (table.kind != Constant::Kind::kDict || !key.known()) return {};
    const Constant* item = table.Lookup(key.kind == Constant::Kind::kString ? key.string : key.Text());
    if (item != nullptr) return *item;
    return call->args.size() > 1 ? Eval(call->args[1], depth + 1) : Constant::None();
  }
  if (function == "dict" && call->args.empty()) {
    Constant out;
    out.kind = Constant::Kind::kDict;
    for (const PyNode* keyword : call->keywords) {
      if (keyword->name.empty()) return {};
      out.keys.emplace_back(keyword->name);
      out.items.push_back(Eval(keyword->value, depth + 1));
    }
    return out;
  }
  if (call->value->Is(PyKind::kName)) {
    // A function of the file that only returns an expression. All its calls determine its parameters.
    const std::vector<const PyNode*> own = scopes_.FunctionsNamed(call->value->name);
    if (own.size() == 1 && own[0]->decorators.empty() && own[0]->body.size() <= 2 && !own[0]->body.empty() &&
        own[0]->body.back()->Is(PyKind::kReturn))
      return Eval(own[0]->body.back()->value, depth + 2);
  }
  const bool constexpr_wrapper = function == "triton.language.constexpr";
  if (constexpr_wrapper && call->args.size() == 1) return Eval(call->args[0], depth + 1);
  if (!call->keywords.empty() || call->args.size() > 8) return {};
  std::vector<Constant> args;
  for (const PyNode* argument : call->args) {
    if (argument->Is(PyKind::kStarred)) return {};
    args.push_back(Eval(argument, depth + 1));
  }
  return FoldCall(function, args);
}

Constant HostValues::EvalSubscript(const PyNode* subscript, int depth) const {
  const Constant container = Eval(subscript->value, depth + 1);
  if (!container.known()) return {};
  const Constant index = Eval(subscript->target, depth + 1);
  if (!index.known()) return {};
  if (container.kind == Constant::Kind::kDict) {
    const Constant* item =
        container.Lookup(index.kind == Constant::Kind::kString ? index.string : index.Text());
    return item != nullptr ? *item : Constant();
  }
  if (container.kind == Constant::Kind::kSequence && index.is_int()) {
    int64_t at = index.integer;
    const auto size = static_cast<int64_t>(container.items.size());
    if (at < 0) at += size;
    if (at >= 0 && at < size) return container.items[static_cast<size_t>(at)];
  }
  return {};
}

}  // namespace hone
