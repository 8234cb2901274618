// Tests every gate but those of the clock, and what a verdict says, with hand-written measurements: one that
// is accepted, and one change in each case. verdict_speed_test.cpp has the clock and the ratio.
#include "verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/text.h"
#include "verdict/verdict_fixture.h"

namespace hone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace verdict_fixture;

using Change = std::function<void(Measurement&, JudgeContext&)>;
struct RejectRow {
  const char* what;
  const char* reason;
  const char* gate;
  const char* detail;  // must be part of the detail
  Change change;
};

const std::vector<RejectRow>& RejectRows() {
  static const std::vector<RejectRow> kRows = {
      {"a compiler error at import", "build-failed", "build", "Error building extension 'k'",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kImport, Exception("RuntimeError", "Error building extension 'k'"));
       }},
      {"a Triton compile error in the first call", "build-failed", "runs", "CompilationError",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTrial, Exception("CompilationError", "at 3:4: expected i32"));
       }},
      {"an exception at import", "import-failed", "build", "ModuleNotFoundError: No module named 'x'",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kImport, Exception("ModuleNotFoundError", "No module named 'x'"));
       }},
      {"no ModelNew", "import-failed", "build", "it defines no class ModelNew; it defines Model, Net",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kImport, {});
         m.stop.reset();
         m.has_class = false;
         m.class_hint = "Model, Net";
       }},
      {"a constructor that raises", "crashed", "build", "ValueError: no (while: build)",
       [](Measurement& m, JudgeContext&) { StopAt(m, Phase::kBuild, Exception("ValueError", "no")); }},
      {"a forward that raises", "crashed", "runs", "ValueError: no (while: trial)",
       [](Measurement& m, JudgeContext&) { StopAt(m, Phase::kTrial, Exception("ValueError", "no")); }},
      {"a segmentation fault", "crashed", "runs", "signal 11",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kRepeat,
                {FailureKind::kSignalled, "", "ended by signal 11 (Segmentation fault)", ""});
       }},
      {"an exit in the middle", "crashed", "runs", "exit code 0",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTiming, {FailureKind::kExited, "", "left with exit code 0 in the middle", ""});
       }},
      {"an exception without a word", "crashed", "runs", "it gave no message",
       [](Measurement& m, JudgeContext&) { StopAt(m, Phase::kProfile, Exception("", "")); }},
      {"a hang", "timeout", "runs", "no answer to 'run' within 10 s (while: trial)",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTrial, {FailureKind::kTimeout, "", "no answer to 'run' within 10 s", ""});
       }},
      {"a hang at import", "timeout", "build", "(while: import)",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kImport, {FailureKind::kTimeout, "", "no answer to 'load' within 300 s", ""});
       }},
      {"too much memory", "out-of-memory", "runs", "took 9 GiB",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTrial,
                {FailureKind::kMemory, "", "took 9 GiB of memory where 8 GiB are allowed", ""});
       }},
      {"a refused allocation on the CPU", "out-of-memory", "runs", "DefaultCPUAllocator",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTrial, Exception("RuntimeError", "DefaultCPUAllocator: can't allocate memory"));
       }},
      {"a refused allocation on the GPU", "out-of-memory", "build", "CUDA out of memory",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kBuild,
                Exception("OutOfMemoryError", "CUDA out of memory. Tried to allocate 1 TiB"));
       }},
      {"the system's out-of-memory killer", "out-of-memory", "runs", "ran out of memory",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTrial, {FailureKind::kSignalled, "", "ended by signal 9 (Killed)", ""});
       }},
      {"an error over the limit", "wrong-output", "correct", "default#3: output is off by 5.00e-04",
       [](Measurement& m, JudgeContext&) { m.trials[2].leaves[0].distance.relative = 5e-4; }},
      {"one element far off while the norm is right", "wrong-output", "correct", "element 7 of output",
       [](Measurement& m, JudgeContext&) {
         m.trials[2].leaves[0].distance.worst = 0.1;
         m.trials[2].leaves[0].distance.worst_at = 7;
       }},
      {"an error that is not a number", "wrong-output", "correct", "default#3",
       [](Measurement& m, JudgeContext&) {
         m.trials[2].leaves[0].distance.relative = std::numeric_limits<double>::quiet_NaN();
       }},
      {"random draws of another distribution", "wrong-output", "correct", "has another distribution",
       [](Measurement& m, JudgeContext&) {
         m.trials[0].leaves[0].distance.relative = 0.5;
         m.draws = DrawComparison();
         m.draws->wrong = "default#1: output has another distribution: means differ";
       }},
      {"the second output wrong", "wrong-output", "correct", "output[1] is off by",
       [](Measurement& m, JudgeContext&) {
         LeafTrial second = m.trials[4].leaves[0];
         second.path = "output[1]";
         second.distance.relative = 1;
         m.trials[4].leaves.push_back(second);
       }},
      {"another shape", "wrong-shape", "shape", "default#1: output has shape [1]",
       [](Measurement& m, JudgeContext&) {
         m.trials[0].shape_problem = "output has shape [1] where [2] is expected";
       }},
      {"another dtype", "wrong-dtype", "dtype", "default#1: output is float16",
       [](Measurement& m, JudgeContext&) {
         m.trials[0].dtype_problem = "output is float16 where float32 is expected";
       }},
      {"NaN in the output", "non-finite", "finite", "2 of 64 elements of output",
       [](Measurement& m, JudgeContext&) { m.trials[1].leaves[0].distance.non_finite = 2; }},
      {"memory nobody wrote", "unwritten-output", "written", "1 of 64 elements of output",
       [](Measurement& m, JudgeContext&) { m.trials[1].leaves[0].distance.poisoned = 1; }},
      {"inputs overwritten", "input-modified", "inputs", "default#5",
       [](Measurement& m, JudgeContext&) { m.trials[4].input_modified = true; }},
      {"a race", "nondeterministic", "deterministic", "6 of 19 repeats",
       [](Measurement& m, JudgeContext&) {
         m.repeats->distinct = 6;
         m.repeats->spread = 0.1;
       }},
      {"the answer to another case", "stale-result", "fresh", "it returned the output of default#1",
       [](Measurement& m, JudgeContext&) { m.trials[3].stale_of = "default#1"; }},
      {"a wrong answer while timed", "stale-result", "timed_answers", "call 7 of round 2",
       [](Measurement& m, JudgeContext&) {
         m.timing->worst_answer = 1.5;
         m.timing->worst_answer_at = "call 7 of round 2";
       }},
      {"weights that found no place", "weights-not-transferred", "correct", "fc.weight, fc.bias",
       [](Measurement& m, JudgeContext&) {
         m.weights_missing = {"fc.weight", "fc.bias"};
         m.trials[0].leaves[0].distance.relative = 1;
       }},
      {"load_reference raises", "weights-not-transferred", "build", "KeyError: 'w'",
       [](Measurement& m, JudgeContext&) { StopAt(m, Phase::kWeights, Exception("KeyError", "'w'")); }},
      {"a replaced clock", "timer-tampering", "timers", "it replaced time.perf_counter, torch.allclose",
       [](Measurement& m, JudgeContext&) {
         m.tampering = {"time.perf_counter", "torch.allclose"};
       }},
      {"an output that computes when it is read", "unsynchronised", "runs", "it returned a LazyTensor",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTrial, {FailureKind::kUnreadable, "", "a LazyTensor", ""});
       }},
      {"calls that are computed together", "unsynchronised", "synchronised", "not computed one by one",
       [](Measurement& m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", 40, 9000); }},
      {"timed calls that change their inputs", "input-modified", "timed_answers", "a timed call changed",
       [](Measurement& m, JudgeContext&) { m.timing->inputs_changed = true; }},
      {"device events that disagree with the host", "unsynchronised", "synchronised",
       "device events measured",
       [](Measurement& m, JudgeContext&) {
         for (Round& round : m.timing->contestants[0].rounds) round.event_us_per_call = 900;
       }},
      {"faster than the memory", "too-fast", "floor", "at cache speed",
       [](Measurement&, JudgeContext& c) { c.impossible_below_us = 401; }},
      {"a clock that stood still", "too-fast", "floor", "at cache speed",
       [](Measurement& m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", -1); }},
      {"a socket", "escaped", "sandbox", "it opened a network socket; it opened /etc/x for writing",
       [](Measurement& m, JudgeContext&) {
         m.attempts = {"opened a network socket", "opened /etc/x for writing"};
       }},
      {"nonsense on the worker's channel", "escaped", "sandbox", "sent an invalid message",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kTiming, {FailureKind::kProtocol, "", "not a frame", ""});
       }},
      {"a fork bomb", "escaped", "sandbox", "started 300 processes",
       [](Measurement& m, JudgeContext&) {
         StopAt(m, Phase::kBuild,
                {FailureKind::kProcesses, "", "started 300 processes where 256 are allowed", ""});
       }},
      {"slower than the best baseline", "slower", "speed",
       "900 us per call against 800 us for cudagraph: 0.89x",
       [](Measurement& m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", 900); }},
  };
  return kRows;
}

TEST(Verdict, SaysThatTheTaskIsDegenerate) {
  JudgeContext context = Context();
  EXPECT_TRUE(ToJson(Judge(Good(), context))["degenerate"].is_null());
  context.degenerate = "the output does not depend on the inputs";
  context.degenerate_rule = "cancel_self";
  const OrderedJson json = ToJson(Judge(Good(), context));
  EXPECT_EQ(json["degenerate"]["why"], context.degenerate);
  EXPECT_EQ(json["degenerate"]["rule"], "cancel_self");
}

TEST(Judge, AcceptsWhatIsRightAndFaster) {
  const Verdict v = Judge(Good(), Context());
  EXPECT_EQ(v.verdict, "accepted");
  EXPECT_TRUE(v.accepted());
  EXPECT_FALSE(v.rejected());
  EXPECT_EQ(v.reason, "faster");
  EXPECT_THAT(v.detail, HasSubstr("2.00x faster than cudagraph"));
  EXPECT_EQ(v.best_baseline, "cudagraph");
  EXPECT_NEAR(v.candidate_us, 400, 1e-6);
  EXPECT_NEAR(v.best_us, 800, 1e-6);
  EXPECT_NEAR(v.eager_us, 1000, 1e-6);
  EXPECT_NEAR(v.vs_best.estimate, 2, 1e-9);
  EXPECT_NEAR(v.vs_eager.estimate, 2.5, 1e-9);
  for (const auto& [gate, state] : v.gates) EXPECT_EQ(state, "pass") << gate;
  EXPECT_THAT(v.notes, IsEmpty());
}

TEST(Judge, AcceptsOtherRandomDrawsOfTheSameDistribution) {
  Measurement m = Good();
  m.draws = DrawComparison();
  for (Trial& trial : m.trials) {
    trial.leaves[0].distance.relative = 0.5;
    trial.leaves[0].by_distribution = true;
  }
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.verdict, "accepted");
  EXPECT_NE(v.error, 0.5) << "the distance between two draws is no error";
}

TEST(Judge, RejectsEachFaultForItsOwnReasonAtItsOwnGate) {
  for (const RejectRow& row : RejectRows()) {
    SCOPED_TRACE(row.what);
    Measurement m = Good();
    JudgeContext context = Context();
    row.change(m, context);
    const Verdict v = Judge(m, context);
    EXPECT_EQ(v.verdict, "rejected");
    EXPECT_EQ(v.reason, row.reason);
    EXPECT_THAT(v.detail, HasSubstr(row.detail));
    bool before = true;
    for (const auto& [gate, state] : v.gates) {
      if (gate == row.gate) {
        EXPECT_EQ(state, "fail") << gate;
        before = false;
      } else if (before) {
        EXPECT_NE(state, "fail") << gate;
      } else {
        EXPECT_NE(state, "pass") << gate << " was never trusted, so it did not pass";
      }
    }
    EXPECT_FALSE(before) << "there is no gate " << row.gate;
  }
}

TEST(Judge, HasACaseForEveryReasonAndNoReasonBeside) {
  std::set<std::string> produced;
  for (const RejectRow& row : RejectRows()) produced.insert(row.reason);
  const std::set<std::string> known(RejectReasons().begin(), RejectReasons().end());
  EXPECT_EQ(produced, known);
  EXPECT_EQ(known.size(), RejectReasons().size()) << "a reason is listed twice";
}

TEST(Judge, NamesTheFirstGateInOrderWhenSeveralFail) {
  struct Fault {
    const char* gate;
    const char* reason;
    Change change;
  };
  const std::vector<Fault> faults = {
      {"lint", "build-failed",
       [](Measurement& m, JudgeContext&) { m.refused_by = Lint("any-rule", Severity::kError); }},
      {"sandbox", "escaped", [](Measurement& m, JudgeContext&) { m.attempts = {"opened a network socket"}; }},
      {"build", "import-failed", [](Measurement& m, JudgeContext&) { m.has_class = false; }},
      {"timers", "timer-tampering", [](Measurement& m, JudgeContext&) { m.tampering = {"time.time"}; }},
      {"shape", "wrong-shape", [](Measurement& m, JudgeContext&) { m.trials[4].shape_problem = "x"; }},
      {"dtype", "wrong-dtype", [](Measurement& m, JudgeContext&) { m.trials[3].dtype_problem = "x"; }},
      {"written", "unwritten-output",
       [](Measurement& m, JudgeContext&) { m.trials[2].leaves[0].distance.poisoned = 1; }},
      {"finite", "non-finite",
       [](Measurement& m, JudgeContext&) { m.trials[2].leaves[0].distance.non_finite = 1; }},
      {"fresh", "stale-result", [](Measurement& m, JudgeContext&) { m.trials[1].stale_of = "default#1"; }},
      {"inputs", "input-modified", [](Measurement& m, JudgeContext&) { m.trials[1].input_modified = true; }},
      {"correct", "wrong-output",
       [](Measurement& m, JudgeContext&) { m.trials[0].leaves[0].distance.relative = 1; }},
      {"runs", "crashed",
       [](Measurement& m, JudgeContext&) {
         m.stop = Stop{Phase::kTiming, {FailureKind::kExited, "", "left", ""}};
       }},
      {"deterministic", "nondeterministic", [](Measurement& m, JudgeContext&) { m.repeats->spread = 1; }},
      {"judgeable", "blind-input",
       [](Measurement&, JudgeContext& c) {
         c.doubts = {{DoubtKind::kBlindInput, "input 1"}};
       }},
      {"timed_answers", "stale-result", [](Measurement& m, JudgeContext&) { m.timing->worst_answer = 9; }},
      {"synchronised", "unsynchronised",
       [](Measurement& m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", 40, 9000); }},
      {"floor", "too-fast", [](Measurement&, JudgeContext& c) { c.impossible_below_us = 1e9; }},
      {"speed", "slower",
       [](Measurement& m, JudgeContext&) { m.timing->contestants[0] = Steady("candidate", 5000); }},
  };
  std::vector<std::string> order;
  for (const auto& [gate, state] : Judge(Good(), Context()).gates) order.push_back(gate);
  std::vector<std::string> listed;
  for (const Fault& fault : faults) listed.push_back(fault.gate);
  ASSERT_EQ(order, listed) << "every gate has a fault here";
  for (size_t first = 0; first < faults.size(); ++first)
    for (size_t second = first + 1; second < faults.size(); ++second) {
      Measurement m = Good();
      JudgeContext context = Context();
      faults[second].change(m, context);
      faults[first].change(m, context);
      const Verdict v = Judge(m, context);
      EXPECT_EQ(v.reason, faults[first].reason) << faults[first].gate << " and " << faults[second].gate;
      EXPECT_EQ(GateState(v, faults[first].gate), "fail") << faults[second].gate;
    }
}

TEST(Judge, SkipsTheGatesThatWereNeverReached) {
  Measurement m = Good();
  StopAt(m, Phase::kImport, Exception("SyntaxError", "invalid syntax"));
  const Verdict v = Judge(m, Context());
  for (const auto& [gate, state] : v.gates) {
    const std::string expected = gate == "lint" || gate == "sandbox" ? "pass"
                                 : gate == "build"                   ? "fail"
                                                                     : "skipped";
    EXPECT_EQ(state, expected) << gate;
  }
  EXPECT_EQ(v.candidate_us, 0);
  EXPECT_EQ(v.best_baseline, "");
}

TEST(Judge, ALeftEvaluationNeverPassesWhateverThePhaseItStoppedIn) {
  for (int at = 0; at <= static_cast<int>(Phase::kContract); ++at)
    for (int kind = 0; kind <= static_cast<int>(FailureKind::kProtocol); ++kind) {
      const Phase phase = static_cast<Phase>(at);
      Measurement m = Good();
      StopAt(m, phase, {static_cast<FailureKind>(kind), "E", "said so", ""});
      const Verdict v = Judge(m, Context());
      EXPECT_TRUE(v.rejected()) << NameOf(phase) << " " << kind << " " << v.verdict;
      EXPECT_THAT(RejectReasons(), Contains(v.reason)) << NameOf(phase) << " " << kind;
      EXPECT_THAT(v.detail, Not(IsEmpty())) << NameOf(phase) << " " << kind;
    }
}

TEST(Judge, WhatStaticAnalysisRefusedIsRejectedWithTheReasonThatARunWouldHaveGiven) {
  struct Row {
    const char* rule;
    const char* reason;
  };
  for (const Row& row : std::vector<Row>{{"recurrence-race", "nondeterministic"},
                                         {"missing-sync", "nondeterministic"},
                                         {"output-never-written", "unwritten-output"},
                                         {"syntax", "import-failed"},
                                         {"missing-modelnew", "import-failed"},
                                         {"a rule of tomorrow", "build-failed"}}) {
    Measurement m = Good();
    m.findings = {Lint("a hint", Severity::kNote), Lint(row.rule, Severity::kError)};
    m.refused_by = m.findings[1];
    const Verdict v = Judge(m, Context());
    EXPECT_TRUE(v.rejected()) << row.rule;
    EXPECT_EQ(v.reason, row.reason) << row.rule;
    EXPECT_EQ(GateState(v, "lint"), "fail") << row.rule;
    EXPECT_THAT(v.detail, HasSubstr("line 7: what is wrong")) << row.rule;
    EXPECT_THAT(v.detail, HasSubstr(row.rule)) << row.rule;
  }
}

TEST(Judge, AFindingOfStaticAnalysisIsShownAndCostsNothingWhereTheFileRan) {
  Measurement m = Good();
  m.findings = {Lint("a-warning", Severity::kWarning), Lint("a-note", Severity::kNote),
                Lint("tensor-indexing", Severity::kError)};
  const Verdict v = Judge(m, Context());
  EXPECT_TRUE(v.accepted()) << v.detail;
  EXPECT_EQ(GateState(v, "lint"), "pass");
  const OrderedJson json = ToJson(v);
  ASSERT_EQ(json.at("findings").size(), 3u);
  EXPECT_EQ(json.at("findings")[0].at("rule"), "a-warning");
  EXPECT_EQ(json.at("findings")[0].at("severity"), "warning");
  EXPECT_EQ(json.at("findings")[0].at("line"), 7);
}

TEST(Judge, ABrokenContractIsToldAndDoesNotReject) {
  Measurement m = Good();
  m.contract = {{"load_state_dict", ContractState::kHolds, ""},
                {"deepcopy", ContractState::kBroken, "TypeError: cannot pickle"},
                {"batch_size", ContractState::kNotApplicable, "PyTorch's module takes no other size"}};
  const Verdict v = Judge(m, Context());
  EXPECT_TRUE(v.accepted()) << v.detail;
  const OrderedJson json = ToJson(v);
  ASSERT_EQ(json.at("contract").size(), 3u);
  EXPECT_EQ(json.at("contract")[0].at("state"), "holds");
  EXPECT_EQ(json.at("contract")[1].at("name"), "deepcopy");
  EXPECT_EQ(json.at("contract")[1].at("state"), "broken");
  EXPECT_EQ(json.at("contract")[1].at("detail"), "TypeError: cannot pickle");
  EXPECT_EQ(json.at("contract")[2].at("state"), "not_applicable");
}

TEST(Judge, AnErrorAtItsLimitPassesAndTheClosestOneIsShown) {
  Measurement m = Good();
  m.trials[3].leaves[0].distance.relative = m.trials[3].leaves[0].limit.relative;
  m.trials[3].leaves[0].distance.worst = m.trials[3].leaves[0].limit.worst;
  // Larger, but far below its own wider limit.
  m.trials[1].leaves[0].distance.relative = 1e-5;
  m.trials[1].leaves[0].limit = {1e-3, 1};
  const Verdict v = Judge(m, Context());
  EXPECT_TRUE(v.accepted()) << v.detail;
  EXPECT_EQ(v.error, 4e-7);
  EXPECT_EQ(v.error_limit, 4e-7);
  EXPECT_EQ(v.reference_error, 1.5e-7);
}

TEST(Judge, ReorderedRoundingIsNotARace) {
  Measurement m = Good();
  m.repeats->distinct = 19;
  m.repeats->spread = m.repeats->spread_limit;
  EXPECT_TRUE(Judge(m, Context()).accepted());
}

TEST(Judge, MissingWeightsThatChangeNothingAreForgiven) {
  Measurement m = Good();
  m.weights_missing = {"unused"};
  EXPECT_TRUE(Judge(m, Context()).accepted());
}

TEST(Judge, TellsWhoseKernelsTheTimeIsIn) {
  struct Row {
    double own_us, library_us;
    const char* kind;
  };
  for (const Row& row : std::vector<Row>{{100, 0, "kernel"},
                                         {70, 30, "kernel"},
                                         {69, 31, "mixed"},
                                         {31, 69, "mixed"},
                                         {30, 70, "library"},
                                         {0, 5, "library"},
                                         {0, 0, ""}}) {
    Measurement m = Good();
    m.profile->own_us = row.own_us;
    m.profile->library_us = row.library_us;
    const Verdict v = Judge(m, Context());
    EXPECT_EQ(v.kind, row.kind) << row.own_us;
    EXPECT_EQ(v.candidate_launches, 3);
  }
  Measurement unprofiled = Good();
  unprofiled.profile.reset();
  EXPECT_EQ(Judge(unprofiled, Context()).kind, "");
  EXPECT_EQ(Judge(unprofiled, Context()).candidate_launches, -1);
}

TEST(Judge, ATaskIsBlindOnlyWhenItTellsNoMutantApart) {
  JudgeContext context = Context();
  const Verdict some = Judge(Good(), context);
  EXPECT_FALSE(some.blind);
  EXPECT_EQ(some.mutants_total, 2);
  EXPECT_THAT(some.blind_spots, ElementsAre("state ignored"));
  context.mutants[0].told_apart = false;
  const Verdict none = Judge(Good(), context);
  EXPECT_TRUE(none.blind);
  EXPECT_THAT(none.blind_spots, ElementsAre("zeros", "state ignored"));
  context.mutants.clear();
  EXPECT_FALSE(Judge(Good(), context).blind) << "nothing was tried, so nothing is known";
}

TEST(Judge, KeepsTheNotesOfTheMeasurementAndWarnsOfAReusedBuffer) {
  Measurement m = Good();
  m.notes = {"torch.compile was left out"};
  m.timing->buffer_reused = true;
  EXPECT_THAT(Judge(m, Context()).notes,
              ElementsAre("torch.compile was left out", HasSubstr("the same output buffer")));
}

TEST(Judge, CleansWhatACandidateSaysAboutItself) {
  Measurement m = Good();
  StopAt(m, Phase::kTrial, Exception("E\x1b[2J", "\x1b]0;accepted\x07 boo\xff"));
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.detail.find('\x1b'), std::string::npos);
  EXPECT_EQ(v.detail.find('\x07'), std::string::npos);
  EXPECT_EQ(v.detail, ValidUtf8(v.detail));
}

TEST(VerdictJson, HoldsTheFieldsOfTheContract) {
  const OrderedJson json = ToJson(Judge(Good(), Context()));
  EXPECT_EQ(json.at("verdict"), "accepted");
  EXPECT_EQ(json.at("kind"), "kernel");
  EXPECT_EQ(json.at("reason"), "faster");
  EXPECT_TRUE(json.at("detail").is_string());
  const OrderedJson& speed = json.at("speedup");
  EXPECT_NEAR(speed.at("vs_eager").get<double>(), 2.5, 1e-9);
  EXPECT_NEAR(speed.at("vs_best").get<double>(), 2, 1e-9);
  EXPECT_EQ(speed.at("best_baseline"), "cudagraph");
  ASSERT_EQ(speed.at("ci95").size(), 2u);
  EXPECT_LT(speed.at("ci95")[0].get<double>(), 2);
  EXPECT_GT(speed.at("ci95")[1].get<double>(), 2);
  EXPECT_EQ(json.at("error").at("candidate"), 2e-7);
  EXPECT_EQ(json.at("error").at("reference"), 1.5e-7);
  EXPECT_EQ(json.at("error").at("limit"), 4e-7);
  EXPECT_EQ(json.at("launches").at("reference"), 12);
  EXPECT_EQ(json.at("launches").at("candidate"), 3);
  EXPECT_EQ(json.at("task_audit").at("blind"), false);
  EXPECT_EQ(json.at("task_audit").at("blind_spots"), OrderedJson::array({"state ignored"}));
  EXPECT_EQ(json.keys().front(), "verdict") << "the answer comes first";
}

TEST(VerdictJson, OfEveryRejectionParsesAndItsGatesSayOnlyThreeThings) {
  for (const RejectRow& row : RejectRows()) {
    Measurement m = Good();
    JudgeContext context = Context();
    row.change(m, context);
    const Result<Json> json = ParseJson(DumpJson(ToJson(Judge(m, context))));
    ASSERT_TRUE(json.ok()) << row.what;
    EXPECT_EQ(GetString(*json, "verdict"), "rejected") << row.what;
    EXPECT_EQ(GetString(*json, "reason"), row.reason) << row.what;
    for (const char* field : {"kind", "speedup", "error", "gates", "launches", "detail"})
      EXPECT_TRUE(json->contains(field)) << row.what << " lacks " << field;
    for (const auto& [gate, state] : GetMember(*json, "gates").items())
      EXPECT_TRUE(state == "pass" || state == "fail" || state == "skipped") << row.what << " " << gate;
  }
}

TEST(VerdictJson, SaysNullForWhatIsNotKnown) {
  Measurement m = Good();
  StopAt(m, Phase::kImport, Exception("SyntaxError", "x"));
  JudgeContext context = Context();
  context.reference_launches = -1;
  const OrderedJson json = ToJson(Judge(m, context));
  EXPECT_TRUE(json.at("kind").is_null());
  EXPECT_TRUE(json.at("speedup").is_null());
  EXPECT_TRUE(json.at("launches").at("reference").is_null());
  EXPECT_TRUE(json.at("launches").at("candidate").is_null());
}

TEST(Judge, NeverAcceptsWhereTheTaskCannotTell) {
  const std::pair<DoubtKind, const char*> doubts[] = {
      {DoubtKind::kInaccurateReference, "inaccurate-reference"},
      {DoubtKind::kBlindTask, "blind-task"},
      {DoubtKind::kBlindInput, "blind-input"},
      {DoubtKind::kBlindParameter, "blind-parameter"},
      {DoubtKind::kBlindOutput, "blind-output"},
  };
  for (const auto& [kind, reason] : doubts) {
    JudgeContext context = Context();
    context.doubts = {{kind, "why"}};
    const Verdict v = Judge(Good(), context);
    EXPECT_EQ(v.verdict, "cannot_judge") << reason;
    EXPECT_EQ(v.reason, reason);
    EXPECT_EQ(v.detail, "why");
  }
}

TEST(Judge, AllowBlindVouchesForOnePartAndForNothingMore) {
  for (const DoubtKind kind : {DoubtKind::kBlindInput, DoubtKind::kBlindParameter, DoubtKind::kBlindOutput}) {
    JudgeContext context = Context();
    context.doubts = {{kind, "input 1 can be ignored"}};
    context.allow_blind = true;
    const Verdict v = Judge(Good(), context);
    EXPECT_EQ(v.verdict, "accepted");
    EXPECT_THAT(v.notes, Contains(HasSubstr("input 1 can be ignored")));
  }
  for (const DoubtKind kind : {DoubtKind::kInaccurateReference, DoubtKind::kBlindTask}) {
    JudgeContext context = Context();
    context.doubts = {{kind, "why"}};
    context.allow_blind = true;
    EXPECT_EQ(Judge(Good(), context).verdict, "cannot_judge");
  }
}

TEST(Judge, AWrongFileIsRejectedEvenWhereTheTaskIsBlind) {
  Measurement m = Good();
  m.trials[0].leaves[0].distance.relative = 1;
  JudgeContext context = Context();
  context.doubts = {{DoubtKind::kBlindInput, "why"}};
  EXPECT_EQ(Judge(m, context).reason, "wrong-output");
}

TEST(Judge, EveryElementCounts) {
  Measurement m = Good();
  m.trials[0].leaves[0].distance.scaled = 1;
  m.trials[0].leaves[0].limit.scaled = 0.5;
  const Verdict v = Judge(m, Context());
  EXPECT_EQ(v.reason, "wrong-output");
  EXPECT_THAT(v.detail, HasSubstr("row and channel"));
}

TEST(Judge, AToleranceReplacesTheLimit) {
  Measurement m = Good();
  LeafTrial& leaf = m.trials[0].leaves[0];
  leaf.distance.relative = 1;
  leaf.by_tolerance = true;
  EXPECT_EQ(Judge(m, Context()).verdict, "accepted");
  leaf.far = 3;
  EXPECT_EQ(Judge(m, Context()).reason, "wrong-output");
}

}  // namespace
}  // namespace hone
