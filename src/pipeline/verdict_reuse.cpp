#include "pipeline/verdict_reuse.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/ids.h"
#include "base/text.h"
#include "codegen/expert.h"
#include "evaluation/provenance.h"
#include "pipeline/best_file.h"
#include "process/child.h"

namespace hone {

namespace {

// The driver's version and the model of every GPU, from the driver's files, without initialising a device.
// Empty without such files (WSL).
std::string ReadDriver() {
  const fs::path root = "/proc/driver/nvidia";
  const Result<std::string> version = ReadFile(root / "version");
  if (!version.ok()) return "";
  std::vector<std::string> parts = {std::string(Trim(Lines(*version + "\n")[0]))};
  std::error_code code;
  for (const fs::directory_entry& gpu : fs::directory_iterator(root / "gpus", code)) {
    const Result<std::string> facts = ReadFile(gpu.path() / "information");
    if (!facts.ok()) continue;
    for (const std::string& line : Lines(*facts))
      if (StartsWith(line, "Model:")) parts.push_back(std::string(Trim(line.substr(6))));
  }
  std::sort(parts.begin() + 1, parts.end());
  return parts.size() > 1 ? Join(parts, "; ") : "";
}

std::string AskNvidiaSmi() {
  ChildSpec spec;
  spec.argv = {"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"};
  spec.env = CurrentEnvironment();
  const Result<ExitReport> report = RunProgram(spec, Deadline::After(10));
  return report.ok() && report->code == 0 ? std::string(Trim(report->out)) : "";
}

std::string IdentifyGpu() {
  const std::string read = ReadDriver();
  const std::string gpus = read.empty() ? AskNvidiaSmi() : read;
  if (gpus.empty()) return "";
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return gpus + "; visible: " + (visible == nullptr ? "all" : visible);
}

std::string IdentifyCpu() {
  const std::string name = CpuName();
  return name.empty() ? "" : name + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

}  // namespace

JudgingMachine IdentifyMachine(const SessionOptions& options) {
  JudgingMachine machine;
  const Result<std::string> program = ReadFile(OwnExecutable(), 1u << 30);
  if (!program.ok()) return machine;
  machine.hone = Sha256(*program);
  machine.device = options.device == "cuda" ? IdentifyGpu() : IdentifyCpu();
  return machine;
}

std::string ConditionsOf(const TaskFile& task, const CandidateFile& candidate, const SessionOptions& options,
                         const JudgingMachine& machine) {
  if (machine.device.empty() || !ImportFromBeside(task).empty()) return "";
  const PythonInfo& python = options.python;
  return Sha256(DumpJson(Json{{"task", task.sha256},
                              {"candidate", candidate.sha256},
                              {"hone", machine.hone},
                              {"device", machine.device},
                              {"python", python.program.string() + " " + python.version},
                              {"torch", python.torch_version + " " + python.torch_cuda},
                              {"triton", python.triton_version},
                              {"target", options.target},
                              {"precision", options.precision},
                              {"trials", options.trials},
                              {"error_factor", options.error_factor},
                              {"atol", options.atol},
                              {"rtol", options.rtol},
                              {"allow_blind", options.allow_blind},
                              {"sandbox", Describe(options.sandbox)},
                              {"timeout_s", options.timeout_s},
                              {"build_timeout_s", options.build_timeout_s},
                              {"candidate_memory", options.candidate_memory},
                              {"compile", options.compile_rung},
                              {"ladder", options.ladder},
                              {"lint", options.lint},
                              // A run with a language model reports the counted launches to it. On a CPU they
                              // are always counted.
                              {"profile_all", options.profile_all && options.device == "cuda"},
                              {"check_only", options.check_only}}));
}

Result<std::optional<KnownVerdict>> FindKnown(RunStore& store, const TaskFile& task,
                                              const CandidateFile& candidate, const SessionOptions& options,
                                              const JudgingMachine& machine) {
  std::vector<CandidateFile> files = {candidate};
  if (const std::optional<CandidateRecord> best = CandidateOfBestFile(store, candidate.source))
    files.push_back({candidate.path, candidate.name, best->source, best->sha256});
  SessionOptions profiled = options;  // a verdict that counted more is an answer as well
  profiled.profile_all = true;
  for (const CandidateFile& file : files)
    for (const std::string& conditions : std::set<std::string>{ConditionsOf(task, file, options, machine),
                                                               ConditionsOf(task, file, profiled, machine)}) {
      HONE_ASSIGN_OR_RETURN(
          std::optional<KnownVerdict> known,
          FindKnownAnywhere(store.store(), task.name, file.sha256, conditions,
                            options.lint_predicts ? LintOnly::kCounts : LintOnly::kDoesNot));
      if (known) return known;
    }
  return std::optional<KnownVerdict>();
}

}  // namespace hone
