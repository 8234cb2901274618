#include "analysis/scopes.h"

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

// Parameters, decorators and the return annotation belong to the enclosing scope of a function.
bool IsOutsideBody(const PyNode* function, const PyNode* child) {
  return child->Is(PyKind::kParam) || child == function->value ||
         std::find(function->decorators.begin(), function->decorators.end(), child) !=
             function->decorators.end();
}

}  // namespace

Scopes::Scopes(const PyTree& tree) : module_(tree.module) {
  names_[module_];
  for (const PyNode* statement : module_->children) Collect(statement, module_);
  running_ = FindReachable(false);
  maybe_running_ = FindReachable(true);
}

void Scopes::BindTarget(const PyNode* target, const PyNode* value, const PyNode* statement,
                        const PyNode* scope) {
  if (target == nullptr) return;
  switch (target->kind) {
    case PyKind::kName:
      names_[scope][target->name].push_back({statement, value});
      return;
    case PyKind::kTuple:
    case PyKind::kList: {
      const bool matching = value != nullptr && (value->Is(PyKind::kTuple) || value->Is(PyKind::kList)) &&
                            value->args.size() == target->args.size();
      for (size_t i = 0; i < target->args.size(); ++i)
        BindTarget(target->args[i], matching ? value->args[i] : nullptr, statement, scope);
      return;
    }
    case PyKind::kStarred:
      BindTarget(target->value, nullptr, statement, scope);
      return;
    default:
      return;
  }
}

void Scopes::BindImport(const PyNode* node, const PyNode* scope) {
  for (const PyNode* alias : node->args) {
    if (alias->name == "*") {
      star_import_ = true;
      continue;
    }
    const std::string_view bound = alias->op.empty() ? alias->name : alias->op;
    if (node->Is(PyKind::kImport)) {
      // `import a.b` binds a; `import a.b as c` binds c to a.b.
      const std::string_view first = bound.substr(0, bound.find('.'));
      names_[scope][first].push_back({alias, nullptr});
      imports_[first] = std::string(alias->op.empty() ? first : alias->name);
    } else {
      names_[scope][bound].push_back({alias, nullptr});
      imports_[bound] = std::string(node->name) + "." + std::string(alias->name);
    }
  }
}

void Scopes::Collect(const PyNode* node, const PyNode* scope) {
  switch (node->kind) {
    case PyKind::kFunction:
      names_[scope][node->name].push_back({node, nullptr});
      functions_.push_back(node);
      names_[node];
      for (const PyNode* param : node->params) names_[node][param->name].push_back({param, nullptr});
      for (const PyNode* child : node->children) {
        const bool outside = IsOutsideBody(node, child);
        if (child->Is(PyKind::kParam)) {
          for (const PyNode* part : child->children) Collect(part, scope);
        } else {
          Collect(child, outside ? scope : node);
        }
      }
      return;
    case PyKind::kLambda:
      names_[node];
      for (const PyNode* param : node->params) {
        names_[node][param->name].push_back({param, nullptr});
        for (const PyNode* part : param->children) Collect(part, scope);
      }
      if (node->value != nullptr) Collect(node->value, node);
      return;
    case PyKind::kClass:
      names_[scope][node->name].push_back({node, nullptr});
      classes_.push_back(node);
      // Names of a class body are looked up as if they were in the enclosing scope, which is lenient.
      break;
    case PyKind::kAssign:
      for (const PyNode* target : node->args) BindTarget(target, node->value, node, scope);
      break;
    case PyKind::kAugAssign:
      BindTarget(node->target, nullptr, node, scope);
      break;
    case PyKind::kAnnAssign:
    case PyKind::kNamedExpr:
      BindTarget(node->target, node->value, node, scope);
      break;
    case PyKind::kFor:
    case PyKind::kCompFor:
    case PyKind::kWithItem:
      BindTarget(node->target, nullptr, node, scope);
      break;
    case PyKind::kHandler:
      if (!node->name.empty()) names_[scope][node->name].push_back({node, nullptr});
      break;
    case PyKind::kImport:
    case PyKind::kImportFrom:
      BindImport(node, scope);
      break;
    case PyKind::kGlobal:
      for (const PyNode* name : node->args) {
        names_[scope][name->name].push_back({node, nullptr});
        names_[module_][name->name].push_back({node, nullptr});
      }
      return;
    case PyKind::kOtherStmt:
      // This tree does not distinguish names that a `match` pattern binds from uses.
      WalkPython(node, [&](const PyNode* part) {
        if (part->Is(PyKind::kName)) names_[scope][part->name].push_back({node, nullptr});
        return true;
      });
      break;
    case PyKind::kCall:
      calls_.push_back(node);
      break;
    default:
      break;
  }
  for (const PyNode* child : node->children) Collect(child, scope);
}

const PyNode* Scopes::ScopeOf(const PyNode* node) const {
  const PyNode* below = node;
  for (const PyNode* at = node->parent; at != nullptr; below = at, at = at->parent) {
    if (at->Is(PyKind::kLambda)) return at;
    if (at->Is(PyKind::kFunction) && !IsOutsideBody(at, below)) return at;
  }
  return module_;
}

const ScopeNames& Scopes::NamesIn(const PyNode* scope) const {
  static const ScopeNames kNone;
  const auto it = names_.find(scope);
  return it == names_.end() ? kNone : it->second;
}

const std::vector<Binding>* Scopes::Find(std::string_view name, const PyNode* at,
                                         const PyNode** scope) const {
  const PyNode* here = at->Is(PyKind::kModule) ? at : ScopeOf(at);
  while (here != nullptr) {
    const ScopeNames& names = NamesIn(here);
    const auto it = names.find(name);
    if (it != names.end()) {
      if (scope != nullptr) *scope = here;
      return &it->second;
    }
    if (here == module_) break;
    here = ScopeOf(here);
  }
  return nullptr;
}

std::string Scopes::Resolve(const PyNode* expression) const {
  std::string dotted = DottedName(expression);
  // A few steps suffice for `tl = triton.language` and the like. More would be a cycle.
  for (int step = 0; step < 4 && !dotted.empty(); ++step) {
    const size_t dot = dotted.find('.');
    const std::string first = dotted.substr(0, dot);
    const std::string rest = dot == std::string::npos ? "" : dotted.substr(dot);
    const auto import = imports_.find(first);
    if (import != imports_.end()) return import->second + rest;
    const std::vector<Binding>* bindings = Find(first, expression);
    if (bindings == nullptr || bindings->size() != 1 || bindings->front().value == nullptr) return dotted;
    const std::string target = DottedName(bindings->front().value);
    if (target.empty() || target == first) return dotted;
    dotted = target + rest;
  }
  return dotted;
}

std::vector<Binding> Scopes::AttributeBindings(const PyNode* class_node, std::string_view attribute) const {
  std::vector<Binding> out;
  WalkPython(class_node, [&](const PyNode* node) {
    if (node->Is(PyKind::kAssign)) {
      for (const PyNode* target : node->args) {
        const bool on_self =
            target->Is(PyKind::kAttribute) && target->name == attribute && target->value->IsName("self");
        const bool on_class = target->IsName(attribute) && node->parent == class_node;
        if (on_self || on_class) out.push_back({node, node->value});
        if (target->Is(PyKind::kTuple))
          for (const PyNode* part : target->args)
            if (part->Is(PyKind::kAttribute) && part->name == attribute) out.push_back({node, nullptr});
      }
    } else if ((node->Is(PyKind::kAugAssign) || node->Is(PyKind::kAnnAssign)) && node->target != nullptr &&
               node->target->Is(PyKind::kAttribute) && node->target->name == attribute) {
      out.push_back({node, node->Is(PyKind::kAnnAssign) ? node->value : nullptr});
    }
    return true;
  });
  return out;
}

std::vector<const PyNode*> Scopes::FunctionsNamed(std::string_view name) const {
  std::vector<const PyNode*> out;
  for (const PyNode* function : functions_)
    if (function->name == name) out.push_back(function);
  return out;
}

const PyNode* Scopes::ClassNamed(std::string_view name) const {
  const PyNode* found = nullptr;
  for (const PyNode* node : classes_)
    if (node->name == name) found = node;
  return found;
}

bool IsGuarded(const PyNode* node) {
  const PyNode* below = node;
  for (const PyNode* at = node->parent; at != nullptr; below = at, at = at->parent) {
    if (at->Is(PyKind::kFunction)) return false;
    if (!at->Is(PyKind::kTry) || at->args.empty()) continue;
    if (std::find(at->body.begin(), at->body.end(), below) == at->body.end()) continue;
    for (const PyNode* handler : at->args) {
      bool raises = false;
      WalkPython(handler, [&](const PyNode* part) {
        raises = raises || part->Is(PyKind::kRaise);
        return true;
      });
      if (!raises) return true;
    }
  }
  return false;
}

namespace {

bool IsMainGuard(const PyNode* node) {
  return node->Is(PyKind::kIf) && node->test != nullptr && node->test->Is(PyKind::kCompare) &&
         node->test->left != nullptr && node->test->left->IsName("__name__");
}

bool EndsBlock(const PyNode* statement) {
  return statement->Is(PyKind::kReturn) || statement->Is(PyKind::kRaise) ||
         statement->Is(PyKind::kContinue) || statement->Is(PyKind::kBreak);
}

bool IsAfterEnd(const std::vector<PyNode*>& block, const PyNode* statement) {
  for (const PyNode* other : block) {
    if (other == statement) return false;
    if (EndsBlock(other)) return std::find(block.begin(), block.end(), statement) != block.end();
  }
  return false;
}

// Methods that PyTorch or the judge calls even if the file does not.
bool RunsUnnamed(const PyNode* method) {
  return StartsWith(method->name, "__") || method->name == "forward" || method->name == "load_reference" ||
         method->name == "setup_context";
}

}  // namespace

bool IsConditional(const PyNode* node) {
  static constexpr std::string_view kKnownHere[] = {"is_cuda", "device", "is_available", "is_contiguous"};
  for (const PyNode* at = node->parent; at != nullptr && !at->Is(PyKind::kFunction); at = at->parent) {
    if (!at->Is(PyKind::kIf) || at->test == nullptr) continue;
    bool known = false;
    WalkPython(at->test, [&](const PyNode* part) {
      known = known ||
              std::find(std::begin(kKnownHere), std::end(kKnownHere), part->name) != std::end(kKnownHere);
      return true;
    });
    if (!known) return true;
  }
  return false;
}

bool IsDead(const PyNode* node) {
  const PyNode* below = node;
  for (const PyNode* at = node->parent; at != nullptr; below = at, at = at->parent) {
    if (IsMainGuard(at)) return true;
    if (IsAfterEnd(at->body, below) || IsAfterEnd(at->orelse, below)) return true;
  }
  return false;
}

std::set<const PyNode*> Scopes::FindReachable(bool with_guarded) const {
  std::set<const PyNode*> reached;
  const PyNode* model = ClassNamed("ModelNew");
  std::vector<const PyNode*> todo;
  const auto reach = [&](const PyNode* node) {
    if (reached.insert(node).second) todo.push_back(node);
  };
  if (model == nullptr) {
    for (const PyNode* function : functions_) reached.insert(function);
    for (const PyNode* node : classes_) reached.insert(node);
  } else {
    reach(model);
  }
  reach(module_);
  std::unordered_map<std::string_view, std::vector<const PyNode*>> by_name;
  for (const PyNode* function : functions_) by_name[function->name].push_back(function);
  for (const PyNode* node : classes_) by_name[node->name].push_back(node);

  while (!todo.empty()) {
    const PyNode* root = todo.back();
    todo.pop_back();
    const bool is_class = root->Is(PyKind::kClass);
    WalkPython(root, [&](const PyNode* node) {
      if (node == root) return true;
      if (node->Is(PyKind::kFunction) || node->Is(PyKind::kClass)) {
        // All methods of a used class may be called, a nested function only if it is named. Methods that
        // nothing names may never run: `backward` of an autograd.Function does not run in inference.
        if (is_class && node->parent == root && (with_guarded || RunsUnnamed(node))) reach(node);
        for (const PyNode* decorator : node->decorators) {
          WalkPython(decorator, [&](const PyNode* part) {
            if (part->Is(PyKind::kName))
              if (const auto it = by_name.find(part->name); it != by_name.end())
                for (const PyNode* target : it->second) reach(target);
            return true;
          });
        }
        return false;
      }
      if (IsMainGuard(node)) return false;
      if (!node->Is(PyKind::kName) && !node->Is(PyKind::kAttribute)) return true;
      const auto it = by_name.find(node->name);
      if (it == by_name.end() || (!with_guarded && IsGuarded(node)) || IsDead(node)) return true;
      for (const PyNode* target : it->second) reach(target);
      return true;
    });
  }
  return reached;
}

bool Scopes::MayRun(const PyNode* node) const {
  if (IsDead(node)) return false;
  const PyNode* function = node->Is(PyKind::kFunction) ? node : EnclosingFunction(node);
  while (function != nullptr) {
    if (maybe_running_.count(function) == 0) return false;
    function = EnclosingFunction(function);
  }
  return true;
}

bool Scopes::Runs(const PyNode* node) const {
  if (IsGuarded(node) || IsDead(node)) return false;
  const PyNode* function = node->Is(PyKind::kFunction) ? node : EnclosingFunction(node);
  while (function != nullptr) {
    if (running_.count(function) == 0) return false;
    function = EnclosingFunction(function);
  }
  return true;
}

}  // namespace hone
