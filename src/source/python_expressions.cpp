// Converts expressions from the concrete to the abstract tree. See python_builder.h.
#include <charconv>
#include <cstdlib>
#include <string>

#include "source/python_builder.h"

namespace hone {

namespace {

bool IsToken(const SyntaxNode* node) {
  return node->named && !node->Is("comment") && !node->Is("line_continuation");
}

void AppendEscape(std::string_view escape, std::string* out) {
  if (escape.size() < 2) return;
  switch (escape[1]) {
    case 'n':
      out->push_back('\n');
      return;
    case 't':
      out->push_back('\t');
      return;
    case 'r':
      out->push_back('\r');
      return;
    case '\\':
      out->push_back('\\');
      return;
    case '\'':
      out->push_back('\'');
      return;
    case '"':
      out->push_back('"');
      return;
    case '\n':
      return;
    default:
      out->append(escape);
  }
}

}  // namespace

PyNode* PythonBuilder::Expression(const SyntaxNode* node) {
  if (depth_ >= kMaxDepth) return Make(PyKind::kError, node);
  ++depth_;
  PyNode* made = ExpressionAtDepth(node);
  --depth_;
  return made;
}

PyNode* PythonBuilder::ExpressionAtDepth(const SyntaxNode* node) {
  const std::string_view type = node->type;
  if (type == "identifier") {
    PyNode* made = Make(PyKind::kName, node);
    made->name = node->text;
    return made;
  }
  if (type == "parenthesized_expression" || type == "type") {
    const SyntaxNode* inner = node->FirstNamed();
    return inner != nullptr ? Expression(inner) : Make(PyKind::kError, node);
  }
  if (type == "attribute") {
    PyNode* made = Make(PyKind::kAttribute, node);
    if (const SyntaxNode* object = node->Field("object")) made->value = Own(made, Expression(object));
    if (const SyntaxNode* attribute = node->Field("attribute")) made->name = attribute->text;
    return made;
  }
  if (type == "call") return Call(node);
  if (type == "integer" || type == "float") return Number(node);
  if (type == "string" || type == "concatenated_string") return String(node);
  if (type == "true") return Make(PyKind::kTrue, node);
  if (type == "false") return Make(PyKind::kFalse, node);
  if (type == "none") return Make(PyKind::kNone, node);
  if (type == "ellipsis") return Make(PyKind::kEllipsis, node);
  if (type == "binary_operator" || type == "unary_operator" || type == "not_operator") return Operator(node);
  if (type == "boolean_operator") return BoolOp(node);
  if (type == "comparison_operator") return Compare(node);
  if (type == "subscript") return Subscript(node);
  if (type == "slice") return Slice(node);
  if (type == "generic_type") {
    // Optional[Tensor] in an annotation is treated as a subscript.
    PyNode* made = Make(PyKind::kSubscript, node);
    if (const SyntaxNode* name = node->FirstNamed()) made->value = Own(made, Expression(name));
    if (const SyntaxNode* parameters = node->ChildOfType("type_parameter"))
      made->target = Own(made, Sequence(PyKind::kTuple, parameters));
    return made;
  }
  if (type == "union_type") return Sequence(PyKind::kTuple, node);
  if (type == "tuple" || type == "expression_list" || type == "pattern_list" || type == "tuple_pattern")
    return Sequence(PyKind::kTuple, node);
  if (type == "list" || type == "list_pattern") return Sequence(PyKind::kList, node);
  if (type == "set") return Sequence(PyKind::kSet, node);
  if (type == "dictionary") return Dict(node);
  if (type == "list_comprehension") return Comprehension(node, "list");
  if (type == "set_comprehension") return Comprehension(node, "set");
  if (type == "dictionary_comprehension") return Comprehension(node, "dict");
  if (type == "generator_expression") return Comprehension(node, "generator");
  if (type == "conditional_expression") {
    PyNode* made = Make(PyKind::kIfExp, node);
    for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
      if (!IsToken(child)) continue;
      PyNode*& slot = made->left == nullptr ? made->left : made->test == nullptr ? made->test : made->right;
      if (slot == nullptr) slot = Own(made, Expression(child));
    }
    return made;
  }
  if (type == "lambda") {
    PyNode* made = Make(PyKind::kLambda, node);
    if (const SyntaxNode* parameters = node->Field("parameters")) Parameters(parameters, made);
    if (const SyntaxNode* body = node->Field("body")) made->value = Own(made, Expression(body));
    return made;
  }
  if (type == "named_expression" || type == "as_pattern") {
    PyNode* made = Make(PyKind::kNamedExpr, node);
    const bool pattern = type == "as_pattern";
    const SyntaxNode* value = pattern ? node->FirstNamed() : node->Field("value");
    const SyntaxNode* target = node->Field(pattern ? "alias" : "name");
    if (target != nullptr && target->Is("as_pattern_target")) target = target->FirstNamed();
    if (target != nullptr) made->target = Own(made, Expression(target));
    if (value != nullptr) made->value = Own(made, Expression(value));
    return made;
  }
  if (type == "list_splat" || type == "list_splat_pattern" || type == "dictionary_splat" || type == "await" ||
      type == "yield") {
    PyNode* made = Make(type == "await"   ? PyKind::kAwait
                        : type == "yield" ? PyKind::kYield
                                          : PyKind::kStarred,
                        node);
    if (const SyntaxNode* inner = node->FirstNamed()) made->value = Own(made, Expression(inner));
    return made;
  }
  PyNode* made = Make(PyKind::kError, node);
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
    if (IsToken(child)) OwnInto(made, &made->args, Expression(child));
  return made;
}

PyNode* PythonBuilder::Sequence(PyKind kind, const SyntaxNode* node) {
  PyNode* made = Make(kind, node);
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
    if (IsToken(child)) OwnInto(made, &made->args, Expression(child));
  return made;
}

PyNode* PythonBuilder::Operator(const SyntaxNode* node) {
  if (node->Is("binary_operator")) {
    PyNode* made = Make(PyKind::kBinOp, node);
    if (const SyntaxNode* left = node->Field("left")) made->left = Own(made, Expression(left));
    if (const SyntaxNode* op = node->Field("operator")) made->op = op->text;
    if (const SyntaxNode* right = node->Field("right")) made->right = Own(made, Expression(right));
    return made;
  }
  PyNode* made = Make(PyKind::kUnaryOp, node);
  made->op = "not";
  if (const SyntaxNode* op = node->Field("operator")) made->op = op->text;
  if (const SyntaxNode* argument = node->Field("argument")) made->value = Own(made, Expression(argument));
  return made;
}

PyNode* PythonBuilder::BoolOp(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kBoolOp, node);
  if (const SyntaxNode* op = node->Field("operator")) made->op = op->text;
  // A chain of the same operator is one node in CPython's tree; tree-sitter nests it on the left.
  std::vector<const SyntaxNode*> operands;
  const SyntaxNode* at = node;
  while (true) {
    if (const SyntaxNode* right = at->Field("right")) operands.push_back(right);
    const SyntaxNode* left = at->Field("left");
    if (left == nullptr) break;
    const SyntaxNode* op = left->Is("boolean_operator") ? left->Field("operator") : nullptr;
    if (op != nullptr && op->text == made->op) {
      at = left;
      continue;
    }
    operands.push_back(left);
    break;
  }
  for (auto it = operands.rbegin(); it != operands.rend(); ++it) OwnInto(made, &made->args, Expression(*it));
  return made;
}

PyNode* PythonBuilder::Compare(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kCompare, node);
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->field == "operators" || !child->named) {
      // "not in" and "is not" are one operator written as two words.
      made->ops.push_back(child->text);
      continue;
    }
    if (!IsToken(child)) continue;
    if (made->left == nullptr)
      made->left = Own(made, Expression(child));
    else
      OwnInto(made, &made->args, Expression(child));
  }
  return made;
}

PyNode* PythonBuilder::Call(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kCall, node);
  if (const SyntaxNode* function = node->Field("function")) made->value = Own(made, Expression(function));
  if (const SyntaxNode* arguments = node->Field("arguments")) {
    if (arguments->Is("generator_expression"))
      OwnInto(made, &made->args, Expression(arguments));
    else
      Arguments(arguments, made);
  }
  return made;
}

void PythonBuilder::Arguments(const SyntaxNode* list, PyNode* call) {
  for (const SyntaxNode* child = list->first_child; child != nullptr; child = child->next) {
    if (!IsToken(child)) continue;
    if (child->Is("keyword_argument") || child->Is("dictionary_splat")) {
      PyNode* keyword = Make(PyKind::kKeyword, child);
      const SyntaxNode* value = child->Field("value");
      if (child->Is("dictionary_splat")) value = child->FirstNamed();
      if (const SyntaxNode* name = child->Field("name")) keyword->name = name->text;
      if (value != nullptr) keyword->value = Own(keyword, Expression(value));
      OwnInto(call, &call->keywords, keyword);
    } else {
      OwnInto(call, &call->args, Expression(child));
    }
  }
}

PyNode* PythonBuilder::Subscript(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kSubscript, node);
  if (const SyntaxNode* value = node->Field("value")) made->value = Own(made, Expression(value));
  std::vector<const SyntaxNode*> indices;
  bool comma = false;
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->field == "subscript" && IsToken(child)) indices.push_back(child);
    if (child->Is(",")) comma = true;
  }
  if (indices.empty()) return made;
  if (indices.size() == 1 && !comma) {
    made->target = Own(made, Expression(indices[0]));
    return made;
  }
  PyNode* tuple = Make(PyKind::kTuple, indices[0]);
  tuple->end = indices.back()->end;
  for (const SyntaxNode* index : indices) OwnInto(tuple, &tuple->args, Expression(index));
  made->target = Own(made, tuple);
  return made;
}

PyNode* PythonBuilder::Slice(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kSlice, node);
  int part = 0;
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->Is(":")) ++part;
    if (!IsToken(child)) continue;
    PyNode*& slot = part == 0 ? made->left : part == 1 ? made->right : made->test;
    if (slot == nullptr) slot = Own(made, Expression(child));
  }
  return made;
}

PyNode* PythonBuilder::Comprehension(const SyntaxNode* node, std::string_view what) {
  PyNode* made = Make(PyKind::kComprehension, node);
  made->op = what;
  if (const SyntaxNode* body = node->Field("body")) {
    if (body->Is("pair")) {
      PyNode* pair = Make(PyKind::kTuple, body);
      if (const SyntaxNode* key = body->Field("key")) OwnInto(pair, &pair->args, Expression(key));
      if (const SyntaxNode* value = body->Field("value")) OwnInto(pair, &pair->args, Expression(value));
      made->value = Own(made, pair);
    } else {
      made->value = Own(made, Expression(body));
    }
  }
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->Is("for_in_clause")) {
      PyNode* clause = Make(PyKind::kCompFor, child);
      if (const SyntaxNode* left = child->Field("left")) clause->target = Own(clause, Expression(left));
      if (const SyntaxNode* right = child->Field("right")) clause->value = Own(clause, Expression(right));
      OwnInto(made, &made->args, clause);
    } else if (child->Is("if_clause") && !made->args.empty()) {
      if (const SyntaxNode* test = child->FirstNamed())
        OwnInto(made->args.back(), &made->args.back()->keys, Expression(test));
    }
  }
  return made;
}

PyNode* PythonBuilder::Dict(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kDict, node);
  for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next) {
    if (child->Is("pair")) {
      const SyntaxNode* key = child->Field("key");
      const SyntaxNode* value = child->Field("value");
      if (key == nullptr || value == nullptr) continue;
      made->keys.push_back(Own(made, Expression(key)));
      OwnInto(made, &made->args, Expression(value));
    } else if (child->Is("dictionary_splat")) {
      if (const SyntaxNode* inner = child->FirstNamed()) {
        made->keys.push_back(nullptr);
        OwnInto(made, &made->args, Expression(inner));
      }
    }
  }
  return made;
}

PyNode* PythonBuilder::String(const SyntaxNode* node) {
  PyNode* made = Make(PyKind::kString, node);
  for (const SyntaxNode* at = node; at != nullptr;) {
    if (at->Is("interpolation")) {
      made->kind = PyKind::kFString;
      if (const SyntaxNode* inner = at->FirstNamed()) OwnInto(made, &made->args, Expression(inner));
      at = NextSkippingChildren(at, node);
      continue;
    }
    if (at->Is("string_start") && at->text.find_first_of("fF") != std::string_view::npos)
      made->kind = PyKind::kFString;
    if (at->Is("string_content")) {
      const bool raw = at->parent != nullptr && at->parent->first_child != nullptr &&
                       at->parent->first_child->text.find_first_of("rR") != std::string_view::npos;
      if (at->first_child == nullptr || raw) {
        made->string.append(at->text);
      } else {
        uint32_t done = at->start;
        for (const SyntaxNode* child = at->first_child; child != nullptr; child = child->next) {
          made->string.append(at->text.substr(done - at->start, child->start - done));
          if (child->Is("escape_sequence"))
            AppendEscape(child->text, &made->string);
          else
            made->string.append(child->text);
          done = child->end;
        }
        made->string.append(at->text.substr(done - at->start));
      }
      at = NextSkippingChildren(at, node);
      continue;
    }
    at = NextInDocument(at, node);
  }
  return made;
}

PyNode* PythonBuilder::Number(const SyntaxNode* node) {
  std::string digits;
  for (char c : node->text)
    if (c != '_') digits.push_back(c);
  PyNode* made = Make(node->Is("float") ? PyKind::kFloat : PyKind::kInt, node);
  if (made->Is(PyKind::kFloat)) {
    made->number = std::strtod(digits.c_str(), nullptr);
    return made;
  }
  int base = 10;
  const char* first = digits.data();
  const char* last = digits.data() + digits.size();
  if (digits.size() > 2 && digits[0] == '0') {
    if (digits[1] == 'x' || digits[1] == 'X') base = 16;
    if (digits[1] == 'o' || digits[1] == 'O') base = 8;
    if (digits[1] == 'b' || digits[1] == 'B') base = 2;
    if (base != 10) first += 2;
  }
  const auto [end, error] = std::from_chars(first, last, made->integer, base);
  if (error != std::errc() || end != last) made->big = true;
  made->number = static_cast<double>(made->integer);
  return made;
}

}  // namespace hone
