#include "report/run_report.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hone {

namespace {

std::string Money(const UsageTotals& usage) {
  if (usage.calls == 0) return "no model was asked";
  return fmt::format("{} calls, {} + {} tokens{}, {}", usage.calls, usage.prompt_tokens,
                     usage.completion_tokens, usage.estimated ? " (partly estimated)" : "",
                     usage.price_known ? fmt::format("${:.4f}", usage.cost_usd) : "price not known");
}

int DepthOf(const CandidateRecord& candidate, const std::vector<CandidateRecord>& all) {
  int depth = 0;
  std::string parent = candidate.parent_key;
  while (!parent.empty() && depth < 8) {
    ++depth;
    std::string next;
    for (const CandidateRecord& one : all)
      if (one.key == parent) next = one.parent_key;
    parent = next;
  }
  return depth;
}

}  // namespace

Result<RunStory> ReadStory(RunStore& store, const std::string& what) {
  RunStory story;
  HONE_ASSIGN_OR_RETURN(story.run, store.FindRun(what));
  HONE_ASSIGN_OR_RETURN(story.candidates, store.Candidates(story.run.id));
  HONE_ASSIGN_OR_RETURN(story.decisions, store.Decisions(story.run.id));
  HONE_ASSIGN_OR_RETURN(story.calls, store.Calls(story.run.id));
  HONE_ASSIGN_OR_RETURN(story.usage, store.Usage(story.run.id));
  return story;
}

std::string CandidateLine(const CandidateRecord& candidate, const Style& style) {
  const std::string verdict =
      fmt::format("{:<13}", candidate.verdict.empty() ? "not judged" : candidate.verdict);
  const std::string coloured = candidate.accepted()                   ? style.Green(verdict)
                               : candidate.verdict == "rejected"      ? style.Red(verdict)
                               : candidate.verdict == "no_difference" ? style.Yellow(verdict)
                                                                      : verdict;
  std::string line = fmt::format("{:<26} {} ", SafeForTerminal(candidate.key), coloured);
  if (candidate.vs_best > 0 && candidate.verdict != "baseline") {
    line += fmt::format("{:>7.2f}x [{:.2f}, {:.2f}]", candidate.vs_best, candidate.ci_low, candidate.ci_high);
    line += fmt::format("  error {}/{}", HumanNumber(candidate.error), HumanNumber(candidate.error_limit));
    if (candidate.predicted_us > 0)
      line += fmt::format("  predicted {} took {}", HumanSeconds(candidate.predicted_us * 1e-6),
                          HumanSeconds(candidate.candidate_us * 1e-6));
    if (!candidate.kind.empty()) line += "  " + candidate.kind;
    if (candidate.verdict == "rejected") line += "  " + candidate.reason;
  } else if (candidate.verdict == "rejected") {
    line += candidate.reason;
    const std::vector<std::string> detail = Lines(candidate.detail);
    if (!detail.empty()) line += ": " + SafeForTerminal(detail[0]).substr(0, 160);
  } else if (!candidate.title.empty()) {
    line += SafeForTerminal(candidate.title);
  }
  return line;
}

std::string RunText(const RunStory& story, const Style& style, bool verbose) {
  const RunRecord& run = story.run;
  std::string text = fmt::format("{}  {}\n", style.Bold(run.task), SafeForTerminal(run.outcome));
  text += fmt::format("  run           R{} {}, {}\n", run.id, run.name, run.status);
  text += fmt::format("  proposer      {}{}\n", SafeForTerminal(run.proposer),
                      run.model.empty() ? "" : ", " + SafeForTerminal(run.model));
  text +=
      fmt::format("  device        {} ({})\n", run.device.empty() ? "not known yet" : run.device, run.target);
  text += fmt::format("  took          {}\n", HumanSeconds(run.seconds));
  text += fmt::format("  cost          {}\n", Money(story.usage));
  text += fmt::format("  folder        {}\n", run.folder);
  text += "candidates\n";
  for (const CandidateRecord& candidate : story.candidates) {
    const int depth = DepthOf(candidate, story.candidates);
    text +=
        fmt::format("  {:{}}{}{}\n", "", 2 * depth, CandidateLine(candidate, style),
                    candidate.key == run.best_key && !run.best_key.empty() ? style.Bold("  <- best") : "");
  }
  text += "decisions\n";
  for (const DecisionRecord& decision : story.decisions)
    if (verbose || decision.phase != "look")
      text += fmt::format("  {:<10} {}\n", decision.phase, SafeForTerminal(decision.text));
  return text;
}

std::string RunLine(const RunRecord& run, bool abandoned, const Style& style) {
  const std::string status = abandoned ? "killed" : run.status;
  const std::string speed =
      run.best_key.empty() ? (run.status == "done" ? "PyTorch" : "-") : fmt::format("{:.2f}x", run.vs_best);
  const std::string padded = fmt::format("{:<8}", status);
  return fmt::format("R{:<6} {}  {:<26} {} {:>9}  {}", run.id, run.created, run.task,
                     status == "done"      ? padded
                     : status == "running" ? style.Green(padded)
                                           : style.Yellow(padded),
                     speed, run.name);
}

OrderedJson RunToJson(const RunRecord& run) {
  return {{"id", fmt::format("R{}", run.id)},
          {"name", run.name},
          {"created", run.created},
          {"finished", run.finished},
          {"status", run.status},
          {"task", run.task},
          {"target", run.target},
          {"device", run.device},
          {"proposer", run.proposer},
          {"model", run.model},
          {"best", run.best_key.empty() ? "pytorch" : run.best_key},
          {"vs_best", run.vs_best},
          {"vs_eager", run.vs_eager},
          {"outcome", run.outcome},
          {"seconds", run.seconds},
          {"folder", run.folder}};
}

}  // namespace hone
