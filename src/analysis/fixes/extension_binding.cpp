// Makes the bindings of load_inline match the definitions: adds or corrects declarations in cpp_sources, adds
// names to functions=, removes one of two bindings, moves sources to the right argument.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/extension_problems.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

using Kind = BindingProblem::Kind;

// "torch::Tensor f(torch::Tensor x);" on one line. Empty if it cannot be part of every string and source.
std::string DeclarationOf(const CppFunction* function) {
  if (function == nullptr || !function->plain) return "";
  std::string line;
  for (const char c : function->signature)
    if (c != '\n' && c != '\r' && c != '\t')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  std::string tight;
  for (const char c : line)
    if (c != ' ' || (!tight.empty() && tight.back() != ' ')) tight += c;
  if (tight.find_first_of("\"'\\") != std::string::npos || Contains(tight, "//") || Contains(tight, "/*"))
    return "";
  return tight + ";";
}

std::vector<std::string> NamesOf(const std::vector<ExtensionName>& names) {
  std::vector<std::string> out;
  for (const ExtensionName& one : names)
    if (std::find(out.begin(), out.end(), one.name) == out.end()) out.push_back(one.name);
  return out;
}

// Prints "..." for one string, [...] for several.
std::string PythonList(const std::vector<std::string>& texts, bool one_as_string) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back("\"" + text + "\"");
  return one_as_string && quoted.size() == 1 ? quoted[0] : "[" + Join(quoted, ", ") + "]";
}

// The value of cpp_sources for functions that the other source defines. Empty if the host compiler could not
// see one of the definitions.
std::string Declarations(const ExtensionBuild& build, bool device) {
  const bool own = build.BindingSource() != nullptr;
  if (own) return "\"\"";
  if (build.functions != nullptr && build.names_at == nullptr) return "";
  std::vector<std::string> lines;
  for (const std::string& name : NamesOf(build.functions != nullptr ? build.names : build.called)) {
    const std::string line = DeclarationOf(build.Definition(name, device));
    if (line.empty()) return "";
    lines.push_back(line);
  }
  return lines.empty() ? "" : PythonList(lines, true);
}

FixEdits Declare(const ExtensionBuild& build, const BindingProblem& problem) {
  const std::string line = DeclarationOf(problem.definition);
  if (line.empty() || build.cpp.texts.empty()) return {};
  const ExtensionSource& source = build.cpp.texts.back();
  const std::string_view text = *source.unit->text;
  if (text.empty()) return {Insert(source.end, line)};
  if (source.triple) return {Insert(source.end, (text.back() == '\n' ? "" : "\n") + line + "\n")};
  // After a comment or a directive only a line break ends the line.
  if (!source.raw) return {Insert(source.end, "\\n" + line)};
  return Contains(text, "//") || Contains(text, "#") ? FixEdits{} : FixEdits{Insert(source.end, " " + line)};
}

// Declares it as it is defined, if Python calls it that way.
FixEdits Redeclare(const ExtensionBuild& build, const BindingProblem& problem) {
  const std::string line = DeclarationOf(problem.definition);
  bool called = false;
  for (const ExtensionName& call : build.called) {
    if (call.name != problem.name) continue;
    called = true;
    for (const PyNode* argument : call.node->args)
      if (argument->Is(PyKind::kStarred)) return {};
    if (!call.node->keywords.empty() || call.node->args.size() != problem.definition->params.size())
      return {};
  }
  if (line.empty() || !called) return {};
  return {{problem.start, problem.end, line}};
}

FixEdits Bind(const ExtensionBuild& build, const BindingProblem& problem) {
  const PyNode* list = build.names_at;
  const std::string name = "\"" + problem.name + "\"";
  // A binding without a declaration would not compile.
  if (build.Declaration(problem.name) == nullptr && DeclarationOf(problem.definition).empty()) return {};
  if (list->Is(PyKind::kString))
    return {{list->start, list->end, PythonList({build.names[0].name, problem.name}, false)}};
  if (!list->Is(PyKind::kList)) return {};
  return {Insert(list->args.back()->end, ", " + name)};
}

bool AllIn(const std::vector<std::string>& names, const auto& others) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(others.begin(), others.end(), name) != others.end();
  });
}

// Keeps the binding with the names that Python calls; if both have them, the source's own.
FixEdits BindOnce(const Candidate& candidate, const ExtensionBuild& build) {
  const std::vector<std::string> called = NamesOf(build.called);
  const ExtensionSource* source = build.BindingSource();
  if (called.empty()) return {};
  if (AllIn(called, source->bound)) {
    for (const PyNode* keyword : build.call->keywords)
      if (keyword->value == build.functions) return {RemoveArgument(candidate, keyword)};
    return {};
  }
  if (!AllIn(called, NamesOf(build.names))) return {};
  uint32_t end = source->unit->OuterEnd(source->binding);
  if (end < source->end && candidate.source.text()[end] == '\n') ++end;
  return {{source->unit->OuterStart(source->binding), end, ""}};
}

FixEdits BindCalled(const Candidate& candidate, const ExtensionBuild& build) {
  const std::vector<std::string> called = NamesOf(build.called);
  for (const std::string& name : called)
    if (build.Declaration(name) == nullptr && DeclarationOf(build.Definition(name, true)).empty()) return {};
  if (called.empty()) return {};
  return {AddArgument(candidate, build.call, "functions=" + PythonList(called, false))};
}

// The source goes to nvcc, its declarations to the host compiler.
FixEdits MoveToCuda(const Candidate& candidate, const ExtensionBuild& build) {
  const std::string declarations = Declarations(build, false);
  if (build.cuda.argument != nullptr || build.cpp.texts.size() != 1 || declarations.empty()) return {};
  FixEdits edits;
  edits.push_back(AddArgument(candidate, build.call, "cpp_sources=" + declarations));
  for (const PyNode* keyword : build.call->keywords)
    if (keyword->value == build.cpp.argument) {
      edits.push_back(
          {keyword->start, keyword->start + static_cast<uint32_t>(keyword->name.size()), "cuda_sources"});
      return edits;
    }
  edits.push_back(Insert(build.cpp.argument->start, "cuda_sources="));
  return edits;
}

FixEdits EditsFor(const Candidate& candidate, const ExtensionBuild& build, const BindingProblem& problem) {
  switch (problem.kind) {
    case Kind::kNoCppSources: {
      const std::string declarations = Declarations(build, true);
      if (declarations.empty()) return {};
      return {AddArgument(candidate, build.call, "cpp_sources=" + declarations)};
    }
    case Kind::kDeviceCodeInCpp:
      return MoveToCuda(candidate, build);
    case Kind::kSwapped: {
      const PyNode* cpp = build.cpp.argument;
      const PyNode* cuda = build.cuda.argument;
      return {{cpp->start, cpp->end, Code(candidate, cuda)}, {cuda->start, cuda->end, Code(candidate, cpp)}};
    }
    case Kind::kNotDeclared:
      return Declare(build, problem);
    case Kind::kOtherSignature:
      return Redeclare(build, problem);
    case Kind::kNotBound:
      return Bind(build, problem);
    case Kind::kBoundTwice:
      return BindOnce(candidate, build);
    case Kind::kNothingBound:
      return BindCalled(candidate, build);
  }
  return {};
}

}  // namespace

FixEdits FixExtensionBinding(const FixRequest& request) {
  for (const ExtensionBuild& build : request.candidate.extensions)
    for (const BindingProblem& problem : BindingProblems(build))
      if (problem.start == request.finding.start && problem.end == request.finding.end &&
          problem.Words() == request.finding.message)
        return EditsFor(request.candidate, build, problem);
  return {};
}

}  // namespace hone
