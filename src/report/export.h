// Exports a run for other tools: KernelBench's folder of kernels and eval_results.json, or everything as one
// JSON.
//
// KernelBench's own analysis reads only sample 0 of a problem, so sample 0 is the run's answer: the best
// accepted candidate if there is one. The others follow in the order of the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/html_report.h"

namespace hone {

struct ExportFile {
  std::string name;
  std::string content;
};

// KernelBench's name of the task, parsed from a path such as KernelBench/level3/39_GRU.py; 0: unknown.
struct KernelBenchProblem {
  int level = 0;
  int problem = 0;
};
KernelBenchProblem ProblemOf(const RunRecord& run);

std::vector<ExportFile> KernelBenchFiles(const RunStory& story, const KernelBenchProblem& problem);
// Run, task, candidates with whole verdicts, calls with prompts and replies, decisions, console.
OrderedJson RunExport(const RunData& data, const std::vector<std::string>& console);

}  // namespace hone
