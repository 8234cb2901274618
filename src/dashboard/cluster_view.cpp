#include "dashboard/cluster_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kMostBytes = 16u << 20;
constexpr size_t kMostNodes = 1000;
constexpr size_t kMostFaults = 10;
constexpr double kSilentS = 15;  // the driver writes twice a second

std::vector<std::string> Strings(const Json& list) {
  std::vector<std::string> strings;
  if (list.is_array())
    for (const Json& one : list)
      if (one.is_string()) strings.push_back(one.str());
  return strings;
}

Json NodeValues(const Json& node) {
  const std::vector<std::string> running = Strings(GetMember(node, "running"));
  return {{"id", GetString(node, "id")},      {"host", GetString(node, "host")},
          {"alive", GetBool(node, "alive")},  {"used", GetBool(node, "used")},
          {"places", GetInt(node, "places")}, {"running", running},
          {"done", GetInt(node, "done")},     {"faults", GetInt(node, "faults")}};
}

std::string StateWords(const std::string& state, double age_s, const std::string& suite) {
  const bool alive = state == "running" || state == "starting";
  if (alive && age_s > kSilentS)
    return fmt::format("The driver has said nothing for {}; if it died, continue with: hone resume {}",
                       HumanSeconds(age_s), suite);
  if (state == "stopped") return "Stopped; to continue: hone resume " + suite;
  return state == "finished" ? "Finished" : state == "starting" ? "Starting" : "Running";
}

}  // namespace

Json ClusterProgress(const SuiteRecord& suite, double now_s) {
  const Result<Json> options = ParseJson(suite.options);
  if (!options.ok() || GetString(*options, "on").empty()) return nullptr;
  const Result<std::string> text =
      ReadFile(fs::path(GetString(*options, "folder")) / "progress.json", kMostBytes);
  const Result<Json> file = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!file.ok() || !file->is_object()) return nullptr;
  Json nodes = Json::array();
  const Json& listed = GetMember(*file, "nodes");
  if (listed.is_array())
    for (const Json& node : listed)
      if (node.is_object() && nodes.size() < kMostNodes) nodes.push_back(NodeValues(node));
  Json faults = Json::array();
  for (const char* kind : {"gave_up", "faults"}) {
    const Json& records = GetMember(*file, kind);
    if (!records.is_array()) continue;
    for (size_t i = records.size() - std::min(records.size(), kMostFaults); i < records.size(); ++i)
      faults.push_back({{"kind", kind},
                        {"task", GetString(records[i], "task")},
                        {"why", GetString(records[i], "why")},
                        {"attempt", GetInt(records[i], "attempt")}});
  }
  return {{"on", GetString(*options, "on")},
          {"state", GetString(*file, "state")},
          {"host", GetString(*file, "host")},
          {"pid", GetInt(*file, "pid")},
          {"total", GetInt(*file, "total")},
          {"done", GetInt(*file, "done")},
          {"running", GetInt(*file, "running")},
          {"queued", GetInt(*file, "queued")},
          {"age_s", std::max(0.0, now_s - GetNumber(*file, "updated"))},
          {"nodes", std::move(nodes)},
          {"faults", std::move(faults)}};
}

Json ClusterPanel(const SuiteRecord& suite, double now_s) {
  Json values = ClusterProgress(suite, now_s);
  if (values.is_null()) return values;
  const std::string state = GetString(values, "state");
  const double age_s = GetNumber(values, "age_s");
  values["words"] = StateWords(state, age_s, suite.name);
  values["live"] = (state == "running" || state == "starting") && age_s <= kSilentS;
  for (Json& node : values["nodes"]) {
    node["tasks"] = Join(Strings(node["running"]), ", ");
    node["state"] = !GetBool(node, "alive") ? "dead" : GetBool(node, "used") ? "alive" : "not used";
    node["tone"] = GetBool(node, "alive") ? "good" : "bad";
  }
  for (Json& fault : values["faults"]) fault["given_up"] = GetString(fault, "kind") == "gave_up";
  return values;
}

}  // namespace hone
