// Starting, stopping and resuming runs from the page: each run is a `hone` process of its own, started with
// an argument list, never through a shell. A run that was started here ends with the server, in good order,
// and can be resumed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "process/child.h"
#include "store/run_store.h"

namespace hone {

// The arguments of a run as the form asks for it; an Error says which field is wrong. A proposer that is a
// program (exec:) is not for pages: whoever reaches the page would run commands here.
Result<std::vector<std::string>> StartArguments(const std::vector<std::pair<std::string, std::string>>& form);

class RunActions {
 public:
  ~RunActions();

  Status Start(const std::vector<std::pair<std::string, std::string>>& form);
  Status Resume(const RunRecord& run);
  // Ctrl-C for the process that works on it: the run ends as stopped, with its best so far.
  Status StopRun(const RunRecord& run);
  // Asks what was started here to end, and waits a moment. Returns how many there were.
  size_t Shutdown();

 private:
  Status Spawn(std::vector<std::string> arguments);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace hone
