// How a mechanical fix is made: one function that looks at a finding and returns the edits that mend it, or
// none when there is more than one right answer. The list is registry.cpp; what applies the edits is
// analysis/mend.h. A fix never searches text: positions come from the syntax tree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/candidate.h"
#include "analysis/finding.h"

namespace hone {

struct FixRequest {
  const Candidate& candidate;
  const Finding& finding;
  const PyNode* node = nullptr;            // the outermost node with the range of the finding, or null
  const KernelProblem* problem = nullptr;  // what the interpreter met there, or null
};

using FixEdits = std::vector<TextEdit>;

struct FixInfo {
  std::string_view rule;
  FixEdits (*make)(const FixRequest&);
  // Whether warnings are mended too. Without it only what certainly fails is touched.
  bool of_warnings = false;
};

std::span<const FixInfo> AllFixes();
// Whether a finding of the rule hides others, so that mending it may bring up new errors elsewhere in the
// file.
bool HidesOthers(std::string_view rule);
// Gives every finding that has no edits yet those of the first fix that knows an answer.
void OfferFixes(const Candidate& candidate, std::vector<Finding>* findings);

// Helpers (edits.cpp).
std::string Code(const Candidate& candidate, const PyNode* node);
// As an operand: in parentheses unless it is a name, a number, a call or the like.
std::string Operand(const Candidate& candidate, const PyNode* node);
// `text` in place of an expression: in parentheses unless the place needs none.
TextEdit ReplaceExpression(const Candidate& candidate, const PyNode* node, const std::string& text);
TextEdit Insert(uint32_t at, std::string text);
TextEdit RemoveArgument(const Candidate& candidate, const PyNode* argument);
// Adds `text` as the last argument of the call.
TextEdit AddArgument(const Candidate& candidate, const PyNode* call, std::string_view text);
// Computing it twice gives the same value and costs nothing that matters: no call in it.
bool IsPure(const PyNode* node);
// Spaces and tabs before the statement; nullptr-like "\n" when it shares its line with another.
bool IndentOf(const Candidate& candidate, uint32_t start, std::string* indent);
bool IsOneLine(const Candidate& candidate, const PyNode* node);
// The last word of an attribute or the whole of a name.
TextEdit ReplaceName(const PyNode* node, std::string text);

// A line before the first import. False where there is no place for one.
bool AddImport(const Candidate& candidate, std::string_view line, FixEdits* edits);
// The name under which the file imports the module, or "".
std::string ImportedAs(const Candidate& candidate, std::string_view module);
// The same, and imports it under `usual` where it is not. "" when that name means something else already.
std::string EnsureImported(const Candidate& candidate, std::string_view module, std::string_view usual,
                           std::string_view line, FixEdits* edits);
std::string EnsureLanguage(const Candidate& candidate, FixEdits* edits);
std::string EnsureLibdevice(const Candidate& candidate, FixEdits* edits);
std::string EnsureTriton(const Candidate& candidate, FixEdits* edits);

// The launch or kernel that the node belongs to.
const Kernel* KernelAround(const Candidate& candidate, const PyNode* node);
const Launch* LaunchOf(const Candidate& candidate, const PyNode* call);

// The fixes, one file each.
FixEdits FixRenamedOp(const FixRequest& request);
FixEdits FixMissingImport(const FixRequest& request);
FixEdits FixConstexprGlobal(const FixRequest& request);
FixEdits FixConstexprParameter(const FixRequest& request);
FixEdits FixPowerOfTwoBlock(const FixRequest& request);
FixEdits FixLaunchArguments(const FixRequest& request);
FixEdits FixUnsupportedSyntax(const FixRequest& request);
FixEdits FixDecorators(const FixRequest& request);
FixEdits FixModelClassName(const FixRequest& request);
FixEdits FixPlainHelper(const FixRequest& request);
FixEdits FixDotTypes(const FixRequest& request);
FixEdits FixDotExtents(const FixRequest& request);
FixEdits FixBlockLayout(const FixRequest& request);
FixEdits FixLoopStart(const FixRequest& request);
FixEdits FixCallArguments(const FixRequest& request);
FixEdits FixHostCall(const FixRequest& request);
FixEdits FixSyntax(const FixRequest& request);
FixEdits FixMissingMask(const FixRequest& request);
FixEdits FixWeightNames(const FixRequest& request);
FixEdits FixExtensionBinding(const FixRequest& request);
FixEdits FixExtensionApi(const FixRequest& request);

}  // namespace hone
