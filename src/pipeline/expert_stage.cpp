// The expert's proposals: a screening run for all of them, the full judge for the most promising. A few
// proposals for a quick task are all judged. For a slow task the judge's time goes to the most promising
// ones.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/expert.h"
#include "graph/graph_json.h"
#include "graph/rewrites/rewrite.h"
#include "pipeline/spine.h"

namespace hone {

namespace {

// A candidate slower than PyTorch's best by this factor in the screening run is not judged.
constexpr double kHopeless = 1.15;
// Nor is a candidate slower by this factor than an accepted candidate was in its screening run.
constexpr double kBehindAccepted = 1.05;

}  // namespace

Result<QuickLook> Spine::Look(const std::string& key, const std::string& source) {
  HONE_ASSIGN_OR_RETURN(const std::optional<DecisionRecord> kept,
                        recorder_.store().Decision(recorder_.run().id, "look:" + key));
  if (kept) {
    const Result<Json> json = ParseJson(kept->json);
    if (json.ok())
      return QuickLook{GetBool(*json, "right"), GetString(*json, "why"), GetNumber(*json, "call_us")};
  }
  HONE_RETURN_IF_ERROR(MayGoOn());
  const CandidateRecord candidate = MakeCandidate(key, "", "look", source);
  const CandidateFile file{recorder_.folder() / "code" / (FileNameOf(key) + ".py"), FileNameOf(key), source,
                           candidate.sha256};
  const Result<QuickLook> look =
      Answer(judge_.Look(file, [&](const std::string& phase, int, int) { recorder_.Doing(key, phase); }));
  recorder_.Doing(key, "");
  HONE_RETURN_IF_ERROR(look);
  HONE_RETURN_IF_ERROR(recorder_.Decide(
      "look:" + key, "look",
      look->right
          ? fmt::format("{}: {} in the screening run", key, HumanSeconds(look->call_us * 1e-6))
          : fmt::format("{}: failed the screening run: {}", key, SafeForTerminal(Lines(look->why + "\n")[0])),
      {{"right", look->right}, {"why", look->why}, {"call_us", look->call_us}}));
  return *look;
}

Status Spine::Expert() {
  ExpertInputs inputs;
  inputs.task = task_;
  inputs.card = CardFromJson(context_.card);
  inputs.facts = context_.facts;
  inputs.target = recorder_.run().target;
  inputs.device = GetString(context_.machine, "device", "cpu");
  inputs.machine = context_.machine;
  inputs.why_no_graph = context_.why_no_graph;
  const Stopwatch own_work;  // without the capture, which the worker does
  if (!context_.graph.is_null()) {
    Result<graph::Graph> graph = graph::GraphFromJson(context_.graph);
    if (graph.ok())
      inputs.graph = std::make_shared<const graph::Graph>(std::move(*graph));
    else
      inputs.why_no_graph = graph.error().message;
  }
  if (inputs.graph != nullptr) {
    HONE_ASSIGN_OR_RETURN(const graph::RewriteSummary rewrites, graph::SummariseRewrites(*inputs.graph));
    HONE_RETURN_IF_ERROR(
        recorder_.Decide("rewrites", "expert", graph::ToText(rewrites), graph::ToJson(rewrites)));
  }
  HONE_ASSIGN_OR_RETURN(const ExpertAnswer answer, ProposeExpert(inputs));
  const double seconds = own_work.seconds();
  HONE_RETURN_IF_ERROR(recorder_.Decide(
      "expert_time", "expert",
      fmt::format("reading the graph and writing {} candidate{} took {}", answer.proposals.size(),
                  answer.proposals.size() == 1 ? "" : "s", HumanSeconds(seconds)),
      {{"seconds", seconds}, {"candidates", answer.proposals.size()}}));
  if (!answer.recognised.empty())
    HONE_RETURN_IF_ERROR(recorder_.Decide("recognised", "expert", answer.recognised));
  // Recipes for another device say nothing about the task, so they share one line.
  std::vector<std::string> for_another_device;
  for (const Declined& declined : answer.declined) {
    if (declined.other_device)
      for_another_device.push_back(declined.recipe);
    else
      HONE_RETURN_IF_ERROR(
          recorder_.Decide("declined:" + declined.recipe, "expert",
                           fmt::format("{}: not proposed: {}", declined.recipe, declined.why)));
  }
  if (!for_another_device.empty())
    HONE_RETURN_IF_ERROR(recorder_.Decide("other_device", "expert",
                                          fmt::format("{} recipes are only for {}", for_another_device.size(),
                                                      inputs.device == "cuda" ? "a CPU" : "a GPU"),
                                          {{"recipes", for_another_device}}));
  struct Entry {
    CandidateRecord candidate;
    QuickLook look;
    bool is_baseline = false;
  };
  std::vector<Entry> entries;
  for (const Proposal& proposal : answer.proposals) {
    const std::string key = FileNameOf(ReplaceAll(proposal.recipe, "/", "."));
    HONE_ASSIGN_OR_RETURN(const std::optional<CandidateRecord> kept,
                          recorder_.store().Candidate(recorder_.run().id, key));
    Entry entry{kept ? *kept : MakeCandidate(key, "", "expert", proposal.source), {}, proposal.is_baseline};
    if (!kept) {
      entry.candidate.title = proposal.title;
      entry.candidate.predicted_us = proposal.predicted_us;
      HONE_RETURN_IF_ERROR(recorder_.Keep(entry.candidate));
    }
    entries.push_back(std::move(entry));
  }
  // A copy of a baseline cannot be faster than the best baseline, so it comes last.
  std::stable_partition(entries.begin(), entries.end(), [](const Entry& e) { return !e.is_baseline; });
  const auto first_baseline =
      std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.is_baseline; });
  if (first_baseline != entries.begin()) {
    for (auto entry = first_baseline; entry != entries.end(); ++entry)
      HONE_RETURN_IF_ERROR(recorder_.Decide(
          "left_out:" + entry->candidate.key, "expert",
          fmt::format("{}: not judged: it is one of the baselines that others are measured against",
                      entry->candidate.key)));
    entries.erase(first_baseline, entries.end());
  }
  // On a GPU a verdict takes several times as long as a screening run.
  const bool on_gpu = inputs.device == "cuda";
  const bool all =
      static_cast<int>(entries.size()) <= options_.judge_at_most && (!on_gpu || entries.size() < 2);
  for (Entry& entry : entries) {
    if (all) break;
    HONE_ASSIGN_OR_RETURN(entry.look, Look(entry.candidate.key, entry.candidate.source));
  }
  if (!all)
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      if (a.look.right != b.look.right) return a.look.right;
      return a.look.right && a.look.call_us < b.look.call_us;
    });
  int judged = 0;
  double accepted_us = 0;  // screening time of the fastest accepted candidate
  for (Entry& entry : entries) {
    const bool behind = accepted_us > 0 && entry.look.call_us > kBehindAccepted * accepted_us;
    const bool hopeless =
        !all && entry.look.right && entry.look.call_us > kHopeless * context_.best_us && judged > 0;
    const bool wrong = !all && on_gpu && !entry.look.right && judged > 0;
    if (!all && (hopeless || behind || wrong || judged >= options_.judge_at_most)) {
      HONE_RETURN_IF_ERROR(
          recorder_.Decide("left_out:" + entry.candidate.key, "expert",
                           fmt::format("{}: not judged: {}", entry.candidate.key,
                                       !entry.look.right ? "it failed the screening run"
                                       : hopeless ? "slower than the best baseline in the screening run"
                                       : behind   ? "slower than an accepted candidate in the screening run"
                                                  : "others were faster in the screening run")));
      continue;
    }
    // Not mended if it fails: lint has no error or warning for any file of the expert (expert_test.cpp), so
    // `hone lint --fix` has nothing to fix.
    HONE_ASSIGN_OR_RETURN(const CandidateRecord record, Judge(entry.candidate));
    if (record.accepted() && !all && accepted_us == 0) accepted_us = entry.look.call_us;
    ++judged;
  }
  return Ok();
}

}  // namespace hone
