#include <fmt/format.h>

#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_archive.h"
#include "pipeline/run_lock.h"
#include "pipeline/suite_archive.h"

namespace hone {

namespace {

struct ArchiveFlags {
  std::string run, file;
  bool force = false;
  bool json = false;
};

Status CheckTarget(const fs::path& file, bool force) {
  std::error_code code;
  if (force || !fs::exists(fs::symlink_status(file, code))) return Ok();
  return Error{ErrorKind::kUsage, file.string() + " exists already; --force overwrites it"};
}

Result<int> ArchiveSuite(RunStore& store, const SuiteRecord& suite, const ArchiveFlags& flags) {
  const fs::path file = flags.file.empty() ? suite.name + ".hone.tar.gz" : flags.file;
  HONE_RETURN_IF_ERROR(CheckTarget(file, flags.force));
  HONE_ASSIGN_OR_RETURN(const PackedSuite packed, PackSuite(store, suite));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(file, packed.bytes));
  for (const std::string& each : packed.without_files)
    fmt::print(stderr, "hone: packed without files: {}\n", SafeForTerminal(each));
  if (flags.json)
    fmt::print("{}\n", DumpJson(OrderedJson{{"suite", suite.name},
                                            {"file", file.string()},
                                            {"bytes", packed.bytes.size()},
                                            {"sha256", Sha256(packed.bytes)},
                                            {"runs", packed.runs}}));
  else
    fmt::print("{}  {}, {}\nto import it elsewhere: hone import {}\n", file.string(),
               HumanBytes(static_cast<double>(packed.bytes.size())), CountAndNoun(packed.runs, "run"),
               file.string());
  return kExitAccepted;
}

Result<int> ArchiveRun(const ArchiveFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  if (const Result<SuiteRecord> suite = store->FindSuite(flags.run); suite.ok())
    return ArchiveSuite(*store, *suite, flags);
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store->FindRun(flags.run));
  // While this holds the lock, no process resumes the run and `hone gc` leaves it alone.
  HONE_ASSIGN_OR_RETURN(const UniqueFd lock, LockRun(run.id, 0.5));
  const fs::path file = flags.file.empty() ? run.name + ".hone.tar.gz" : flags.file;
  HONE_RETURN_IF_ERROR(CheckTarget(file, flags.force));
  std::string left_alone;
  HONE_ASSIGN_OR_RETURN(const RunArchive archive, CollectRun(*store, run, &left_alone));
  HONE_ASSIGN_OR_RETURN(const std::string bytes, PackRun(archive));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(file, bytes));
  if (!left_alone.empty())
    fmt::print(stderr, "hone: packed without the files in {} ({}); the rows of the store are complete\n",
               SafeForTerminal(run.folder), left_alone);
  if (flags.json)
    fmt::print("{}\n", DumpJson(OrderedJson{{"run", run.name},
                                            {"file", file.string()},
                                            {"bytes", bytes.size()},
                                            {"sha256", Sha256(bytes)},
                                            {"rows", archive.rows.count()},
                                            {"files", archive.files.size()}}));
  else
    fmt::print("{}  {}, {}, {}\nto import it elsewhere: hone import {}\n", file.string(),
               HumanBytes(static_cast<double>(bytes.size())),
               CountAndNoun(static_cast<int64_t>(archive.rows.count()), "row"),
               CountAndNoun(static_cast<int64_t>(archive.files.size()), "file"), file.string());
  return kExitAccepted;
}

}  // namespace

void AddArchiveCommand(CommandTable& table) {
  Command& command =
      table.Add("archive", "Pack a run or a suite into one file that `hone import` can read on any machine");
  auto flags = std::make_shared<ArchiveFlags>();
  command.Add("RUN", &flags->run, "Run (name, its beginning, folder, R<number>, last) or name of a suite")
      .Required();
  command.Add("FILE", &flags->file, "File to write (default: <name>.hone.tar.gz)");
  command.Add("-f,--force", &flags->force, "Overwrite the file if it exists");
  command.Add("--json", &flags->json, "Print what was packed as JSON");
  command.Note("Packing the same run twice gives the same bytes. The file never holds API keys.");
  command.Example("hone archive last");
  command.Example("hone archive nightly shard3.hone.tar.gz");
  command.Example("hone archive R12 gru.hone.tar.gz");
  command.Runs([flags] { return ArchiveRun(*flags); });
}

}  // namespace hone
