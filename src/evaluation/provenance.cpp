#include "evaluation/provenance.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/text.h"

namespace hone {

namespace {

// Clocks, temperature and driver version from nvidia-smi, read right after the timing.
Json GpuState() {
  ChildSpec spec;
  spec.argv = {
      "nvidia-smi",
      "--query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,persistence_mode",
      "--format=csv,noheader,nounits"};
  spec.env = CurrentEnvironment();
  const Result<ExitReport> report = RunProgram(spec, Deadline::After(10));
  if (!report.ok() || report->code != 0) return {};
  const std::vector<std::string> lines = Lines(report->out);
  if (lines.empty()) return {};
  Json state;
  static const char* const kNames[] = {"name",          "driver",  "sm_clock_mhz", "memory_clock_mhz",
                                       "temperature_c", "power_w", "persistence"};
  const std::vector<std::string> fields = Split(lines[0], ',');
  for (size_t i = 0; i < fields.size() && i < 7; ++i) state[kNames[i]] = std::string(Trim(fields[i]));
  return state;
}

std::string CpuInfo(const std::string& key) {
  const Result<std::string> text = ReadFile("/proc/cpuinfo");
  if (!text.ok()) return "";
  for (const std::string& line : Lines(*text))
    if (StartsWith(line, key)) return std::string(Trim(line.substr(line.find(':') + 1)));
  return "";
}

// Which baselines were timed, and why the others were not.
Json BaselinesOf(const ReferenceSession& session, const Timing& timing) {
  Json timed = Json::array(), left_out = Json::array();
  const auto leave_out = [&](const std::string& name, const std::string& why) {
    left_out.push_back({{"name", name}, {"why", why}});
  };
  for (size_t i = 1; i < timing.contestants.size(); ++i) timed.push_back(timing.contestants[i].name);
  for (const LeftOut& one : timing.left_out) leave_out(one.name, one.why);
  for (const Rung& rung : session.ladder().All())
    if (!rung.available) leave_out(rung.name, rung.why_not);
  const std::vector<std::string>& asked = session.options().ladder;
  if (!session.ladder().Find("compile")) {
    const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), "compile") != asked.end();
    leave_out("compile", !wanted ? "--baselines does not name it"
                         : session.options().compile_rung == "never"
                             ? "--compile never"
                             : "the candidate is not ahead of the others");
  } else if (session.ladder().Find("compile")->available && timing.Find("compile") == nullptr) {
    leave_out("compile", "it was prepared while this candidate was judged");
  }
  return {{"timed", timed}, {"left_out", left_out}};
}

}  // namespace

std::string CpuName() {
  return CpuInfo("model name");
}

OrderedJson Provenance(const ReferenceSession& session, const CandidateFile& candidate,
                       const Measurement& measurement) {
  const Json& facts = session.facts();
  OrderedJson json;
  json["hone"] = HONE_VERSION;
  json["time"] = UtcTimestamp();
  json["task"] = {{"name", session.task().name},
                  {"path", session.task().path.string()},
                  {"sha256", session.task().sha256}};
  json["candidate"] = {
      {"name", candidate.name}, {"path", candidate.path.string()}, {"sha256", candidate.sha256}};
  json["target"] = session.options().target;
  json["device"] = session.options().device == "cuda" ? GetString(facts, "device_name") : CpuName();
  utsname system{};
  uname(&system);
  json["system"] = std::string(system.sysname) + " " + system.release + " " + system.machine;
  json["cores"] = sysconf(_SC_NPROCESSORS_ONLN);
  if (session.options().device == "cuda")
    json["gpu"] = GpuState();
  else
    json["cpu_mhz"] = CpuInfo("cpu MHz");
  json["python"] = GetString(facts, "python");
  json["torch"] = GetString(facts, "torch");
  json["triton"] = GetString(facts, "triton");
  json["facts"] = facts;
  json["threads"] = session.threads();
  json["sandbox"] = Describe(session.options().sandbox);
  json["truth"] = session.truth_note();
  json["precision"] =
      session.options().precision.empty() ? "as PyTorch's default run" : session.options().precision;
  json["limit_rule"] = DescribeRule(session.truth().rule);
  json["allow_blind"] = session.options().allow_blind;
  double load[3] = {0, 0, 0};
  if (getloadavg(load, 3) == 3) json["load_average"] = {load[0], load[1], load[2]};
  json["seeds"] = Json::array();
  for (const Case& one : session.cases())
    json["seeds"].push_back({{"case", one.id},
                             {"change", one.change},
                             {"regime", session.instances()[one.instance].regime},
                             {"weights", session.instances()[one.instance].seed},
                             {"inputs", one.input_seed},
                             {"call", one.call_seed}});
  json["limits"] = Json::array();
  for (size_t instance = 0; instance < session.instances().size(); ++instance)
    for (size_t leaf = 0; leaf < session.cases()[0].expected.leaves.size(); ++leaf) {
      const Limit limit = session.LimitFor(instance, leaf);
      json["limits"].push_back({{"weights", session.instances()[instance].slot},
                                {"output", session.cases()[0].expected.leaves[leaf].path},
                                {"relative", limit.relative},
                                {"worst", limit.worst},
                                {"scaled", limit.scaled}});
    }
  json["ladder"] = Json::array();
  for (const Rung& rung : session.ladder().All())
    json["ladder"].push_back({{"name", rung.name},
                              {"available", rung.available},
                              {"why_not", rung.why_not},
                              {"first_look_us", rung.call_us},
                              {"error", rung.error}});
  if (measurement.timing) {
    json["baselines"] = BaselinesOf(session, *measurement.timing);
    json["timed_memory"] = measurement.timing->memory;
  }
  json["mutants"] = Json::array();
  for (const MutantResult& mutant : session.mutants())
    json["mutants"].push_back({{"name", mutant.name},
                               {"times_over_limit", mutant.error},
                               {"regime", mutant.regime},
                               {"told_apart", mutant.told_apart}});
  json["stateful"] = session.stateful();
  json["random_in_forward"] = session.random_in_forward();
  json["seconds"] = measurement.seconds;
  json["phases"] = OrderedJson::object();
  for (const auto& [phase, seconds] : measurement.phases) json["phases"][StepNameOf(phase)] = seconds;
  json["preparation"] = OrderedJson::object();
  for (const auto& [step, seconds] : session.preparation()) json["preparation"][step] = seconds;
  json["reference_seconds"] = measurement.reference_seconds;
  json["candidate_seconds"] = measurement.candidate_seconds;
  return json;
}

}  // namespace hone
