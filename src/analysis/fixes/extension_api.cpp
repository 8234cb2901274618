// Adds headers that a source of load_inline lacks, and updates old names of PyTorch's C++ interface.
#include "analysis/extension_problems.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

FixEdits AddInclude(const NameProblem& problem) {
  const ExtensionSource& source = *problem.source;
  const std::string line = "#include <" + std::string(problem.include) + ">";
  const SyntaxNode* root = source.unit->tree.root();
  for (const SyntaxNode* node = root->first_child; node != nullptr; node = node->next)
    if (node->Is("preproc_include") && source.triple)
      return {Insert(source.unit->OuterStart(node), line + "\n")};
  if (!source.triple) return {};
  const bool starts_a_line = StartsWith(*source.unit->text, "\n");
  return {Insert(source.start + (starts_a_line ? 1 : 0), line + "\n")};
}

}  // namespace

FixEdits FixExtensionApi(const FixRequest& request) {
  for (const ExtensionBuild& build : request.candidate.extensions)
    for (const NameProblem& problem : NameProblems(build)) {
      const CudaUnit& unit = *problem.source->unit;
      if (unit.OuterStart(problem.node) != request.finding.start ||
          problem.Words() != request.finding.message)
        continue;
      if (!problem.include.empty()) return AddInclude(problem);
      std::string text(problem.replacement);
      if (problem.node->text.front() == '<' || problem.node->text.front() == '"') text = "<" + text + ">";
      return {{unit.OuterStart(problem.node), unit.OuterEnd(problem.node), text}};
    }
  return {};
}

}  // namespace hone
