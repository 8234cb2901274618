#include "pipeline/best_file.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

// Comments only, so that a docstring or `from __future__` keeps its place at the top of the file.
std::string Comment(const std::string& text) {
  std::string out;
  for (const std::string& line : Lines(text))
    out += line.empty() ? "#\n" : "# " + SafeForTerminal(line) + "\n";
  return out;
}

}  // namespace

std::string BestFile(const RunRecord& run, const CandidateRecord& best) {
  const Result<Json> parsed = ParseJson(best.json);
  const Json record = parsed.ok() ? *parsed : Json::object();
  const Json& provenance = GetMember(record, "provenance");
  const std::string header = fmt::format(
      "{} made faster by Hone {}: {:.2f}x the best of PyTorch ({}; 95% {:.2f} to {:.2f}), {:.2f}x eager.\n"
      "Device: {}. torch {}. Error {} where {} is allowed. Kind: {}.\n"
      "Run {}, candidate {}, judged {}. Task sha256 {}.\n"
      "Check it again: hone bench {} THIS_FILE\n",
      run.task, HONE_VERSION, best.vs_best, GetString(GetMember(record, "speedup"), "best_baseline", "eager"),
      best.ci_low, best.ci_high, best.vs_eager, GetString(provenance, "device", run.device),
      GetString(provenance, "torch", "?"), HumanNumber(best.error), HumanNumber(best.error_limit),
      best.kind.empty() ? "not known" : best.kind, run.name, best.key, GetString(provenance, "time", "?"),
      run.task_sha256.substr(0, 16), run.task_path);
  return Comment(header) + best.source;
}

std::string PyTorchKept(const std::string& task_source) {
  return Comment(
             "Hone found nothing faster than PyTorch here that is right: ModelNew is the task's own "
             "Model.\n") +
         task_source + (EndsWith(task_source, "\n") ? "" : "\n") + "\n\nModelNew = Model\n";
}

}  // namespace hone
