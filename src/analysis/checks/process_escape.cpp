// process-escape: the candidate acts outside the process in which it is judged. Compiling and loading its own
// source is not an escape.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr const char* kRemoveIt = "Remove it: a candidate should only compute.";

bool ActsOutside(const std::string& dotted) {
  return dotted == "os._exit" || dotted == "os.abort" || dotted == "os.kill" || dotted == "os.system" ||
         dotted == "os.popen" || StartsWith(dotted, "os.exec") || StartsWith(dotted, "os.spawn") ||
         dotted == "os.fork" || dotted == "sys.exit" || StartsWith(dotted, "subprocess.") ||
         StartsWith(dotted, "socket.") || StartsWith(dotted, "multiprocessing.") ||
         StartsWith(dotted, "urllib.") || StartsWith(dotted, "requests.") || StartsWith(dotted, "http.") ||
         dotted == "atexit.register" || StartsWith(dotted, "signal.") ||
         // which() only looks up a program.
         (StartsWith(dotted, "shutil.") && dotted != "shutil.which");
}

bool LoadsLibrary(const std::string& dotted) {
  return StartsWith(dotted, "ctypes.CDLL") || StartsWith(dotted, "ctypes.cdll") || dotted == "ctypes.PyDLL";
}

// A library that a kernel needs: the CUDA driver, its compiler, or the file's own compiled code (a path that
// is not a literal). libc, Python itself and other named libraries are not needed.
bool BelongsToKernel(const NativeBuild& native, const PyNode* call, const std::string& dotted) {
  if (!native.builds() || dotted == "ctypes.PyDLL" || call->args.empty()) return false;
  const PyNode* library = call->args[0];
  if (library->Is(PyKind::kString))
    return StartsWith(library->string, "libcuda.so") || StartsWith(library->string, "libcudart.so") ||
           StartsWith(library->string, "libnvrtc.so");
  return !library->Is(PyKind::kNone);
}

// /proc/cpuinfo describes the processor, and a kernel compiled for it may read that.
bool IsPrivatePath(const std::string& path) {
  return path != "/proc/cpuinfo" && (StartsWith(path, "/proc") || StartsWith(path, "/dev") ||
                                     StartsWith(path, "/sys") || StartsWith(path, "/etc"));
}

}  // namespace

void CheckProcessEscape(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  const NativeBuild& native = candidate.native;
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    const bool compiles = native.has_source && native.compiles.count(call) != 0;
    if (ActsOutside(dotted) && !compiles)
      sink->Add(call, Severity::kWarning, fmt::format("{} acts outside the candidate's process", dotted),
                kRemoveIt);
    if (LoadsLibrary(dotted) && !BelongsToKernel(native, call, dotted))
      sink->Add(call, Severity::kWarning, fmt::format("{} loads a library that belongs to no kernel", dotted),
                kRemoveIt);
    if (dotted == "open" && !call->args.empty() && call->args[0]->Is(PyKind::kString) &&
        IsPrivatePath(call->args[0]->string))
      sink->Add(call, Severity::kWarning, fmt::format("the candidate opens {}", call->args[0]->string),
                kRemoveIt);
  }
}

}  // namespace hone
