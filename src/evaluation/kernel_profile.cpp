#include "evaluation/kernel_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "process/sandbox.h"

namespace hone {

namespace {

constexpr double kSeconds = 180;
// Above this share of the peak, grid and block sizes matter little.
constexpr double kBusyPercent = 80;
constexpr double kMainShare = 0.5;

constexpr char kTime[] = "gpu__time_duration.sum";

struct Metric {
  const char* name;
  double KernelMetrics::*member;
};
constexpr Metric kMetrics[] = {
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", &KernelMetrics::sm_percent},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", &KernelMetrics::memory_percent},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", &KernelMetrics::occupancy_percent},
    {"lts__t_sector_hit_rate.pct", &KernelMetrics::l2_hit_percent},
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
     &KernelMetrics::memory_stalls},
};

// Splits one line of CSV with quoted fields, as ncu writes it.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[i++];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

double Number(const std::string& text) {
  return std::strtod(ReplaceAll(text, ",", "").c_str(), nullptr);
}

struct Columns {
  size_t id = 0, kernel = 0, metric = 0, unit = 0, value = 0, count = 0;
};

bool ReadHeading(const std::vector<std::string>& fields, Columns* columns) {
  const auto find = [&](const char* name, size_t* at) {
    const auto found = std::find(fields.begin(), fields.end(), name);
    *at = static_cast<size_t>(found - fields.begin());
    return found != fields.end();
  };
  columns->count = fields.size();
  return find("ID", &columns->id) && find("Kernel Name", &columns->kernel) &&
         find("Metric Name", &columns->metric) && find("Metric Unit", &columns->unit) &&
         find("Metric Value", &columns->value);
}

double Microseconds(double value, const std::string& unit) {
  if (unit == "us" || unit == "usecond") return value;
  if (unit == "ms" || unit == "msecond") return value * 1e3;
  if (unit == "s" || unit == "second") return value * 1e6;
  return value * 1e-3;  // ncu's base unit is nanoseconds
}

std::vector<KernelMetrics> Gathered(const std::map<std::string, KernelMetrics>& launches) {
  std::map<std::string, KernelMetrics> by_name;
  double total = 0;
  for (const auto& [id, one] : launches) {
    KernelMetrics& kernel = by_name[one.kernel];
    kernel.kernel = one.kernel;
    ++kernel.launches;
    kernel.time_us += one.time_us;
    total += one.time_us;
    for (const Metric& metric : kMetrics) kernel.*metric.member += one.*metric.member * one.time_us;
  }
  std::vector<KernelMetrics> kernels;
  for (auto& [name, kernel] : by_name) {
    for (const Metric& metric : kMetrics)
      if (kernel.time_us > 0) kernel.*metric.member /= kernel.time_us;
    kernel.share = total > 0 ? kernel.time_us / total : 0;
    kernels.push_back(kernel);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelMetrics& a, const KernelMetrics& b) { return a.time_us > b.time_us; });
  return kernels;
}

// Returns the error that ncu printed ("==ERROR== ..."), else the last line of output.
std::string Complaint(const ExitReport& report) {
  std::string last;
  for (const std::string& line : Lines(report.out + "\n" + report.err)) {
    if (StartsWith(line, "==ERROR==")) return SafeForTerminal(line.substr(9)).substr(0, 200);
    if (!Trim(line).empty()) last = line;
  }
  return SafeForTerminal(last).substr(0, 200);
}

}  // namespace

Result<std::vector<KernelMetrics>> ParseNcuCsv(std::string_view text) {
  Columns columns;
  std::map<std::string, KernelMetrics> launches;
  bool heading = false;
  for (const std::string& line : Lines(std::string(text))) {
    if (!StartsWith(line, "\"")) continue;
    const std::vector<std::string> fields = Fields(line);
    if (!heading) {
      heading = ReadHeading(fields, &columns);
      continue;
    }
    if (fields.size() != columns.count) continue;
    KernelMetrics& launch = launches[fields[columns.id]];
    launch.kernel = fields[columns.kernel];
    if (fields[columns.metric] == kTime)
      launch.time_us = Microseconds(Number(fields[columns.value]), fields[columns.unit]);
    for (const Metric& metric : kMetrics)
      if (fields[columns.metric] == metric.name) launch.*metric.member = Number(fields[columns.value]);
  }
  if (!heading) return Error{ErrorKind::kInvalid, "ncu printed no table"};
  if (launches.empty()) return Error{ErrorKind::kInvalid, "ncu saw no kernel"};
  return Gathered(launches);
}

Result<KernelProfile> ProfileKernels(const TaskFile& task, const CandidateFile& candidate,
                                     const SessionOptions& options) {
  KernelProfile profile;
  const auto without = [&](std::string why) {
    profile.why_not = std::move(why);
    return profile;
  };
  if (options.device != "cuda") return without("there is no GPU");
  const fs::path ncu = FindProgram("ncu");
  if (ncu.empty()) return without("ncu is not installed");
  HONE_ASSIGN_OR_RETURN(const fs::path worker, WorkerFolder());
  HONE_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("hone-profile-"));
  HONE_ASSIGN_OR_RETURN(const fs::path copy, CopyInto(candidate, folder.path()));
  const fs::path task_copy = folder.path() / "hone_profiled_task.py";
  HONE_RETURN_IF_ERROR(WriteFileAtomic(task_copy, task.source));

  std::string metrics = kTime;
  for (const Metric& metric : kMetrics) metrics += std::string(",") + metric.name;
  ChildSpec spec;
  // Clocks are not fixed: that needs privileges, and percentages do not depend on them.
  spec.argv = {ncu.string(),
               "--csv",
               "--print-units",
               "base",
               "--clock-control",
               "none",
               "--profile-from-start",
               "off",
               "--target-processes",
               "all",
               "--metrics",
               metrics,
               options.python.program.string(),
               (worker / "hone_profile.py").string(),
               task_copy.string(),
               copy.string()};
  spec.env = CandidateEnvironment(folder.path());
  SetVariable(spec.env, "PYTHONDONTWRITEBYTECODE", "1");
  spec.folder = folder.path();
  SandboxPolicy policy;
  policy.readable = {worker, ncu.parent_path()};
  policy.readable.insert(policy.readable.end(), options.python.read_paths.begin(),
                         options.python.read_paths.end());
  policy.private_folder = folder.path();
  policy.gpu = true;
  policy.loopback = true;
  HONE_ASSIGN_OR_RETURN(const SandboxedChild started, SpawnSandboxed(spec, policy, options.sandbox));
  const bool ended =
      started.child->WaitUntil(Deadline::After(std::min(kSeconds, options.end.seconds_left())));
  started.child->Kill();
  if (Interrupted()) return InterruptedError();
  if (!ended && options.end.passed()) return OutOfTimeError();
  if (!ended) return without(fmt::format("ncu took more than {:.0f} s", kSeconds));
  const ExitReport report = started.child->report();
  Result<std::vector<KernelMetrics>> kernels = ParseNcuCsv(report.out);
  if (!kernels.ok()) return without(kernels.error().message + ": " + Complaint(report));
  profile.kernels = std::move(*kernels);
  return profile;
}

Json ToJson(const KernelProfile& profile) {
  Json kernels = Json::array();
  for (const KernelMetrics& one : profile.kernels)
    kernels.push_back({{"kernel", one.kernel},
                       {"launches", one.launches},
                       {"time_us", one.time_us},
                       {"share", one.share},
                       {"sm_percent", one.sm_percent},
                       {"memory_percent", one.memory_percent},
                       {"occupancy_percent", one.occupancy_percent},
                       {"l2_hit_percent", one.l2_hit_percent},
                       {"memory_stalls", one.memory_stalls}});
  return {{"why_not", profile.why_not}, {"kernels", kernels}};
}

KernelProfile KernelProfileFromJson(const Json& json) {
  KernelProfile profile;
  profile.why_not = GetString(json, "why_not");
  for (const Json& row : GetMember(json, "kernels")) {
    KernelMetrics one;
    one.kernel = GetString(row, "kernel");
    one.launches = static_cast<int>(GetInt(row, "launches", 0));
    one.time_us = GetNumber(row, "time_us");
    one.share = GetNumber(row, "share");
    one.sm_percent = GetNumber(row, "sm_percent");
    one.memory_percent = GetNumber(row, "memory_percent");
    one.occupancy_percent = GetNumber(row, "occupancy_percent");
    one.l2_hit_percent = GetNumber(row, "l2_hit_percent");
    one.memory_stalls = GetNumber(row, "memory_stalls");
    profile.kernels.push_back(one);
  }
  return profile;
}

std::string WhyBusyAlready(const KernelProfile& profile) {
  if (profile.kernels.empty()) return "";
  const KernelMetrics& main = profile.kernels.front();
  if (main.share < kMainShare || std::max(main.sm_percent, main.memory_percent) < kBusyPercent) return "";
  const bool compute = main.sm_percent >= main.memory_percent;
  return fmt::format("its main kernel keeps the {} {:.0f}% busy already (ncu)", compute ? "SMs" : "memory",
                     compute ? main.sm_percent : main.memory_percent);
}

Json ProfileFacts(const KernelProfile& profile) {
  if (profile.kernels.empty()) return nullptr;
  const KernelMetrics& main = profile.kernels.front();
  const auto rounded = [](double value) { return std::round(value * 10) / 10; };
  std::vector<std::string> largest;
  for (size_t i = 0; i < std::min<size_t>(profile.kernels.size(), 3); ++i)
    largest.push_back(fmt::format("{} {:.0f}%", SafeForTerminal(profile.kernels[i].kernel).substr(0, 60),
                                  100 * profile.kernels[i].share));
  return {{"largest kernels and their share of the time", Join(largest, ", ")},
          {"main kernel", SafeForTerminal(main.kernel).substr(0, 120)},
          {"its share of kernel time %", rounded(100 * main.share)},
          {"launches of it", main.launches},
          {"SM throughput %", rounded(main.sm_percent)},
          {"memory throughput %", rounded(main.memory_percent)},
          {"occupancy %", rounded(main.occupancy_percent)},
          {"L2 hit rate %", rounded(main.l2_hit_percent)},
          {"warps waiting for memory per instruction", rounded(main.memory_stalls)}};
}

}  // namespace hone
