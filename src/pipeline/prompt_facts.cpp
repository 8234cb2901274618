#include "pipeline/prompt_facts.h"

#include <fmt/format.h>

#include "base/text.h"
#include "pipeline/rules.h"

namespace hone {

namespace {

constexpr size_t kMostDescription = 240;

}  // namespace

Json ParsedOrEmpty(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json();
}

Json AttemptFacts(int number, const CandidateRecord& candidate) {
  return {{"attempt", number},
          {"what", candidate.phase + ", " + candidate.kernel_class},
          {"reason", candidate.reason},
          {"detail", candidate.detail}};
}

Json VerdictFacts(const CandidateRecord& candidate) {
  Json verdict = ParsedOrEmpty(candidate.json);
  if (!verdict.is_object())
    return {{"verdict", candidate.verdict}, {"reason", candidate.reason}, {"detail", candidate.detail}};
  verdict.erase("provenance");
  verdict.erase("measurement");
  verdict.erase("card");
  return verdict;
}

std::string ResultFacts(const CandidateRecord& candidate) {
  if (IsRight(candidate)) return fmt::format("{:.2f}x of the best PyTorch baseline", candidate.vs_best);
  return candidate.reason.empty() ? "not judged" : candidate.reason;
}

std::string DescriptionIn(const std::string& reply) {
  std::string text(Trim(std::string_view(reply).substr(0, reply.find("```"))));
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  if (text.size() <= kMostDescription) return ValidUtf8(text);
  const size_t end = text.rfind(". ", kMostDescription);
  return ValidUtf8(end == std::string::npos ? text.substr(0, kMostDescription) + "…"
                                            : text.substr(0, end + 1));
}

}  // namespace hone
