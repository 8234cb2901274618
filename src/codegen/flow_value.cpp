#include "codegen/flow_value.h"

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

bool IsFullSlice(const PyNode* node) {
  return node->Is(PyKind::kSlice) && node->left == nullptr && node->right == nullptr && node->test == nullptr;
}

bool IsMinusOne(const PyNode* node) {
  if (node->Is(PyKind::kUnaryOp) && node->op == "-")
    return node->value->Is(PyKind::kInt) && node->value->integer == 1;
  // `-1:` keeps the axis and reads the same step.
  return node->Is(PyKind::kSlice) && node->left != nullptr && node->right == nullptr &&
         node->test == nullptr && !node->left->Is(PyKind::kSlice) && IsMinusOne(node->left);
}

// An index before the time axis that keeps the axes after it where they are.
bool IsPlainAxis(const PyNode* node) {
  return IsFullSlice(node) || node->Is(PyKind::kInt);
}

bool Below(const std::string& path, const std::string& ancestor) {
  return ancestor.empty() || path == ancestor || StartsWith(path, ancestor + ".");
}

void Mark(Output output, OutputsUsed* outputs) {
  switch (output) {
    case Output::kSequence:
      outputs->sequence = outputs->last_step = true;
      break;
    case Output::kLast:
      outputs->last_step = true;
      break;
    case Output::kHidden:
      outputs->h_n = true;
      break;
    case Output::kCell:
      outputs->c_n = true;
      break;
  }
}

}  // namespace

void MergeSources(StateSource* into, const StateSource& from) {
  into->zeros |= from.zeros;
  into->caller |= from.caller;
  into->attribute |= from.attribute;
  into->drawn |= from.drawn;
  into->other |= from.other;
}

FlowValue FlowValues::ModuleValue(std::string path) {
  FlowValue value;
  value.kind = FlowValue::Kind::kModule;
  value.path = std::move(path);
  return value;
}

FlowValue FlowValues::Belonging(FlowValue::Kind kind, const FlowValue& from) {
  FlowValue value;
  value.kind = kind;
  value.module = from.module;
  value.needs = from.needs;
  value.origin.other = true;
  return value;
}

Dependences FlowValues::All(const FlowValue& value) const {
  Dependences all = value.needs;
  const auto add = [&](Output output) {
    all.insert({value.module, output});
    Mark(output, &modules_[value.module].touched);
  };
  const bool lstm = value.module < modules_.size() && modules_[value.module].kind == "LSTM";
  switch (value.kind) {
    case FlowValue::Kind::kResult:
      add(Output::kSequence);
      add(Output::kHidden);
      if (lstm) add(Output::kCell);
      break;
    case FlowValue::Kind::kSequence:
      add(Output::kSequence);
      break;
    case FlowValue::Kind::kLast:
      add(Output::kLast);
      break;
    case FlowValue::Kind::kState:
      add(Output::kHidden);
      if (lstm) add(Output::kCell);
      break;
    case FlowValue::Kind::kHidden:
      add(Output::kHidden);
      break;
    case FlowValue::Kind::kCell:
      add(Output::kCell);
      break;
    case FlowValue::Kind::kTuple:
      for (const FlowValue& element : value.elements) all.merge(All(element));
      break;
    case FlowValue::Kind::kModule:
      // A module handed to something unknown may be called there.
      for (size_t i = 0; i < modules_.size(); ++i)
        if (Below(modules_[i].path, value.path)) lost_.insert(i);
      break;
    case FlowValue::Kind::kPlain:
      break;
  }
  return all;
}

FlowValue FlowValues::Plain(std::initializer_list<const FlowValue*> parts) const {
  FlowValue value;
  value.origin.other = true;
  for (const FlowValue* part : parts) {
    value.needs.merge(All(*part));
    value.packed |= part->packed;
  }
  return value;
}

FlowValue FlowValues::Together(const FlowArguments& arguments) const {
  FlowValue value;
  value.origin.other = true;
  for (const FlowValue& argument : arguments.positional) {
    value.needs.merge(All(argument));
    value.packed |= argument.packed;
  }
  for (const auto& [name, argument] : arguments.named) value.needs.merge(All(argument));
  return value;
}

void FlowValues::Use(const FlowValue& value) {
  if (value.kind == FlowValue::Kind::kModule) return;
  for (const Dependence& need : All(value)) Mark(need.output, &modules_[need.module].used);
}

void FlowValues::TouchLightly(const FlowValue& value) {
  if (value.kind == FlowValue::Kind::kSequence || value.kind == FlowValue::Kind::kLast)
    Mark(Output::kLast, &modules_[value.module].touched);
  else if (value.kind != FlowValue::Kind::kModule)
    All(value);
}

FlowValue FlowValues::Join(const FlowValue& a, const FlowValue& b) const {
  FlowValue joined;
  if (a.kind == b.kind && a.module == b.module && a.path == b.path &&
      a.elements.size() == b.elements.size()) {
    joined = a;
    for (size_t i = 0; i < a.elements.size(); ++i) joined.elements[i] = Join(a.elements[i], b.elements[i]);
    joined.needs.insert(b.needs.begin(), b.needs.end());
  } else {
    joined.needs = All(a);
    joined.needs.merge(All(b));
  }
  joined.origin = a.origin;
  MergeSources(&joined.origin, b.origin);
  joined.packed = a.packed || b.packed;
  return joined;
}

FlowNames FlowValues::JoinNames(const FlowNames& a, const FlowNames& b) const {
  FlowNames joined = a;
  for (const auto& [name, value] : b) {
    const auto found = joined.find(name);
    if (found == joined.end())
      joined.emplace(name, value);
    else
      found->second = Join(found->second, value);
  }
  return joined;
}

FlowValue FlowValues::Element(const FlowValue& value, int64_t i, size_t count) const {
  const auto size = static_cast<int64_t>(value.kind == FlowValue::Kind::kTuple ? value.elements.size() : 2);
  const int64_t at = i < 0 ? i + size : i;
  const bool lstm = value.module < modules_.size() && modules_[value.module].kind == "LSTM";
  switch (value.kind) {
    case FlowValue::Kind::kTuple:
      if (at >= 0 && at < size) return value.elements[static_cast<size_t>(at)];
      break;
    case FlowValue::Kind::kResult:
      if (at == 0) return Belonging(FlowValue::Kind::kSequence, value);
      if (at == 1) return Belonging(lstm ? FlowValue::Kind::kState : FlowValue::Kind::kHidden, value);
      break;
    case FlowValue::Kind::kState:
      if (at == 0) return Belonging(FlowValue::Kind::kHidden, value);
      if (at == 1) return Belonging(FlowValue::Kind::kCell, value);
      break;
    default:
      break;
  }
  FlowValue plain = Plain({&value});
  // Parts of what the caller gave (h0, c0 = state) are the caller's.
  if (count != 0) plain.origin = value.origin;
  return plain;
}

bool FlowValues::TakesLastStep(const RecurrentModule& module, const PyNode* index) {
  std::vector<const PyNode*> parts = {index};
  if (index->Is(PyKind::kTuple)) parts.assign(index->args.begin(), index->args.end());
  const size_t time = module.unbatched() || !module.batch_first ? 0 : 1;
  const size_t dims = module.unbatched() ? 2 : 3;
  if (module.input_shape.empty()) return false;
  if (!parts.empty() && parts[0]->Is(PyKind::kEllipsis)) {
    const size_t skipped = dims + 1 - std::min(parts.size(), dims + 1);
    std::vector<const PyNode*> rest(parts.begin() + 1, parts.end());
    return skipped <= time && time - skipped < rest.size() && IsMinusOne(rest[time - skipped]);
  }
  return time < parts.size() && IsMinusOne(parts[time]) &&
         std::all_of(parts.begin(), parts.begin() + static_cast<long>(time), IsPlainAxis);
}

}  // namespace hone
