// Settings from files and the environment, for every option of every command: hone.toml of the user,
// hone.toml of the project, HONE_* variables, and the command line, each stronger than the one before.
//
//   [defaults]            # for every command that has the option
//   target = "cuda"
//   [optimize]
//   seeds = 4
//   model = "deepseek-chat"
//
// An option --max-usd of `hone optimize` is optimize.max-usd here, HONE_OPTIMIZE_MAX_USD or HONE_MAX_USD
// there.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "cli/options.h"

namespace hone {

struct Setting {
  std::string key;  // "optimize.seeds"
  std::string value;
  std::string source;  // a file, a variable's name, or "default"
};

struct ConfigFiles {
  fs::path user;     // $XDG_CONFIG_HOME/hone/hone.toml
  fs::path project;  // the nearest hone.toml from the working folder upwards; empty: none
};
ConfigFiles FindConfigFiles();

// Sets the defaults of all options and returns where each value came from. An unknown name or a value that an
// option does not take is an Error that names the file or variable.
Result<std::vector<Setting>> ApplyConfig(CommandTable& table, const ConfigFiles& files);

}  // namespace hone
