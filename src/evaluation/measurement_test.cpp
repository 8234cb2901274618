#include "evaluation/measurement.h"

#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

TEST(MeasurementJson, HoldsWhatWasSeen) {
  Measurement m;
  m.weights_how = "load_reference";
  m.weights_missing = {"fc.bias"};
  Trial trial;
  trial.case_id = "stress#2";
  trial.stale_of = "default#1";
  LeafTrial leaf;
  leaf.path = "output[1]";
  leaf.distance = {0.25, 0.5, 1, 2, 8, 7};
  leaf.limit = {1e-6, 1e-5};
  trial.leaves = {leaf};
  m.trials = {trial};
  m.repeats = Repeats{20, 5, 3, 1e-3, 1e-6};
  Timing timing;
  Contestant eager;
  eager.name = "eager";
  eager.rounds = {Round{0, 1, 2, 1e-6, 3e-6, 0, 0}};
  timing.contestants = {eager};
  timing.answers_checked = 12;
  m.timing = timing;
  const Json json = *ParseJson(DumpJson(ToJson(m)));
  EXPECT_TRUE(json.at("stop").is_null());
  EXPECT_EQ(json.at("weights").at("how"), "load_reference");
  EXPECT_EQ(json.at("weights").at("missing"), Json::array({"fc.bias"}));
  const Json& seen = json.at("trials").at(0);
  EXPECT_EQ(seen.at("case"), "stress#2");
  EXPECT_EQ(seen.at("stale_of"), "default#1");
  const Json& distance = seen.at("outputs").at(0).at("distance");
  EXPECT_EQ(distance.at("relative"), 0.25);
  EXPECT_EQ(distance.at("worst"), 0.5);
  EXPECT_EQ(distance.at("non_finite"), 1);
  EXPECT_EQ(distance.at("unwritten"), 2);
  EXPECT_EQ(distance.at("elements"), 8);
  EXPECT_EQ(distance.at("worst_at"), 7);
  EXPECT_EQ(json.at("repeats").at("distinct"), 3);
  EXPECT_EQ(json.at("timing").at("contestants").at(0).at("name"), "eager");
  EXPECT_NEAR(json.at("timing").at("contestants").at(0).at("median_us").get<double>(), 2, 1e-9);
  EXPECT_EQ(json.at("timing").at("answers_checked"), 12);
}

TEST(MeasurementJson, NamesEveryWayAWorkerCanFail) {
  const std::pair<FailureKind, const char*> kinds[] = {
      {FailureKind::kException, "exception"}, {FailureKind::kUnreadable, "unreadable"},
      {FailureKind::kExited, "exited"},       {FailureKind::kSignalled, "signalled"},
      {FailureKind::kTimeout, "timeout"},     {FailureKind::kMemory, "memory"},
      {FailureKind::kProcesses, "processes"}, {FailureKind::kProtocol, "protocol"},
  };
  for (const auto& [kind, name] : kinds) {
    Measurement m;
    m.stop = Stop{Phase::kBuild, {kind, "T", "m", "d"}};
    const Json json = ToJson(m);
    EXPECT_EQ(json.at("stop").at("phase"), "build");
    EXPECT_EQ(json.at("stop").at("failure").at("kind"), name);
    EXPECT_EQ(json.at("stop").at("failure").at("detail"), "d");
  }
}

TEST(MeasurementJson, StaysValidWhateverACandidateSaid) {
  Measurement m;
  m.stop = Stop{Phase::kImport, {FailureKind::kException, "\xff", "\x1b[31m\x80", std::string("a\0b", 3)}};
  m.stdout_tail = "\xc3\x28 {\"verdict\":\"accepted\"}";
  m.notes = {"\xfe"};
  Trial trial;
  LeafTrial leaf;
  leaf.distance.relative = std::numeric_limits<double>::quiet_NaN();
  leaf.distance.worst = std::numeric_limits<double>::infinity();
  trial.leaves = {leaf};
  m.trials = {trial};
  EXPECT_TRUE(ParseJson(DumpJson(ToJson(m))).ok());
}

}  // namespace
}  // namespace hone
