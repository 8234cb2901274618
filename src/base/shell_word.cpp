#include "base/shell_word.h"

#include <cctype>

#include "base/text.h"

namespace hone {

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain = "_-./:,+@%=";
  bool plain = !text.empty();
  for (const char c : text)
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos);
  return plain ? std::string(text) : "'" + ReplaceAll(std::string(text), "'", "'\\''") + "'";
}

}  // namespace hone
