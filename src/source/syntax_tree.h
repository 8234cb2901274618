// A concrete syntax tree, copied from tree-sitter into plain nodes so that only this room depends on the
// library. Parsing never fails: text outside the grammar becomes "ERROR" nodes, and the rest of the tree is
// intact. A parse that takes too long yields an empty tree.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

namespace hone {

enum class Language { kPython, kCuda };

struct SyntaxNode {
  std::string_view type;   // the grammar's name; for an anonymous node the token itself
  std::string_view field;  // its role in the parent, or empty
  std::string_view text;
  uint32_t start = 0;
  uint32_t end = 0;
  bool named = false;
  bool missing = false;  // the parser inserted this token
  const SyntaxNode* parent = nullptr;
  const SyntaxNode* first_child = nullptr;
  const SyntaxNode* next = nullptr;

  const SyntaxNode* Field(std::string_view name) const;
  const SyntaxNode* ChildOfType(std::string_view child_type) const;
  const SyntaxNode* FirstNamed() const;
  bool Is(std::string_view t) const { return type == t; }
};

class SyntaxTree {
 public:
  // `text` must outlive the tree.
  static SyntaxTree Parse(std::string_view text, Language language);
  const SyntaxNode* root() const { return root_; }
  // The first position where the text does not match the grammar, or null.
  const SyntaxNode* first_error() const { return first_error_; }
  bool gave_up() const { return root_ == nullptr; }

 private:
  std::deque<SyntaxNode> nodes_;
  const SyntaxNode* root_ = nullptr;
  const SyntaxNode* first_error_ = nullptr;
};

// The node after `node` in document order, staying below `root`; null at the end.
const SyntaxNode* NextInDocument(const SyntaxNode* node, const SyntaxNode* root);
// The same, but skips the children of `node`.
const SyntaxNode* NextSkippingChildren(const SyntaxNode* node, const SyntaxNode* root);

}  // namespace hone
