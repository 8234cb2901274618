// Files and folders: reading with a size limit, atomic writing, private temporary folders that their owner
// removes, and the places where Hone stores data.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

namespace fs = std::filesystem;

// Reads at most `max_bytes`. A larger file or a folder is an error.
Result<std::string> ReadFile(const fs::path& path, size_t max_bytes = 64u << 20);
// Writes a temporary file beside the target and renames it. Readers see the old or the new content, never a
// mixture.
Status WriteFileAtomic(const fs::path& path, std::string_view content, unsigned mode = 0644);
Status MakeFolders(const fs::path& path, unsigned mode = 0755);
// Writes a cache entry. Ignores failures, because the entry can be computed again.
void KeepInCache(const fs::path& path, std::string_view content);

// A new folder with mode 0700, usually in the system's temporary folder. The destructor removes it.
class TempFolder {
 public:
  static Result<TempFolder> Make(const std::string& prefix);
  static Result<TempFolder> MakeIn(const fs::path& folder, const std::string& prefix);
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&& other) noexcept;
  TempFolder(const TempFolder&) = delete;
  ~TempFolder();
  const fs::path& path() const { return path_; }

 private:
  explicit TempFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// $HONE_CACHE, else $XDG_CACHE_HOME/hone, else ~/.cache/hone. Users may delete it at any time.
fs::path CacheFolder();
// $HONE_DATA, else $XDG_DATA_HOME/hone, else ~/.local/share/hone. Holds the store and Hone's own Python.
fs::path DataFolder();
fs::path HomeFolder();
// Path of the running program.
fs::path OwnExecutable();
// Returns the first executable with this name on $PATH, or an empty path.
fs::path FindProgram(const std::string& name);

}  // namespace hone
