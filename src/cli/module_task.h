// Makes a task of a module in an ordinary Python file: `hone optimize my_code.py:MyModel --inputs
// make_inputs`. The Python package is embedded in the binary. Its capture (python/hone/_module_file.py) turns
// the module into a folder with a task file and weights. This file parses the request and runs the capture.
// For the rest of Hone it is an ordinary task.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "cli/options.h"

namespace hone {

struct ModuleReference {
  fs::path file;     // "my_code.py"
  std::string name;  // "MyModel"; may have dots: "models.Small"

  bool operator==(const ModuleReference&) const = default;
};

// Parses "my_code.py:MyModel". No value for other texts, or if a file with the whole name exists.
std::optional<ModuleReference> ParseModuleReference(const std::string& text);

struct ModuleFlags {
  std::string inputs;
  std::string init;
};
void AddModuleFlags(Command& command, ModuleFlags* flags);

// The help of TASK for commands that also accept a module.
inline constexpr const char* kTaskOrModuleHelp =
    "Task file that defines Model, get_inputs and get_init_inputs, or a module in any file: FILE.py:NAME";

// Returns the task file for TASK: the file itself, or the one that the capture of a module wrote under <data
// folder>/tasks. The Error is one sentence: no such file or name, inputs that do not fit, or a module that
// cannot be exported.
Result<fs::path> TaskFileFor(const std::string& task, const ModuleFlags& flags, const std::string& python);

}  // namespace hone
