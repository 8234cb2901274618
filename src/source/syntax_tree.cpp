#include "source/syntax_tree.h"

#include <tree_sitter/api.h>

#include <memory>
#include <vector>

extern "C" const TSLanguage* tree_sitter_python();
extern "C" const TSLanguage* tree_sitter_cuda();

namespace hone {

namespace {

// Candidates parse in milliseconds, but hostile input can make error recovery quadratic.
constexpr uint64_t kParseLimitUs = 2'000'000;

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};

std::unique_ptr<TSTree, TreeDeleter> RunParser(std::string_view text, Language language) {
  std::unique_ptr<TSParser, ParserDeleter> parser(ts_parser_new());
  const TSLanguage* grammar = language == Language::kPython ? tree_sitter_python() : tree_sitter_cuda();
  if (!ts_parser_set_language(parser.get(), grammar)) return nullptr;
  ts_parser_set_timeout_micros(parser.get(), kParseLimitUs);
  return std::unique_ptr<TSTree, TreeDeleter>(
      ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<uint32_t>(text.size())));
}

}  // namespace

SyntaxTree SyntaxTree::Parse(std::string_view text, Language language) {
  SyntaxTree out;
  const std::unique_ptr<TSTree, TreeDeleter> tree = RunParser(text, language);
  if (tree == nullptr) return out;

  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree.get()));
  const auto copy_current = [&](SyntaxNode* parent) {
    const TSNode at = ts_tree_cursor_current_node(&cursor);
    SyntaxNode& node = out.nodes_.emplace_back();
    node.type = ts_node_type(at);
    if (const char* field = ts_tree_cursor_current_field_name(&cursor)) node.field = field;
    node.start = ts_node_start_byte(at);
    node.end = ts_node_end_byte(at);
    node.text = text.substr(node.start, node.end - node.start);
    node.named = ts_node_is_named(at);
    node.missing = ts_node_is_missing(at);
    node.parent = parent;
    if ((node.missing || node.type == "ERROR") && out.first_error_ == nullptr) out.first_error_ = &node;
    return &node;
  };

  SyntaxNode* root = copy_current(nullptr);
  out.root_ = root;
  std::vector<SyntaxNode*> path = {root};
  while (!path.empty()) {
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      SyntaxNode* child = copy_current(path.back());
      path.back()->first_child = child;
      path.push_back(child);
      continue;
    }
    while (!path.empty()) {
      SyntaxNode* done = path.back();
      path.pop_back();
      if (path.empty()) break;
      if (ts_tree_cursor_goto_next_sibling(&cursor)) {
        SyntaxNode* sibling = copy_current(path.back());
        done->next = sibling;
        path.push_back(sibling);
        break;
      }
      ts_tree_cursor_goto_parent(&cursor);
    }
  }
  ts_tree_cursor_delete(&cursor);
  return out;
}

const SyntaxNode* SyntaxNode::Field(std::string_view name) const {
  for (const SyntaxNode* child = first_child; child != nullptr; child = child->next)
    if (child->field == name) return child;
  return nullptr;
}

const SyntaxNode* SyntaxNode::ChildOfType(std::string_view child_type) const {
  for (const SyntaxNode* child = first_child; child != nullptr; child = child->next)
    if (child->type == child_type) return child;
  return nullptr;
}

const SyntaxNode* SyntaxNode::FirstNamed() const {
  for (const SyntaxNode* child = first_child; child != nullptr; child = child->next)
    if (child->named && child->type != "comment") return child;
  return nullptr;
}

const SyntaxNode* NextSkippingChildren(const SyntaxNode* node, const SyntaxNode* root) {
  while (node != nullptr && node != root) {
    if (node->next != nullptr) return node->next;
    node = node->parent;
  }
  return nullptr;
}

const SyntaxNode* NextInDocument(const SyntaxNode* node, const SyntaxNode* root) {
  if (node->first_child != nullptr) return node->first_child;
  return NextSkippingChildren(node, root);
}

}  // namespace hone
