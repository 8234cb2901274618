#include "pipeline/run_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/ids.h"
#include "base/text.h"
#include "pipeline/run_files.h"
#include "pipeline/tarball.h"

extern char** environ;

namespace hone {

namespace {

constexpr char kFormat[] = "hone-run";
constexpr int kFormatVersion = 1;

Error Refused(const std::string& why) {
  return Error{ErrorKind::kInvalid, why};
}

// All members but the manifest.
std::vector<TarMember> Members(const RunArchive& archive) {
  std::vector<TarMember> members;
  members.push_back({"store/run.json", DumpJson(archive.rows.run) + "\n"});
  if (!archive.rows.suite.is_null())
    members.push_back({"store/suite.json", DumpJson(archive.rows.suite) + "\n"});
  for (const auto& [table, rows] : archive.rows.tables) {
    std::string lines;
    for (const Json& row : rows) lines += DumpJson(row) + "\n";
    members.push_back({"store/" + table + ".jsonl", std::move(lines)});
  }
  members.push_back({"task.py", GetString(archive.rows.run, "task_source")});
  for (const auto& [name, content] : archive.files) members.push_back({"folder/" + name, content});
  return members;
}

// Values that no file may contain: keys in this environment, and the keys that the run used.
std::vector<std::pair<std::string, std::string>> Secrets(const Json& run) {
  constexpr size_t kShortest = 12;  // shorter values such as "none" or "ollama" are not secrets
  std::vector<std::pair<std::string, std::string>> secrets;
  auto add = [&](const std::string& name, const std::string& value) {
    if (value.size() >= kShortest) secrets.emplace_back(name, value);
  };
  const Result<Json> parsed = ParseJson(GetString(run, "options"));
  const Json options = parsed.ok() ? *parsed : Json();
  const Json& model = GetMember(options, "model");
  const std::set<std::string> variables = {GetString(model, "api_key_env"),
                                           GetString(model, "api_key_env_repair")};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(text.substr(0, equals));
    if (variables.count(name) != 0 || EndsWith(name, "_API_KEY"))
      add(name, std::string(text.substr(equals + 1)));
  }
  for (const char* field : {"api_key_file", "api_key_file_repair"}) {
    const std::string file = GetString(model, field);
    if (file.empty()) continue;
    const Result<std::string> key = ReadFile(file, 64u << 10);
    if (key.ok()) add(file, std::string(Trim(*key)));
  }
  return secrets;
}

Result<std::vector<Json>> ParseLines(const std::string& name, const std::string& text) {
  std::vector<Json> rows;
  for (const std::string& line : Lines(text)) {
    if (line.empty()) continue;
    HONE_ASSIGN_OR_RETURN(Json row, ParseJson(line).WithContext(name));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Checks that the manifest describes all other members correctly.
Result<std::map<std::string, std::string>> CheckManifest(std::vector<TarMember> members, int* schema) {
  if (members.front().name != "hone-run.json")
    return Refused("this is no archive of a run: hone-run.json is missing");
  HONE_ASSIGN_OR_RETURN(const Json manifest, ParseJson(members.front().content).WithContext("hone-run.json"));
  if (GetString(manifest, "format") != kFormat) return Refused("this is no archive of a run");
  if (GetInt(manifest, "version") != kFormatVersion)
    return Refused(fmt::format("its format has version {}, this hone knows {}: use a newer hone",
                               GetInt(manifest, "version"), kFormatVersion));
  *schema = static_cast<int>(GetInt(manifest, "schema"));
  const Json& listed = GetMember(manifest, "members");
  if (!listed.is_object() || listed.size() + 1 != members.size())
    return Refused("it does not hold what hone-run.json lists");
  std::map<std::string, std::string> contents;
  for (auto member = members.begin() + 1; member != members.end(); ++member) {
    if (GetString(listed, member->name.c_str()) != Sha256(member->content))
      return Refused(member->name + " is not what hone-run.json says");
    contents[member->name] = std::move(member->content);
  }
  return contents;
}

std::vector<std::string> Keys(const RunRows& rows, const char* table) {
  std::vector<std::string> keys;
  const auto of = rows.tables.find(table);
  if (of != rows.tables.end())
    for (const Json& row : of->second) keys.push_back(GetString(row, "key"));
  return keys;
}

// A name that is free in the store and as a folder.
Result<std::string> FreeName(RunStore& store, const std::string& base, const fs::path& folder) {
  for (int attempt = 1; attempt <= 1000; ++attempt) {
    const std::string name = attempt == 1 ? base : fmt::format("{}-{}", base, attempt);
    std::error_code code;
    HONE_ASSIGN_OR_RETURN(const bool taken, HasRunNamed(store, name));
    if (!taken && !fs::exists(fs::symlink_status(folder / name, code))) return name;
  }
  return Error{ErrorKind::kIo, "cannot find a free name for the run"};
}

Status WriteFiles(const fs::path& folder, const std::map<std::string, std::string>& files) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [name, content] : files) {
    HONE_RETURN_IF_ERROR(MakeFolders((folder / name).parent_path()));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / name, content));
  }
  return Ok();
}

}  // namespace

Result<RunArchive> CollectRun(RunStore& store, const RunRecord& run, std::string* left_alone) {
  RunArchive archive;
  HONE_ASSIGN_OR_RETURN(archive.rows, ReadRunRows(store, run.id));
  HONE_ASSIGN_OR_RETURN(const bool shared, HasFolderOfAnother(store, run));
  HONE_ASSIGN_OR_RETURN(const RunFolder folder, LookAtRunFolder(store, run, shared));
  *left_alone = folder.not_ours;
  for (const std::string& name : folder.files) {
    HONE_ASSIGN_OR_RETURN(archive.files[name], ReadRunFile(run, name));
  }
  return archive;
}

Result<std::string> PackRun(const RunArchive& archive) {
  std::vector<TarMember> members = Members(archive);
  for (const auto& [name, value] : Secrets(archive.rows.run))
    for (const TarMember& member : members)
      if (Contains(member.content, value))
        return Refused(
            fmt::format("{} holds the value of {}: a key does not go into an archive", member.name, name));
  Json listed = Json::object();
  for (const TarMember& member : members) listed[member.name] = Sha256(member.content);
  const OrderedJson manifest = {{"format", kFormat},
                                {"version", kFormatVersion},
                                {"hone", HONE_VERSION},
                                {"schema", archive.rows.schema},
                                {"run", GetString(archive.rows.run, "name")},
                                {"members", listed}};
  members.insert(members.begin(), TarMember{"hone-run.json", DumpJson(manifest, 1) + "\n"});
  return PackTar(members);
}

Result<RunArchive> ReadRunArchive(RunStore& store, const fs::path& file) {
  HONE_ASSIGN_OR_RETURN(std::vector<TarMember> members, UnpackTar(file));
  RunArchive archive;
  HONE_ASSIGN_OR_RETURN(const auto contents, CheckManifest(std::move(members), &archive.rows.schema));
  std::string task;
  for (const auto& [name, content] : contents) {
    if (name == "task.py") {
      task = content;
    } else if (name == "store/run.json") {
      HONE_ASSIGN_OR_RETURN(archive.rows.run, ParseJson(content).WithContext(name));
    } else if (name == "store/suite.json") {
      HONE_ASSIGN_OR_RETURN(archive.rows.suite, ParseJson(content).WithContext(name));
    } else if (StartsWith(name, "store/") && EndsWith(name, ".jsonl")) {
      HONE_ASSIGN_OR_RETURN(archive.rows.tables[name.substr(6, name.size() - 12)], ParseLines(name, content));
    } else if (StartsWith(name, "folder/")) {
      archive.files[name.substr(7)] = content;
    } else {
      return Refused(name + " is no part of a run");
    }
  }
  HONE_RETURN_IF_ERROR(CheckRunRows(store, archive.rows));
  if (task != GetString(archive.rows.run, "task_source")) return Refused("task.py is not the run's task");
  const std::vector<std::string> known =
      FilesOfKeys(Keys(archive.rows, "call"), Keys(archive.rows, "candidate"));
  for (const auto& [name, content] : archive.files)
    if (!std::binary_search(known.begin(), known.end(), name))
      return Refused("folder/" + name + " belongs to no call or candidate of the run");
  return archive;
}

Result<ImportedRun> ImportRun(RunStore& store, const RunArchive& archive, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(std::optional<RunRecord> same, FindSameRun(store, archive.rows));
  if (same) return ImportedRun{std::move(*same), true};
  std::error_code ignored;
  const fs::path runs = fs::absolute(folder, ignored).lexically_normal();
  HONE_RETURN_IF_ERROR(MakeFolders(runs));
  HONE_ASSIGN_OR_RETURN(const std::string name, FreeName(store, GetString(archive.rows.run, "name"), runs));
  // Written under another name first, so that a folder with the run's name is always complete.
  const fs::path temporary = runs / fmt::format(".{}.{}.tmp", name, RandomHex(6));
  Status files = WriteFiles(temporary, archive.files);
  Result<int64_t> id = Error{ErrorKind::kIo, ""};
  bool in_place = false;
  fs::path replaced;
  const auto put_in_place = [&]() -> Status {
    std::error_code code;
    fs::rename(temporary, runs / name, code);
    if (code) return Error{ErrorKind::kIo, "cannot make the run's folder: " + code.message()};
    in_place = true;
    return Ok();
  };
  if (files.ok()) id = WriteRunRows(store, archive.rows, name, runs / name, runs, put_in_place, &replaced);
  fs::remove_all(temporary, ignored);
  if (in_place && !id.ok()) fs::remove_all(runs / name, ignored);
  HONE_RETURN_IF_ERROR(files);
  if (!id.ok()) return id.error();
  // An earlier state of an archived run, whose folder holds only files from an archive.
  if (replaced.parent_path() == runs) fs::remove_all(replaced, ignored);
  HONE_ASSIGN_OR_RETURN(RunRecord run, store.FindRun(fmt::format("R{}", *id)));
  return ImportedRun{std::move(run), false};
}

}  // namespace hone
