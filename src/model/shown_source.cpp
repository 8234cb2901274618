#include "model/shown_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "source/python_ast.h"

namespace hone {

namespace {

// What is shorter explains more than the comment in its place would.
constexpr size_t kLeastLeftOut = 300;
constexpr size_t kMostParsed = 4u << 20;
constexpr size_t kMostNamed = 16;
constexpr int kUnreached = 1000;

// In the order in which they are left out.
enum class LeaveOutRank { kKnown, kHelperText, kDefinition, kKernel, kNever };

// A statement of the module.
struct TopStatement {
  size_t start = 0, end = 0;
  std::string name;
  LeaveOutRank rank = LeaveOutRank::kDefinition;
  int distance = kUnreached;  // from ModelNew, by the names that one statement reads of another
  bool is_text = false;       // most of it is the text of strings
  std::set<std::string> reads;
};

bool HoldsKernel(std::string_view text) {
  return Contains(text, "__global__") || Contains(text, "extern \"C\"") || Contains(text, "tl.program_id");
}

// "_PRELUDE", "_SOURCES" for _SOURCES["fused"]; "" for a statement that names nothing.
std::string BoundName(const PyNode* statement) {
  if (statement->Is(PyKind::kFunction) || statement->Is(PyKind::kClass)) return std::string(statement->name);
  const PyNode* target = statement->Is(PyKind::kAssign) ? statement->args[0]
                         : statement->Is(PyKind::kAnnAssign) || statement->Is(PyKind::kAugAssign)
                             ? statement->target
                             : nullptr;
  while (target != nullptr && target->Is(PyKind::kSubscript)) target = target->value;
  return target != nullptr && target->Is(PyKind::kName) ? std::string(target->name) : "";
}

TopStatement UnitOf(const PyNode* statement, std::string_view source, std::string_view known) {
  TopStatement unit;
  unit.start = statement->start;
  unit.end = statement->end;
  for (const PyNode* decorator : statement->decorators)
    unit.start = std::min<size_t>(unit.start, source.rfind('@', decorator->start));
  unit.name = BoundName(statement);
  const std::string_view text = source.substr(unit.start, unit.end - unit.start);
  size_t in_strings = 0;
  WalkPython(statement, [&](const PyNode* node) {
    if (node->Is(PyKind::kString)) in_strings += node->end - node->start;
    if (node->Is(PyKind::kName)) unit.reads.emplace(node->name);
    return true;
  });
  unit.is_text = statement->Is(PyKind::kAssign) && 2 * in_strings > text.size();
  // What the file says of itself at its top is short, and names the design.
  const bool is_docstring = unit.start == 0 && statement->Is(PyKind::kExprStmt);
  if (unit.name == "ModelNew" || is_docstring)
    unit.rank = LeaveOutRank::kNever;
  else if (Contains(known, text))
    unit.rank = LeaveOutRank::kKnown;
  else if (HoldsKernel(text))
    unit.rank = LeaveOutRank::kKernel;
  else if (unit.is_text)
    unit.rank = LeaveOutRank::kHelperText;
  return unit;
}

// A text that other texts are put together from is what their kernels share, whatever else it holds.
void FindSharedTexts(std::vector<TopStatement>* units) {
  std::set<std::string> shared;
  for (const TopStatement& unit : *units)
    if (unit.is_text)
      for (const std::string& name : unit.reads)
        if (name != unit.name) shared.insert(name);
  for (TopStatement& unit : *units)
    if (unit.is_text && unit.rank == LeaveOutRank::kKernel && shared.count(unit.name) > 0)
      unit.rank = LeaveOutRank::kHelperText;
}

// How many steps of "reads the name of" each statement is away from ModelNew.
void FindDistances(std::vector<TopStatement>* units) {
  std::map<std::string, std::vector<size_t>> by_name;
  std::vector<size_t> wave;
  for (size_t i = 0; i < units->size(); ++i) {
    TopStatement& unit = (*units)[i];
    if (!unit.name.empty()) by_name[unit.name].push_back(i);
    if (unit.name != "ModelNew") continue;
    unit.distance = 0;
    wave.push_back(i);
  }
  for (int distance = 1; !wave.empty(); ++distance) {
    std::vector<size_t> next;
    for (const size_t from : wave)
      for (const std::string& name : (*units)[from].reads) {
        const auto named = by_name.find(name);
        if (named == by_name.end()) continue;
        for (const size_t to : named->second) {
          if ((*units)[to].distance != kUnreached) continue;
          (*units)[to].distance = distance;
          next.push_back(to);
        }
      }
    wave = std::move(next);
  }
}

std::vector<TopStatement> UnitsOf(const std::string& source, std::string_view known) {
  std::vector<TopStatement> units;
  if (source.size() > kMostParsed) return units;
  const SyntaxTree syntax = SyntaxTree::Parse(source, Language::kPython);
  if (syntax.gave_up()) return units;
  const PyTree tree = BuildPythonTree(syntax);
  for (const PyNode* statement : tree.module->body) units.push_back(UnitOf(statement, source, known));
  FindSharedTexts(&units);
  FindDistances(&units);
  return units;
}

std::string LeftOutWords(const TopStatement& unit, const std::string& source) {
  const char* what = unit.rank == LeaveOutRank::kKnown        ? ", as in the task"
                     : unit.rank == LeaveOutRank::kHelperText ? ", helper text"
                     : unit.rank == LeaveOutRank::kKernel     ? ", kernels"
                                                              : "";
  const std::string name = unit.name.empty() ? std::string("a statement") : ValidUtf8(unit.name);
  const std::string_view text = std::string_view(source).substr(unit.start, unit.end - unit.start);
  return fmt::format("{}{} ({} lines)", name, what, 1 + std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

ShownSource ShowSource(std::string_view source, std::string_view known, size_t most) {
  ShownSource shown;
  shown.text = ValidUtf8(Trim(source));
  if (shown.text.size() <= most) return shown;
  const std::string whole = shown.text;
  const std::vector<TopStatement> units = UnitsOf(whole, known);
  std::vector<size_t> order;
  for (size_t i = 0; i < units.size(); ++i)
    if (units[i].end - units[i].start >= kLeastLeftOut && units[i].rank != LeaveOutRank::kNever)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const TopStatement &one = units[a], &other = units[b];
    if (one.rank != other.rank) return one.rank < other.rank;
    if (one.distance != other.distance) return one.distance > other.distance;
    return one.end - one.start > other.end - other.start;
  });
  size_t size = whole.size();
  std::set<size_t> gone;
  for (const size_t i : order) {
    if (size <= most) break;
    gone.insert(i);
    // The comment in its place and its name in the sentence about it are short.
    size -=
        units[i].end - units[i].start - std::min<size_t>(kLeastLeftOut / 2, units[i].end - units[i].start);
  }
  std::string text;
  std::vector<std::string> names;
  size_t at = 0;
  for (const size_t i : gone) {
    const std::string name = LeftOutWords(units[i], whole);
    text += whole.substr(at, units[i].start - at) + "# [left out here: " + name + "]";
    names.push_back(name);
    at = units[i].end;
  }
  text += whole.substr(at);
  // A file that does not parse, or is one statement.
  if (text.size() > most) {
    const size_t half = most / 2;
    names.emplace_back("the middle");
    text = ValidUtf8(text.substr(0, half) + "\n# [the middle is left out here]\n" +
                     text.substr(text.size() - half));
  }
  const size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
  if (more > 0) names.resize(kMostNamed);
  shown.left_out = Join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
  shown.text = std::move(text);
  return shown;
}

}  // namespace hone
