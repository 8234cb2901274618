#include "report/verdict_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "report/report_fixture.h"
#include "verdict/verdict.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Record() {
  return *ParseJson(R"({
    "verdict": "accepted", "kind": "kernel", "reason": "faster", "detail": "2.00x faster than cudagraph",
    "speedup": {"vs_eager": 2.5, "vs_best": 2.0, "best_baseline": "cudagraph", "ci95": [1.9, 2.1],
                "candidate_us": 400, "best_us": 800},
    "error": {"candidate": 2e-7, "reference": 1.5e-7, "limit": 4e-7},
    "gates": {"sandbox": "pass", "build": "pass", "correct": "pass"},
    "launches": {"reference": 12, "candidate": 3},
    "task_audit": {"mutants": 4, "blind_spots": ["state ignored"], "blind": false},
    "notes": ["a note"],
    "card": {"floor_us": 50},
    "provenance": {"candidate": {"name": "fused"}, "task": {"name": "39_GRU"}, "device": "H200", "torch": "2.11",
                   "sandbox": "bubblewrap", "target": "cuda", "seconds": 12}})");
}

std::string Plain(const Json& record, bool verbose = false) {
  return VerdictText(record, kOneLine, verbose);
}

TEST(VerdictText, PutsTheAnswerFirstAndTheNextStepLast) {
  const std::vector<std::string> lines = Lines(Plain(Record()));
  ASSERT_GT(lines.size(), 5u);
  EXPECT_EQ(lines.front(), "accepted  fused for 39_GRU");
  EXPECT_THAT(lines.back(), HasSubstr("next"));
  EXPECT_LE(lines.size(), 24u) << "one screen";
}

TEST(VerdictText, HoldsTheNumbersOfTheRecord) {
  const std::string text = Plain(Record());
  for (const char* part : {"2x vs cudagraph", "95% interval 1.9 to 2.1", "2.5x vs eager", "400 us per call",
                           "cudagraph 800 us", "floor 50 us", "2.00e-07", "4.00e-07", "1.50e-07",
                           "kernel (3 kernels per forward, PyTorch 12)", "3 passed", "detect 3 of 4",
                           "not detected: state ignored", "H200, torch 2.11, sandbox bubblewrap", "a note"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("warning")));
}

TEST(VerdictText, FitsTheWidthOfAPipe) {
  Json record = Record();
  record["notes"] = {"a note of many words, " + std::string(60, 'x') + " and of long ones " +
                     std::string(60, 'y')};
  for (const int width : {60, 120})
    EXPECT_THAT(Lines(VerdictText(record, Style(false, width), false)),
                testing::Each(testing::SizeIs(testing::Le(static_cast<size_t>(width)))));
}

TEST(VerdictText, NamesBaselinesThatWereLeftOutAndHowDataTravelled) {
  Json record = Record();
  record["provenance"]["baselines"] = *ParseJson(
      R"({"timed": ["eager", "cudagraph"], "left_out": [{"name": "compile", "why": "--compile never"}]})");
  record["provenance"]["timed_memory"] = "shared device memory, about 2 GB";
  std::string text = Plain(record);
  EXPECT_THAT(text, HasSubstr("baselines  eager, cudagraph; left out: compile (--compile never)"));
  EXPECT_THAT(text, Not(HasSubstr("travelled"))) << "the usual way needs no line";
  record["provenance"]["timed_memory"] = "copies through the host (no driver)";
  text = Plain(record);
  EXPECT_THAT(text, HasSubstr("travelled as copies through the host (no driver)"));
}

TEST(VerdictText, ShowsTheContractForLaterUseAndErrorsOfLintFirst) {
  Json record = Record();
  EXPECT_THAT(Plain(record), Not(HasSubstr("later use"))) << "it was not checked";
  record["contract"] = *ParseJson(R"([{"name": "deepcopy", "state": "holds", "detail": ""},
      {"name": "pickle", "state": "broken", "detail": "TypeError: no\u001b[31m"},
      {"name": "batch_size", "state": "not_applicable", "detail": "takes no other size"}])");
  record["findings"] = Json::array();
  for (int line = 1; line <= 6; ++line)
    record["findings"].push_back(
        {{"severity", line == 6 ? "error" : "warning"}, {"line", line}, {"message", "m"}});
  const std::string text = Plain(record);
  for (const char* part : {"later use  holds: deepcopy", "broken: pickle: TypeError: no",
                           "not applicable: batch_size (takes no other size)", "lint       error line 6"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("\u001b")));
  EXPECT_THAT(text, Not(HasSubstr("warning line 4"))) << "four findings are shown";
}

TEST(VerdictText, ARejectionNamesItsReasonWhyAndGate) {
  Json record = Record();
  record["verdict"] = "rejected";
  record["reason"] = "wrong-output";
  record["detail"] = "default#1: output is off by 0.5\nsecond line";
  record["gates"] = {{"build", "pass"}, {"correct", "fail"}, {"speed", "skipped"}};
  record["speedup"] = nullptr;
  record["kind"] = nullptr;
  const std::string text = Plain(record);
  EXPECT_THAT(Lines(text)[0], HasSubstr("rejected: wrong-output"));
  EXPECT_THAT(text, HasSubstr("default#1: output is off by 0.5"));
  EXPECT_THAT(text, HasSubstr("failed: correct"));
  EXPECT_THAT(text, HasSubstr("not reached: speed"));
  EXPECT_THAT(text, Not(HasSubstr("speed-up")));
  EXPECT_THAT(text, HasSubstr(NextStep("wrong-output")));
}

TEST(VerdictText, SpeedThatWasNotJudgedIsNotCalledADifference) {
  Json record = Record();
  record["verdict"] = "no_difference";
  record["reason"] = "speed-not-judged";
  EXPECT_THAT(Lines(Plain(record))[0], HasSubstr("correct, speed not judged"));
  record["reason"] = "no-difference";
  EXPECT_THAT(Lines(Plain(record))[0], HasSubstr("no difference"));
}

TEST(VerdictText, ADegenerateTaskIsSaid) {
  Json record = Record();
  EXPECT_THAT(Plain(record), Not(HasSubstr("degenerate")));
  record["degenerate"] = {{"why", "the output does not depend on the inputs (cancel_self: x - x is 0)"},
                          {"rule", "cancel_self"}};
  EXPECT_THAT(Plain(record), HasSubstr("degenerate the output does not depend on the inputs (cancel_self"));
}

TEST(VerdictText, ABlindTaskAndAMissingSandboxAreSaidAloud) {
  Json record = Record();
  record["task_audit"] = {{"mutants", 4}, {"blind_spots", {"a", "b", "c", "d"}}, {"blind", true}};
  record["provenance"]["sandbox"] = "none";
  EXPECT_THAT(Plain(record), HasSubstr("this task is blind"));
  EXPECT_THAT(Plain(record), HasSubstr("no sandbox was in force"));
}

TEST(VerdictText, HasNoEscapesWhenItIsPipedAndSomeOnATerminal) {
  EXPECT_THAT(Plain(Record(), true), Not(HasSubstr("\x1b")));
  const std::string coloured = VerdictText(Record(), Style(true), false);
  EXPECT_THAT(coloured, HasSubstr("\x1b[32m"));
  Json rejected = Record();
  rejected["verdict"] = "rejected";
  EXPECT_THAT(VerdictText(rejected, Style(true), false), HasSubstr("\x1b[31m"));
}

// For example "/notes/0" for the first note.
Json& MemberAt(Json* record, const std::string& path) {
  for (const std::string& step : Split(path.substr(1), '/'))
    record = record->is_array() ? &record->at(std::stoi(step)) : &(*record)[step];
  return *record;
}

TEST(VerdictText, LetsNoTextOfACandidateReachTheTerminalAlive) {
  // Escapes that recolour, retitle or clear the screen, and bytes that are not text.
  const std::string hostile =
      "\x1b[2J\x1b]0;owned\x07 \xc2\x9b"
      "31m accepted\r\x08 \xff\xfe";
  for (const char* field :
       {"/reason", "/detail", "/kind", "/notes/0", "/speedup/best_baseline", "/task_audit/blind_spots/0",
        "/provenance/device", "/provenance/torch", "/provenance/sandbox", "/provenance/candidate/name",
        "/provenance/task/name", "/measurement/stdout", "/gates/correct"})
    for (const bool verbose : {false, true}) {
      Json record = Record();
      record["verdict"] = "rejected";
      MemberAt(&record, field) = hostile;
      const std::string text = Plain(record, verbose);
      bool clean = text == ValidUtf8(text);
      for (const char* bad : {"\x1b", "\x07", "\r", "\x08", "\xc2\x9b"})
        clean = clean && !hone::Contains(text, bad);
      EXPECT_TRUE(clean) << field << (verbose ? ", verbose" : "");
    }
  Json gates = Record();
  gates["gates"] = {{hostile, "fail"}};
  EXPECT_THAT(Plain(gates), Not(HasSubstr("\x1b"))) << "the name of a gate";
}

TEST(VerdictText, ADetailCannotForgeALineOfItsOwn) {
  Json record = Record();
  record["verdict"] = "rejected";
  record["reason"] = "crashed";
  record["detail"] = "boo\naccepted  fused for 39_GRU\n  speed-up  9x";
  int forged = 0;
  for (const std::string& line : Lines(Plain(record)))
    if (StartsWith(line, "accepted") || StartsWith(line, "  speed-up  9x")) ++forged;
  EXPECT_EQ(forged, 0);
}

TEST(VerdictText, ReadsARecordOfAnyShapeWithoutThrowing) {
  const Json record = Record();
  std::vector<Json> odd = {Json(), Json::array({1}), Json("text"), Json::object()};
  for (const auto& [key, value] : record.items())
    for (const Json& replacement : {Json(), Json(7), Json("x"), Json::array({1, "a"}), Json{{"a", 1}}}) {
      Json changed = record;
      changed[key] = replacement;
      odd.push_back(changed);
      changed.erase(key);
      odd.push_back(changed);
    }
  for (const Json& interval :
       {Json("x"), Json::array({1}), Json::array({"a", "b"}), Json::array({nullptr, 1})}) {
    Json changed = record;
    changed["speedup"]["ci95"] = interval;
    odd.push_back(changed);
  }
  for (const Json& one : odd) EXPECT_NO_THROW(Plain(one, true)) << DumpJson(one);
}

TEST(VerdictText, VerboseAddsTheWholeRecord) {
  Json record = Record();
  record["measurement"] = {{"stdout", "what it printed"}};
  EXPECT_THAT(Plain(record, false), Not(HasSubstr("what it printed")));
  EXPECT_THAT(Plain(record, true), HasSubstr("what it printed"));
}

TEST(NextStep, IsThereForEveryReasonAndDiffersFromTheOthers) {
  std::set<std::string> steps;
  std::vector<std::string> reasons = RejectReasons();
  for (const char* more : {"faster", "no-difference", "speed-not-judged"}) reasons.emplace_back(more);
  for (const Decision decision : {Decision::kCannotJudge, Decision::kInconclusive})
    for (const std::string& reason : ReasonNames(decision)) reasons.push_back(reason);
  for (const std::string& reason : reasons) {
    const std::string step = NextStep(reason);
    EXPECT_GT(step.size(), 15u) << reason;
    EXPECT_EQ(step.find('\n'), std::string::npos) << reason;
    steps.insert(step);
  }
  EXPECT_EQ(steps.size(), reasons.size());
  EXPECT_EQ(NextStep("no such reason"), "");
}

TEST(AnswersAreRight, WhereOnlySpeedIsLeftToSay) {
  for (const char* right :
       {"faster", "no-difference", "speed-not-judged", "only-in-a-row", "slower", "machine-busy"})
    EXPECT_TRUE(AnswersAreRight(right)) << right;
  for (const Decision decision : {Decision::kRejected, Decision::kCannotJudge})
    for (const std::string& name : ReasonNames(decision))
      EXPECT_EQ(AnswersAreRight(name), name == "slower") << name;
  EXPECT_FALSE(AnswersAreRight("no such reason"));
}

}  // namespace
}  // namespace hone
