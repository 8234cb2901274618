// Triton kernels and their launches: which functions are jitted, what autotuning and heuristics supply, and
// which expression each launch passes for each parameter.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host_values.h"
#include "analysis/scopes.h"

namespace hone {

struct KernelParam {
  std::string_view name;
  const PyNode* node = nullptr;
  bool is_constexpr = false;
};

struct TuneConfig {
  const PyNode* node = nullptr;
  std::map<std::string, Constant> values;  // meta-parameters; the value may be unknown
  bool keys_known = true;
  Constant num_warps;
  Constant num_stages;
};

struct Kernel {
  const PyNode* function = nullptr;
  std::string_view name;
  std::vector<KernelParam> params;
  const PyNode* jit = nullptr;       // the decorator, or the call triton.jit(f)
  const PyNode* autotune = nullptr;  // the decorator call
  const PyNode* heuristics = nullptr;
  std::vector<TuneConfig> configs;
  bool configs_known = true;        // every config was found and its keys are known
  bool wrapped = false;             // by an unknown decorator, so the meaning of a call is unknown
  bool configs_pruned = false;      // prune_configs_by may drop some of them
  std::set<std::string> supplied;   // parameters that configs and heuristics set
  bool launched = false;            // by code that runs
  bool is_device_function = false;  // called from another kernel that is launched

  const KernelParam* Param(std::string_view param) const;
  bool runs() const { return launched || is_device_function; }
};

struct LaunchArgument {
  std::string_view param;    // "" for a launch option such as num_warps
  std::string_view keyword;  // as written, "" when positional
  const PyNode* value = nullptr;
};

struct Launch {
  const PyNode* call = nullptr;
  const PyNode* grid = nullptr;
  Kernel* kernel = nullptr;
  std::vector<LaunchArgument> arguments;
  std::vector<std::string> missing;
  std::vector<const PyNode*> duplicate;  // the later of two arguments for one parameter
  std::vector<const PyNode*> unknown;    // keywords that are neither parameter nor option
  int surplus_positional = 0;
  bool complete = true;  // no *args or unknown **kwargs hide arguments
  bool runs = false;
  bool conditional = false;               // under a condition that is known only at run time
  std::vector<const PyNode*> host_loops;  // innermost first

  const PyNode* Argument(std::string_view param) const;
};

class Kernels {
 public:
  Kernels(const Scopes& scopes, const HostValues& values);

  const std::vector<std::unique_ptr<Kernel>>& kernels() const { return kernels_; }
  const std::vector<std::unique_ptr<Launch>>& launches() const { return launches_; }
  // The kernel that an expression refers to (a name, an alias, self.kernel), or null.
  Kernel* Resolve(const PyNode* expression, int depth = 0) const;
  Kernel* OfFunction(const PyNode* function) const;
  // Functions with autotune or heuristics but no jit, or with jit in the wrong place.
  const std::vector<const PyNode*>& misdecorated() const { return misdecorated_; }

 private:
  void CollectKernels();
  void AddKernel(const PyNode* function, const PyNode* jit);
  void ReadAutotune(Kernel* kernel, const PyNode* call);
  void ReadConfigs(Kernel* kernel, const PyNode* expression, int depth);
  void ReadAppended(Kernel* kernel, const PyNode* list, int depth);
  void ReadConfig(Kernel* kernel, const PyNode* call, bool in_comprehension);
  void CollectLaunches();
  void BindArguments(Launch* launch);
  bool BindDictionary(const PyNode* expression, Launch* launch, std::set<std::string_view>* bound,
                      int depth) const;
  bool IsChanged(const PyNode* name) const;
  void MarkDeviceFunctions();

  const Scopes& scopes_;
  const HostValues& values_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Launch>> launches_;
  std::vector<const PyNode*> misdecorated_;
};

// True for num_warps, num_stages and the like, which a launch may pass besides the kernel's parameters.
bool IsLaunchOption(std::string_view name);

}  // namespace hone
