// Finds mismatches between the names that load_inline binds and what its sources declare and define.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/extension_problems.h"
#include "base/text.h"

namespace hone {

namespace {

using Kind = BindingProblem::Kind;

BindingProblem At(Kind kind, const PyNode* node) {
  BindingProblem problem;
  problem.kind = kind;
  problem.node = node;
  problem.start = node->start;
  problem.end = node->end;
  return problem;
}

bool HasDeviceCode(const ExtensionSources& sources) {
  return std::any_of(sources.texts.begin(), sources.texts.end(),
                     [](const ExtensionSource& one) { return one.device_code; });
}

// The file's own macros and headers can declare names that the syntax tree does not show.
bool MayDeclareMore(const ExtensionSources& sources) {
  return std::any_of(sources.texts.begin(), sources.texts.end(), [](const ExtensionSource& source) {
    const SyntaxNode* root = source.unit->tree.root();
    for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root)) {
      if (node->Is("preproc_def") || node->Is("preproc_function_def") || StartsWith(node->type, "preproc_if"))
        return true;
      const SyntaxNode* path = node->Is("preproc_include") ? node->Field("path") : nullptr;
      if (path != nullptr && !StartsWith(path->text, "<")) return true;
    }
    return root == nullptr || source.unit->tree.first_error() != nullptr;
  });
}

void CheckNames(const ExtensionBuild& build, std::vector<BindingProblem>* out) {
  if (MayDeclareMore(build.cpp)) return;
  for (const ExtensionName& name : build.names) {
    const CppFunction* declaration = build.Declaration(name.name);
    const CppFunction* definition = build.Definition(name.name, true);
    if (definition == nullptr) continue;
    if (declaration == nullptr) {
      BindingProblem problem = At(Kind::kNotDeclared, name.node);
      problem.name = name.name;
      problem.definition = definition;
      out->push_back(problem);
      continue;
    }
    bool fits = false;
    const ExtensionSource* where = nullptr;
    for (const ExtensionSource& source : build.cpp.texts)
      for (const CppFunction& one : source.functions) {
        if (one.name != name.name) continue;
        fits = fits || one.defined || !one.plain ||
               (one.params == definition->params && one.result == definition->result);
        if (&one == declaration) where = &source;
      }
    if (fits || !definition->plain || where == nullptr) continue;
    BindingProblem problem;
    problem.kind = Kind::kOtherSignature;
    problem.name = name.name;
    problem.definition = definition;
    problem.declaration = declaration;
    problem.start = where->unit->OuterStart(declaration->node);
    problem.end = where->unit->OuterEnd(declaration->node);
    out->push_back(problem);
  }
}

void CheckCalls(const ExtensionBuild& build, std::vector<BindingProblem>* out) {
  std::set<std::string> said;
  for (const ExtensionName& call : build.called) {
    if (build.Binds(call.name) || !said.insert(call.name).second) continue;
    const CppFunction* definition = build.Definition(call.name, true);
    if (definition == nullptr) definition = build.Definition(call.name, false);
    if (definition == nullptr) continue;
    BindingProblem problem = At(Kind::kNotBound, call.node);
    problem.name = call.name;
    problem.definition = definition;
    out->push_back(problem);
  }
}

}  // namespace

std::string BindingProblem::Words() const {
  switch (kind) {
    case Kind::kNoCppSources:
      return "load_inline is called without cpp_sources, which it requires";
    case Kind::kDeviceCodeInCpp:
      return "cpp_sources has CUDA kernels or launches, and the host compiler gets it";
    case Kind::kSwapped:
      return "cpp_sources has the CUDA kernels and cuda_sources has none: they are swapped";
    case Kind::kNotDeclared:
      return fmt::format(
          "{} is bound by functions= and only cuda_sources knows it: cpp_sources does not declare it", name);
    case Kind::kOtherSignature:
      return fmt::format("{} is declared otherwise than cuda_sources defines it: the module will not load",
                         name);
    case Kind::kNotBound:
      return fmt::format("{} is called on the module, and functions= does not bind it", name);
    case Kind::kBoundTwice:
      return "the source has PYBIND11_MODULE and functions= makes a second one";
    case Kind::kNothingBound:
      return "neither functions= nor PYBIND11_MODULE says what the module offers: it will not load";
  }
  return "";
}

std::vector<BindingProblem> BindingProblems(const ExtensionBuild& build) {
  std::vector<BindingProblem> problems;
  if (!build.known) return problems;
  if (build.cpp.argument == nullptr) {
    if (build.cuda.argument != nullptr) problems.push_back(At(Kind::kNoCppSources, build.call));
    return problems;
  }
  if (HasDeviceCode(build.cpp)) {
    const bool swapped = build.cuda.known && !build.cuda.texts.empty() && !HasDeviceCode(build.cuda);
    problems.push_back(At(swapped ? Kind::kSwapped : Kind::kDeviceCodeInCpp, build.cpp.argument));
    return problems;
  }
  if (!build.cpp.known || !build.cuda.known || !build.makes_module) return problems;
  const ExtensionSource* binding = build.BindingSource();
  if (build.functions != nullptr && binding != nullptr) {
    problems.push_back(At(Kind::kBoundTwice, build.functions));
    return problems;
  }
  if (build.functions == nullptr && binding == nullptr) {
    const bool hidden = MayDeclareMore(build.cpp) || MayDeclareMore(build.cuda);
    if (!hidden) problems.push_back(At(Kind::kNothingBound, build.call));
    return problems;
  }
  if (build.names_at == nullptr) return problems;
  CheckNames(build, &problems);
  CheckCalls(build, &problems);
  return problems;
}

}  // namespace hone
