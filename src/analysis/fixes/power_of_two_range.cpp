// Rounds tl.arange(0, 1000) up to 1024, in a kernel whose accesses all have exactly these lanes: each gets a
// mask that switches the surplus lanes off. The kernel then computes what was written, lane by lane.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/lanes.h"

namespace hone {

namespace {

constexpr int64_t kLongestRange = 65536;

int CountRanges(const Candidate& candidate, const PyNode* function) {
  int count = 0;
  WalkPython(function, [&](const PyNode* node) {
    if (node->Is(PyKind::kCall) && candidate.python->scopes->Resolve(node->value) == "triton.language.arange")
      ++count;
    return true;
  });
  return count;
}

// Whether computing it a second time gives the same at no cost: names, numbers and program ids.
bool IsRepeatable(const Candidate& candidate, const PyNode* expression) {
  bool repeatable = true;
  WalkPython(expression, [&](const PyNode* node) {
    if (node->Is(PyKind::kCall)) {
      repeatable = repeatable && node->keywords.empty() && node->args.size() == 1 &&
                   node->args[0]->Is(PyKind::kInt) &&
                   candidate.python->scopes->Resolve(node->value) == "triton.language.program_id";
      return false;
    }
    repeatable =
        repeatable && (node->Is(PyKind::kName) || node->Is(PyKind::kInt) || node->Is(PyKind::kBinOp));
    return repeatable;
  });
  return repeatable;
}

// The mask has the shape of the lanes, so they may not be indexed on the way to the address.
bool HasLanesOf(const Lanes& lanes, const PyNode* address, std::string_view name) {
  bool indexed = false;
  WalkPython(address, [&](const PyNode* node) {
    indexed = indexed || node->Is(PyKind::kSubscript);
    return !indexed;
  });
  return !indexed && lanes.VaryingNames(address).count(name) != 0;
}

// Whether the access has this mask already, and a fallback if it needs one.
bool IsCovered(const Candidate& candidate, const Lanes& lanes, const MemoryAccess& access,
               const std::string& mask) {
  const PyNode* given = access.node->Keyword("mask");
  if (given == nullptr) return false;
  const PyNode* value = given->Is(PyKind::kName) ? lanes.Definition(given) : given;
  if (value == nullptr || Code(candidate, value) != mask) return false;
  return access.kind != MemoryAccess::Kind::kLoad || access.node->Keyword("other") != nullptr ||
         lanes.Fallback(access.node) == std::optional<std::string>("");
}

bool OnlyInAddresses(const Candidate& candidate, const Kernel& kernel, const KernelTrace& trace,
                     const PyNode* name) {
  bool only = true;
  WalkPython(kernel.function, [&](const PyNode* node) {
    if (!only || node == name || !node->IsName(name->name)) return only;
    only = std::any_of(trace.accesses.begin(), trace.accesses.end(), [&](const MemoryAccess& access) {
      const PyNode* mask = access.node->Keyword("mask");
      return IsInside(node, access.node->args[0]) || node == access.node->args[0] ||
             (mask != nullptr && IsInside(node, mask));
    });
    const PyNode* compare = node->parent;
    const PyNode* target = compare != nullptr ? compare->parent : nullptr;
    only = only || (compare != nullptr && compare->Is(PyKind::kCompare) && target != nullptr &&
                    target->Is(PyKind::kAssign) && KernelAround(candidate, compare) == &kernel);
    return only;
  });
  return only;
}

}  // namespace

FixEdits FixPowerOfTwoRange(const FixRequest& request) {
  const Candidate& candidate = request.candidate;
  const PyNode* range = request.node;
  if (request.problem == nullptr || range == nullptr || !range->Is(PyKind::kCall) || range->args.size() != 2)
    return {};
  const PyNode* number = range->args[1];
  if (!range->args[0]->Is(PyKind::kInt) || range->args[0]->integer != 0 || !number->Is(PyKind::kInt) ||
      number->big || number->integer < 3 || number->integer > kLongestRange)
    return {};
  const Kernel* kernel = KernelAround(candidate, range);
  const KernelTrace* trace = kernel != nullptr ? candidate.TraceOf(kernel) : nullptr;
  if (trace == nullptr || trace->opaque_calls || trace->accesses.empty() || !trace->dots.empty() ||
      !trace->scans.empty() || CountRanges(candidate, kernel->function) != 1)
    return {};
  // lanes = tl.arange(0, N), or start + tl.arange(0, N)
  const PyNode* statement = range->parent;
  std::string bound = Code(candidate, number);
  if (statement != nullptr && statement->Is(PyKind::kBinOp) && statement->op == "+") {
    const PyNode* start = statement->left == range ? statement->right : statement->left;
    if (!IsRepeatable(candidate, start)) return {};
    const bool plain = start->Is(PyKind::kBinOp) && (start->op == "*" || start->op == "+");
    bound = fmt::format("{} + {}", plain ? Code(candidate, start) : Operand(candidate, start), bound);
    statement = statement->parent;
  }
  if (statement == nullptr || !statement->Is(PyKind::kAssign) || statement->args.size() != 1 ||
      !statement->args[0]->Is(PyKind::kName))
    return {};
  const PyNode* name = statement->args[0];
  const Lanes lanes(candidate, *kernel);
  if (lanes.Definition(name) == nullptr) return {};
  const std::string mask = fmt::format("{} < {}", name->name, bound);
  int64_t next = 1;
  while (next < number->integer) next *= 2;
  FixEdits edits = {{number->start, number->end, std::to_string(next)}};
  bool any = false;
  for (const MemoryAccess& access : trace->accesses) {
    if (!access.ranges) continue;
    any = true;
    const PyNode* call = access.node;
    if (KernelAround(candidate, call) != kernel || call->start < statement->end || call->args.empty() ||
        !HasLanesOf(lanes, call->args[0], name->name))
      return {};
    if (IsCovered(candidate, lanes, access, mask)) continue;
    bool is_load = false;
    if (UnmaskedCall({candidate, request.finding, call, nullptr}, &is_load) == nullptr) return {};
    FixEdits added = AddMask(candidate, *kernel, call, is_load, mask);
    if (added.empty()) return {};
    edits.insert(edits.end(), added.begin(), added.end());
  }
  // A reduction may see the surplus lanes only through what is loaded.
  if (!trace->reductions.empty() && !OnlyInAddresses(candidate, *kernel, *trace, name)) return {};
  return any ? edits : FixEdits();
}

}  // namespace hone
