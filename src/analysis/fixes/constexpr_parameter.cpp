// Fixes a block extent that is an ordinary parameter of the kernel, or a name computed from such parameters:
// it becomes tl.constexpr. tl.arange(a, a + N) with a run-time start becomes a + tl.arange(0, N).
#include <fmt/format.h>

#include <set>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"

namespace hone {

namespace {

class Annotator {
 public:
  Annotator(const Candidate& candidate, const Kernel& kernel, std::string language, FixEdits* edits)
      : candidate_(candidate), kernel_(kernel), language_(std::move(language)), edits_(edits) {}

  // Whether every name of the expression can be known at compile time; adds the edits that make it so.
  bool Annotate(const PyNode* expression, int depth = 0) {
    bool possible = depth < 6;
    WalkPython(expression, [&](const PyNode* node) {
      if (!possible) return false;
      switch (node->kind) {
        case PyKind::kName:
          possible = AnnotateName(node, depth);
          return false;
        case PyKind::kCall: {
          const std::string callee = candidate_.python->scopes->Resolve(node->value);
          possible = callee == "triton.language.cdiv" || callee == "triton.cdiv" || callee == "min" ||
                     callee == "max" || callee == "triton.next_power_of_2";
          for (const PyNode* argument : node->args) possible = possible && Annotate(argument, depth + 1);
          return false;
        }
        case PyKind::kInt:
        case PyKind::kBinOp:
        case PyKind::kUnaryOp:
        case PyKind::kTuple:
        case PyKind::kList:
        case PyKind::kIfExp:
        case PyKind::kCompare:
          return true;
        default:
          possible = false;
          return false;
      }
    });
    return possible;
  }

 private:
  bool AnnotateName(const PyNode* name, int depth) {
    if (!seen_.insert(name->name).second) return true;
    const Scopes& scopes = *candidate_.python->scopes;
    const PyNode* scope = nullptr;
    const std::vector<Binding>* bindings = scopes.Find(name->name, name, &scope);
    if (bindings == nullptr) return false;
    if (scope != kernel_.function) return scope == scopes.module();
    if (bindings->size() != 1) return false;
    const PyNode* binding = bindings->front().node;
    if (binding->Is(PyKind::kParam)) {
      const KernelParam* param = kernel_.Param(name->name);
      if (param == nullptr || !binding->op.empty()) return false;
      if (param->is_constexpr) return true;
      const std::string annotation = ": " + language_ + ".constexpr";
      const uint32_t end = binding->start + static_cast<uint32_t>(binding->name.size());
      edits_->push_back({end, binding->annotation != nullptr ? binding->annotation->end : end, annotation});
      return true;
    }
    // In a loop or a branch the value may change.
    if (binding->parent != kernel_.function) return false;
    if (binding->Is(PyKind::kAnnAssign)) return Annotate(binding->value, depth + 1);
    if (!binding->Is(PyKind::kAssign) || binding->args.size() != 1 || !binding->args[0]->Is(PyKind::kName))
      return false;
    if (!Annotate(binding->value, depth + 1)) return false;
    edits_->push_back(Insert(binding->args[0]->end, ": " + language_ + ".constexpr"));
    return true;
  }

  const Candidate& candidate_;
  const Kernel& kernel_;
  std::string language_;
  FixEdits* edits_;
  std::set<std::string_view> seen_;
};

// tl.arange(a, a + N) -> a + tl.arange(0, N)
FixEdits MoveStart(const Candidate& candidate, const PyNode* call) {
  if (call->args.size() != 2 || !call->keywords.empty()) return {};
  const PyNode* start = call->args[0];
  const PyNode* end = call->args[1];
  if (!end->Is(PyKind::kBinOp) || end->op != "+" || !IsPure(start)) return {};
  if (Code(candidate, end->left) != Code(candidate, start)) return {};
  return {ReplaceExpression(candidate, call,
                            fmt::format("{} + {}(0, {})", Operand(candidate, start),
                                        Code(candidate, call->value), Code(candidate, end->right)))};
}

}  // namespace

FixEdits FixConstexprParameter(const FixRequest& request) {
  const PyNode* call = request.node;
  if (call == nullptr || request.problem == nullptr || !call->Is(PyKind::kCall)) return {};
  const Candidate& candidate = request.candidate;
  const Kernel* kernel = KernelAround(candidate, call);
  if (kernel == nullptr) return {};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  Annotator annotator(candidate, *kernel, language, &edits);
  const std::string callee = candidate.python->scopes->Resolve(call->value);
  std::vector<const PyNode*> extents;
  if (callee == "triton.language.arange") {
    if (FixEdits moved = MoveStart(candidate, call); !moved.empty()) return moved;
    extents.assign(call->args.begin(), call->args.end());
    for (const PyNode* keyword : call->keywords)
      if (keyword->name == "start" || keyword->name == "end") extents.push_back(keyword->value);
  } else if (const PyNode* shape = call->Keyword("shape")) {
    extents.push_back(shape);
  } else if (!call->args.empty()) {
    extents.push_back(call->args[callee == "triton.language.broadcast_to" && call->args.size() > 1 ? 1 : 0]);
  }
  for (const PyNode* extent : extents)
    if (!annotator.Annotate(extent)) return {};
  // With only the language's import among the edits, there was nothing to annotate.
  for (const TextEdit& edit : edits)
    if (edit.replacement.find(".constexpr") != std::string::npos) return edits;
  return {};
}

}  // namespace hone
