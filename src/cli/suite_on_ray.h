// `hone suite --on ray` runs the tasks of a suite on the machines of a Ray cluster. This side adds the suite
// to the store, copies the tasks into its folder, writes a plan and becomes the driver, an embedded Python
// program (python/hone/ray_suite.py). The driver imports results with `hone import` and finally prints the
// table with `hone resume --table`. It makes no decision about verdicts.
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

// Whether --on can be parsed. Does not test whether the server answers.
Status CheckRayAddress(const std::string& on);

// Returns only with an Error, because the process becomes the driver.
Result<int> StartOnRay(RunStore& store, SuiteRecord suite, Json options, const std::vector<fs::path>& tasks,
                       const RunOptions& run, const RayChoices& choices, const RayOutput& output);
// The same for missing runs. Prints the table if none is missing.
Result<int> ResumeOnRay(RunStore& store, const SuiteRecord& suite, const SuiteResumption& how,
                        const RayOutput& output);

}  // namespace hone
