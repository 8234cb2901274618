// Declares mechanical fixes. A fix is one function that examines a finding and returns the edits that repair
// it, or none if there is more than one right answer. registry.cpp has the list, and analysis/mend.h applies
// the edits. A fix never searches text: positions come from the syntax tree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/candidate.h"
#include "analysis/finding.h"
#include "analysis/triton_signatures.h"

namespace hone {

struct FixRequest {
  const Candidate& candidate;
  const Finding& finding;
  const PyNode* node = nullptr;            // the outermost node with the range of the finding, or null
  const KernelProblem* problem = nullptr;  // the interpreter's problem at this place, or null
};

using FixEdits = std::vector<TextEdit>;

struct FixInfo {
  std::string_view rule;
  FixEdits (*make)(const FixRequest&);
  // Whether warnings are fixed too. Without it, only certain failures are.
  bool of_warnings = false;
};

std::span<const FixInfo> AllFixes();
// Whether a finding of the rule hides others, so that fixing it may reveal new errors elsewhere in the file.
bool HidesOthers(std::string_view rule);
// Gives every finding without edits those of the first applicable fix.
void OfferFixes(const Candidate& candidate, std::vector<Finding>* findings);

// Helpers (edits.cpp).
std::string Code(const Candidate& candidate, const PyNode* node);
// The code as an operand: in parentheses unless it is a name, a number, a call or the like.
std::string Operand(const Candidate& candidate, const PyNode* node);
// Replaces an expression by `text`, in parentheses unless the context needs none.
TextEdit ReplaceExpression(const Candidate& candidate, const PyNode* node, const std::string& text);
// Replaces an argument together with parentheses of its own.
TextEdit ReplaceInParentheses(const Candidate& candidate, const PyNode* argument, std::string text);
TextEdit Insert(uint32_t at, std::string text);
TextEdit RemoveArgument(const Candidate& candidate, const PyNode* argument);
// Adds `text` as the last argument of the call.
TextEdit AddArgument(const Candidate& candidate, const PyNode* call, std::string_view text);
// The signatures of the requested releases.
std::vector<CallSignature> WantedSignatures(const Candidate& candidate, std::string_view scope,
                                            std::string_view name);
// True if the expression contains no call, so that computing it twice is harmless and cheap.
bool IsPure(const PyNode* node);
// Sets the spaces and tabs before the statement. Returns false if it shares its line with another one.
bool IndentOf(const Candidate& candidate, uint32_t start, std::string* indent);
bool IsOneLine(const Candidate& candidate, const PyNode* node);
// Replaces the last part of an attribute, or a whole name.
TextEdit ReplaceName(const PyNode* node, std::string text);

// Adds a line before the first import. Returns false if that is impossible.
bool AddImport(const Candidate& candidate, std::string_view line, FixEdits* edits);
// The name under which the file imports the module, or "".
std::string ImportedAs(const Candidate& candidate, std::string_view module);
// The same, but imports it under `usual` if it is missing. "" if that name has another meaning.
std::string EnsureImported(const Candidate& candidate, std::string_view module, std::string_view usual,
                           std::string_view line, FixEdits* edits);
std::string EnsureLanguage(const Candidate& candidate, FixEdits* edits);
std::string EnsureLibdevice(const Candidate& candidate, FixEdits* edits);
std::string EnsureTriton(const Candidate& candidate, FixEdits* edits);

// The kernel that contains the node or whose launch contains it.
const Kernel* KernelAround(const Candidate& candidate, const PyNode* node);
const Launch* LaunchOf(const Candidate& candidate, const PyNode* call);

// The fixes, one file each.
FixEdits FixRenamedOp(const FixRequest& request);
FixEdits FixMissingImport(const FixRequest& request);
FixEdits FixConstexprGlobal(const FixRequest& request);
FixEdits FixConstexprParameter(const FixRequest& request);
FixEdits FixPowerOfTwoBlock(const FixRequest& request);
FixEdits FixPowerOfTwoRange(const FixRequest& request);
FixEdits FixLaunchArguments(const FixRequest& request);
FixEdits FixUnsupportedSyntax(const FixRequest& request);
FixEdits FixDecorators(const FixRequest& request);
FixEdits FixModelClassName(const FixRequest& request);
FixEdits FixPlainHelper(const FixRequest& request);
FixEdits FixDotTypes(const FixRequest& request);
FixEdits FixDotExtents(const FixRequest& request);
FixEdits FixBlockLayout(const FixRequest& request);
FixEdits FixLoopStart(const FixRequest& request);
FixEdits FixKeywordArguments(const FixRequest& request);
FixEdits FixShapeTuple(const FixRequest& request);
FixEdits FixCallArguments(const FixRequest& request);
FixEdits FixHostCall(const FixRequest& request);
FixEdits FixSyntax(const FixRequest& request);
FixEdits FixMissingMask(const FixRequest& request);
FixEdits FixDefinedMask(const FixRequest& request);
FixEdits FixElementCount(const FixRequest& request);
FixEdits FixWeightNames(const FixRequest& request);
FixEdits FixExtensionBinding(const FixRequest& request);
FixEdits FixExtensionApi(const FixRequest& request);

}  // namespace hone
