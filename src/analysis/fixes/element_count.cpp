// Adds `mask=offs < n` in a kernel without any mask, where the launches say what n is: offs is
// `program * BLOCK + tl.arange(0, BLOCK)`, the grid is cdiv(count, BLOCK), and exactly one parameter gets
// that count. The programs then cover the elements 0 to n - 1, and what lies beyond is surplus.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/lanes.h"
#include "base/text.h"

namespace hone {

namespace {

// `program * block + tl.arange(0, block)`, in any order.
struct Tiling {
  std::string_view block;
  int64_t axis = 0;
};

class CountSearch {
 public:
  CountSearch(const Candidate& candidate, const Kernel& kernel)
      : candidate_(candidate), kernel_(kernel), lanes_(candidate, kernel) {}

  std::string Mask(const PyNode* address) {
    if (!address->Is(PyKind::kBinOp) || address->op != "+") return "";
    for (const PyNode* offsets : {address->right, address->left}) {
      const PyNode* base = offsets == address->right ? address->left : address->right;
      if (!offsets->Is(PyKind::kName) || !base->Is(PyKind::kName) || kernel_.Param(base->name) == nullptr)
        continue;
      Tiling tiling;
      const PyNode* value = lanes_.Definition(offsets);
      if (value == nullptr || !IsTiling(value, &tiling) || IsCompared(offsets->name)) continue;
      const std::string count = CountParameter(tiling);
      if (!count.empty()) return fmt::format("{} < {}", offsets->name, count);
    }
    return "";
  }

 private:
  const PyNode* Followed(const PyNode* node) const {
    for (int depth = 0; depth < 4 && node->Is(PyKind::kName); ++depth) {
      const PyNode* value = lanes_.Definition(node);
      if (value == nullptr) break;
      node = value;
    }
    return node;
  }

  bool IsTiling(const PyNode* value, Tiling* out) const {
    if (!value->Is(PyKind::kBinOp) || value->op != "+") return false;
    const PyNode* start = Followed(value->left);
    const PyNode* range = Followed(value->right);
    if (!range->Is(PyKind::kCall)) std::swap(start, range);
    if (!range->Is(PyKind::kCall) ||
        candidate_.python->scopes->Resolve(range->value) != "triton.language.arange" ||
        range->args.size() != 2 || !range->args[0]->Is(PyKind::kInt) || range->args[0]->integer != 0 ||
        !range->args[1]->Is(PyKind::kName))
      return false;
    out->block = range->args[1]->name;
    const KernelParam* param = kernel_.Param(out->block);
    if (param == nullptr || !param->is_constexpr || !start->Is(PyKind::kBinOp) || start->op != "*")
      return false;
    const PyNode* program = start->left->IsName(out->block) ? start->right : start->left;
    const PyNode* factor = program == start->left ? start->right : start->left;
    program = Followed(program);
    if (!factor->IsName(out->block) || !program->Is(PyKind::kCall) ||
        candidate_.python->scopes->Resolve(program->value) != "triton.language.program_id")
      return false;
    const PyNode* axis = program->Keyword("axis");
    if (axis == nullptr && program->args.size() == 1) axis = program->args[0];
    if (axis == nullptr || !axis->Is(PyKind::kInt)) return false;
    out->axis = axis->integer;
    return true;
  }

  // A condition on the offsets shows that the kernel has a bound of its own.
  bool IsCompared(std::string_view offsets) const {
    bool compared = false;
    WalkPython(kernel_.function, [&](const PyNode* node) {
      if (compared || !node->Is(PyKind::kCompare)) return !compared;
      // The masks that this fix has added are no other condition.
      const bool own = node->parent != nullptr && node->parent->Is(PyKind::kKeyword) &&
                       node->parent->name == "mask" && node->left->IsName(offsets) &&
                       node->args[0]->Is(PyKind::kName);
      compared = !own && lanes_.VaryingNames(node).count(offsets) != 0;
      return !compared;
    });
    return compared;
  }

  // The one parameter that every launch gives the count of which its grid is cdiv(count, block).
  std::string CountParameter(const Tiling& tiling) const {
    std::string found;
    bool any = false;
    for (const auto& launch : candidate_.python->kernels->launches()) {
      if (launch->kernel != &kernel_) continue;
      any = true;
      if (!launch->complete || launch->grid == nullptr) return "";
      const PyNode* count = CountOf(*launch, tiling);
      if (count == nullptr) return "";
      std::string here;
      for (const LaunchArgument& argument : launch->arguments) {
        const KernelParam* param = kernel_.Param(argument.param);
        if (param == nullptr || argument.value == nullptr || argument.param == tiling.block) continue;
        if (!IsSame(argument.value, count)) continue;
        if (!here.empty()) return "";
        here = std::string(argument.param);
      }
      if (here.empty() || (!found.empty() && here != found)) return "";
      found = here;
    }
    if (!any) return "";
    // The kernel must not have changed the parameter.
    const ScopeNames& names = candidate_.python->scopes->NamesIn(kernel_.function);
    const auto bindings = names.find(found);
    return bindings != names.end() && bindings->second.size() == 1 ? found : "";
  }

  const PyNode* OnlyValue(const PyNode* node) const {
    for (int depth = 0; depth < 4 && node->Is(PyKind::kName); ++depth) {
      const std::vector<Binding>* bindings = candidate_.python->scopes->Find(node->name, node);
      if (bindings == nullptr || bindings->size() != 1 || bindings->front().value == nullptr ||
          bindings->front().node->Is(PyKind::kParam))
        break;
      node = bindings->front().value;
    }
    return node;
  }

  bool IsSame(const PyNode* a, const PyNode* b) const {
    return Code(candidate_, a) == Code(candidate_, b) ||
           Code(candidate_, OnlyValue(a)) == Code(candidate_, OnlyValue(b));
  }

  // `count` of a grid of one axis, (triton.cdiv(count, block),) or ((count + block - 1) // block,).
  const PyNode* CountOf(const Launch& launch, const Tiling& tiling) const {
    const PyNode* grid = OnlyValue(launch.grid);
    if (grid->Is(PyKind::kLambda)) grid = grid->value;
    if (grid == nullptr || !(grid->Is(PyKind::kTuple) || grid->Is(PyKind::kList)) || grid->args.size() != 1 ||
        tiling.axis != 0)
      return nullptr;
    const PyNode* programs = OnlyValue(grid->args[0]);
    if (programs->Is(PyKind::kCall)) {
      const bool rounds_up = candidate_.python->scopes->Resolve(programs->value) == "triton.cdiv" &&
                             programs->args.size() == 2 && programs->keywords.empty();
      return rounds_up && IsBlock(launch, tiling, programs->args[1]) ? programs->args[0] : nullptr;
    }
    if (!programs->Is(PyKind::kBinOp) || programs->op != "//" || !IsBlock(launch, tiling, programs->right))
      return nullptr;
    const PyNode* sum = programs->left;
    if (sum->Is(PyKind::kBinOp) && sum->op == "+" && sum->right->Is(PyKind::kInt)) {
      const PyNode* size = OnlyValue(programs->right);
      return size->Is(PyKind::kInt) && sum->right->integer == size->integer - 1 ? sum->left : nullptr;
    }
    if (!sum->Is(PyKind::kBinOp) || sum->op != "-" || !sum->right->Is(PyKind::kInt) ||
        sum->right->integer != 1)
      return nullptr;
    sum = sum->left;
    if (!sum->Is(PyKind::kBinOp) || sum->op != "+" || !IsBlock(launch, tiling, sum->right)) return nullptr;
    return sum->left;
  }

  // The block size of this launch: what it passes, or meta["BLOCK"].
  bool IsBlock(const Launch& launch, const Tiling& tiling, const PyNode* node) const {
    if (node->Is(PyKind::kSubscript) && node->target != nullptr && node->target->Is(PyKind::kString))
      return node->target->string == tiling.block;
    const PyNode* value = launch.Argument(tiling.block);
    if (value == nullptr) {
      const KernelParam* param = kernel_.Param(tiling.block);
      value = kernel_.supplied.count(std::string(tiling.block)) == 0 ? param->node->value : nullptr;
    }
    return value != nullptr && IsSame(value, node);
  }

  const Candidate& candidate_;
  const Kernel& kernel_;
  Lanes lanes_;
};

}  // namespace

FixEdits FixElementCount(const FixRequest& request) {
  bool is_load = false;
  const PyNode* call = UnmaskedCall(request, &is_load);
  if (call == nullptr) return {};
  const Kernel* kernel = KernelAround(request.candidate, call);
  if (kernel == nullptr || kernel->wrapped) return {};
  const std::string mask = CountSearch(request.candidate, *kernel).Mask(call->args[0]);
  return mask.empty() ? FixEdits() : AddMask(request.candidate, *kernel, call, is_load, mask);
}

}  // namespace hone
