#include "pipeline/prompt_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "evaluation/measurement.h"
#include "model/prompt_values.h"
#include "pipeline/rules.h"

namespace hone {

namespace {

constexpr size_t kMostDescription = 240;
constexpr size_t kMostKernels = 3;
constexpr size_t kLongestName = 60;
constexpr double kLeastShare = 0.005;  // what is less would read 0%

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
  if (IsRight(candidate))
    return fmt::format(
        "{:.2f}x of the best PyTorch baseline{}", candidate.vs_best,
        candidate.verdict == NameOf(Decision::kInconclusive) ? " on a machine too busy to be sure" : "");
  return candidate.reason.empty() ? "not judged" : candidate.reason;
}

std::string ReachedFacts(const CandidateRecord& candidate, double floor_us) {
  std::string text = ResultFacts(candidate);
  if (!IsRight(candidate) || candidate.candidate_us <= 0) return text;
  text += fmt::format(", {} per call", HumanSeconds(candidate.candidate_us * 1e-6));
  if (floor_us > 0) text += ", " + TimesTheFloor(candidate.candidate_us, floor_us);
  return text;
}

Json TimeFacts(const CandidateRecord& candidate, const KernelProfile& counters) {
  if (!counters.kernels.empty()) {
    Json facts = ProfileFacts(counters);
    facts["source"] = "counted by Nsight Compute around the candidate's process";
    return facts;
  }
  const Json record = ParsedOrEmpty(candidate.json);
  const Json& profile = GetMember(GetMember(record, "measurement"), "profile");
  const std::vector<ProfiledKernel> kernels = ProfiledKernelsFrom(GetMember(profile, "kernels"));
  double seen_us = 0;
  for (const ProfiledKernel& one : kernels) seen_us += std::max(0.0, one.time_us);
  if (seen_us <= 0) return nullptr;
  // Kernels beyond the longest are not in the list, but in these.
  const double total_us = std::max(seen_us, GetNumber(profile, "own_us") + GetNumber(profile, "library_us"));
  std::vector<std::string> largest;
  for (const ProfiledKernel& one : kernels)
    if (one.time_us >= kLeastShare * total_us && largest.size() < kMostKernels)
      largest.push_back(fmt::format("{}{} {:.0f}%", ValidUtf8(one.name.substr(0, kLongestName)),
                                    one.count > 1 ? fmt::format(" (x{})", one.count) : "",
                                    100 * one.time_us / total_us));
  const bool cpu = GetString(GetMember(record, "provenance"), "target") == "cpu";
  return {
      {"source", "PyTorch's profiler over one call, as the candidate's own process reports it, not verified"},
      {cpu ? "largest operators and their share of the time" : "largest kernels and their share of the time",
       Join(largest, ", ")},
      {cpu ? "time of that call" : "time of all kernels", HumanSeconds(total_us * 1e-6)}};
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
