#include "model/prompt_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "model/search_values.h"
#include "model/shown_source.h"

namespace hone {

namespace {

constexpr size_t kMostErrorLines = 60;
constexpr size_t kMostErrorBytes = 6000;
constexpr size_t kMostHistoryBytes = 600;
constexpr size_t kMostHistory = 6;
constexpr size_t kMostFindings = 12;
constexpr size_t kMostNames = 8;
constexpr char kProfileSource[] = "source";

std::string Scalar(const Json& value) {
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& one : value) parts.push_back(Scalar(one));
    return Join(parts, " ");
  }
  if (value.is_string()) return ValidUtf8(value.str());
  if (value.is_number_float()) return HumanNumber(value.get<double>());
  return DumpJson(value);
}

std::string ShapesText(const Json& shapes) {
  std::vector<std::string> parts;
  if (shapes.is_array())
    for (const Json& shape : shapes)
      parts.push_back(GetString(shape, "dtype", "value") + DumpJson(GetMember(shape, "shape")));
  return Join(parts, ", ");
}

std::string CountsText(const Json& counts) {
  std::vector<std::pair<int64_t, std::string>> sorted;
  if (counts.is_object())
    for (const auto& [name, count] : counts.items())
      if (count.is_number()) sorted.emplace_back(-count.get<int64_t>(), name);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> parts;
  for (const auto& [count, name] : sorted)
    if (parts.size() < kMostNames) parts.push_back(-count == 1 ? name : fmt::format("{} x{}", name, -count));
  if (sorted.size() > kMostNames) parts.push_back(fmt::format("{} more", sorted.size() - kMostNames));
  return Join(parts, ", ");
}

// A busy machine may make a short timing come out far too short. Such a time would mislead, so it is left
// out.
constexpr double kLeastOfFloor = 0.5;

std::string BestOfPyTorch(const PromptInputs& inputs) {
  const double floor_us = GetNumber(inputs.card, "floor_us");
  if (inputs.best_us <= 0 || inputs.best_us < kLeastOfFloor * floor_us) return "";
  std::string text = HumanSeconds(inputs.best_us * 1e-6);
  if (!inputs.best_baseline.empty()) text += fmt::format(" ({})", inputs.best_baseline);
  if (floor_us > 0) text += ", " + TimesTheFloor(inputs.best_us, floor_us);
  return text;
}

Json CardLines(const PromptInputs& inputs) {
  const Json& card = inputs.card;
  const std::string& target = inputs.target;
  Json lines = Json::array();
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) lines.push_back(fmt::format("{}: {}", label, text));
  };
  if (!card.is_object()) return lines;
  add("inputs", ShapesText(GetMember(card, "inputs")));
  add("outputs", ShapesText(GetMember(card, "outputs")));
  add("modules", CountsText(GetMember(card, "modules")));
  add("operators", CountsText(GetMember(card, "operators")));
  if (GetNumber(card, "flops") > 0)
    add("arithmetic", fmt::format("{:.3g} GFLOP", GetNumber(card, "flops") / 1e9));
  if (GetNumber(card, "least_bytes") > 0)
    add("least bytes moved", fmt::format("{} ({} of weights)", HumanBytes(GetNumber(card, "least_bytes")),
                                         HumanBytes(GetNumber(card, "weight_bytes"))));
  if (GetInt(card, "serial_chain") > 0)
    add("longest chain", fmt::format("{} dependent steps", GetInt(card, "serial_chain")));
  if (GetInt(card, "launches", -1) >= 0)
    add("launches of eager PyTorch", fmt::format("{} per forward", GetInt(card, "launches")));
  else if (target == "cpu" && GetInt(card, "operator_calls") > 0)
    add("operator calls of eager PyTorch", fmt::format("{} per forward", GetInt(card, "operator_calls")));
  if (GetNumber(card, "floor_us") > 0)
    add("floor of this device", fmt::format("{}, {} bound", HumanSeconds(GetNumber(card, "floor_us") * 1e-6),
                                            GetString(card, "floor_bound", "roofline")));
  add("best of PyTorch", BestOfPyTorch(inputs));
  return lines;
}

Json DeviceLines(const Json& device) {
  struct Fact {
    const char* key;
    const char* label;
    bool bytes;
  };
  static constexpr Fact kFacts[] = {
      {"name", "", false},
      {"sm", "sm_{}", false},
      {"multiprocessors", "{} multiprocessors", false},
      {"shared_memory_per_block", "{} shared memory per block", true},
      {"l2_bytes", "{} L2", true},
      {"cores", "{} cores", false},
      {"threads", "{} threads", false},
      {"cpu_flags", "{}", false},
      {"cuda", "CUDA {}", false},
      {"triton", "Triton {}", false},
      {"torch", "torch {}", false},
  };
  Json lines = Json::array();
  for (const Fact& fact : kFacts) {
    const Json& value = GetMember(device, fact.key);
    if (value.is_null() || value == "") continue;
    const std::string text =
        fact.bytes && value.is_number() ? HumanBytes(value.get<double>()) : Scalar(value);
    const std::string label = *fact.label == 0 ? "{}" : fact.label;
    lines.push_back(ReplaceAll(label, "{}", text));
  }
  return lines;
}

int SeverityRank(const Json& finding) {
  const std::string severity = GetString(finding, "severity");
  return severity == "error" ? 0 : severity == "warning" ? 1 : 2;
}

Json FindingValues(const Json& findings) {
  std::vector<Json> sorted;
  if (findings.is_array())
    for (const Json& finding : findings) sorted.push_back(finding);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Json& a, const Json& b) { return SeverityRank(a) < SeverityRank(b); });
  Json out = Json::array();
  for (const Json& finding : sorted) {
    if (out.size() == kMostFindings) break;
    std::string message(Trim(GetString(finding, "message")));
    if (!message.empty() && message.back() != '.') message += '.';
    out.push_back({{"rule", GetString(finding, "rule")},
                   {"severity", GetString(finding, "severity", "note")},
                   {"line", GetInt(finding, "line")},
                   {"message", ValidUtf8(message)},
                   {"fix", ValidUtf8(GetString(finding, "fix"))}});
  }
  return out;
}

// The ratio of a candidate's time to the floor, in words.
std::string ReachedText(double candidate_us, double floor_us) {
  if (candidate_us <= 0) return "";
  std::string text = "reached: " + HumanSeconds(candidate_us * 1e-6);
  if (floor_us > 0)
    text += ", " + TimesTheFloor(candidate_us, floor_us) + " of " + HumanSeconds(floor_us * 1e-6);
  return text;
}

Json VerdictValues(const Json& verdict, const Json& card) {
  if (!verdict.is_object()) return Json();
  const std::string reason = GetString(verdict, "reason");
  const std::string detail = ClipToEnd(GetString(verdict, "detail"), kMostErrorLines, kMostErrorBytes);
  const bool short_detail = !Contains(detail, "\n");
  std::string headline = GetString(verdict, "verdict", "rejected");
  if (!reason.empty()) headline += ", " + reason;
  if (short_detail && !detail.empty()) headline += ": " + detail;
  Json lines = Json::array();
  const Json& error = GetMember(verdict, "error");
  if (GetNumber(error, "limit") > 0 && GetNumber(error, "candidate") > 0)
    lines.push_back(fmt::format("relative error against float64: {} (PyTorch {}, limit {})",
                                HumanNumber(GetNumber(error, "candidate")),
                                HumanNumber(GetNumber(error, "reference")),
                                HumanNumber(GetNumber(error, "limit"))));
  const Json& speedup = GetMember(verdict, "speedup");
  if (GetNumber(speedup, "vs_best") > 0) {
    const std::string best = GetString(speedup, "best_baseline", "its best");
    std::string line = "speed: ";
    if (best != "eager") line += fmt::format("{:.2f}x of eager, ", GetNumber(speedup, "vs_eager"));
    line += fmt::format("{:.2f}x of {}, the best of PyTorch", GetNumber(speedup, "vs_best"), best);
    // On a busy machine a difference of two blocks may come out negative.
    if (GetNumber(speedup, "candidate_us") > 0 && GetNumber(speedup, "best_us") > 0)
      line += fmt::format(" ({}; best {})", HumanSeconds(GetNumber(speedup, "candidate_us") * 1e-6),
                          HumanSeconds(GetNumber(speedup, "best_us") * 1e-6));
    lines.push_back(line);
  }
  const std::string reached = ReachedText(
      GetNumber(speedup, "candidate_us", GetNumber(verdict, "candidate_us")), GetNumber(card, "floor_us"));
  if (!reached.empty()) lines.push_back(reached);
  const Json& launches = GetMember(verdict, "launches");
  if (GetMember(launches, "candidate").is_number())
    lines.push_back(fmt::format("launches per forward: {} (eager {})", GetInt(launches, "candidate"),
                                Scalar(GetMember(launches, "reference"))));
  const std::string shown = short_detail ? "" : detail;
  return {{"headline", headline}, {"detail", shown}, {"fence", FenceFor(shown)}, {"lines", lines}};
}

Json HistoryValues(const Json& history) {
  Json out = Json::array();
  if (!history.is_array()) return out;
  const size_t first = history.size() > kMostHistory ? history.size() - kMostHistory : 0;
  for (size_t i = first; i < history.size(); ++i) {
    const Json& entry = history[i];
    out.push_back({{"attempt", GetInt(entry, "attempt", static_cast<int64_t>(i) + 1)},
                   {"what", ValidUtf8(GetString(entry, "what", "a candidate"))},
                   {"reason", ValidUtf8(GetString(entry, "reason"))},
                   {"detail", ClipToEnd(GetString(entry, "detail"), 6, kMostHistoryBytes)}});
  }
  return out;
}

std::string Where(const PromptInputs& inputs) {
  const std::string name = GetString(inputs.device, "name");
  const std::string kind = inputs.target == "cpu" ? "the CPU" : "the GPU";
  return name.empty() ? kind : kind + " (" + ValidUtf8(name) + ")";
}

}  // namespace

std::string ClipToEnd(std::string_view text, size_t max_lines, size_t max_bytes) {
  text = Trim(text);
  size_t lines = 0;
  size_t start = text.size();
  while (start > 0) {
    if (text[start - 1] == '\n' && ++lines == max_lines) break;
    --start;
  }
  const std::string_view kept = text.substr(start);
  std::string out = start > 0 ? "[earlier lines left out]\n" : "";
  return out + ValidUtf8(Tail(kept, max_bytes));
}

std::string FenceFor(std::string_view text) {
  size_t longest = 2;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string TimesTheFloor(double us, double floor_us) {
  const double times = us / floor_us;
  return times < 100 ? fmt::format("{:.3g} times the floor", times)
                     : fmt::format("{:.0f} times the floor", times);
}

Json ProfileLines(const Json& profile) {
  Json lines = Json::array();
  if (profile.is_object())
    for (const auto& [name, value] : profile.items())
      if (!value.is_null() && name != kProfileSource)
        lines.push_back(fmt::format("{}: {}", name, Scalar(value)));
  return lines;
}

std::string ProfileSource(const Json& profile) {
  return ValidUtf8(GetString(profile, kProfileSource));
}

Json PromptValues(const PromptInputs& inputs) {
  const std::string task = ShowSource(inputs.task_source).text;
  const ShownSource candidate = ShowSource(inputs.candidate_source, inputs.task_source);
  Json analysis = inputs.analysis.is_object() ? inputs.analysis : Json();
  if (analysis.is_object())
    for (const char* field : {"bottleneck", "optimisation_method", "modification_plan", "kernel_type"})
      analysis[field] = ValidUtf8(GetString(analysis, field));
  return {
      {"call_type", inputs.call_type},
      {"target", inputs.target},
      {"target_name", inputs.target == "cuda"     ? "CUDA"
                      : inputs.target == "triton" ? "Triton"
                                                  : "the CPU, in C++"},
      {"where", Where(inputs)},
      {"wants_code", inputs.call_type != "analysis"},
      {"task_name", inputs.task_name},
      {"task_source", task},
      {"task_fence", FenceFor(task)},
      {"card", CardLines(inputs)},
      {"device", DeviceLines(inputs.device)},
      {"candidate_source", candidate.text},
      {"candidate_fence", FenceFor(candidate.text)},
      {"candidate_left_out", candidate.left_out},
      {"findings", FindingValues(inputs.findings)},
      {"verdict", VerdictValues(inputs.verdict, inputs.card)},
      {"history", HistoryValues(inputs.history)},
      {"profile", ProfileLines(inputs.profile)},
      {"profile_source", ProfileSource(inputs.profile)},
      {"analysis", analysis},
      {"search", SearchValues(inputs.search, inputs.task_source)},
      {"first_message", ValidUtf8(Trim(inputs.first_message))},
      {"seed_index", inputs.seed_index},
      {"seed_number", inputs.seed_index + 1},
  };
}

}  // namespace hone
