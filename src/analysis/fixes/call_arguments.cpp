// Fixes calls of tl functions with arguments of the wrong kind: torch.float32 in a kernel, tl.float32(x),
// tl.arange(N), tl.max(a, b), a grid that is a number.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// torch.float32 where a type of the language is needed.
FixEdits UseLanguageType(const Candidate& candidate, const PyNode* call, const std::string& given) {
  if (!StartsWith(given, "torch.")) return {};
  std::vector<const PyNode*> arguments(call->args.begin(), call->args.end());
  for (const PyNode* keyword : call->keywords) arguments.push_back(keyword->value);
  for (const PyNode* argument : arguments) {
    if (argument == nullptr || candidate.python->scopes->Resolve(argument) != given) continue;
    std::string name = given.substr(6);
    if (name == "half") name = "float16";
    if (name == "float") name = "float32";
    if (name == "double") name = "float64";
    if (name == "long") name = "int64";
    if (name == "int") name = "int32";
    if (name == "bool") name = "int1";
    for (std::string_view known :
         {"float16", "float32", "float64", "bfloat16", "int1", "int8", "int16", "int32", "int64", "uint8"}) {
      if (name != known) continue;
      FixEdits edits;
      const std::string language = EnsureLanguage(candidate, &edits);
      if (language.empty()) return {};
      edits.push_back({argument->start, argument->end, language + "." + name});
      return edits;
    }
  }
  return {};
}

// tl.float32(x)  ->  x.to(tl.float32); for a number, the number itself.
FixEdits UseCast(const Candidate& candidate, const PyNode* call) {
  if (call->args.size() != 1 || !call->keywords.empty() || call->args[0]->Is(PyKind::kStarred)) return {};
  const PyNode* value = call->args[0];
  const std::string type = Code(candidate, call->value);
  if (value->Is(PyKind::kInt) && Contains(type, "float"))
    return {{call->start, call->end, Code(candidate, value) + ".0"}};
  if (value->Is(PyKind::kInt) || value->Is(PyKind::kFloat))
    return {{call->start, call->end, Code(candidate, value)}};
  return {{call->start, call->end, fmt::format("{}.to({})", Operand(candidate, value), type)}};
}

FixEdits FixArange(const PyNode* call) {
  if (call->args.size() == 1 && call->keywords.empty()) return {Insert(call->args[0]->start, "0, ")};
  return {};
}

FixEdits FixDot(const Candidate& candidate, const PyNode* call) {
  for (const PyNode* keyword : call->keywords) {
    const bool first = keyword->name == "trans_a";
    if (!first && keyword->name != "trans_b") continue;
    if (keyword->value == nullptr || call->args.size() < 2) return {};
    FixEdits edits;
    if (keyword->value->Is(PyKind::kTrue)) {
      const PyNode* side = call->args[first ? 0 : 1];
      const std::string language = EnsureLanguage(candidate, &edits);
      if (language.empty()) return {};
      edits.push_back({side->start, side->end, fmt::format("{}.trans({})", language, Code(candidate, side))});
    } else if (!keyword->value->Is(PyKind::kFalse)) {
      return {};
    }
    edits.push_back(RemoveArgument(candidate, keyword));
    return edits;
  }
  return {};
}

// A reduction with a block in place of the axis: tl.max(a, b) becomes tl.maximum(a, b).
FixEdits FixReduction(const PyNode* call, std::string_view name) {
  if ((name == "max" || name == "min") && call->args.size() == 2 && call->keywords.empty())
    return {ReplaceName(call->value, std::string(name) + "imum")};
  return {};
}

}  // namespace

FixEdits FixCallArguments(const FixRequest& request) {
  const PyNode* node = request.node;
  const Candidate& candidate = request.candidate;
  if (node == nullptr) return {};
  if (request.problem == nullptr) {
    // The grid of a launch is a number, but Triton takes its length.
    for (const auto& launch : candidate.python->kernels->launches()) {
      if (launch->grid != node &&
          (launch->grid == nullptr || launch->grid->start != node->start || launch->grid->end != node->end))
        continue;
      const PyNode* number = launch->grid->Is(PyKind::kLambda) ? launch->grid->value : launch->grid;
      if (number == nullptr || number->Is(PyKind::kName)) return {};
      return {{number->start, number->end, fmt::format("({},)", Code(candidate, number))}};
    }
    return {};
  }
  if (!node->Is(PyKind::kCall) || node->value == nullptr) return {};
  const std::string& subject = request.problem->subject;
  const std::string dotted = candidate.python->scopes->Resolve(node->value);
  if (Contains(request.problem->detail, "is a type and cannot be called")) return UseCast(candidate, node);
  if (StartsWith(subject, "torch.")) return UseLanguageType(candidate, node, subject);
  if (Contains(request.problem->detail, "works on float32 and float64") && node->args.size() == 1) {
    FixEdits edits;
    const std::string language = EnsureLanguage(candidate, &edits);
    if (language.empty()) return {};
    const PyNode* value = node->args[0];
    edits.push_back(
        {value->start, value->end, fmt::format("{}.to({}.float32)", Operand(candidate, value), language)});
    return edits;
  }
  if (!StartsWith(dotted, "triton.language.")) return {};
  const std::string name = dotted.substr(16);
  if (name == "arange") return FixArange(node);
  if (name == "dot") return FixDot(candidate, node);
  if (name == "zeros" && Contains(request.problem->detail, "without a dtype")) {
    FixEdits edits;
    const std::string language = EnsureLanguage(candidate, &edits);
    if (language.empty()) return {};
    edits.push_back(AddArgument(candidate, node, fmt::format("dtype={}.float32", language)));
    return edits;
  }
  if (node->value->Is(PyKind::kAttribute)) return FixReduction(node, name);
  return {};
}

}  // namespace hone
