#include "process/rehearsal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace hone {
namespace {

TEST(EndsInACopy, TellsWorkThatEndsFromWorkThatDoesNot) {
  struct Row {
    std::string name;
    std::function<void()> work;
    bool ends;
  };
  for (const Row& row : std::vector<Row>{{"nothing", [] {}, true},
                                         {"abort", [] { abort(); }, false},
                                         {"a signal", [] { raise(SIGSEGV); }, false},
                                         {"an exit code", [] { _exit(3); }, false},
                                         {"no end",
                                          [] {
                                            for (std::atomic<int> turns = 0;; ++turns) {
                                            }
                                          },
                                          false}})
    EXPECT_EQ(EndsInACopy(row.work, 1), row.ends) << row.name;
}

TEST(EndsInACopy, LeavesTheMemoryOfTheCallerAlone) {
  int written = 0;
  EXPECT_TRUE(EndsInACopy([&] { written = 1; }, 1));
  EXPECT_EQ(written, 0);
}

// KillStrays of another thread may take the copy for a process that a candidate left behind.
TEST(EndsInACopy, TriesAgainWhereTheCopyIsKilledFromOutside) {
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* attempts = static_cast<volatile int*>(shared);
  const auto dies_at_first = [&](int deaths) {
    *attempts = 0;
    return EndsInACopy(
        [&] {
          *attempts = *attempts + 1;
          if (*attempts <= deaths) raise(SIGKILL);
        },
        1);
  };
  EXPECT_TRUE(dies_at_first(1));
  EXPECT_EQ(*attempts, 2);
  EXPECT_FALSE(dies_at_first(100));
  EXPECT_EQ(*attempts, 3);
  munmap(shared, 4096);
}

}  // namespace
}  // namespace hone
