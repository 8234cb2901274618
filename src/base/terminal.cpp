#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace hone {

bool IsTerminal(FILE* stream) {
  return isatty(fileno(stream)) == 1;
}

bool UseColour(FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return IsTerminal(stream);
}

namespace {

int WidthOf(std::initializer_list<int> descriptors, int fallback) {
  constexpr int kLeast = 20;
  for (const int fd : descriptors) {
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return std::max<int>(kLeast, size.ws_col);
  }
  const char* columns = std::getenv("COLUMNS");
  const int given = columns == nullptr ? 0 : std::atoi(columns);
  return given > 0 ? std::max(kLeast, given) : fallback;
}

}  // namespace

int TerminalWidth() {
  return WidthOf({STDERR_FILENO, STDOUT_FILENO}, 80);
}

int PrintWidth(FILE* stream) {
  return WidthOf({fileno(stream)}, kWidthWithoutTerminal);
}

std::string Style::Wrap(std::string_view code, std::string_view text) const {
  if (!colour_ || text.empty()) return std::string(text);
  std::string out = "\033[";
  out.append(code).append("m").append(text).append("\033[0m");
  return out;
}

}  // namespace hone
