// Turns tree-sitter's concrete Python tree into the abstract one. Internal to this room: two files share this
// class to build statements and expressions.
#pragma once

#include <string_view>
#include <vector>

#include "source/python_ast.h"

namespace hone {

class PythonBuilder {
 public:
  explicit PythonBuilder(PyTree* tree) : tree_(tree) {}
  PyNode* Module(const SyntaxNode* root);

 private:
  // Code nested deeper than CPython accepts becomes an Error node, so that recursion stays bounded.
  static constexpr int kMaxDepth = 220;

  PyNode* Make(PyKind kind, const SyntaxNode* from);
  // Records `child` under `parent` and returns it.
  PyNode* Own(PyNode* parent, PyNode* child);
  void OwnInto(PyNode* parent, std::vector<PyNode*>* slot, PyNode* child);

  // python_statements.cpp
  void Block(const SyntaxNode* block, PyNode* parent, std::vector<PyNode*>* out);
  void Statement(const SyntaxNode* node, PyNode* parent, std::vector<PyNode*>* out);
  PyNode* Definition(const SyntaxNode* node, const SyntaxNode* decorated);
  void Parameters(const SyntaxNode* list, PyNode* function);
  PyNode* If(const SyntaxNode* node, const SyntaxNode* first_alternative);
  PyNode* Try(const SyntaxNode* node);
  PyNode* With(const SyntaxNode* node);
  PyNode* Import(const SyntaxNode* node);
  PyNode* Assignment(const SyntaxNode* node);
  PyNode* Loop(const SyntaxNode* node);

  // python_expressions.cpp
  PyNode* Expression(const SyntaxNode* node);
  PyNode* ExpressionAtDepth(const SyntaxNode* node);
  PyNode* Sequence(PyKind kind, const SyntaxNode* node);
  PyNode* Operator(const SyntaxNode* node);
  PyNode* BoolOp(const SyntaxNode* node);
  PyNode* Compare(const SyntaxNode* node);
  PyNode* Call(const SyntaxNode* node);
  void Arguments(const SyntaxNode* list, PyNode* call);
  PyNode* Subscript(const SyntaxNode* node);
  PyNode* Slice(const SyntaxNode* node);
  PyNode* Comprehension(const SyntaxNode* node, std::string_view what);
  PyNode* Dict(const SyntaxNode* node);
  PyNode* String(const SyntaxNode* node);
  PyNode* Number(const SyntaxNode* node);

  PyTree* tree_;
  int depth_ = 0;
};

}  // namespace hone
