// All facts about one candidate file, collected once and read by every check: the text, its Python tree with
// names, kernels and their traces, and the CUDA or C++ in it. Checks parse nothing themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/cuda_unit.h"
#include "analysis/device.h"
#include "analysis/extension_build.h"
#include "analysis/host_flow.h"
#include "analysis/host_values.h"
#include "analysis/kernel_trace.h"
#include "analysis/kernels.h"
#include "analysis/native_build.h"
#include "analysis/scopes.h"
#include "analysis/triton_tables.h"
#include "source/python_ast.h"
#include "source/source_text.h"
#include "source/syntax_tree.h"

namespace hone {

struct LintOptions {
  // The Triton releases that the candidate must support. A finding is an error only if all of them reject the
  // code.
  uint32_t triton_versions = kTriton3;
  // Null: the limits of the most generous current device.
  const DeviceLimits* device = nullptr;
  // The task's source if it is known. It provides constructor arguments and the reference's parameters.
  std::string task_text;
};

struct PythonUnit {
  SyntaxTree syntax;
  PyTree tree;
  std::unique_ptr<Scopes> scopes;
  std::unique_ptr<HostValues> values;
  std::unique_ptr<Kernels> kernels;
  std::vector<KernelTrace> traces;
  HostFlow flow;
};

struct Candidate {
  std::string path;
  SourceText source;
  LintOptions options;
  std::unique_ptr<PythonUnit> python;      // null for CUDA and C++ files
  std::vector<CudaUnit> cuda;              // the file itself, or strings inside a Python file
  NativeBuild native;                      // how a Python file compiles them
  std::vector<ExtensionBuild> extensions;  // each call of load_inline
  std::unique_ptr<PythonUnit> task;        // null without a task

  explicit Candidate(std::string text) : source(std::move(text)) {}
  const KernelTrace* TraceOf(const Kernel* kernel) const;
};

std::unique_ptr<Candidate> ReadCandidate(std::string path, std::string text, const LintOptions& options);

}  // namespace hone
