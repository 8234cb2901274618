#include "pipeline/suite_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ids.h"
#include "base/text.h"
#include "pipeline/run_lock.h"
#include "pipeline/tarball.h"

namespace hone {

namespace {

constexpr char kSuiteManifest[] = "hone-suite.json";
constexpr char kSuiteFormat[] = "hone-suite";
constexpr int kSuiteFormatVersion = 1;

Error NoSuite(const std::string& why) {
  return Error{ErrorKind::kInvalid, why};
}

// Checks that the members are those in the manifest, with the right hashes.
Status CheckRuns(const Json& manifest, const std::vector<TarMember>& members) {
  if (GetString(manifest, "format") != kSuiteFormat) return NoSuite("this is no archive of a suite");
  if (GetInt(manifest, "version") != kSuiteFormatVersion)
    return NoSuite(fmt::format("its format has version {}, this hone knows {}: use a newer hone",
                               GetInt(manifest, "version"), kSuiteFormatVersion));
  const Json& listed = GetMember(manifest, "runs");
  if (!listed.is_object() || listed.size() + 1 != members.size())
    return NoSuite(fmt::format("it does not hold what {} lists", kSuiteManifest));
  for (size_t i = 1; i < members.size(); ++i)
    if (GetString(listed, members[i].name.c_str()) != Sha256(members[i].content))
      return NoSuite(fmt::format("{} is not what {} says", SafeForTerminal(members[i].name), kSuiteManifest));
  return Ok();
}

}  // namespace

bool IsSuiteArchive(const fs::path& file) {
  const Result<std::string> first = FirstNameIn(file);
  return first.ok() && *first == kSuiteManifest;
}

Result<PackedSuite> PackSuite(RunStore& store, const SuiteRecord& suite) {
  HONE_ASSIGN_OR_RETURN(std::vector<RunRecord> runs, store.Runs(1'000'000, suite.id));
  std::sort(runs.begin(), runs.end(), [](const RunRecord& a, const RunRecord& b) { return a.name < b.name; });
  PackedSuite packed;
  std::vector<TarMember> members = {{kSuiteManifest, ""}};
  Json listed = Json::object();
  for (const RunRecord& run : runs) {
    HONE_ASSIGN_OR_RETURN(const UniqueFd lock, LockRun(run.id, 0.5).WithContext(run.name));
    std::string left_alone;
    HONE_ASSIGN_OR_RETURN(const RunArchive archive, CollectRun(store, run, &left_alone));
    HONE_ASSIGN_OR_RETURN(std::string bytes, PackRun(archive).WithContext(run.name));
    if (!left_alone.empty()) packed.without_files.push_back(run.name + ": " + left_alone);
    const std::string name = "runs/" + run.name + ".hone.tar.gz";
    listed[name] = Sha256(bytes);
    members.push_back({name, std::move(bytes)});
  }
  HONE_ASSIGN_OR_RETURN(const Json row, ReadSuiteRow(store, suite.id));
  members.front().content = DumpJson(Json{{"format", kSuiteFormat},
                                          {"version", kSuiteFormatVersion},
                                          {"hone", HONE_VERSION},
                                          {"suite", row},
                                          {"runs", listed}},
                                     1) +
                            "\n";
  packed.runs = static_cast<int>(runs.size());
  HONE_ASSIGN_OR_RETURN(packed.bytes, PackTar(members));
  return packed;
}

Result<ImportedSuite> ImportSuite(RunStore& store, const fs::path& file, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const std::vector<TarMember> members, UnpackTar(file));
  if (members.empty() || members.front().name != kSuiteManifest)
    return NoSuite("this is no archive of a suite");
  HONE_ASSIGN_OR_RETURN(const Json manifest, ParseJson(members.front().content).WithContext(kSuiteManifest));
  HONE_RETURN_IF_ERROR(CheckRuns(manifest, members));
  HONE_ASSIGN_OR_RETURN(const TempFolder temporary, TempFolder::Make("hone-suite-"));
  const fs::path one = temporary.path() / "run.hone.tar.gz";
  const Json& row = GetMember(manifest, "suite");
  std::vector<RunArchive> archives;
  for (size_t i = 1; i < members.size(); ++i) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(one, members[i].content));
    HONE_ASSIGN_OR_RETURN(RunArchive archive,
                          ReadRunArchive(store, one).WithContext(SafeForTerminal(members[i].name)));
    if (GetString(archive.rows.suite, "name") != GetString(row, "name"))
      return NoSuite(SafeForTerminal(members[i].name) + " is a run of another suite");
    archives.push_back(std::move(archive));
  }
  std::error_code ignored;
  const fs::path runs = fs::absolute(folder, ignored).lexically_normal();
  HONE_ASSIGN_OR_RETURN(const int64_t id, KeepSuite(store, row, runs));
  ImportedSuite imported;
  HONE_ASSIGN_OR_RETURN(imported.suite, store.SuiteById(id));
  for (const RunArchive& archive : archives) {
    HONE_ASSIGN_OR_RETURN(const ImportedRun run, ImportRun(store, archive, runs));
    ++(run.known ? imported.known : imported.added);
  }
  return imported;
}

}  // namespace hone
