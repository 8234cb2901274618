// A module in an ordinary Python file as a task: `hone optimize my_code.py:MyModel --inputs make_inputs`. The
// Python package travels in the binary; its capture (python/hone/_module_file.py) turns the module into a
// folder with a task file and its weights. This file finds out what was asked and runs that capture; the rest
// of Hone sees a task like any other.
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

// "my_code.py:MyModel". Nothing for other texts; a file that exists under the whole name is that file.
std::optional<ModuleReference> ParseModuleReference(const std::string& text);

struct ModuleFlags {
  std::string inputs;
  std::string init;
};
void AddModuleFlags(Command& command, ModuleFlags* flags);

// The help of TASK for commands that take a module as well.
inline constexpr const char* kTaskOrModuleHelp =
    "Task file that defines Model, get_inputs and get_init_inputs, or a module in any file: FILE.py:NAME";

// The task file for TASK: the file itself, or the one that the capture of a module wrote below
// <data folder>/tasks. An Error is one sentence: no such file or name, inputs that do not fit, a module that
// cannot be exported.
Result<fs::path> TaskFileFor(const std::string& task, const ModuleFlags& flags, const std::string& python);

}  // namespace hone
