// The list of fixes by rule, and the selection of a fix for a finding.
#include <algorithm>

#include "analysis/fixes/fix.h"

namespace hone {

namespace {

constexpr FixInfo kFixes[] = {
    {"syntax", FixSyntax},
    {"missing-modelnew", FixModelClassName},
    {"unknown-triton-op", FixRenamedOp},
    {"host-called-from-jit", FixRenamedOp},
    {"host-called-from-jit", FixPlainHelper},
    {"name-not-defined", FixMissingImport},
    {"name-not-defined", FixConstexprGlobal},
    {"name-not-defined", FixRenamedOp},
    {"arange-not-constexpr", FixConstexprParameter},
    {"arange-not-power-of-two", FixPowerOfTwoBlock},
    {"arange-not-power-of-two", FixPowerOfTwoRange},
    {"unsupported-statement", FixUnsupportedSyntax},
    {"jit-called-from-host", FixHostCall},
    {"bad-call-arguments", FixShapeTuple},
    {"bad-call-arguments", FixKeywordArguments},
    {"bad-call-arguments", FixCallArguments},
    {"missing-launch-argument", FixLaunchArguments},
    {"unknown-launch-argument", FixLaunchArguments},
    {"duplicate-launch-argument", FixLaunchArguments},
    {"autotune-redefined", FixLaunchArguments},
    {"bad-decorator-argument", FixDecorators},
    {"incompatible-block-shapes", FixDotTypes},
    {"incompatible-block-shapes", FixDotExtents},
    {"incompatible-block-shapes", FixBlockLayout},
    {"incompatible-block-shapes", FixLoopStart},
    {"unmasked-access", FixMissingMask, true},
    {"unmasked-access", FixDefinedMask, true},
    {"unmasked-access", FixElementCount, true},
    {"weights-not-transferable", FixWeightNames, true},
    {"extension-binding", FixExtensionBinding},
    {"extension-api", FixExtensionApi},
};

struct RuleOfKind {
  ProblemKind kind;
  std::string_view rule;
};
constexpr RuleOfKind kRules[] = {
    {ProblemKind::kArangeNotConstexpr, "arange-not-constexpr"},
    {ProblemKind::kArangeNotPowerOfTwo, "arange-not-power-of-two"},
    {ProblemKind::kUnsupported, "unsupported-statement"},
    {ProblemKind::kUndefinedName, "name-not-defined"},
    {ProblemKind::kUnknownOp, "unknown-triton-op"},
    {ProblemKind::kHostCall, "host-called-from-jit"},
    {ProblemKind::kShapeMismatch, "incompatible-block-shapes"},
    {ProblemKind::kBadCall, "bad-call-arguments"},
};

const KernelProblem* ProblemOf(const Candidate& candidate, const Finding& finding) {
  const auto* const row = std::find_if(std::begin(kRules), std::end(kRules),
                                       [&](const RuleOfKind& one) { return one.rule == finding.rule; });
  if (row == std::end(kRules)) return nullptr;
  for (const KernelTrace& trace : candidate.python->traces)
    for (const KernelProblem& problem : trace.problems)
      if (problem.kind == row->kind && problem.node->start == finding.start &&
          problem.node->end == finding.end)
        return &problem;
  return nullptr;
}

const PyNode* NodeAt(const PyNode* module, uint32_t start, uint32_t end) {
  const PyNode* found = nullptr;
  WalkPython(module, [&](const PyNode* node) {
    if (found != nullptr) return false;
    // Decorators come before the definition that owns them.
    const bool around = node->start <= start && node->end >= end;
    if (!around) return !node->decorators.empty();
    if (node->start == start && node->end == end && node != module && !node->Is(PyKind::kExprStmt))
      found = node;
    return found == nullptr;
  });
  return found;
}

}  // namespace

std::span<const FixInfo> AllFixes() {
  return kFixes;
}

bool HidesOthers(std::string_view rule) {
  return rule == "syntax" || rule == "missing-modelnew" || rule == "name-not-defined" ||
         rule == "bad-decorator-argument" || rule == "extension-binding" || rule == "extension-api";
}

void OfferFixes(const Candidate& candidate, std::vector<Finding>* findings) {
  if (candidate.python == nullptr || candidate.python->tree.module == nullptr) return;
  for (Finding& finding : *findings) {
    if (!finding.edits.empty()) continue;
    FixRequest request{candidate, finding, nullptr, nullptr};
    bool looked_up = false;
    for (const FixInfo& fix : kFixes) {
      if (fix.rule != finding.rule || (finding.severity != Severity::kError && !fix.of_warnings)) continue;
      if (!looked_up) {
        request.problem = ProblemOf(candidate, finding);
        request.node = request.problem != nullptr
                           ? request.problem->node
                           : NodeAt(candidate.python->tree.module, finding.start, finding.end);
        looked_up = true;
      }
      finding.edits = fix.make(request);
      if (!finding.edits.empty()) break;
    }
  }
}

}  // namespace hone
