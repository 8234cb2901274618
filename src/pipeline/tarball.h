// A gzip-compressed tar file in memory. Writing: the same members give the same bytes (no times, owners or
// modes of this machine). Reading: a hostile archive does no harm (only plain files, no name that leads
// outside, limited sizes). libarchive handles the format.
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
// Returns the name of the first member and reads nothing after it.
Result<std::string> FirstNameIn(const fs::path& file);
Result<std::vector<TarMember>> UnpackTar(const fs::path& file, const TarLimits& limits = {});

}  // namespace hone
