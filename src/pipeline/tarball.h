// A tar file compressed with gzip, in memory: written so that the same members give the same bytes (no times,
// owners or modes of the machine it was made on), read so that nobody's archive can do harm (plain files
// only, no name that leads out, no more than is bearable). libarchive does the format.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace hone {

struct TarMember {
  std::string name;  // relative, with '/'
  std::string content;
};

struct TarLimits {
  size_t file_bytes = 512u << 20;
  size_t member_bytes = 256u << 20;
  size_t total_bytes = 1u << 30;
  size_t members = 200'000;
};

Result<std::string> PackTar(const std::vector<TarMember>& members);
// The name of the first member; nothing behind it is read.
Result<std::string> FirstNameIn(const fs::path& file);
Result<std::vector<TarMember>> UnpackTar(const fs::path& file, const TarLimits& limits = {});

}  // namespace hone
