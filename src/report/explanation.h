// The post-mortem of a run as a value: the outcome, the timeline, the search, the causes of failures, the
// decisive difference, the contribution of each part of the pipeline, the cost, and suggestions. Explain is a
// pure function of stored records. explanation_words.h turns the value into sentences in either language, so
// that text, Markdown, JSON and pages agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "report/mending_story.h"
#include "report/run_report.h"
#include "report/search_story.h"

namespace hone {

// A speed-up with its 95% interval; 0: not timed.
struct Speed {
  double vs_best = 0;
  double ci_low = 0;
  double ci_high = 0;
  bool known() const { return vs_best > 0; }
};
Speed SpeedOf(const CandidateRecord& candidate);
// Its ratio and interval; null if unknown.
OrderedJson SpeedJson(const Speed& speed);

struct Outcome {
  // "won", "kept_pytorch", "nothing_yet" (the same, for an unfinished run), "none_right", "cannot_judge",
  // "nothing_tried", "nothing_judged" (it ended before any verdict), "empty" (no candidates at all).
  std::string id;
  std::string result;  // result of the run (store/run_result.h)
  std::string why;     // the reason for the result, in one English sentence (pipeline/outcome.h)
  std::string status;  // status of the run; "killed" for a run that is "running" without a live process
  std::string task;
  std::string device;
  std::string best_key;
  Speed speed;
  double vs_eager = 0;
  std::string kind;
  double candidate_us = 0;
  double floor_us = 0;
  std::string best_baseline;
  int candidates = 0;  // proposed candidates, without PyTorch itself
  int judged = 0;
  int accepted = 0;
  int too_busy = 0;      // right, but the machine was too busy to time them
  int timed = 0;         // right and timed
  std::string recorded;  // the run's own sentence in English
};

// One line of the timeline: a candidate, or a call that made none (an analysis, a failure).
struct TimelineRow {
  std::string phase;
  std::string key;
  std::string parent;
  std::string
      verdict;  // empty: not judged; "analysis", "sent_back", "no_answer" for calls without a candidate
  std::string reason;
  std::string note;  // first line of the detail, the analysis's method, or the failure's message
  Speed speed;
  double error = 0;
  double error_limit = 0;
  int64_t tokens = 0;
  double ask_seconds = 0;
  double judge_seconds = 0;
  bool best = false;
};

struct CauseFinding {
  std::string rule;
  std::string severity;
  std::string message;  // from the first candidate with this finding
  int64_t line = 0;
  std::string key;
  int candidates = 0;
};

// A reason why candidates failed.
struct Cause {
  // "launch_per_step", "many_launches", "loop_on_host", "near_floor", "slower", "no_difference", "no_code",
  // "left_out" (by the screening run), "no_answer" (from a model), or a reject reason ("wrong-output").
  std::string id;
  std::string reason;
  std::vector<std::string> keys;
  int total = 0;          // the total behind `keys`: judged candidates, proposals or calls
  std::string example;    // quoted: first line of the judge's detail for the first key
  int64_t launches = -1;  // of the first key; -1: not counted
  int64_t least_launches = -1;
  double error = 0;  // the largest
  double error_limit = 0;
  double floor_share = 0;  // of the fastest; 0: unknown
  double best_vs = 0;      // of the fastest
  bool operators = false;  // launches are library operators (CPU), not kernels
  std::vector<CauseFinding> findings;
};

struct DifferenceFact {
  std::string id;  // "verdict", "reason", "kernel_class", "kind", "launches", "kernels", "launch_sites",
                   // "host_loops", "library_calls", "error", "candidate_us", "floor_share", "lines"
  std::string best;
  std::string other;
  bool differs = false;
};

// The difference between the best candidate and the one it is compared with.
struct Difference {
  // The role of `other`: "second_accepted", "right_but_slower", "parent" (broken; shows what the last repair
  // changed).
  std::string relation;
  std::string best_key;
  std::string other_key;
  Speed best;
  Speed other;
  std::string other_reason;
  bool real = false;  // the intervals do not overlap
  std::vector<DifferenceFact> facts;
  std::string diff;  // unified diff from `other` to the best
  int diff_lines_left_out = 0;
};

// The effect of switching a part off, from walking the record again (counterfactual.cpp).
struct Counterfactual {
  std::string
      part;  // "repair", "analysis", "seeds", "class_check"; "mend", "replies" and "population" if used
  // "not_part" (this proposer has no such part), "was_off", "never_used" (it had nothing to do), "same_best"
  // (it did something, but the best is the same), "other_best" (exact), "at_least" (the run would have made
  // new requests; `best_key` is certain), "not_recomputable" (the record cannot be reproduced).
  // The latter holds for every run with the expert beside a model, too.
  std::string effect;
  bool exact = false;
  std::string best_key;  // empty: PyTorch is kept
  std::string verdict;   // verdict on that candidate; "baseline" for PyTorch
  Speed speed;
  std::vector<std::string> lost;  // candidates that would not exist
  // Keys that would have been requested but are not in the record, each with the reason ("never_asked",
  // "other_prompt", "other_base").
  std::vector<std::pair<std::string, std::string>> unknown;
  int64_t calls_saved = 0;
  int64_t tokens_saved = 0;
  double usd_saved = 0;
  double seconds_saved = 0;
};

struct PhaseCost {
  std::string phase;  // a call type, "expert", "imported", "tuned" or "zero"
  UsageTotals usage;
  int64_t failed = 0;  // number of failed calls
  double ask_seconds = 0;
  int judged = 0;
  double judge_seconds = 0;
};

// A rewrite of the task's graph, and what it saved in every call.
struct RewriteUse {
  std::string rule;
  std::string what;
  int64_t times = 0;
  int64_t operators = 0;
  double flops = 0;
  double bytes = 0;
};

struct NextTry {
  std::string id;                   // id of the message
  std::string command;              // ready to paste; may be empty
  std::vector<std::string> values;  // the values in the message
};

struct Explanation {
  RunRecord run;  // without task source and card
  Outcome outcome;
  std::vector<TimelineRow> timeline;
  std::vector<OperatorUse> operators;  // of the search after the opening; empty without one
  std::vector<Ancestor> ancestors;     // of the best, including itself; empty without such a search
  MendingUse mending;                  // mechanical repair
  std::vector<RewriteUse> rewrites;    // of the graph that recipes read; empty if none was captured
  std::vector<Cause> causes;           // most frequent first
  std::optional<Difference> difference;
  std::vector<Counterfactual> counterfactuals;
  std::vector<PhaseCost> costs;
  double expert_seconds =
      0;  // time for reading and rewriting the graph and writing candidates; 0 if not on record
  UsageTotals usage;
  std::vector<NextTry> next;
};

// `abandoned`: the run is "running", but no process executes it.
Explanation Explain(const RunStory& story, bool abandoned = false);

}  // namespace hone
