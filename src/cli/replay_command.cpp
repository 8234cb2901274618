#include <fmt/format.h>

#include "base/shell_word.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/run_launcher.h"
#include "pipeline/recorded_run.h"
#include "store/run_store.h"

namespace hone {

namespace {

Result<int> ExportReplay(const std::string& what, const std::string& folder) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store->FindRun(what));
  if (StartsWith(run.proposer, "agent:"))
    return Error{ErrorKind::kUsage, "a run of an agent has no replies to play back; its candidates are in " +
                                        (fs::path(run.folder) / "code").string()};
  HONE_ASSIGN_OR_RETURN(const size_t replies, WriteRecording(*store, run, folder));
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store->CallSummaries(run.id));
  const Result<Json> json = ParseJson(run.options);
  const RunOptions options = RunOptionsFromJson(json.ok() ? *json : Json());
  std::vector<std::string> words = {"hone", "optimize", ShellWord(run.task_path)};
  for (const std::string& flag : FlagsFor(ReplayOptions(options, run, calls.size(), folder)))
    words.push_back(ShellWord(flag));
  fmt::print("{} replies in {}\nto replay them: {}\n", replies, folder, Join(words, " "));
  if (!options.mend)
    fmt::print(
        "the run was made without mechanical repair, which a replay has: it may judge more candidates\n");
  return 0;
}

}  // namespace

void AddExportReplayCommand(CommandTable& table) {
  Command& command =
      table.Add("export-replay", "Write the model replies of a run into a folder for --proposer replay:DIR");
  struct Flags {
    std::string run, folder;
  };
  auto flags = std::make_shared<Flags>();
  command.Add("RUN", &flags->run, kRunHelp).Required();
  command.Add("DIR", &flags->folder, "New or empty folder").Required();
  command.Example("hone export-replay last recorded/");
  command.Runs([flags] { return ExportReplay(flags->run, flags->folder); });
}

}  // namespace hone
