// One candidate: its verdict and gates, its findings beside their lines, the distributions of its errors and
// times, its diffs to its parent and to the best, and the model call that it came from.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "model/replies.h"
#include "report/html_fragments.h"
#include "report/usage_words.h"

namespace hone {

namespace {

constexpr size_t kMostText = 200'000;

// `key` is the candidate's key, which identifies one of several replies.
Json CallValues(CallRecord call, const std::string& key) {
  const std::vector<ReplyChoice> more = RepliesFrom(call.more_replies);
  const size_t number = static_cast<size_t>(ReplyNumberOf(key));
  if (number > 1 && number <= more.size() + 1) {
    call.reply = more[number - 2].text;
    call.thinking = more[number - 2].thinking;
  }
  return {{"model", call.model},
          {"status", call.status},
          {"tokens", UsageWords(call)},
          {"seconds", HumanSeconds(call.seconds)},
          {"prompt", call.prompt.substr(0, kMostText)},
          {"reply", call.reply.substr(0, kMostText)},
          {"thinking", call.thinking.substr(0, kMostText)},
          {"error", call.error.substr(0, kMostText)}};
}

// The changes from `other`; null if there is nothing to compare with.
Result<Json> DiffTo(RunStore& store, const CandidateRecord& one, const std::string& other,
                    const std::string& title) {
  if (other.empty() || other == one.key) return Json();
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> before, store.Candidate(one.run_id, other));
  if (!before) return Json();
  return Json{{"title", title},
              {"key", other},
              {"link", CandidateLink(one.run_id, other)},
              {"html_diff", DiffView(before->source, one.source)}};
}

Result<HttpReply> Page(const PageContext& page, const std::string& id, const std::string& key) {
  HONE_ASSIGN_OR_RETURN(const RunRecord run, FindRunById(page.store, id));
  HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> found, page.store.Candidate(run.id, key));
  if (!found) return Error{ErrorKind::kNotFound, "this run has no candidate of that name"};
  const CandidateRecord& one = *found;
  if (page.request.HasQuery("download")) return FileReply(one.key + ".py", one.source);
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all, page.store.CandidateSummaries(run.id));
  HONE_ASSIGN_OR_RETURN(const std::optional<CallRecord> call, page.store.Call(run.id, CallKeyOf(key)));
  const Json record = JsonOrNull(one.json);
  const Json findings = JsonOrNull(one.findings);

  Json values = CandidateValues(one, all, run.best_key);
  values["run"] = RunValues(run, false);
  values["detail"] = one.accepted() ? "" : one.detail.substr(0, kMostText);
  values["proposer"] = one.proposer;
  values["created"] = ShortTime(one.created);
  values["source_link"] = CandidateLink(run.id, one.key) + "?download=1";
  values["file_name"] = one.key + ".py";
  values["html_gates"] = GateList(record);
  values["html_facts"] = VerdictFacts(one, record);
  values["html_plots"] = PlotFigures(CandidatePlots(FigureOf(one)));
  values["html_source"] = SourceWithFindings(one.source, findings, "source");
  values["html_provenance"] = ProvenanceFacts(record);
  values["finding_count"] = findings.is_array() ? findings.size() : 0;
  values["stdout"] = GetString(GetMember(record, "measurement"), "stdout").substr(0, kMostText);
  values["has_call"] = call.has_value();
  if (call) values["call"] = CallValues(*call, key);
  values["children"] = Json::array();
  for (const CandidateRecord& each : all)
    if (each.parent_key == one.key) values["children"].push_back(CandidateValues(each, all, run.best_key));
  HONE_ASSIGN_OR_RETURN(const Json parent,
                        DiffTo(page.store, one, one.parent_key, "What changed from its parent"));
  HONE_ASSIGN_OR_RETURN(const Json best, DiffTo(page.store, one, run.best_key, "What changed from the best"));
  values["diffs"] = Json::array();
  if (!parent.is_null()) values["diffs"].push_back(parent);
  if (!best.is_null() && run.best_key != one.parent_key) values["diffs"].push_back(best);
  // The run's order, for links to the previous and next candidate.
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const CandidateRecord& each) { return each.key == one.key; });
  values["previous"] =
      place == all.end() || place == all.begin() ? "" : CandidateLink(run.id, std::prev(place)->key);
  values["next"] =
      place == all.end() || std::next(place) == all.end() ? "" : CandidateLink(run.id, std::next(place)->key);
  return RenderPage("candidate", fmt::format("{} of R{}", one.key, run.id), "runs", std::move(values));
}

}  // namespace

HttpReply CandidatePage(const PageContext& page, const std::string& id, const std::string& key) {
  Result<HttpReply> reply = Page(page, id, key);
  return reply.ok() ? std::move(*reply) : ErrorPage(reply.error());
}

}  // namespace hone
