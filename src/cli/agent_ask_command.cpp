// The implementation of ./lint, ./bench and ./history in an agent's folder. They send a request to the
// folder's run (pipeline/agent_desk.h) and print its answer, JSON on standard output and text on standard
// error. This process judges nothing.
#include <fmt/format.h>

#include <cstdio>

#include "base/terminal.h"
#include "base/text.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/agent_desk.h"
#include "report/verdict_report.h"

namespace hone {

namespace {

struct AgentAskFlags {
  std::string verb;
  std::string file;
  std::string folder;
  std::string parent;
  std::string note;
};

std::string LeftText(const Json& left) {
  const Json& evaluations = GetMember(left, "evaluations");
  const std::string time = HumanSeconds(GetNumber(left, "seconds"));
  return evaluations.is_number() ? fmt::format("{} evaluations and {} left", evaluations.get<int>(), time)
                                 : time + " left";
}

std::string FindingText(const Json& finding) {
  const std::string fix = GetString(finding, "fix");
  return fmt::format("line {}: {} {}: {}{}\n", GetInt(finding, "line"), GetString(finding, "severity"),
                     GetString(finding, "rule"), GetString(finding, "message"),
                     fix.empty() ? "" : " Fix: " + fix);
}

int PrintLint(const Json& answer) {
  bool broken = false;
  const Json& findings = GetMember(answer, "findings");
  for (const Json& finding : findings) {
    broken = broken || GetString(finding, "severity") == "error";
    fmt::print(stderr, "{}", SafeForTerminal(FindingText(finding)));
  }
  if (findings.empty()) fmt::print(stderr, "no findings\n");
  return broken ? kExitRejected : kExitAccepted;
}

int PrintHistory(const Json& answer) {
  TextTable table;
  table.columns = {{"candidate"}, {"verdict"},     {"reason"}, {"speed-up", 0, 0, true},
                   {"parent", 2}, {"title", 1, 20}};
  for (const Json& one : GetMember(answer, "candidates")) {
    const double speed = GetNumber(one, "vs_best");
    table.rows.push_back({GetString(one, "key"), GetString(one, "verdict"), GetString(one, "reason"),
                          speed > 0 ? fmt::format("{:.2f}x", speed) : "", GetString(one, "parent"),
                          GetString(one, "title")});
  }
  fmt::print(stderr, "{}", PrintTable(table, Style(stderr)));
  return kExitAccepted;
}

int PrintVerdict(const Json& answer) {
  const Json& record = GetMember(answer, "record");
  fmt::print(stderr, "{}: {}{}\n", GetString(answer, "key"), GetString(answer, "verdict"),
             GetBool(answer, "recorded_before") ? " (judged before in this run)" : "");
  if (record.is_object()) fmt::print(stderr, "{}", VerdictText(record, Style(stderr), false));
  const std::string remark = GetString(answer, "remark");
  if (!remark.empty()) fmt::print(stderr, "{}\n", remark);
  return GetString(answer, "verdict") == "accepted" ? kExitAccepted : kExitRejected;
}

Result<int> AskForAgent(const AgentAskFlags& flags) {
  DeskRequest request;
  request.verb = flags.verb;
  request.parent = flags.parent;
  request.note = flags.note;
  if (flags.verb != "history") {
    if (flags.file.empty())
      return Error{ErrorKind::kUsage, fmt::format("{0} needs a file: ./{0} FILE", flags.verb)};
    Result<std::string> source = ReadFile(flags.file, kMostCandidateBytes);
    if (!source.ok()) return Error{ErrorKind::kUsage, source.error().message};
    request.source = std::move(*source);
    request.name = fs::path(flags.file).filename().string();
  }
  HONE_ASSIGN_OR_RETURN(const Json answer, AskDesk(flags.folder, request));
  fmt::print("{}\n", DumpJson(answer));
  std::fflush(stdout);
  const std::string status = GetString(answer, "status");
  int code = kExitCannot;
  if (status == "judged") code = PrintVerdict(answer);
  if (status == "linted") code = PrintLint(answer);
  if (status == "listed") code = PrintHistory(answer);
  if (code == kExitCannot)
    fmt::print(stderr, "hone: not judged: {}\n", SafeForTerminal(GetString(answer, "message")));
  if (answer.is_object() && answer.contains("left"))
    fmt::print(stderr, "{}\n", LeftText(GetMember(answer, "left")));
  return code;
}

}  // namespace

void AddAgentAskCommand(CommandTable& table) {
  Command& command = table.Add("agent-ask", "Ask the run that an agent's folder belongs to");
  command.Hidden();
  auto flags = std::make_shared<AgentAskFlags>();
  command.Add("VERB", &flags->verb, "What to ask for").Required().OneOf({"bench", "lint", "history"});
  command.Add("FILE", &flags->file, "File that defines ModelNew");
  command.Add("--folder", &flags->folder, "The agent's folder").Required().Placeholder("DIR");
  command.Add("--parent", &flags->parent, "Key of the candidate that this one was made from")
      .Placeholder("KEY");
  command.Add("--note", &flags->note, "What is new in it, in a few words").Placeholder("TEXT");
  command.Example("hone agent-ask bench mine.py --folder runs/RUN/agent --parent agent1");
  command.Runs([flags] { return AskForAgent(*flags); });
}

}  // namespace hone
