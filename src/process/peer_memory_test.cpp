#include "process/peer_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/unique_fd.h"

namespace hone {
namespace {

TEST(PeerMemory, ReadsAStoppedChildAndRefusesAddressesThatAreNotThere) {
  std::vector<std::byte> data(100000, std::byte{7});
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i % 251);
    _exit(write(ready[1], "r", 1) == 1 ? (pause(), 0) : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGSTOP);
  std::vector<std::byte> got(data.size());
  const Status read_all = ReadPeerMemory(child, reinterpret_cast<uint64_t>(data.data()), got);
  if (!read_all.ok() && read_all.error().kind == ErrorKind::kUnavailable)
    GTEST_SKIP() << read_all.error().message;
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<std::byte>(i % 251)) << i;
  EXPECT_EQ(ReadPeerMemory(child, 16, got).error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(ReadPeerMemory(child, 16, {}).ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(PeerMemory, FindsEveryMappingOfAFileAndNoOther) {
  UniqueFd file(memfd_create("one", MFD_CLOEXEC)), other(memfd_create("two", MFD_CLOEXEC));
  const size_t bytes = 3 << 12;
  ASSERT_EQ(ftruncate(file.get(), bytes), 0);
  ASSERT_EQ(ftruncate(other.get(), bytes), 0);
  const auto map = [&](int fd) {
    return reinterpret_cast<uint64_t>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  };
  const uint64_t first = map(file.get()), again = map(file.get()), elsewhere = map(other.get());
  const Result<std::vector<AddressRange>> found = PeerMappingsOf(getpid(), file.get());
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto holds = [&](uint64_t address) {
    return std::any_of(found->begin(), found->end(),
                       [&](const AddressRange& one) { return one.Holds(address); });
  };
  EXPECT_TRUE(holds(first + 5) && holds(again + bytes - 1));
  EXPECT_FALSE(holds(elsewhere) || holds(reinterpret_cast<uint64_t>(&bytes)));
  for (const uint64_t at : {first, again, elsewhere}) munmap(reinterpret_cast<void*>(at), bytes);
}

}  // namespace
}  // namespace hone
