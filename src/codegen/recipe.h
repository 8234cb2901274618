// A recipe examines one task, then writes a candidate or explains in one sentence why it does not. Each
// recipe is one file in recipes/, with text in templates/ and an entry in registry.cpp.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "codegen/device_costs.h"
#include "codegen/expert.h"
#include "codegen/recurrent_plan.h"

namespace hone {

// All facts about a task that recipes need, collected once.
struct RecipeContext {
  ExpertInputs inputs;
  RecurrentPlan plan;
  DeviceCosts costs;
  std::string task_text;       // the task's source without its docstring and its __main__ part
  std::string task_docstring;  // without quotes
  bool keeps_state = false;    // forward changes the module
  bool draws = false;          // forward draws random numbers
  bool reduced = false;        // the module's parameters have half precision
  int64_t convolutions = 0;
  int64_t batch_norms = 0;
  int64_t linears = 0;

  bool on_gpu() const { return inputs.device == "cuda"; }
  int64_t cores() const;
  int64_t threads() const;
};

using RecipeAnswer = std::variant<Proposal, Declined>;

// Why forward cannot be captured and replayed, or "".
std::string WhyNotPrepared(const RecipeContext& context);

enum class RecipeDevice { kAny, kCpu, kGpu };

struct Recipe {
  const char* name;
  Result<RecipeAnswer> (*propose)(const RecipeContext&);
  RecipeDevice device;  // on another device the recipe is skipped
};

const std::vector<Recipe>& AllRecipes();

Result<RecipeAnswer> ProposeCudaGraph(const RecipeContext& context);
Result<RecipeAnswer> ProposeFoldedCudaGraph(const RecipeContext& context);
Result<RecipeAnswer> ProposeFoldedChannelsLast(const RecipeContext& context);
Result<RecipeAnswer> ProposeTf32(const RecipeContext& context);
Result<RecipeAnswer> ProposeCompile(const RecipeContext& context);
Result<RecipeAnswer> ProposeCpuThreads(const RecipeContext& context);
Result<RecipeAnswer> ProposeCpuInferenceMode(const RecipeContext& context);
Result<RecipeAnswer> ProposeCpuJitFreeze(const RecipeContext& context);
Result<RecipeAnswer> ProposeCpuPackedWeights(const RecipeContext& context);
Result<RecipeAnswer> ProposeCpuPersistent(const RecipeContext& context);
Result<RecipeAnswer> ProposeCudaClusterWavefront(const RecipeContext& context);
Result<RecipeAnswer> ProposeCudaClusterBidirectional(const RecipeContext& context);
Result<RecipeAnswer> ProposeCudaClusterWavefrontFp32(const RecipeContext& context);
Result<RecipeAnswer> ProposeCudaClusterBidirectionalFp32(const RecipeContext& context);
Result<RecipeAnswer> ProposeSplitGemm(const RecipeContext& context);
Result<RecipeAnswer> ProposeFusedGraph(const RecipeContext& context);
Result<RecipeAnswer> ProposeFusedGraphCaptured(const RecipeContext& context);
Result<RecipeAnswer> ProposeHalfNetwork(const RecipeContext& context);
Result<RecipeAnswer> ProposeTritonFusedGraph(const RecipeContext& context);
Result<RecipeAnswer> ProposeCpuFusedGraph(const RecipeContext& context);
Result<RecipeAnswer> ProposeTritonPersistent(const RecipeContext& context);
Result<RecipeAnswer> ProposeCudaCooperativeGrid(const RecipeContext& context);
Result<RecipeAnswer> ProposeCudaStepGraph(const RecipeContext& context);

}  // namespace hone
