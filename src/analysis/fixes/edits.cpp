// Helpers of all fixes: the text of nodes, added and removed arguments, imports. See fix.h.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "analysis/usual_imports.h"
#include "base/text.h"

namespace hone {

namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The end of the code before `at`, without blanks and comments.
uint32_t SkipBack(const Candidate& candidate, uint32_t at) {
  const std::string_view text = candidate.source.text();
  const std::vector<PyComment>& comments = candidate.python->tree.comments;
  for (bool moved = true; moved;) {
    moved = false;
    while (at > 0 && IsBlank(text[at - 1])) --at;
    for (const PyComment& comment : comments) {
      if (comment.start + comment.text.size() != at || comment.text.empty()) continue;
      at = comment.start;
      moved = true;
    }
  }
  return at;
}

// The position for a new import line: before the first import that is not from __future__.
uint32_t ImportPosition(const Candidate& candidate) {
  const std::vector<PyNode*>& body = candidate.python->tree.module->body;
  for (const PyNode* statement : body) {
    if (statement->Is(PyKind::kImport)) return statement->start;
    if (statement->Is(PyKind::kImportFrom) && statement->name != "__future__") return statement->start;
  }
  for (const PyNode* statement : body) {
    const bool docstring = statement->Is(PyKind::kExprStmt) && statement->value != nullptr &&
                           statement->value->Is(PyKind::kString);
    if (!docstring && !statement->Is(PyKind::kImportFrom)) return statement->start;
  }
  return static_cast<uint32_t>(candidate.source.text().size());
}

}  // namespace

std::string Code(const Candidate& candidate, const PyNode* node) {
  return std::string(TextOf(candidate, node));
}

std::string Operand(const Candidate& candidate, const PyNode* node) {
  switch (node->kind) {
    case PyKind::kName:
    case PyKind::kInt:
    case PyKind::kFloat:
    case PyKind::kCall:
    case PyKind::kSubscript:
    case PyKind::kAttribute:
    case PyKind::kTrue:
    case PyKind::kFalse:
    case PyKind::kNone:
      return Code(candidate, node);
    default:
      return "(" + Code(candidate, node) + ")";
  }
}

namespace {

// True for f(...) or a.f(...): a name and one pair of parentheses around the rest.
bool IsOneCall(const std::string& text) {
  size_t at = 0;
  while (at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_' || text[at] == '.'))
    ++at;
  if (at == 0 || at >= text.size() || text[at] != '(' || text.find_first_of("\"'#") != std::string::npos)
    return false;
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1 == text.size();
  }
  return false;
}

}  // namespace

TextEdit ReplaceExpression(const Candidate& candidate, const PyNode* node, const std::string& text) {
  const std::string_view source = candidate.source.text();
  const bool enclosed = node->start > 0 && node->end < source.size() && source[node->start - 1] == '(' &&
                        source[node->end] == ')';
  const PyNode* parent = node->parent;
  const bool alone = parent != nullptr && (parent->Is(PyKind::kAssign) || parent->Is(PyKind::kAnnAssign) ||
                                           parent->Is(PyKind::kAugAssign) || parent->Is(PyKind::kReturn) ||
                                           parent->Is(PyKind::kKeyword) || parent->Is(PyKind::kExprStmt) ||
                                           parent->Is(PyKind::kIf) || parent->Is(PyKind::kWhile) ||
                                           (parent->Is(PyKind::kCall) && parent->value != node));
  return {node->start, node->end, enclosed || alone || IsOneCall(text) ? text : "(" + text + ")"};
}

TextEdit ReplaceInParentheses(const Candidate& candidate, const PyNode* argument, std::string text) {
  const std::string_view source = candidate.source.text();
  uint32_t start = argument->start;
  uint32_t end = argument->end;
  // The call's own pair encloses the argument too if there is no other one.
  const PyNode* call = argument->parent;
  while (call != nullptr && !call->Is(PyKind::kCall)) call = call->parent;
  while (call != nullptr && start > call->start + 1 && end + 1 < call->end && source[start - 1] == '(' &&
         source[end] == ')' && source[start - 2] != '_' &&
         std::isalnum(static_cast<unsigned char>(source[start - 2])) == 0) {
    --start;
    ++end;
  }
  return {start, end, std::move(text)};
}

TextEdit Insert(uint32_t at, std::string text) {
  return {at, at, std::move(text)};
}

// Removes "NAME=value, " with its comma.
TextEdit RemoveArgument(const Candidate& candidate, const PyNode* argument) {
  const std::string_view text = candidate.source.text();
  uint32_t start = argument->start;
  uint32_t end = argument->end;
  // Parentheses around the argument are not part of its node.
  while (start > 0 && end < text.size() && text[start - 1] == '(' && text[end] == ')' &&
         argument->parent != nullptr && start - 1 > argument->parent->start &&
         end + 1 < argument->parent->end && text[start - 2] != ')' && IsBlank(text[start - 2])) {
    --start;
    ++end;
  }
  uint32_t after = end;
  while (after < text.size() && (text[after] == ' ' || text[after] == '\t')) ++after;
  if (after < text.size() && text[after] == ',') {
    end = after + 1;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
    // If the argument has its own line, removes the line.
    uint32_t line_start = start;
    while (line_start > 0 && (text[line_start - 1] == ' ' || text[line_start - 1] == '\t')) --line_start;
    if (end < text.size() && text[end] == '\n' && line_start > 0 && text[line_start - 1] == '\n') {
      start = line_start;
      ++end;
    } else if (end < text.size() && (text[end] == '\n' || text[end] == '\r')) {
      while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t')) --start;
    }
  } else {
    const uint32_t before = SkipBack(candidate, start);
    if (before > 0 && text[before - 1] == ',') start = before - 1;
  }
  return {start, end, ""};
}

TextEdit AddArgument(const Candidate& candidate, const PyNode* call, std::string_view text) {
  const std::string_view source = candidate.source.text();
  const uint32_t at = SkipBack(candidate, call->end - 1);
  const char before = at > 0 ? source[at - 1] : '(';
  if (before == '(' && call->args.empty() && call->keywords.empty()) return Insert(at, std::string(text));
  return Insert(at, (before == ',' ? " " : ", ") + std::string(text));
}

bool IsPure(const PyNode* node) {
  bool pure = node != nullptr;
  WalkPython(node, [&](const PyNode* part) {
    switch (part->kind) {
      case PyKind::kName:
      case PyKind::kInt:
      case PyKind::kFloat:
      case PyKind::kTrue:
      case PyKind::kFalse:
      case PyKind::kNone:
      case PyKind::kAttribute:
      case PyKind::kSubscript:
      case PyKind::kSlice:
      case PyKind::kTuple:
      case PyKind::kBinOp:
      case PyKind::kUnaryOp:
      case PyKind::kCompare:
      case PyKind::kBoolOp:
        return pure;
      default:
        pure = false;
        return false;
    }
  });
  return pure;
}

bool IndentOf(const Candidate& candidate, uint32_t start, std::string* indent) {
  const std::string_view text = candidate.source.text();
  const uint32_t line_start = candidate.source.LineStart(candidate.source.PositionAt(start).line);
  *indent = std::string(text.substr(line_start, start - line_start));
  return std::all_of(indent->begin(), indent->end(), [](char c) { return c == ' ' || c == '\t'; });
}

bool IsOneLine(const Candidate& candidate, const PyNode* node) {
  return candidate.source.PositionAt(node->start).line == candidate.source.PositionAt(node->end).line;
}

TextEdit ReplaceName(const PyNode* node, std::string text) {
  const uint32_t size = static_cast<uint32_t>(node->name.size());
  return {node->end - size, node->end, std::move(text)};
}

bool AddImport(const Candidate& candidate, std::string_view line, FixEdits* edits) {
  const uint32_t at = ImportPosition(candidate);
  if (candidate.source.PositionAt(at).column != 1) return false;
  edits->push_back(Insert(at, std::string(line) + "\n"));
  return true;
}

std::string ImportedAs(const Candidate& candidate, std::string_view module) {
  const Scopes& scopes = *candidate.python->scopes;
  for (const auto& [name, bindings] : scopes.NamesIn(scopes.module())) {
    if (bindings.size() != 1 || !bindings.front().node->Is(PyKind::kAlias)) continue;
    const PyNode* alias = bindings.front().node;
    const PyNode* statement = alias->parent;
    std::string path(alias->name);
    if (statement != nullptr && statement->Is(PyKind::kImportFrom))
      path = std::string(statement->name) + "." + path;
    else if (alias->op.empty() && Contains(path, "."))
      continue;
    if (path == module && statement != nullptr && statement->parent == scopes.module())
      return std::string(name);
  }
  return "";
}

std::string EnsureImported(const Candidate& candidate, std::string_view module, std::string_view usual,
                           std::string_view line, FixEdits* edits) {
  std::string name = ImportedAs(candidate, module);
  if (!name.empty()) return name;
  const Scopes& scopes = *candidate.python->scopes;
  if (scopes.NamesIn(scopes.module()).count(usual) != 0) return "";
  if (!AddImport(candidate, line, edits)) return "";
  return std::string(usual);
}

std::string EnsureLanguage(const Candidate& candidate, FixEdits* edits) {
  return EnsureImported(candidate, "triton.language", "tl", UsualImport("tl"), edits);
}

std::string EnsureLibdevice(const Candidate& candidate, FixEdits* edits) {
  const std::string cuda = ImportedAs(candidate, "triton.language.extra.cuda.libdevice");
  if (!cuda.empty()) return cuda;
  return EnsureImported(candidate, "triton.language.extra.libdevice", "libdevice", UsualImport("libdevice"),
                        edits);
}

std::string EnsureTriton(const Candidate& candidate, FixEdits* edits) {
  return EnsureImported(candidate, "triton", "triton", UsualImport("triton"), edits);
}

const Kernel* KernelAround(const Candidate& candidate, const PyNode* node) {
  const Kernels& kernels = *candidate.python->kernels;
  for (const PyNode* at = EnclosingFunction(node); at != nullptr; at = EnclosingFunction(at))
    if (const Kernel* kernel = kernels.OfFunction(at)) return kernel;
  return nullptr;
}

const Launch* LaunchOf(const Candidate& candidate, const PyNode* call) {
  for (const auto& launch : candidate.python->kernels->launches())
    if (launch->call == call) return launch.get();
  return nullptr;
}

}  // namespace hone
