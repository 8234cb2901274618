#include "cli/task_folder.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "analysis/scopes.h"
#include "base/text.h"
#include "source/python_ast.h"
#include "source/syntax_tree.h"
#include "task/task_file.h"

namespace hone {

namespace {

Result<std::pair<int, int>> ParseRange(const std::string& text) {
  int low = 0;
  int high = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d-%d%c", &low, &high, &rest) == 2 && low <= high)
    return std::pair(low, high);
  if (std::sscanf(text.c_str(), "%d%c", &low, &rest) == 1) return std::pair(low, low);
  return Error{ErrorKind::kUsage, "--range '" + text + "' is not a number or FIRST-LAST, such as 33-42"};
}

bool InRange(const fs::path& path, const std::pair<int, int>& range) {
  const std::string name = path.filename().string();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) == 0) return false;
  const int number = std::atoi(name.c_str());
  return number >= range.first && number <= range.second;
}

Result<std::vector<fs::path>> PythonFiles(const std::string& where) {
  std::error_code code;
  if (fs::is_regular_file(where, code)) return std::vector<fs::path>{where};
  fs::directory_iterator entries(where, code);
  if (code) return Error{ErrorKind::kNotFound, "cannot read the folder " + where + ": " + code.message()};
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : entries)
    if (entry.path().extension() == ".py" && !StartsWith(entry.path().filename().string(), "_"))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// True for the words `class Model`, but not for `class ModelNew`.
bool NamesClassModel(const std::string& source) {
  static constexpr std::string_view kWords = "class Model";
  for (size_t at = source.find(kWords); at != std::string::npos; at = source.find(kWords, at + 1)) {
    const char next = at + kWords.size() < source.size() ? source[at + kWords.size()] : ' ';
    if (next != '_' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

}  // namespace

std::string WhyNoTask(const std::string& source) {
  const SyntaxTree syntax = SyntaxTree::Parse(source, Language::kPython);
  if (syntax.gave_up() || syntax.first_error() != nullptr)
    return NamesClassModel(source) ? "" : "it does not parse as Python and has no class Model in its text";
  const PyTree tree = BuildPythonTree(syntax);
  const Scopes scopes(tree);
  const bool defines = scopes.has_star_import() || scopes.NamesIn(scopes.module()).count("Model") != 0;
  return defines ? "" : "it defines no class Model";
}

Result<FoundTasks> FindTasks(const std::vector<std::string>& where, const std::string& range) {
  std::vector<fs::path> files;
  for (const std::string& one : where) {
    HONE_ASSIGN_OR_RETURN(const std::vector<fs::path> found, PythonFiles(one));
    files.insert(files.end(), found.begin(), found.end());
  }
  if (!range.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto numbers, ParseRange(range));
    std::erase_if(files, [&](const fs::path& path) { return !InRange(path, numbers); });
  }
  FoundTasks found;
  for (const fs::path& file : files) {
    // An unreadable file is a failed task and must not be skipped.
    const Result<std::string> source = ReadPythonFile(file, "task");
    const std::string why = source.ok() ? WhyNoTask(*source) : "";
    if (why.empty())
      found.tasks.push_back(file);
    else
      found.skipped.push_back({file, why});
  }
  if (!found.tasks.empty()) return found;
  std::string why = "no task files in " + Join(where, ", ");
  if (!range.empty()) why += " in the range " + range;
  if (!found.skipped.empty())
    why += ": none of " + std::to_string(found.skipped.size()) + " Python files defines a class Model";
  return Error{ErrorKind::kNotFound, why};
}

}  // namespace hone
