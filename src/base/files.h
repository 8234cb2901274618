// Files and folders: reading with a limit, writing so that a reader never sees half a file, private
// temporary folders that vanish with their owner, and the places where Hone keeps things.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

namespace fs = std::filesystem;

// At most `max_bytes`; a larger file, a folder or a device is an error that says so.
Result<std::string> ReadFile(const fs::path& path, size_t max_bytes = 64u << 20);
// Writes beside the target and renames: the old content or the new one, never a mixture.
Status WriteFileAtomic(const fs::path& path, std::string_view content, unsigned mode = 0644);
Status MakeFolders(const fs::path& path, unsigned mode = 0755);
// For caches: what cannot be kept only has to be made again, so nothing is said.
void KeepInCache(const fs::path& path, std::string_view content);

// A new folder of mode 0700, usually under the system's temporary folder, removed by the destructor.
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

// $HONE_CACHE, else $XDG_CACHE_HOME/hone, else ~/.cache/hone. Safe to delete at any time.
fs::path CacheFolder();
// $HONE_DATA, else $XDG_DATA_HOME/hone, else ~/.local/share/hone. Holds the store and Hone's own Python.
fs::path DataFolder();
fs::path HomeFolder();
// The running program's own file.
fs::path OwnExecutable();
// The first executable of that name on $PATH, or empty.
fs::path FindProgram(const std::string& name);

}  // namespace hone
