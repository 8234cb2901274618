#include "cli/common.h"

#include <fmt/format.h>

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
           "Python with PyTorch (default: $HONE_PYTHON, an active virtual environment, python3, or the one "
           "that "
           "scripts/setup.sh installed)")
      .Placeholder("PATH");
  command.Add("--precision", &flags->precision, "Precision of the baseline (default: what PyTorch uses)")
      .OneOf({"fp32", "tf32", "bf16"});
  command.Add("--trials", &flags->trials, "Smallest number of test cases, each with a fresh secret seed")
      .Between(5, 1000);
  command
      .Add("--error-factor", &flags->error_factor,
           "Largest error, in units of PyTorch's own error; more than 2 is a weaker claim")
      .Positive();
  command
      .Add("--atol", &flags->atol,
           "Compare with |y - PyTorch| <= atol + rtol * |PyTorch|, KernelBench's rule, a weaker claim")
      .AtLeast(0);
  command.Add("--rtol", &flags->rtol, "The relative part of --atol's rule").AtLeast(0);
  command.Add("--allow-blind", &flags->allow_blind,
              "Judge although an input, a parameter or an output of the task can be wrong unnoticed");
  command
      .Add("--timeout", &flags->timeout_s,
           "Longest time of one call of the candidate (default: a multiple of PyTorch's time)")
      .Positive()
      .Placeholder("SECONDS");
  command.Add("--build-timeout", &flags->build_timeout_s, "Longest time to import and compile the candidate")
      .Positive()
      .Placeholder("SECONDS");
  command
      .Add("--compile", &flags->compile,
           "torch.compile as a baseline; auto measures it when it can change the verdict")
      .OneOf({"auto", "always", "never"});
  command
      .Add("--ladder", &flags->ladder,
           "Baselines to measure besides eager, separated by commas (default: all that apply)")
      .OneOf({"eager", "tf32", "cudagraph", "compile"})
      .SplitAt(',');
  command.Add("--no-lint", &flags->no_lint,
              "Skip static analysis; candidates that it would refuse are run as well");
  command.Add("--sandbox", &flags->sandbox, "Sandbox for the candidate's process; auto takes the strongest")
      .OneOf({"auto", "bubblewrap", "landlock", "none"});
}

namespace {

bool HasGpu() {
  std::error_code code;
  return fs::exists("/dev/nvidia0", code) || fs::exists("/dev/dxg", code);
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
  options.compile_rung = flags.compile;
  options.ladder = flags.ladder;
  options.lint = !flags.no_lint;
  HONE_ASSIGN_OR_RETURN(options.sandbox, ChooseSandbox(flags.sandbox));
  return options;
}

namespace {

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

OrderedJson FailureJson(const Error& error, int exit_code) {
  return {{"status", "failed"},
          {"error", {{"kind", KindName(error.kind)}, {"message", error.message}}},
          {"exit_code", exit_code}};
}

}  // namespace

int Report(const Error& error, bool json) {
  for (const std::string& line : Lines(SafeForTerminal(error.message)))
    fmt::print(stderr, "hone: {}\n", line);
  if (error.kind == ErrorKind::kInterrupted) return 130;
  const int code = error.kind == ErrorKind::kUsage ? kExitUsage : kExitCannot;
  if (json) fmt::print("{}\n", DumpJson(FailureJson(error, code)));
  return code;
}

}  // namespace hone
