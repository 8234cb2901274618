#include "base/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr int kMostNesting = 32;

struct Node;
using Block = std::vector<Node>;

struct Branch {
  std::string condition;  // empty for else
  size_t line = 0;
  Block body;
};

struct Node {
  enum class Kind { kText, kValue, kIf, kFor } kind = Kind::kText;
  std::string text;      // the text of kText; the path of kValue and kFor
  std::string variable;  // the loop variable of kFor
  size_t line = 0;
  std::vector<Branch> branches;  // the branches of kIf; kFor has one
};

Error At(size_t line, const std::string& message) {
  return Error{ErrorKind::kInvalid, fmt::format("template line {}: {}", line, message)};
}

bool IsPath(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') return false;
  return true;
}

// True if the text between two @ on one line is a directive.
bool IsDirective(std::string_view inside) {
  return inside == "end" || inside == "else" || StartsWith(inside, "if ") || StartsWith(inside, "elif ") ||
         StartsWith(inside, "for ");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Block> Parse() {
    HONE_ASSIGN_OR_RETURN(Block block, ParseBlock(0));
    if (!ended_by_.empty()) return At(line_, "@" + ended_by_ + "@ without an @if or @for before it");
    return block;
  }

 private:
  struct Mark {
    enum class Kind { kNone, kValue, kDirective, kComment } kind = Kind::kNone;
    size_t start = std::string_view::npos;
    size_t end = 0;
    std::string inside;
  };

  Result<Mark> NextMark() {
    for (size_t at = text_.find('@', position_); at != std::string_view::npos; at = text_.find('@', at + 1)) {
      if (StartsWith(text_.substr(at), "@{")) {
        const size_t close = text_.find("}@", at);
        const size_t newline = text_.find('\n', at);
        if (close == std::string_view::npos || close > newline)
          return At(LineOf(at), "@{ without }@ on the same line");
        return Mark{Mark::Kind::kValue, at, close + 2,
                    std::string(Trim(text_.substr(at + 2, close - at - 2)))};
      }
      if (StartsWith(text_.substr(at), "@#")) {
        const size_t close = text_.find("#@", at);
        if (close == std::string_view::npos) return At(LineOf(at), "@# without #@");
        return Mark{Mark::Kind::kComment, at, close + 2, ""};
      }
      const size_t close = text_.find_first_of("@\n", at + 1);
      if (close == std::string_view::npos || text_[close] != '@') continue;
      const std::string_view inside = text_.substr(at + 1, close - at - 1);
      if (IsDirective(inside)) return Mark{Mark::Kind::kDirective, at, close + 1, std::string(inside)};
    }
    return Mark{};
  }

  size_t LineOf(size_t at) const {
    return 1 + static_cast<size_t>(std::count(text_.begin(), text_.begin() + static_cast<long>(at), '\n'));
  }

  // Extends a mark that stands alone on its line to the whole line.
  void TakeLine(Mark* mark) const {
    size_t start = mark->start;
    while (start > 0 && (text_[start - 1] == ' ' || text_[start - 1] == '\t')) --start;
    size_t end = mark->end;
    while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t')) ++end;
    const bool alone =
        (start == 0 || text_[start - 1] == '\n') && (end == text_.size() || text_[end] == '\n');
    if (!alone) return;
    mark->start = start;
    mark->end = end == text_.size() ? end : end + 1;
  }

  Result<Block> ParseBlock(int depth) {
    if (depth > kMostNesting) return At(LineOf(position_), "nested too deeply");
    Block block;
    while (true) {
      HONE_ASSIGN_OR_RETURN(Mark mark, NextMark());
      if (mark.kind == Mark::Kind::kNone) {
        AddText(&block, text_.substr(position_));
        position_ = text_.size();
        ended_by_.clear();
        return block;
      }
      line_ = LineOf(mark.start);
      if (mark.kind != Mark::Kind::kValue) TakeLine(&mark);
      AddText(&block, text_.substr(position_, mark.start > position_ ? mark.start - position_ : 0));
      position_ = mark.end;
      if (mark.kind == Mark::Kind::kComment) continue;
      if (mark.kind == Mark::Kind::kValue) {
        if (!IsPath(mark.inside)) return At(line_, "'" + mark.inside + "' is not a path");
        block.push_back(Node{Node::Kind::kValue, mark.inside, "", line_, {}});
        continue;
      }
      if (!StartsWith(mark.inside, "if ") && !StartsWith(mark.inside, "for ")) {
        ended_by_ = mark.inside;
        return block;
      }
      HONE_ASSIGN_OR_RETURN(Node node, ParseDirective(mark.inside, depth));
      block.push_back(std::move(node));
    }
  }

  Result<Node> ParseDirective(const std::string& inside, int depth) {
    Node node;
    node.line = line_;
    if (StartsWith(inside, "for ")) {
      node.kind = Node::Kind::kFor;
      const size_t in = inside.find(" in ");
      if (in == std::string::npos) return At(line_, "@for needs `item in path`");
      node.variable = std::string(Trim(std::string_view(inside).substr(4, in - 4)));
      node.text = std::string(Trim(std::string_view(inside).substr(in + 4)));
      if (!IsPath(node.variable) || !IsPath(node.text)) return At(line_, "@for needs `item in path`");
      HONE_ASSIGN_OR_RETURN(Block body, ParseBlock(depth + 1));
      node.branches.push_back(Branch{"", node.line, std::move(body)});
      if (ended_by_ != "end") return At(node.line, "@for without @end@");
      return node;
    }
    node.kind = Node::Kind::kIf;
    std::string condition = std::string(Trim(std::string_view(inside).substr(3)));
    bool last = false;
    while (true) {
      const size_t line = line_;
      HONE_ASSIGN_OR_RETURN(Block body, ParseBlock(depth + 1));
      node.branches.push_back(Branch{condition, line, std::move(body)});
      if (ended_by_ == "end") return node;
      if (ended_by_.empty()) return At(node.line, "@if without @end@");
      if (last) return At(line_, "@" + ended_by_ + "@ after @else@");
      last = ended_by_ == "else";
      condition = last ? "" : std::string(Trim(std::string_view(ended_by_).substr(5)));
    }
  }

  static void AddText(Block* block, std::string_view text) {
    if (!text.empty()) block->push_back(Node{Node::Kind::kText, std::string(text), "", 0, {}});
  }

  std::string_view text_;
  size_t position_ = 0;
  size_t line_ = 1;
  std::string ended_by_;
};

class Renderer {
 public:
  explicit Renderer(const Json& values) : values_(values) {}

  Status Render(const Block& block, std::string* out) {
    for (const Node& node : block) {
      switch (node.kind) {
        case Node::Kind::kText:
          *out += node.text;
          break;
        case Node::Kind::kValue: {
          const Json* value = Find(node.text);
          if (value == nullptr) return At(node.line, "there is no value '" + node.text + "'");
          *out += value->is_string() ? value->get<std::string>() : DumpJson(*value);
          break;
        }
        case Node::Kind::kIf:
          HONE_RETURN_IF_ERROR(RenderIf(node, out));
          break;
        case Node::Kind::kFor:
          HONE_RETURN_IF_ERROR(RenderFor(node, out));
          break;
      }
    }
    return Ok();
  }

 private:
  Status RenderIf(const Node& node, std::string* out) {
    for (const Branch& branch : node.branches) {
      HONE_ASSIGN_OR_RETURN(const bool yes, Holds(branch));
      if (yes) return Render(branch.body, out);
    }
    return Ok();
  }

  Status RenderFor(const Node& node, std::string* out) {
    const Json* list = Find(node.text);
    if (list == nullptr) return At(node.line, "there is no value '" + node.text + "'");
    if (!list->is_array()) return At(node.line, "'" + node.text + "' is not a list");
    for (size_t i = 0; i < list->size(); ++i) {
      scopes_.emplace_back(node.variable, (*list)[i]);
      scopes_.emplace_back("loop",
                           Json{{"index", i + 1}, {"first", i == 0}, {"last", i + 1 == list->size()}});
      const Status rendered = Render(node.branches[0].body, out);
      scopes_.pop_back();
      scopes_.pop_back();
      HONE_RETURN_IF_ERROR(rendered);
    }
    return Ok();
  }

  Result<bool> Holds(const Branch& branch) const {
    if (branch.condition.empty()) return true;
    std::string_view text = branch.condition;
    for (const std::string_view sign : {"==", "!="}) {
      const size_t at = text.find(sign);
      if (at == std::string_view::npos) continue;
      const std::string_view path = Trim(text.substr(0, at));
      const Result<Json> wanted = ParseJson(Trim(text.substr(at + 2)));
      const Json* value = Find(path);
      if (value == nullptr) return At(branch.line, "there is no value '" + std::string(path) + "'");
      if (!wanted.ok())
        return At(branch.line, "'" + std::string(Trim(text.substr(at + 2))) + "' is no JSON value");
      return (*value == *wanted) == (sign == "==");
    }
    const bool inverted = StartsWith(text, "not ");
    if (inverted) text = Trim(text.substr(4));
    const Json* value = Find(text);
    if (value == nullptr) return At(branch.line, "there is no value '" + std::string(text) + "'");
    return Truth(*value) != inverted;
  }

  static bool Truth(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number()) return value.get<double>() != 0;
    if (value.is_string()) return !value.str().empty();
    return !value.empty();
  }

  const Json* Find(std::string_view path) const {
    const std::vector<std::string> parts = Split(path, '.');
    const Json* value = &values_;
    size_t part = 0;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (scope->first == parts[0]) {
        value = &scope->second;
        part = 1;
        break;
      }
    for (; part < parts.size(); ++part) {
      if (!value->is_object()) return nullptr;
      const auto member = value->find(parts[part]);
      if (member == value->end()) return nullptr;
      value = &*member;
    }
    return value;
  }

  const Json& values_;
  // A deque, because adding scopes must not move the list that an inner loop iterates over.
  std::deque<std::pair<std::string, Json>> scopes_;
};

}  // namespace

Result<std::string> RenderTemplate(std::string_view text, const Json& values) {
  HONE_ASSIGN_OR_RETURN(const Block block, Parser(text).Parse());
  std::string out;
  HONE_RETURN_IF_ERROR(Renderer(values).Render(block, &out));
  return out;
}

}  // namespace hone
