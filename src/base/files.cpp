#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/ids.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace hone {

namespace {

std::string EnvOr(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path, size_t max_bytes) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return ErrnoError("cannot read " + path.string());
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return ErrnoError("cannot read " + path.string());
  if (S_ISDIR(info.st_mode)) return Error{ErrorKind::kInvalid, path.string() + " is a folder, not a file"};
  if (!S_ISREG(info.st_mode)) return Error{ErrorKind::kInvalid, path.string() + " is not a regular file"};
  std::string content;
  // Files under /proc report size 0, so the size is only a hint.
  content.reserve(static_cast<size_t>(info.st_size) < max_bytes ? static_cast<size_t>(info.st_size) : 0);
  char buffer[65536];
  while (true) {
    const ssize_t got = read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("cannot read " + path.string());
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > max_bytes)
      return Error{ErrorKind::kInvalid,
                   fmt::format("{} is larger than {}; that is more than Hone reads", path.string(),
                               HumanBytes(static_cast<double>(max_bytes)))};
  }
}

Status WriteFileAtomic(const fs::path& path, std::string_view content, unsigned mode) {
  const std::string temporary = fmt::format("{}.{}.tmp", path.string(), RandomHex(6));
  {
    UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd.get() < 0) return ErrnoError("cannot write " + path.string());
    while (!content.empty()) {
      const ssize_t put = write(fd.get(), content.data(), content.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        Error error = ErrnoError("cannot write " + path.string());
        unlink(temporary.c_str());
        return error;
      }
      content.remove_prefix(static_cast<size_t>(put));
    }
    if (fd.Close() != 0) {
      Error error = ErrnoError("cannot write " + path.string());
      unlink(temporary.c_str());
      return error;
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = ErrnoError("cannot write " + path.string());
    unlink(temporary.c_str());
    return error;
  }
  return Ok();
}

Status MakeFolders(const fs::path& path, unsigned mode) {
  std::error_code code;
  if (fs::is_directory(path, code)) return Ok();
  if (path.has_parent_path() && path.parent_path() != path)
    HONE_RETURN_IF_ERROR(MakeFolders(path.parent_path(), mode));
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
    return ErrnoError("cannot make the folder " + path.string());
  return Ok();
}

void KeepInCache(const fs::path& path, std::string_view content) {
  if (MakeFolders(path.parent_path()).ok()) (void)WriteFileAtomic(path, content).ok();
}

Result<TempFolder> TempFolder::Make(const std::string& prefix) {
  return MakeIn(EnvOr("TMPDIR", "/tmp"), prefix);
}

Result<TempFolder> TempFolder::MakeIn(const fs::path& folder, const std::string& prefix) {
  std::string pattern = (folder / (prefix + "XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) return ErrnoError("cannot make a temporary folder " + pattern);
  return TempFolder(fs::path(pattern));
}

TempFolder::TempFolder(TempFolder&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

TempFolder& TempFolder::operator=(TempFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

fs::path HomeFolder() {
  return EnvOr("HOME", "/root");
}

fs::path CacheFolder() {
  const std::string own = EnvOr("HONE_CACHE", "");
  if (!own.empty()) return own;
  return fs::path(EnvOr("XDG_CACHE_HOME", (HomeFolder() / ".cache").string())) / "hone";
}

fs::path DataFolder() {
  const std::string own = EnvOr("HONE_DATA", "");
  if (!own.empty()) return own;
  return fs::path(EnvOr("XDG_DATA_HOME", (HomeFolder() / ".local/share").string())) / "hone";
}

fs::path OwnExecutable() {
  std::error_code code;
  return fs::read_symlink("/proc/self/exe", code);
}

fs::path FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? fs::path(name) : fs::path();
  for (const std::string& folder : Split(EnvOr("PATH", "/usr/local/bin:/usr/bin:/bin"), ':')) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code code;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, code)) return candidate;
  }
  return {};
}

}  // namespace hone
