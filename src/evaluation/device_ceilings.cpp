#include "evaluation/device_ceilings.h"

#include <unistd.h>

#include <thread>

#include "base/files.h"
#include "base/ids.h"
#include "evaluation/fma_peak.h"
#include "evaluation/run_messages.h"

namespace hone {

namespace {

// Includes the version of the file format, so that files with fewer rates are ignored.
fs::path FileOf(const std::string& device, const Json& facts) {
  const std::string name = device == "cuda" ? GetString(facts, "device_name") : "cpu";
  const std::string key = Sha256("2" + name + GetString(facts, "torch") + GetString(facts, "capabilities") +
                                 std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  return CacheFolder() / "ceilings" / (key.substr(0, 16) + ".json");
}

}  // namespace

DeviceCeilings ReadCeilings(const std::string& device, const Json& facts) {
  const Result<std::string> text = ReadFile(FileOf(device, facts));
  const Result<Json> json = text.ok() ? ParseJson(*text) : Result<Json>(Json());
  if (!json.ok() || GetNumber(*json, "memory_bytes_per_s") <= 0) return {};
  return {CeilingsFromJson(*json), GetInt(*json, "times", 1)};
}

Status MeasureCeilings(const std::string& device, const Json& facts, WorkerProcess& worker,
                       DeviceCeilings* known) {
  HONE_ASSIGN_OR_RETURN(const CeilingsReply measured, worker.Require(CeilingsRequest{}));
  known->rates = Larger(known->rates, CeilingsFromJson(measured.rates));  // the rates of libraries
  if (device != "cuda") {
    Ceilings cores;  // the rates of the cores, which no library quite reaches
    cores.flops_per_s = MeasureFmaPeak(static_cast<int>(std::thread::hardware_concurrency()));
    known->rates = Larger(known->rates, cores);
  }
  ++known->times;
  Json kept = ToJson(known->rates);
  kept["times"] = known->times;
  // An untrusted task must not change these rates, because they affect the verdicts on other tasks.
  if (worker.zygote().options().sandbox == SandboxLevel::kNone)
    KeepInCache(FileOf(device, facts), DumpJson(kept, 1));
  return Ok();
}

}  // namespace hone
