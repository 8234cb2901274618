#include "cli/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "process/sandbox.h"

namespace hone {

void AddJudgeFlags(Command& command, JudgeFlags* flags) {
  command
      .Add("--target", &flags->target, "Device and language to judge for; auto means cuda if there is a GPU")
      .OneOf({"auto", "cuda", "triton", "cpu"});
  command
      .Add("--python", &flags->python,
           "Python with PyTorch (default: $HONE_PYTHON, an active virtual environment, python3, or that of "
           "scripts/setup.sh)")
      .Placeholder("PATH");
  command.Add("--precision", &flags->precision, "Precision of the baseline (default: what PyTorch uses)")
      .OneOf({"fp32", "tf32", "bf16"});
  command.Add("--trials", &flags->trials, "Smallest number of test cases, each with a fresh secret seed")
      .Between(5, 1000);
  command
      .Add("--error-factor", &flags->error_factor,
           "Largest allowed error as a multiple of PyTorch's own error; above 2 the claim is weaker")
      .Positive();
  command
      .Add("--atol", &flags->atol,
           "Compare with |y - PyTorch| <= atol + rtol * |PyTorch|, as KernelBench does; a weaker claim")
      .AtLeast(0);
  command.Add("--rtol", &flags->rtol, "The relative part of --atol's rule").AtLeast(0);
  command.Add("--allow-blind", &flags->allow_blind,
              "Judge even if a wrong input, parameter or output of the task would go undetected");
  command
      .Add("--timeout", &flags->timeout_s,
           "Longest time of one call of the candidate (default: a multiple of PyTorch's time)")
      .Positive()
      .Placeholder("SECONDS");
  command.Add("--build-timeout", &flags->build_timeout_s, "Longest time to import and compile the candidate")
      .Positive()
      .Placeholder("SECONDS");
  command
      .Add("--candidate-memory", &flags->candidate_memory_gib,
           "Most memory of the candidate's processes together. Default: four times PyTorch's, but at least "
           "8 GB and a quarter of the machine, and at most 60% of it")
      .Positive()
      .Placeholder("GIB");
  command
      .Add("--compile", &flags->compile,
           "Use torch.compile as a baseline; auto measures it only when it can change the verdict")
      .OneOf({"auto", "always", "never"});
  const std::vector<std::string> baselines = {"eager", "tf32", "cudagraph", "flush_denormals", "compile"};
  command
      .Add("--baselines", &flags->ladder,
           "Baselines to measure besides eager, separated by commas (default: all that apply)")
      .OneOf(baselines)
      .SplitAt(',');
  // The former name, for scripts and files that still use it.
  command.Add("--ladder", &flags->ladder, "The same as --baselines").OneOf(baselines).SplitAt(',').Hidden();
  command.Add("--no-lint", &flags->no_lint, "Skip static analysis and run candidates that it would refuse");
  command.Add("--sandbox", &flags->sandbox, "Sandbox for the candidate's process; auto takes the strongest")
      .OneOf({"auto", "bubblewrap", "landlock", "none"});
  command.Add("--sandbox-task", &flags->sandbox_task,
              "Run the task in the sandbox too: for a task file that somebody else wrote");
}

bool HasGpuIn(const fs::path& devices) {
  constexpr std::string_view kName = "nvidia";
  std::error_code code;
  if (fs::exists(devices / "dxg", code)) return true;
  for (const fs::directory_entry& entry : fs::directory_iterator(devices, code)) {
    const std::string name = entry.path().filename().string();
    if (StartsWith(name, kName) && name.size() > kName.size() &&
        std::isdigit(static_cast<unsigned char>(name[kName.size()])) != 0)
      return true;
  }
  return false;
}

namespace {

// The same test as in scripts/setup.sh. A container's GPU need not be the machine's first one.
bool HasGpu() {
  return HasGpuIn("/dev");
}

Result<SandboxLevel> ChooseSandbox(const std::string& asked) {
  if (asked == "none") return SandboxLevel::kNone;
  const SandboxLevel best = DetectSandbox();
  if (asked == "auto") return best;
  if (asked == "landlock") {
    if (best == SandboxLevel::kNone) return Error{ErrorKind::kUnavailable, "this kernel has no Landlock"};
    return SandboxLevel::kLandlock;
  }
  if (best != SandboxLevel::kBubblewrap)
    return Error{
        ErrorKind::kUnavailable,
        "bubblewrap does not work here (apt-get install bubblewrap, and user namespaces must be allowed)"};
  return best;
}

}  // namespace

Result<SessionOptions> ResolveJudge(const JudgeFlags& flags) {
  SessionOptions options;
  HONE_ASSIGN_OR_RETURN(options.python, FindPython(flags.python));
  options.target = flags.target;
  const bool gpu = HasGpu() && !options.python.torch_cuda.empty();
  if (options.target == "auto") options.target = gpu ? "cuda" : "cpu";
  if (options.target == "cuda" && !gpu)
    return Error{ErrorKind::kUnavailable,
                 HasGpu()
                     ? "--target cuda: this PyTorch (" + options.python.torch_version +
                           ") was built without CUDA; choose another with --python"
                     : "--target cuda: there is no NVIDIA GPU here; --target cpu judges on the processor"};
  if (options.target == "triton" && options.python.triton_version.empty())
    return Error{ErrorKind::kUnavailable, "--target triton: " + options.python.program.string() +
                                              " has no Triton (pip install triton)"};
  options.device = options.target == "cpu" || !gpu ? "cpu" : "cuda";
  options.interpret_triton = options.target == "triton" && options.device == "cpu";
  options.precision = flags.precision;
  options.trials = flags.trials;
  options.error_factor = flags.error_factor;
  options.atol = flags.atol;
  options.rtol = flags.rtol;
  options.allow_blind = flags.allow_blind;
  options.timeout_s = flags.timeout_s;
  options.build_timeout_s = flags.build_timeout_s;
  options.candidate_memory = flags.candidate_memory_gib * (1 << 30);
  options.compile_rung = flags.compile;
  options.ladder = flags.ladder;
  options.lint = !flags.no_lint;
  HONE_ASSIGN_OR_RETURN(options.sandbox, ChooseSandbox(flags.sandbox));
  options.sandbox_task = flags.sandbox_task;
  if (options.sandbox_task && options.sandbox == SandboxLevel::kNone)
    return Error{
        ErrorKind::kUnavailable,
        flags.sandbox == "none"
            ? "a task that somebody else wrote is not run without a sandbox; leave out --sandbox none"
            : "a task that somebody else wrote is not run without a sandbox, and none works here; "
              "`hone doctor` says what is missing"};
  return options;
}

const char* KindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kInvalid:
      return "invalid";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kIo:
      return "io";
    case ErrorKind::kTimeout:
      return "timeout";
    case ErrorKind::kInterrupted:
      return "interrupted";
    case ErrorKind::kInternal:
      break;
  }
  return "internal";
}

namespace {

OrderedJson FailureJson(const Error& error, int exit_code) {
  return {{"status", "failed"},
          {"error", {{"kind", KindName(error.kind)}, {"message", error.message}}},
          {"exit_code", exit_code}};
}

}  // namespace

bool AskForJson(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--json") != words.end();
}

int Report(const Error& error, bool json) {
  for (const std::string& line : Lines(SafeForTerminal(error.message)))
    fmt::print(stderr, "hone: {}\n", line);
  const int code = error.kind == ErrorKind::kInterrupted ? kExitInterrupted
                   : error.kind == ErrorKind::kUsage     ? kExitUsage
                                                         : kExitCannot;
  if (json) fmt::print("{}\n", DumpJson(FailureJson(error, code)));
  return code;
}

}  // namespace hone
