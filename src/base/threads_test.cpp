#include "base/threads.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hone {
namespace {

std::system_error NoThread() {
  return std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

TEST(RetryForThread, WaitsUntilThereIsOne) {
  int tries = 0;
  const auto start = [&] {
    if (++tries < 4) throw NoThread();
    return tries;
  };
  EXPECT_EQ(RetryForThread(start), 4);
}

TEST(RetryForThread, GivesUpAtTheEndOfItsPatience) {
  int tries = 0;
  const auto start = [&]() -> int {
    ++tries;
    throw NoThread();
  };
  EXPECT_THROW(RetryForThread(start, std::chrono::milliseconds(100)), std::system_error);
  EXPECT_GT(tries, 1);
}

TEST(RetryForThread, RetriesNothingElse) {
  int tries = 0;
  const auto start = [&]() -> int {
    ++tries;
    throw std::system_error(std::make_error_code(std::errc::permission_denied));
  };
  EXPECT_THROW(RetryForThread(start), std::system_error);
  EXPECT_EQ(tries, 1);
}

TEST(StartAsync, GivesTheResultAndWaitsForIt) {
  bool done = false;
  {
    auto made = std::make_unique<int>(7);
    auto result = StartAsync([&done, made = std::move(made)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
      return *made;
    });
  }
  EXPECT_TRUE(done);
  std::thread thread = StartThread([&] { done = false; });
  thread.join();
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace hone
