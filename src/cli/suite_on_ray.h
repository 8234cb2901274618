// `hone suite --on ray`: the tasks of a suite on the machines of a Ray cluster. This side puts the suite into
// the store, copies the tasks into its folder, writes a plan and becomes the driver, a Python program that
// Hone carries (python/hone/ray_suite.py). The driver imports results with `hone import` and ends by printing
// the table with `hone resume --table`. It decides nothing about verdicts.
#pragma once

#include <string>
#include <vector>

#include "cli/suite_command.h"
#include "pipeline/run_options.h"

namespace hone {

struct RayChoices {
  std::string on;  // "ray" or "ray:HOST:PORT"
  int cores = 0;   // 0: the driver decides
  int attempts = 3;
  bool allow_mixed = false;
};

struct RayOutput {
  bool json = false;
  bool quiet = false;
};

// Whether --on can be read; says nothing about whether anybody answers there.
Status CheckRayAddress(const std::string& on);

// Returns only with an Error: the process becomes the driver.
Result<int> StartOnRay(RunStore& store, SuiteRecord suite, Json options, const std::vector<fs::path>& tasks,
                       const RunOptions& run, const RayChoices& choices, const RayOutput& output);
// The same for what is missing; prints the table if nothing is.
Result<int> ResumeOnRay(RunStore& store, const SuiteRecord& suite, const SuiteResumption& how,
                        const RayOutput& output);

}  // namespace hone
