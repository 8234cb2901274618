// What changed in a run since the last look. `hone tail` and the live page use it to follow a run of another
// process. Reading does not block the writer (WAL). A look costs one pragma if nothing was written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RunNews {
  std::optional<RunRecord> run;             // set if it changed; as RunStore::RunSummary returns it
  std::vector<CandidateRecord> candidates;  // new or changed; as RunStore::CandidateSummaries returns them
  std::optional<UsageTotals> usage;         // set if it changed
  std::vector<CallRecord> calls;  // all of them, if the usage changed; as CallSummaries returns them
  std::vector<std::pair<int64_t, std::string>> console;

  bool empty() const { return !run && candidates.empty() && !usage && console.empty(); }
};

class RunFollower {
 public:
  // Follows console lines after `console_id`. The store must outlive this object. No other code may use it,
  // because the check for changes is a property of the connection.
  RunFollower(RunStore& store, int64_t run_id, int64_t console_id = 0);

  // The first look returns everything.
  Result<RunNews> Look();
  int64_t console_id() const { return console_id_; }

 private:
  RunStore& store_;
  int64_t run_id_;
  int64_t console_id_;
  int64_t data_version_ = -1;
  bool more_ = false;  // the console has more lines than one look returns
  std::string run_seen_;
  std::string usage_seen_;
  std::map<std::string, std::string> candidates_seen_;
};

}  // namespace hone
