// The post-mortem of a run as a value: the outcome, the timeline, the search, the causes of failures, the
// decisive difference, the contribution of each part of the pipeline, the cost, and suggestions. Explain is a
// pure function of stored records. explanation_words.h turns the value into sentences in either language, so
// that text, Markdown, JSON and pages agree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
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
// Its ratio and interval; null where it is not known.
OrderedJson SpeedJson(const Speed& speed);

struct Outcome {
  // "won", "kept_pytorch", "nothing_yet" (the same, of a run that is not done), "none_right", "cannot_judge",
  // "nothing_tried", "nothing_judged" (it ended before anything was), "empty" (nothing at all).
  std::string id;
  std::string result;  // of the run (store/run_result.h)
  std::string why;     // the reason for the result, in one English sentence (pipeline/outcome.h)
  std::string status;  // of the run; "killed" for a run that is "running" and that nobody works on
  std::string task;
  std::string device;
  std::string best_key;
  Speed speed;
  double vs_eager = 0;
  std::string kind;
  double candidate_us = 0;
  double floor_us = 0;
  std::string best_baseline;
  int candidates = 0;  // proposed, PyTorch itself not counted
  int judged = 0;
  int accepted = 0;
  int too_busy = 0;      // right, and the machine was too busy to time them
  int timed = 0;         // right and timed
  std::string recorded;  // the run's own sentence, in English
};

// One line of the timeline: a candidate, or a call that led to none (an analysis, a failure).
struct TimelineRow {
  std::string phase;
  std::string key;
  std::string parent;
  std::string
      verdict;  // empty: not judged; "analysis", "sent_back", "no_answer" for calls without a candidate
  std::string reason;
  std::string note;  // first line of the detail, the analysis' method, the failure's message
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
  std::string message;  // of the first candidate that has it
  int64_t line = 0;
  std::string key;
  int candidates = 0;
};

// Why candidates failed, one entry per cause.
struct Cause {
  // "launch_per_step", "many_launches", "loop_on_host", "near_floor", "slower", "no_difference", "no_code",
  // "left_out" (by the screening run), "no_answer" (of a model), or a reject reason ("wrong-output").
  std::string id;
  std::string reason;
  std::vector<std::string> keys;
  int total = 0;          // what `keys` are a part of: judged candidates, proposals or calls
  std::string example;    // quoted: first line of what the judge said of the first key
  int64_t launches = -1;  // of the first key; -1: not counted
  int64_t least_launches = -1;
  double error = 0;  // the worst
  double error_limit = 0;
  double floor_share = 0;  // of the fastest; 0: not known
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
  // What `other` is: "second_accepted", "right_but_slower", "parent" (broken; what the last repair changed).
  std::string relation;
  std::string best_key;
  std::string other_key;
  Speed best;
  Speed other;
  std::string other_reason;
  bool real = false;  // the intervals do not overlap
  std::vector<DifferenceFact> facts;
  std::string diff;  // unified, from other to best
  int diff_lines_left_out = 0;
};

// What a switch would have changed, walked again over the record (counterfactual.cpp).
struct Counterfactual {
  std::string part;  // "repair", "analysis", "seeds", "class_check"; "replies" and "population" where used
  // "not_part" (this proposer has no such part), "was_off", "never_used" (it had nothing to do),
  // "same_best" (it did something, and the best is the same), "other_best" (exact), "at_least" (the run would
  // have gone where this one never was; `best_key` is certain), "not_recomputable" (the record does not
  // explain itself, or the expert took part beside a model).
  std::string effect;
  bool exact = false;
  std::string best_key;  // empty: PyTorch is kept
  std::string verdict;   // of that candidate; "baseline" for PyTorch
  Speed speed;
  std::vector<std::string> lost;  // candidates that would not exist
  // Keys that would have been asked for and are not in the record, each with why ("never_asked",
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
  int64_t failed = 0;  // calls
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
  std::string id;                   // names the message
  std::string command;              // ready to paste; may be empty
  std::vector<std::string> values;  // what the message mentions
};

struct Explanation {
  RunRecord run;  // without task source and card
  Outcome outcome;
  std::vector<TimelineRow> timeline;
  std::vector<OperatorUse> operators;  // of the search after the opening; empty if there was none
  std::vector<Ancestor> ancestors;     // of the best, itself included; empty without such a search
  std::vector<RewriteUse> rewrites;    // of the graph that recipes read; empty if none was captured
  std::vector<Cause> causes;           // the most frequent first
  std::optional<Difference> difference;
  std::vector<Counterfactual> counterfactuals;
  std::vector<PhaseCost> costs;
  double expert_seconds =
      0;  // reading and rewriting the graph, writing candidates; 0 if that is not on record
  UsageTotals usage;
  std::vector<NextTry> next;
};

// `abandoned`: the run says "running" and no process works on it.
Explanation Explain(const RunStory& story, bool abandoned = false);

}  // namespace hone
