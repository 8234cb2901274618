#include "analysis/cuda_flow.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace hone {

namespace {

struct Local {
  std::string_view base;
  bool differs_by_block = false;
};

bool IsPlainLoop(const SyntaxNode* node) {
  return node->Is("for_statement") || node->Is("while_statement") || node->Is("do_statement");
}

class FlowReader {
 public:
  FlowReader(const SyntaxNode* definition, CudaFlow* flow) : definition_(definition), flow_(flow) {}

  void Read() {
    ReadParams();
    if (const SyntaxNode* body = definition_->Field("body")) Visit(body, 0);
  }

 private:
  void ReadParams() {
    for (const SyntaxNode* node = definition_; node != nullptr; node = NextInDocument(node, definition_)) {
      if (node->Is("compound_statement")) return;
      if (!node->Is("parameter_declaration")) continue;
      const SyntaxNode* at = node->Field("declarator");
      bool pointer = false;
      while (at != nullptr && !at->Is("identifier")) {
        pointer = pointer || at->Is("pointer_declarator") || at->Is("array_declarator");
        const SyntaxNode* inner = at->Field("declarator");
        if (inner == nullptr)
          for (const SyntaxNode* child = at->first_child; child != nullptr; child = child->next)
            if (child->Is("identifier") || child->Is("pointer_declarator")) inner = child;
        at = inner;
      }
      const std::string_view name = at != nullptr ? at->text : std::string_view();
      flow_->params.push_back(name);
      if (pointer) locals_[name] = {name, false};
    }
  }

  Local Depends(const SyntaxNode* expression) const {
    Local out;
    for (const SyntaxNode* node = expression; node != nullptr; node = NextInDocument(node, expression)) {
      if (node->Is("identifier") && node->text == "blockIdx") out.differs_by_block = true;
      if (!node->Is("identifier")) continue;
      const auto it = locals_.find(node->text);
      if (it == locals_.end()) continue;
      out.differs_by_block = out.differs_by_block || it->second.differs_by_block;
      if (out.base.empty()) out.base = it->second.base;
    }
    return out;
  }

  void Add(const SyntaxNode* node, const SyntaxNode* pointer, const SyntaxNode* whole, bool is_store) {
    CudaAccess access;
    access.node = node;
    access.base = Depends(pointer).base;
    access.differs_by_block = Depends(whole).differs_by_block;
    access.is_store = is_store;
    access.loops = loops_;
    if (is_store && access.base.empty() && !IsSharedOrLocal(pointer)) flow_->complete = false;
    flow_->accesses.push_back(std::move(access));
  }

  bool IsSharedOrLocal(const SyntaxNode* pointer) const {
    const SyntaxNode* at = pointer;
    while (at != nullptr && at->Is("subscript_expression")) at = at->Field("argument");
    return at != nullptr && at->Is("identifier") && declared_.count(at->text) != 0;
  }

  void Declare(const SyntaxNode* declarator, const SyntaxNode* value) {
    const SyntaxNode* name = declarator;
    while (name != nullptr && !name->Is("identifier")) {
      const SyntaxNode* inner = name->Field("declarator");
      if (inner == nullptr) inner = name->ChildOfType("identifier");
      name = inner;
    }
    if (name == nullptr) return;
    declared_.insert(name->text);
    const bool pointer = declarator != nullptr && declarator->Is("pointer_declarator");
    Local local = value != nullptr ? Depends(value) : Local();
    // A number read through a pointer is not an address itself.
    const bool address =
        pointer || (value != nullptr && (value->Is("binary_expression") || value->Is("identifier")) &&
                    !HasSubscript(value));
    if (!address) local.base = {};
    locals_[name->text] = local;
  }

  static bool HasSubscript(const SyntaxNode* root) {
    for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root))
      if (node->Is("subscript_expression")) return true;
    return false;
  }

  void ReadAssignment(const SyntaxNode* node) {
    const SyntaxNode* left = node->Field("left");
    const SyntaxNode* right = node->Field("right");
    const SyntaxNode* op = node->Field("operator");
    if (left == nullptr || right == nullptr) return;
    const bool counts =
        node->field == "update" || (node->parent != nullptr && node->parent->field == "update");
    const bool compound = op != nullptr && op->text != "=" && !counts;
    if (compound && !loops_.empty()) {
      flow_->accumulates = true;
      if (op->text == "+=") ReadProduct(right);
    }
    if (left->Is("identifier")) {
      Local local = Depends(right);
      if (HasSubscript(right)) local.base = {};
      if (compound) {
        local.differs_by_block = local.differs_by_block || locals_[left->text].differs_by_block;
        local.base = locals_[left->text].base;
      }
      locals_[left->text] = local;
      // max = fmaxf(max, x) in a loop also combines values.
      for (const SyntaxNode* part = right; part != nullptr; part = NextInDocument(part, right))
        if (!loops_.empty() && part->Is("identifier") && part->text == left->text) flow_->accumulates = true;
    }
  }

  void ReadProduct(const SyntaxNode* right) {
    for (const SyntaxNode* node = right; node != nullptr; node = NextInDocument(node, right)) {
      if (!node->Is("binary_expression")) continue;
      const SyntaxNode* op = node->Field("operator");
      const SyntaxNode* a = node->Field("left");
      const SyntaxNode* b = node->Field("right");
      if (op == nullptr || op->text != "*" || a == nullptr || b == nullptr) continue;
      const std::string_view first = ArrayIn(a);
      const std::string_view second = ArrayIn(b);
      if (!first.empty() && !second.empty() && first != second) flow_->accumulates_product = true;
    }
  }

  std::string_view ArrayIn(const SyntaxNode* expression) const {
    for (const SyntaxNode* node = expression; node != nullptr; node = NextInDocument(node, expression)) {
      if (node->Is("subscript_expression")) {
        const SyntaxNode* base = node;
        while (base != nullptr && base->Is("subscript_expression")) base = base->Field("argument");
        return base != nullptr ? base->text : std::string_view();
      }
      if (node->Is("call_expression") && node->Field("arguments") != nullptr) {
        const std::string_view base = Depends(node->Field("arguments")).base;
        if (!base.empty()) return base;
      }
      if (node->Is("identifier")) {
        const auto it = read_from_.find(node->text);
        if (it != read_from_.end()) return it->second;
      }
    }
    return {};
  }

  void ReadCall(const SyntaxNode* node) {
    const SyntaxNode* function = node->Field("function");
    const SyntaxNode* arguments = node->Field("arguments");
    if (function == nullptr || arguments == nullptr) return;
    const std::string_view name = function->text;
    const SyntaxNode* first = arguments->FirstNamed();
    if (StartsWith(name, "__shfl")) flow_->accumulates = true;
    if (first == nullptr) return;
    if (StartsWith(name, "__ld")) {
      Add(node, first, first, false);
    } else if (StartsWith(name, "__st")) {
      Add(node, first, first, true);
    } else if (StartsWith(name, "atomic")) {
      flow_->accumulates = true;
      Add(node, first, first, true);
      for (const SyntaxNode* loop : loops_)
        if (loop->Is("while_statement") || loop->Is("do_statement")) flow_->spin_loop = loop;
    } else if (!StartsWith(name, "__") && !StartsWith(name, "min") && !StartsWith(name, "max")) {
      // A helper that receives a pointer may store through it.
      for (const SyntaxNode* argument = arguments->first_child; argument != nullptr;
           argument = argument->next) {
        const bool address = argument->Is("identifier") || argument->Is("binary_expression") ||
                             argument->Is("pointer_expression");
        if (argument->named && address && !HasSubscript(argument) && !Depends(argument).base.empty())
          flow_->complete = false;
      }
    }
  }

  void Visit(const SyntaxNode* node, int depth) {
    if (depth > 400) return;
    const bool loop = IsPlainLoop(node);
    if (loop) loops_.push_back(node);
    if (node->Is("init_declarator")) {
      const SyntaxNode* value = node->Field("value");
      if (value != nullptr) Visit(value, depth + 1);
      Declare(node->Field("declarator"), value);
      if (value != nullptr && HasSubscript(value) && node->Field("declarator") != nullptr)
        read_from_[node->Field("declarator")->text] = ArrayIn(value);
    } else {
      if (node->Is("declaration"))
        for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
          if (child->field == "declarator" && !child->Is("init_declarator")) Declare(child, nullptr);
      for (const SyntaxNode* child = node->first_child; child != nullptr; child = child->next)
        Visit(child, depth + 1);
    }
    if (node->Is("subscript_expression") &&
        (node->parent == nullptr || !node->parent->Is("subscript_expression"))) {
      const SyntaxNode* parent = node->parent;
      const bool store =
          parent != nullptr && ((parent->Is("assignment_expression") && parent->Field("left") == node) ||
                                parent->Is("update_expression"));
      const bool address = parent != nullptr && parent->Is("pointer_expression");
      if (!address) Add(node, node->Field("argument"), node, store);
    }
    if (node->Is("pointer_expression") && StartsWith(node->text, "*") && node->Field("argument") != nullptr) {
      const SyntaxNode* parent = node->parent;
      const bool store =
          parent != nullptr && parent->Is("assignment_expression") && parent->Field("left") == node;
      Add(node, node->Field("argument"), node, store);
    }
    if (node->Is("assignment_expression")) ReadAssignment(node);
    if (node->Is("call_expression")) ReadCall(node);
    if (node->Is("while_statement") && Contains(node->text, "volatile")) flow_->spin_loop = node;
    if (loop) loops_.pop_back();
  }

  const SyntaxNode* definition_;
  CudaFlow* flow_;
  std::map<std::string_view, Local> locals_;
  std::map<std::string_view, std::string_view> read_from_;
  std::set<std::string_view> declared_;
  std::vector<const SyntaxNode*> loops_;
};

}  // namespace

CudaFlow TraceCuda(const SyntaxNode* definition) {
  CudaFlow flow;
  FlowReader(definition, &flow).Read();
  return flow;
}

}  // namespace hone
