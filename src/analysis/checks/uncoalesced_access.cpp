// uncoalesced-access: neighbouring lanes read addresses that are far apart.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

namespace {

// tl.arange(...) * stride as the only lane-dependent part of the address.
bool LaneTimesStride(const PyNode* expression, const std::set<std::string_view>& lanes, bool* plain) {
  bool strided = false;
  WalkPython(expression, [&](const PyNode* node) {
    if (node->Is(PyKind::kBinOp) && node->op == "*") {
      const auto is_lane = [&](const PyNode* side) {
        return side != nullptr && side->Is(PyKind::kName) && lanes.count(side->name) != 0;
      };
      const PyNode* other = is_lane(node->left) ? node->right : is_lane(node->right) ? node->left : nullptr;
      if (other != nullptr && !(other->Is(PyKind::kInt) && other->integer == 1)) {
        strided = true;
        return false;
      }
    }
    if (node->Is(PyKind::kSubscript)) return false;
    if (node->Is(PyKind::kName) && lanes.count(node->name) != 0) *plain = true;
    return true;
  });
  return strided;
}

}  // namespace

void CheckUncoalescedAccess(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.kernel->launched) continue;
    // Names bound to one-dimensional lane indices: x = ... tl.arange(...) ...
    std::set<std::string_view> lanes;
    WalkPython(trace.kernel->function, [&](const PyNode* node) {
      if (!node->Is(PyKind::kAssign) || node->args.size() != 1 || !node->args[0]->Is(PyKind::kName))
        return true;
      bool has_arange = false;
      WalkPython(node->value, [&](const PyNode* part) {
        has_arange = has_arange || (part->Is(PyKind::kAttribute) && part->name == "arange");
        return !part->Is(PyKind::kSubscript);
      });
      if (has_arange) lanes.insert(node->args[0]->name);
      return true;
    });
    for (const MemoryAccess& access : trace.accesses) {
      if (!access.is_block || access.node->args.empty()) continue;
      bool plain = false;
      if (!LaneTimesStride(access.node->args[0], lanes, &plain) || plain) continue;
      // Two-dimensional tiles have one strided and one contiguous direction; those are subscripts, skipped
      // above.
      bool two_dimensional = false;
      WalkPython(access.node->args[0], [&](const PyNode* part) {
        two_dimensional = two_dimensional || part->Is(PyKind::kSubscript);
        return true;
      });
      if (two_dimensional) continue;
      sink->Add(
          access.node, Severity::kWarning,
          fmt::format("{} accesses {} with a stride between neighbouring lanes", trace.kernel->name,
                      access.base.empty() ? "memory" : access.base),
          "Let the lanes run along the contiguous dimension, or transpose the tensor once on the host.");
      break;
    }
  }
}

}  // namespace hone
