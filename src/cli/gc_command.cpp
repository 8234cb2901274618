#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/plural.h"
#include "base/text.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_files.h"
#include "pipeline/run_lock.h"
#include "store/retention.h"
#include "store/run_rows.h"

namespace hone {

namespace {

struct GcFlags {
  double days = 30;
  bool suites = false;
  bool keep_files = false;
  bool yes = false;
  bool json = false;
};

struct Tally {
  int64_t runs = 0, verdicts = 0, rows = 0, row_bytes = 0, files = 0, file_bytes = 0;
};

struct Plan {
  std::vector<RunRecord> runs;  // runs to delete
  std::vector<VerdictRecord> verdicts;
  std::map<std::string, int64_t> kept;
  std::map<int64_t, RowSize> sizes;
  bool somebody_works = false;
};

Result<Plan> MakePlan(RunStore& store, const RetentionRules& rules) {
  Plan plan;
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, store.Runs(-1));
  HONE_ASSIGN_OR_RETURN(const std::vector<VerdictRecord> verdicts, store.store().Verdicts(-1));
  HONE_ASSIGN_OR_RETURN(plan.sizes, SizesOfRuns(store));
  std::set<int64_t> at_work;
  for (const RunRecord& run : runs)
    if (run.status == "running" && !IsAbandoned(run)) at_work.insert(run.id);
  plan.somebody_works = !at_work.empty();
  const std::vector<Kept> of_runs = PlanRuns(runs, at_work, rules);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (of_runs[i] == Kept::kNot)
      plan.runs.push_back(runs[i]);
    else
      ++plan.kept[KeptName(of_runs[i])];
  }
  const std::vector<Kept> of_verdicts = PlanVerdicts(verdicts, rules);
  for (size_t i = 0; i < verdicts.size(); ++i)
    if (of_verdicts[i] == Kept::kNot) plan.verdicts.push_back(verdicts[i]);
  return plan;
}

std::string FolderNote(const RunFolder& folder, const GcFlags& flags) {
  if (flags.keep_files) return "files kept";
  if (!folder.not_ours.empty()) return "folder kept: " + folder.not_ours;
  return fmt::format("{}, {}", CountAndNoun(static_cast<int64_t>(folder.files.size()), "file"),
                     HumanBytes(static_cast<double>(folder.bytes)));
}

// Deletes the files first, then the row. If it is interrupted in between, the run is still listed and the
// next gc finishes. Returns false if another process has resumed the run.
Result<bool> RemoveRun(RunStore& store, const RunRecord& run, const RunFolder& folder, bool keep_files) {
  const Result<UniqueFd> lock = LockRun(run.id, 0);
  if (!lock.ok()) return false;
  HONE_ASSIGN_OR_RETURN(const RunRecord now, store.FindRun(fmt::format("R{}", run.id)));
  if (now.status != run.status || now.finished != run.finished) return false;
  if (!keep_files && folder.not_ours.empty()) HONE_RETURN_IF_ERROR(RemoveRunFiles(run, folder.files));
  HONE_RETURN_IF_ERROR(store.DeleteRun(run.id));
  unlink((DataFolder() / "locks" / fmt::format("run{}.lock", run.id)).c_str());
  return true;
}

int64_t StoreBytes() {
  int64_t bytes = 0;
  for (const char* name : {"hone.db", "hone.db-wal"}) {
    std::error_code code;
    const auto size = fs::file_size(DataFolder() / name, code);
    if (!code) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

TextTable ListOfRuns() {
  TextTable table;
  table.columns = {{"run", 0, 0, false},
                   {"created", 2, 0, false},
                   {"status", 1, 0, false},
                   {"name", 0, 20, false},
                   {"files", 0, 30, false}};
  return table;
}

// Fills `list` with what it deletes. If it ends early, the list shows what was deleted so far.
Result<Tally> Sweep(RunStore& store, const Plan& plan, const GcFlags& flags, TextTable* list) {
  Tally tally;
  for (const RunRecord& run : plan.runs) {
    if (Interrupted()) return tally;
    HONE_ASSIGN_OR_RETURN(const bool shared, HasFolderOfAnother(store, run));
    HONE_ASSIGN_OR_RETURN(const RunFolder folder, LookAtRunFolder(store, run, shared));
    list->rows.push_back(
        {fmt::format("R{}", run.id), run.created, run.status, run.name, FolderNote(folder, flags)});
    if (flags.yes) {
      HONE_ASSIGN_OR_RETURN(const bool removed, RemoveRun(store, run, folder, flags.keep_files));
      if (!removed) {
        fmt::print(stderr, "hone: R{} is in use now and was kept\n", run.id);
        continue;
      }
    }
    const auto size = plan.sizes.find(run.id);
    ++tally.runs;
    tally.rows += size == plan.sizes.end() ? 0 : size->second.rows;
    tally.row_bytes += size == plan.sizes.end() ? 0 : size->second.bytes;
    if (flags.keep_files) continue;
    tally.files += static_cast<int64_t>(folder.files.size());
    tally.file_bytes += folder.bytes;
  }
  for (const VerdictRecord& verdict : plan.verdicts) {
    if (Interrupted()) return tally;
    if (flags.yes) HONE_RETURN_IF_ERROR(DeleteVerdict(store, verdict.id));
    ++tally.verdicts;
    ++tally.rows;
    tally.row_bytes += static_cast<int64_t>(verdict.json.size());
  }
  return tally;
}

// "size of the store: 1.2 MiB -> 300 KiB", or why it did not change.
Result<std::string> Shrink(RunStore& store, const Plan& plan) {
  if (plan.somebody_works)
    return std::string("the store keeps its size while a run is in progress; freed space is reused");
  const int64_t before = StoreBytes();
  HONE_ASSIGN_OR_RETURN(const bool done, CompactStore(store));
  if (!done) return std::string("the store keeps its size for now: another process is writing to it");
  return fmt::format("size of the store: {} -> {}", HumanBytes(static_cast<double>(before)),
                     HumanBytes(static_cast<double>(StoreBytes())));
}

void PrintJson(const Tally& tally, const Plan& plan, const GcFlags& flags, const std::string& note) {
  OrderedJson json = {{"removed", flags.yes},           {"runs", tally.runs},
                      {"verdicts", tally.verdicts},     {"rows", tally.rows},
                      {"row_bytes", tally.row_bytes},   {"files", tally.files},
                      {"file_bytes", tally.file_bytes}, {"kept", plan.kept}};
  if (!note.empty()) json["note"] = note;
  fmt::print("{}\n", DumpJson(json));
}

// The given flags, so that the printed advice deletes what was listed.
std::string FlagsOf(const GcFlags& flags) {
  std::string text;
  if (flags.days != GcFlags().days) text += fmt::format(" --older-than {:g}", flags.days);
  if (flags.suites) text += " --suites";
  if (flags.keep_files) text += " --keep-files";
  return text;
}

Result<int> CollectGarbage(const GcFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  const RetentionRules rules{UnixSeconds(), flags.days, flags.suites};
  HONE_ASSIGN_OR_RETURN(const Plan plan, MakePlan(*store, rules));
  TextTable list = ListOfRuns();
  const Result<Tally> swept = Sweep(*store, plan, flags, &list);
  if (!flags.json && !list.rows.empty()) fmt::print("{}", PrintTable(list, Style(stdout)));
  if (!swept.ok()) return swept.error();
  const Tally& tally = *swept;
  std::string note;
  if (flags.yes && !Interrupted()) {
    HONE_RETURN_IF_ERROR(
        DeleteEmptySuites(*store, UtcTimestamp(rules.now - static_cast<int64_t>(flags.days * 86400))));
    HONE_ASSIGN_OR_RETURN(note, Shrink(*store, plan));
  }
  if (flags.json) {
    PrintJson(tally, plan, flags, note);
  } else {
    for (const auto& [why, count] : plan.kept) fmt::print("kept: {} ({})\n", count, why);
    fmt::print("{} {} and {}: {} ({}) in the store, {} ({})\n", flags.yes ? "deleted" : "would delete",
               CountAndNoun(tally.runs, "run"), CountAndNoun(tally.verdicts, "verdict"),
               CountAndNoun(tally.rows, "row"), HumanBytes(static_cast<double>(tally.row_bytes)),
               CountAndNoun(tally.files, "file"), HumanBytes(static_cast<double>(tally.file_bytes)));
    if (!note.empty()) fmt::print("{}\n", note);
    if (!flags.yes && tally.runs + tally.verdicts > 0)
      fmt::print("nothing was changed; to delete them: hone gc{} --yes\n", FlagsOf(flags));
  }
  if (!Interrupted()) return kExitAccepted;
  if (!flags.json) return InterruptedError();
  fmt::print(stderr, "hone: interrupted\n");  // the object that was printed is the only one
  return kExitInterrupted;
}

}  // namespace

void AddGcCommand(CommandTable& table) {
  Command& command = table.Add("gc", "List old runs and verdicts; with --yes, delete them");
  auto flags = std::make_shared<GcFlags>();
  command.Add("--older-than", &flags->days, "Delete only what is older than this many days")
      .Between(0, 36500)
      .Placeholder("DAYS");
  command.Add("--suites", &flags->suites, "Also delete runs that belong to a suite");
  command.Add("--keep-files", &flags->keep_files, "Delete rows of the store only, not the folders of runs");
  command.Add("--yes", &flags->yes, "Delete; without this flag the command only lists");
  command.Add("--json", &flags->json, "Print the counts as JSON");
  command.Note(
      "Always kept: runs in progress, the best run of each task and device, and, without --suites, members "
      "of "
      "suites.");
  command.Note("In the folder of a run, only files that Hone wrote for that run are deleted.");
  command.Example("hone gc");
  command.Example("hone gc --older-than 7 --yes");
  command.Example("hone archive R12 && hone gc --yes");
  command.Runs([flags] { return CollectGarbage(*flags); });
}

}  // namespace hone
