#include <fmt/format.h>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_lock.h"
#include "report/run_report.h"
#include "store/run_store.h"

namespace hone {

namespace {

Result<int> ListRuns(int most, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store->Runs(most));
  const Style style(stdout);
  if (runs.empty() && !json)
    fmt::print(
        stderr,
        "hone: no runs yet; try: hone optimize TASK (verdicts of `hone bench`: hone runs --verdicts)\n");
  for (const RunRecord& run : runs) {
    if (json)
      fmt::print("{}\n", DumpJson(RunToJson(run)));
    else
      fmt::print("{}\n", RunLine(run, IsAbandoned(run), style));
  }
  return 0;
}

Result<int> ListVerdicts(int most, bool json) {
  HONE_ASSIGN_OR_RETURN(Store store, Store::Open());
  HONE_ASSIGN_OR_RETURN(const std::vector<VerdictRecord> records, store.Verdicts(most));
  const Style style(stdout);
  if (records.empty() && !json) fmt::print(stderr, "hone: no verdicts yet; try: hone bench TASK CANDIDATE\n");
  for (const VerdictRecord& record : records) {
    if (json) {
      fmt::print("{}\n", DumpJson(OrderedJson{{"id", fmt::format("V{}", record.id)},
                                              {"created", record.created},
                                              {"task", record.task},
                                              {"candidate", record.candidate},
                                              {"target", record.target},
                                              {"device", record.device},
                                              {"verdict", record.verdict},
                                              {"reason", record.reason},
                                              {"vs_best", record.vs_best},
                                              {"vs_eager", record.vs_eager}}));
      continue;
    }
    const std::string speed = record.vs_best > 0 ? fmt::format("{:.2f}x", record.vs_best) : "-";
    fmt::print("V{:<6} {}  {:<26} {:<14} {:<18} {:>8}  {}\n", record.id, record.created, record.task,
               record.verdict, record.reason, speed, fs::path(record.candidate).filename().string());
  }
  return 0;
}

}  // namespace

void AddRunsCommand(CommandTable& table) {
  Command& command = table.Add("runs", "List stored runs, newest first");
  struct Flags {
    int most = 30;
    bool json = false;
    bool verdicts = false;
  };
  auto flags = std::make_shared<Flags>();
  command.Add("-n,--most", &flags->most, "Number of rows to list").Positive();
  command.Add("--json", &flags->json, "Print one JSON object per line");
  command.Add("--verdicts", &flags->verdicts, "List the verdicts of `hone bench` instead of runs");
  command.Example("hone runs");
  command.Example("hone runs --verdicts -n 100 --json | jq 'select(.verdict==\"accepted\")'");
  command.Runs([flags] {
    return flags->verdicts ? ListVerdicts(flags->most, flags->json) : ListRuns(flags->most, flags->json);
  });
}

}  // namespace hone
