// Removes the Markdown fences of a model's reply that was saved as a whole, and adds a missing colon to a
// header.
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

bool IsFence(std::string_view line) {
  return StartsWith(Trim(line), "```");
}

// Text outside the fences is prose if none of its lines begins like a definition or an import.
bool IsProse(const SourceText& source, uint32_t first, uint32_t end) {
  for (uint32_t line = first; line < end; ++line)
    for (std::string_view start : {"import ", "from ", "def ", "class ", "@"})
      if (StartsWith(source.Line(line), start)) return false;
  return true;
}

FixEdits RemoveFences(const SourceText& source) {
  std::vector<uint32_t> fences;
  for (uint32_t line = 1; line <= source.line_count(); ++line)
    if (IsFence(source.Line(line))) fences.push_back(line);
  if (fences.empty()) return {};
  const uint32_t past = source.line_count() + 1;
  const uint32_t all = static_cast<uint32_t>(source.text().size());
  const auto start_of = [&](uint32_t line) { return line >= past ? all : source.LineStart(line); };
  if (fences.size() == 1) {
    // The fence was either never closed or never opened.
    if (IsProse(source, 1, fences[0])) return {{0, start_of(fences[0] + 1), ""}};
    if (IsProse(source, fences[0] + 1, past)) return {{start_of(fences[0]), all, ""}};
    return {{start_of(fences[0]), start_of(fences[0] + 1), ""}};
  }
  if (fences.size() == 2 && IsProse(source, 1, fences[0]) && IsProse(source, fences[1] + 1, past))
    return {{0, start_of(fences[0] + 1), ""}, {start_of(fences[1]), all, ""}};
  return {};
}

}  // namespace

FixEdits FixSyntax(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  if (FixEdits edits = RemoveFences(candidate.source); !edits.empty()) return edits;
  const SyntaxNode* error = candidate.python->syntax.first_error();
  if (error == nullptr || !error->missing || error->type != ":") return {};
  return {Insert(error->start, ":")};
}

}  // namespace hone
