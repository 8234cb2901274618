// Converts statements from the concrete to the abstract tree. See python_builder.h.
#include "source/python_builder.h"

namespace hone {

PyTree BuildPythonTree(const SyntaxTree& syntax) {
  PyTree tree;
  if (syntax.root() == nullptr) {
    tree.nodes.emplace_back().kind = PyKind::kModule;
    tree.module = &tree.nodes.back();
    return tree;
  }
  tree.module = PythonBuilder(&tree).Module(syntax.root());
  for (const SyntaxNode* node = syntax.root(); node != nullptr; node = NextInDocument(node, syntax.root()))
    if (node->Is("comment")) tree.comments.push_back({node->start, node->text});
  return tree;
}

PyNode* PythonBuilder::Make(PyKind kind, const SyntaxNode* from) {
  PyNode& node = tree_->nodes.emplace_back();
  node.kind = kind;
  node.start = from->start;
  node.end = from->end;
  return &node;
}

PyNode* PythonBuilder::Own(PyNode* parent, PyNode* child) {
  if (child == nullptr) return nullptr;
  child->parent = parent;
  parent->children.push_back(child);
  return child;
}

void PythonBuilder::OwnInto(PyNode* parent, std::vector<PyNode*>* slot, PyNode* child) {
  if (child != nullptr) slot->push_back(Own(parent, child));
}

PyNode* PythonBuilder::Module(const SyntaxNode* root) {
  PyNode* module = Make(PyKind::kModule, root);
  Block(root, module, &module->body);
  return module;
}

void PythonBuilder::Block(const SyntaxNode* block, PyNode* parent, std::vector<PyNode*>* out) {
  if (block == nullptr) return;
  for (const SyntaxNode* child = block->first_child; child != nullptr; child = child->next)
    if (child->named && !child->Is("comment")) Statement(child, parent, out);
}

void PythonBuilder::Statement(const SyntaxNode* node, PyNode* parent, std::vector<PyNode*>* out) {
  if (depth_ >= kMaxDepth) {
    OwnInto(parent, out, Make(PyKind::kError, node));
    return;
  }
  ++depth_;
  const std::string_view type = node->type;
  PyNode* made = nullptr;
  if (type == "expression_statement") {
    const SyntaxNode* inner = node->FirstNamed();
    if (inner != nullptr && (inner->Is("assignment") || inner->Is("augmented_assignment"))) {
      made = Assignment(inner);
    } else if (inner != nullptr) {
      made = Make(PyKind::kExprStmt, node);
      const bool bare_tuple = inner->next != nullptr && inner->next->Is(",");
      made->value = Own(made, bare_tuple ? Sequence(PyKind::kTuple, node) : Expression(inner));
    }
  } else if (type == "function_definition" || type == "class_definition") {
    made = Definition(node, nullptr);
  } else if (type == "decorated_definition") {
    if (const SyntaxNode* inner = node->Field("definition")) made = Definition(inner, node);
  } else if (type == "if_statement") {
    made = If(node, nullptr);
  } else if (type == "for_statement" || type == "while_statement") {
    made = Loop(node);
  } else if (type == "try_statement") {
    made = Try(node);
  } else if (type == "with_statement") {
    made = With(node);
  } else if (type == "import_statement" || type == "import_from_statement" ||
             type == "future_import_statement") {
    made = Import(node);
  } else if (type == "return_statement") {
    made = Make(PyKind::kReturn, node);
    if (const SyntaxNode* inner = node->FirstNamed()) made->value = Own(made, Expression(inner));
  } else if (type == "pass_statement") {
    made = Make(PyKind::kPass, node);
  } else if (type == "break_statement") {
    made = Make(PyKind::kBreak, node);
  } else if (type == "continue_statement") {
    made = Make(PyKind::kContinue, node);
  } else if (type == "assert_statement") {
    made = Make(PyKind::kAssert, node);
    for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
      if (!child->named || child->Is("comment")) continue;
      PyNode*& slot = made->test == nullptr ? made->test : made->value;
      if (slot == nullptr) slot = Own(made, Expression(child));
    }
  } else if (type == "ERROR") {
    // The statements inside that do parse are still useful to the analysis.
    PyNode* error = Make(PyKind::kError, node);
    OwnInto(parent, out, error);
    Block(node, parent, out);
  } else {
    PyKind kind = PyKind::kOtherStmt;
    if (type == "delete_statement") kind = PyKind::kDelete;
    if (type == "raise_statement") kind = PyKind::kRaise;
    if (type == "global_statement" || type == "nonlocal_statement") kind = PyKind::kGlobal;
    made = Make(kind, node);
    for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
      if (child->named && !child->Is("comment")) {
        if (child->Is("block") || child->Is("case_clause"))
          Block(child, made, &made->body);
        else
          OwnInto(made, &made->args, Expression(child));
      }
  }
  --depth_;
  OwnInto(parent, out, made);
}

PyNode* PythonBuilder::Definition(const SyntaxNode* node, const SyntaxNode* decorated) {
  const bool is_class = node->Is("class_definition");
  PyNode* made = Make(is_class ? PyKind::kClass : PyKind::kFunction, node);
  if (decorated != nullptr)
    for (const SyntaxNode* child = decorated->first_child; child != nullptr; child = child->next)
      if (child->Is("decorator"))
        if (const SyntaxNode* inner = child->FirstNamed())
          OwnInto(made, &made->decorators, Expression(inner));
  if (const SyntaxNode* name = node->Field("name")) made->name = name->text;
  if (const SyntaxNode* bases = node->Field("superclasses")) Arguments(bases, made);
  if (const SyntaxNode* parameters = node->Field("parameters")) Parameters(parameters, made);
  if (const SyntaxNode* returns = node->Field("return_type")) made->value = Own(made, Expression(returns));
  Block(node->Field("body"), made, &made->body);
  return made;
}

void PythonBuilder::Parameters(const SyntaxNode* list, PyNode* function) {
  for (const SyntaxNode* child = list->first_child; child != nullptr; child = child->next) {
    if (!child->named || child->Is("comment") || child->Is("positional_separator")) continue;
    PyNode* param = Make(PyKind::kParam, child);
    const SyntaxNode* name = child;
    if (child->Is("default_parameter") || child->Is("typed_default_parameter")) name = child->Field("name");
    if (child->Is("typed_parameter")) name = child->FirstNamed();
    if (child->Is("keyword_separator")) param->op = "*";
    if (name != nullptr && name->Is("list_splat_pattern")) param->op = "*";
    if (name != nullptr && name->Is("dictionary_splat_pattern")) param->op = "**";
    if (name != nullptr && !param->op.empty()) name = name->FirstNamed();
    if (name != nullptr) param->name = name->text;
    if (const SyntaxNode* type = child->Field("type")) param->annotation = Own(param, Expression(type));
    if (const SyntaxNode* value = child->Field("value")) param->value = Own(param, Expression(value));
    OwnInto(function, &function->params, param);
  }
}

PyNode* PythonBuilder::If(const SyntaxNode* node, const SyntaxNode* first_alternative) {
  PyNode* made = Make(PyKind::kIf, node);
  if (const SyntaxNode* test = node->Field("condition")) made->test = Own(made, Expression(test));
  Block(node->Field("consequence"), made, &made->body);
  const SyntaxNode* alternative = first_alternative;
  if (node->Is("if_statement")) {
    alternative = node->first_child;
    while (alternative != nullptr && alternative->field != "alternative") alternative = alternative->next;
  }
  if (alternative == nullptr) return made;
  if (alternative->Is("elif_clause")) {
    const SyntaxNode* after = alternative->next;
    while (after != nullptr && after->field != "alternative") after = after->next;
    if (depth_ >= kMaxDepth) return made;
    ++depth_;
    OwnInto(made, &made->orelse, If(alternative, after));
    --depth_;
  } else {
    Block(alternative->Field("body"), made, &made->orelse);
  }
  return made;
}

PyNode* PythonBuilder::Loop(const SyntaxNode* node) {
  const bool is_for = node->Is("for_statement");
  PyNode* made = Make(is_for ? PyKind::kFor : PyKind::kWhile, node);
  if (is_for) {
    if (const SyntaxNode* left = node->Field("left")) made->target = Own(made, Expression(left));
    if (const SyntaxNode* right = node->Field("right")) made->value = Own(made, Expression(right));
  } else if (const SyntaxNode* test = node->Field("condition")) {
    made->test = Own(made, Expression(test));
  }
  Block(node->Field("body"), made, &made->body);
  if (const SyntaxNode* alternative = node->Field("alternative"))
    Block(alternative->Field("body"), made, &made->orelse);
  return made;
}

PyNode* PythonBuilder::Try(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kTry, node);
  Block(node->Field("body"), made, &made->body);
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->Is("except_clause") || child->Is("except_group_clause")) {
      PyNode* handler = Make(PyKind::kHandler, child);
      for (const SyntaxNode* part = child->first_child; part != nullptr; part = part->next) {
        if (!part->named || part->Is("comment")) continue;
        if (part->Is("block"))
          Block(part, handler, &handler->body);
        else if (handler->value == nullptr)
          handler->value = Own(handler, Expression(part));
        else if (part->Is("identifier"))
          handler->name = part->text;
      }
      // tree-sitter parses `except E as e` as a pattern; the name is the pattern's target.
      if (handler->value != nullptr && handler->value->Is(PyKind::kNamedExpr)) {
        if (handler->value->target != nullptr) handler->name = handler->value->target->name;
        handler->value = handler->value->value;
      }
      OwnInto(made, &made->args, handler);
    } else if (child->Is("else_clause")) {
      Block(child->Field("body"), made, &made->orelse);
    } else if (child->Is("finally_clause")) {
      Block(child->ChildOfType("block"), made, &made->finally);
    }
  }
  return made;
}

PyNode* PythonBuilder::With(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kWith, node);
  if (const SyntaxNode* clause = node->ChildOfType("with_clause")) {
    for (const SyntaxNode* child = clause->first_child; child != nullptr; child = child->next) {
      if (!child->Is("with_item")) continue;
      PyNode* item = Make(PyKind::kWithItem, child);
      const SyntaxNode* value = child->Field("value");
      if (value != nullptr) {
        PyNode* expression = Expression(value);
        if (expression->Is(PyKind::kNamedExpr) && value->Is("as_pattern")) {
          item->value = Own(item, expression->value);
          item->target = Own(item, expression->target);
        } else {
          item->value = Own(item, expression);
        }
      }
      OwnInto(made, &made->args, item);
    }
  }
  Block(node->Field("body"), made, &made->body);
  return made;
}

PyNode* PythonBuilder::Import(const SyntaxNode* node) {
  const bool from = !node->Is("import_statement");
  PyNode* made = Make(from ? PyKind::kImportFrom : PyKind::kImport, node);
  if (const SyntaxNode* module = node->Field("module_name")) made->name = module->text;
  if (node->Is("future_import_statement")) made->name = "__future__";
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->field != "name" && !child->Is("wildcard_import")) continue;
    PyNode* alias = Make(PyKind::kAlias, child);
    alias->name = child->text;
    if (child->Is("aliased_import")) {
      if (const SyntaxNode* name = child->Field("name")) alias->name = name->text;
      if (const SyntaxNode* bound = child->Field("alias")) alias->op = bound->text;
    }
    if (child->Is("wildcard_import")) alias->name = "*";
    OwnInto(made, &made->args, alias);
  }
  return made;
}

PyNode* PythonBuilder::Assignment(const SyntaxNode* node) {
  const SyntaxNode* left = node->Field("left");
  const SyntaxNode* right = node->Field("right");
  if (node->Is("augmented_assignment")) {
    PyNode* made = Make(PyKind::kAugAssign, node);
    if (left != nullptr) made->target = Own(made, Expression(left));
    if (const SyntaxNode* op = node->Field("operator"))
      made->op = op->text.empty() ? op->text : op->text.substr(0, op->text.size() - 1);
    if (right != nullptr) made->value = Own(made, Expression(right));
    return made;
  }
  if (const SyntaxNode* type = node->Field("type")) {
    PyNode* made = Make(PyKind::kAnnAssign, node);
    if (left != nullptr) made->target = Own(made, Expression(left));
    made->annotation = Own(made, Expression(type));
    if (right != nullptr) made->value = Own(made, Expression(right));
    return made;
  }
  PyNode* made = Make(PyKind::kAssign, node);
  if (left != nullptr) OwnInto(made, &made->args, Expression(left));
  // tree-sitter nests `a = b = c` on the right.
  while (right != nullptr && right->Is("assignment") && right->Field("type") == nullptr) {
    if (const SyntaxNode* next_left = right->Field("left")) OwnInto(made, &made->args, Expression(next_left));
    right = right->Field("right");
  }
  if (right != nullptr) made->value = Own(made, Expression(right));
  return made;
}

}  // namespace hone
