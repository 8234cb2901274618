// Rounds a tile size that is a literal up to a power of two, in a kernel that masks all its accesses, so that
// it covers the same elements. A size that comes from a shape is left alone, and so is a parameter that the
// kernel also uses as a bound.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"

namespace hone {

namespace {

constexpr int64_t kLargest = 4096;

// The number behind an argument: a literal, or the only assignment of a local or global name.
const PyNode* NumberBehind(const Candidate& candidate, const PyNode* value, int depth = 0) {
  if (value == nullptr || depth > 4) return nullptr;
  if (value->Is(PyKind::kInt) && !value->big) return value;
  if (!value->Is(PyKind::kName)) return nullptr;
  const std::vector<Binding>* bindings = candidate.python->scopes->Find(value->name, value);
  if (bindings == nullptr || bindings->size() != 1) return nullptr;
  return NumberBehind(candidate, bindings->front().value, depth + 1);
}

bool IsOnlyATile(const Candidate& candidate, const Kernel& kernel, std::string_view param) {
  const KernelTrace* trace = candidate.TraceOf(&kernel);
  if (trace == nullptr || trace->opaque_calls || trace->accesses.empty()) return false;
  for (const MemoryAccess& access : trace->accesses)
    if (access.ranges && !access.masked) return false;
  bool tile = true;
  WalkPython(kernel.function, [&](const PyNode* node) {
    if (!node->IsName(param)) return tile;
    for (const PyNode* at = node->parent; at != nullptr && at != kernel.function; at = at->parent)
      tile = tile && !at->Is(PyKind::kCompare);
    return tile;
  });
  return tile;
}

}  // namespace

FixEdits FixPowerOfTwoBlock(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const KernelProblem* problem = request.problem;
  if (problem == nullptr || request.node == nullptr || !request.node->Is(PyKind::kCall)) return {};
  const Kernel* kernel = KernelAround(candidate, request.node);
  if (kernel == nullptr || request.node->args.size() != 2) return {};
  const PyNode* start = request.node->args[0];
  const PyNode* end = request.node->args[1];
  if (!start->Is(PyKind::kInt) || start->integer != 0 || !end->Is(PyKind::kName)) return {};
  const KernelParam* param = kernel->Param(end->name);
  if (param == nullptr || !IsOnlyATile(candidate, *kernel, param->name)) return {};
  const PyNode* value = nullptr;
  if (problem->config != nullptr && problem->config->node != nullptr) {
    const PyNode* call = problem->config->node;
    const PyNode* table = !call->args.empty() ? call->args[0] : call->Keyword("kwargs");
    if (table != nullptr && table->Is(PyKind::kDict))
      for (size_t i = 0; i < table->keys.size() && i < table->args.size(); ++i)
        if (table->keys[i] != nullptr && table->keys[i]->string == param->name) value = table->args[i];
  }
  if (value == nullptr && problem->launch != nullptr) value = problem->launch->Argument(param->name);
  if (value == nullptr) value = param->node->value;
  const PyNode* number = NumberBehind(candidate, value);
  if (number == nullptr || number->integer < 3 || number->integer > kLargest) return {};
  int64_t next = 1;
  while (next < number->integer) next *= 2;
  if (next == number->integer) return {};
  return {{number->start, number->end, std::to_string(next)}};
}

}  // namespace hone
