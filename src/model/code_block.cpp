#include "model/code_block.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "source/python_ast.h"

namespace hone {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Longer texts are not parsed. No real candidate is that long.
constexpr size_t kMostBytes = 1u << 20;
// The limit of parsed fences, because a hostile reply can contain millions.
constexpr int kMostParses = 64;
constexpr size_t kMostBlocks = 256;
// The limit of fences inside docstrings in one block.
constexpr int kMostClosings = 16;
constexpr int kMostStarts = 8;

enum class Quality { kUnusable, kBroken, kPartial, kComplete };

struct Block {
  Quality quality = Quality::kUnusable;
  std::string text;
};

// Its own forward, or that of a base class other than nn.Module.
bool HasForward(const PyNode* model) {
  const bool own = std::any_of(model->body.begin(), model->body.end(), [](const PyNode* member) {
    return member->Is(PyKind::kFunction) && member->name == "forward";
  });
  return own || std::any_of(model->args.begin(), model->args.end(),
                            [](const PyNode* base) { return !EndsWith(DottedName(base), "Module"); });
}

// The grammar takes `text` for a string, as Python 2 did, so two adjacent fences can parse.
bool HasBackquotes(const SyntaxTree& syntax) {
  for (const SyntaxNode* at = syntax.root(); at != nullptr; at = NextInDocument(at, syntax.root()))
    if (at->Is("string_start") && Contains(at->text, "`")) return true;
  return false;
}

class Judge {
 public:
  Quality Rate(const std::string& text) {
    if (text.size() > kMostBytes || !Contains(text, "ModelNew") || Contains(text, std::string_view("\0", 1)))
      return Quality::kUnusable;
    if (parses_ == kMostParses) return Quality::kBroken;
    ++parses_;
    const SyntaxTree syntax = SyntaxTree::Parse(text, Language::kPython);
    if (syntax.gave_up() || syntax.first_error() != nullptr || HasBackquotes(syntax)) return Quality::kBroken;
    const PyTree tree = BuildPythonTree(syntax);
    bool defined = false;
    bool complete = false;
    WalkPython(tree.module, [&](const PyNode* node) {
      if (node->Is(PyKind::kClass) && node->name == "ModelNew") {
        defined = true;
        complete = complete || HasForward(node);
      }
      if (node->Is(PyKind::kAssign) && node->args[0]->IsName("ModelNew")) defined = complete = true;
      return !node->Is(PyKind::kFunction) && !node->Is(PyKind::kClass);
    });
    if (!defined) return Quality::kUnusable;
    const bool imports = std::any_of(tree.module->body.begin(), tree.module->body.end(), [](const PyNode* s) {
      return s->Is(PyKind::kImport) || s->Is(PyKind::kImportFrom);
    });
    return complete && imports ? Quality::kComplete : Quality::kPartial;
  }

 private:
  int parses_ = 0;
};

struct Fence {
  char mark = 0;  // 0: this line is no fence
  size_t length = 0;
  size_t indent = 0;
  bool bare = false;  // nothing follows it, so it can close a block
};

Fence FenceOf(std::string_view line) {
  Fence fence;
  const std::string_view text = Trim(line);
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return fence;
  fence.length = std::min(text.find_first_not_of(text[0]), text.size());
  if (fence.length < 3) return fence;
  const std::string_view rest = text.substr(fence.length);
  // `code` between backticks on one line is not a fence.
  if (text[0] == '`' && Contains(rest, "`")) return fence;
  fence.mark = text[0];
  fence.indent = line.find_first_not_of(" \t");
  fence.bare = rest.empty();
  return fence;
}

std::string Body(const std::vector<std::string_view>& lines, size_t from, size_t to, size_t indent) {
  std::string out;
  for (size_t i = from; i < to && out.size() <= kMostBytes; ++i) {
    const size_t text = std::min(lines[i].find_first_not_of(" \t"), lines[i].size());
    out += lines[i].substr(std::min(indent, text));
    out += '\n';
  }
  if (StartsWith(out, kByteOrderMark)) out.erase(0, kByteOrderMark.size());
  return out;
}

std::vector<Block> FencedBlocks(const std::vector<std::string_view>& lines, Judge* judge) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < lines.size() && blocks.size() < kMostBlocks; ++i) {
    const Fence open = FenceOf(lines[i]);
    if (open.mark == 0) continue;
    // A fence inside a docstring resembles the end. Continues to the first end at which the text parses.
    size_t first_end = lines.size();
    Block first;
    Block found;
    size_t found_end = 0;
    int closings = 0;
    size_t bytes = 0;
    for (size_t j = i + 1; j <= lines.size() && closings < kMostClosings; ++j) {
      if (bytes > kMostBytes && closings > 0) break;
      if (j < lines.size()) {
        bytes += lines[j].size() + 1;
        const Fence close = FenceOf(lines[j]);
        if (close.mark != open.mark || close.length < open.length || !close.bare) continue;
      }
      Block block;
      block.text = Body(lines, i + 1, j, open.indent);
      block.quality = judge->Rate(block.text);
      if (++closings == 1) {
        first_end = j;
        first = block;
      }
      if (block.quality >= Quality::kPartial) {
        found = std::move(block);
        found_end = j;
        break;
      }
    }
    const bool any = found.quality != Quality::kUnusable;
    blocks.push_back(any ? std::move(found) : std::move(first));
    i = any ? found_end : first_end;
  }
  return blocks;
}

bool OpensPython(std::string_view line) {
  return StartsWith(line, "import ") || StartsWith(line, "from ") || StartsWith(line, "#") ||
         StartsWith(line, "\"\"\"") || StartsWith(line, "'''");
}

// A reply without fences: all of it, or all from the first line that opens a Python file.
Block UnfencedBlock(const std::vector<std::string_view>& lines, Judge* judge) {
  Block broken;
  int starts = 0;
  for (size_t i = 0; i < lines.size() && starts < kMostStarts; ++i) {
    if (!OpensPython(lines[i])) continue;
    ++starts;
    Block block;
    block.text = Body(lines, i, lines.size(), 0);
    block.quality = judge->Rate(block.text);
    if (block.quality >= Quality::kPartial) return block;
    if (broken.quality == Quality::kUnusable) broken = std::move(block);
  }
  return broken;
}

std::optional<std::string> Best(const std::vector<Block>& blocks) {
  const Block* best = nullptr;
  for (const Block& block : blocks) {
    if (block.quality == Quality::kUnusable) continue;
    const bool better = best == nullptr || block.quality > best->quality ||
                        (block.quality == best->quality &&
                         (block.quality == Quality::kComplete || block.text.size() > best->text.size()));
    if (better) best = &block;
  }
  if (best == nullptr) return std::nullopt;
  return best->text;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (EndsWith(line, "\r")) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<std::string> ExtractFrom(std::string_view text) {
  if (StartsWith(text, kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::vector<std::string_view> lines = SplitLines(text);
  Judge judge;
  std::vector<Block> blocks = FencedBlocks(lines, &judge);
  const bool fenced = !blocks.empty();
  if (std::none_of(blocks.begin(), blocks.end(),
                   [](const Block& block) { return block.quality != Quality::kUnusable; })) {
    Block bare = UnfencedBlock(lines, &judge);
    // If there are fences, text outside them is prose unless it parses.
    if (!fenced || bare.quality >= Quality::kPartial) blocks.push_back(std::move(bare));
  }
  return Best(blocks);
}

}  // namespace

std::optional<std::string> ExtractCandidate(const std::string& reply) {
  if (!Contains(reply, "ModelNew")) return std::nullopt;
  const std::string text = ValidUtf8(reply);
  // Drafts inside a thinking part are not the answer, unless there is no other.
  const size_t thought = text.rfind("</think>");
  if (thought != std::string::npos)
    if (std::optional<std::string> answer = ExtractFrom(std::string_view(text).substr(thought + 8)))
      return answer;
  return ExtractFrom(text);
}

}  // namespace hone
