// What is new in a run since the last look: the one way in which `hone tail` and the live page follow a run
// that another process works on. Reading costs the writer nothing (WAL), and while nothing is written, a look
// costs one pragma.
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
  std::optional<RunRecord> run;             // when it changed; as RunStore::RunSummary gives it
  std::vector<CandidateRecord> candidates;  // new or changed; as RunStore::CandidateSummaries gives them
  std::optional<UsageTotals> usage;         // when it changed
  std::vector<CallRecord> calls;  // all of them, when the usage changed; as CallSummaries gives them
  std::vector<std::pair<int64_t, std::string>> console;

  bool empty() const { return !run && candidates.empty() && !usage && console.empty(); }
};

class RunFollower {
 public:
  // Console lines after `console_id`. The store must outlive this and belong to it alone: whether anything
  // was written is a property of the connection.
  RunFollower(RunStore& store, int64_t run_id, int64_t console_id = 0);

  // The first look tells everything.
  Result<RunNews> Look();
  int64_t console_id() const { return console_id_; }

 private:
  RunStore& store_;
  int64_t run_id_;
  int64_t console_id_;
  int64_t data_version_ = -1;
  bool more_ = false;  // the console had more lines than one look takes
  std::string run_seen_;
  std::string usage_seen_;
  std::map<std::string, std::string> candidates_seen_;
};

}  // namespace hone
