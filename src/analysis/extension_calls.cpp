#include "analysis/extension_calls.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"

namespace hone {

namespace {

bool IsMetadata(std::string_view member) {
  static const std::set<std::string_view> kNames = {"shape",       "size",   "sizes",   "numel",
                                                    "dtype",       "device", "options", "stride",
                                                    "scalar_type", "dim",    "ndim"};
  return kNames.count(member) != 0;
}

// Returns `out` for out.data_ptr<float>(), and an empty name for other arguments.
std::string_view LeadingName(std::string_view argument) {
  size_t end = 0;
  while (end < argument.size() &&
         (std::isalnum(static_cast<unsigned char>(argument[end])) != 0 || argument[end] == '_'))
    ++end;
  return end < argument.size() && argument[end] == '.' ? argument.substr(0, end) : std::string_view();
}

const SyntaxNode* LocalTensor(const SyntaxNode* function, std::string_view name) {
  for (const SyntaxNode* node = function; node != nullptr; node = NextInDocument(node, function)) {
    if (!node->Is("init_declarator")) continue;
    const SyntaxNode* declarator = node->Field("declarator");
    const SyntaxNode* value = node->Field("value");
    if (declarator == nullptr || value == nullptr || declarator->text != name) continue;
    for (std::string_view maker : {"empty", "zeros", "ones", "full", "rand"})
      if (StartsWith(value->text, "torch::" + std::string(maker)) ||
          StartsWith(value->text, "at::" + std::string(maker)))
        return node;
  }
  return nullptr;
}

bool Within(const SyntaxNode* node, const SyntaxNode* outer) {
  return outer->start <= node->start && node->end <= outer->end;
}

bool IsRead(const SyntaxNode* function, std::string_view name, const SyntaxNode* declaration,
            const SyntaxNode* launch) {
  for (const SyntaxNode* node = function; node != nullptr; node = NextInDocument(node, function)) {
    if (!node->Is("identifier") || node->text != name || Within(node, declaration) || Within(node, launch))
      continue;
    const SyntaxNode* parent = node->parent;
    const SyntaxNode* field =
        parent != nullptr && parent->Is("field_expression") ? parent->Field("field") : nullptr;
    if (field == nullptr || !IsMetadata(field->text)) return true;
  }
  return false;
}

std::string_view NameOf(const SyntaxNode* definition) {
  const SyntaxNode* at = definition->Field("declarator");
  while (at != nullptr && at->Field("declarator") != nullptr) at = at->Field("declarator");
  return at != nullptr ? at->text : std::string_view();
}

CudaLaunchResult Follow(const Candidate& candidate, const CudaUnit& unit, const CudaLaunch& launch) {
  CudaLaunchResult out;
  out.unit = &unit;
  out.launch = &launch;
  const CudaKernel* kernel = nullptr;
  for (const CudaUnit& other : candidate.cuda)
    for (const CudaKernel& own : other.kernels)
      if (own.name == launch.kernel) kernel = &own;
  if (kernel == nullptr || !kernel->flow.complete || launch.function == nullptr) return out;
  bool any = false;
  bool read = false;
  for (const CudaAccess& access : kernel->flow.accesses) {
    if (!access.is_store || access.base.empty()) continue;
    const auto& params = kernel->flow.params;
    const auto at =
        static_cast<size_t>(std::find(params.begin(), params.end(), access.base) - params.begin());
    if (at >= launch.arguments.size()) return out;
    const std::string_view name = LeadingName(launch.arguments[at]);
    const SyntaxNode* declaration = name.empty() ? nullptr : LocalTensor(launch.function, name);
    if (declaration == nullptr) return out;
    any = true;
    out.buffer = name;
    read = read || IsRead(launch.function, name, declaration, launch.node);
  }
  out.stays_inside = any;
  out.used = !any || read;
  return out;
}

// Whether the call's value is unused: the call is a statement, or its value is bound to a name that is never
// read.
bool IsDropped(const PyNode* function, const PyNode* call) {
  const PyNode* statement = call->parent;
  if (statement == nullptr) return false;
  if (statement->Is(PyKind::kExprStmt)) return true;
  if (!statement->Is(PyKind::kAssign) || statement->value != call) return false;
  for (const PyNode* target : statement->args) {
    if (!target->Is(PyKind::kName)) return false;
    bool read = false;
    WalkPython(function, [&](const PyNode* node) {
      if (node == statement) return false;
      if (!node->Is(PyKind::kName) || node->name != target->name || node->parent == nullptr) return true;
      const PyNode* parent = node->parent;
      const bool bound = parent->Is(PyKind::kAssign) &&
                         std::find(parent->args.begin(), parent->args.end(), node) != parent->args.end();
      read = read || !(bound || (parent->Is(PyKind::kAttribute) && IsMetadata(parent->name)));
      return true;
    });
    if (read) return false;
  }
  return true;
}

}  // namespace

std::vector<CudaLaunchResult> CudaLaunchResults(const Candidate& candidate) {
  std::vector<CudaLaunchResult> out;
  for (const CudaUnit& unit : candidate.cuda)
    for (const CudaLaunch& launch : unit.launches) out.push_back(Follow(candidate, unit, launch));
  return out;
}

std::vector<ExtensionCall> ExtensionCalls(const Candidate& candidate,
                                          const std::vector<CudaLaunchResult>& launches) {
  std::vector<ExtensionCall> out;
  if (candidate.python == nullptr) return out;
  for (const PyNode* function : candidate.python->flow.host_functions) {
    WalkPython(function, [&](const PyNode* node) {
      if (node != function && node->Is(PyKind::kFunction)) return false;
      if (!node->Is(PyKind::kCall) || node->value == nullptr || !node->value->Is(PyKind::kAttribute))
        return true;
      ExtensionCall call;
      call.node = node;
      call.function = node->value->name;
      bool returns_all = true;
      for (const CudaLaunchResult& result : launches) {
        const SyntaxNode* definition = result.launch->function;
        if (definition == nullptr || NameOf(definition) != call.function) continue;
        if (call.kernel.empty()) call.kernel = result.launch->kernel;
        const SyntaxNode* type = definition->Field("type");
        returns_all = returns_all && result.stays_inside && type != nullptr && type->text != "void";
      }
      if (call.kernel.empty()) return true;
      call.used = !returns_all || !IsDropped(function, node);
      out.push_back(call);
      return true;
    });
  }
  return out;
}

}  // namespace hone
