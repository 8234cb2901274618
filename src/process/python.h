// Chooses the Python that runs the reference: --python, else $HONE_PYTHON, else an active virtual
// environment, else python3, else the environment that scripts/setup.sh makes. The first two are explicit
// choices and must have torch. The others are used only if they have it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace hone {

struct PythonInfo {
  fs::path program;                  // the real interpreter behind a pyenv shim or wrapper script
  std::string chosen_by;             // "--python", "HONE_PYTHON", "VIRTUAL_ENV", "python3", "hone"
  std::string version;               // "3.11.2"
  std::string torch_version;         // "2.11.0+cu130"; empty if torch is missing
  std::string torch_cuda;            // CUDA version of torch; empty for a CPU build
  std::string triton_version;        // empty if Triton is missing
  std::vector<fs::path> read_paths;  // prefixes and sys.path entries a sandboxed interpreter must read
  // Workers run isolated (-I), which hides $PYTHONPATH and the user's site-packages. If torch is only there,
  // a worker must append these folders to sys.path. Otherwise the list is empty.
  std::vector<fs::path> extra_paths;
};

// Runs the interpreter to fill in the above (isolated, without importing torch: about 50 ms). `program` is a
// path, a name on $PATH, or a virtual environment's folder.
Result<PythonInfo> InspectPython(const fs::path& program);
// Applies the order above. The error lists the interpreters it tried and how to get torch.
Result<PythonInfo> FindPython(const std::string& explicit_choice);
// <data folder>/python/bin/python3, in the environment made by `scripts/setup.sh`.
fs::path OwnPython();

}  // namespace hone
