// Rewrites Python that Triton rejects in kernels into an equivalent: continue, chained comparisons, squares,
// a = b = c, `x if c else y` on a block, nested functions. It leaves out break, return in a loop and lists,
// whose replacement depends on the kernel.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// Indents every line of the statements by `by` more spaces. Makes no edits if that would change a string.
bool IndentLines(const Candidate& candidate, const PyNode* first, const PyNode* last, FixEdits* edits) {
  const uint32_t first_line = LineOf(candidate, first);
  const uint32_t last_line = candidate.source.PositionAt(last->end).line;
  std::string indent;
  if (!IndentOf(candidate, first->start, &indent)) return false;
  const std::string more = !indent.empty() && indent[0] == '\t' ? "\t" : "    ";
  for (uint32_t line = first_line; line <= last_line; ++line) {
    if (Trim(candidate.source.Line(line)).empty()) continue;
    edits->push_back(Insert(candidate.source.LineStart(line), more));
  }
  return true;
}

// if c: continue; rest  ->  if not (c): rest, if the rest is the remainder of the loop body and the branch
// does nothing else. Only then is the meaning certainly the same.
FixEdits RewriteContinue(const Candidate& candidate, const PyNode* node) {
  const PyNode* branch = node->parent;
  if (branch == nullptr || !branch->Is(PyKind::kIf) || branch->body.size() != 1 || !branch->orelse.empty())
    return {};
  const PyNode* loop = branch->parent;
  if (loop == nullptr || !(loop->Is(PyKind::kFor) || loop->Is(PyKind::kWhile)) || branch->test == nullptr)
    return {};
  size_t index = 0;
  while (index < loop->body.size() && loop->body[index] != branch) ++index;
  if (index + 1 >= loop->body.size()) return {};
  // A second continue in the rest would need the same rewrite first.
  bool nested = false;
  for (size_t i = index + 1; i < loop->body.size(); ++i)
    WalkPython(loop->body[i], [&](const PyNode* part) {
      nested =
          nested || part->Is(PyKind::kContinue) || part->Is(PyKind::kString) || part->Is(PyKind::kFString);
      return true;
    });
  if (nested) return {};
  FixEdits edits = {{branch->start, branch->end, fmt::format("if not ({}):", Code(candidate, branch->test))}};
  return IndentLines(candidate, loop->body[index + 1], loop->body.back(), &edits) ? edits : FixEdits();
}

// lo <= v < hi  ->  (lo <= v) & (v < hi)
FixEdits SplitComparison(const Candidate& candidate, const PyNode* node) {
  std::string text;
  const PyNode* left = node->left;
  for (size_t i = 0; i < node->args.size() && i < node->ops.size(); ++i) {
    if (left == nullptr || (i > 0 && !IsPure(left))) return {};
    text += fmt::format("{}({} {} {})", i == 0 ? "" : " & ", Operand(candidate, left), node->ops[i],
                        Operand(candidate, node->args[i]));
    left = node->args[i];
  }
  return {ReplaceExpression(candidate, node, text)};
}

// x ** 2  ->  x * x; x ** 0.5  ->  tl.sqrt(x)
FixEdits RewritePower(const Candidate& candidate, const PyNode* node) {
  const PyNode* base = node->left;
  const PyNode* exponent = node->right;
  if (base == nullptr || exponent == nullptr || !IsPure(base)) return {};
  FixEdits edits;
  if (exponent->Is(PyKind::kFloat) && exponent->number == 0.5) {
    const std::string language = EnsureLanguage(candidate, &edits);
    if (language.empty()) return {};
    edits.push_back({node->start, node->end, fmt::format("{}.sqrt({})", language, Code(candidate, base))});
    return edits;
  }
  int64_t times = exponent->Is(PyKind::kInt) && !exponent->big ? exponent->integer : 0;
  if (exponent->Is(PyKind::kFloat) && (exponent->number == 2.0 || exponent->number == 3.0))
    times = static_cast<int64_t>(exponent->number);
  if (times < 2 || times > 4) return {};
  std::string text = Operand(candidate, base);
  for (int64_t i = 1; i < times; ++i) text += " * " + Operand(candidate, base);
  return {ReplaceExpression(candidate, node, text)};
}

// a = b = value  ->  a = value; b = a
FixEdits SplitAssignment(const Candidate& candidate, const PyNode* node) {
  std::string indent;
  if (node->value == nullptr || !IndentOf(candidate, node->start, &indent)) return {};
  for (const PyNode* target : node->args)
    if (!target->Is(PyKind::kName)) return {};
  std::string text = fmt::format("{} = {}", node->args[0]->name, Code(candidate, node->value));
  for (size_t i = 1; i < node->args.size(); ++i)
    text += fmt::format("\n{}{} = {}", indent, node->args[i]->name, node->args[0]->name);
  return {{node->start, node->end, text}};
}

// True if the nested function uses only its own names and the module's, so that it can be moved outside the
// kernel.
bool IsClosed(const Candidate& candidate, const PyNode* function, const PyNode* kernel) {
  const Scopes& scopes = *candidate.python->scopes;
  bool closed = function->decorators.empty();
  WalkPython(function, [&](const PyNode* node) {
    if (!node->Is(PyKind::kName)) return closed;
    const PyNode* scope = nullptr;
    if (scopes.Find(node->name, node, &scope) != nullptr)
      closed = closed && (scope == scopes.module() || (scope != kernel && IsInside(scope, function)));
    return closed;
  });
  return closed;
}

// Moves a function out of the kernel and adds a jit decorator.
FixEdits HoistFunction(const Candidate& candidate, const PyNode* function) {
  const PyNode* kernel = EnclosingFunction(function);
  const Scopes& scopes = *candidate.python->scopes;
  if (kernel == nullptr || kernel->parent != scopes.module() || function->parent != kernel ||
      !IsClosed(candidate, function, kernel) || scopes.NamesIn(scopes.module()).count(function->name) != 0)
    return {};
  std::string indent;
  std::string kernel_indent;
  if (!IndentOf(candidate, function->start, &indent) || kernel->body.size() < 2) return {};
  uint32_t top = kernel->start;
  for (const PyNode* decorator : kernel->decorators) top = std::min(top, decorator->start);
  top = candidate.source.LineStart(candidate.source.PositionAt(top).line);
  FixEdits edits;
  const std::string triton = EnsureTriton(candidate, &edits);
  if (triton.empty()) return {};
  const uint32_t first = LineOf(candidate, function);
  const uint32_t last = candidate.source.PositionAt(function->end).line;
  if (last >= candidate.source.line_count()) return {};
  std::string text = fmt::format("@{}.jit\n", triton);
  for (uint32_t line = first; line <= last; ++line) {
    const std::string_view row = candidate.source.Line(line);
    if (!Trim(row).empty() && !StartsWith(row, indent)) return {};
    text += std::string(Trim(row).empty() ? row.substr(0, 0) : row.substr(indent.size())) + "\n";
  }
  edits.push_back(Insert(top, text + "\n\n"));
  edits.push_back({candidate.source.LineStart(first), candidate.source.LineStart(last + 1), ""});
  return edits;
}

// try: body  ->  body. Nothing raises inside a kernel.
FixEdits RemoveTry(const Candidate& candidate, const PyNode* node) {
  std::string indent;
  if (!IndentOf(candidate, node->start, &indent) || !node->finally.empty()) return {};
  std::string text;
  for (const std::vector<PyNode*>* block : {&node->body, &node->orelse})
    for (const PyNode* statement : *block) {
      if (!IsOneLine(candidate, statement)) return {};
      text += (text.empty() ? "" : "\n" + indent) + Code(candidate, statement);
    }
  if (text.empty()) return {};
  return {{node->start, node->end, text}};
}

// x if c else y  ->  tl.where(c, x, y), if c is a block.
FixEdits UseWhere(const Candidate& candidate, const PyNode* node) {
  if (!IsPure(node->left) || !IsPure(node->right)) return {};
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  edits.push_back({node->start, node->end,
                   fmt::format("{}.where({}, {}, {})", language, Code(candidate, node->test),
                               Code(candidate, node->left), Code(candidate, node->right))});
  return edits;
}

FixEdits RewriteOperator(const Candidate& candidate, const PyNode* node) {
  if (node->op == "**") return RewritePower(candidate, node);
  FixEdits edits;
  const std::string language = EnsureLanguage(candidate, &edits);
  if (language.empty()) return {};
  const std::string left = Code(candidate, node->left);
  const std::string right = Code(candidate, node->right);
  if (node->op == "@")
    edits.push_back({node->start, node->end, fmt::format("{}.dot({}, {})", language, left, right)});
  else if (node->op == "//")
    edits.push_back({node->start, node->end,
                     fmt::format("{}.floor({} / {})", language, Operand(candidate, node->left),
                                 Operand(candidate, node->right))});
  else
    return {};
  return edits;
}

}  // namespace

FixEdits FixUnsupportedSyntax(const FixRequest& request) {
  const PyNode* node = request.node;
  const Candidate& candidate = request.candidate;
  if (node == nullptr || request.problem == nullptr) return {};
  switch (node->kind) {
    case PyKind::kContinue:
      return RewriteContinue(candidate, node);
    case PyKind::kCompare:
      return node->args.size() > 1 ? SplitComparison(candidate, node) : FixEdits();
    case PyKind::kBinOp:
      return node->left != nullptr && node->right != nullptr ? RewriteOperator(candidate, node) : FixEdits();
    case PyKind::kAssign:
      return node->args.size() > 1 ? SplitAssignment(candidate, node) : FixEdits();
    case PyKind::kFunction:
      return HoistFunction(candidate, node);
    case PyKind::kTry:
      return RemoveTry(candidate, node);
    case PyKind::kIfExp:
      return UseWhere(candidate, node);
    case PyKind::kDelete:
      return {{node->start, node->end, "pass"}};
    default:
      break;
  }
  // for k in tl.static_range(n) with a run-time n: keeps the loop without unrolling.
  const PyNode* loop = node;
  while (loop != nullptr && !loop->Is(PyKind::kFor)) loop = loop->parent;
  const PyNode* iterated = loop != nullptr ? loop->value : nullptr;
  if (iterated != nullptr && iterated->Is(PyKind::kCall) && IsInside(node, iterated) &&
      candidate.python->scopes->Resolve(iterated->value) == "triton.language.static_range" &&
      iterated->keywords.empty())
    return {{iterated->value->start, iterated->value->end, "range"}};
  return {};
}

}  // namespace hone
