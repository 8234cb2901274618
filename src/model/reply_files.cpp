#include "model/reply_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "source/python_ast.h"

namespace hone {

namespace {

// Of files that people write and a candidate reads. Shared libraries are missing: those that a candidate
// loads by name belong to the system.
constexpr std::string_view kSourceEndings[] = {".cu",  ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",
                                               ".hh",  ".hpp", ".hxx", ".hip", ".cl",  ".inl", ".ipp",
                                               ".inc", ".ptx", ".py",  ".txt", ".s",   ".S",   ".metal"};
// A call of one of these with a file's name reads the file, whatever module the function is from.
constexpr std::string_view kReaders[] = {
    "open",         "load",      "load_module", "read_text", "read_bytes",   "CUDAExtension",
    "CppExtension", "RawModule", "run_path",    "CDLL",      "load_library", "spec_from_file_location",
    "fromfile"};
constexpr std::string_view kWriters[] = {"write",   "writelines",         "write_text", "write_bytes",
                                         "mkstemp", "NamedTemporaryFile", "urlretrieve"};
// Longer texts are no names of files.
constexpr size_t kLongestName = 200;
// A hostile file may hold any number of strings and assignments.
constexpr int kMostKernelTexts = 64;
constexpr int kMostPasses = 8;

template <class Names>
bool IsOneOf(std::string_view text, const Names& names) {
  return std::find(std::begin(names), std::end(names), text) != std::end(names);
}

size_t CountOf(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
    ++count;
  return count;
}

size_t FencesIn(std::string_view text) {
  size_t fences = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = Trim(text.substr(0, end + 1));
    fences += StartsWith(line, "```") || StartsWith(line, "~~~") ? 1 : 0;
    text.remove_prefix(end + 1);
  }
  return fences;
}

std::string LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// The name of the file that a constant spells; empty if it is something else, or a file of the system.
std::string FileNamed(const PyNode* node) {
  if (!node->Is(PyKind::kString) && !node->Is(PyKind::kFString)) return "";
  const std::string_view path = node->string;
  if (path.size() > kLongestName || (node->Is(PyKind::kString) && StartsWith(path, "/"))) return "";
  if (path.find_first_of(" \t\n*?<>\"'") != std::string_view::npos) return "";
  const std::string name = LastPart(path);
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return "";
  return IsOneOf(std::string_view(name).substr(dot), kSourceEndings) ? name : "";
}

std::string_view CalledName(const PyNode* call) {
  if (call->value->Is(PyKind::kName) || call->value->Is(PyKind::kAttribute)) return call->value->name;
  return "";
}

bool OpensToWrite(const PyNode* call) {
  if (CalledName(call) != "open") return false;
  const PyNode* mode = call->Keyword("mode") != nullptr ? call->Keyword("mode") : nullptr;
  // open(path, mode), and path.open(mode)
  for (const PyNode* argument : call->args)
    if (mode == nullptr && argument->Is(PyKind::kString) && !argument->string.empty() &&
        argument->string.size() <= 3)
      mode = argument;
  return mode != nullptr && mode->string.find_first_of("wax+") != std::string::npos;
}

class FilesOf {
 public:
  FilesOf(const std::string& file, const std::string& reply)
      : file_(file), reply_(reply), syntax_(SyntaxTree::Parse(file_, Language::kPython)) {
    if (syntax_.gave_up()) return;
    tree_ = BuildPythonTree(syntax_);
    has_others_ = FencesIn(reply_) > FencesIn(file_) + 2;
    WalkPython(tree_.module, [&](const PyNode* node) {
      if (node->Is(PyKind::kCall) && (IsOneOf(CalledName(node), kWriters) || OpensToWrite(node)))
        writes_ = true;
      return true;
    });
  }

  std::string Needed() {
    if (syntax_.gave_up()) return "";
    if (const std::string module = Imported(); !module.empty()) return "imports " + module;
    if (writes_) return "";
    FollowNames();
    if (const std::string name = Read(); !name.empty()) return "reads " + name;
    if (const std::string name = Included(); !name.empty()) return "includes " + name;
    return "";
  }

 private:
  // Whether the reply names the file outside of the Python file, and holds another block.
  bool IsInReply(const std::string& name) const {
    return has_others_ && CountOf(reply_, name) > CountOf(file_, name);
  }

  std::string Imported() const {
    std::string found;
    const auto look = [&](std::string_view module) {
      while (StartsWith(module, ".")) module.remove_prefix(1);
      const std::string name = std::string(module.substr(0, module.find('.'))) + ".py";
      if (found.empty() && name.size() > 4 && IsInReply(name)) found = name;
    };
    WalkPython(tree_.module, [&](const PyNode* node) {
      if (node->Is(PyKind::kImport))
        for (const PyNode* alias : node->args) look(alias->name);
      if (node->Is(PyKind::kImportFrom)) {
        look(node->name);
        if (node->name.find_first_not_of('.') == std::string_view::npos)
          for (const PyNode* alias : node->args) look(alias->name);
      }
      if (node->Is(PyKind::kCall) && CalledName(node) == "import_module" && !node->args.empty() &&
          node->args[0]->Is(PyKind::kString))
        look(node->args[0]->string);
      return true;
    });
    return found;
  }

  // The first file that the expression names, by a constant or through a variable.
  std::string NamedIn(const PyNode* expression) const {
    std::string found;
    WalkPython(expression, [&](const PyNode* node) {
      if (found.empty()) found = FileNamed(node);
      const auto known = found.empty() ? names_.find(DottedName(node)) : names_.end();
      if (known != names_.end()) found = known->second;
      return found.empty();
    });
    return found;
  }

  // HERE = Path(__file__).parent / "kernel.cu"
  void FollowNames() {
    bool more = true;
    for (int pass = 0; more && pass < kMostPasses; ++pass) {
      more = false;
      WalkPython(tree_.module, [&](const PyNode* node) {
        if ((!node->Is(PyKind::kAssign) && !node->Is(PyKind::kAnnAssign)) || node->value == nullptr)
          return true;
        const PyNode* target = node->Is(PyKind::kAssign) ? node->args[0] : node->target;
        const std::string variable = DottedName(target);
        if (variable.empty() || names_.count(variable) != 0) return true;
        const std::string named = NamedIn(node->value);
        if (named.empty()) return true;
        names_[variable] = named;
        more = true;
        return true;
      });
    }
  }

  // A file that some call reads, or a file of the reply that the Python file names in any way.
  std::string Read() const {
    std::string found;
    WalkPython(tree_.module, [&](const PyNode* node) {
      if (!found.empty()) return false;
      if (node->Is(PyKind::kExprStmt) && node->value != nullptr && node->value->Is(PyKind::kString))
        return false;  // a docstring
      if (node->Is(PyKind::kCall) && IsOneOf(CalledName(node), kReaders)) found = NamedIn(node);
      if (found.empty()) {
        const std::string name = FileNamed(node);
        if (!name.empty() && IsInReply(name)) found = name;
      }
      return found.empty();
    });
    return found;
  }

  // A header of the reply that a kernel in a string includes.
  std::string Included() const {
    std::string found;
    int texts = 0;
    WalkPython(tree_.module, [&](const PyNode* node) {
      if (!found.empty()) return false;
      if (!node->Is(PyKind::kString) || !Contains(node->string, "#include") || ++texts > kMostKernelTexts)
        return true;
      const SyntaxTree kernel = SyntaxTree::Parse(node->string, Language::kCuda);
      for (const SyntaxNode* at = kernel.root(); at != nullptr && found.empty();
           at = NextInDocument(at, kernel.root())) {
        const SyntaxNode* path = at->Is("preproc_include") ? at->Field("path") : nullptr;
        if (path == nullptr || !path->Is("string_literal") || path->text.size() < 3) continue;
        const std::string name = LastPart(path->text.substr(1, path->text.size() - 2));
        if (IsInReply(name)) found = name;
      }
      return true;
    });
    return found;
  }

  const std::string& file_;
  const std::string& reply_;
  const SyntaxTree syntax_;
  PyTree tree_;
  bool has_others_ = false;
  bool writes_ = false;
  std::map<std::string, std::string> names_;  // variable to file
};

}  // namespace

std::string OtherFileNeeded(const std::string& file, const std::string& reply) {
  const std::string text = ReplaceAll(ValidUtf8(reply), "\r\n", "\n");
  return FilesOf(file, text).Needed();
}

}  // namespace hone
