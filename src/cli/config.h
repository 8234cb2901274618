// Settings from files and the environment, for every option of every command: the user's hone.toml, the
// project's hone.toml, HONE_* variables, and the command line. Each overrides the ones before it.
//
//   [defaults]            # for every command that has the option
//   target = "cuda"
//   [optimize]
//   seeds = 4
//   model = "deepseek-chat"
//
// The option --max-usd of `hone optimize` is optimize.max-usd in a file, and HONE_OPTIMIZE_MAX_USD or
// HONE_MAX_USD in the environment.
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
  std::string source;  // a file, the name of a variable, or "default"
};

struct ConfigFiles {
  fs::path user;     // $XDG_CONFIG_HOME/hone/hone.toml
  fs::path project;  // the nearest hone.toml from the working folder upwards; empty if there is none
};
ConfigFiles FindConfigFiles();

// Sets the defaults of all options and returns the source of each value. An unknown name or an invalid value
// is an Error that names the file or variable.
Result<std::vector<Setting>> ApplyConfig(CommandTable& table, const ConfigFiles& files);

}  // namespace hone
