#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/ids.h"
#include "candidate/candidate_file.h"

namespace hone {
namespace {

using testing::HasSubstr;

class Candidate : public testing::Test {
 protected:
  fs::path Write(const std::string& name, const std::string& content) {
    const fs::path path = from_.path() / name;
    EXPECT_TRUE(MakeFolders(path.parent_path()).ok());
    EXPECT_TRUE(WriteFileAtomic(path, content).ok());
    return path;
  }

  std::vector<std::string> Copied() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(to_.path()))
      if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), to_.path()).string());
    return names;
  }

  TempFolder from_ = *TempFolder::Make("hone-test-");
  TempFolder to_ = *TempFolder::Make("hone-test-");
};

TEST_F(Candidate, IsKnownByItsTextAndName) {
  const Result<CandidateFile> candidate = LoadCandidateFile(Write("fused.v2.py", "class ModelNew: pass\n"));
  ASSERT_TRUE(candidate.ok());
  EXPECT_EQ(candidate->name, "fused.v2");
  EXPECT_EQ(candidate->sha256, Sha256("class ModelNew: pass\n"));
  EXPECT_TRUE(candidate->path.is_absolute());
}

TEST_F(Candidate, RefusesWhatCannotBeReadWithASentence) {
  Write("binary.py", std::string("\0", 1));
  for (const char* name : {"missing.py", ".", "binary.py"}) {
    const Result<CandidateFile> candidate = LoadCandidateFile(from_.path() / name);
    ASSERT_FALSE(candidate.ok()) << name;
    EXPECT_THAT(candidate.error().message, HasSubstr("candidate: ")) << name;
  }
}

TEST_F(Candidate, AloneIsCopiedAloneAsItWasWhenItWasLoaded) {
  const fs::path path = Write("one.py", "first");
  Write("neighbour.py", "not yours");
  const CandidateFile candidate = *LoadCandidateFile(path);
  Write("one.py", "changed since");
  const Result<fs::path> copy = CopyInto(candidate, to_.path());
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(*copy, to_.path() / "one.py");
  EXPECT_EQ(*ReadFile(*copy), "first") << "the hash in the verdict is of this text";
  EXPECT_THAT(Copied(), testing::ElementsAre("one.py"));
}

TEST_F(Candidate, InAPackageBringsItsWholePackageAlong) {
  Write("pkg/__init__.py", "");
  Write("pkg/helper.py", "h = 1");
  Write("pkg/deep/__init__.py", "");
  Write("pkg/deep/data.bin", std::string("\0\1", 2));
  Write("beside.py", "not in the package");
  const CandidateFile candidate =
      *LoadCandidateFile(Write("pkg/deep/candidate.py", "from ..helper import h"));
  const Result<fs::path> copy = CopyInto(candidate, to_.path());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(*copy, to_.path() / "pkg/deep/candidate.py");
  EXPECT_THAT(Copied(),
              testing::UnorderedElementsAre("pkg/__init__.py", "pkg/helper.py", "pkg/deep/__init__.py",
                                            "pkg/deep/candidate.py", "pkg/deep/data.bin"));
  EXPECT_EQ(*ReadFile(to_.path() / "pkg/deep/data.bin"), std::string("\0\1", 2));
}

TEST_F(Candidate, InAPackageIsAlsoJudgedAsItWasWhenItWasLoaded) {
  Write("pkg/__init__.py", "");
  const CandidateFile candidate = *LoadCandidateFile(Write("pkg/candidate.py", "first"));
  Write("pkg/candidate.py", "changed since");
  const Result<fs::path> copy = CopyInto(candidate, to_.path());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(*ReadFile(*copy), "first") << "the hash in the verdict is of this text";
}

TEST_F(Candidate, APackageThatIsTooLargeIsRefused) {
  Write("pkg/__init__.py", "");
  Write("pkg/weights.bin", std::string(17 << 20, 'w'));
  const CandidateFile candidate = *LoadCandidateFile(Write("pkg/candidate.py", "x"));
  const Result<fs::path> copy = CopyInto(candidate, to_.path());
  ASSERT_FALSE(copy.ok());
  EXPECT_EQ(copy.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(copy.error().message, HasSubstr("16 MiB"));
}

TEST_F(Candidate, LinksInAPackageAreNotFollowed) {
  Write("secret.txt", "secret");
  Write("elsewhere/more.txt", "secret");
  Write("pkg/__init__.py", "");
  fs::create_symlink(from_.path() / "secret.txt", from_.path() / "pkg/link.txt");
  fs::create_directory_symlink(from_.path() / "elsewhere", from_.path() / "pkg/folder");
  fs::create_directory_symlink(from_.path() / "pkg", from_.path() / "pkg/loop");
  ASSERT_EQ(mkfifo((from_.path() / "pkg/fifo").c_str(), 0600), 0);
  const CandidateFile candidate = *LoadCandidateFile(Write("pkg/candidate.py", "x"));
  const Result<fs::path> copy = CopyInto(candidate, to_.path());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_THAT(Copied(), testing::UnorderedElementsAre("pkg/__init__.py", "pkg/candidate.py"));
}

TEST_F(Candidate, LinksWhereItIsCopiedToAreReplacedNotFollowed) {
  const fs::path outside = Write("outside.txt", "untouched");
  Write("pkg/__init__.py", "");
  Write("pkg/helper.py", "h = 1");
  const CandidateFile candidate = *LoadCandidateFile(Write("pkg/candidate.py", "x"));
  fs::create_directory(to_.path() / "pkg");
  for (const char* name : {"pkg/helper.py", "pkg/candidate.py"})
    fs::create_symlink(outside, to_.path() / name);
  const Result<fs::path> copy = CopyInto(candidate, to_.path());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(*ReadFile(outside), "untouched");
  EXPECT_EQ(*ReadFile(to_.path() / "pkg/helper.py"), "h = 1");
}

TEST_F(Candidate, ReachedThroughALinkIsTheFileItself) {
  Write("pkg/__init__.py", "");
  Write("pkg/real.py", "text");
  fs::create_symlink(from_.path() / "pkg/real.py", from_.path() / "alias.py");
  const Result<CandidateFile> candidate = LoadCandidateFile(from_.path() / "alias.py");
  ASSERT_TRUE(candidate.ok());
  EXPECT_EQ(candidate->path, fs::canonical(from_.path() / "pkg/real.py"));
  const Result<fs::path> copy = CopyInto(*candidate, to_.path());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(*ReadFile(*copy), "text");
}

TEST_F(Candidate, APlaceThatCannotBeWrittenIsAnErrorThatNamesIt) {
  const CandidateFile candidate = *LoadCandidateFile(Write("one.py", "x"));
  const fs::path below_a_file = Write("file", "x") / "folder";
  const Result<fs::path> copy = CopyInto(candidate, below_a_file);
  ASSERT_FALSE(copy.ok());
  EXPECT_THAT(copy.error().message, HasSubstr(below_a_file.string()));
}

}  // namespace
}  // namespace hone
