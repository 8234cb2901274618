// `hone completion bash|zsh|fish`: a completion script written from the table of commands, so that it knows
// every command and option without a list to keep in step.
#pragma once

#include <string>

#include "cli/options.h"

namespace hone {

std::string BashCompletion(const CommandTable& table);
std::string ZshCompletion(const CommandTable& table);
std::string FishCompletion(const CommandTable& table);

}  // namespace hone
