// Calls of triton.language with arguments that its functions do not take: an unknown keyword, one given
// twice, too many, a missing one. See kernel_interpreter.h; the rules are those of triton_signatures.h.
#include <fmt/format.h>

#include "analysis/kernel_interpreter.h"
#include "analysis/triton_signatures.h"
#include "analysis/triton_tables.h"
#include "base/text.h"

namespace hone {

namespace {

struct KeywordAdvice {
  std::string_view function;
  std::string_view keyword;
  std::string_view advice;
};
constexpr KeywordAdvice kKeywordAdvice[] = {
    {"arange", "dtype", "Cast the result: tl.arange(...).to(dtype)."},
    {"dot", "trans_a", "Transpose the operand: tl.dot(tl.trans(a), b)."},
    {"dot", "trans_b", "Transpose the operand: tl.dot(a, tl.trans(b))."},
    {"store", "other", "Leave it out: a store reads nothing that a fallback could replace."},
};

// These have checks of their own, which know more about the values.
bool HasOwnCheck(std::string_view name, const CallFault& fault) {
  const bool counts = fault.kind == CallFault::Kind::kMissing || fault.kind == CallFault::Kind::kTooMany;
  if (name == "arange") return counts;
  if (name == "program_id" || name == "num_programs") return fault.kind == CallFault::Kind::kMissing;
  return (name == "zeros" || name == "full") && fault.kind == CallFault::Kind::kMissing &&
         fault.name == "dtype";
}

std::string ListOf(const CallSignature& signature) {
  std::string out;
  for (const CallParameter& parameter : signature.parameters)
    out += (out.empty() ? "" : ", ") + std::string(parameter.name);
  return out.empty() ? "no arguments" : out;
}

std::string AdviceOn(const CallSignature& signature, const CallShape& shape, std::string_view name,
                     std::string_view keyword) {
  for (const KeywordAdvice& row : kKeywordAdvice)
    if (row.function == name && row.keyword == keyword) return std::string(row.advice);
  if (keyword == signature.rest) return fmt::format("Pass it by position, without {}=.", keyword);
  const std::vector<std::string_view> meant = MeantParameters(signature, shape, name, keyword);
  if (meant.size() == 1) return fmt::format("The argument is called {}.", meant[0]);
  return fmt::format("Remove it; tl.{} takes {}.", name, ListOf(signature));
}

}  // namespace

void KernelInterpreter::CheckArguments(const PyNode* node, std::string_view scope, const std::string& name,
                                       bool is_method) {
  const CallShape shape = ShapeOfCall(node, is_method);
  if (shape.hidden) return;
  const std::vector<CallSignature> signatures = SignaturesOf(scope, name);
  uint32_t has = 0;
  uint32_t refused = 0;
  const CallSignature* newest = nullptr;
  CallFault fault;
  for (const CallSignature& signature : signatures) {
    has |= signature.releases;
    const CallFault found = BindCall(signature, shape);
    if (!found) continue;
    refused |= signature.releases;
    if (newest != nullptr && newest->releases > signature.releases) continue;
    newest = &signature;
    fault = found;
  }
  if (newest == nullptr || HasOwnCheck(name, fault)) return;
  std::string detail;
  std::string fix;
  switch (fault.kind) {
    case CallFault::Kind::kUnknownKeyword:
      unknown_keyword_ = node;
      detail = fmt::format("tl.{} has no argument {}", name, fault.name);
      fix = newest->no_keyword ? fmt::format("Pass {} by position.", fault.name)
                               : AdviceOn(*newest, shape, name, fault.name);
      break;
    case CallFault::Kind::kGivenTwice:
      detail = fmt::format("tl.{} gets its argument {} by position and by keyword", name, fault.name);
      fix = fmt::format("Pass {} once; tl.{} takes {}.", fault.name, name, ListOf(*newest));
      break;
    case CallFault::Kind::kTooMany:
      detail = fmt::format("tl.{} takes at most {} arguments and gets {}", name, newest->parameters.size(),
                           shape.positional + shape.keywords.size());
      fix = fmt::format("Remove what is too much; tl.{} takes {}.", name, ListOf(*newest));
      break;
    default:
      detail = fmt::format("tl.{} is called without its argument {}", name, fault.name);
      fix = fmt::format("Pass {}.", fault.name);
  }
  // Where the function is missing altogether, that is reported by its name.
  Report(ProblemKind::kBadCall, node, "tl." + name, detail, fix,
         refused == has ? 0 : refused | (kAllTriton & ~has));
}

}  // namespace hone
