// name-not-defined: nothing in scope binds a name, in kernels (by Triton's rules) or on the host.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "analysis/usual_imports.h"
#include "base/text.h"

namespace hone {

namespace {

const std::set<std::string_view>& HostBuiltins() {
  static const std::set<std::string_view> kNames = {"ArithmeticError",
                                                    "AssertionError",
                                                    "AttributeError",
                                                    "BaseException",
                                                    "BaseExceptionGroup",
                                                    "BlockingIOError",
                                                    "BrokenPipeError",
                                                    "ConnectionAbortedError",
                                                    "ConnectionRefusedError",
                                                    "ConnectionResetError",
                                                    "EncodingWarning",
                                                    "UnicodeTranslateError",
                                                    "BufferError",
                                                    "BytesWarning",
                                                    "ChildProcessError",
                                                    "ConnectionError",
                                                    "DeprecationWarning",
                                                    "EOFError",
                                                    "Ellipsis",
                                                    "EnvironmentError",
                                                    "Exception",
                                                    "ExceptionGroup",
                                                    "False",
                                                    "FileExistsError",
                                                    "FileNotFoundError",
                                                    "FloatingPointError",
                                                    "FutureWarning",
                                                    "GeneratorExit",
                                                    "IOError",
                                                    "ImportError",
                                                    "ImportWarning",
                                                    "IndentationError",
                                                    "IndexError",
                                                    "InterruptedError",
                                                    "IsADirectoryError",
                                                    "KeyError",
                                                    "KeyboardInterrupt",
                                                    "LookupError",
                                                    "MemoryError",
                                                    "ModuleNotFoundError",
                                                    "NameError",
                                                    "None",
                                                    "NotADirectoryError",
                                                    "NotImplemented",
                                                    "NotImplementedError",
                                                    "OSError",
                                                    "OverflowError",
                                                    "PendingDeprecationWarning",
                                                    "PermissionError",
                                                    "ProcessLookupError",
                                                    "RecursionError",
                                                    "ReferenceError",
                                                    "ResourceWarning",
                                                    "RuntimeError",
                                                    "RuntimeWarning",
                                                    "StopAsyncIteration",
                                                    "StopIteration",
                                                    "SyntaxError",
                                                    "SyntaxWarning",
                                                    "SystemError",
                                                    "SystemExit",
                                                    "TabError",
                                                    "TimeoutError",
                                                    "True",
                                                    "TypeError",
                                                    "UnboundLocalError",
                                                    "UnicodeDecodeError",
                                                    "UnicodeEncodeError",
                                                    "UnicodeError",
                                                    "UnicodeWarning",
                                                    "UserWarning",
                                                    "ValueError",
                                                    "Warning",
                                                    "ZeroDivisionError",
                                                    "__annotations__",
                                                    "__build_class__",
                                                    "__builtins__",
                                                    "__class__",
                                                    "__debug__",
                                                    "__dict__",
                                                    "__doc__",
                                                    "__file__",
                                                    "__import__",
                                                    "__loader__",
                                                    "__module__",
                                                    "__name__",
                                                    "__package__",
                                                    "__path__",
                                                    "__qualname__",
                                                    "__spec__",
                                                    "abs",
                                                    "aiter",
                                                    "all",
                                                    "anext",
                                                    "any",
                                                    "ascii",
                                                    "bin",
                                                    "bool",
                                                    "breakpoint",
                                                    "bytearray",
                                                    "bytes",
                                                    "callable",
                                                    "chr",
                                                    "classmethod",
                                                    "compile",
                                                    "complex",
                                                    "copyright",
                                                    "credits",
                                                    "delattr",
                                                    "dict",
                                                    "dir",
                                                    "divmod",
                                                    "enumerate",
                                                    "eval",
                                                    "exec",
                                                    "exit",
                                                    "filter",
                                                    "float",
                                                    "format",
                                                    "frozenset",
                                                    "getattr",
                                                    "globals",
                                                    "hasattr",
                                                    "hash",
                                                    "help",
                                                    "hex",
                                                    "id",
                                                    "input",
                                                    "int",
                                                    "isinstance",
                                                    "issubclass",
                                                    "iter",
                                                    "len",
                                                    "license",
                                                    "list",
                                                    "locals",
                                                    "map",
                                                    "max",
                                                    "memoryview",
                                                    "min",
                                                    "next",
                                                    "object",
                                                    "oct",
                                                    "open",
                                                    "ord",
                                                    "pow",
                                                    "print",
                                                    "property",
                                                    "quit",
                                                    "range",
                                                    "repr",
                                                    "reversed",
                                                    "round",
                                                    "set",
                                                    "setattr",
                                                    "slice",
                                                    "sorted",
                                                    "staticmethod",
                                                    "str",
                                                    "sum",
                                                    "super",
                                                    "tuple",
                                                    "type",
                                                    "vars",
                                                    "zip"};
  return kNames;
}

bool IsInKernelBody(const Kernels& kernels, const Scopes& scopes, const PyNode* node) {
  for (const PyNode* scope = scopes.ScopeOf(node); scope != scopes.module(); scope = scopes.ScopeOf(scope))
    if (kernels.OfFunction(scope) != nullptr) return true;
  return false;
}

bool AnnotationsAreText(const Candidate& candidate) {
  for (const PyNode* statement : candidate.python->tree.module->body)
    if (statement->Is(PyKind::kImportFrom) && statement->name == "__future__") return true;
  return false;
}

bool IsUnevaluatedAnnotation(const Scopes& scopes, const PyNode* node, bool text_annotations) {
  for (const PyNode* at = node; at->parent != nullptr; at = at->parent) {
    const PyNode* parent = at->parent;
    const bool is_return = parent->Is(PyKind::kFunction) && parent->value == at;
    if (parent->annotation == at || is_return) {
      if (text_annotations) return true;
      if (parent->Is(PyKind::kAnnAssign)) return scopes.ScopeOf(parent) != scopes.module();
      return false;
    }
  }
  return false;
}

void CheckHostNames(const Candidate& candidate, FindingSink* sink) {
  const Scopes& scopes = *candidate.python->scopes;
  const Kernels& kernels = *candidate.python->kernels;
  if (scopes.has_star_import()) return;
  for (const PyNode* call : scopes.calls()) {
    // Names created at run time cannot be known.
    if (call->value != nullptr &&
        (call->value->IsName("exec") || call->value->IsName("globals") || call->value->IsName("setattr")))
      return;
  }
  const bool text_annotations = AnnotationsAreText(candidate);
  std::set<std::string_view> said;
  WalkPython(candidate.python->tree.module, [&](const PyNode* node) {
    if (node->Is(PyKind::kOtherStmt) || node->Is(PyKind::kError)) return false;
    if (!node->Is(PyKind::kName) || HostBuiltins().count(node->name) != 0 || said.count(node->name) != 0)
      return true;
    if (scopes.Find(node->name, node) != nullptr) return true;
    if (IsInKernelBody(kernels, scopes, node)) return true;
    if (IsUnevaluatedAnnotation(scopes, node, text_annotations)) return true;
    // A `del`, or a try that catches NameError, may explain the missing name.
    const bool runs = scopes.Runs(node);
    if (!runs && IsGuarded(node)) return true;
    said.insert(node->name);
    const std::string_view import = UsualImport(node->name);
    sink->Add(node, runs ? Severity::kError : Severity::kWarning,
              fmt::format("{} is not defined: nothing in the file assigns or imports it", node->name),
              !import.empty() ? fmt::format("Add: {}", import)
                              : fmt::format("Define {} or pass it in.", node->name));
    return true;
  });
}

}  // namespace

void CheckNameNotDefined(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr || candidate.python->syntax.first_error() != nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    for (const KernelProblem& problem : trace.problems) {
      if (problem.kind != ProblemKind::kUndefinedName) continue;
      sink->AddProblem(problem, fmt::format("{} is not defined here: {}", problem.subject, problem.detail),
                       problem.fix);
    }
  }
  CheckHostNames(candidate, sink);
}

}  // namespace hone
