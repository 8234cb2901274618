#include "analysis/fixes/tile_size.h"

#include <algorithm>
#include <set>

#include "analysis/check.h"

namespace hone {

namespace {

using TileNames = std::set<std::string_view>;

// The number behind an argument: a literal, or the only assignment of a local or global name. `name` gets the
// last name on the way, or "".
const PyNode* NumberBehind(const Candidate& candidate, const PyNode* value, std::string_view* name,
                           int depth = 0) {
  if (value == nullptr || depth > 4) return nullptr;
  if (value->Is(PyKind::kInt) && !value->big) return value;
  if (!value->Is(PyKind::kName)) return nullptr;
  const std::vector<Binding>* bindings = candidate.python->scopes->Find(value->name, value);
  if (bindings == nullptr || bindings->size() != 1) return nullptr;
  *name = value->name;
  return NumberBehind(candidate, bindings->front().value, name, depth + 1);
}

bool MentionsName(const PyNode* expression, std::string_view name) {
  bool found = false;
  WalkPython(expression, [&](const PyNode* node) {
    found = found || node->IsName(name);
    return !found;
  });
  return found;
}

bool HoldsNumber(const PyNode* expression, const PyNode* number) {
  bool found = false;
  WalkPython(expression, [&](const PyNode* node) {
    found = found || (node != number && node->Is(PyKind::kInt) && node->integer == number->integer);
    return !found;
  });
  return found;
}

// A tl.arange up to the parameter, or a block pointer with it among its extents.
bool MakesTile(const Candidate& candidate, const PyNode* node, std::string_view param) {
  if (!node->Is(PyKind::kCall)) return false;
  const std::string callee = candidate.python->scopes->Resolve(node->value);
  if (callee == "triton.language.arange") return node->args.size() == 2 && MentionsName(node->args[1], param);
  if (callee != "triton.language.make_block_ptr") return false;
  const PyNode* shape = node->Keyword("block_shape");
  if (shape == nullptr && node->args.size() > 4) shape = node->args[4];
  return shape != nullptr && MentionsName(shape, param);
}

bool DependsOnTile(const Candidate& candidate, const PyNode* expression, std::string_view param,
                   const TileNames& names) {
  bool depends = false;
  WalkPython(expression, [&](const PyNode* node) {
    depends = depends || (node->Is(PyKind::kName) && names.count(node->name) != 0) ||
              MakesTile(candidate, node, param);
    return !depends;
  });
  return depends;
}

// The TileNames of the kernel whose value is computed from the tile.
TileNames NamesOfTile(const Candidate& candidate, const Kernel& kernel, std::string_view param) {
  TileNames names;
  for (size_t before = names.size() + 1; before != names.size();) {
    before = names.size();
    WalkPython(kernel.function, [&](const PyNode* node) {
      const bool assigns =
          node->Is(PyKind::kAssign) || node->Is(PyKind::kAugAssign) || node->Is(PyKind::kAnnAssign);
      if (!assigns || node->value == nullptr || !DependsOnTile(candidate, node->value, param, names))
        return true;
      const auto add = [&](const PyNode* target) {
        WalkPython(target, [&](const PyNode* part) {
          if (part->Is(PyKind::kName)) names.insert(part->name);
          return true;
        });
      };
      if (node->target != nullptr) add(node->target);
      for (const PyNode* target : node->args) add(target);
      return true;
    });
  }
  return names;
}

const PyNode* ArgumentOf(const PyNode* call, std::string_view keyword, size_t index) {
  if (const PyNode* given = call->Keyword(keyword)) return given;
  return index < call->args.size() ? call->args[index] : nullptr;
}

bool IsZero(const PyNode* node) {
  return node != nullptr && ((node->Is(PyKind::kInt) && !node->big && node->integer == 0) ||
                             (node->Is(PyKind::kFloat) && node->number == 0));
}

// True if the mask of an access whose address depends on the tile covers the tile.
bool CoversTile(const Candidate& candidate, const MemoryAccess& access, std::string_view param,
                const TileNames& names, bool zeros) {
  const PyNode* call = access.node;
  if (call == nullptr || !call->Is(PyKind::kCall) || call->args.empty()) return false;
  if (!DependsOnTile(candidate, call->args[0], param, names)) return true;
  const bool load = access.kind == MemoryAccess::Kind::kLoad;
  if (const PyNode* checked = call->Keyword("boundary_check")) {
    const PyNode* padding = call->Keyword("padding_option");
    return checked->Is(PyKind::kTuple) && checked->args.size() == 2 &&
           (!load || !zeros || (padding != nullptr && padding->string == "zero"));
  }
  const PyNode* mask = ArgumentOf(call, "mask", load ? 1 : 2);
  if (mask == nullptr || !DependsOnTile(candidate, mask, param, names)) return false;
  return !load || !zeros || IsZero(ArgumentOf(call, "other", 2));
}

}  // namespace

const PyNode* TileNumber(const Candidate& candidate, const Kernel& kernel, const KernelProblem& problem,
                         std::string_view param) {
  const KernelParam* declared = kernel.Param(param);
  if (declared == nullptr) return nullptr;
  std::string_view name;
  if (problem.config != nullptr && problem.config->node != nullptr) {
    const PyNode* call = problem.config->node;
    const PyNode* table = !call->args.empty() ? call->args[0] : call->Keyword("kwargs");
    if (table != nullptr && table->Is(PyKind::kDict))
      for (size_t i = 0; i < table->keys.size() && i < table->args.size(); ++i)
        if (table->keys[i] != nullptr && table->keys[i]->string == param)
          return NumberBehind(candidate, table->args[i], &name);
  }
  const PyNode* value = problem.launch != nullptr ? problem.launch->Argument(param) : nullptr;
  const PyNode* number = NumberBehind(candidate, value != nullptr ? value : declared->node->value, &name);
  if (number == nullptr || name.empty() || problem.launch == nullptr) return number;
  for (const LaunchArgument& other : problem.launch->arguments)
    if (other.param != param && other.value != nullptr && MentionsName(other.value, name)) return nullptr;
  return number;
}

bool IsAnExtent(const Candidate& candidate, const Kernel& kernel, std::string_view param) {
  bool extent = false;
  WalkPython(kernel.function, [&](const PyNode* node) {
    extent = extent || MakesTile(candidate, node, param);
    return !extent;
  });
  return extent;
}

bool IsOnlyATile(const Candidate& candidate, const Kernel& kernel, const PyNode* number,
                 std::string_view param, bool zeros) {
  const KernelTrace* trace = candidate.TraceOf(&kernel);
  if (trace == nullptr || trace->opaque_calls || trace->accesses.empty()) return false;
  const TileNames names = NamesOfTile(candidate, kernel, param);
  for (const MemoryAccess& access : trace->accesses)
    if ((access.ranges && !access.masked) || !CoversTile(candidate, access, param, names, zeros))
      return false;
  bool tile = true;
  WalkPython(kernel.function, [&](const PyNode* node) {
    if (!node->IsName(param)) return tile;
    for (const PyNode* at = node->parent; at != nullptr && at != kernel.function; at = at->parent)
      tile = tile && !at->Is(PyKind::kCompare);
    return tile;
  });
  // The same literal elsewhere would keep the old size. A grid that divides by it has surplus programs, whose
  // masks make them do nothing.
  return tile && !HoldsNumber(kernel.function, number);
}

}  // namespace hone
