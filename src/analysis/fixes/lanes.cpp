#include "analysis/fixes/lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr int kLongestChain = 12;
constexpr int kMostUses = 2000;

std::string LanguageCallee(const Candidate& candidate, const PyNode* call) {
  const std::string dotted = candidate.python->scopes->Resolve(call->value);
  return StartsWith(dotted, "triton.language.") ? dotted.substr(16) : "";
}

}  // namespace

const PyNode* Lanes::Definition(const PyNode* name) const {
  const PyNode* scope = nullptr;
  const std::vector<Binding>* bindings = candidate_.python->scopes->Find(name->name, name, &scope);
  if (bindings == nullptr || scope != kernel_.function || bindings->size() != 1) return nullptr;
  return bindings->front().node->Is(PyKind::kParam) ? nullptr : bindings->front().value;
}

bool Lanes::Vary(const PyNode* expression) const {
  bool vary = false;
  WalkPython(expression, [&](const PyNode* node) {
    if (node->Is(PyKind::kCall)) vary = vary || LanguageCallee(candidate_, node) == "arange";
    if (vary || !node->Is(PyKind::kName)) return !vary;
    const PyNode* scope = nullptr;
    const std::vector<Binding>* bindings = candidate_.python->scopes->Find(node->name, node, &scope);
    if (bindings == nullptr || scope != kernel_.function) return true;
    // A name that is computed from itself adds nothing to itself.
    const auto [known, is_new] = varying_.try_emplace(node->name, false);
    for (size_t i = 0; is_new && i < bindings->size() && !known->second; ++i) {
      const Binding& one = (*bindings)[i];
      const PyNode* value = one.value != nullptr ? one.value : one.node->value;
      if (!one.node->Is(PyKind::kParam) && !one.node->Is(PyKind::kFor) && value != nullptr)
        known->second = Vary(value);
    }
    vary = known->second;
    return !vary;
  });
  return vary;
}

std::set<std::string_view> Lanes::VaryingNames(const PyNode* expression) const {
  std::set<std::string_view> out;
  WalkPython(expression, [&](const PyNode* node) {
    if (node->Is(PyKind::kName) && Vary(node)) out.insert(node->name);
    return true;
  });
  return out;
}

bool Lanes::HarmlessName(const PyNode* target, Idle idle, int depth) const {
  if (!target->Is(PyKind::kName) || Definition(target) == nullptr) return false;
  bool harmless = true;
  WalkPython(kernel_.function, [&](const PyNode* node) {
    if (harmless && node != target && node->IsName(target->name)) harmless = Harmless(node, idle, depth + 1);
    return harmless;
  });
  return harmless;
}

// Follows a value to where it is used. Elementwise operations keep lanes apart; a store under the same mask
// drops the idle ones; a reduction mixes them in.
bool Lanes::Harmless(const PyNode* value, Idle idle, int depth) const {
  const PyNode* use = value->parent;
  if (use == nullptr || depth > kLongestChain || ++steps_ > kMostUses) return false;
  switch (use->kind) {
    case PyKind::kAssign:
      return use->args.size() == 1 && HarmlessName(use->args[0], idle, depth);
    case PyKind::kAnnAssign:
      return HarmlessName(use->target, idle, depth);
    case PyKind::kUnaryOp:
      return Harmless(use, use->op == "-" && idle == Idle::kZero ? idle : Idle::kAny, depth + 1);
    case PyKind::kBinOp: {
      const bool left = use->left == value;
      Idle next = Idle::kAny;
      if (idle == Idle::kZero && (use->op == "*" || (use->op == "/" && left))) next = idle;
      if (idle == Idle::kLowest && use->op == "-" && left) next = idle;
      return Harmless(use, next, depth + 1);
    }
    case PyKind::kCompare:
      return Harmless(use, Idle::kAny, depth + 1);
    case PyKind::kAttribute: {
      const PyNode* call = use->parent;
      if (use->value != value || call == nullptr || !call->Is(PyKind::kCall) || call->value != use)
        return false;
      return use->name == "to" && Harmless(call, idle, depth + 1);
    }
    case PyKind::kKeyword:
    case PyKind::kCall:
      break;
    default:
      return false;
  }
  const PyNode* call = use->Is(PyKind::kKeyword) ? use->parent : use;
  const std::string name = LanguageCallee(candidate_, call);
  const bool first = !call->args.empty() && call->args[0] == value;
  if (name == "store") return call->args.size() > 1 && call->args[1] == value;
  if (name == "sum") return first && idle == Idle::kZero;
  if (name == "max") return first && idle == Idle::kLowest;
  if (name == "exp" || name == "exp2")
    return Harmless(call, idle == Idle::kLowest ? Idle::kZero : Idle::kAny, depth + 1);
  if (name == "abs" || name == "sqrt")
    return Harmless(call, idle == Idle::kZero ? idle : Idle::kAny, depth + 1);
  static const std::set<std::string_view> kElementwise = {
      "where", "maximum", "minimum", "log",   "log2", "sigmoid", "sin",    "cos",  "erf",
      "rsqrt", "floor",   "ceil",    "clamp", "fma",  "cast",    "div_rn", "fdiv", "sqrt_rn"};
  const bool library =
      StartsWith(candidate_.python->scopes->Resolve(call->value), "triton.language.extra.") ||
      StartsWith(name, "math.");
  if (!library && kElementwise.count(name) == 0) return false;
  return Harmless(call, Idle::kAny, depth + 1);
}

std::optional<std::string> Lanes::Fallback(const PyNode* load) const {
  if (Harmless(load, Idle::kAny, 0)) return "";
  if (Harmless(load, Idle::kZero, 0)) return "0.0";
  if (Harmless(load, Idle::kLowest, 0)) return "-float(\"inf\")";
  return std::nullopt;
}

const PyNode* UnmaskedCall(const FixRequest& request, bool* is_load) {
  const PyNode* call = request.node;
  if (call == nullptr || !call->Is(PyKind::kCall) || call->args.empty()) return nullptr;
  const std::string name = LanguageCallee(request.candidate, call);
  if (name != "load" && name != "store") return nullptr;
  *is_load = name == "load";
  if (call->args.size() != (*is_load ? 1u : 2u) || call->Keyword("mask") != nullptr ||
      call->Keyword("boundary_check") != nullptr)
    return nullptr;
  // A keyword that is unknown may be the mask under another name.
  const CallShape shape = ShapeOfCall(call, false);
  if (shape.hidden) return nullptr;
  for (const CallSignature& signature : WantedSignatures(request.candidate, "triton.language", name))
    if (BindCall(signature, shape)) return nullptr;
  return call;
}

FixEdits AddMask(const Candidate& candidate, const Kernel& kernel, const PyNode* call, bool is_load,
                 const std::string& mask) {
  std::string other;
  if (is_load && call->Keyword("other") == nullptr) {
    const std::optional<std::string> fallback = Lanes(candidate, kernel).Fallback(call);
    if (!fallback.has_value()) return {};
    if (!fallback->empty()) other = ", other=" + *fallback;
  }
  return {AddArgument(candidate, call, fmt::format("mask={}{}", mask, other))};
}

}  // namespace hone
