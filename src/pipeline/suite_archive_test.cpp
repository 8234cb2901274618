#include "pipeline/suite_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <set>

#include "base/ids.h"
#include "pipeline/tarball.h"
#include "store/suite_parts.h"

namespace hone {
namespace {

using testing::HasSubstr;

// Four tasks in two shards, each with its own store, and a store that gets both.
class SuiteArchiveTest : public testing::Test {
 protected:
  SuiteArchiveTest() : folder_(*TempFolder::Make("hone-suites-")) {
    for (const char* name : {"one", "two", "home"})
      stores_.push_back(std::move(*RunStore::Open(folder_.path() / (std::string(name) + ".db"))));
  }

  SuiteRecord AddShard(RunStore& store, const std::string& created, const std::vector<std::string>& tasks,
                       const std::string& status = "done") {
    SuiteParts parts;
    parts.tasks = {"a", "b", "c", "d"};
    parts.sha256 = "of all tasks";
    parts.shards = 2;
    Json options = {{"folder", "/somewhere/else"}};
    AddParts(parts, &options);
    SuiteRecord suite{0, "nightly", created, DumpJson(options)};
    suite.id = *store.AddSuite(suite);
    for (const std::string& task : tasks) AddRun(store, suite, task, created, status);
    return suite;
  }

  void AddRun(RunStore& store, const SuiteRecord& suite, const std::string& task, const std::string& created,
              const std::string& status) {
    RunRecord run;
    run.name = "run_" + task;
    run.created = created;
    run.status = status;
    run.task = task;
    run.task_source = "class Model: pass  # " + task + "\n";
    run.task_sha256 = Sha256(run.task_source);
    run.folder = (folder_.path() / suite.created / task).string();
    run.options = "{}";
    run.suite_id = suite.id;
    EXPECT_TRUE(store.AddRun(run).ok());
    EXPECT_TRUE(MakeFolders(run.folder).ok());
  }

  fs::path Pack(RunStore& store, const SuiteRecord& suite) {
    const fs::path file = folder_.path() / (RandomHex(4) + ".hone.tar.gz");
    EXPECT_TRUE(WriteFileAtomic(file, PackSuite(store, suite)->bytes).ok());
    return file;
  }

  MissingParts Missing() {
    const SuiteRecord suite = *home().FindSuite("nightly");
    std::set<std::string> here;
    const std::vector<RunRecord> runs = *home().Runs(100, suite.id);
    for (const RunRecord& run : runs)
      EXPECT_TRUE(here.insert(run.task).second) << run.task << " is there twice";
    return FindMissing(PartsOf(suite), here);
  }

  RunStore& one() { return *stores_[0]; }
  RunStore& two() { return *stores_[1]; }
  RunStore& home() { return *stores_[2]; }
  fs::path runs() const { return folder_.path() / "runs"; }

  TempFolder folder_;
  std::vector<std::unique_ptr<RunStore>> stores_;
};

TEST_F(SuiteArchiveTest, ShardsBecomeOneSuiteAndAMissingOneIsKnown) {
  const fs::path first = Pack(one(), AddShard(one(), "2026-01-01T00:00:00Z", {"a", "c"}));
  const fs::path second = Pack(two(), AddShard(two(), "2026-01-01T07:00:00Z", {"b", "d"}));
  EXPECT_TRUE(IsSuiteArchive(first));
  const ImportedSuite imported = *ImportSuite(home(), first, runs());
  EXPECT_EQ(imported.suite.name, "nightly");
  EXPECT_EQ(imported.added, 2);
  EXPECT_THAT(Missing().shards, testing::ElementsAre(2));
  EXPECT_EQ(ImportSuite(home(), second, runs())->added, 2);
  EXPECT_FALSE(Missing().any());
  // The stored folder does not travel to the other machine.
  EXPECT_THAT(home().FindSuite("nightly")->options, HasSubstr(runs().string()));
}

TEST_F(SuiteArchiveTest, ImportingTwiceChangesNothing) {
  const fs::path file = Pack(one(), AddShard(one(), "2026-01-01T00:00:00Z", {"a", "c"}));
  EXPECT_TRUE(ImportSuite(home(), file, runs()).ok());
  const ImportedSuite again = *ImportSuite(home(), file, runs());
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.known, 2);
  EXPECT_EQ(home().Runs(100)->size(), 2u);
}

TEST_F(SuiteArchiveTest, AFinishedStateReplacesAnUnfinishedOneAndNotTheOtherWayRound) {
  const SuiteRecord suite = AddShard(one(), "2026-01-01T00:00:00Z", {"a", "c"}, "stopped");
  const fs::path early = Pack(one(), suite);
  EXPECT_EQ(ImportSuite(home(), early, runs())->added, 2);
  for (const char* name : {"run_a", "run_c"}) {
    RunRecord run = *one().FindRun(name);
    run.status = "done";
    EXPECT_TRUE(one().UpdateRun(run).ok());
  }
  const fs::path late = Pack(one(), suite);
  EXPECT_EQ(ImportSuite(home(), late, runs())->added, 2);
  EXPECT_THAT(Missing().shards, testing::ElementsAre(2));
  EXPECT_EQ(ImportSuite(home(), early, runs())->known, 2);
  const std::vector<RunRecord> all = *home().Runs(100);
  ASSERT_EQ(all.size(), 2u);
  for (const RunRecord& run : all) {
    EXPECT_EQ(run.status, "done");
    EXPECT_TRUE(fs::exists(run.folder));
  }
  // The folders of the earlier states were deleted too.
  const auto folders = std::distance(fs::directory_iterator(runs()), fs::directory_iterator());
  EXPECT_EQ(folders, 2);
}

TEST_F(SuiteArchiveTest, AnotherExecutionUnderTheSameNameIsRefused) {
  const fs::path first = Pack(one(), AddShard(one(), "2026-01-01T00:00:00Z", {"a", "c"}));
  const fs::path other = Pack(two(), AddShard(two(), "2026-02-02T00:00:00Z", {"a", "c"}));
  EXPECT_TRUE(ImportSuite(home(), first, runs()).ok());
  EXPECT_THAT(ImportSuite(home(), other, runs()).error().message, HasSubstr("has a run of a already"));
  EXPECT_EQ(home().Runs(100)->size(), 2u);
}

TEST_F(SuiteArchiveTest, AShardWithoutTasksIsASuiteToo) {
  const fs::path file = Pack(one(), AddShard(one(), "2026-01-01T00:00:00Z", {}));
  EXPECT_EQ(ImportSuite(home(), file, runs())->added, 0);
  EXPECT_EQ(Missing().tasks.size(), 4u);
}

TEST_F(SuiteArchiveTest, WhatIsBrokenIsRefusedBeforeAnythingIsWritten) {
  const fs::path file = Pack(one(), AddShard(one(), "2026-01-01T00:00:00Z", {"a", "c"}));
  const std::vector<TarMember> members = *UnpackTar(file);
  const auto refusal = [&](const std::function<void(std::vector<TarMember>&)>& change) {
    std::vector<TarMember> changed = members;
    change(changed);
    const fs::path broken = folder_.path() / "broken.tar.gz";
    EXPECT_TRUE(WriteFileAtomic(broken, *PackTar(changed)).ok());
    const Result<ImportedSuite> imported = ImportSuite(home(), broken, runs());
    EXPECT_TRUE(home().Runs(100)->empty());
    return imported.ok() ? "taken" : imported.error().message;
  };
  EXPECT_THAT(refusal([](auto& all) { all[1].content += "x"; }),
              HasSubstr("is not what hone-suite.json says"));
  EXPECT_THAT(refusal([](auto& all) { all.pop_back(); }), HasSubstr("does not hold what"));
  EXPECT_THAT(refusal([](auto& all) { all[0].content = "{}"; }), HasSubstr("no archive of a suite"));
  EXPECT_THAT(refusal([](auto& all) { all.erase(all.begin()); }), HasSubstr("no archive of a suite"));
  const fs::path run = folder_.path() / "run.tar.gz";
  EXPECT_TRUE(WriteFileAtomic(run, members[1].content).ok());
  EXPECT_FALSE(IsSuiteArchive(run));
  EXPECT_FALSE(IsSuiteArchive(folder_.path() / "none"));
}

TEST_F(SuiteArchiveTest, ARunCanBePutIntoASuiteThatWaitsForIt) {
  const SuiteRecord waiting = AddShard(home(), "2026-03-03T00:00:00Z", {"b"});
  RunRecord stray;
  stray.name = "stray";
  stray.created = "2026-03-03T01:00:00Z";
  stray.status = "done";
  stray.task = "a";
  stray.options = "{}";
  stray.folder = (folder_.path() / "stray").string();
  stray.id = *one().AddRun(stray);
  std::string left_alone;
  RunArchive archive = *CollectRun(one(), stray, &left_alone);
  ASSERT_TRUE(PutIntoSuite(home(), waiting.name, &archive.rows).ok());
  EXPECT_FALSE(ImportRun(home(), archive, runs())->known);
  EXPECT_TRUE(ImportRun(home(), archive, runs())->known);
  EXPECT_THAT(Missing().tasks, testing::ElementsAre("c", "d"));
  archive.rows.run["task"] = "z";
  EXPECT_THAT(PutIntoSuite(home(), waiting.name, &archive.rows).error().message, HasSubstr("has no task z"));
}

}  // namespace
}  // namespace hone
