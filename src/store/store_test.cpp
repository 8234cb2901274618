#include "store/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

namespace hone {
namespace {

using testing::HasSubstr;

VerdictRecord Record(const std::string& task) {
  VerdictRecord record;
  record.created = "2026-01-31T23:59:59Z";
  record.task = task;
  record.candidate = "/some/where/candidate.py";
  record.target = "cpu";
  record.device = "A processor";
  record.verdict = "accepted";
  record.reason = "faster";
  record.vs_best = 1.25;
  record.vs_eager = 2.5;
  record.json = R"({"verdict":"accepted"})";
  return record;
}

class StoreTest : public testing::Test {
 protected:
  TempFolder folder_ = *TempFolder::Make("hone-test-");
  fs::path path_ = folder_.path() / "deeper" / "hone.db";

  // Executes SQL as another program would, on its own connection.
  void Sql(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  int SchemaVersion() {
    sqlite3* handle = nullptr;
    sqlite3_stmt* query = nullptr;
    sqlite3_open(path_.c_str(), &handle);
    sqlite3_prepare_v2(handle, "PRAGMA user_version", -1, &query, nullptr);
    sqlite3_step(query);
    const int version = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(handle);
    return version;
  }
};

TEST_F(StoreTest, GivesBackWhatWasSavedEvenToAnotherProgram) {
  int64_t id = 0;
  {
    Store store = *Store::Open(path_);
    id = *store.Save(Record("39_GRU"));
  }
  Store again = *Store::Open(path_);
  const Result<VerdictRecord> record = again.Verdict(id);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(record->id, id);
  EXPECT_EQ(record->created, "2026-01-31T23:59:59Z");
  EXPECT_EQ(record->task, "39_GRU");
  EXPECT_EQ(record->candidate, "/some/where/candidate.py");
  EXPECT_EQ(record->target, "cpu");
  EXPECT_EQ(record->device, "A processor");
  EXPECT_EQ(record->verdict, "accepted");
  EXPECT_EQ(record->reason, "faster");
  EXPECT_EQ(record->vs_best, 1.25);
  EXPECT_EQ(record->vs_eager, 2.5);
  EXPECT_EQ(record->json, R"({"verdict":"accepted"})");
}

TEST_F(StoreTest, KeepsTextAsItIs) {
  Store store = *Store::Open(path_);
  for (const std::string& text :
       {std::string("'; DROP TABLE verdict; --"), std::string("h\xC3\xB6ne \xE2\x98\x83"), std::string(),
        std::string("\x1b[31m\xff"), std::string("a\0b", 3), std::string(5 << 20, 'x')}) {
    VerdictRecord record = Record("t");
    record.task = record.json = text;
    const Result<int64_t> id = store.Save(record);
    ASSERT_TRUE(id.ok()) << id.error().message;
    EXPECT_EQ(store.Verdict(*id)->task, text);
    EXPECT_EQ(store.Verdict(*id)->json, text);
  }
}

TEST_F(StoreTest, ListsTheNewestFirstAndNoMoreThanAsked) {
  Store store = *Store::Open(path_);
  EXPECT_TRUE(store.Verdicts(10)->empty());
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(store.Save(Record("task" + std::to_string(i))).ok());
  std::vector<std::string> tasks;
  const std::vector<VerdictRecord> newest = *store.Verdicts(3);
  for (const VerdictRecord& record : newest) tasks.push_back(record.task);
  EXPECT_THAT(tasks, testing::ElementsAre("task5", "task4", "task3"));
  EXPECT_EQ(store.Verdicts(100)->size(), 5u);
}

TEST_F(StoreTest, SaysSoWhenThereIsNoSuchVerdict) {
  Store store = *Store::Open(path_);
  for (const int64_t id : {int64_t{0}, int64_t{-1}, int64_t{12}, INT64_MAX}) {
    const Result<VerdictRecord> record = store.Verdict(id);
    ASSERT_FALSE(record.ok()) << id;
    EXPECT_EQ(record.error().kind, ErrorKind::kNotFound) << id;
    EXPECT_THAT(record.error().message, HasSubstr("V" + std::to_string(id)));
  }
}

TEST_F(StoreTest, LosesNoRowWhenSeveralConnectionsWriteAtOnce) {
  constexpr int kWriters = 4, kRows = 25;
  std::vector<std::thread> writers;
  std::vector<std::string> problems(kWriters);
  for (int writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([&, writer] {
      // The first of the two connections creates the schema.
      Result<Store> store = Store::Open(path_);
      if (!store.ok()) {
        problems[writer] = store.error().message;
        return;
      }
      for (int row = 0; row < kRows; ++row) {
        const Result<int64_t> id = store->Save(Record(std::to_string(writer) + "/" + std::to_string(row)));
        if (!id.ok()) problems[writer] = id.error().message;
      }
    });
  for (std::thread& writer : writers) writer.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
  std::set<std::string> tasks;
  std::set<int64_t> ids;
  const std::vector<VerdictRecord> all = *Store::Open(path_)->Verdicts(1000);
  for (const VerdictRecord& record : all) {
    tasks.insert(record.task);
    ids.insert(record.id);
  }
  EXPECT_EQ(tasks.size(), static_cast<size_t>(kWriters * kRows));
  EXPECT_EQ(ids.size(), static_cast<size_t>(kWriters * kRows));
}

TEST_F(StoreTest, WaitsForAWriterThatHoldsTheFile) {
  Store store = *Store::Open(path_);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread release([&] {
    usleep(400'000);
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  });
  const Result<int64_t> id = store.Save(Record("patient"));
  release.join();
  sqlite3_close(other);
  EXPECT_TRUE(id.ok()) << id.error().message;
}

TEST_F(StoreTest, KeepsWhatWasSavedWhenTheProgramIsKilled) {
  ASSERT_TRUE(Store::Open(path_)->Save(Record("before")).ok());
  const pid_t child = fork();
  if (child == 0) {
    Store store = *Store::Open(path_);
    if (!store.Save(Record("saved")).ok()) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::vector<VerdictRecord> records = *Store::Open(path_)->Verdicts(10);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].task, "saved");
}

TEST_F(StoreTest, RefusesANewerSchemaWithASentenceAndLeavesItAlone) {
  ASSERT_TRUE(Store::Open(path_)->Save(Record("kept")).ok());
  const int version = SchemaVersion();
  Sql("PRAGMA user_version = 999");
  const Result<Store> refused = Store::Open(path_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("999"));
  EXPECT_THAT(refused.error().message, HasSubstr("newer hone"));
  EXPECT_THAT(refused.error().message, HasSubstr(path_.string()));
  Sql("PRAGMA user_version = " + std::to_string(version));
  EXPECT_EQ(Store::Open(path_)->Verdicts(10)->at(0).task, "kept");
}

TEST_F(StoreTest, RefusesAFileThatIsNoStoreAndDoesNotTouchIt) {
  struct Row {
    const char* what;
    std::string content;
  };
  for (const Row& row :
       std::vector<Row>{{"text", "my shopping list\n" + std::string(5000, '.')},
                        {"zeros", std::string(8192, '\0')},
                        {"a header and nonsense", "SQLite format 3" + std::string(8000, '\xAB')}}) {
    ASSERT_TRUE(MakeFolders(path_.parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(path_, row.content).ok());
    const Result<Store> store = Store::Open(path_);
    ASSERT_FALSE(store.ok()) << row.what;
    EXPECT_THAT(store.error().message, HasSubstr(path_.string())) << row.what;
    EXPECT_EQ(*ReadFile(path_), row.content) << row.what;
  }
}

TEST_F(StoreTest, AStoreTornInTheMiddleIsAnErrorAndNoCrash) {
  {
    Store store = *Store::Open(path_);
    for (int i = 0; i < 50; ++i) {
      VerdictRecord record = Record("t" + std::to_string(i));
      record.json = std::string(3000, 'j');
      ASSERT_TRUE(store.Save(record).ok());
    }
  }
  std::string content = *ReadFile(path_);
  ASSERT_GT(content.size(), 50'000u);
  for (size_t i = 4096; i < content.size(); ++i) content[i] = static_cast<char>(0xA5);
  ASSERT_TRUE(WriteFileAtomic(path_, content).ok());
  Result<Store> store = Store::Open(path_);
  if (!store.ok()) {
    EXPECT_FALSE(store.error().message.empty());
    return;
  }
  const Result<std::vector<VerdictRecord>> records = store->Verdicts(100);
  ASSERT_FALSE(records.ok());
  EXPECT_FALSE(records.error().message.empty());
}

TEST_F(StoreTest, SaysWhichPlaceItCannotUse) {
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "file", "x").ok());
  const Result<Store> below_a_file = Store::Open(folder_.path() / "file" / "data" / "hone.db");
  ASSERT_FALSE(below_a_file.ok());
  EXPECT_THAT(below_a_file.error().message, HasSubstr((folder_.path() / "file").string()));

  ASSERT_TRUE(MakeFolders(path_).ok());  // a folder at the path of the file
  const Result<Store> a_folder = Store::Open(path_);
  ASSERT_FALSE(a_folder.ok());
  EXPECT_THAT(a_folder.error().message, HasSubstr(path_.string()));
}

TEST_F(StoreTest, AReadOnlyFolderIsAnError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const fs::path locked = folder_.path() / "locked";
  ASSERT_TRUE(MakeFolders(locked, 0555).ok());
  EXPECT_FALSE(Store::Open(locked / "hone.db").ok());
}

// Limits the size of files to a few pages, which simulates a full disk without a mount.
TEST_F(StoreTest, OnAFullDiskTheRowIsRefusedWithASentenceAndTheOthersStay) {
  ASSERT_TRUE(Store::Open(path_)->Save(Record("before")).ok());
  int answer[2];
  ASSERT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 * 1024, 64 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string said;
    Result<Store> store = Store::Open(path_);
    if (store.ok()) {
      VerdictRecord large = Record("too large");
      large.json = std::string(300'000, 'j');
      const Result<int64_t> id = store->Save(large);
      said = id.ok() ? "SAVED" : id.error().message;
    } else {
      said = store.error().message;
    }
    (void)!write(answer[1], said.data(), said.size());
    _exit(0);
  }
  close(answer[1]);
  char said[1000] = {};
  EXPECT_GT(read(answer[0], said, sizeof said - 1), 0);
  close(answer[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_STRNE(said, "SAVED");
  Store store = *Store::Open(path_);
  EXPECT_EQ(store.Verdicts(10)->size(), 1u) << said;
  EXPECT_TRUE(store.Save(Record("after")).ok()) << "it works again once there is room";
}

}  // namespace
}  // namespace hone
