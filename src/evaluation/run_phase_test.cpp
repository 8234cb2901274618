#include "evaluation/run_phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace hone {
namespace {

using testing::HasSubstr;

TEST(RunPhase, PassesOnWhatThePhaseSays) {
  std::optional<Stop> stop;
  EXPECT_TRUE(*RunPhase(
      Phase::kTrial, [] { return Result<bool>(true); }, &stop));
  EXPECT_FALSE(*RunPhase(
      Phase::kTrial, [] { return Result<bool>(false); }, &stop));
  EXPECT_FALSE(RunPhase(
                   Phase::kTrial,
                   [] {
                     return Result<bool>(Error{ErrorKind::kIo, "disk"});
                   },
                   &stop)
                   .ok());
  EXPECT_FALSE(stop);
}

TEST(RunPhase, AReplyOfTheWrongFormIsTheCandidatesDoing) {
  const Json reply = {{"names", "not a list"}, {"list", {1}}};
  const std::function<Result<bool>()> kForged[] = {
      [&]() -> Result<bool> { return reply.at("missing").is_null(); },
      [&]() -> Result<bool> { return reply.at("names").get<int64_t>() > 0; },
      [&]() -> Result<bool> { return reply.at("list").at(7).is_null(); },
      [&]() -> Result<bool> { return std::string().substr(5).empty(); },
  };
  for (const std::function<Result<bool>()>& forged : kForged) {
    std::optional<Stop> stop;
    const Result<bool> ran = RunPhase(Phase::kImport, forged, &stop);
    ASSERT_TRUE(ran.ok());
    EXPECT_FALSE(*ran);
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->phase, Phase::kImport);
    EXPECT_EQ(stop->failure.kind, FailureKind::kProtocol);
  }
}

TEST(RunPhase, HonesOwnFailureIsAnErrorAndNoVerdict) {
  std::optional<Stop> stop;
  const Result<bool> memory = RunPhase(
      Phase::kTrial, []() -> Result<bool> { throw std::bad_alloc(); }, &stop);
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(memory.error().message, HasSubstr("Hone ran out of memory in the phase 'trials'"));
  const Result<bool> threads = RunPhase(
      Phase::kRepeat,
      []() -> Result<bool> {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      },
      &stop);
  ASSERT_FALSE(threads.ok());
  EXPECT_EQ(threads.error().kind, ErrorKind::kInternal);
  EXPECT_FALSE(stop) << "the candidate is blamed";
}

}  // namespace
}  // namespace hone
