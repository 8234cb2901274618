#include "task/task_file.h"

#include "base/ids.h"

namespace hone {

namespace {
constexpr size_t kMaxSourceBytes = 4u << 20;
}

Result<std::string> ReadPythonFile(const fs::path& path, const std::string& what) {
  Result<std::string> source = ReadFile(path, kMaxSourceBytes);
  if (!source.ok()) {
    Error error = std::move(source).error();
    if (error.kind == ErrorKind::kNotFound) error.message = "there is no file " + path.string();
    return std::move(error).WithContext(what);
  }
  if (source->find('\0') != std::string::npos)
    return Error{ErrorKind::kInvalid, what + ": " + path.string() + " is not a text file"};
  return source;
}

Result<TaskFile> LoadTaskFile(const fs::path& path) {
  TaskFile task;
  HONE_ASSIGN_OR_RETURN(task.source, ReadPythonFile(path, "task"));
  std::error_code code;
  task.path = fs::canonical(path, code);
  task.name = path.stem().string();
  task.sha256 = Sha256(task.source);
  return task;
}

}  // namespace hone
