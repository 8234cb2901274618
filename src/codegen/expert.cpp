#include "codegen/expert.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/scopes.h"
#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/recipe.h"
#include "source/python_ast.h"
#include "source/syntax_tree.h"

namespace hone {

namespace {

bool RootedInSelf(const PyNode* node) {
  while (node != nullptr && (node->Is(PyKind::kAttribute) || node->Is(PyKind::kSubscript))) {
    if (node->Is(PyKind::kAttribute) && node->value->IsName("self")) return true;
    node = node->value;
  }
  return false;
}

// Methods that only constructors call, directly or through each other (`_make_layer`). They run before
// forward and are not part of it. A name counts whatever object it is looked up in.
std::set<std::string_view> HelpersOfConstructors(const Scopes& scopes) {
  std::map<std::string_view, std::set<std::string_view>>
      callers;  // for each NAME, the functions that contain `.NAME`
  for (const PyNode* function : scopes.functions())
    WalkPython(function, [&](const PyNode* node) {
      if (node->Is(PyKind::kAttribute)) callers[node->name].insert(function->name);
      return true;
    });
  callers.erase("forward");
  std::set<std::string_view> helpers;
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [name, by] : callers) {
      const bool early = std::all_of(by.begin(), by.end(), [&, name = name](std::string_view caller) {
        return caller == "__init__" || caller == name || helpers.count(caller) != 0;
      });
      if (early && by != std::set<std::string_view>{name}) grew |= helpers.insert(name).second;
    }
  }
  return helpers;
}

// The worker detected these by running the module. The source also shows them where a run could not (a state
// that changes no answer, a draw behind a branch).
void ReadHabits(const std::string& source, RecipeContext* context) {
  context->keeps_state = GetBool(context->inputs.facts, "stateful");
  context->draws = GetBool(context->inputs.facts, "random_in_forward");
  const SyntaxTree syntax = SyntaxTree::Parse(source, Language::kPython);
  if (syntax.gave_up()) return;
  const PyTree tree = BuildPythonTree(syntax);
  const Scopes scopes(tree);
  static const std::set<std::string_view> kDraws = {"rand",       "randn",   "randint",    "rand_like",
                                                    "randn_like", "normal",  "bernoulli",  "multinomial",
                                                    "randperm",   "normal_", "bernoulli_", "uniform_"};
  const std::set<std::string_view> of_constructors = HelpersOfConstructors(scopes);
  for (const PyNode* function : scopes.functions()) {
    if (EnclosingClass(function) == nullptr || StartsWith(function->name, "__")) continue;
    const bool initialises = Contains(function->name, "init") || Contains(function->name, "reset");
    if (initialises || of_constructors.count(function->name) != 0) continue;
    WalkPython(function, [&](const PyNode* node) {
      if (node->Is(PyKind::kAssign))
        for (const PyNode* target : node->args) context->keeps_state |= RootedInSelf(target);
      if (node->Is(PyKind::kAugAssign)) context->keeps_state |= RootedInSelf(node->target);
      if (node->Is(PyKind::kCall) && node->value->Is(PyKind::kAttribute)) {
        const std::string_view name = node->value->name;
        context->draws |= kDraws.count(name) != 0;
        const bool in_place = (EndsWith(name, "_") && !EndsWith(name, "__")) || name == "append";
        if (in_place) context->keeps_state |= RootedInSelf(node->value->value);
      }
      return true;
    });
  }
}

int64_t CountModules(const Card& card, std::initializer_list<const char*> names) {
  int64_t count = 0;
  for (const char* name : names)
    if (const auto found = card.modules.find(name); found != card.modules.end()) count += found->second;
  return count;
}

std::string Describe(const RecipeContext& context) {
  if (context.plan.recognised) return context.plan.sentence;
  const auto count = [](int64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::vector<std::string> parts;
  if (context.convolutions > 0) parts.push_back(count(context.convolutions, "convolution"));
  if (context.batch_norms > 0) parts.push_back(count(context.batch_norms, "batch norm"));
  if (context.linears > 0) parts.push_back(count(context.linears, "linear layer"));
  if (parts.empty()) parts.push_back(count(context.inputs.card.operator_calls(), "operator call"));
  return "not recurrent (" + context.plan.why_not + "): " + Join(parts, ", ");
}

}  // namespace

std::string ImportFromBeside(const TaskFile& task) {
  const SyntaxTree syntax = SyntaxTree::Parse(task.source, Language::kPython);
  if (syntax.gave_up()) return "";
  std::error_code code;
  fs::path root = task.path.parent_path();
  while (fs::exists(root / "__init__.py", code) && root.has_relative_path()) root = root.parent_path();
  std::string found;
  auto look = [&](std::string_view module) {
    const std::string first(module.substr(0, module.find('.')));
    const bool beside =
        !task.path.empty() && !first.empty() &&
        (fs::exists(root / (first + ".py"), code) || fs::exists(root / first / "__init__.py", code));
    if (found.empty() && (StartsWith(module, ".") || beside)) found = module;
  };
  const PyTree tree = BuildPythonTree(syntax);
  WalkPython(tree.module, [&](const PyNode* node) {
    if (node->Is(PyKind::kImportFrom)) look(node->name);
    if (node->Is(PyKind::kImport))
      for (const PyNode* alias : node->args) look(alias->name);
    return true;
  });
  return found;
}

std::string WhyNoGraph(const ExpertInputs& inputs) {
  if (!inputs.graph) return inputs.why_no_graph.empty() ? "the task has no graph" : inputs.why_no_graph;
  if (!inputs.graph->verified) return "its graph was not run against the module: " + inputs.graph->note;
  // The capture declines modules that assign attributes, so only the result of a run counts here.
  if (GetBool(inputs.facts, "stateful") || GetBool(inputs.machine, "stateful"))
    return "forward changes the module's own state, which the graph does not show";
  return "";
}

int64_t RecipeContext::cores() const {
  return std::max<int64_t>(1, GetInt(inputs.machine, "cores", 1));
}

int64_t RecipeContext::threads() const {
  return std::max<int64_t>(1, GetInt(inputs.machine, "threads", cores()));
}

std::string WhyNotPrepared(const RecipeContext& context) {
  if (context.keeps_state) return "forward changes the module's own state, and a prepared call would not";
  if (context.draws) return "forward draws random numbers, and a prepared call would repeat or shift them";
  return "";
}

Result<ExpertAnswer> ProposeExpert(const ExpertInputs& inputs) {
  RecipeContext context;
  context.inputs = inputs;
  HONE_ASSIGN_OR_RETURN(context.costs, LoadDeviceCosts());
  HONE_ASSIGN_OR_RETURN(context.plan, RecognizeRecurrent(inputs.task.source, inputs.facts, inputs.graph.get(),
                                                         WhyNoGraph(inputs)));
  SplitTask(inputs.task.source, &context);
  ReadHabits(inputs.task.source, &context);
  context.convolutions = CountModules(inputs.card, {"Conv1d", "Conv2d", "Conv3d"});
  context.batch_norms = CountModules(inputs.card, {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d"});
  context.linears = CountModules(inputs.card, {"Linear"});
  for (const TensorShape& output : inputs.card.outputs)
    context.reduced = context.reduced || output.dtype == "float16" || output.dtype == "bfloat16";

  ExpertAnswer answer;
  answer.recognised = Describe(context);
  if (const std::string beside = ImportFromBeside(inputs.task); !beside.empty()) {
    answer.declined.push_back(
        {"expert",
         "the task imports '" + beside +
             "' from files beside it, and a candidate is one file that is judged alone; put that code into "
             "the task's own file"});
    return answer;
  }
  const RecipeDevice here = context.on_gpu() ? RecipeDevice::kGpu : RecipeDevice::kCpu;
  for (const Recipe& recipe : AllRecipes()) {
    if (recipe.device != RecipeDevice::kAny && recipe.device != here) {
      answer.declined.push_back(
          {recipe.name, context.on_gpu() ? "it is for the CPU" : "it needs a GPU", /*other_device=*/true});
      continue;
    }
    if (inputs.target == "triton" && StartsWith(recipe.name, "cuda/")) {
      answer.declined.push_back({recipe.name, "kernels in Triton are asked for (--target triton)"});
      continue;
    }
    Result<RecipeAnswer> made = recipe.propose(context);
    if (!made.ok()) return std::move(made).error().WithContext(std::string("recipe ") + recipe.name);
    if (auto* proposal = std::get_if<Proposal>(&*made)) {
      proposal->recipe = recipe.name;
      answer.proposals.push_back(std::move(*proposal));
    } else {
      auto& declined = std::get<Declined>(*made);
      declined.recipe = recipe.name;
      answer.declined.push_back(std::move(declined));
    }
  }
  // Proposals without a prediction stay behind the others, in the registry's order.
  std::stable_sort(answer.proposals.begin(), answer.proposals.end(),
                   [](const Proposal& a, const Proposal& b) {
                     if ((a.predicted_us > 0) != (b.predicted_us > 0)) return a.predicted_us > 0;
                     return a.predicted_us < b.predicted_us;
                   });
  return answer;
}

}  // namespace hone
