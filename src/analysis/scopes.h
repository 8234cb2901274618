// Names of one Python file: what each scope binds, what an imported name stands for, and which code a run
// of ModelNew can reach. Flow-insensitive on purpose: a name bound anywhere in a scope counts as bound there.
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
  const PyNode* node = nullptr;   // the statement, parameter, definition or import alias that binds
  const PyNode* value = nullptr;  // the expression, when the name gets exactly that; null otherwise
};

using ScopeNames = std::unordered_map<std::string_view, std::vector<Binding>>;

class Scopes {
 public:
  explicit Scopes(const PyTree& tree);

  const PyNode* module() const { return module_; }
  // The innermost function, lambda or module around the node (a definition's own name is outside itself).
  const PyNode* ScopeOf(const PyNode* node) const;
  const ScopeNames& NamesIn(const PyNode* scope) const;
  // The bindings that a use of `name` at `at` sees; empty when there are none. `scope` gets where.
  const std::vector<Binding>* Find(std::string_view name, const PyNode* at,
                                   const PyNode** scope = nullptr) const;

  // "triton.language.arange" for `tl.arange`; "" when the expression is not a chain of names. Names that no
  // import explains stay as they are written.
  std::string Resolve(const PyNode* expression) const;
  bool has_star_import() const { return star_import_; }

  // Every assignment to `self.<attribute>` (or class-level `attribute = `) in the class.
  std::vector<Binding> AttributeBindings(const PyNode* class_node, std::string_view attribute) const;

  // The functions of that name anywhere in the file, methods included.
  std::vector<const PyNode*> FunctionsNamed(std::string_view name) const;
  const PyNode* ClassNamed(std::string_view name) const;
  const std::vector<const PyNode*>& functions() const { return functions_; }
  const std::vector<const PyNode*>& calls() const { return calls_; }

  // Whether running the file's ModelNew (or, without one, anything in it) can reach the node, not counting
  // code whose failure a surrounding `try` swallows.
  bool Runs(const PyNode* node) const;
  // The same, counting guarded code too: a launch in a `try` with a fallback may well run.
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

// Whether a `try` around the node catches what goes wrong there and carries on.
bool IsGuarded(const PyNode* node);
// After a `return` or `raise` in the same block, or under `if __name__ == "__main__"`.
bool IsDead(const PyNode* node);
// Under an `if` of its function whose outcome the text does not show.
bool IsConditional(const PyNode* node);

}  // namespace hone
