// Starts, stops and resumes runs from the page. Each run is a separate `hone` process, started with an
// argument list and never through a shell. Runs started here are stopped when the server ends, and can be
// resumed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "process/child.h"
#include "store/run_store.h"

namespace hone {

// The arguments for the run that the form describes. An Error names the invalid field. Rejects a proposer
// that is a program (exec:), because any user of the page could then run commands here.
Result<std::vector<std::string>> StartArguments(const std::vector<std::pair<std::string, std::string>>& form);

class RunActions {
 public:
  ~RunActions();

  Status Start(const std::vector<std::pair<std::string, std::string>>& form);
  Status Resume(const RunRecord& run);
  // Sends Ctrl-C to the process that executes the run. The run ends as stopped, with its best so far.
  Status StopRun(const RunRecord& run);
  // Calls `use` with the processes that were started here. No process starts meanwhile.
  void WithProcesses(const std::function<void(const std::vector<pid_t>&)>& use);
  // Stops the runs that were started here, and waits briefly. Returns their number.
  size_t Shutdown();

 private:
  Status Spawn(std::vector<std::string> arguments);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace hone
