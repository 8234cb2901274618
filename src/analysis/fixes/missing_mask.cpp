// Adds a mask to a load or store if another access in the same kernel uses the same offsets with a mask.
// Offsets and mask must use the same names with one value each, and both accesses must be in the same block
// of the kernel.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/lanes.h"

namespace hone {

namespace {

// The address without its base: "offs * 4 + c" for `x_ptr + offs * 4 + c`; "" for other forms.
std::string OffsetText(const Candidate& candidate, const PyNode* address) {
  const PyNode* sum = address;
  while (sum != nullptr && sum->Is(PyKind::kBinOp) && sum->op == "+" && sum->left != nullptr &&
         sum->left->Is(PyKind::kBinOp))
    sum = sum->left;
  if (sum == nullptr || !sum->Is(PyKind::kBinOp) || sum->op != "+" || !sum->left->Is(PyKind::kName))
    return "";
  const std::string text = Code(candidate, address);
  return text.substr(sum->left->end - address->start);
}

// True if every name has a single value in the kernel, set before `at`.
bool IsSettled(const Candidate& candidate, const Kernel& kernel, const PyNode* expression, uint32_t at) {
  const Scopes& scopes = *candidate.python->scopes;
  bool settled = IsPure(expression);
  WalkPython(expression, [&](const PyNode* node) {
    if (!node->Is(PyKind::kName)) return settled;
    const PyNode* scope = nullptr;
    const std::vector<Binding>* bindings = scopes.Find(node->name, node, &scope);
    if (bindings == nullptr || (scope == kernel.function && bindings->size() != 1))
      settled = false;
    else if (scope == kernel.function)
      settled = settled && bindings->front().node->start < at;
    return settled;
  });
  return settled;
}

const PyNode* BlockOf(const PyNode* node) {
  const PyNode* at = node->parent;
  while (at != nullptr && !at->Is(PyKind::kFor) && !at->Is(PyKind::kWhile) && !at->Is(PyKind::kIf) &&
         !at->Is(PyKind::kFunction))
    at = at->parent;
  return at;
}

}  // namespace

FixEdits FixMissingMask(const FixRequest& request) {
  const PyNode* call = request.node;
  const Candidate& candidate = request.candidate;
  bool load = false;
  if (UnmaskedCall(request, &load) == nullptr) return {};
  const Kernel* kernel = KernelAround(candidate, call);
  const KernelTrace* trace = kernel != nullptr ? candidate.TraceOf(kernel) : nullptr;
  if (trace == nullptr) return {};
  const std::string offsets = OffsetText(candidate, call->args[0]);
  if (offsets.empty() || !IsSettled(candidate, *kernel, call->args[0], call->start)) return {};
  std::string mask;
  std::string other;
  for (const MemoryAccess& access : trace->accesses) {
    const PyNode* sibling = access.node;
    if (sibling == call || !access.masked || sibling->args.empty()) continue;
    const PyNode* its_mask = sibling->Keyword("mask");
    if (its_mask == nullptr || OffsetText(candidate, sibling->args[0]) != offsets) continue;
    if (BlockOf(sibling) != BlockOf(call) || !IsSettled(candidate, *kernel, its_mask, call->start)) return {};
    const std::string text = Code(candidate, its_mask);
    if (!mask.empty() && mask != text) return {};
    mask = text;
    if (sibling->Keyword("other") != nullptr) other = Code(candidate, sibling->Keyword("other"));
  }
  if (mask.empty()) return {};
  if (!load || other.empty() || call->Keyword("other") != nullptr)
    return AddMask(candidate, *kernel, call, load, mask);
  // What switched-off lanes have to be follows from how they are used; else it is what the other access has.
  const std::string certain = Lanes(candidate, *kernel).Fallback(call).value_or("");
  return {AddArgument(candidate, call,
                      fmt::format("mask={}, other={}", mask, certain.empty() ? other : certain))};
}

}  // namespace hone
