// Runs in the store: every model call, candidate, decision and console line of an optimisation, written as it
// happens and found again by key. A run is resumed by running it again: what a key already answers is not
// asked or judged a second time. One connection, safe for the run's own threads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace hone {

struct RunRecord {
  int64_t id = 0;
  std::string name;  // of its folder: "20260131-235959_39_GRU_expert"
  std::string created;
  std::string finished;
  std::string status;  // "running", "done", "stopped" (budget, Ctrl-C), "failed"
  std::string task;
  std::string task_path;
  std::string task_sha256;
  std::string task_source;
  std::string target;
  std::string device;
  std::string proposer;
  std::string model;
  std::string folder;
  std::string options;  // JSON: everything needed to go on
  std::string card = "null";
  std::string outcome;   // one sentence
  std::string best_key;  // empty: PyTorch is kept
  double vs_best = 0;
  double vs_eager = 0;
  double seconds = 0;  // of work, over all sittings
  int64_t suite_id = 0;
};

struct CallRecord {
  int64_t id = 0;
  int64_t run_id = 0;
  std::string key;
  std::string created;
  std::string call_type;
  std::string status;  // "answered" or the kind of failure
  std::string model;
  std::string system;
  std::string prompt;
  std::string reply;
  std::string thinking;
  std::string finish_reason;
  std::string error;
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  bool estimated = false;
  double cost_usd = 0;
  bool price_known = false;
  double seconds = 0;
  int attempts = 0;
};

struct CandidateRecord {
  int64_t id = 0;
  int64_t run_id = 0;
  std::string key;         // "seed0", "seed0.repair1", "seed0.algorithm"
  std::string parent_key;  // what it was made from; empty for seeds
  std::string phase;       // the call type, or "expert", "zero", "tuned", "imported"
  std::string proposer;
  std::string title;
  std::string created;
  std::string source;
  std::string sha256;
  std::string kernel_class;
  std::string findings = "[]";
  std::string facts = "null";
  double predicted_us = 0;
  std::string verdict;  // empty: not judged yet
  std::string reason;
  std::string detail;
  std::string kind;
  double vs_best = 0;
  double ci_low = 0;
  double ci_high = 0;
  double vs_eager = 0;
  double candidate_us = 0;
  double error = 0;
  double error_limit = 0;
  double seconds = 0;
  std::string json;  // the whole verdict

  bool judged() const { return !verdict.empty(); }
  bool accepted() const { return verdict == "accepted"; }
};

struct DecisionRecord {
  std::string key;
  std::string created;
  std::string phase;
  std::string text;
  std::string json;
};

struct SuiteRecord {
  int64_t id = 0;
  std::string name;
  std::string created;
  std::string options;
};

// What the calls of a run add up to.
struct UsageTotals {
  int64_t calls = 0;
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  double cost_usd = 0;
  bool estimated = false;
  bool price_known = true;
};

class RunStore {
 public:
  static Result<std::unique_ptr<RunStore>> Open(const fs::path& path = DataFolder() / "hone.db");

  // See Store::OpenReadOnly.
  static Result<std::unique_ptr<RunStore>> OpenReadOnly(const fs::path& path = DataFolder() / "hone.db");

  Result<int64_t> AddRun(const RunRecord& run);
  // Everything but id, name and created.
  Status UpdateRun(const RunRecord& run);
  // "R12", a name, a unique beginning of one, a folder, or "last".
  Result<RunRecord> FindRun(const std::string& what);
  // The newest first, without task sources and cards.
  Result<std::vector<RunRecord>> Runs(int most, int64_t suite_id = 0);
  // One run as Runs() gives it.
  Result<RunRecord> RunSummary(int64_t id);
  Status DeleteRun(int64_t id);

  Status SaveCall(const CallRecord& call);
  Result<std::optional<CallRecord>> Call(int64_t run_id, const std::string& key);
  Result<std::vector<CallRecord>> Calls(int64_t run_id);
  Result<UsageTotals> Usage(int64_t run_id);

  // Inserts, or replaces the row of the same key.
  Status SaveCandidate(const CandidateRecord& candidate);
  Result<std::optional<CandidateRecord>> Candidate(int64_t run_id, const std::string& key);
  Result<std::vector<CandidateRecord>> Candidates(int64_t run_id);
  // The same without sources, findings, facts and verdicts in full, and with the beginning of the detail.
  Result<std::vector<CandidateRecord>> CandidateSummaries(int64_t run_id);

  Status SaveDecision(int64_t run_id, const DecisionRecord& decision);
  Result<std::optional<DecisionRecord>> Decision(int64_t run_id, const std::string& key);
  Result<std::vector<DecisionRecord>> Decisions(int64_t run_id);

  Status AddConsole(int64_t run_id, const std::string& line);
  // Lines after `after`; the ids go up.
  Result<std::vector<std::pair<int64_t, std::string>>> Console(int64_t run_id, int64_t after, int most);

  Result<int64_t> AddSuite(const SuiteRecord& suite);
  Result<SuiteRecord> FindSuite(const std::string& name);

  // Changes when another connection has written; see SQLite's data_version.
  int64_t DataVersion();

  Store& store() { return store_; }

 private:
  explicit RunStore(Store store) : store_(std::move(store)) {}
  sqlite3* handle() { return store_.handle(); }
  Store store_;
  std::mutex mutex_;
};

}  // namespace hone
