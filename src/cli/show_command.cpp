#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/text_wrap.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"
#include "cli/module_task.h"
#include "evaluation/provenance.h"
#include "evaluation/task_graph.h"
#include "graph/cost.h"
#include "graph/degenerate.h"
#include "graph/graph_json.h"
#include "graph/graph_text.h"
#include "graph/rewrites/rewrite.h"
#include "report/html_page.h"
#include "report/plots/graph_plot.h"
#include "report/run_report.h"
#include "report/usage_words.h"
#include "report/verdict_report.h"
#include "store/record_io.h"
#include "store/run_store.h"

namespace hone {

namespace {

struct ShowFlags : JudgeFlags {
  std::string what;
  ModuleFlags module;
  bool json = false;
  bool verbose = false;
  bool graph = false;
  bool rewrite = false;
  std::string svg;  // a file
};

// Parses "V12" as 12; 0 for other texts.
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
    OrderedJson row = RecordToJson(one, Extent::kList);
    if (flags.verbose) row["source"] = one.source;
    json["candidates"].push_back(row);
  }
  json["mending"] = ToJson(MendingOf(story.run, story.candidates, story.decisions));
  json["decisions"] = OrderedJson::array();
  for (const DecisionRecord& one : story.decisions)
    json["decisions"].push_back({{"key", one.key}, {"phase", one.phase}, {"text", one.text}});
  if (!story.calls.empty()) {
    json["usage"] = UsageJson(story.usage);
    json["calls"] = OrderedJson::array();
    for (const CallRecord& call : story.calls) json["calls"].push_back(CallJson(call));
  }
  fmt::print("{}\n", DumpJson(json, 2));
  return 0;
}

// Captures only the task's graph, without truth and baselines.
Result<int> ShowGraph(const ShowFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const TaskFile task, LoadTaskFile(flags.what));
  HONE_ASSIGN_OR_RETURN(const SessionOptions options, ResolveJudge(flags));
  LiveLine line(LiveLine::Choose(true));
  HONE_ASSIGN_OR_RETURN(TaskGraph captured,
                        CaptureGraph(task, options, line.AsProgress(fs::path(flags.what).stem().string())));
  line.Clear();
  if (!captured.graph) {
    if (flags.json)
      fmt::print("{}\n", DumpJson(Json{{"task", task.name}, {"declined", captured.declined}}, 2));
    else
      fmt::print("{}: no graph: {}\n", task.name, captured.declined);
    return kExitRejected;
  }
  graph::Graph& graph = *captured.graph;
  std::vector<graph::AppliedRewrite> applied;
  if (flags.rewrite) {
    HONE_ASSIGN_OR_RETURN(applied, graph::ApplyRewrites(graph));
  }
  if (!flags.svg.empty())
    HONE_RETURN_IF_ERROR(WriteFileAtomic(flags.svg, DrawGraph(graph, task.name).Standalone(PlotStyle())));
  if (flags.json) {
    fmt::print("{}\n", DumpJson(graph::ToJson(graph), 2));
    return 0;
  }
  if (flags.graph) fmt::print("{}", graph::ToText(graph));
  fmt::print("{} operators, {:.4g} GFLOP per call; {}\n", graph::NodesPerCall(graph),
             graph::FlopsPerCall(graph) / 1e9, graph.note);
  TextTable table;
  table.columns = {{"rewrite", 0, 0, false},
                   {"times", 0, 0, true},
                   {"operators saved", 0, 0, true},
                   {"GFLOP saved", 0, 0, true},
                   {"what it does", 0, 24, false}};
  for (const graph::AppliedRewrite& one : applied)
    table.rows.push_back({one.name, fmt::format("{}", one.times), fmt::format("{}", one.nodes_removed),
                          fmt::format("{:.4g}", one.flops_removed / 1e9), one.what});
  if (!applied.empty()) fmt::print("{}", PrintTable(table, Style(stdout)));
  if (flags.rewrite && graph::IsDegenerate(graph))
    fmt::print("  degenerate: {}\n", graph::ExplainDegenerate(applied).why);
  return 0;
}

// Facts about the graph of a task: its size, and what remains after rewrites, or why there is no graph.
struct GraphFacts {
  int operators = 0;  // operators in every call
  int rewritten = 0;
  bool verified = false;
  std::string declined;
};

Result<GraphFacts> LearnGraph(const TaskGraph& captured) {
  GraphFacts facts;
  facts.declined = captured.declined;
  if (!captured.graph) return facts;
  graph::Graph graph = *captured.graph;
  facts.operators = graph::NodesPerCall(graph);
  facts.verified = graph.verified;
  HONE_RETURN_IF_ERROR(graph::ApplyRewrites(graph));
  facts.rewritten = graph::NodesPerCall(graph);
  return facts;
}

std::string GraphLine(const GraphFacts& facts) {
  if (!facts.declined.empty()) return "none: " + facts.declined;
  std::string text = fmt::format("{} operators, {} after rewrites", facts.operators, facts.rewritten);
  if (!facts.verified) text += " (not run against the module)";
  return text;
}

Result<int> ShowTask(const ShowFlags& flags) {
  if (flags.graph || flags.rewrite || !flags.svg.empty()) return ShowGraph(flags);
  HONE_ASSIGN_OR_RETURN(TaskFile task, LoadTaskFile(flags.what));
  HONE_ASSIGN_OR_RETURN(SessionOptions options, ResolveJudge(flags));
  options.capture_graph = true;
  LiveLine line(LiveLine::Choose(true));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<ReferenceSession> session,
                        ReferenceSession::Open(std::move(task), options,
                                               line.AsProgress(fs::path(flags.what).stem().string())));
  HONE_ASSIGN_OR_RETURN(const GraphFacts graph_facts, LearnGraph(session->graph()));
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
        {"graph",
         {{"operators", graph_facts.operators},
          {"after_rewrites", graph_facts.rewritten},
          {"verified", graph_facts.verified},
          {"degenerate", !session->card().degenerate.empty()},
          {"declined", graph_facts.declined}}},
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
             CardText(session->card(), style.width()));
  const auto fact = [&](const char* label, const std::string& value) {
    constexpr int kIndent = 16;
    fmt::print("  {:<{}}{}\n", label, kIndent - 2, WrapIndented(value, kIndent, style.width()));
  };
  fact("PyTorch", options.device == "cuda"
                      ? fmt::format("{} per call", HumanSeconds(session->eager_us() * 1e-6))
                      : fmt::format("{} per call with {} thread{}", HumanSeconds(session->eager_us() * 1e-6),
                                    session->threads(), session->threads() == 1 ? "" : "s"));
  fact("error limit",
       fmt::format("{} (PyTorch's own error against {}: {})", HumanNumber(session->WidestLimit()),
                   session->truth_note(), HumanNumber(session->WidestReferenceError())));
  fact("graph", GraphLine(graph_facts));
  if (session->stateful()) fact("module", "keeps state between calls");
  if (session->random_in_forward()) fact("module", "draws random numbers in forward");
  TextTable audit;
  audit.columns = {
      {"wrong variant of the task", 0, 20, false}, {"error / limit", 0, 0, true}, {"judge", 0, 14, false}};
  for (const MutantResult& mutant : session->mutants())
    audit.rows.push_back({mutant.name, HumanNumber(mutant.error) + "x",
                          mutant.told_apart ? TableCell("detected (" + mutant.regime + ")")
                                            : TableCell("not detected", Tone::kBad)});
  if (!audit.rows.empty()) fmt::print("\n{}", PrintTable(audit, style));
  return 0;
}

// A file is a task, "V12" is a verdict, and a folder or any other text is a run.
Result<int> Show(ShowFlags flags) {
  std::error_code ignored;
  if (ParseModuleReference(flags.what) || !flags.module.inputs.empty()) {
    HONE_ASSIGN_OR_RETURN(const fs::path task, TaskFileFor(flags.what, flags.module, flags.python));
    flags.what = task.string();
  }
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
  command
      .Add("WHAT", &flags->what,
           "Task file, module (FILE.py:NAME), run (name, folder, R<number>, last), or verdict such as V12")
      .Required();
  command.Add("--json", &flags->json, "Print JSON");
  command.Add("--graph", &flags->graph, "Print the graph of a task: its operators with shapes, in order");
  command.Add("--rewrite", &flags->rewrite,
              "Simplify the graph first and list the rewrites that were applied");
  command.Add("--svg", &flags->svg, "Draw the graph of a task into this SVG file");
  command.Add("-v,--verbose", &flags->verbose, "Print every measured value");
  AddModuleFlags(command, &flags->module);
  AddJudgeFlags(command, flags.get());
  command.Example("hone show tasks/39_GRU.py");
  command.Example("hone show tasks/39_GRU.py --graph --svg gru.svg");
  command.Example("hone show last");
  command.Example("hone show V12 --json");
  command.Runs([flags] { return Show(*flags); });
}

}  // namespace hone
