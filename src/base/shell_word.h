// Commands that Hone prints for people to paste.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// One word for a shell, in quotes where it needs them.
std::string ShellWord(std::string_view text);

}  // namespace hone
