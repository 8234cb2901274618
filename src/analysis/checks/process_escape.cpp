// process-escape: the candidate reaches outside the process it is judged in.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

void CheckProcessEscape(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    const bool escape =
        dotted == "os._exit" || dotted == "os.abort" || dotted == "os.kill" || dotted == "os.system" ||
        dotted == "os.popen" || StartsWith(dotted, "os.exec") || StartsWith(dotted, "os.spawn") ||
        dotted == "os.fork" || dotted == "sys.exit" || StartsWith(dotted, "subprocess.") ||
        StartsWith(dotted, "socket.") || StartsWith(dotted, "multiprocessing.") ||
        StartsWith(dotted, "urllib.") || StartsWith(dotted, "requests.") || StartsWith(dotted, "http.") ||
        StartsWith(dotted, "ctypes.CDLL") || StartsWith(dotted, "ctypes.cdll") || dotted == "ctypes.PyDLL" ||
        dotted == "atexit.register" || StartsWith(dotted, "signal.") || StartsWith(dotted, "shutil.");
    if (escape)
      sink->Add(call, Severity::kWarning, fmt::format("{} reaches outside the candidate's own work", dotted),
                "Remove it; a candidate computes and nothing else.");
    if (dotted == "open" && !call->args.empty()) {
      const std::string path = call->args[0]->Is(PyKind::kString) ? call->args[0]->string : "";
      if (StartsWith(path, "/proc") || StartsWith(path, "/dev") || StartsWith(path, "/sys") ||
          StartsWith(path, "/etc"))
        sink->Add(call, Severity::kWarning, fmt::format("opens {}", path),
                  "Remove it; a candidate computes and nothing else.");
    }
  }
}

}  // namespace hone
