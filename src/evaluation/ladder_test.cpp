#include "evaluation/ladder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hone {
namespace {

// The test below cannot detect a reader that holds a reference, so this checks that All() returns a copy.
static_assert(std::is_same_v<decltype(std::declval<Ladder&>().All()), std::vector<Rung>>);

TEST(Ladder, IsReadWholeWhileAnotherThreadAddsToIt) {
  Ladder ladder;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    // Too long for the string's inline storage, so that a torn read would follow a freed pointer.
    for (int i = 0; i < 2000; ++i)
      ladder.Add(Rung{std::string(64, 'r') + std::to_string(i), true, std::string(64, 'w'),
                      static_cast<double>(i), 0});
    done = true;
  });
  size_t seen = 0;
  while (!done) {
    const std::vector<Rung> rungs = ladder.All();
    EXPECT_GE(rungs.size(), seen);
    seen = rungs.size();
    for (size_t i = 0; i < rungs.size(); i += 97) {
      EXPECT_EQ(rungs[i].name, std::string(64, 'r') + std::to_string(i));
      EXPECT_EQ(rungs[i].call_us, static_cast<double>(i));
    }
  }
  writer.join();
  EXPECT_EQ(ladder.All().size(), 2000u);
  EXPECT_TRUE(ladder.Find(std::string(64, 'r') + "7"));
  EXPECT_FALSE(ladder.Find("compile"));
}

}  // namespace
}  // namespace hone
