// `hone completion bash|zsh|fish` writes a completion script from the table of commands, so that it always
// has every command and option.
#pragma once

#include <string>

#include "cli/options.h"

namespace hone {

std::string BashCompletion(const CommandTable& table);
std::string ZshCompletion(const CommandTable& table);
std::string FishCompletion(const CommandTable& table);

}  // namespace hone
