#include "analysis/candidate.h"

#include <algorithm>

#include "analysis/kernel_interpreter.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr size_t kMaxConfigs = 24;
// The limit of interpreter steps for one file: a hundred times what large candidates need.
constexpr int kMaxSteps = 2'000'000;
// Longer files are not analysed. No real candidate is that long.
constexpr size_t kMaxBytes = 1u << 20;

void TraceKernel(const PythonUnit& unit, const Kernel& kernel, KernelTrace* trace, int* steps) {
  trace->kernel = &kernel;
  KernelInterpreter interpreter(*unit.scopes, *unit.kernels, *unit.values, trace);
  bool interpreted = false;
  for (const bool running : {true, false}) {
    for (const auto& launch : unit.kernels->launches()) {
      if (launch->kernel != &kernel || launch->runs != running) continue;
      if (!running && interpreted) continue;
      interpreted = true;
      if (kernel.configs.empty()) {
        interpreter.Run(kernel, launch.get(), nullptr, steps);
        continue;
      }
      const size_t count = std::min(kernel.configs.size(), kMaxConfigs);
      for (size_t i = 0; i < count; ++i) interpreter.Run(kernel, launch.get(), &kernel.configs[i], steps);
    }
  }
  if (!interpreted) {
    interpreter.Run(kernel, nullptr, nullptr, steps);
    // Helpers were interpreted where they are called, with real arguments. Problems found without arguments
    // are uncertain.
    if (kernel.runs()) trace->problems.clear();
  }
  // A problem of a config that a pruning function may drop is also uncertain.
  for (KernelProblem& problem : trace->problems)
    if (problem.config != nullptr && kernel.configs_pruned) problem.runs = false;
}

// Sets the constructor arguments of `class_name` to the result of the task's get_init_inputs, and the others
// to their defaults.
void SetInitArguments(const PythonUnit& task, std::string_view class_name, PythonUnit* unit) {
  const std::vector<const PyNode*> functions = task.scopes->FunctionsNamed("get_init_inputs");
  const PyNode* returned = nullptr;
  if (functions.size() == 1)
    for (const PyNode* statement : functions[0]->body)
      if (statement->Is(PyKind::kReturn)) returned = statement->value;
  const Constant arguments = task.values->Eval(returned);
  const PyNode* model = unit->scopes->ClassNamed(class_name);
  if (model == nullptr || !arguments.known()) return;
  std::map<std::string, Constant> bound;
  for (const PyNode* method : model->body) {
    if (!method->Is(PyKind::kFunction) || method->name != "__init__") continue;
    for (size_t i = 1; i < method->params.size(); ++i) {
      const PyNode* param = method->params[i];
      const Constant* named =
          arguments.kind == Constant::Kind::kDict ? arguments.Lookup(param->name) : nullptr;
      if (arguments.kind == Constant::Kind::kSequence && i <= arguments.items.size())
        named = &arguments.items[i - 1];
      if (named != nullptr)
        bound[std::string(param->name)] = *named;
      else if (param->value != nullptr)
        bound[std::string(param->name)] = unit->values->Eval(param->value);
    }
  }
  unit->values->SetInitArguments(std::move(bound));
}

std::unique_ptr<PythonUnit> ReadPython(const SourceText& source, const PythonUnit* task) {
  auto unit = std::make_unique<PythonUnit>();
  unit->syntax = SyntaxTree::Parse(source.text(), Language::kPython);
  unit->tree = BuildPythonTree(unit->syntax);
  unit->scopes = std::make_unique<Scopes>(unit->tree);
  unit->values = std::make_unique<HostValues>(*unit->scopes);
  if (task != nullptr) SetInitArguments(*task, "ModelNew", unit.get());
  unit->kernels = std::make_unique<Kernels>(*unit->scopes, *unit->values);
  int steps = kMaxSteps;
  for (const auto& kernel : unit->kernels->kernels()) {
    unit->traces.emplace_back();
    TraceKernel(*unit, *kernel, &unit->traces.back(), &steps);
  }
  unit->flow = TraceHost(*unit->scopes, *unit->kernels, unit->traces);
  return unit;
}

// CUDA in strings: the raw text between the quotes, so that offsets are those of the outer file.
void ReadCudaStrings(const SyntaxTree& syntax, std::vector<CudaUnit>* out) {
  const SyntaxNode* root = syntax.root();
  for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root)) {
    if (!node->Is("string_content") || !LooksLikeCuda(node->text)) continue;
    out->push_back(ReadCuda(std::string(node->text), node->start));
  }
}

bool IsCudaPath(const std::string& path) {
  for (std::string_view suffix : {".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp"})
    if (EndsWith(path, suffix)) return true;
  return false;
}

}  // namespace

const KernelTrace* Candidate::TraceOf(const Kernel* kernel) const {
  if (python == nullptr) return nullptr;
  for (const KernelTrace& trace : python->traces)
    if (trace.kernel == kernel) return &trace;
  return nullptr;
}

std::unique_ptr<Candidate> ReadCandidate(std::string path, std::string text, const LintOptions& options) {
  auto candidate = std::make_unique<Candidate>(std::move(text));
  candidate->path = std::move(path);
  candidate->options = options;
  if (candidate->source.text().size() > kMaxBytes) return candidate;
  if (IsCudaPath(candidate->path)) {
    candidate->cuda.push_back(ReadCuda(std::string(candidate->source.text()), 0));
    return candidate;
  }
  if (!options.task_text.empty()) {
    // The task's tree points into options.task_text, which candidate->options owns.
    auto task = std::make_unique<PythonUnit>();
    task->syntax = SyntaxTree::Parse(candidate->options.task_text, Language::kPython);
    task->tree = BuildPythonTree(task->syntax);
    task->scopes = std::make_unique<Scopes>(task->tree);
    task->values = std::make_unique<HostValues>(*task->scopes);
    SetInitArguments(*task, "Model", task.get());
    candidate->task = std::move(task);
  }
  candidate->python = ReadPython(candidate->source, candidate->task.get());
  ReadCudaStrings(candidate->python->syntax, &candidate->cuda);
  candidate->native = FindNativeBuild(*candidate->python->scopes, candidate->cuda);
  candidate->extensions =
      FindExtensionBuilds(*candidate->python->scopes, candidate->python->syntax, candidate->cuda);
  return candidate;
}

}  // namespace hone
