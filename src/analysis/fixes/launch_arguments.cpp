// Fixes arguments of a launch: a misspelt or renamed keyword, one passed twice with the same value, one that
// the autotuner sets, and a missing one for which a value with exactly that name exists.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// True for names that differ by one edit: num_warp and num_warps, BLOK and BLOCK.
bool AlmostEqual(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1 || b.size() < 4) return false;
  size_t i = 0;
  while (i < a.size() && a[i] == b[i]) ++i;
  return a.substr(a.size() == b.size() ? std::min(i + 1, a.size()) : i) ==
         b.substr(std::min(i + 1, b.size()));
}

// A value with that name at the launch: a local, a parameter, a number of the module, or an attribute of
// self.
std::string ValueNamed(const Candidate& candidate, const Launch& launch, std::string_view param) {
  const Scopes& scopes = *candidate.python->scopes;
  std::vector<std::string> found;
  const PyNode* scope = nullptr;
  if (const std::vector<Binding>* bindings = scopes.Find(param, launch.call, &scope)) {
    const bool ready = std::any_of(bindings->begin(), bindings->end(), [&](const Binding& one) {
      return one.node->Is(PyKind::kParam) || one.node->Is(PyKind::kAssign) ||
             one.node->Is(PyKind::kAnnAssign);
    });
    const bool before = std::all_of(bindings->begin(), bindings->end(), [&](const Binding& one) {
      return scope == scopes.module() || one.node->start < launch.call->start;
    });
    return ready && before ? std::string(param) : "";
  }
  const PyNode* owner = EnclosingClass(launch.call);
  const PyNode* method = EnclosingFunction(launch.call);
  if (owner == nullptr || method == nullptr || method->parent != owner || method->params.empty() ||
      method->params[0]->name != "self")
    return "";
  std::set<std::string> names;
  WalkPython(owner, [&](const PyNode* node) {
    if (node->Is(PyKind::kAttribute) && node->value != nullptr && node->value->IsName("self") &&
        ToLower(node->name) == ToLower(param))
      names.insert(std::string(node->name));
    return true;
  });
  if (names.size() != 1 || scopes.AttributeBindings(owner, *names.begin()).empty()) return "";
  return "self." + *names.begin();
}

// A positional argument with the name of another parameter shows that one is missing in between, not at the
// end.
bool LooksShifted(const Launch& launch) {
  const Kernel& kernel = *launch.kernel;
  for (size_t i = 0; i < launch.call->args.size() && i < kernel.params.size(); ++i) {
    const PyNode* argument = launch.call->args[i];
    if (!argument->Is(PyKind::kName) || argument->name == kernel.params[i].name) continue;
    if (kernel.Param(argument->name) != nullptr) return true;
  }
  return false;
}

FixEdits PassMissing(const Candidate& candidate, const Launch& launch) {
  const Kernel& kernel = *launch.kernel;
  if (!launch.complete || !kernel.configs_known || launch.surplus_positional > 0 || kernel.wrapped) return {};
  if (launch.missing.size() == 1 && launch.unknown.size() == 1) {
    const PyNode* keyword = launch.unknown[0];
    const uint32_t end = keyword->start + static_cast<uint32_t>(keyword->name.size());
    return {{keyword->start, end, launch.missing[0]}};
  }
  if (!launch.unknown.empty() || launch.missing.empty() || LooksShifted(launch)) return {};
  FixEdits edits;
  std::string added;
  for (const std::string& param : launch.missing) {
    const std::string value = ValueNamed(candidate, launch, param);
    if (value.empty()) return {};
    added += fmt::format("{}{}={}", added.empty() ? "" : ", ", param, value);
  }
  return {AddArgument(candidate, launch.call, added)};
}

FixEdits RenameUnknown(const Candidate& candidate, const Launch& launch, const PyNode* keyword) {
  if (launch.missing.size() == 1 && launch.unknown.size() == 1) return PassMissing(candidate, launch);
  std::set<std::string> near;
  for (const KernelParam& param : launch.kernel->params)
    if (AlmostEqual(keyword->name, param.name)) near.insert(std::string(param.name));
  for (std::string_view option : {"num_warps", "num_stages", "num_ctas"})
    if (AlmostEqual(keyword->name, option)) near.insert(std::string(option));
  if (near.size() != 1 || launch.Argument(*near.begin()) != nullptr) return {};
  const uint32_t end = keyword->start + static_cast<uint32_t>(keyword->name.size());
  return {{keyword->start, end, *near.begin()}};
}

// All positional arguments at the end that the autotuner sets.
FixEdits RemoveTuned(const Candidate& candidate, const Launch& launch) {
  const Kernel& kernel = *launch.kernel;
  const std::vector<PyNode*>& args = launch.call->args;
  std::set<std::string_view> tuned;
  for (const TuneConfig& config : kernel.configs)
    for (const auto& [key, value] : config.values) tuned.insert(key);
  size_t first = args.size();
  while (first > 0 && first <= kernel.params.size() && tuned.count(kernel.params[first - 1].name) != 0)
    --first;
  if (first == args.size() || first == 0) return {};
  for (size_t i = 0; i < first && i < kernel.params.size(); ++i)
    if (tuned.count(kernel.params[i].name) != 0) return {};
  const TextEdit head = RemoveArgument(candidate, args[first]);
  const TextEdit tail = RemoveArgument(candidate, args.back());
  const std::string_view text = candidate.source.text();
  // If arguments follow, their comma at the end is removed with them. If none follow, the comma before the
  // first one is.
  if (!launch.call->keywords.empty()) return {{args[first]->start, std::max(tail.end, args.back()->end), ""}};
  uint32_t start = std::min(head.start, args[first]->start);
  while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\n' || text[start - 1] == '\t' ||
                       text[start - 1] == '\r'))
    --start;
  if (start > 0 && text[start - 1] == ',') --start;
  return {{start, args.back()->end, ""}};
}

}  // namespace

FixEdits FixLaunchArguments(const FixRequest& request) {
  const PyNode* node = request.node;
  const Candidate& candidate = request.candidate;
  if (node == nullptr) return {};
  const PyNode* call = node;
  while (call != nullptr && LaunchOf(candidate, call) == nullptr) call = call->parent;
  const Launch* launch = call != nullptr ? LaunchOf(candidate, call) : nullptr;
  if (launch == nullptr) return {};
  const bool keyword = node->Is(PyKind::kKeyword) && node->parent == call;
  const std::string& rule = request.finding.rule;
  if (rule == "autotune-redefined") {
    if (keyword) return {RemoveArgument(candidate, node)};
    const bool positional = std::find(call->args.begin(), call->args.end(), node) != call->args.end();
    return positional ? RemoveTuned(candidate, *launch) : FixEdits();
  }
  if (rule == "unknown-launch-argument")
    return keyword ? RenameUnknown(candidate, *launch, node) : FixEdits();
  if (rule == "missing-launch-argument") return PassMissing(candidate, *launch);
  // Passed by position and by keyword with the same value, so the keyword can be removed.
  for (const PyNode* later : launch->duplicate) {
    if (!later->Is(PyKind::kKeyword)) continue;
    for (size_t i = 0; i < launch->kernel->params.size() && i < call->args.size(); ++i)
      if (launch->kernel->params[i].name == later->name &&
          Code(candidate, call->args[i]) == Code(candidate, later->value))
        return {RemoveArgument(candidate, later)};
  }
  return {};
}

}  // namespace hone
