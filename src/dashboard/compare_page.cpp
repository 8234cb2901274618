// Pages that show documents: the comparison of runs or candidates, and the post-mortem of a run. `hone
// compare` and `hone explain` make the documents; here they become HTML.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "pipeline/run_lock.h"
#include "report/comparison.h"
#include "report/explanation_words.h"

namespace hone {

namespace {

constexpr size_t kMostSides = 6;

Json DocumentValues(const Document& document) {
  static constexpr const char* kKinds[] = {"title", "heading", "paragraph", "bullet", "table", "code"};
  Json blocks = Json::array();
  for (const Document::Block& block : document.blocks()) {
    Json rows = Json::array();
    for (size_t i = 1; i < block.rows.size(); ++i) rows.push_back(block.rows[i]);
    blocks.push_back({{"kind", kKinds[static_cast<int>(block.kind)]},
                      {"text", block.text},
                      {"code", block.code},
                      {"details", block.details},
                      {"header", block.rows.empty() ? std::vector<std::string>() : block.rows[0]},
                      {"rows", rows}});
  }
  return {{"blocks", blocks}};
}

// Accepts both "R1,R2" and several run=… fields.
std::vector<std::string> Asked(const HttpRequest& request) {
  std::vector<std::string> asked;
  for (const auto& [name, value] : request.query) {
    if (name != "run") continue;
    std::string text = value;
    std::replace(text.begin(), text.end(), ' ', ',');
    for (const std::string& one : Split(text, ','))
      if (!one.empty() && std::find(asked.begin(), asked.end(), one) == asked.end()) asked.push_back(one);
  }
  return asked;
}

struct Compared {
  Document document;
  OrderedJson json;
};

Result<std::pair<RunRecord, CandidateRecord>> FindCandidate(RunStore& store, const std::string& what) {
  const size_t colon = what.find(':');
  HONE_ASSIGN_OR_RETURN(RunRecord run, FindRunById(store, what.substr(0, colon)));
  const std::string key = colon == std::string::npos ? "" : what.substr(colon + 1);
  HONE_ASSIGN_OR_RETURN(std::optional<CandidateRecord> found, store.Candidate(run.id, key));
  if (!found) return Error{ErrorKind::kNotFound, fmt::format("there is no candidate '{}'", what)};
  return std::pair(std::move(run), std::move(*found));
}

Result<Compared> Compare(RunStore& store, const std::vector<std::string>& asked) {
  if (asked.size() > kMostSides)
    return Error{ErrorKind::kUsage, fmt::format("at most {} runs at a time", kMostSides)};
  if (asked[0].find(':') != std::string::npos) {
    if (asked.size() != 2) return Error{ErrorKind::kUsage, "name exactly two candidates"};
    HONE_ASSIGN_OR_RETURN(const auto a, FindCandidate(store, asked[0]));
    HONE_ASSIGN_OR_RETURN(const auto b, FindCandidate(store, asked[1]));
    const CandidateComparison compared = CompareCandidates(a.first, a.second, b.first, b.second);
    return Compared{ComparisonDocument(compared, ReportLanguage::kEnglish),
                    ToJson(compared, ReportLanguage::kEnglish)};
  }
  std::vector<RunStory> stories;
  for (const std::string& id : asked) {
    const Result<RunRecord> run = FindRunById(store, id);
    if (!run.ok()) return Error{ErrorKind::kNotFound, fmt::format("there is no run '{}'", id)};
    HONE_ASSIGN_OR_RETURN(RunStory story, ReadStory(store, fmt::format("R{}", run->id)));
    stories.push_back(std::move(story));
  }
  const RunComparison compared = CompareRuns(stories);
  return Compared{ComparisonDocument(compared, ReportLanguage::kEnglish),
                  ToJson(compared, ReportLanguage::kEnglish)};
}

Result<Explanation> ExplainRun(RunStore& store, const std::string& id) {
  HONE_ASSIGN_OR_RETURN(const RunRecord run, FindRunById(store, id));
  HONE_ASSIGN_OR_RETURN(const RunStory story, ReadStory(store, fmt::format("R{}", run.id)));
  return Explain(story, IsAbandoned(story.run));
}

ReportLanguage AskedLanguage(const HttpRequest& request) {
  return LanguageFromName(request.Query("lang")).value_or(ReportLanguage::kEnglish);
}

}  // namespace

HttpReply ComparePage(const PageContext& page) {
  const std::vector<std::string> asked = Asked(page.request);
  Json values = {{"runs", Join(asked, " ")}, {"html_document", ""}};
  if (asked.size() >= 2 || (asked.size() == 1 && asked[0].find(':') != std::string::npos)) {
    const Result<Compared> compared = Compare(page.store, asked);
    if (!compared.ok()) return ErrorPage(compared.error());
    Result<std::string> html = RenderFragment("document", DocumentValues(compared->document));
    if (!html.ok()) return ErrorPage(html.error());
    values["html_document"] = std::move(*html);
  } else if (asked.size() == 1) {
    const Result<RunRecord> run = FindRunById(page.store, asked[0]);
    if (!run.ok()) return ErrorPage(404, fmt::format("there is no run '{}'", asked[0]));
  }
  return RenderPage("compare", "Compare", "compare", std::move(values));
}

HttpReply CompareJson(const PageContext& page) {
  const std::vector<std::string> asked = Asked(page.request);
  if (asked.size() < 2) return JsonError(Error{ErrorKind::kUsage, "name two runs or more: ?run=R1&run=R2"});
  const Result<Compared> compared = Compare(page.store, asked);
  return compared.ok() ? JsonReply(compared->json) : JsonError(compared.error());
}

HttpReply ExplainPage(const PageContext& page, const std::string& id) {
  const Result<Explanation> told = ExplainRun(page.store, id);
  if (!told.ok()) return ErrorPage(told.error());
  Result<std::string> html =
      RenderFragment("document", DocumentValues(ExplanationDocument(*told, AskedLanguage(page.request))));
  if (!html.ok()) return ErrorPage(html.error());
  return RenderPage("explain", id + " explained", "runs",
                    {{"id", id}, {"link", "/runs/" + id}, {"html_document", std::move(*html)}});
}

HttpReply ExplainJson(const PageContext& page, const std::string& id) {
  const Result<Explanation> told = ExplainRun(page.store, id);
  return told.ok() ? JsonReply(ToJson(*told, AskedLanguage(page.request))) : JsonError(told.error());
}

}  // namespace hone
