#include "pipeline/best_file.h"

#include <fmt/format.h>

#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "evaluation/worker.h"

namespace hone {

namespace {

// Only comments, so that a docstring or `from __future__` stays at the top of the file.
std::string Comment(const std::string& text) {
  std::string out;
  for (const std::string& line : Lines(text))
    out += line.empty() ? "#\n" : "# " + SafeForTerminal(line) + "\n";
  return out;
}

bool ImportsHoneExt(const std::string& line) {
  return (StartsWith(line, "import ") || StartsWith(line, "from ")) && Contains(line, "hone_ext");
}

// Hone's own module, for a machine without Hone: one string literal per line, for readability. Lint warns
// about access to sys.modules, so the code does that only if the import needs it.
std::string CarriedHoneExt(bool by_name) {
  std::string text =
      "try:\n    import hone_ext\nexcept ImportError:  # Hone's own, as it was when this file was judged\n";
  text += "    import types\n\n    hone_ext = types.ModuleType(\"hone_ext\")\n";
  if (by_name) text += "    import sys\n\n    sys.modules[\"hone_ext\"] = hone_ext\n";
  text += "    exec(\n";
  for (const std::string& line : Lines(std::string(ExtensionModule())))
    text += "        " + DumpJson(Json(line + "\n")) + "\n";
  return text + "        , hone_ext.__dict__)\n";
}

// Turns the names that a line imports from hone_ext into assignments from the embedded module. No value for
// an unknown form, which then finds the module by its name.
std::optional<std::string> AsAssignments(const std::string& line) {
  constexpr std::string_view kFrom = "from hone_ext import ", kWhole = "import hone_ext as ";
  const auto is_name = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of(
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                "0123456789") == std::string_view::npos;
  };
  const std::string text(Trim(line));
  if (text == "import hone_ext") return "";
  if (StartsWith(text, kWhole) && is_name(text.substr(kWhole.size())))
    return text.substr(kWhole.size()) + " = hone_ext\n";
  if (!StartsWith(text, kFrom)) return std::nullopt;
  std::string assignments;
  for (const std::string& part : Split(text.substr(kFrom.size()), ',')) {
    const std::string one(Trim(part));
    const size_t as = one.find(" as ");
    const std::string name(Trim(one.substr(0, as)));
    const std::string alias(as == std::string::npos ? name : std::string(Trim(one.substr(as + 4))));
    if (!is_name(name) || !is_name(alias)) return std::nullopt;
    assignments += alias + " = hone_ext." + name + "\n";
  }
  return assignments;
}

// The candidate with the Hone module that it imports inserted before the import.
std::string SelfContained(const std::string& source) {
  std::string out;
  bool carried = false;
  for (const std::string& line : Lines(source)) {
    if (!carried && ImportsHoneExt(line)) {
      const std::optional<std::string> assignments = AsAssignments(line);
      out += CarriedHoneExt(!assignments);
      carried = true;
      if (assignments) {
        out += *assignments;
        continue;
      }
    }
    out += line + "\n";
  }
  return carried ? out : source;
}

}  // namespace

std::string BestFile(const RunRecord& run, const CandidateRecord& best) {
  const Result<Json> parsed = ParseJson(best.json);
  const Json record = parsed.ok() ? *parsed : Json::object();
  const Json& provenance = GetMember(record, "provenance");
  const std::string header = fmt::format(
      "{} made faster by Hone {}: {:.2f}x as fast as the best PyTorch baseline ({}; 95% {:.2f} to {:.2f}), "
      "{:.2f}x eager.\n"
      "Device: {}. torch {}. Error {} where {} is allowed. Kind: {}.\n"
      "Run {}, candidate {}, judged {}. Task sha256 {}.\n"
      "Check it again: hone bench {} THIS_FILE\n",
      run.task, HONE_VERSION, best.vs_best, GetString(GetMember(record, "speedup"), "best_baseline", "eager"),
      best.ci_low, best.ci_high, best.vs_eager, GetString(provenance, "device", run.device),
      GetString(provenance, "torch", "?"), HumanNumber(best.error), HumanNumber(best.error_limit),
      best.kind.empty() ? "not known" : best.kind, run.name, best.key, GetString(provenance, "time", "?"),
      run.task_sha256.substr(0, 16), run.task_path);
  return Comment(header) + SelfContained(best.source);
}

std::optional<CandidateRecord> CandidateOfBestFile(RunStore& store, const std::string& text) {
  constexpr std::string_view kRun = "# Run ", kCandidate = ", candidate ", kJudged = ", judged ";
  for (const std::string& line : Lines(text)) {
    if (!StartsWith(line, "#")) break;
    const size_t candidate = line.find(kCandidate);
    const size_t judged = line.find(kJudged, candidate);
    if (!StartsWith(line, kRun) || judged == std::string::npos) continue;
    const Result<RunRecord> run = store.FindRun(line.substr(kRun.size(), candidate - kRun.size()));
    if (!run.ok()) continue;
    const size_t key = candidate + kCandidate.size();
    Result<std::optional<CandidateRecord>> best = store.Candidate(run->id, line.substr(key, judged - key));
    if (best.ok() && *best && BestFile(*run, **best) == text) return std::move(*best);
  }
  return std::nullopt;
}

std::string UnchangedFile(const std::string& task_source, const std::string& why) {
  return Comment(why + "\nModelNew is the task's own Model.\n") + task_source +
         (EndsWith(task_source, "\n") ? "" : "\n") + "\n\nModelNew = Model\n";
}

}  // namespace hone
