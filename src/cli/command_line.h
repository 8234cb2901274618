// Reads the words of a command line into the fields of the table. Its implementation is the only file that
// includes the parser, CLI11, which takes seconds to compile.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace hone {

struct CommandLine {
  const Command* command = nullptr;  // what to run; nullptr: print `text` and end
  std::string text;                  // the help or the version that was asked for
};

// `words` are argv without the program's name. A usage Error has a line for what is wrong and a line that
// names the help to read.
Result<CommandLine> ParseCommandLine(CommandTable& table, std::vector<std::string> words);

}  // namespace hone
