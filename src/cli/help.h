// The help of a command and of the program, generated from the table of options and wrapped to a width.
#pragma once

#include <string>

#include "cli/options.h"

namespace hone {

// `hone --help`: what the program is and its commands.
std::string ProgramHelp(const CommandTable& table, int width);
// `hone bench --help`.
std::string CommandHelp(const CommandTable& table, const Command& command, int width);

}  // namespace hone
