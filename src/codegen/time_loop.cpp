#include "codegen/time_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/inheritance.h"
#include "base/text.h"

namespace hone {

namespace {

// An expression of the loop's body, in terms of the step and the state.
struct Symbol {
  enum class Kind { kUnknown, kStep, kState, kCellState, kJoined, kLinear, kSum, kActivated, kCell, kPair };
  Kind kind = Kind::kUnknown;
  std::string name;           // layer path or activation
  std::vector<Symbol> parts;  // operands
  int64_t axis = 0;           // axis of an outer unsqueeze; -1000: none
};
constexpr int64_t kNoAxis = -1000;

std::optional<int64_t> Integer(const PyNode* node) {
  if (node == nullptr) return std::nullopt;
  if (node->Is(PyKind::kInt) && !node->big) return node->integer;
  if (node->Is(PyKind::kUnaryOp) && node->op == "-" && node->value->Is(PyKind::kInt))
    return -node->value->integer;
  return std::nullopt;
}

// The axis argument of calls such as torch.stack(list, dim=k).
int64_t Axis(const PyNode* call, size_t position) {
  const PyNode* given = call->Keyword("dim");
  if (given == nullptr) given = call->Keyword("axis");
  if (given == nullptr && call->args.size() > position) given = call->args[position];
  return given == nullptr ? 0 : Integer(given).value_or(kNoAxis);
}

bool IsFull(const PyNode* node) {
  return node->Is(PyKind::kSlice) && node->left == nullptr && node->right == nullptr;
}

// The forward of Model or of a base class in the same file.
const PyNode* FindForward(const Scopes& scopes) {
  for (const PyNode* type : LineageOf(scopes, scopes.ClassNamed("Model")).classes)
    for (const PyNode* member : type->body)
      if (member->Is(PyKind::kFunction) && member->name == "forward") return member;
  return nullptr;
}

class Finder {
 public:
  Finder(const Scopes& scopes, const LoopFacts& facts) : scopes_(scopes), facts_(facts) {}

  LoopAnswer Find() {
    LoopAnswer answer;
    forward_ = FindForward(scopes_);
    if (forward_ == nullptr || forward_->params.empty()) return answer;
    self_ = forward_->params[0]->name;
    std::vector<const PyNode*> loops;
    WalkPython(forward_, [&](const PyNode* node) {
      if (node->Is(PyKind::kFor) && WalksTime(node)) loops.push_back(node);
      return true;
    });
    if (loops.empty()) return answer;
    answer.there_is_a_loop = true;
    loop_ = loops[0];
    found_ = {};
    WalksTime(loop_);  // sets the members again, because another loop may have been examined last
    if (loops.size() > 1)
      why_not_ = "there is more than one loop over time";
    else if (loop_->parent != forward_)
      why_not_ = "the loop over time is inside another statement";
    else
      Read();
    if (why_not_.empty()) {
      found_.function = {forward_->start, forward_->end};
      found_.loop = {loop_->start, loop_->end};
      const PyNode* owner = EnclosingClass(forward_);
      found_.forward_owner = owner != nullptr ? std::string(owner->name) : "";
      answer.loop = found_;
    }
    answer.why_not = why_not_;
    return answer;
  }

 private:
  bool Fail(std::string reason) {
    if (why_not_.empty()) why_not_ = std::move(reason);
    return false;
  }

  // The last assignment to a name at the top level of forward, before the loop.
  const PyNode* ValueBefore(std::string_view name) const {
    const PyNode* found = nullptr;
    for (const PyNode* statement : forward_->body) {
      if (statement == loop_) break;
      if (statement->Is(PyKind::kAssign) && statement->args.size() == 1 && statement->args[0]->IsName(name))
        found = statement->value;
    }
    return found;
  }

  bool IsParameter(std::string_view name) const {
    return std::any_of(forward_->params.begin() + 1, forward_->params.end(),
                       [&](const PyNode* param) { return param->name == name; });
  }

  // Reads x.size(k), x.shape[k], len(x), or a name set from one of these: the axis and the name of x.
  bool ReadLength(const PyNode* node, std::string* sequence, int64_t* axis, int depth = 0) const {
    if (node == nullptr || depth > 4) return false;
    if (node->Is(PyKind::kCall) && node->value->Is(PyKind::kAttribute) && node->value->name == "size" &&
        node->value->value->Is(PyKind::kName) && node->args.size() == 1 && Integer(node->args[0])) {
      *sequence = node->value->value->name;
      *axis = *Integer(node->args[0]);
      return true;
    }
    if (node->Is(PyKind::kCall) && node->value->IsName("len") && node->args.size() == 1 &&
        node->args[0]->Is(PyKind::kName)) {
      *sequence = node->args[0]->name;
      *axis = 0;
      return true;
    }
    if (node->Is(PyKind::kSubscript) && node->value->Is(PyKind::kAttribute) && node->value->name == "shape" &&
        node->value->value->Is(PyKind::kName) && Integer(node->target)) {
      *sequence = node->value->value->name;
      *axis = *Integer(node->target);
      return true;
    }
    if (!node->Is(PyKind::kName)) return false;
    for (const PyNode* statement : forward_->body) {
      if (!statement->Is(PyKind::kAssign) || statement->args.size() != 1) continue;
      const PyNode* target = statement->args[0];
      if (target->IsName(node->name)) return ReadLength(statement->value, sequence, axis, depth + 1);
      if (!target->Is(PyKind::kTuple)) continue;
      for (size_t i = 0; i < target->args.size(); ++i) {
        if (!target->args[i]->IsName(node->name)) continue;
        const PyNode* value = statement->value;
        const bool shape = value->Is(PyKind::kAttribute) && value->name == "shape";
        const bool size = value->Is(PyKind::kCall) && value->args.empty() &&
                          value->value->Is(PyKind::kAttribute) && value->value->name == "size";
        const PyNode* owner = shape ? value->value : size ? value->value->value : nullptr;
        if (owner == nullptr || !owner->Is(PyKind::kName)) return false;
        *sequence = owner->name;
        *axis = static_cast<int64_t>(i);
        return true;
      }
    }
    return false;
  }

  bool WalksTime(const PyNode* loop) {
    const PyNode* over = loop->value;
    const PyNode* target = loop->target;
    step_name_ = index_name_ = {};
    if (over->Is(PyKind::kCall) && over->value->IsName("range") && over->args.size() == 1 &&
        target->Is(PyKind::kName)) {
      index_name_ = target->name;
      found_.loop_variable = target->name;
      return ReadLength(over->args[0], &found_.sequence, &found_.time_axis);
    }
    if (over->Is(PyKind::kCall) && over->value->IsName("enumerate") && over->args.size() == 1 &&
        target->Is(PyKind::kTuple) && target->args.size() == 2) {
      over = over->args[0];
      target = target->args[1];
    }
    if (!target->Is(PyKind::kName)) return false;
    step_name_ = target->name;
    found_.loop_variable = target->name;
    if (over->Is(PyKind::kName) && IsParameter(over->name)) {
      found_.sequence = over->name;
      found_.time_axis = 0;
      return true;
    }
    if (!over->Is(PyKind::kCall) || !over->value->Is(PyKind::kAttribute) || over->value->name != "unbind")
      return false;
    const bool function = over->value->value->IsName("torch");
    const PyNode* owner = function ? (over->args.empty() ? nullptr : over->args[0]) : over->value->value;
    if (owner == nullptr || !owner->Is(PyKind::kName)) return false;
    found_.sequence = owner->name;
    found_.time_axis = Axis(over, function ? 1 : 0);
    return true;
  }

  bool IsSelf(const PyNode* node) const { return node->IsName(self_); }

  // "i2h" for self.i2h, "" otherwise.
  std::string OwnAttribute(const PyNode* node) const {
    const std::string dotted = DottedName(node);
    const std::string prefix = std::string(self_) + ".";
    return StartsWith(dotted, prefix) ? dotted.substr(prefix.size()) : "";
  }

  static std::string StateName(const PyNode* target) { return DottedName(target); }

  // Reading

  bool Read() {
    if (found_.time_axis != 0 && found_.time_axis != 1)
      return Fail(fmt::format("time is axis {} of {}", found_.time_axis, found_.sequence));
    if (!IsParameter(found_.sequence) && ValueBefore(found_.sequence) == nullptr)
      return Fail("the loop does not walk over an input");
    if (!loop_->orelse.empty()) return Fail("the loop has an else branch");
    if (!FindStates()) return false;
    for (const PyNode* statement : loop_->body)
      if (!ReadStatement(statement)) return false;
    return ReadNewState() && ReadOutputs() && NothingElseLeaves() && ReadInitialState() && CheckShapes();
  }

  // Helper names of the body and the loop variable must not be read after the loop.
  bool NothingElseLeaves() {
    std::string leaving;
    WalkPython(forward_, [&](const PyNode* node) {
      if (node == loop_) return false;
      if (!node->Is(PyKind::kName) || node->start < loop_->end) return true;
      const std::string name(node->name);
      const bool own = name == found_.loop_variable || name == index_name_ || values_.count(name) != 0;
      if (own && std::find(carried_.begin(), carried_.end(), name) == carried_.end()) leaving = name;
      return true;
    });
    return leaving.empty() || Fail("'" + leaving + "' of the loop's body is read after the loop");
  }

  // Finds names that the body sets and reads from the previous step, that is, reads before they are set.
  bool FindStates() {
    std::vector<std::string> set;
    std::vector<std::string> carried;
    const auto read = [&](const PyNode* expression) {
      WalkPython(expression, [&](const PyNode* node) {
        if (!node->Is(PyKind::kName) && !node->Is(PyKind::kAttribute)) return true;
        const std::string name = DottedName(node);
        if (name.empty()) return true;
        if (std::find(set.begin(), set.end(), name) == set.end()) seen_.push_back(name);
        return true;
      });
    };
    for (const PyNode* statement : loop_->body) {
      if (!statement->Is(PyKind::kAssign) || statement->args.size() != 1) {
        read(statement);
        continue;
      }
      read(statement->value);
      const PyNode* target = statement->args[0];
      std::vector<const PyNode*> targets = {target};
      if (target->Is(PyKind::kTuple)) targets.assign(target->args.begin(), target->args.end());
      for (const PyNode* part : targets) set.push_back(StateName(part));
    }
    for (const std::string& name : set)
      if (!name.empty() && std::find(seen_.begin(), seen_.end(), name) != seen_.end() &&
          std::find(carried.begin(), carried.end(), name) == carried.end())
        carried.push_back(name);
    if (carried.empty()) return Fail("no state is carried from step to step");
    if (carried.size() > 2) return Fail("more than two names are carried from step to step");
    carried_ = carried;
    Symbol state;
    state.kind = Symbol::Kind::kState;
    state.axis = kNoAxis;
    for (const std::string& name : carried) {
      values_[name] = state;
      values_[name].name = name;
    }
    if (!step_name_.empty()) {
      Symbol step;
      step.kind = Symbol::Kind::kStep;
      step.axis = kNoAxis;
      values_[std::string(step_name_)] = step;
    }
    return true;
  }

  bool ReadStatement(const PyNode* statement) {
    if (statement->Is(PyKind::kAssign) && statement->args.size() == 1) {
      const PyNode* target = statement->args[0];
      const Symbol value = Eval(statement->value);
      if (target->Is(PyKind::kTuple)) {
        if (value.kind != Symbol::Kind::kCell || target->args.size() != 2)
          return Fail("the body unpacks something that is not an LSTMCell's state");
        for (size_t i = 0; i < 2; ++i) {
          Symbol part = value;
          part.kind = i == 0 ? Symbol::Kind::kCell : Symbol::Kind::kCellState;
          values_[StateName(target->args[i])] = part;
        }
        return true;
      }
      const std::string name = StateName(target);
      if (name.empty()) return Fail("the body assigns to something that is not a name");
      values_[name] = value;
      return true;
    }
    const PyNode* call = statement->Is(PyKind::kExprStmt) ? statement->value : nullptr;
    if (call != nullptr && call->Is(PyKind::kCall) && call->value->Is(PyKind::kAttribute) &&
        call->value->name == "append" && call->value->value->Is(PyKind::kName) && call->args.size() == 1) {
      if (!found_.outputs.empty()) return Fail("the body appends to more than one list");
      found_.outputs = call->value->value->name;
      appended_ = Eval(call->args[0]);
      // A value appended before the new state is set would be the old state.
      appended_after_state_ = true;
      for (const std::string& name : carried_)
        appended_after_state_ = appended_after_state_ && values_[name].kind != Symbol::Kind::kState;
      return true;
    }
    if (statement->Is(PyKind::kPass)) return true;
    if (call != nullptr && call->Is(PyKind::kString)) return true;
    return Fail("the body holds a statement that is neither an assignment nor an append");
  }

  Symbol Make(Symbol::Kind kind, std::string name = "", std::vector<Symbol> parts = {}) const {
    Symbol symbol;
    symbol.kind = kind;
    symbol.name = std::move(name);
    symbol.parts = std::move(parts);
    symbol.axis = kNoAxis;
    return symbol;
  }

  bool IsStep(const PyNode* node) const {
    if (!node->Is(PyKind::kSubscript) || !node->value->IsName(found_.sequence) || index_name_.empty())
      return false;
    std::vector<const PyNode*> parts = {node->target};
    if (node->target->Is(PyKind::kTuple)) parts.assign(node->target->args.begin(), node->target->args.end());
    const auto axis = static_cast<size_t>(found_.time_axis);
    if (axis >= parts.size() || !parts[axis]->IsName(index_name_)) return false;
    for (size_t i = 0; i < parts.size(); ++i)
      if (i != axis && !IsFull(parts[i])) return false;
    return true;
  }

  Symbol Eval(const PyNode* node) {
    const std::string dotted = DottedName(node);
    if (!dotted.empty()) {
      const auto known = values_.find(dotted);
      return known != values_.end() ? known->second : Make(Symbol::Kind::kUnknown);
    }
    if (IsStep(node)) return Make(Symbol::Kind::kStep);
    if (node->Is(PyKind::kBinOp) && node->op == "+")
      return Make(Symbol::Kind::kSum, "", {Eval(node->left), Eval(node->right)});
    if (node->Is(PyKind::kTuple)) {
      Symbol pair = Make(Symbol::Kind::kPair);
      for (const PyNode* part : node->args) pair.parts.push_back(Eval(part));
      return pair;
    }
    if (!node->Is(PyKind::kCall)) return Make(Symbol::Kind::kUnknown);
    return EvalCall(node);
  }

  Symbol EvalCall(const PyNode* call) {
    const std::string attribute = OwnAttribute(call->value);
    if (!attribute.empty()) {
      if (call->args.empty()) return Make(Symbol::Kind::kUnknown);
      for (const RecurrentModule& module : *facts_.modules)
        if (module.path == attribute && module.cell) {
          if (call->args.size() != 2 || !call->keywords.empty()) return Make(Symbol::Kind::kUnknown);
          return Make(Symbol::Kind::kCell, attribute, {Eval(call->args[0]), Eval(call->args[1])});
        }
      const auto type = facts_.types.find(attribute);
      const std::string kind = type != facts_.types.end() ? type->second : "";
      if (call->args.size() != 1) return Make(Symbol::Kind::kUnknown);
      if (kind == "Tanh" || kind == "ReLU")
        return Make(Symbol::Kind::kActivated, kind == "Tanh" ? "tanh" : "relu", {Eval(call->args[0])});
      if (kind == "Linear" && facts_.linears.count(attribute) != 0)
        return Make(Symbol::Kind::kLinear, attribute, {Eval(call->args[0])});
      // Dropout has no effect in eval mode, Identity never has one.
      if (kind == "Identity") return Eval(call->args[0]);
      return Make(Symbol::Kind::kUnknown);
    }
    const std::string name = scopes_.Resolve(call->value);
    if ((name == "torch.cat" || name == "torch.concat" || name == "torch.hstack") && !call->args.empty() &&
        (call->args[0]->Is(PyKind::kTuple) || call->args[0]->Is(PyKind::kList)) &&
        call->args[0]->args.size() == 2) {
      const int64_t axis = name == "torch.hstack" ? 1 : Axis(call, 1);
      if (axis != 1 && axis != -1) return Make(Symbol::Kind::kUnknown);
      return Make(Symbol::Kind::kJoined, "", {Eval(call->args[0]->args[0]), Eval(call->args[0]->args[1])});
    }
    for (const char* activation : {"tanh", "relu"})
      if (call->args.size() == 1 && (name == std::string("torch.") + activation ||
                                     name == std::string("torch.nn.functional.") + activation))
        return Make(Symbol::Kind::kActivated, activation, {Eval(call->args[0])});
    if (name == "torch.select" && call->args.size() == 3 && call->args[0]->IsName(found_.sequence) &&
        Integer(call->args[1]) == found_.time_axis && call->args[2]->IsName(index_name_))
      return Make(Symbol::Kind::kStep);
    if (!call->value->Is(PyKind::kAttribute)) return Make(Symbol::Kind::kUnknown);
    const PyNode* owner = call->value->value;
    const std::string_view method = call->value->name;
    if ((method == "tanh" || method == "relu") && call->args.empty())
      return Make(Symbol::Kind::kActivated, std::string(method), {Eval(owner)});
    if (method == "select" && owner->IsName(found_.sequence) && call->args.size() == 2 &&
        Integer(call->args[0]) == found_.time_axis && call->args[1]->IsName(index_name_))
      return Make(Symbol::Kind::kStep);
    if (method == "contiguous" && call->args.empty()) return Eval(owner);
    if (method == "unsqueeze" && call->args.size() == 1 && Integer(call->args[0])) {
      Symbol value = Eval(owner);
      value.axis = *Integer(call->args[0]);
      return value;
    }
    return Make(Symbol::Kind::kUnknown);
  }

  static bool Is(const Symbol& symbol, Symbol::Kind kind) {
    return symbol.kind == kind && symbol.axis == kNoAxis;
  }

  bool ReadNewState() {
    // The state is the name whose new value is an activation or a cell. An LSTMCell also has c.
    std::string state;
    for (const std::string& name : carried_) {
      if (Is(values_[name], Symbol::Kind::kCellState))
        found_.cell_state = name;
      else if (state.empty())
        state = name;
      else
        return Fail("more than one state is carried from step to step");
    }
    if (state.empty()) return Fail("no hidden state is carried from step to step");
    found_.state = state;
    found_.state_attribute = StartsWith(state, std::string(self_) + ".");
    const Symbol& next = values_[state];
    const auto is_state = [&](const Symbol& symbol, const std::string& name) {
      return Is(symbol, Symbol::Kind::kState) && symbol.name == name;
    };
    if (Is(next, Symbol::Kind::kCell)) {
      found_.form = "cell";
      found_.input_layer = next.name;
      if (!Is(next.parts[0], Symbol::Kind::kStep)) return Fail("the cell's input is not the step itself");
      const Symbol& given = next.parts[1];
      const bool lstm = Is(given, Symbol::Kind::kPair) && given.parts.size() == 2 &&
                        is_state(given.parts[0], state) && is_state(given.parts[1], found_.cell_state);
      if (!lstm && !(found_.cell_state.empty() && is_state(given, state)))
        return Fail("the cell does not get the state of the step before");
      return true;
    }
    if (!found_.cell_state.empty()) return Fail("the two states are not an LSTMCell's");
    if (!Is(next, Symbol::Kind::kActivated))
      return Fail("the new state is not tanh or relu of a Linear, nor an nn.*Cell");
    found_.activation = next.name;
    const Symbol& inner = next.parts[0];
    if (Is(inner, Symbol::Kind::kLinear) && Is(inner.parts[0], Symbol::Kind::kJoined)) {
      found_.form = "joined";
      found_.input_layer = inner.name;
      const Symbol& joined = inner.parts[0];
      found_.state_first = is_state(joined.parts[0], state) && Is(joined.parts[1], Symbol::Kind::kStep);
      if (!found_.state_first &&
          !(Is(joined.parts[0], Symbol::Kind::kStep) && is_state(joined.parts[1], state)))
        return Fail("what is joined is not the step and the state");
      return true;
    }
    if (Is(inner, Symbol::Kind::kSum) && Is(inner.parts[0], Symbol::Kind::kLinear) &&
        Is(inner.parts[1], Symbol::Kind::kLinear)) {
      found_.form = "split";
      for (const Symbol& linear : inner.parts) {
        if (Is(linear.parts[0], Symbol::Kind::kStep))
          found_.input_layer = linear.name;
        else if (is_state(linear.parts[0], state))
          found_.hidden_layer = linear.name;
      }
      if (found_.input_layer.empty() || found_.hidden_layer.empty())
        return Fail("the two Linears are not of the step and of the state");
      return true;
    }
    return Fail("the activation is not of a Linear on the step and the state");
  }

  static bool Equal(const Symbol& a, const Symbol& b) {
    return a.kind == b.kind && a.name == b.name &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), Equal);
  }

  bool SameAsNewState(const Symbol& symbol) const { return Equal(symbol, values_.at(found_.state)); }

  bool ReadOutputs() {
    if (found_.outputs.empty()) return true;
    if (!appended_after_state_) return Fail("what is appended is not the new state");
    if (SameAsNewState(appended_)) {
      found_.output_layer.clear();
    } else if (appended_.kind == Symbol::Kind::kLinear && SameAsNewState(appended_.parts[0]) &&
               appended_.parts[0].axis == kNoAxis) {
      found_.output_layer = appended_.name;
    } else {
      return Fail("what is appended is neither the new state nor a Linear of it");
    }
    return ReadUsesOfOutputs();
  }

  // The list may only be created empty before the loop and stacked after it.
  bool ReadUsesOfOutputs() {
    bool fine = true;
    std::optional<int64_t> axis;
    WalkPython(forward_, [&](const PyNode* node) {
      if (node == loop_) return false;
      if (!node->IsName(found_.outputs)) return true;
      const PyNode* parent = node->parent;
      if (parent->Is(PyKind::kAssign) && parent->args.size() == 1 && parent->args[0] == node &&
          parent->value->Is(PyKind::kList) && parent->value->args.empty() && parent->parent == forward_ &&
          parent->start < loop_->start && !found_.list_init) {
        found_.list_init = TimeLoop::Range{parent->start, parent->end};
        return true;
      }
      const std::string callee = parent->Is(PyKind::kCall) ? scopes_.Resolve(parent->value) : "";
      const bool stacked = callee == "torch.stack" && appended_.axis == kNoAxis;
      const bool joined = (callee == "torch.cat" || callee == "torch.concat") && appended_.axis != kNoAxis;
      if ((!stacked && !joined) || parent->args.empty() || parent->args[0] != node ||
          parent->start < loop_->end) {
        fine = false;
        return true;
      }
      const int64_t at = Axis(parent, 1);
      if ((joined && at != appended_.axis) || (axis.has_value() && *axis != at)) fine = false;
      axis = at;
      found_.stacks.push_back({parent->start, parent->end});
      return true;
    });
    if (!fine || !axis.has_value() || !found_.list_init)
      return Fail("the list of outputs is used for something else than one torch.stack");
    if (*axis != 0 && *axis != 1) return Fail(fmt::format("the outputs are stacked along axis {}", *axis));
    found_.stack_axis = *axis;
    return true;
  }

  bool ReadInitialState() {
    if (found_.state_attribute) {
      found_.state_source.attribute = true;
      return true;
    }
    const PyNode* value = ValueBefore(found_.state);
    for (int depth = 0; value != nullptr && depth < 4; ++depth) {
      if (value->Is(PyKind::kName) && ValueBefore(value->name) != nullptr) {
        value = ValueBefore(value->name);
        continue;
      }
      break;
    }
    if (value == nullptr) {
      found_.state_source.caller = IsParameter(found_.state);
      if (!found_.state_source.caller) found_.state_source.other = true;
      return true;
    }
    bool parameter = false;
    WalkPython(value, [&](const PyNode* node) {
      if (node->Is(PyKind::kName) && node->name != found_.sequence)
        parameter = parameter || IsParameter(node->name);
      return true;
    });
    const std::string callee = value->Is(PyKind::kCall) ? DottedName(value->value) : "";
    const std::string made =
        callee.substr(callee.rfind('.') == std::string::npos ? 0 : callee.rfind('.') + 1);
    if (made == "zeros" || made == "new_zeros" || made == "zeros_like")
      found_.state_source.zeros = true;
    else if (made == "randn" || made == "rand")
      found_.state_source.drawn = true;
    else if (parameter)
      found_.state_source.caller = true;
    else if (StartsWith(DottedName(value), std::string(self_) + ".") ||
             StartsWith(callee, std::string(self_) + "."))
      found_.state_source.attribute = true;
    else
      found_.state_source.other = true;
    return true;
  }

  bool CheckShapes() {
    if (found_.form == "cell") {
      for (const RecurrentModule& module : *facts_.modules)
        if (module.path == found_.input_layer) {
          found_.input_size = module.input_size;
          found_.hidden_size = module.hidden_size;
          found_.bias = module.bias;
          if (module.kind == "RNN") found_.activation = module.nonlinearity;
        }
    } else {
      const LinearFacts& first = facts_.linears.at(found_.input_layer);
      found_.hidden_size = first.out_features;
      found_.bias = first.bias;
      found_.input_size = first.in_features;
      if (found_.form == "joined") found_.input_size -= first.out_features;
      if (found_.form == "split" && facts_.linears.at(found_.hidden_layer).in_features != found_.hidden_size)
        return Fail("the state's Linear is not square");
    }
    if (found_.hidden_size <= 0 || found_.input_size <= 0)
      return Fail("the layer's shapes do not fit a recurrence");
    found_.output_size = found_.hidden_size;
    if (!found_.output_layer.empty()) {
      const LinearFacts& head = facts_.linears.at(found_.output_layer);
      if (head.in_features != found_.hidden_size) return Fail("the output layer does not read the state");
      found_.output_size = head.out_features;
    }
    return true;
  }

  const Scopes& scopes_;
  const LoopFacts& facts_;
  const PyNode* forward_ = nullptr;
  const PyNode* loop_ = nullptr;
  std::string_view self_;
  std::string_view index_name_;  // t of `for t in range(...)`
  std::string_view step_name_;   // x_t of `for x_t in x`
  std::vector<std::string> seen_;
  std::vector<std::string> carried_;
  std::map<std::string, Symbol> values_;
  Symbol appended_;
  bool appended_after_state_ = false;
  TimeLoop found_;
  std::string why_not_;
};

}  // namespace

LoopAnswer FindTimeLoop(const Scopes& scopes, const LoopFacts& facts) {
  return Finder(scopes, facts).Find();
}

}  // namespace hone
