#include "codegen/fused/triton_functions.h"

#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "codegen/candidate_text.h"

namespace hone::fused {

namespace {

constexpr char kBetween[] = "\n\n\n";  // between two functions, or a function and a value

// Words with one leading underscore, which are the names that the template defines.
std::set<std::string> OwnNames(std::string_view text) {
  std::set<std::string> names;
  std::string word;
  const auto end = [&] {
    if (word.size() > 1 && word[0] == '_' && word[1] != '_') names.insert(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      word += c;
    else
      end();
  }
  end();
  return names;
}

std::string DefinedBy(const std::string& piece) {
  for (const std::string& line : Lines(piece)) {
    if (StartsWith(line, "def ")) return line.substr(4, line.find('(') - 4);
    if (StartsWith(line, "_")) return line.substr(0, line.find(' '));
  }
  return "";
}

struct TritonPieces {
  std::vector<std::string> text;
  std::map<std::string, size_t> of;  // by the name that a piece defines
};

Result<TritonPieces> AllPieces() {
  HONE_ASSIGN_OR_RETURN(const std::string_view all, TemplateText("part_fused_triton.py"));
  TritonPieces pieces;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(kBetween, at), all.size());
    pieces.text.emplace_back(all.substr(at, end - at));
    pieces.of[DefinedBy(pieces.text.back())] = pieces.text.size() - 1;
    at = end + sizeof(kBetween) - 1;
  }
  return pieces;
}

}  // namespace

std::string TritonFunctionName(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool HasTritonFunction(const std::string& name) {
  static const Result<TritonPieces> kPieces = AllPieces();
  return kPieces.ok() && kPieces->of.count(name) != 0;
}

Result<std::string> TritonFunctions(const std::string& kernels) {
  HONE_ASSIGN_OR_RETURN(const TritonPieces pieces, AllPieces());
  std::set<size_t> wanted;
  std::set<std::string> names = OwnNames(kernels);
  std::vector<std::string> todo(names.begin(), names.end());
  while (!todo.empty()) {
    const std::string name = todo.back();
    todo.pop_back();
    const auto found = pieces.of.find(name);
    if (found == pieces.of.end()) return Error{ErrorKind::kInternal, "part_fused_triton.py has no " + name};
    if (!wanted.insert(found->second).second) continue;
    for (const std::string& next : OwnNames(pieces.text[found->second]))
      if (names.insert(next).second) todo.push_back(next);
  }
  std::string out;
  for (const size_t piece : wanted) out += std::string(Trim(pieces.text[piece])) + kBetween;
  return out;
}

}  // namespace hone::fused
