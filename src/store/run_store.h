// Runs in the store: every model call, candidate, decision and console line, written as it happens and found
// again by key. Resuming a run runs it again: a call or verdict that is stored under its key is not repeated.
// It has one connection, which the run's own threads may share.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/records.h"
#include "store/store.h"

namespace hone {

class RunStore {
 public:
  static Result<std::unique_ptr<RunStore>> Open(const fs::path& path = DataFolder() / "hone.db");

  // See Store::OpenInMemory.
  static Result<std::unique_ptr<RunStore>> OpenInMemory();

  // See Store::OpenReadOnly.
  static Result<std::unique_ptr<RunStore>> OpenReadOnly(const fs::path& path = DataFolder() / "hone.db");

  // Calls `before_seen` with the id before other connections see the run. If it fails, the run is not added.
  Result<int64_t> AddRun(const RunRecord& run, const std::function<Status(int64_t)>& before_seen = {});
  // Updates all but id, name and created. Derives and returns the result.
  Result<std::string> UpdateRun(const RunRecord& run);
  // `what` is "R12", a name, a unique prefix of one, a folder, or "last".
  Result<RunRecord> FindRun(const std::string& what);
  // Newest first, without task sources and cards.
  Result<std::vector<RunRecord>> Runs(int most, int64_t suite_id = 0);
  // All runs whose files are in this folder.
  Result<std::vector<RunRecord>> RunsInFolder(const std::string& folder);
  // Returns one run in the form of Runs().
  Result<RunRecord> RunSummary(int64_t id);
  Status DeleteRun(int64_t id);

  Status SaveCall(const CallRecord& call);
  Result<std::optional<CallRecord>> Call(int64_t run_id, const std::string& key);
  Result<std::vector<CallRecord>> Calls(int64_t run_id);
  // The same without prompts and replies.
  Result<std::vector<CallRecord>> CallSummaries(int64_t run_id);
  Result<UsageTotals> Usage(int64_t run_id);

  // Inserts a row or replaces the one with the same key.
  Status SaveCandidate(const CandidateRecord& candidate);
  Result<std::optional<CandidateRecord>> Candidate(int64_t run_id, const std::string& key);
  Result<std::vector<CandidateRecord>> Candidates(int64_t run_id);
  // The same without sources, findings, facts and full verdicts, and with only the beginning of the detail.
  Result<std::vector<CandidateRecord>> CandidateSummaries(int64_t run_id);

  Status SaveDecision(int64_t run_id, const DecisionRecord& decision);
  Result<std::optional<DecisionRecord>> Decision(int64_t run_id, const std::string& key);
  Result<std::vector<DecisionRecord>> Decisions(int64_t run_id);

  Status AddConsole(int64_t run_id, const std::string& line);
  // Returns lines after id `after`. Ids increase.
  Result<std::vector<std::pair<int64_t, std::string>>> Console(int64_t run_id, int64_t after, int most);

  Result<int64_t> AddSuite(const SuiteRecord& suite);
  Result<SuiteRecord> FindSuite(const std::string& name);
  Result<SuiteRecord> SuiteById(int64_t id);

  // Changes if another connection has written; see SQLite's data_version.
  int64_t DataVersion();

  Store& store() { return store_; }

 private:
  explicit RunStore(Store store) : store_(std::move(store)) {}
  sqlite3* handle() { return store_.handle(); }
  Store store_;
  std::mutex mutex_;
};

}  // namespace hone
