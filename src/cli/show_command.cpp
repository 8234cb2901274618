#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"
#include "evaluation/provenance.h"
#include "report/run_report.h"
#include "report/verdict_report.h"
#include "store/run_store.h"

namespace hone {

namespace {

struct ShowFlags : JudgeFlags {
  std::string what;
  bool json = false;
  bool verbose = false;
};

// "V12" -> 12; 0 when it is something else.
int64_t VerdictNumber(const std::string& text) {
  int64_t number = 0;
  if (text.size() < 2 || (text[0] != 'V' && text[0] != 'v')) return 0;
  const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? number : 0;
}

Result<int> ShowVerdict(const ShowFlags& flags, int64_t number) {
  HONE_ASSIGN_OR_RETURN(Store store, Store::Open());
  HONE_ASSIGN_OR_RETURN(const VerdictRecord record, store.Verdict(number));
  if (flags.json) {
    fmt::print("{}\n", record.json);
  } else {
    HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(record.json));
    fmt::print("V{}  {}\n{}", record.id, record.created, VerdictText(json, Style(stdout), flags.verbose));
  }
  return 0;
}

Result<int> ShowRun(const ShowFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const RunStory story, ReadStory(*store, flags.what));
  if (!flags.json) {
    fmt::print("{}", RunText(story, Style(stdout), flags.verbose));
    return 0;
  }
  OrderedJson json = RunToJson(story.run);
  json["candidates"] = OrderedJson::array();
  for (const CandidateRecord& one : story.candidates) {
    OrderedJson row = {{"key", one.key},           {"parent", one.parent_key},
                       {"phase", one.phase},       {"kernel_class", one.kernel_class},
                       {"verdict", one.verdict},   {"reason", one.reason},
                       {"detail", one.detail},     {"kind", one.kind},
                       {"vs_best", one.vs_best},   {"ci95", {one.ci_low, one.ci_high}},
                       {"vs_eager", one.vs_eager}, {"error", one.error},
                       {"limit", one.error_limit}, {"seconds", one.seconds}};
    if (flags.verbose) row["source"] = one.source;
    json["candidates"].push_back(row);
  }
  json["decisions"] = OrderedJson::array();
  for (const DecisionRecord& one : story.decisions)
    json["decisions"].push_back({{"key", one.key}, {"phase", one.phase}, {"text", one.text}});
  fmt::print("{}\n", DumpJson(json, 2));
  return 0;
}

Result<int> ShowTask(const ShowFlags& flags) {
  HONE_ASSIGN_OR_RETURN(TaskFile task, LoadTaskFile(flags.what));
  HONE_ASSIGN_OR_RETURN(const SessionOptions options, ResolveJudge(flags));
  LiveLine line(LiveLine::Choose(true));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ReferenceSession> session,
                        ReferenceSession::Open(std::move(task), options,
                                               line.AsProgress(fs::path(flags.what).stem().string())));
  line.Clear();
  Json mutants = Json::array();
  for (const MutantResult& mutant : session->mutants())
    mutants.push_back({{"name", mutant.name},
                       {"times_over_limit", mutant.error},
                       {"regime", mutant.regime},
                       {"told_apart", mutant.told_apart}});
  if (flags.json) {
    Json json = {
        {"task", session->task().name},
        {"card", ToJson(session->card())},
        {"mutants", mutants},
        {"device", options.device == "cuda" ? GetString(session->facts(), "device_name") : CpuName()},
        {"stateful", session->stateful()},
        {"random_in_forward", session->random_in_forward()},
        {"limit", session->WidestLimit()},
        {"eager_us", session->eager_us()}};
    fmt::print("{}\n", DumpJson(json, 2));
    return 0;
  }
  const Style style(stdout);
  fmt::print("{}  on {}\n{}", style.Bold(session->task().name),
             options.device == "cuda" ? GetString(session->facts(), "device_name") : CpuName(),
             CardText(session->card()));
  fmt::print("  {:<14}{}\n", "PyTorch",
             options.device == "cuda"
                 ? fmt::format("{} per call", HumanSeconds(session->eager_us() * 1e-6))
                 : fmt::format("{} per call with {} threads", HumanSeconds(session->eager_us() * 1e-6),
                               session->threads()));
  fmt::print("  {:<14}{} (PyTorch's own error against {}: {})\n", "error limit",
             HumanNumber(session->WidestLimit()), session->truth_note(),
             HumanNumber(session->WidestReferenceError()));
  if (session->stateful()) fmt::print("  {:<14}keeps state between calls\n", "module");
  if (session->random_in_forward()) fmt::print("  {:<14}draws random numbers in forward\n", "module");
  fmt::print("  {:<14}wrong variants of the task and their error as a multiple of the limit\n", "audit");
  for (const MutantResult& mutant : session->mutants())
    fmt::print("    {:<38} {:>10}x  {}\n", mutant.name, HumanNumber(mutant.error),
               mutant.told_apart ? "detected (" + mutant.regime + ")" : style.Red("not detected"));
  return 0;
}

// A file is a task; "V12" a verdict; a folder or anything else a run.
Result<int> Show(const ShowFlags& flags) {
  std::error_code ignored;
  if (fs::is_regular_file(flags.what, ignored)) return ShowTask(flags);
  const int64_t number = VerdictNumber(flags.what);
  if (number > 0) return ShowVerdict(flags, number);
  if (EndsWith(flags.what, ".py")) return ShowTask(flags);
  return ShowRun(flags);
}

}  // namespace

void AddShowCommand(CommandTable& table) {
  Command& command = table.Add("show", "Show a run, a stored verdict, or the operators and limits of a task");
  auto flags = std::make_shared<ShowFlags>();
  command.Add("WHAT", &flags->what, "Task file, run (name, folder, R<number>, last), or verdict such as V12")
      .Required();
  command.Add("--json", &flags->json, "Print JSON");
  command.Add("-v,--verbose", &flags->verbose, "Print every measured value");
  AddJudgeFlags(command, flags.get());
  command.Example("hone show tasks/39_GRU.py");
  command.Example("hone show last");
  command.Example("hone show V12 --json");
  command.Runs([flags] { return Show(*flags); });
}

}  // namespace hone
