// One candidate: its verdict and gates, what static analysis found at which line, how its answers and its
// times were distributed, what changed against its parent and against the best, and who said what to get it.
#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "report/line_diff.h"
#include "report/verdict_report.h"

namespace hone {

namespace {

constexpr size_t kMostLines = 4000;
constexpr size_t kMostText = 200'000;

Json FindingView(const Json& finding) {
  return {{"line", GetInt(finding, "line")},
          {"rule", GetString(finding, "rule")},
          {"severity", GetString(finding, "severity")},
          {"message", GetString(finding, "message")},
          {"fix", GetString(finding, "fix")}};
}

Json SourceView(const std::string& source, const Json& findings) {
  std::map<int64_t, Json> by_line;
  if (findings.is_array())
    for (const Json& each : findings) {
      Json& here = by_line.emplace(GetInt(each, "line"), Json::array()).first->second;
      here.push_back(FindingView(each));
    }
  Json lines = Json::array();
  int64_t number = 0;
  for (const std::string& line : Lines(source)) {
    if (lines.size() == kMostLines) break;
    const auto found = by_line.find(++number);
    lines.push_back({{"number", number},
                     {"text", line},
                     {"findings", found == by_line.end() ? Json::array() : found->second}});
  }
  return lines;
}

Json DiffView(const std::string& before, const std::string& after) {
  Json lines = Json::array();
  for (const DiffLine& line : ShortDiff(before, after)) {
    if (lines.size() == kMostLines) break;
    lines.push_back({{"kind", line.kind == '+'   ? "added"
                              : line.kind == '-' ? "removed"
                              : line.kind == '@' ? "gap"
                                                 : "same"},
                     {"sign", std::string(1, line.kind == '@' ? ' ' : line.kind)},
                     {"before", line.before > 0 ? std::to_string(line.before) : ""},
                     {"after", line.after > 0 ? std::to_string(line.after) : ""},
                     {"text", line.text}});
  }
  return lines;
}

Json GatesView(const Json& record) {
  Json gates = Json::array();
  const Json& stored = GetMember(record, "gates");
  if (stored.is_object())
    for (const auto& [name, state] : stored.items())
      gates.push_back({{"name", name}, {"state", state.is_string() ? state : Json("skipped")}});
  return gates;
}

Json NotesView(const Json& record) {
  Json notes = Json::array();
  const Json& stored = GetMember(record, "notes");
  if (stored.is_array())
    for (const Json& note : stored)
      if (note.is_string()) notes.push_back(note);
  return notes;
}

// "key: value" of what provenance says in one line each.
Json ProvenanceView(const Json& provenance) {
  Json pairs = Json::array();
  if (!provenance.is_object()) return pairs;
  for (const char* name : {"device", "target", "system", "cores", "cpu_mhz", "threads", "python", "torch",
                           "triton", "sandbox", "precision", "truth", "load_average", "time", "hone"}) {
    const Json& value = GetMember(provenance, name);
    if (value.is_null()) continue;
    pairs.push_back(
        {{"name", name}, {"value", value.is_string() ? value.get<std::string>() : DumpJson(value)}});
  }
  const Json& gpu = GetMember(provenance, "gpu");
  if (gpu.is_object())
    for (const auto& [name, value] : gpu.items())
      pairs.push_back({{"name", "gpu " + name},
                       {"value", value.is_string() ? value.get<std::string>() : DumpJson(value)}});
  return pairs;
}

}  // namespace

HttpReply CandidatePage(const PageContext& page, const std::string& id, const std::string& key) {
  const Result<RunRecord> run = FindRunById(page.store, id);
  if (!run.ok()) return ErrorPage(run.error());
  const Result<std::optional<CandidateRecord>> found = page.store.Candidate(run->id, key);
  if (!found.ok()) return ErrorPage(found.error());
  if (!*found) return ErrorPage(404, "this run has no candidate of that name");
  const CandidateRecord& one = **found;
  const Result<std::vector<CandidateRecord>> all = page.store.CandidateSummaries(run->id);
  if (!all.ok()) return ErrorPage(all.error());
  const Json record = JsonOrNull(one.json);

  Json values = CandidateView(one, *all, run->best_key);
  values["run"] = RunView(*run, false);
  values["detail"] = one.detail.substr(0, kMostText);
  values["reason"] = one.reason;
  values["next"] = one.verdict == "rejected" ? NextStep(one.reason) : "";
  values["proposer"] = one.proposer;
  values["sha256"] = one.sha256;
  values["created"] = ShortTime(one.created);
  values["predicted"] = one.predicted_us > 0 ? HumanSeconds(one.predicted_us * 1e-6) : "";
  values["baseline"] = GetString(GetMember(record, "speedup"), "best_baseline");
  values["gates"] = GatesView(record);
  values["notes"] = NotesView(record);
  values["provenance"] = ProvenanceView(GetMember(record, "provenance"));
  const Json& launches = GetMember(record, "launches");
  values["launches"] = GetInt(launches, "candidate", -1) < 0
                           ? ""
                           : fmt::format("{} where PyTorch has {}", GetInt(launches, "candidate"),
                                         GetInt(launches, "reference", -1));
  const std::string output = GetString(GetMember(record, "measurement"), "stdout");
  values["stdout"] = output.substr(0, kMostText);
  const Json findings = JsonOrNull(one.findings);
  values["finding_count"] = findings.is_array() ? findings.size() : 0;
  values["source"] = SourceView(one.source, findings);

  values["children"] = Json::array();
  for (const CandidateRecord& each : *all)
    if (each.parent_key == one.key && !each.parent_key.empty())
      values["children"].push_back(CandidateView(each, *all, run->best_key));
  values["diffs"] = Json::array();
  const auto add_diff = [&](const std::string& other, const std::string& title) -> Status {
    if (other.empty() || other == one.key) return Ok();
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> before, page.store.Candidate(run->id, other));
    if (!before) return Ok();
    values["diffs"].push_back({{"title", title},
                               {"key", other},
                               {"link", CandidateLink(run->id, other)},
                               {"lines", DiffView(before->source, one.source)}});
    return Ok();
  };
  for (const Status& status :
       {add_diff(one.parent_key, "Against its parent"),
        run->best_key == one.parent_key ? Ok() : add_diff(run->best_key, "Against the best")})
    if (!status.ok()) return ErrorPage(status.error());

  const Result<std::optional<CallRecord>> call = page.store.Call(run->id, key);
  if (!call.ok()) return ErrorPage(call.error());
  values["has_call"] = call->has_value();
  if (*call)
    values["call"] = {
        {"model", (*call)->model},
        {"status", (*call)->status},
        {"tokens", fmt::format("{} in, {} out", (*call)->prompt_tokens, (*call)->completion_tokens)},
        {"seconds", HumanSeconds((*call)->seconds)},
        {"prompt", (*call)->prompt.substr(0, kMostText)},
        {"reply", (*call)->reply.substr(0, kMostText)},
        {"thinking", (*call)->thinking.substr(0, kMostText)},
        {"error", (*call)->error.substr(0, kMostText)}};
  return RenderPage("candidate", fmt::format("{} of R{}", one.key, run->id), "runs", std::move(values));
}

}  // namespace hone
