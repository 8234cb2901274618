#include "candidate/candidate_file.h"

#include "base/ids.h"
#include "task/task_file.h"

namespace hone {

namespace {
constexpr uintmax_t kMaxPackageBytes = 16u << 20;
}

Result<CandidateFile> LoadCandidateFile(const fs::path& path) {
  CandidateFile candidate;
  HONE_ASSIGN_OR_RETURN(candidate.source, ReadPythonFile(path, "candidate"));
  std::error_code code;
  candidate.path = fs::canonical(path, code);
  candidate.name = path.stem().string();
  candidate.sha256 = Sha256(candidate.source);
  return candidate;
}

Result<fs::path> CopyInto(const CandidateFile& candidate, const fs::path& folder) {
  fs::path top = candidate.path.parent_path();
  std::error_code code;
  if (!fs::exists(top / "__init__.py", code)) {
    const fs::path copy = folder / candidate.path.filename();
    HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, candidate.source));
    return copy;
  }
  while (fs::exists(top.parent_path() / "__init__.py", code)) top = top.parent_path();
  uintmax_t total = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(top, fs::directory_options::skip_permission_denied, code)) {
    if (!entry.is_regular_file(code) || entry.is_symlink(code)) continue;
    const fs::path relative = fs::relative(entry.path(), top.parent_path(), code);
    total += entry.file_size(code);
    if (total > kMaxPackageBytes)
      return Error{ErrorKind::kInvalid, "candidate: the package " + top.string() + " is larger than 16 MiB"};
    HONE_RETURN_IF_ERROR(MakeFolders(folder / relative.parent_path()));
    HONE_ASSIGN_OR_RETURN(const std::string content, ReadFile(entry.path()));
    HONE_RETURN_IF_ERROR(
        WriteFileAtomic(folder / relative, content));  // replaces a link instead of following it
  }
  // The worker runs the text that was read and hashed, even if the file has changed since.
  const fs::path copy = folder / fs::relative(candidate.path, top.parent_path(), code);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, candidate.source));
  return copy;
}

}  // namespace hone
