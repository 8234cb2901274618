#include "evaluation/task_folder_blame.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr char kBlame[] = ", and a candidate cannot: it runs in a sandbox without the task's folder";

}  // namespace

void BlameTaskFolder(const Json& beside, WorkerFailure* failure) {
  const bool looked_for_a_file = failure->type == "ModuleNotFoundError" || failure->type == "ImportError" ||
                                 failure->type == "FileNotFoundError" || failure->type == "PermissionError";
  if (!looked_for_a_file || !beside.is_array()) return;
  for (const Json& entry : beside) {
    const std::string stem = fs::path(GetString(entry, "name")).stem().string();
    if (!Contains(failure->message, stem) && failure->type != "ImportError") continue;
    failure->message += fmt::format(
        "; {}{}. Move what is needed into the task file, or pass it to Model through get_init_inputs",
        GetString(entry, "text"), kBlame);
    return;
  }
}

bool BlamesTaskFolder(const std::string& detail) {
  return Contains(detail, kBlame);
}

std::string BlamedLine(const std::string& detail) {
  for (const std::string& line : Lines(detail))
    if (const size_t at = line.find(kBlame); at != std::string::npos)
      return std::string(Trim(line.substr(0, at)));
  return "";
}

}  // namespace hone
