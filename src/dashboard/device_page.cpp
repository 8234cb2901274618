// The devices in the store, with facts from the newest verdict on each: driver, clocks, library versions,
// sandbox, and the baselines that worked.
#include <fmt/format.h>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "store/overview.h"

namespace hone {

namespace {

void AddFact(Json* facts, const std::string& name, const Json& value) {
  if (value.is_null() || (value.is_string() && value.str().empty())) return;
  facts->push_back(
      {{"name", name}, {"value", value.is_string() ? value.get<std::string>() : DumpJson(value)}});
}

Json FactsOf(const Json& provenance) {
  Json facts = Json::array();
  if (!provenance.is_object()) return facts;
  for (const auto& [name, key] :
       {std::pair("system", "system"), std::pair("cores", "cores"), std::pair("Python", "python"),
        std::pair("torch", "torch"), std::pair("Triton", "triton"), std::pair("sandbox", "sandbox"),
        std::pair("threads", "threads"), std::pair("CPU MHz", "cpu_mhz")})
    AddFact(&facts, name, GetMember(provenance, key));
  const Json& gpu = GetMember(provenance, "gpu");
  for (const auto& [name, key] :
       {std::pair("driver", "driver"), std::pair("SM clock, MHz", "sm_clock_mhz"),
        std::pair("memory clock, MHz", "memory_clock_mhz"), std::pair("temperature, C", "temperature_c"),
        std::pair("power, W", "power_w")})
    AddFact(&facts, name, GetMember(gpu, key));
  const Json& seen = GetMember(provenance, "facts");
  for (const auto& [name, key] :
       {std::pair("compute capability", "sm"), std::pair("CUDA", "cuda"),
        std::pair("multiprocessors", "multiprocessors"),
        std::pair("shared memory per block", "shared_memory_per_block"), std::pair("L2 bytes", "l2_bytes")})
    AddFact(&facts, name, GetMember(seen, key));
  return facts;
}

Json LadderOf(const Json& provenance) {
  Json ladder = Json::array();
  const Json& rungs = GetMember(provenance, "ladder");
  if (!rungs.is_array()) return ladder;
  for (const Json& rung : rungs)
    ladder.push_back({{"name", GetString(rung, "name")},
                      {"available", GetBool(rung, "available")},
                      {"why_not", GetString(rung, "why_not")}});
  return ladder;
}

}  // namespace

HttpReply DevicesPage(const PageContext& page) {
  const Result<std::vector<DeviceLine>> devices = ListDevices(page.store);
  if (!devices.ok()) return ErrorPage(devices.error());
  Json rows = Json::array();
  for (const DeviceLine& line : *devices) {
    const Result<std::string> stored = NewestVerdictOnDevice(page.store, line.device);
    if (!stored.ok()) return ErrorPage(stored.error());
    const Json verdict = JsonOrNull(*stored);
    const Json& provenance = GetMember(verdict, "provenance");
    rows.push_back({{"device", line.device},
                    {"targets", line.targets},
                    {"runs", line.runs},
                    {"tasks", line.tasks},
                    {"faster", line.faster},
                    {"last_used", ShortTime(line.last_used)},
                    {"runs_link", "/runs?" + FormText({{"device", line.device}})},
                    {"board_link", "/leaderboard?" + FormText({{"device", line.device}})},
                    {"facts", FactsOf(provenance)},
                    {"ladder", LadderOf(provenance)},
                    {"seen", ShortTime(GetString(provenance, "time"))}});
  }
  return RenderPage("devices", "Devices", "devices", {{"rows", rows}});
}

}  // namespace hone
