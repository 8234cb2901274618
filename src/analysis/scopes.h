// Names of one Python file: what each scope binds, what an imported name refers to, and which code a run of
// ModelNew can reach. It is flow-insensitive by design: a name bound anywhere in a scope counts as bound
// there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/python_ast.h"

namespace hone {

struct Binding {
  const PyNode* node = nullptr;   // the binding statement, parameter, definition or import alias
  const PyNode* value = nullptr;  // the expression, if the name gets exactly its value; else null
};

using ScopeNames = std::unordered_map<std::string_view, std::vector<Binding>>;

class Scopes {
 public:
  explicit Scopes(const PyTree& tree);

  const PyNode* module() const { return module_; }
  // The innermost function, lambda or module around the node. A definition's own name is outside it.
  const PyNode* ScopeOf(const PyNode* node) const;
  const ScopeNames& NamesIn(const PyNode* scope) const;
  // The bindings that a use of `name` at `at` sees; empty if there are none. `scope` gets their scope.
  const std::vector<Binding>* Find(std::string_view name, const PyNode* at,
                                   const PyNode** scope = nullptr) const;

  // Returns "triton.language.arange" for `tl.arange`, and "" if the expression is not a chain of names. Names
  // without an import are returned as written.
  std::string Resolve(const PyNode* expression) const;
  bool has_star_import() const { return star_import_; }

  // Every assignment to `self.<attribute>` (or class-level `attribute = `) in the class.
  std::vector<Binding> AttributeBindings(const PyNode* class_node, std::string_view attribute) const;

  // The functions of that name anywhere in the file, methods included.
  std::vector<const PyNode*> FunctionsNamed(std::string_view name) const;
  const PyNode* ClassNamed(std::string_view name) const;
  const std::vector<const PyNode*>& functions() const { return functions_; }
  const std::vector<const PyNode*>& calls() const { return calls_; }

  // Whether running the file's ModelNew (or, without one, any of its code) can reach the node. Code whose
  // failure a surrounding `try` catches does not count.
  bool Runs(const PyNode* node) const;
  // The same, but guarded code counts: a launch in a `try` with a fallback may run.
  bool MayRun(const PyNode* node) const;

 private:
  void Collect(const PyNode* node, const PyNode* scope);
  void BindTarget(const PyNode* target, const PyNode* value, const PyNode* statement, const PyNode* scope);
  void BindImport(const PyNode* node, const PyNode* scope);
  std::set<const PyNode*> FindReachable(bool with_guarded) const;

  const PyNode* module_;
  std::unordered_map<const PyNode*, ScopeNames> names_;
  std::unordered_map<std::string_view, std::string> imports_;
  std::vector<const PyNode*> functions_;
  std::vector<const PyNode*> classes_;
  std::vector<const PyNode*> calls_;
  std::set<const PyNode*> running_;
  std::set<const PyNode*> maybe_running_;
  bool star_import_ = false;
};

// Whether a `try` around the node catches its failures and continues.
bool IsGuarded(const PyNode* node);
// True after a `return` or `raise` in the same block, or under `if __name__ == "__main__"`.
bool IsDead(const PyNode* node);
// True under an `if` of its function with an unknown condition.
bool IsConditional(const PyNode* node);

}  // namespace hone
