#include "model/analysis_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "model/relaxed_json.h"

namespace hone {

namespace {

using Words = std::initializer_list<const char*>;

struct Field {
  const char* name;
  std::vector<const char*> also;
};

// Names after Canonical: lower case, with underscores between words.
const std::array<Field, 9>& Fields() {
  static const std::array<Field, 9> kFields = {{
      {"worth_optimizing",
       {"worth_optimising", "worth_it", "should_optimize", "should_optimise", "optimize"}},
      {"reason", {"reasoning", "why", "rationale"}},
      {"bottleneck", {"bottlenecks", "main_bottleneck", "primary_bottleneck"}},
      {"optimisation_method", {"optimization_method", "optimisation", "optimization", "method", "strategy"}},
      {"modification_plan", {"plan", "modifications", "changes", "steps", "implementation_plan"}},
      {"expected_speedup", {"expected_speed_up", "speedup", "expected_improvement", "expected_gain"}},
      {"implementation_complexity", {"complexity", "difficulty", "effort"}},
      {"kernel_type", {"kernel_class", "type", "class", "kernel"}},
      {"time_loop", {"loop_over_time", "where_the_time_loop_runs", "time_loop_place"}},
  }};
  return kFields;
}

std::string Canonical(std::string_view key) {
  std::string out;
  for (const char c : Trim(key)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

const char* FieldNamed(const std::string& key) {
  const std::string canonical = Canonical(key);
  for (const Field& field : Fields()) {
    if (canonical == field.name) return field.name;
    for (const char* other : field.also)
      if (canonical == other) return field.name;
  }
  return nullptr;
}

// The known fields of an object under their current names. A current name takes precedence over an older one.
Json KnownFields(const Json& object) {
  Json out = Json::object();
  for (const auto& [key, value] : object.items()) {
    const char* name = FieldNamed(key);
    if (name != nullptr && !value.is_null() && (Canonical(key) == name || !out.contains(name)))
      out[name] = value;
  }
  return out;
}

std::string AsText(const Json& value) {
  if (value.is_string()) return std::string(Trim(value.str()));
  if (value.is_null()) return "";
  if (!value.is_array()) return DumpJson(value);
  std::vector<std::string> lines;
  for (const Json& item : value) lines.push_back(AsText(item));
  return Join(lines, "\n");
}

bool AsBool(const Json& value, bool fallback) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  const std::string word = ToLower(AsText(value));
  for (const char* no : {"no", "false", "not", "0", "n", "unlikely", "never"})
    if (word == no || StartsWith(word, std::string(no) + " ") || StartsWith(word, std::string(no) + ",") ||
        StartsWith(word, std::string(no) + ".") || StartsWith(word, std::string(no) + ":") ||
        StartsWith(word, std::string(no) + ";"))
      return false;
  for (const char* yes : {"yes", "true", "y", "1", "worth"})
    if (StartsWith(word, yes)) return true;
  return fallback;
}

// "30%" and "20-30 %" are gains; "~2x", "1.5" and "2 to 3 times" are factors. The first number counts.
double AsSpeedup(const Json& value) {
  std::string text = value.is_number() ? DumpJson(value) : AsText(value);
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return 0;
  const double number = std::strtod(text.c_str() + digit, nullptr);
  if (!(number > 0) || number > 1e6) return 0;
  if (Contains(text, "%") || Contains(ToLower(text), "percent")) return 1 + number / 100;
  // A factor below one would be a slow-down, which no analysis proposes, so it is a gain.
  return number < 1 ? 1 + number : number;
}

// Returns one of the three words. Empty if the answer names none of them.
std::string AsTimeLoop(const Json& value) {
  const std::string word = Canonical(AsText(value));
  for (const char* inside : {"inside", "in_kernel", "in_the_kernel", "kernel", "device"})
    if (StartsWith(word, inside)) return "inside_kernel";
  for (const char* host : {"host", "on_host", "on_the_host", "python", "outside"})
    if (StartsWith(word, host)) return "host";
  for (const char* none : {"none", "no_loop", "no_time_loop", "not_applicable"})
    if (StartsWith(word, none)) return "none";
  return "";
}

bool ContainsAny(const std::string& text, Words words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(text, word); });
}

std::string AsComplexity(const Json& value) {
  const std::string word = ToLower(AsText(value));
  if (ContainsAny(word, {"high", "hard", "complex", "difficult", "significant", "large"})) return "high";
  if (ContainsAny(word, {"medium", "moderate", "mid", "average"})) return "medium";
  if (ContainsAny(word, {"low", "simple", "easy", "trivial", "small", "minor"})) return "low";
  return "medium";
}

Result<AnalysisRecord> Validated(AnalysisRecord record) {
  if (record.worth_optimizing && record.optimisation_method.empty())
    return Error{ErrorKind::kInvalid, "the analysis names no optimisation_method"};
  if (!record.worth_optimizing && record.reason.empty())
    return Error{ErrorKind::kInvalid, "the analysis says it is not worth optimising and gives no reason"};
  return record;
}

}  // namespace

Result<AnalysisRecord> AnalysisFromJson(const Json& json) {
  if (!json.is_object()) return Error{ErrorKind::kInvalid, "the analysis is not a JSON object"};
  const Json fields = KnownFields(json);
  AnalysisRecord record;
  record.optimisation_method = AsText(GetMember(fields, "optimisation_method"));
  record.worth_optimizing =
      AsBool(GetMember(fields, "worth_optimizing"), !record.optimisation_method.empty());
  record.reason = AsText(GetMember(fields, "reason"));
  record.bottleneck = AsText(GetMember(fields, "bottleneck"));
  record.modification_plan = AsText(GetMember(fields, "modification_plan"));
  record.expected_speedup = AsSpeedup(GetMember(fields, "expected_speedup"));
  record.implementation_complexity = AsComplexity(GetMember(fields, "implementation_complexity"));
  record.kernel_type = AsText(GetMember(fields, "kernel_type"));
  record.time_loop = AsTimeLoop(GetMember(fields, "time_loop"));
  // A reply that only describes the bottleneck lacks a method, but does not mean "no".
  if (!fields.contains("worth_optimizing")) record.worth_optimizing = true;
  return Validated(std::move(record));
}

Result<AnalysisRecord> ParseAnalysis(const std::string& reply) {
  // Text from the thinking part is used only if there is no other.
  std::vector<size_t> starts = {0};
  if (const size_t thought = reply.rfind("</think>"); thought != std::string::npos)
    starts.insert(starts.begin(), thought);
  Json best;
  size_t most = 0;
  for (const size_t start : starts) {
    for (const Json& object : FindObjects(std::string_view(reply).substr(start))) {
      const size_t known = KnownFields(object).size();
      if (known <= most) continue;
      most = known;
      best = object;
    }
    if (most >= 2) break;
  }
  if (most < 2)
    return Error{ErrorKind::kInvalid, "the reply holds no JSON object with the fields of an analysis"};
  return AnalysisFromJson(best);
}

Json ToJson(const AnalysisRecord& record) {
  Json json = {{"worth_optimizing", record.worth_optimizing},
               {"reason", record.reason},
               {"bottleneck", record.bottleneck},
               {"optimisation_method", record.optimisation_method},
               {"modification_plan", record.modification_plan},
               {"expected_speedup", record.expected_speedup},
               {"implementation_complexity", record.implementation_complexity},
               {"kernel_type", record.kernel_type}};
  if (!record.time_loop.empty()) json["time_loop"] = record.time_loop;
  return json;
}

std::string AnalysisSchema() {
  const auto text = [](const char* description) {
    return Json{{"type", "string"}, {"description", description}};
  };
  const auto one_of = [](std::initializer_list<const char*> words, const char* description) {
    Json values = Json::array();
    for (const char* word : words) values.push_back(word);
    return Json{{"type", "string"}, {"enum", values}, {"description", description}};
  };
  const Json properties = {
      {"worth_optimizing", {{"type", "boolean"}}},
      {"reason", text("why, with numbers")},
      {"bottleneck", text("what limits the candidate, and where")},
      {"optimisation_method", text("the one change of algorithm")},
      {"modification_plan", text("kernels, grid, who owns which data, what orders dependent steps")},
      {"expected_speedup", {{"type", "number"}, {"description", "a factor over this candidate"}}},
      {"implementation_complexity", one_of({"low", "medium", "high"}, "of the change")},
      {"kernel_type", one_of({"persistent_recurrent", "gemm", "conv", "elementwise", "reduction", "attention",
                              "scan", "other"},
                             "what the result is")},
      {"time_loop", one_of({"inside_kernel", "host", "none"},
                           "where the loop over dependent steps runs: inside one kernel or C++ call, on the "
                           "host around launches, or there is none")},
  };
  Json required = Json::array();
  for (const auto& [name, value] : properties.items()) required.push_back(name);
  return DumpJson(Json{{"type", "object"},
                       {"properties", properties},
                       {"required", required},
                       {"additionalProperties", false}});
}

}  // namespace hone
