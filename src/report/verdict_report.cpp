#include "report/verdict_report.h"

#include <fmt/format.h>

#include <map>

#include "base/json.h"
#include "base/text.h"
#include "base/text_wrap.h"
#include "verdict/reasons.h"

namespace hone {

namespace {

// A field of a record, escaped, because names of files and kernels come from outside.
std::string Shown(const Json& object, const char* key) {
  return SafeForTerminal(ReplaceAll(GetString(object, key), "\n", " "));
}

double NumberAt(const Json& array, size_t index) {
  return array.is_array() && index < array.size() && array[index].is_number() ? array[index].get<double>()
                                                                              : 0;
}

std::string Headline(const Json& record, const Style& style) {
  const std::string verdict = GetString(record, "verdict");
  const std::string reason = Shown(record, "reason");
  std::string word = verdict == NameOf(Decision::kAccepted) ? style.Green(style.Bold("accepted"))
                     : verdict == NameOf(Decision::kRejected)
                         ? style.Red(style.Bold("rejected"))
                         : style.Yellow(style.Bold(ReplaceAll(verdict, "_", " ")));
  if (verdict == NameOf(Decision::kRejected) || verdict == NameOf(Decision::kCannotJudge))
    word += ": " + style.Bold(reason);
  if (reason == "speed-not-judged") word = style.Yellow(style.Bold("correct, speed not judged"));
  const Json& provenance = GetMember(record, "provenance");
  return fmt::format("{}  {} for {}", word, Shown(GetMember(provenance, "candidate"), "name"),
                     Shown(GetMember(provenance, "task"), "name"));
}

std::string GateLine(const Json& record, const Style& style) {
  std::vector<std::string> passed, failed, skipped;
  const Json& gates = GetMember(record, "gates");
  if (gates.is_object())
    for (const auto& [name, state] : gates.items()) {
      const std::string text = state.is_string() ? state.get<std::string>() : "";
      (text == "pass" ? passed : text == "fail" ? failed : skipped).push_back(SafeForTerminal(name));
    }
  std::string line = fmt::format("{} passed", passed.size());
  if (!failed.empty()) line += ", " + style.Red("failed: " + Join(failed, " "));
  if (!skipped.empty()) line += style.Dim(", not reached: " + Join(skipped, " "));
  return line;
}

std::string AuditLine(const Json& record, const Style& style) {
  const Json& audit = GetMember(record, "task_audit");
  const int64_t total = GetInt(audit, "mutants");
  const Json& blind = GetMember(audit, "blind_spots");
  const int64_t missed = blind.is_array() ? static_cast<int64_t>(blind.size()) : 0;
  if (total == 0) return "no wrong computation applies to this task";
  if (GetBool(audit, "blind"))
    return style.Red(
        fmt::format("this task is blind: its tests detect none of {} wrong computations, so a verdict says "
                    "little about correctness",
                    total));
  std::string line = fmt::format("its tests detect {} of {} wrong computations", total - missed, total);
  if (missed > 0) {
    std::vector<std::string> names;
    for (const Json& name : blind)
      if (name.is_string()) names.push_back(SafeForTerminal(name.get<std::string>()));
    line += style.Yellow("; not detected: " + Join(names, ", "));
  }
  return line;
}

// What a user may do with the module later: one line for each state, and broken entries with their detail.
std::string ContractLines(const Json& record, const Style& style) {
  std::vector<std::string> holds, broken, unchecked;
  for (const Json& entry : GetMember(record, "contract")) {
    const std::string state = GetString(entry, "state"), name = Shown(entry, "name");
    if (state == "holds") holds.push_back(name);
    if (state == "broken") broken.push_back(style.Yellow("broken: " + name) + ": " + Shown(entry, "detail"));
    if (state == "not_applicable") unchecked.push_back(name + " (" + Shown(entry, "detail") + ")");
  }
  std::vector<std::string> lines;
  if (!holds.empty()) lines.push_back("holds: " + Join(holds, ", "));
  lines.insert(lines.end(), broken.begin(), broken.end());
  if (!unchecked.empty()) lines.push_back(style.Dim("not applicable: " + Join(unchecked, ", ")));
  return Join(lines, "\n");
}

// The baselines that were timed, and the others with the reason.
std::string BaselineLine(const Json& baselines, const Style& style) {
  std::vector<std::string> timed, left_out;
  for (const Json& name : GetMember(baselines, "timed"))
    if (name.is_string()) timed.push_back(SafeForTerminal(name.get<std::string>()));
  for (const Json& one : GetMember(baselines, "left_out"))
    left_out.push_back(Shown(one, "name") + " (" + Shown(one, "why") + ")");
  std::string line = Join(timed, ", ");
  if (!left_out.empty()) line += style.Dim("; left out: " + Join(left_out, ", "));
  return line;
}

}  // namespace

std::string NextStep(const std::string& reason) {
  static const std::map<std::string, std::string> kSteps = {
      {"build-failed", "fix the first compiler message above"},
      {"import-failed", "run `python CANDIDATE` until it imports without an error"},
      {"crashed", "--verbose shows the last lines of its error output"},
      {"timeout", "check for a loop or a barrier that can wait for ever; --timeout allows more time"},
      {"out-of-memory", "free buffers between calls, or test on a machine with more memory"},
      {"wrong-output",
       "compare with the reference on one small input; --json names the failing case and its seeds"},
      {"wrong-shape", "return exactly the reference's structure and shapes"},
      {"wrong-dtype", "return the reference's dtype"},
      {"non-finite", "look for a division, an overflowing exp or an uninitialised accumulator"},
      {"unwritten-output", "check the grid, and the masks at the edges of the output"},
      {"input-modified", "clone an input before you write to it"},
      {"nondeterministic", "look for a missing barrier or blocks that exchange data inside one launch"},
      {"stale-result", "compute on every call; do not key a cache on addresses or call counts"},
      {"weights-not-transferred",
       "keep the reference's parameter names and shapes, or define load_reference(state_dict)"},
      {"timer-tampering", "remove the code that replaces timers or comparisons"},
      {"unsynchronised", "finish all work on the current stream before forward returns"},
      {"too-fast", "the time is below the roofline floor: find the work that is skipped"},
      {"escaped", "write only below $HOME and use no network"},
      {"slower", "`hone show TASK` shows the floor; launches and serial steps often explain the time"},
      {"inaccurate-reference",
       "give the task float64 or smaller sizes, or define get_stress with inputs on which PyTorch is "
       "accurate"},
      {"blind-task", "define get_stress in the task: weights and inputs whose answers differ"},
      {"blind-input", "define get_stress so that the input changes the answer, or pass --allow-blind"},
      {"blind-parameter",
       "define get_stress with weights that change the answer, or pass --allow-blind if any value will do"},
      {"blind-output", "define get_stress with inputs that change this output, or pass --allow-blind"},
      {"fixed-inputs",
       "draw the inputs in get_inputs with torch.rand or torch.randn, so that every seed gives others"},
      {"only-in-a-row", "make a single call faster, not only many calls that follow each other"},
      {"machine-busy", "run the same command again when the machine is idle"},
      {"no-difference", "keep PyTorch: the candidate is not measurably faster"},
      {"speed-not-judged",
       "run it without --check-only, on a machine with a GPU if it is a Triton kernel, to learn its speed"},
      {"faster", "the file is ready to use; `--json` prints the provenance"},
  };
  const auto it = kSteps.find(reason);
  return it == kSteps.end() ? "" : it->second;
}

bool AnswersAreRight(const std::string& reason) {
  for (const Reason right : {Reason::kFaster, Reason::kNoDifference, Reason::kSpeedNotJudged,
                             Reason::kOnlyInARow, Reason::kSlower, Reason::kMachineBusy})
    if (reason == NameOf(right)) return true;
  return false;
}

std::string VerdictText(const Json& record, const Style& style, bool verbose) {
  std::string text = Headline(record, style) + "\n";
  auto line = [&](const char* label, const std::string& value) {
    constexpr int kIndent = 13;
    std::string shown;
    for (const std::string& each : Lines(value)) {
      if (!shown.empty()) shown += "\n" + std::string(kIndent, ' ');
      // Colour escapes count as columns here, so such a line is wrapped slightly early but never late.
      shown += WrapIndented(each, kIndent, style.width());
    }
    text += fmt::format("  {} {}\n", style.Dim(fmt::format("{:<10}", label)), shown);
  };
  if (GetString(record, "verdict") != "accepted") line("why", SafeForTerminal(GetString(record, "detail")));
  const Json& speed = GetMember(record, "speedup");
  if (speed.is_object()) {
    const Json& interval = GetMember(speed, "ci95");
    line("speed-up",
         fmt::format("{} vs {}, the best PyTorch baseline (95% interval {:.3g} to {:.3g}); {:.3g}x vs eager",
                     style.Bold(fmt::format("{:.3g}x", GetNumber(speed, "vs_best"))),
                     Shown(speed, "best_baseline"), NumberAt(interval, 0), NumberAt(interval, 1),
                     GetNumber(speed, "vs_eager")));
    line("time",
         fmt::format("{} per call; {} {}; floor {}", HumanSeconds(GetNumber(speed, "candidate_us") * 1e-6),
                     Shown(speed, "best_baseline"), HumanSeconds(GetNumber(speed, "best_us") * 1e-6),
                     HumanSeconds(GetNumber(GetMember(record, "card"), "floor_us") * 1e-6)));
  }
  const Json& error = GetMember(record, "error");
  line("error",
       fmt::format("{} against float64; the limit is {} (PyTorch's own error: {})",
                   HumanNumber(GetNumber(error, "candidate")), HumanNumber(GetNumber(error, "limit")),
                   HumanNumber(GetNumber(error, "reference"))));
  if (GetMember(record, "kind").is_string()) {
    const Json& launches = GetMember(record, "launches");
    line("kind",
         fmt::format(
             "{} ({} {} per forward, PyTorch {})", Shown(record, "kind"), GetInt(launches, "candidate"),
             GetString(GetMember(record, "provenance"), "target") == "cpu" ? "library operators" : "kernels",
             GetInt(launches, "reference")));
  }
  const Json& provenance = GetMember(record, "provenance");
  if (const Json& baselines = GetMember(provenance, "baselines"); baselines.is_object())
    line("baselines", BaselineLine(baselines, style));
  if (const std::string memory = Shown(provenance, "timed_memory"); StartsWith(memory, "copies"))
    line("data", "inputs and answers of timed calls travelled as " + memory);
  line("gates", GateLine(record, style));
  if (const Json& degenerate = GetMember(record, "degenerate"); degenerate.is_object())
    line("degenerate", style.Yellow(Shown(degenerate, "why")));
  line("task", AuditLine(record, style));
  line("provenance",
       fmt::format("{}, torch {}, sandbox {}, {}", Shown(provenance, "device"), Shown(provenance, "torch"),
                   Shown(provenance, "sandbox"), HumanSeconds(GetNumber(provenance, "seconds"))));
  if (Shown(provenance, "sandbox") == "none")
    line("warning",
         style.Yellow(
             "no sandbox was in force: install bubblewrap before you judge files that you do not trust"));
  if (const std::string contract = ContractLines(record, style); !contract.empty())
    line("later use", contract);
  int shown = 0;
  for (const char* severity : {"error", "warning"})
    for (const Json& finding : GetMember(record, "findings")) {
      if (GetString(finding, "severity") != severity || shown++ >= 4) continue;
      line("lint", SafeForTerminal(fmt::format("{} line {}: {} ({})", GetString(finding, "severity"),
                                               GetInt(finding, "line"), GetString(finding, "message"),
                                               GetString(finding, "rule"))));
    }
  for (const Json& note : GetMember(record, "notes"))
    if (note.is_string()) line("note", SafeForTerminal(note.get<std::string>()));
  const std::string next = NextStep(Shown(record, "reason"));
  if (!next.empty()) line("next", next);
  if (verbose) text += "\n" + SafeForTerminal(DumpJson(record, 2)) + "\n";
  return text;
}

}  // namespace hone
