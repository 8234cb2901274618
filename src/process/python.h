// Which Python runs the reference: --python, else $HONE_PYTHON, else an active virtual environment, else
// python3, else the environment that Hone's set-up makes. The first two are the user's explicit choice and
// must have torch; the others are taken only when they do.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace hone {

struct PythonInfo {
  fs::path program;                  // the real interpreter: a pyenv shim or a wrapper script is seen through
  std::string chosen_by;             // "--python", "HONE_PYTHON", "VIRTUAL_ENV", "python3", "hone"
  std::string version;               // "3.11.2"
  std::string torch_version;         // "2.11.0+cu130"; empty: none
  std::string torch_cuda;            // CUDA that torch was built for; empty: CPU build
  std::string triton_version;        // empty: none
  std::vector<fs::path> read_paths;  // prefixes and sys.path entries a sandboxed interpreter must read
  // Workers run isolated (-I), which hides $PYTHONPATH and the user's site-packages. Where torch is only
  // there, these are the folders a worker must append to sys.path; empty everywhere else.
  std::vector<fs::path> extra_paths;
};

// Runs the interpreter (isolated, without importing torch: about 50 ms) to fill in the above. `program` is
// a path, a name on $PATH, or the folder of a virtual environment.
Result<PythonInfo> InspectPython(const fs::path& program);
// Applies the order above; the error says what was looked at and how to get torch.
Result<PythonInfo> FindPython(const std::string& explicit_choice);
// <data folder>/python/bin/python3: the environment made by `scripts/setup.sh`.
fs::path OwnPython();

}  // namespace hone
