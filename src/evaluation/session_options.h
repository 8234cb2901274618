// How to judge a task, as requested on the command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "process/python.h"
#include "process/sandbox.h"

namespace hone {

class Nursery;

struct SessionOptions {
  PythonInfo python;
  std::string target = "cpu";     // "cuda", "triton" or "cpu", as requested
  std::string device = "cpu";     // "cuda" or "cpu", as found
  bool interpret_triton = false;  // --target triton without a GPU
  std::string precision;          // "", "fp32", "tf32" or "bf16"
  double error_factor = 2;        // --error-factor: the limit in multiples of PyTorch's own error
  double atol = 0;                // --atol, --rtol: KernelBench's rule instead of Hone's limit
  double rtol = 0;
  bool allow_blind = false;  // --allow-blind: an input, parameter or output may stay unchecked
  int trials = 5;            // minimum number of cases
  SandboxLevel sandbox = SandboxLevel::kNone;
  bool sandbox_task = false;          // the task is untrusted and runs in the sandbox as well
  double timeout_s = 0;               // per call of a candidate; 0: derived from the reference
  double build_timeout_s = 300;       // import, compile, constructor
  double candidate_memory = 0;        // bytes; 0: derived from the reference and the machine
  std::string compile_rung = "auto";  // "auto", "always" or "never"
  std::vector<std::string> ladder;    // baselines to measure; empty: all that apply
  bool lint = true;                   // static analysis; files that it refuses are not run
  bool check_only = false;            // --check-only: nothing is timed
  bool profile_all = false;           // on a GPU, also profile candidates that are not ahead
  bool capture_graph = false;         // even if only the card needs the graph
  bool lint_predicts = false;         // also refuse files that lint predicts to fail (for proposals)
  std::shared_ptr<Nursery> nursery;   // source of candidates' interpreters (nursery.h)
  Deadline end = Deadline::Never();   // stops all work at this time, as Ctrl-C does
};

}  // namespace hone
