// Compares runs, candidates or suites: first what differs, then what is the same. A difference in speed is
// significant (`real` in the code and in JSON) when the 95% intervals of the two speed-ups do not overlap.
// These are pure functions of stored records. The sides may have been judged at different times, so the
// result says when tasks or devices differ.
#pragma once

#include <string>
#include <vector>

#include "report/document.h"
#include "report/explanation.h"
#include "report/messages.h"

namespace hone {

// One property, with a value per side.
struct ComparedField {
  std::string id;
  std::vector<std::string> values;
  bool differs = false;
};

// Side `b` compared with side `a`. The sides are indices.
struct SpeedContest {
  size_t a = 0;
  size_t b = 1;
  Speed speed_a;
  Speed speed_b;
  // "real", "not_real", "untimed" (at least one side was not timed), "other_task".
  std::string result;
  size_t winner = 0;  // the faster side, if the difference is real
};
SpeedContest Contend(size_t a, const Speed& speed_a, size_t b, const Speed& speed_b);

struct ComparedCandidate {
  std::string key;
  std::vector<std::string> verdicts;  // per run: "accepted" or a reject reason; empty: no such candidate
  std::vector<Speed> speeds;
  bool differs = false;  // the verdicts differ
};

struct RunComparison {
  std::vector<std::string> names;  // "R3"
  std::vector<ComparedField> fields;
  std::vector<SpeedContest> contests;         // every run compared with the first
  std::vector<ComparedCandidate> candidates;  // by key; those with different verdicts first
  bool same_task = true;
  bool same_device = true;
};
RunComparison CompareRuns(const std::vector<RunStory>& stories);

struct CandidateComparison {
  std::vector<std::string> names;  // "R3:seed0"
  std::vector<ComparedField> fields;
  SpeedContest contest;
  std::vector<ComparedField> findings;  // number of findings per rule on each side
  std::string diff;                     // from the first to the second
  int diff_lines_left_out = 0;
  bool same_task = true;
  bool same_device = true;
};
CandidateComparison CompareCandidates(const RunRecord& run_a, const CandidateRecord& a,
                                      const RunRecord& run_b, const CandidateRecord& b);

// A member of a suite with its best speed-up: exactly 1 if candidates were judged and none was accepted,
// unknown if the run failed, tried nothing or cannot judge.
struct SuiteMember {
  RunRecord run;
  Speed best;
};
struct ComparedTask {
  std::string task;
  std::string status_a;  // empty: not in this suite
  std::string status_b;
  std::string best_a;  // as AnswerOf (store/run_result.h) returns it
  std::string best_b;
  std::string result_a;
  std::string result_b;
  SpeedContest contest;
};
struct SuiteComparison {
  std::vector<std::string> names;
  std::vector<ComparedTask> tasks;  // real differences first, then by task
  int wins_a = 0;
  int wins_b = 0;
  int not_told_apart = 0;
  int only_one = 0;
  int common = 0;
  double geomean_a = 1;  // over the common tasks; meaningless without any
  double geomean_b = 1;
  bool same_device = true;
};
SuiteComparison CompareSuites(const std::string& name_a, const std::vector<SuiteMember>& a,
                              const std::string& name_b, const std::vector<SuiteMember>& b);

Document ComparisonDocument(const RunComparison& compared, ReportLanguage language);
Document ComparisonDocument(const CandidateComparison& compared, ReportLanguage language);
Document ComparisonDocument(const SuiteComparison& compared, ReportLanguage language);
OrderedJson ToJson(const RunComparison& compared, ReportLanguage language);
OrderedJson ToJson(const CandidateComparison& compared, ReportLanguage language);
OrderedJson ToJson(const SuiteComparison& compared, ReportLanguage language);

}  // namespace hone
