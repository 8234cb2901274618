#include "base/unfinished_files.h"

#include <string>

#include "base/text.h"

namespace hone {

namespace {

// Matches NAME.<twelve hexadecimal digits>.tmp.
bool IsUnfinished(const std::string& name) {
  constexpr std::string_view kEnd = ".tmp";
  constexpr size_t kDigits = 12;
  const size_t tail = 1 + kDigits + kEnd.size();
  if (name.size() <= tail || !EndsWith(name, kEnd) || name[name.size() - tail] != '.') return false;
  const std::string digits = name.substr(name.size() - tail + 1, kDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

void RemoveUnfinishedFiles(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (fs::directory_iterator file(folder, ignored), end; !ignored && file != end; file.increment(ignored))
    if (IsUnfinished(file->path().filename().string())) found.push_back(file->path());
  for (const fs::path& path : found) fs::remove(path, ignored);
}

}  // namespace hone
