// bad-decorator-argument: decorators that fail when the file is imported.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

const std::set<std::string_view> kAutotuneArguments = {
    "configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook", "post_hook",
    "warmup",  "rep", "use_cuda_graph",   "do_bench",      "cache_results"};
const std::set<std::string_view> kConfigArguments = {"kwargs",
                                                     "num_warps",
                                                     "num_stages",
                                                     "num_ctas",
                                                     "maxnreg",
                                                     "pre_hook",
                                                     "ir_override",
                                                     "num_buffers_warp_spec",
                                                     "num_consumer_groups",
                                                     "reg_dec_producer",
                                                     "reg_inc_consumer",
                                                     "enable_warp_specialization",
                                                     "enable_persistent"};
const std::set<std::string_view> kJitArguments = {
    "fn",    "version",  "repr",     "launch_metadata", "do_not_specialize", "do_not_specialize_on_alignment",
    "debug", "noinline", "interpret"};

void CheckArguments(const PyNode* call, const std::set<std::string_view>& known, std::string_view what,
                    FindingSink* sink, Severity severity) {
  for (const PyNode* keyword : call->keywords) {
    if (keyword->name.empty() || known.count(keyword->name) != 0) continue;
    std::vector<std::string> names(known.begin(), known.end());
    const std::string close = ClosestWord(keyword->name, names);
    sink->Add(keyword, severity, fmt::format("{} has no argument {}", what, keyword->name),
              !close.empty()         ? fmt::format("Did you mean {}?", close)
              : what == "triton.jit" ? fmt::format("Pass {} at the launch.", keyword->name)
                                     : "Remove it.");
  }
}

}  // namespace

void CheckBadDecoratorArgument(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  const Scopes& scopes = *candidate.python->scopes;
  for (const PyNode* decorator : candidate.python->kernels->misdecorated()) {
    const PyNode* function = decorator->parent;
    bool jitted = false;
    for (const PyNode* other : function->decorators)
      jitted = jitted || EndsWith(scopes.Resolve(other->Is(PyKind::kCall) ? other->value : other), "jit");
    const std::string_view name =
        TextOf(candidate, decorator->Is(PyKind::kCall) ? decorator->value : decorator);
    sink->Add(decorator, Severity::kError,
              jitted
                  ? fmt::format(
                        "{} is below @triton.jit, so it gets the plain function {} (which has no arg_names)",
                        name, function->name)
                  : fmt::format("{} decorates {}, which is not a @triton.jit function (it has no arg_names)",
                                name, function->name),
              jitted ? fmt::format("Put @{} above @triton.jit.", name)
                     : "Add @triton.jit directly above the function.");
  }
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    const Severity severity =
        EnclosingFunction(call) == nullptr || scopes.Runs(call) ? Severity::kError : Severity::kWarning;
    if (dotted == "triton.autotune") {
      CheckArguments(call, kAutotuneArguments, "triton.autotune", sink, severity);
      bool splat = false;
      for (const PyNode* keyword : call->keywords) splat = splat || keyword->name.empty();
      if (call->Keyword("key") == nullptr && call->args.size() < 2 && !splat)
        sink->Add(call, severity, "triton.autotune is called without key",
                  "Add key=[] with the arguments whose change should tune again.");
      if (call->Keyword("configs") == nullptr && call->args.empty() && !splat)
        sink->Add(call, severity, "triton.autotune is called without configs",
                  "Add configs=[triton.Config({...}), ...].");
    } else if (dotted == "triton.Config") {
      CheckArguments(call, kConfigArguments, "triton.Config", sink, severity);
      if (call->args.empty() && call->Keyword("kwargs") == nullptr && !call->keywords.empty())
        sink->Add(call, severity, "triton.Config is called without its dictionary of meta-parameters",
                  "Put the meta-parameters in a dictionary: triton.Config({'BLOCK': 64}, num_warps=4).");
    } else if (dotted == "triton.jit") {
      CheckArguments(call, kJitArguments, "triton.jit", sink, severity);
    }
  }
  // A config with an unknown parameter is passed on, and the launch rejects it.
  for (const auto& kernel : candidate.python->kernels->kernels()) {
    if (!kernel->launched || kernel->wrapped) continue;
    for (const TuneConfig& config : kernel->configs) {
      for (const auto& [key, value] : config.values) {
        if (kernel->Param(key) != nullptr || IsLaunchOption(key)) continue;
        std::vector<std::string> names;
        for (const KernelParam& param : kernel->params) names.emplace_back(param.name);
        const std::string close = ClosestWord(key, names);
        sink->Add(config.node, Severity::kError,
                  fmt::format("the config sets {}, which is not a parameter of {}", key, kernel->name),
                  close.empty()
                      ? fmt::format("Add {}: tl.constexpr to the kernel, or remove it from the configs.", key)
                      : fmt::format("Did you mean {}?", close));
        break;
      }
    }
  }
}

}  // namespace hone
