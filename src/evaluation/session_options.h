// How a task is to be judged, as the command line asks.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "process/python.h"
#include "process/sandbox.h"

namespace hone {

struct SessionOptions {
  PythonInfo python;
  std::string target = "cpu";     // "cuda", "triton" or "cpu", as asked
  std::string device = "cpu";     // "cuda" or "cpu", as found
  bool interpret_triton = false;  // --target triton without a GPU
  std::string precision;          // "", "fp32", "tf32" or "bf16"
  int trials = 5;                 // cases at the least
  SandboxLevel sandbox = SandboxLevel::kNone;
  double timeout_s = 0;               // per call of a candidate; 0: derived from the reference
  double build_timeout_s = 300;       // import, compile, constructor
  std::string compile_rung = "auto";  // "auto", "always" or "never"
  std::vector<std::string> ladder;    // rungs to measure; empty: all that apply
  bool lint = true;                   // error-level findings end an evaluation before it starts
  Deadline end = Deadline::Never();   // whatever is going on then stops, as with Ctrl-C
};

}  // namespace hone
