#include "pipeline/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/json.h"
#include "base/unique_fd.h"
#include "pipeline/recorder.h"
#include "store/run_rows.h"

namespace hone {

namespace {

constexpr const char* kFolders[] = {"code", "evaluation", "llm"};

UniqueFd OpenFolder(int parent, const std::string& name) {
  return UniqueFd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The folder that contains `name`, and the last part of the name.
std::pair<UniqueFd, std::string> Locate(const UniqueFd& root, const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return {UniqueFd(dup(root.get())), name};
  return {OpenFolder(root.get(), name.substr(0, slash)), name.substr(slash + 1)};
}

bool IsPlainFile(const UniqueFd& root, const std::string& name, int64_t* bytes) {
  const auto [folder, file] = Locate(root, name);
  struct stat info {};
  if (!folder.valid() || fstatat(folder.get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  *bytes = info.st_size;
  return S_ISREG(info.st_mode);
}

}  // namespace

bool OwnsItsFolder(const RunRecord& run) {
  if (run.folder.empty()) return false;
  if (run.proposer != "import") return true;
  const Result<Json> options = ParseJson(run.options);
  return options.ok() && !GetMember(*options, "files").empty();
}

Status CheckFolderIsFree(RunStore& store, const fs::path& folder) {
  const Result<std::string> summary = ReadFile(folder / "run.json", 256u << 20);
  const Result<Json> json = summary.ok() ? ParseJson(*summary) : Result<Json>(summary.error());
  if (json.ok() && !GetString(*json, "run").empty() && !GetString(*json, "hone").empty()) return Ok();
  HONE_ASSIGN_OR_RETURN(const std::vector<RunRecord> earlier, store.RunsInFolder(folder.string()));
  if (std::any_of(earlier.begin(), earlier.end(), OwnsItsFolder)) return Ok();
  for (const char* name :
       {"best.py", "run.json", "console.log", "usage.csv", "code", "evaluation", "llm", "agent"}) {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(folder / name, ignored)))
      return Error{ErrorKind::kUsage, fmt::format("{} has a {} that no run wrote, and it would be replaced; "
                                                  "choose another folder with --out",
                                                  folder.string(), name)};
  }
  return Ok();
}

std::vector<std::string> FilesOfKeys(const std::vector<std::string>& calls,
                                     const std::vector<std::string>& candidates) {
  std::set<std::string> names = {"best.py", "console.log", "run.json", "usage.csv"};
  for (const std::string& key : candidates) {
    names.insert("code/" + FileNameOf(key) + ".py");
    names.insert("evaluation/" + FileNameOf(key) + ".json");
  }
  for (const std::string& key : calls)
    for (const char* ending : {".prompt.txt", ".reply.txt", ".thinking.txt", ".error.txt"})
      names.insert("llm/" + FileNameOf(key) + ending);
  return {names.begin(), names.end()};
}

Result<std::vector<std::string>> FilesOfRun(RunStore& store, int64_t run_id) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> calls, KeysOfRun(store, "call", run_id));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> candidates, KeysOfRun(store, "candidate", run_id));
  return FilesOfKeys(calls, candidates);
}

Result<RunFolder> LookAtRunFolder(RunStore& store, const RunRecord& run, bool shared) {
  RunFolder found;
  // A listed run comes without its options.
  RunRecord whole = run;
  if (run.proposer == "import") {
    HONE_ASSIGN_OR_RETURN(whole, store.FindRun(fmt::format("R{}", run.id)));
  }
  if (!OwnsItsFolder(whole)) {
    found.not_ours = "its files were imported from where they are";
    return found;
  }
  const UniqueFd root = OpenFolder(AT_FDCWD, run.folder);
  if (!root.valid()) {
    found.not_ours = errno == ENOENT ? "it is not there" : "it is not a folder";
    return found;
  }
  if (shared) {
    found.not_ours = "another run has the same folder";
    return found;
  }
  const Result<std::string> summary = ReadRunFile(run, "run.json");
  std::string named = fs::path(run.folder).filename().string();
  if (summary.ok()) {
    const Result<Json> json = ParseJson(*summary);
    named = json.ok() ? GetString(*json, "run") : "";
  }
  if (named != run.name) {
    found.not_ours =
        summary.ok() ? "its run.json names another run" : "nothing in it says that it is this run's";
    return found;
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, FilesOfRun(store, run.id));
  for (const std::string& name : names) {
    int64_t bytes = 0;
    if (!IsPlainFile(root, name, &bytes)) continue;
    found.files.push_back(name);
    found.bytes += bytes;
  }
  return found;
}

Result<std::string> ReadRunFile(const RunRecord& run, const std::string& name) {
  const UniqueFd root = OpenFolder(AT_FDCWD, run.folder);
  if (!root.valid()) return ErrnoError("cannot read the folder " + run.folder);
  int64_t bytes = 0;
  if (!IsPlainFile(root, name, &bytes))
    return Error{ErrorKind::kNotFound, name + " is not a plain file of the run's folder"};
  return ReadFile(fs::path(run.folder) / name, 256u << 20);
}

Result<bool> RemoveRunFiles(const RunRecord& run, const std::vector<std::string>& files) {
  const UniqueFd root = OpenFolder(AT_FDCWD, run.folder);
  if (!root.valid()) return ErrnoError("cannot open the folder " + run.folder);
  // run.json shows whose folder it is, so it is removed last. An interrupted removal can then be finished.
  std::vector<std::string> ordered = files;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const std::string& name) { return name != "run.json"; });
  for (const std::string& name : ordered) {
    const auto [folder, file] = Locate(root, name);
    int64_t bytes = 0;
    if (!folder.valid() || !IsPlainFile(root, name, &bytes)) continue;
    if (unlinkat(folder.get(), file.c_str(), 0) != 0 && errno != ENOENT)
      return ErrnoError("cannot remove " + run.folder + "/" + name);
  }
  // This fails if a folder still contains another file.
  for (const char* name : kFolders) unlinkat(root.get(), name, AT_REMOVEDIR);
  return rmdir(run.folder.c_str()) == 0;
}

}  // namespace hone
