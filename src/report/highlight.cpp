#include "report/highlight.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "report/escape.h"
#include "source/syntax_tree.h"

namespace hone {

namespace {

// Larger files are shown without colours, so that a page need not wait for them.
constexpr size_t kMostBytes = 400'000;
constexpr char kNoClass = ' ';

// A class letter for every byte of the text.
using Classes = std::string;

void Fill(Classes* classes, size_t start, size_t end, char letter) {
  std::fill(classes->begin() + static_cast<std::ptrdiff_t>(start),
            classes->begin() + static_cast<std::ptrdiff_t>(end), letter);
}

bool IsOneOf(std::string_view type, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), type) != names.end();
}

bool IsWord(std::string_view token) {
  return !token.empty() && (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_');
}

// C++ and CUDA that candidates write into strings; all other strings are text.
bool LooksLikeCuda(std::string_view text) {
  return Contains(text, "\n") &&
         (Contains(text, "__global__") || Contains(text, "#include") || Contains(text, "#pragma") ||
          Contains(text, "torch::Tensor") || Contains(text, "at::Tensor"));
}

char LetterOfLeaf(const SyntaxNode& node) {
  const SyntaxNode* parent = node.parent;
  if (!node.named) return IsWord(node.type) ? 'k' : node.type[0] == '#' ? 'k' : kNoClass;
  if (IsOneOf(node.type, {"integer", "float", "number_literal"})) return 'n';
  if (IsOneOf(node.type, {"true", "false", "none", "null", "this", "auto"})) return 'k';
  if (IsOneOf(node.type, {"primitive_type", "type_identifier", "sized_type_specifier"})) return 't';
  if (IsOneOf(node.type, {"string_literal", "char_literal", "system_lib_string", "raw_string_literal"}))
    return 's';
  if (parent == nullptr || !IsOneOf(node.type, {"identifier", "field_identifier"})) return kNoClass;
  if (IsOneOf(parent->type, {"function_definition", "class_definition"}) && node.field == "name") return 'f';
  return parent->type == "function_declarator" && node.field == "declarator" ? 'f' : kNoClass;
}

void Classify(std::string_view text, Language language, Classes* classes, size_t offset);

// A Python string: text, or CUDA with its own colours.
void ClassifyString(const SyntaxNode& node, Classes* classes, size_t offset) {
  Fill(classes, offset + node.start, offset + node.end, 's');
  if (!LooksLikeCuda(node.text)) return;
  const size_t quote =
      node.text.find("\"\"\"") != std::string_view::npos ? node.text.find("\"\"\"") : node.text.find("'''");
  if (quote == std::string_view::npos || node.text.size() < quote + 6) return;
  const std::string_view inside = node.text.substr(quote + 3, node.text.size() - quote - 6);
  Fill(classes, offset + node.start + quote + 3, offset + node.end - 3, kNoClass);
  Classify(inside, Language::kCuda, classes, offset + node.start + quote + 3);
}

void Classify(std::string_view text, Language language, Classes* classes, size_t offset) {
  const SyntaxTree tree = SyntaxTree::Parse(text, language);
  if (tree.gave_up()) return;
  const SyntaxNode* node = tree.root();
  while (node != nullptr) {
    if (node->type == "comment") {
      Fill(classes, offset + node->start, offset + node->end, 'c');
    } else if (language == Language::kPython && node->type == "string" &&
               node->ChildOfType("interpolation") == nullptr) {
      ClassifyString(*node, classes, offset);
      node = NextSkippingChildren(node, tree.root());
      continue;
    } else if (IsOneOf(node->type, {"string", "string_literal", "char_literal"})) {
      Fill(classes, offset + node->start, offset + node->end, 's');
    } else if (node->type == "interpolation") {
      Fill(classes, offset + node->start, offset + node->end, kNoClass);
    } else if (node->type == "decorator") {
      Fill(classes, offset + node->start, offset + std::min(node->end, node->start + 1), 'd');
      if (const SyntaxNode* name = node->FirstNamed(); name != nullptr && name->type != "call")
        Fill(classes, offset + name->start, offset + name->end, 'd');
    } else if (node->first_child == nullptr &&
               (*classes)[std::min(offset + node->start, classes->size() - 1)] == kNoClass) {
      const char letter = LetterOfLeaf(*node);
      if (letter != kNoClass) Fill(classes, offset + node->start, offset + node->end, letter);
    }
    node = NextInDocument(node, tree.root());
  }
}

std::vector<std::string> Highlight(std::string_view source, Language language) {
  Classes classes(source.size(), kNoClass);
  if (!source.empty() && source.size() <= kMostBytes) Classify(source, language, &classes, 0);
  std::vector<std::string> lines;
  size_t at = 0;
  for (const std::string& line : Lines(source)) {
    std::string html;
    for (size_t i = 0; i < line.size();) {
      size_t end = i + 1;
      while (end < line.size() && classes[at + end] == classes[at + i]) ++end;
      const std::string text = EscapeHtml(std::string_view(line).substr(i, end - i));
      if (classes[at + i] == kNoClass) {
        html += text;
      } else {
        html.append("<span class=\"h")
            .append(1, classes[at + i])
            .append("\">")
            .append(text)
            .append("</span>");
      }
      i = end;
    }
    lines.push_back(std::move(html));
    at = std::min(source.find('\n', at), source.size() - 1) + 1;  // a line may end in \r\n
  }
  return lines;
}

}  // namespace

std::vector<std::string> HighlightPython(std::string_view source) {
  return Highlight(source, Language::kPython);
}

std::vector<std::string> HighlightCuda(std::string_view source) {
  return Highlight(source, Language::kCuda);
}

}  // namespace hone
