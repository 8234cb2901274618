#include "report/run_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/text_wrap.h"
#include "report/mending_story.h"
#include "report/usage_words.h"
#include "store/record_io.h"
#include "store/run_result.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

std::string Money(const UsageTotals& usage) {
  if (usage.calls == 0) return "no model was called";
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

std::string VerdictText(const CandidateRecord& one) {
  return one.verdict.empty() ? "not judged" : ReplaceAll(one.verdict, "_", " ");
}

// Verdicts whose reason and detail say more than the candidate's title.
bool HasReason(const CandidateRecord& one) {
  return one.verdict == NameOf(Decision::kRejected) || one.verdict == NameOf(Decision::kCannotJudge) ||
         one.verdict == NameOf(Decision::kInconclusive);
}

Tone VerdictTone(const CandidateRecord& one) {
  if (one.accepted()) return Tone::kGood;
  if (one.verdict == NameOf(Decision::kRejected)) return Tone::kBad;
  return one.verdict == "baseline" || one.verdict.empty() ? Tone::kPlain : Tone::kNeutral;
}

Tone ToneOfResult(const std::string& result) {
  if (result == kAccepted) return Tone::kGood;
  return result == kRunFailed || result == kNoneRight ? Tone::kBad : Tone::kPlain;
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
  const std::string verdict = fmt::format("{:<13}", VerdictText(candidate));
  const Tone tone = VerdictTone(candidate);
  const std::string coloured = tone == Tone::kGood      ? style.Green(verdict)
                               : tone == Tone::kBad     ? style.Red(verdict)
                               : tone == Tone::kNeutral ? style.Yellow(verdict)
                                                        : verdict;
  const std::string key = fmt::format("{:<26} ", SafeForTerminal(candidate.key));
  std::string line;
  if (candidate.vs_best > 0 && candidate.verdict != "baseline") {
    line += fmt::format("{:>7.2f}x [{:.2f}, {:.2f}]", candidate.vs_best, candidate.ci_low, candidate.ci_high);
    line += fmt::format("  error {}/{}", HumanNumber(candidate.error), HumanNumber(candidate.error_limit));
    if (candidate.predicted_us > 0)
      line += fmt::format("  predicted {} took {}", HumanSeconds(candidate.predicted_us * 1e-6),
                          HumanSeconds(candidate.candidate_us * 1e-6));
    if (!candidate.kind.empty()) line += "  " + candidate.kind;
    if (HasReason(candidate)) line += "  " + candidate.reason;
  } else if (HasReason(candidate)) {
    line += candidate.reason;
    const std::vector<std::string> detail = Lines(candidate.detail);
    if (!detail.empty()) line += ": " + SafeForTerminal(detail[0]).substr(0, 160);
  } else if (!candidate.title.empty()) {
    line += SafeForTerminal(candidate.title);
  }
  // One line on a terminal; the whole text in a log.
  if (style.terminal()) {
    const int room = style.width() - DisplayWidth(key) - DisplayWidth(verdict) - 1;
    if (room < 4)
      line.clear();
    else if (DisplayWidth(line) > room)
      line = WrapText(line, room - 3)[0] + "...";
  }
  return key + coloured + " " + line;
}

namespace {

// The timeline of a run, one row per candidate.
std::string CandidateTable(const RunStory& story, const Style& style) {
  TextTable table;
  table.columns = {{"candidate", 0, 16, false},  {"verdict", 0, 10, false}, {"speed-up [95%]", 0, 0, false},
                   {"error/limit", 4, 0, false}, {"predicted", 6, 0, true}, {"time", 5, 0, true},
                   {"kind", 3, 0, false},        {"note", 2, 24, false}};
  for (const CandidateRecord& one : story.candidates) {
    const bool timed = one.vs_best > 0 && one.verdict != "baseline";
    const bool best = !story.run.best_key.empty() && one.key == story.run.best_key;
    std::string note = one.title;
    if (HasReason(one)) {
      const std::vector<std::string> detail = Lines(one.detail);
      note = one.reason + (detail.empty() || timed ? "" : ": " + detail[0].substr(0, 160));
    }
    table.rows.push_back(
        {std::string(static_cast<size_t>(2 * DepthOf(one, story.candidates)), ' ') + one.key,
         TableCell(VerdictText(one), VerdictTone(one)),
         timed ? fmt::format("{:.2f}x [{:.2f}, {:.2f}]", one.vs_best, one.ci_low, one.ci_high) : "",
         timed ? fmt::format("{}/{}", HumanNumber(one.error), HumanNumber(one.error_limit)) : "",
         one.predicted_us > 0 && timed ? HumanSeconds(one.predicted_us * 1e-6) : "",
         timed ? HumanSeconds(one.candidate_us * 1e-6) : "", timed ? one.kind : "",
         best ? TableCell("<- best", Tone::kStrong) : TableCell(note)});
  }
  return PrintTable(table, style);
}

std::string CallTable(const RunStory& story, const Style& style) {
  TextTable table;
  table.columns = {{"call", 0, 16, false},
                   {"model", 3, 10, false},
                   {"status", 2, 0, false},
                   {"in", 0, 0, true},
                   {"out", 0, 0, true}};
  for (const std::string& part : PartColumns(story.usage)) table.columns.push_back({part, 1, 0, true});
  table.columns.push_back({"cost", 0, 0, true});
  table.columns.push_back({"time", 4, 0, true});
  const auto add = [&](const std::string& key, const std::string& model, const std::string& status,
                       const Usage& usage, double seconds) {
    const std::string mark = usage.estimated ? "~" : "";
    std::vector<TableCell> row = {key, model, status, fmt::format("{}{}", mark, usage.prompt_tokens),
                                  fmt::format("{}{}", mark, usage.completion_tokens)};
    for (const std::string& part : PartCells(usage, story.usage)) row.emplace_back(part);
    row.emplace_back(usage.price_known ? fmt::format("${:.4f}", usage.cost_usd) : "?");
    row.emplace_back(seconds > 0 ? HumanSeconds(seconds) : "");
    table.rows.push_back(std::move(row));
  };
  double seconds = 0;
  for (const CallRecord& call : story.calls) {
    add(call.key, call.model, call.status, call, call.seconds);
    seconds += call.seconds;
  }
  add("all", "", "", story.usage, seconds);
  return PrintTable(table, style);
}

// "label  text", with more lines below the text.
std::string LabelledLine(const std::string& label, size_t width, const std::string& text,
                         const Style& style) {
  const std::string head = fmt::format("  {:<{}} ", label, width);
  const std::string line = SafeForTerminal(ReplaceAll(text, "\n", " "));
  return head + WrapIndented(line, static_cast<int>(head.size()), style.width()) + "\n";
}

}  // namespace

std::string RunText(const RunStory& story, const Style& style, bool verbose) {
  const RunRecord& run = story.run;
  const auto line = [&](const char* label, const std::string& value) {
    return LabelledLine(label, 13, value, style);
  };
  std::string text = style.Bold(SafeForTerminal(run.task)) + "\n";
  text += line("result", run.status == "running" ? "none yet" : ResultWords(run.result));
  text += line("outcome", run.outcome);
  if (!run.degenerate.empty()) text += line("degenerate", run.degenerate);
  text += line("run", fmt::format("R{} {}, {}", run.id, run.name, run.status));
  text += line("proposer", run.model.empty() ? run.proposer : run.proposer + ", " + run.model);
  text +=
      line("device", fmt::format("{} ({})", run.device.empty() ? "not known yet" : run.device, run.target));
  text += line("time", HumanSeconds(run.seconds));
  text += line("cost", Money(story.usage));
  if (const std::string parts = PartsOf(story.usage); !parts.empty()) text += line("of these", parts);
  if (const MendingUse mending = MendingOf(run, story.candidates, story.decisions); mending.any())
    text += line("mended", "mechanically: " + MendingWords(mending));
  if (!run.folder.empty()) text += line("folder", run.folder);
  text += "\n" + style.Bold("candidates") + "\n" + CandidateTable(story, style);
  text += "\n" + style.Bold("decisions") + "\n";
  for (const DecisionRecord& decision : story.decisions)
    if (verbose || decision.phase != "look") text += LabelledLine(decision.phase, 10, decision.text, style);
  if (verbose && !story.calls.empty())
    text += "\n" + style.Bold("model calls") + "\n" + CallTable(story, style);
  for (const CallRecord& call : story.calls) {
    if (!verbose || call.call_type != "agent") continue;
    for (const std::string& output : {call.reply, call.thinking})
      if (!output.empty())
        text += "\n" + style.Bold("end of what " + SafeForTerminal(call.key) + " printed") + "\n" +
                SafeForTerminal(Tail(output, 4000)) + "\n";
  }
  return text;
}

std::string RunLine(const RunRecord& run, bool abandoned, const Style& style) {
  const std::string status = abandoned ? "killed" : run.status;
  const std::string speed =
      run.best_key.empty() ? ResultWords(abandoned ? "" : run.result) : fmt::format("{:.2f}x", run.vs_best);
  const std::string padded = fmt::format("{:<8}", status);
  return fmt::format("R{:<6} {}  {:<26} {} {:>13}  {}", run.id, run.created, SafeForTerminal(run.task),
                     status == "done"      ? padded
                     : status == "running" ? style.Green(padded)
                                           : style.Yellow(padded),
                     speed, SafeForTerminal(run.name));
}

std::string RunListText(const std::vector<RunListRow>& rows, const Style& style) {
  TextTable table;
  table.columns = {{"run", 0, 0, false},    {"created", 3, 0, false}, {"task", 0, 14, false},
                   {"result", 0, 0, false}, {"vs best", 0, 0, true},  {"tags", 2, 10, false},
                   {"name", 4, 0, false}};
  for (const RunListRow& row : rows) {
    const RunRecord& run = row.run;
    const std::string status = row.abandoned ? "killed" : run.status;
    const std::string created =
        run.created.size() < 16 ? run.created : run.created.substr(0, 10) + " " + run.created.substr(11, 5);
    table.rows.push_back(
        {fmt::format("R{}", run.id), created, run.task,
         status == "done" ? TableCell(ResultWords(run.result), ToneOfResult(run.result))
                          : TableCell(status, status == "failed" ? Tone::kBad : Tone::kNeutral),
         run.best_key.empty() ? "" : fmt::format("{:.2f}x", run.vs_best), Join(row.tags, " "), run.name});
  }
  return PrintTable(table, style);
}

OrderedJson RunToJson(const RunRecord& run) {
  OrderedJson json = {{"id", fmt::format("R{}", run.id)}};
  json.update(RecordToJson(run, Extent::kList));
  return json;
}

}  // namespace hone
