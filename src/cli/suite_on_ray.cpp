#include "cli/suite_on_ray.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <span>

#include "base/embedded.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/run_launcher.h"
#include "process/child.h"
#include "process/python.h"
#include "report/suite_report.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_cli();

namespace {

constexpr size_t kMostReplayBytes = 256u << 20;

std::string AddressOf(const std::string& on) {
  return on.size() > 4 ? on.substr(4) : "";
}

// Writes the driver's files into a folder named by their hash. No other file of the package may be there:
// Python imports modules from the driver's folder, and the package's ray.py would hide Ray.
Result<fs::path> WriteDriver() {
  const std::string names[] = {"ray_suite.py",    "ray_node.py", "ray_cluster.py",
                               "ray_schedule.py", "ray_plan.py", "ray_import.py"};
  std::map<std::string, std::string_view> files;
  std::string all;
  for (const EmbeddedFile& file : EmbeddedFiles_hone_cli())
    for (const std::string& name : names)
      if (file.name == "hone/" + name) {
        files[name] = file.content;
        all += Sha256(std::string(file.content));
      }
  const fs::path folder = CacheFolder() / "ray" / ("driver-" + Sha256(all).substr(0, 16));
  HONE_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  for (const auto& [name, content] : files) HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / name, content));
  return folder / names[0];
}

bool HasRay(const std::string& python) {
  ChildSpec spec;
  spec.argv = {python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('ray') is None)"};
  spec.env = CurrentEnvironment();
  const Result<ExitReport> report = RunProgram(spec, Deadline::After(20));
  return report.ok() && report->code == 0;
}

// Finds a Python with Ray. It need not have PyTorch, which each node finds for itself.
Result<std::string> FindRayPython(const std::string& asked) {
  const char* named = std::getenv("HONE_RAY_PYTHON");
  if (named != nullptr && *named != '\0') {
    if (HasRay(named)) return std::string(named);
    return Error{
        ErrorKind::kUnavailable,
        fmt::format("HONE_RAY_PYTHON={} has no Ray; install it with: {} -m pip install ray", named, named)};
  }
  std::vector<std::string> candidates;
  const Result<PythonInfo> found = FindPython(asked);
  if (found.ok()) candidates.push_back(found->program.string());
  candidates.push_back((DataFolder() / "package-python" / "bin" / "python3").string());
  candidates.emplace_back("python3");
  for (const std::string& python : candidates)
    if (HasRay(python)) return python;
  return Error{
      ErrorKind::kUnavailable,
      fmt::format("--on ray needs Ray, and {} has none; install it with: {} -m pip install ray, or set "
                  "HONE_RAY_PYTHON to a Python that has it",
                  candidates[0], candidates[0])};
}

// Copies the tasks, so that a resumed suite runs the same text. Python files beside a task are copied too,
// because it may import them.
Result<Json> KeepTasks(const fs::path& folder, const std::vector<fs::path>& tasks) {
  Json files = Json::object();
  std::map<fs::path, std::string> places;
  std::error_code code;
  for (const fs::path& task : tasks) {
    const fs::path source = fs::absolute(task, code).parent_path();
    const auto [place, fresh] = places.emplace(source, std::to_string(places.size()));
    const fs::path target = folder / "tasks" / place->second;
    if (fresh) {
      HONE_RETURN_IF_ERROR(MakeFolders(target));
      for (const fs::directory_entry& entry : fs::directory_iterator(source, code)) {
        if (entry.path().extension() != ".py" || !entry.is_regular_file(code)) continue;
        HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(entry.path()));
        HONE_RETURN_IF_ERROR(WriteFileAtomic(target / entry.path().filename(), text));
      }
    }
    const fs::path copy = target / task.filename();
    if (!fs::exists(copy, code)) {
      HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(task));
      HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, text));
    }
    files[task.stem().string()] = (fs::path(place->second) / task.filename()).string();
  }
  return files;
}

Status KeepReplay(const fs::path& folder, const std::string& source) {
  std::error_code code;
  HONE_RETURN_IF_ERROR(MakeFolders(folder / "replay"));
  size_t total = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(source, code)) {
    if (!entry.is_regular_file(code)) continue;
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(entry.path()));
    total += text.size();
    if (total > kMostReplayBytes)
      return Error{ErrorKind::kUsage, "the recorded replies are too large to be sent to other machines"};
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "replay" / entry.path().filename(), text));
  }
  return Ok();
}

Result<int> BecomeDriver(const SuiteRecord& suite, const SuiteSummary& summary, const Json& options,
                         const RayOutput& output) {
  const Json& run = GetMember(options, "run");
  HONE_ASSIGN_OR_RETURN(const std::string python,
                        FindRayPython(GetString(GetMember(run, "judge"), "python")));
  HONE_ASSIGN_OR_RETURN(const fs::path driver, WriteDriver());
  const fs::path folder = FolderOfSuite(suite);
  Json tasks = Json::array();
  for (const std::string& task : summary.missing.tasks)
    tasks.push_back({{"name", task}, {"file", GetString(GetMember(options, "task_files"), task.c_str())}});
  const Json plan = {{"suite", suite.name},
                     {"folder", folder.string()},
                     {"binary", OwnExecutable().string()},
                     {"hone", HONE_VERSION},
                     {"address", AddressOf(GetString(options, "on"))},
                     {"tasks", std::move(tasks)},
                     {"done", summary.rows.size()},
                     {"run", run},
                     {"cores", GetInt(options, "cores")},
                     {"attempts", GetInt(options, "attempts", 3)},
                     {"allow_mixed", GetBool(options, "allow_mixed")},
                     {"json", output.json},
                     {"quiet", output.quiet}};
  const fs::path file = folder / "plan.json";
  HONE_RETURN_IF_ERROR(WriteFileAtomic(file, DumpJson(plan, 1) + "\n"));
  std::fflush(nullptr);
  const std::string script = driver.string();
  const std::string argument = file.string();
  const char* const argv[] = {python.c_str(), "-u", script.c_str(), argument.c_str(), nullptr};
  execvp(python.c_str(), const_cast<char* const*>(argv));
  return ErrnoError("cannot start " + python);
}

}  // namespace

Status CheckRayAddress(const std::string& on) {
  const std::string address = AddressOf(on);
  if (on == "ray" || address == "auto") return Ok();
  if (StartsWith(on, "ray:ray://"))
    return Error{
        ErrorKind::kUsage,
        "Ray Client addresses (ray://) are not used; start hone on a machine of the cluster, and name "
        "the head as ray:HOST:6379"};
  const size_t colon = address.rfind(':');
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (StartsWith(on, "ray:") && colon != std::string::npos && colon > 0 && digits &&
      std::stoi(port) < 65536 && std::stoi(port) > 0)
    return Ok();
  return Error{ErrorKind::kUsage,
               fmt::format("--on '{}' is neither ray nor ray:HOST:PORT, such as ray:10.0.0.1:6379",
                           SafeForTerminal(on))};
}

Result<int> StartOnRay(RunStore& store, SuiteRecord suite, Json options, const std::vector<fs::path>& tasks,
                       const RunOptions& run, const RayChoices& choices, const RayOutput& output) {
  HONE_RETURN_IF_ERROR(CheckProposerOf(run));
  HONE_RETURN_IF_ERROR(FindRayPython(GetString(run.judge, "python")));
  const fs::path folder = GetString(options, "folder");
  HONE_ASSIGN_OR_RETURN(options["task_files"], KeepTasks(folder, tasks));
  if (StartsWith(run.proposer, "replay:")) HONE_RETURN_IF_ERROR(KeepReplay(folder, run.proposer.substr(7)));
  options["on"] = choices.on;
  options["cores"] = choices.cores;
  options["attempts"] = choices.attempts;
  options["allow_mixed"] = choices.allow_mixed;
  options["run"] = ToJson(run);
  suite.options = DumpJson(options);
  HONE_ASSIGN_OR_RETURN(suite.id, store.AddSuite(suite));
  HONE_ASSIGN_OR_RETURN(const SuiteSummary summary, Summarise(store, suite));
  return BecomeDriver(suite, summary, options, output);
}

Result<int> ResumeOnRay(RunStore& store, const SuiteRecord& suite, const SuiteResumption& how,
                        const RayOutput& output) {
  HONE_ASSIGN_OR_RETURN(const SuiteSummary summary, Summarise(store, suite));
  if (!summary.missing.any()) {
    fmt::print(stderr, "hone: {} is finished; nothing was changed\n", suite.name);
    return PrintSuite(store, suite, false, output.json, "");
  }
  HONE_ASSIGN_OR_RETURN(Json options, ParseJson(suite.options));
  if (GetString(options, "folder").empty() || !fs::exists(FolderOfSuite(suite) / "tasks"))
    return Error{
        ErrorKind::kUsage,
        fmt::format("the tasks of {} are not on this machine; continue it where it was started", suite.name)};
  if (!how.on.empty()) {
    HONE_RETURN_IF_ERROR(CheckRayAddress(how.on));
    options["on"] = how.on;
  }
  if (how.allow_mixed) options["allow_mixed"] = true;
  return BecomeDriver(suite, summary, options, output);
}

}  // namespace hone
