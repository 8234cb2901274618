#include "evaluation/run_phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

#include "base/json.h"

namespace hone {
namespace {

using testing::HasSubstr;

TEST(RunPhase, PassesOnWhatThePhaseSays) {
  EXPECT_TRUE(*RunPhase(Phase::kTrial, [] { return Result<bool>(true); }));
  EXPECT_FALSE(*RunPhase(Phase::kTrial, [] { return Result<bool>(false); }));
  EXPECT_FALSE(RunPhase(Phase::kTrial, [] { return Result<bool>(Error{ErrorKind::kIo, "disk"}); }).ok());
}

TEST(RunPhase, HonesOwnFailureIsAnErrorAndNoVerdict) {
  const Json own = {{"names", "not a list"}, {"list", {1}}};
  struct {
    std::function<Result<bool>()> run;
    ErrorKind kind;
    const char* says;
  } const kRows[] = {
      {[]() -> Result<bool> { throw std::bad_alloc(); }, ErrorKind::kUnavailable, "ran out of memory"},
      {[]() -> Result<bool> {
         throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
       },
       ErrorKind::kUnavailable, "no thread left for Hone"},
      {[]() -> Result<bool> { throw std::system_error(std::make_error_code(std::errc::no_space_on_device)); },
       ErrorKind::kInternal, "Hone failed"},
      {[]() -> Result<bool> { throw std::logic_error("a wrong turn"); }, ErrorKind::kInternal,
       "a wrong turn"},
      {[&]() -> Result<bool> { return own.at("missing").is_null(); }, ErrorKind::kInternal, "Hone failed"},
      {[&]() -> Result<bool> { return own.at("names").get<int64_t>() > 0; }, ErrorKind::kInternal,
       "Hone failed"},
      {[]() -> Result<bool> { return std::string().substr(5).empty(); }, ErrorKind::kInternal, "Hone failed"},
  };
  for (const auto& row : kRows) {
    const Result<bool> ran = RunPhase(Phase::kTrial, row.run);
    ASSERT_FALSE(ran.ok()) << row.says;
    EXPECT_EQ(ran.error().kind, row.kind) << row.says;
    EXPECT_THAT(ran.error().message, HasSubstr(row.says));
    EXPECT_THAT(ran.error().message, HasSubstr("in the phase 'trials'"));
    EXPECT_THAT(ran.error().message, HasSubstr("the candidate was not judged"));
  }
}

}  // namespace
}  // namespace hone
