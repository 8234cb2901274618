#include "cli/common.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/text.h"
#include "process/sandbox.h"

namespace hone {

void AddJudgeFlags(CLI::App* command, JudgeFlags* flags) {
  command->add_option("--target", flags->target, "Where to judge: auto takes the GPU when there is one")
      ->check(CLI::IsMember({"auto", "cuda", "triton", "cpu"}))
      ->capture_default_str();
  command->add_option(
      "--python", flags->python,
      "Interpreter with PyTorch (else $HONE_PYTHON, a virtual environment, python3, Hone's own)");
  command
      ->add_option("--precision", flags->precision,
                   "Precision to ask for instead of what PyTorch does by default")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16"}));
  command->add_option("--trials", flags->trials, "Cases with fresh secret seeds, at the least")
      ->check(CLI::Range(5, 1000))
      ->capture_default_str();
  command
      ->add_option("--timeout", flags->timeout_s,
                   "Seconds one call of the candidate may take (default: derived from PyTorch's time)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--build-timeout", flags->build_timeout_s,
                   "Seconds the candidate may take to import and compile")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--compile", flags->compile,
                   "torch.compile in the baseline ladder: auto measures it when it can change the verdict")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command
      ->add_option("--ladder", flags->ladder,
                   "Only these baselines beside eager (comma-separated); default: all that apply")
      ->check(CLI::IsMember({"eager", "tf32", "cudagraph", "compile"}))
      ->delimiter(',');
  command->add_flag("--no-lint", flags->no_lint, "Judge even what static analysis says cannot work");
  command->add_option("--sandbox", flags->sandbox, "Force a sandbox level")
      ->check(CLI::IsMember({"auto", "bubblewrap", "landlock", "none"}))
      ->capture_default_str();
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
  options.timeout_s = flags.timeout_s;
  options.build_timeout_s = flags.build_timeout_s;
  options.compile_rung = flags.compile;
  options.ladder = flags.ladder;
  options.lint = !flags.no_lint;
  HONE_ASSIGN_OR_RETURN(options.sandbox, ChooseSandbox(flags.sandbox));
  return options;
}

int Report(const Error& error) {
  fmt::print(stderr, "hone: {}\n", SafeForTerminal(error.message));
  if (error.kind == ErrorKind::kInterrupted) return 130;
  return error.kind == ErrorKind::kUsage ? kExitUsage : kExitCannot;
}

}  // namespace hone
