#include "pipeline/outcome.h"

#include <gtest/gtest.h>

#include "store/run_result.h"

namespace hone {
namespace {

CandidateRecord JudgedCandidate(const std::string& key, const std::string& verdict, const std::string& reason,
                                double vs_best = 0) {
  CandidateRecord one;
  one.key = key;
  one.phase = "expert";
  one.verdict = verdict;
  one.reason = reason;
  one.vs_best = vs_best;
  one.vs_eager = 2 * vs_best;
  return one;
}

std::string Sentence(const std::vector<CandidateRecord>& candidates,
                     const std::vector<DecisionRecord>& decisions = {}, const std::string& status = "done") {
  RunRecord run;
  run.status = status;
  run.card = R"({"best_rung": "cudagraph"})";
  run.result = ResultOf(run, candidates);
  return ResultSentence(run, candidates, decisions);
}

TEST(ResultSentence, NamesTheBestAcceptedOne) {
  EXPECT_EQ(Sentence({JudgedCandidate("a", "accepted", "faster", 1.5),
                      JudgedCandidate("b", "accepted", "faster", 2.5),
                      JudgedCandidate("c", "rejected", "crashed")}),
            "b is 2.50x as fast as the best PyTorch baseline (5.00x eager)");
}

TEST(ResultSentence, SaysThatTheBestOfARunThatEndedEarlyIsNotConfirmed) {
  const CandidateRecord best = JudgedCandidate("b", "accepted", "faster", 2.5);
  const std::string confirmed = "b is 2.50x as fast as the best PyTorch baseline (5.00x eager)";
  for (const char* status : {"stopped", "failed"}) {
    EXPECT_EQ(Sentence({best}, {}, status), confirmed + "; it is not confirmed by a second judgement");
    EXPECT_EQ(Sentence({best}, {{"confirm:a", "", "confirm", "", ""}}, status),
              confirmed + "; it is not confirmed by a second judgement");
    EXPECT_EQ(Sentence({best}, {{"confirm:b", "", "confirm", "", ""}}, status), confirmed);
  }
  EXPECT_EQ(Sentence({best}, {}, "done"), confirmed);
}

TEST(ResultSentence, KeepsPyTorchOnlyWhereSomethingWasRight) {
  EXPECT_EQ(Sentence({JudgedCandidate("a", "rejected", "slower", 0.5)}),
            "keep PyTorch: no correct candidate was faster than cudagraph");
  EXPECT_EQ(
      Sentence({JudgedCandidate("a", "rejected", "crashed"), JudgedCandidate("b", "rejected", "wrong-output"),
                JudgedCandidate("c", "rejected", "wrong-output")}),
      "no candidate was right: 2 wrong-output, 1 crashed");
}

TEST(ResultSentence, ABusyMachineIsNotASlowCandidate) {
  const CandidateRecord busy = JudgedCandidate("a", "inconclusive", "machine-busy", 1.5);
  const CandidateRecord slow = JudgedCandidate("b", "rejected", "slower", 0.5);
  EXPECT_EQ(
      Sentence({busy, JudgedCandidate("c", "rejected", "crashed")}),
      "keep PyTorch: the machine was too busy to tell whether a correct candidate is faster than cudagraph");
  EXPECT_EQ(
      Sentence({busy, slow}),
      "keep PyTorch: no correct candidate was faster than cudagraph (the machine was too busy to time 1 of "
      "2)");
}

TEST(ResultSentence, SaysWhyNothingCouldBeTried) {
  EXPECT_EQ(Sentence({}, {{"declined:expert", "", "expert", "expert: not proposed: the task imports 'x'", ""},
                          {"declined:cpu/gru", "", "expert", "cpu/gru: not proposed: no GRU", ""}}),
            "nothing could be tried: the task imports 'x'");
  EXPECT_EQ(Sentence({}, {{"declined:cpu/gru", "", "expert", "cpu/gru: not proposed: no GRU", ""},
                          {"declined:cpu/conv", "", "expert", "cpu/conv: not proposed: nothing", ""}}),
            "nothing could be tried: no recipe suits this task; cpu/gru: no GRU (1 more declined)");
  CandidateRecord lost = JudgedCandidate("a", "rejected", "import-failed");
  lost.detail =
      "FileNotFoundError: 'table.txt'; t.py:5 reads table.txt, and a candidate cannot: it runs in a sandbox "
      "without the task's folder. Move what is needed";
  EXPECT_EQ(
      Sentence({lost}),
      "nothing could be tried: the task reads a file beside it, and a candidate is one file that is judged "
      "alone (FileNotFoundError: 'table.txt'; t.py:5 reads table.txt)");
}

TEST(ResultSentence, OfAFailedRunClaimsNothingAboutPyTorch) {
  EXPECT_EQ(Sentence({JudgedCandidate("a", "rejected", "slower", 0.5)}, {}, "failed"), "nothing is accepted");
  EXPECT_EQ(Sentence({}, {}, "running"), "");
}

}  // namespace
}  // namespace hone
