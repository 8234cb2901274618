// Quotes words of commands that Hone prints for users to paste.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Returns one shell word, in quotes if it needs them.
std::string ShellWord(std::string_view text);

}  // namespace hone
