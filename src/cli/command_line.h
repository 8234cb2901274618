// Parses a command line into the fields of the table. Only its implementation includes the parser, CLI11,
// which takes seconds to compile.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace hone {

struct CommandLine {
  const Command* command = nullptr;  // the command to run; nullptr: print `text` and exit
  std::string text;                  // the requested help or version
};

// `words` is argv without the program's name. A usage Error has one line with the mistake and one that names
// the help to read.
Result<CommandLine> ParseCommandLine(CommandTable& table, std::vector<std::string> words);

}  // namespace hone
