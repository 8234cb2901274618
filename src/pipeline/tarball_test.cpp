#include "pipeline/tarball.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

class TarballTest : public testing::Test {
 protected:
  // A tar with one member, as other programs might write it.
  fs::path Foreign(const char* name, unsigned type, const char* link = nullptr) {
    const fs::path file = folder_.path() / "foreign.tar";
    archive* out = archive_write_new();
    archive_write_set_format_pax_restricted(out);
    archive_write_open_filename(out, file.c_str());
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, type);
    archive_entry_set_size(entry, 0);
    if (link != nullptr && type == AE_IFLNK) archive_entry_set_symlink(entry, link);
    if (link != nullptr && type == AE_IFREG) archive_entry_set_hardlink(entry, link);
    archive_write_header(out, entry);
    archive_entry_free(entry);
    archive_write_close(out);
    archive_write_free(out);
    return file;
  }
  std::string Says(const fs::path& file, const TarLimits& limits = {}) {
    const Result<std::vector<TarMember>> members = UnpackTar(file, limits);
    return members.ok() ? "taken" : members.error().message;
  }
  TempFolder folder_ = *TempFolder::Make("hone-tar-");
};

TEST_F(TarballTest, GivesBackWhatWasPackedAndTheSameBytesEachTime) {
  const std::vector<TarMember> members = {
      {"a", ""},
      {"deep/" + std::string(300, 'n') + ".txt", std::string(100'000, 'x')},
      {"b", std::string("\0\xff", 2)}};
  const std::string bytes = *PackTar(members);
  EXPECT_EQ(*PackTar(members), bytes);
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "t", bytes).ok());
  const std::vector<TarMember> back = *UnpackTar(folder_.path() / "t");
  ASSERT_EQ(back.size(), 3u);
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].name, members[i].name);
    EXPECT_EQ(back[i].content, members[i].content);
  }
}

TEST_F(TarballTest, TheFirstNameIsReadWithoutWhatIsBehindIt) {
  const fs::path file = folder_.path() / "t";
  std::string noise(1 << 20, 'x');
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>((i * 2654435761u) >> 13);
  const std::string bytes = *PackTar({{"first", "x"}, {"second", noise}});
  ASSERT_TRUE(WriteFileAtomic(file, bytes.substr(0, bytes.size() / 2)).ok());
  EXPECT_FALSE(UnpackTar(file).ok());
  EXPECT_EQ(*FirstNameIn(file), "first");
  ASSERT_TRUE(WriteFileAtomic(file, "no archive").ok());
  EXPECT_FALSE(FirstNameIn(file).ok());
  EXPECT_FALSE(FirstNameIn(folder_.path() / "absent").ok());
}

TEST_F(TarballTest, NamesThatLeadElsewhereAndLinksAreRefused) {
  EXPECT_EQ(Says(Foreign("plain", AE_IFREG)), "taken");
  for (const char* name : {"/etc/passwd", "../up", "a/../../b", "a//b", "./a", "a\\b", "a\x1b[31m", "a\nb"})
    EXPECT_THAT(Says(Foreign(name, AE_IFREG)), HasSubstr("leads elsewhere")) << name;
  EXPECT_THAT(Says(Foreign("a", AE_IFLNK, "/etc/passwd")), HasSubstr("not a plain file"));
  EXPECT_THAT(Says(Foreign("a", AE_IFREG, "/etc/passwd")), HasSubstr("not a plain file"));
  EXPECT_THAT(Says(Foreign("a", AE_IFIFO)), HasSubstr("not a plain file"));
  EXPECT_NE(Says(Foreign("a", AE_IFDIR)), "taken");
}

TEST_F(TarballTest, MoreThanIsBearableIsRefused) {
  const fs::path file = folder_.path() / "t";
  ASSERT_TRUE(
      WriteFileAtomic(file, *PackTar({{"a", std::string(1000, 'x')}, {"b", std::string(1000, 'x')}})).ok());
  TarLimits limits;
  EXPECT_EQ(Says(file, limits), "taken");
  limits.member_bytes = 999;
  EXPECT_THAT(Says(file, limits), HasSubstr("larger than a run can be"));
  limits = {};
  limits.total_bytes = 1999;
  EXPECT_THAT(Says(file, limits), HasSubstr("b makes it larger"));
  limits = {};
  limits.members = 1;
  EXPECT_THAT(Says(file, limits), HasSubstr("b makes it larger"));
  limits = {};
  limits.file_bytes = 10;
  EXPECT_THAT(Says(file, limits), HasSubstr("larger than"));
  ASSERT_TRUE(WriteFileAtomic(file, *PackTar({{"a", "1"}, {"a", "2"}})).ok());
  EXPECT_THAT(Says(file), HasSubstr("twice"));
}

}  // namespace
}  // namespace hone
