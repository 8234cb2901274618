// What the store keeps, as plain values. Each member of VerdictRecord, RunRecord, CallRecord, CandidateRecord
// and UsageTotals has one line in record_fields.cpp (those of Usage in model/usage.h), from which SQL and
// JSON are made; docs/ADDING.md says how to add one.
#pragma once

#include <cstdint>
#include <string>

#include "model/usage.h"
#include "verdict/reasons.h"

namespace hone {

// A verdict of `hone bench`, which belongs to no run.
struct VerdictRecord {
  int64_t id = 0;
  std::string created;  // UTC
  std::string task;
  std::string candidate;
  std::string target;
  std::string device;
  std::string verdict;
  std::string reason;
  double vs_best = 0;
  double vs_eager = 0;
  std::string json;  // the whole verdict as `bench --json` printed it
};

struct RunRecord {
  int64_t id = 0;
  std::string name;  // name of its folder: "20260131-235959_39_GRU_expert"
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
  std::string options;  // JSON: everything needed to resume
  std::string card = "null";
  std::string result;    // see run_result.h; derived by the store, empty while the run continues
  std::string outcome;   // one sentence
  std::string best_key;  // empty if no candidate is accepted
  double vs_best = 0;
  double vs_eager = 0;
  double seconds = 0;  // working time, summed over all resumptions
  int64_t suite_id = 0;
  std::string degenerate;  // one sentence if the task's output does not depend on its inputs
};

struct CallRecord : Usage {
  int64_t id = 0;
  int64_t run_id = 0;
  std::string key;
  std::string created;
  std::string call_type;
  std::string status;  // "answered" or the kind of failure; "running" while an agent works
  std::string model;
  std::string system;
  std::string prompt;
  std::string reply;
  std::string more_replies;  // more replies to the same prompt (model/replies.h): JSON, or empty
  std::string thinking;
  std::string finish_reason;
  std::string error;
  double seconds = 0;
  int attempts = 0;
};

struct CandidateRecord {
  int64_t id = 0;
  int64_t run_id = 0;
  std::string key;               // "seed0", "seed0.repair1", "seed0.algorithm"
  std::string parent_key;        // the candidate it was made from; empty for seeds
  std::string other_parent_key;  // second parent, if it combines two candidates
  std::string phase;  // the call type, or "expert", "zero", "mended", "tuned", "imported", "inherited"
  std::string proposer;
  std::string title;
  std::string created;
  std::string source;
  std::string sha256;
  std::string kernel_class;
  std::string findings = "[]";
  std::string facts = "null";
  double predicted_us = 0;
  std::string verdict;  // empty if it is not judged yet
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
  bool accepted() const { return verdict == NameOf(Decision::kAccepted); }
  // True if the candidate computes what PyTorch computes and was timed, so it has a speed-up of any size.
  bool right() const {
    return accepted() || verdict == NameOf(Decision::kNoDifference) ||
           verdict == NameOf(Decision::kInconclusive) || reason == "slower";
  }
  // True if no error was found but the task cannot tell right from wrong.
  bool unknown() const { return verdict == NameOf(Decision::kCannotJudge); }
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

// The base of UsageTotals: the sum over no calls.
struct NoUsage : Usage {
  NoUsage() { price_known = true; }  // no price is missing
};
struct UsageTotals : NoUsage {
  int64_t calls = 0;
};

}  // namespace hone
