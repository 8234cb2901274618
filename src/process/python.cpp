#include "process/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "process/child.h"

namespace hone {

namespace {

constexpr double kProbeSeconds = 10;

// Inspects torch without importing it, because an import takes seconds and runs torch's code. The first part
// also parses under old interpreters, so that they can report their version. The answer is the last line of
// output, because start-up hooks (.pth files) may print too.
constexpr const char* kProbe = R"python(
import json, os, sys
facts = {"version": ".".join(str(n) for n in sys.version_info[:3]), "executable": sys.executable or ""}

def look():
    import importlib.metadata, importlib.util, re, site

    def package(name):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return ""
        return os.path.dirname(spec.origin) if spec and spec.origin and spec.has_location else ""

    def distribution(*names):
        for name in names:
            try:
                return importlib.metadata.version(name) or ""
            except Exception:
                pass
        return ""

    def constants(path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(1 << 20)
        except OSError:
            return {}
        pattern = r"^(__version__|cuda)\s*(?::[^=\n]*)?=\s*['\"]([^'\"\n]*)['\"]"
        return dict(re.findall(pattern, text, re.MULTILINE))

    torch = package("torch")
    extra = []
    if not torch:
        hidden = os.environ.get("PYTHONPATH", "").split(os.pathsep) + [site.getusersitepackages()]
        hidden = [os.path.abspath(path) for path in hidden if path and os.path.isdir(path)]
        sys.path += hidden
        importlib.invalidate_caches()
        torch = package("torch")
        if torch:
            extra = hidden
        else:
            del sys.path[len(sys.path) - len(hidden):]
    if torch:
        found = constants(os.path.join(torch, "version.py"))
        facts["torch"] = found.get("__version__") or distribution("torch") or "unknown"
        facts["cuda"] = found.get("cuda", "")
    triton = package("triton")
    if triton:
        found = constants(os.path.join(triton, "__init__.py"))
        facts["triton"] = found.get("__version__") or distribution("triton", "pytorch-triton") or "unknown"
    facts["extra_paths"] = extra

    paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    paths += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    paths += [path for path in sys.path if os.path.isdir(path)]
    paths += [folder for folder in (torch, triton) if os.path.islink(folder)]
    link = sys.executable
    for _ in range(20):
        paths.append(os.path.dirname(link))
        if not os.path.islink(link):
            break
        link = os.path.join(os.path.dirname(link), os.readlink(link))
    paths.append(os.path.dirname(os.path.realpath(sys.executable)))
    kept = []
    for path in paths:
        for form in (os.path.abspath(path), os.path.realpath(path)):
            if path and form not in kept and os.path.isdir(form):
                kept.append(form)
    facts["read_paths"] = kept

if sys.version_info >= (3, 8):
    look()
sys.stdout.write("\n" + json.dumps(facts) + "\n")
)python";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the interpreter for a path, a name or a virtual environment's folder; empty if there is none.
fs::path ResolveProgram(const fs::path& program) {
  std::error_code code;
  if (fs::is_directory(program, code)) {
    for (const char* name : {"bin/python3", "bin/python"}) {
      if (access((program / name).c_str(), X_OK) == 0) return fs::absolute(program / name, code);
    }
    return {};
  }
  const fs::path found = FindProgram(program.string());
  return found.empty() ? found : fs::absolute(found, code);
}

std::vector<fs::path> PathList(const Json& value) {
  std::vector<fs::path> paths;
  if (!value.is_array()) return paths;
  for (const Json& item : value) {
    if (item.is_string()) paths.emplace_back(item.get<std::string>());
  }
  return paths;
}

bool OldVersion(const std::string& version) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2) return true;
  return major < 3 || (major == 3 && minor < 8);
}

Error NotPython(const fs::path& program, const std::string& why) {
  return Error{ErrorKind::kInvalid, fmt::format("{} is not a working Python: {}", program.string(), why)};
}

std::string LastLine(std::string_view text) {
  const std::vector<std::string> lines = Lines(Trim(text));
  return lines.empty() ? "" : std::string(Trim(lines.back()));
}

// The user chose this interpreter explicitly. If it fails, Hone reports that and takes no other one.
Result<PythonInfo> MustHaveTorch(const std::string& program, const std::string& rule) {
  Result<PythonInfo> info = InspectPython(program);
  if (!info.ok()) return std::move(info).WithContext(rule);
  if (info->torch_version.empty()) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{}: {} (Python {}) has no torch; install it with: {} -m pip install torch",
                             rule, info->program.string(), info->version, info->program.string())};
  }
  info->chosen_by = rule;
  return info;
}

}  // namespace

fs::path OwnPython() {
  return DataFolder() / "python" / "bin" / "python3";
}

Result<PythonInfo> InspectPython(const fs::path& program) {
  const fs::path found = ResolveProgram(program);
  if (found.empty()) {
    return Error{ErrorKind::kNotFound, fmt::format("no Python interpreter at {}", program.string())};
  }
  ChildSpec spec;
  spec.argv = {found.string(), "-I", "-c", kProbe};
  spec.env = CurrentEnvironment();
  Result<ExitReport> run = RunProgram(spec, Deadline::After(kProbeSeconds));
  if (!run.ok()) {
    if (run.error().kind == ErrorKind::kInterrupted) return std::move(run).error();
    return NotPython(found, run.error().message);
  }
  if (run->timed_out) {
    return Error{ErrorKind::kTimeout,
                 fmt::format("{} did not answer within {}", found.string(), HumanSeconds(kProbeSeconds))};
  }
  if (run->code != 0) {
    const std::string last = SafeForTerminal(LastLine(run->err));
    const std::string end = run->signal != 0 ? fmt::format("it ended by signal {}", run->signal)
                                             : fmt::format("it exited with {}", run->code);
    return NotPython(found, last.empty() ? end : last);
  }
  const Result<Json> facts = ParseJson(LastLine(run->out));
  if (!facts.ok() || !facts->is_object() || GetString(*facts, "version").empty()) {
    return NotPython(found, "it did not answer as one");
  }

  PythonInfo info;
  info.version = GetString(*facts, "version");
  if (OldVersion(info.version)) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{} is Python {}; Hone needs 3.8 or newer", found.string(), info.version)};
  }
  const fs::path executable = GetString(*facts, "executable");
  info.program = executable.is_absolute() && access(executable.c_str(), X_OK) == 0 ? executable : found;
  info.torch_version = GetString(*facts, "torch");
  info.torch_cuda = GetString(*facts, "cuda");
  info.triton_version = GetString(*facts, "triton");
  info.read_paths = PathList(GetMember(*facts, "read_paths"));
  info.extra_paths = PathList(GetMember(*facts, "extra_paths"));
  return info;
}

Result<PythonInfo> FindPython(const std::string& explicit_choice) {
  if (!explicit_choice.empty()) return MustHaveTorch(explicit_choice, "--python");
  if (const std::string named = Variable("HONE_PYTHON"); !named.empty())
    return MustHaveTorch(named, "HONE_PYTHON");

  struct Place {
    std::string rule;
    std::string label;
    fs::path program;
  };
  std::vector<Place> places;
  if (const std::string active = Variable("VIRTUAL_ENV"); !active.empty()) {
    places.push_back({"VIRTUAL_ENV", "the active environment", active});
  }
  places.push_back({"python3", "python3", "python3"});
  places.push_back({"hone", "Hone's own environment", OwnPython()});
  // HONE_DATA moves the store. An environment that was made without HONE_DATA is still used.
  const std::string shared = Variable("XDG_DATA_HOME");
  const fs::path usual = (shared.empty() ? HomeFolder() / ".local/share" : fs::path(shared)) / "hone";
  if (usual != DataFolder()) places.push_back({"hone", "the one in " + usual.string(), usual / "python"});

  std::vector<std::string> looked_at;
  for (const Place& place : places) {
    Result<PythonInfo> info = InspectPython(place.program);
    if (!info.ok()) {
      if (info.error().kind == ErrorKind::kInterrupted) return info;
      looked_at.push_back(fmt::format("{} ({})", place.label, info.error().message));
    } else if (info->torch_version.empty()) {
      looked_at.push_back(fmt::format("{} ({} is Python {} without torch)", place.label,
                                      info->program.string(), info->version));
    } else {
      info->chosen_by = place.rule;
      return info;
    }
  }
  return Error{
      ErrorKind::kUnavailable,
      fmt::format("no Python with torch was found; looked at {}. Run scripts/setup.sh of Hone's source "
                  "folder, or install torch (python3 -m pip install torch), or name an interpreter that "
                  "has it with --python",
                  Join(looked_at, ", "))};
}

}  // namespace hone
