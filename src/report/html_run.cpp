// A run as parts of a page: its head with the key figures, its candidates as a table and as a tree, its
// decisions, and its task.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "report/escape.h"
#include "report/html_fragments.h"
#include "report/mending_story.h"
#include "report/plots/row_canvas.h"
#include "report/usage_words.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

const CandidateRecord* FindCandidate(const RunStory& story, const std::string& key) {
  for (const CandidateRecord& one : story.candidates)
    if (one.key == key) return &one;
  return nullptr;
}

namespace {

std::string Figure(const std::string& name, const std::string& value, const std::string& small = "") {
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", EscapeHtml(name), EscapeHtml(value),
                     small.empty() ? "" : "<small>" + EscapeHtml(small) + "</small>");
}

std::string Cost(const UsageTotals& usage) {
  if (usage.calls == 0) return "none";
  return usage.price_known ? fmt::format("${:.4f}", usage.cost_usd) : "not known";
}

std::string HrefOf(const PageLinks& links, const std::string& key) {
  return links.candidate ? links.candidate(key) : "";
}

// The children of each candidate in the order of the run. Candidates without a known parent are under "".
std::map<std::string, std::vector<const CandidateRecord*>> Children(const RunStory& story) {
  std::map<std::string, std::vector<const CandidateRecord*>> children;
  for (const CandidateRecord& one : story.candidates) {
    const bool known = one.parent_key != one.key && FindCandidate(story, one.parent_key) != nullptr;
    children[known ? one.parent_key : ""].push_back(&one);
  }
  return children;
}

std::string Leaf(const CandidateRecord& one, const std::string& best_key, const PageLinks& links) {
  const std::string href = HrefOf(links, one.key);
  const std::string name = href.empty()
                               ? fmt::format("<code>{}</code>", EscapeHtml(one.key))
                               : fmt::format("<a href=\"{}\">{}</a>", EscapeHtml(href), EscapeHtml(one.key));
  std::string html =
      name + " " + VerdictBadge(one.verdict, one.reason, !best_key.empty() && one.key == best_key);
  if (one.vs_best > 0 && one.verdict != "baseline")
    html += fmt::format(" <span class=\"quiet\">{}</span>", TimesSign(one.vs_best));
  return html;
}

std::string Branch(const std::map<std::string, std::vector<const CandidateRecord*>>& children,
                   const std::string& at, const std::string& best_key, const PageLinks& links,
                   std::set<std::string>* seen) {
  const auto found = children.find(at);
  if (found == children.end()) return "";
  std::string html;
  for (const CandidateRecord* one : found->second) {
    // A store edited by hand could contain a cycle.
    if (!seen->insert(one->key).second) continue;
    html += fmt::format("<li>{}{}</li>\n", Leaf(*one, best_key, links),
                        Branch(children, one->key, best_key, links, seen));
  }
  return at.empty() ? html : html.empty() ? "" : "\n<ul>\n" + html + "</ul>\n";
}

}  // namespace

std::string CandidateAnchor(const std::string& key) {
  return AnchorOf("c-", key);
}

PageLinks LinksInside() {
  return {[](const std::string& key) { return "#" + CandidateAnchor(key); }};
}

std::string RunHead(const RunStory& story, const RunFigures& figures) {
  const RunRecord& run = story.run;
  std::string html = fmt::format(
      "<header class=\"title\">\n<p class=\"eyebrow\">Run R{} · {} · {}</p>\n<h1>{}</h1>\n<p "
      "class=\"outcome\">{}</p>\n",
      run.id, EscapeHtml(run.created), EscapeHtml(run.device.empty() ? run.target : run.device),
      EscapeHtml(run.task),
      EscapeHtml(run.outcome.empty() ? fmt::format("Status: {}.", run.status) : run.outcome));
  if (!run.degenerate.empty())
    html += fmt::format("<p class=\"outcome\">Degenerate task: {}.</p>\n", EscapeHtml(run.degenerate));
  html += "<dl class=\"figures\">\n";
  const CandidateFigure* best = figures.Find(run.best_key);
  if (best != nullptr) {
    html += Figure("speed-up", TimesSign(best->vs_best),
                   fmt::format("95% interval {:.2f} to {:.2f}, against the best PyTorch baseline", best->low,
                               best->high));
    html += Figure("against eager", TimesSign(best->vs_eager));
    html += Figure("time per call", Microseconds(best->us),
                   figures.floor_us > 0 ? fmt::format("floor {}", Microseconds(figures.floor_us)) : "");
  } else {
    html += Figure("result", run.status == "running" ? "none yet" : ResultWords(run.result));
  }
  const auto count = [&](auto wanted) {
    return std::count_if(figures.candidates.begin(), figures.candidates.end(), wanted);
  };
  const auto judged = count([](const CandidateFigure& one) { return !one.verdict.empty(); });
  html += Figure("candidates", std::to_string(figures.candidates.size()),
                 fmt::format("{} judged, {} accepted", judged, count([](const CandidateFigure& one) {
                               return one.verdict == NameOf(Decision::kAccepted);
                             })));
  html += Figure("time", HumanSeconds(run.seconds));
  if (story.usage.calls > 0)
    html += Figure(
        "tokens", ShortNumber(static_cast<double>(story.usage.prompt_tokens + story.usage.completion_tokens)),
        fmt::format("{} calls, {}{}", story.usage.calls,
                    story.usage.price_known ? fmt::format("${:.4f}", story.usage.cost_usd)
                                            : std::string("price not known"),
                    PartsOf(story.usage).empty() ? "" : "; " + PartsOf(story.usage)));
  return html + "</dl>\n</header>\n";
}

std::string RunFacts(const RunStory& story) {
  const RunRecord& run = story.run;
  const MendingUse mending = MendingOf(run, story.candidates, story.decisions);
  return FactList({{"run", fmt::format("R{} {}", run.id, run.name)},
                   {"status", run.status},
                   {"result", ResultWords(run.result)},
                   {"created", run.created},
                   {"finished", run.finished},
                   {"proposer", run.model.empty() ? run.proposer : run.proposer + ", " + run.model},
                   {"device", run.device.empty() ? "" : fmt::format("{} ({})", run.device, run.target)},
                   {"time", HumanSeconds(run.seconds)},
                   {"cost of models", story.usage.calls == 0 ? "no model was called" : Cost(story.usage)},
                   {"mechanical repair", mending.any() ? MendingWords(mending) : ""},
                   {"task file", run.task_path},
                   {"task sha256", run.task_sha256},
                   {"folder", run.folder}});
}

std::string CandidateTable(const RunStory& story, const PageLinks& links) {
  std::vector<std::vector<Cell>> rows;
  for (const CandidateRecord& one : story.candidates) {
    const bool timed = one.vs_best > 0 && one.verdict != "baseline";
    const bool best = !story.run.best_key.empty() && one.key == story.run.best_key;
    const std::string word = one.verdict.empty()                          ? "not judged"
                             : one.verdict == NameOf(Decision::kRejected) ? one.reason
                             : one.verdict == "baseline"                  ? "PyTorch"
                             : best                                       ? "accepted, best"
                                                                          : ReplaceAll(one.verdict, "_", " ");
    const std::string tone = best                                                                   ? "best"
                             : one.verdict == NameOf(Decision::kAccepted)                           ? "ok"
                             : one.verdict == NameOf(Decision::kRejected) && one.reason != "slower" ? "bad"
                                                                                                    : "same";
    rows.push_back(
        {{one.key, HrefOf(links, one.key), ""},
         {one.phase, "", ""},
         {word, "", tone},
         {timed ? TimesSign(one.vs_best) : "", "", ""},
         {timed ? fmt::format("{:.2f}–{:.2f}", one.ci_low, one.ci_high) : "", "", ""},
         {one.candidate_us > 0 ? Microseconds(one.candidate_us) : "", "", ""},
         {one.error_limit > 0 && one.error > 0 ? fmt::format("{:.2g}", one.error / one.error_limit) : "", "",
          ""},
         {one.kind, "", ""},
         {one.seconds > 0 ? HumanSeconds(one.seconds) : "", "", ""}});
  }
  return HtmlTable({"candidate", "phase", "verdict", "speed-up", "95% interval", "time per call",
                    "error / limit", "kind", "judging time"},
                   rows, "Candidates");
}

std::string LineageTree(const RunStory& story, const PageLinks& links) {
  std::set<std::string> seen;
  std::string html = Branch(Children(story), "", story.run.best_key, links, &seen);
  for (const CandidateRecord& one : story.candidates)
    if (seen.insert(one.key).second) html += "<li>" + Leaf(one, story.run.best_key, links) + "</li>\n";
  return "<ul class=\"tree\">\n" + html + "</ul>\n";
}

std::string DecisionTable(const RunStory& story) {
  std::vector<std::vector<Cell>> rows;
  for (const DecisionRecord& one : story.decisions)
    rows.push_back({{one.created, "", ""}, {one.phase, "", ""}, {one.text, "", ""}});
  return rows.empty() ? "<p class=\"quiet\">None.</p>\n"
                      : HtmlTable({"time", "phase", "decision"}, rows, "Decisions");
}

std::string TaskFacts(const RunStory& story) {
  Result<Json> context = ParseJson(story.run.card);
  if (!context.ok()) return "";
  const Json& card = GetMember(*context, "card");
  if (!card.is_object()) return "<p class=\"quiet\">The task was not analysed yet.</p>\n";
  std::vector<std::pair<std::string, std::string>> facts = {
      {"arithmetic", fmt::format("{} FLOP", ShortNumber(GetNumber(card, "flops")))},
      {"least memory traffic", HumanBytes(GetNumber(card, "least_bytes"))},
      {"weights", HumanBytes(GetNumber(card, "weight_bytes"))},
      {"operators", fmt::format("{} calls", GetInt(card, "operator_calls"))},
      {"serial chain", fmt::format("{} dependent steps", GetInt(card, "serial_chain"))},
      {"floor", GetNumber(card, "floor_us") > 0
                    ? fmt::format("{}, {} bound, from the measured peak rates of this device",
                                  Microseconds(GetNumber(card, "floor_us")), GetString(card, "floor_bound"))
                    : ""}};
  if (!GetString(card, "degenerate").empty()) facts.emplace_back("degenerate", GetString(card, "degenerate"));
  if (GetMember(card, "launches").is_number())
    facts.emplace_back("launches", fmt::format("{} per forward in PyTorch", GetInt(card, "launches")));
  // Every verdict has the same audit of the task's own tests.
  for (const CandidateRecord& one : story.candidates) {
    Result<Json> record = ParseJson(one.json);
    if (!record.ok()) continue;
    const Json& audit = GetMember(*record, "task_audit");
    if (!audit.is_object()) continue;
    const Json& blind = GetMember(audit, "blind_spots");
    const size_t missed = blind.is_array() ? blind.size() : 0;
    facts.emplace_back("audit", fmt::format("detects {} of {} wrong computations",
                                            GetInt(audit, "mutants") - static_cast<int64_t>(missed),
                                            GetInt(audit, "mutants")));
    std::vector<std::string> names;
    for (size_t i = 0; i < missed; ++i)
      if (blind[i].is_string()) names.push_back(blind[i].get<std::string>());
    facts.emplace_back("blind spots", Join(names, ", "));
    break;
  }
  std::string html = FactList(facts);
  if (!story.run.task_source.empty())
    html += Details(fmt::format("The task's file, {} lines", Lines(story.run.task_source).size()),
                    SourceWithFindings(story.run.task_source, Json::array(), "task"));
  return html;
}

}  // namespace hone
