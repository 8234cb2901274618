#include "process/shared_blob.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>

namespace hone {
namespace {

using testing::HasSubstr;

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string TextOf(const SharedBlob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes().data()), blob.bytes().size()};
}

// Tries all that a writer with the descriptor could do. The blob must stay unchanged.
void ExpectUnchangeable(const SharedBlob& blob, const std::string& content) {
  const int fd = blob.fd();
  EXPECT_EQ(pwrite(fd, "X", 1, 0), -1);
  EXPECT_EQ(pwrite(fd, "X", 1, static_cast<off_t>(content.size())), -1);
  EXPECT_EQ(ftruncate(fd, 0), -1);
  EXPECT_EQ(ftruncate(fd, 1 << 20), -1);
  EXPECT_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), -1);
  // A descriptor can be opened again through /proc, but the seals belong to the file.
  UniqueFd again(open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC));
  if (again.valid()) {
    EXPECT_EQ(pwrite(again.get(), "X", 1, 0), -1);
  }
  EXPECT_EQ(TextOf(blob), content);
}

TEST(SharedBlob, OfBytesHoldsThemAndCanNeverBeChanged) {
  const SharedBlob blob = *SharedBlob::Of("test", BytesOf("weights"));
  ExpectUnchangeable(blob, "weights");
}

TEST(SharedBlob, OnceSealedItsWriterCanNeitherChangeNorShrinkIt) {
  SharedBlob blob = *SharedBlob::Create("test");
  UniqueFd writer(dup(blob.fd()));
  ASSERT_EQ(pwrite(writer.get(), "answer", 6, 0), 6);
  ASSERT_TRUE(blob.Seal().ok());
  EXPECT_EQ(pwrite(writer.get(), "ANSWER", 6, 0), -1);
  EXPECT_EQ(ftruncate(writer.get(), 0), -1);
  ExpectUnchangeable(blob, "answer");
}

TEST(SharedBlob, IsNotSealedWhileAWriterHoldsAMapping) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(ftruncate(blob.fd(), 4096), 0);
  void* held = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, blob.fd(), 0);
  ASSERT_NE(held, MAP_FAILED);
  const Status refused = blob.Seal();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("still holds"));
  EXPECT_EQ(blob.bytes().size(), 0u) << "nothing is read from it";
  std::memcpy(held, "late", 4);
  munmap(held, 4096);
  ASSERT_TRUE(blob.Seal().ok());
  EXPECT_EQ(TextOf(blob).substr(0, 4), "late");
}

TEST(SharedBlob, IsNotSealedWhileAnotherProcessHoldsAMapping) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(ftruncate(blob.fd(), 4096), 0);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    void* held = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, blob.fd(), 0);
    (void)!write(ready[1], held == MAP_FAILED ? "n" : "y", 1);
    while (true) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(blob.Seal().ok());
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  EXPECT_TRUE(blob.Seal().ok());
  close(ready[0]);
  close(ready[1]);
}

TEST(SharedBlob, APrivateOrReadingMappingOfTheWriterIsHarmless) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(pwrite(blob.fd(), "one", 3, 0), 3);
  void* own = mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_PRIVATE, blob.fd(), 0);
  ASSERT_NE(own, MAP_FAILED);
  ASSERT_TRUE(blob.Seal().ok());
  std::memcpy(own, "two", 3);
  EXPECT_EQ(TextOf(blob), "one");
  munmap(own, 3);
}

TEST(SharedBlob, AReadingMappingCannotBecomeAWritingOne) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(ftruncate(blob.fd(), 4096), 0);
  void* seen = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, blob.fd(), 0);
  ASSERT_NE(seen, MAP_FAILED);
  if (blob.Seal().ok()) {
    EXPECT_EQ(mprotect(seen, 4096, PROT_READ | PROT_WRITE), -1);
  }
  munmap(seen, 4096);
}

TEST(SharedBlob, AWriterThatSealedTheSealsItselfChangesNothing) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(pwrite(blob.fd(), "mine", 4, 0), 4);
  ASSERT_EQ(fcntl(blob.fd(), F_ADD_SEALS, F_SEAL_SEAL), 0);
  // Without the seal against writing its bytes may change, so it must not count as sealed.
  EXPECT_FALSE(blob.Seal().ok());
}

TEST(SharedBlob, RefusesMoreThanWasExpected) {
  SharedBlob blob = *SharedBlob::Create("test");
  ASSERT_EQ(ftruncate(blob.fd(), off_t{1} << 40), 0);
  const Status refused = blob.Seal(1 << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("1.0 MiB"));
  SharedBlob exact = *SharedBlob::Create("test");
  ASSERT_EQ(ftruncate(exact.fd(), 1 << 20), 0);
  EXPECT_TRUE(exact.Seal(1 << 20).ok());
}

TEST(SharedBlob, MayBeEmpty) {
  SharedBlob blob = *SharedBlob::Create("test");
  EXPECT_EQ(blob.bytes().size(), 0u);
  ASSERT_TRUE(blob.Seal().ok());
  EXPECT_EQ(blob.bytes().size(), 0u);
  EXPECT_TRUE(blob.Seal().ok()) << "twice is fine";
  EXPECT_EQ(SharedBlob::Of("test", {})->bytes().size(), 0u);
}

TEST(SharedBlob, LivesAsLongAsItsLastCopy) {
  std::optional<SharedBlob> first = *SharedBlob::Of("test", BytesOf("kept"));
  const SharedBlob second = *first;
  first.reset();
  EXPECT_EQ(TextOf(second), "kept");
  EXPECT_NE(fcntl(second.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace hone
