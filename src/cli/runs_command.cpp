#include <fmt/format.h>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_lock.h"
#include "report/run_report.h"
#include "store/overview.h"
#include "store/record_io.h"
#include "store/run_notes.h"

namespace hone {

namespace {

Result<int> ListStoredRuns(int most, const std::string& tag, const std::vector<std::string>& below,
                           bool json) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(auto notes, ReadRunNotes(*store));
  RunQuery query;
  query.tag = tag;
  query.below = below;
  query.most = most;
  HONE_ASSIGN_OR_RETURN(const RunList list, ListRuns(*store, query));
  if (list.rows.empty() && !json)
    fmt::print(stderr, "{}",
               !below.empty() ? "hone: no run has its folder there\n"
               : tag.empty()
                   ? "hone: no runs yet; try: hone optimize TASK (verdicts of `hone bench`: hone runs "
                     "--verdicts)\n"
                   : "hone: no run has the tag " + SafeForTerminal(tag) + "\n");
  std::vector<RunListRow> rows;
  for (const RunRow& one : list.rows) {
    HONE_ASSIGN_OR_RETURN(const RunRecord run, store->RunSummary(one.run.id));
    const RunNote& note = notes[run.id];
    if (json) {
      OrderedJson line = RunToJson(run);
      line["tags"] = note.tags;
      line["note"] = note.text;
      line["abandoned"] = IsAbandoned(run);
      // The process that executes the run; 0 if there is none.
      line["worker"] = run.status == "running" ? WorkerOf(run.id) : 0;
      fmt::print("{}\n", DumpJson(line));
    }
    rows.push_back({run, IsAbandoned(run), note.tags});
  }
  if (!json && !rows.empty()) fmt::print("{}", RunListText(rows, Style(stdout)));
  return 0;
}

Result<int> ListVerdicts(int most, bool json) {
  HONE_ASSIGN_OR_RETURN(Store store, Store::Open());
  HONE_ASSIGN_OR_RETURN(const std::vector<VerdictRecord> records, store.Verdicts(most));
  const Style style(stdout);
  TextTable table;
  table.columns = {{"verdict", 0, 0, false},   {"created", 2, 0, false}, {"task", 0, 14, false},
                   {"result", 0, 0, false},    {"reason", 1, 0, false},  {"vs best", 0, 0, true},
                   {"candidate", 0, 14, false}};
  if (records.empty() && !json) fmt::print(stderr, "hone: no verdicts yet; try: hone bench TASK CANDIDATE\n");
  for (const VerdictRecord& record : records) {
    if (json) {
      OrderedJson line = {{"id", fmt::format("V{}", record.id)}};
      line.update(RecordToJson(record, Extent::kList));
      fmt::print("{}\n", DumpJson(line));
      continue;
    }
    table.rows.push_back({fmt::format("V{}", record.id), record.created, record.task, record.verdict,
                          record.reason, record.vs_best > 0 ? fmt::format("{:.2f}x", record.vs_best) : "",
                          fs::path(record.candidate).filename().string()});
  }
  if (!table.rows.empty()) fmt::print("{}", PrintTable(table, style));
  return 0;
}

}  // namespace

void AddRunsCommand(CommandTable& table) {
  Command& command = table.Add("runs", "List stored runs, newest first");
  struct Flags {
    int most = 30;
    bool json = false;
    bool verdicts = false;
    std::string tag;
    std::vector<std::string> below;
  };
  auto flags = std::make_shared<Flags>();
  command.Add("-n,--most", &flags->most, "Number of rows to list").Positive();
  command.Add("--json", &flags->json, "Print one JSON object per line");
  command.Add("--verdicts", &flags->verdicts, "List the verdicts of `hone bench` instead of runs");
  command.Add("--tag", &flags->tag, "List only runs with this tag (see `hone note`)").Placeholder("NAME");
  command.Add("--below", &flags->below, "List only runs whose folder is below this one; may be repeated")
      .Placeholder("DIR");
  command.Example("hone runs");
  command.Example("hone runs --tag nightly");
  command.Example("hone runs --verdicts -n 100 --json | jq 'select(.verdict==\"accepted\")'");
  command.Runs([flags] {
    return flags->verdicts ? ListVerdicts(flags->most, flags->json)
                           : ListStoredRuns(flags->most, flags->tag, flags->below, flags->json);
  });
}

}  // namespace hone
