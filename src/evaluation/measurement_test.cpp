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

TEST(ProfiledKernels, SurviveTheRecord) {
  Measurement m;
  m.profile = Profile{7, 60, 40, {{"gemm", 3, 60}, {"bias", 4, 40}}};
  const Json stored = *ParseJson(DumpJson(ToJson(m)));
  const std::vector<ProfiledKernel> again =
      ProfiledKernelsFrom(GetMember(GetMember(stored, "profile"), "kernels"));
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].name, "gemm");
  EXPECT_EQ(again[0].count, 3);
  EXPECT_EQ(again[0].time_us, 60);
  EXPECT_EQ(again[1].time_us, 40);
}

TEST(ProfiledKernels, OfAnEarlierVersionHaveNoTime) {
  const std::vector<ProfiledKernel> kernels =
      ProfiledKernelsFrom(*ParseJson(R"([{"name": "gemm", "count": 3}])"));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_LT(kernels[0].time_us, 0);
  Measurement m;
  m.profile = Profile{1, 0, 0, kernels};
  EXPECT_EQ(ToJson(m).at("profile").at("kernels"), *ParseJson(R"([{"name": "gemm", "count": 3}])"));
}

// The candidate's process may say anything.
TEST(ProfiledKernels, OfAHostileProcessAreShortAndClean) {
  const std::string flood(1u << 20, 'k');
  Json rows =
      Json::array({7, nullptr, "gemm", {{"name", ""}, {"time_us", 9}}, {{"name", 3}, {"time_us", 9}}});
  rows.push_back({{"name", "\x1b[2Jclear\nline"}, {"count", -4}, {"time_us", -1e300}});
  rows.push_back({{"name", flood}, {"count", "many"}, {"time_us", "long"}});
  for (int i = 0; i < 40; ++i) rows.push_back({{"name", "k"}, {"time_us", 1.0 * i}});
  const std::vector<ProfiledKernel> kernels = ProfiledKernelsFrom(rows);
  ASSERT_EQ(kernels.size(), 12u);
  for (const ProfiledKernel& one : kernels) {
    EXPECT_LE(one.name.size(), 200u);
    EXPECT_EQ(one.name.find_first_of("\x1b\n"), std::string::npos) << one.name;
    EXPECT_GE(one.count, 0);
  }
  EXPECT_EQ(kernels[0].time_us, 9) << "the longest first";
  EXPECT_LT(kernels[11].time_us, 0);
  for (const char* text : {"null", "3", "{}", R"({"name": "k"})"})
    EXPECT_TRUE(ProfiledKernelsFrom(*ParseJson(text)).empty()) << text;
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
