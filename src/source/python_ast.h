// Python as an abstract syntax tree, shaped like CPython's own `ast` module, because Triton's front end walks
// that and the analysis must agree with it. There is one node type with named slots. A comment beside each
// kind lists the slots it uses. Parentheses and comments are dropped; `a and b and c` is one BoolOp with
// three operands.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "source/syntax_tree.h"

namespace hone {

enum class PyKind : uint8_t {
  kModule,      // body
  kFunction,    // name, params, value = return annotation, body, decorators
  kClass,       // name, args = bases, keywords, body, decorators
  kParam,       // name, annotation, value = default, op = "*", "**" or ""
  kReturn,      // value
  kDelete,      // args
  kAssign,      // args = targets, value
  kAugAssign,   // target, op without "=", value
  kAnnAssign,   // target, annotation, value
  kFor,         // target, value = iterated, body, orelse
  kWhile,       // test, body, orelse
  kIf,          // test, body, orelse
  kWith,        // args = WithItem, body
  kWithItem,    // value, target
  kRaise,       // args
  kTry,         // body, args = ExceptHandler, orelse, finally
  kHandler,     // value = type, name, body
  kAssert,      // test, value = message
  kImport,      // args = Alias
  kImportFrom,  // name = module, args = Alias
  kAlias,       // name, op = bound name ("" when the same)
  kGlobal,      // args = Name (nonlocal too)
  kExprStmt,    // value
  kPass,
  kBreak,
  kContinue,
  kOtherStmt,      // match, type alias, Python 2 statements: children only
  kBoolOp,         // op, args
  kNamedExpr,      // target, value
  kBinOp,          // left, op, right
  kUnaryOp,        // op, value
  kLambda,         // params, value
  kIfExp,          // test, left = then, right = else
  kDict,           // keys (null for **), args = values
  kSet,            // args
  kList,           // args
  kTuple,          // args
  kComprehension,  // op = "list", "set", "dict" or "generator", value = element, args = CompFor
  kCompFor,        // target, value = iterated, keys = conditions
  kAwait,          // value
  kYield,          // value
  kCompare,        // left, ops, args = comparators
  kCall,           // value = callee, args (Starred inside), keywords
  kKeyword,        // name ("" for **), value
  kFString,        // args = interpolated expressions
  kString,         // string
  kInt,            // integer (`big` is set if it does not fit)
  kFloat,          // number
  kTrue,
  kFalse,
  kNone,
  kEllipsis,
  kAttribute,  // value, name
  kSubscript,  // value, target = index (Tuple when there are several)
  kSlice,      // left, right, test = step
  kStarred,    // value
  kName,       // name
  kError,      // text that does not parse, or nesting beyond the limit
};

struct PyNode {
  PyKind kind = PyKind::kError;
  bool big = false;
  uint32_t start = 0;
  uint32_t end = 0;
  std::string_view name;
  std::string_view op;
  std::string string;
  int64_t integer = 0;
  double number = 0;
  PyNode* parent = nullptr;
  PyNode* left = nullptr;
  PyNode* right = nullptr;
  PyNode* value = nullptr;
  PyNode* target = nullptr;
  PyNode* test = nullptr;
  PyNode* annotation = nullptr;
  std::vector<PyNode*> params;
  std::vector<PyNode*> args;
  std::vector<PyNode*> keywords;
  std::vector<PyNode*> keys;
  std::vector<PyNode*> body;
  std::vector<PyNode*> orelse;
  std::vector<PyNode*> finally;
  std::vector<PyNode*> decorators;
  std::vector<std::string_view> ops;
  // Every direct child in text order.
  std::vector<PyNode*> children;

  bool Is(PyKind k) const { return kind == k; }
  bool IsName(std::string_view n) const { return kind == PyKind::kName && name == n; }
  // The value of a keyword argument of a call, or null.
  PyNode* Keyword(std::string_view n) const;
};

struct PyComment {
  uint32_t start = 0;
  std::string_view text;
};

struct PyTree {
  std::deque<PyNode> nodes;
  PyNode* module = nullptr;
  std::vector<PyComment> comments;
};

// `syntax` and the text under it must outlive the result.
PyTree BuildPythonTree(const SyntaxTree& syntax);

// Calls `visit` on the node and its descendants, parents first. If it returns false, the descendants are
// skipped.
void WalkPython(const PyNode* node, const std::function<bool(const PyNode*)>& visit);

// "a.b.c" for a Name or a chain of Attributes on one, else "".
std::string DottedName(const PyNode* node);

// The enclosing function or class of the node, or null.
const PyNode* EnclosingFunction(const PyNode* node);
const PyNode* EnclosingClass(const PyNode* node);
bool IsInside(const PyNode* node, const PyNode* ancestor);

}  // namespace hone
