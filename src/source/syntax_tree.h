// A concrete syntax tree, copied out of tree-sitter into plain nodes so that nothing above this file knows
// the library. Parsing never fails: text that does not fit the grammar becomes nodes of type "ERROR", and
// everything around them is still there. A parse that takes too long yields an empty tree.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

namespace hone {

enum class Language { kPython, kCuda };

struct SyntaxNode {
  std::string_view type;   // the grammar's name for it; for anonymous nodes the token itself
  std::string_view field;  // its role in the parent, or empty
  std::string_view text;
  uint32_t start = 0;
  uint32_t end = 0;
  bool named = false;
  bool missing = false;  // the parser had to invent this token
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
  // The first place where the text does not fit the grammar, or null.
  const SyntaxNode* first_error() const { return first_error_; }
  bool gave_up() const { return root_ == nullptr; }

 private:
  std::deque<SyntaxNode> nodes_;
  const SyntaxNode* root_ = nullptr;
  const SyntaxNode* first_error_ = nullptr;
};

// The node after `node` in document order, staying below `root`; null at the end.
const SyntaxNode* NextInDocument(const SyntaxNode* node, const SyntaxNode* root);
// The same, without entering `node`.
const SyntaxNode* NextSkippingChildren(const SyntaxNode* node, const SyntaxNode* root);

}  // namespace hone
