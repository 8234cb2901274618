#include "pipeline/run_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>

#include "base/ids.h"
#include "base/text.h"
#include "model/replies.h"
#include "pipeline/run_files.h"
#include "pipeline/tarball.h"

namespace hone {
namespace {

using testing::HasSubstr;

class RunArchiveTest : public testing::Test {
 protected:
  RunArchiveTest() : folder_(*TempFolder::Make("hone-archive-")) {
    here_ = std::move(*RunStore::Open(folder_.path() / "here.db"));
    there_ = std::move(*RunStore::Open(folder_.path() / "there.db"));
  }

  // A run with a row in every table, a suite, and a folder that also contains a foreign file.
  RunRecord Make(const std::string& name) {
    SuiteRecord suite{0, "three", "2026-01-01T00:00:00Z", R"({"folder":"/secret/place","jobs":2})"};
    const Result<SuiteRecord> known = here_->FindSuite("three");
    suite.id = known.ok() ? known->id : *here_->AddSuite(suite);
    RunRecord run;
    run.name = name;
    run.created = "2026-01-31T00:00:00Z";
    run.status = "done";
    run.task = "39_GRU";
    run.task_source = "class Model: pass\n";
    run.task_sha256 = Sha256(run.task_source);
    run.target = "cpu";
    run.proposer = "llm";
    run.folder = (folder_.path() / "runs" / name).string();
    run.options = R"({"model":{"api_key_env":"HONE_TEST_SECRET"},"seeds":2})";
    run.best_key = "seed0";
    run.vs_best = 2.5;
    run.suite_id = suite.id;
    run.id = *here_->AddRun(run);
    CallRecord call;
    call.run_id = run.id;
    call.key = "seed0";
    call.status = "answered";
    call.reply = "bytes that are no text: \xff\xfe";
    EXPECT_TRUE(here_->SaveCall(call).ok());
    CandidateRecord candidate;
    candidate.run_id = run.id;
    candidate.key = "seed0";
    candidate.source = "x = 1\n";
    candidate.sha256 = Sha256(candidate.source);
    candidate.verdict = "accepted";
    candidate.json = R"({"provenance":{"device":"a chip"}})";
    candidate.vs_best = 0.1 + 0.2;
    candidate.error = HUGE_VAL;
    EXPECT_TRUE(here_->SaveCandidate(candidate).ok());
    EXPECT_TRUE(here_->SaveDecision(run.id, {"best", "now", "best", "seed0 it is", "{}"}).ok());
    EXPECT_TRUE(here_->AddConsole(run.id, "hello").ok());
    const fs::path at = run.folder;
    EXPECT_TRUE(MakeFolders(at / "code").ok());
    EXPECT_TRUE(WriteFileAtomic(at / "code/seed0.py", candidate.source).ok());
    EXPECT_TRUE(WriteFileAtomic(at / "run.json", R"({"run":")" + name + "\"}").ok());
    EXPECT_TRUE(WriteFileAtomic(at / "my_notes.txt", "mine").ok());
    return run;
  }

  Result<std::string> Packed(RunStore& store, const RunRecord& run) {
    std::string left_alone;
    HONE_ASSIGN_OR_RETURN(const RunArchive archive, CollectRun(store, run, &left_alone));
    EXPECT_EQ(left_alone, "");
    return PackRun(archive);
  }

  fs::path Write(const std::string& bytes) {
    const fs::path file = folder_.path() / "packed.tar.gz";
    EXPECT_TRUE(WriteFileAtomic(file, bytes).ok());
    return file;
  }

  // The run's archive with changed members and a matching manifest.
  fs::path Changed(const RunRecord& run, const std::function<void(std::vector<TarMember>&, Json&)>& change) {
    std::vector<TarMember> members = *UnpackTar(Write(*Packed(*here_, run)));
    Json manifest = *ParseJson(members.front().content);
    change(members, manifest);
    manifest["members"] = Json::object();
    for (size_t i = 1; i < members.size(); ++i)
      manifest["members"][members[i].name] = Sha256(members[i].content);
    members.front().content = DumpJson(manifest);
    return Write(*PackTar(members));
  }

  static TarMember& Member(std::vector<TarMember>& members, const std::string& name) {
    for (TarMember& member : members)
      if (member.name == name) return member;
    ADD_FAILURE() << "no member " << name;
    return members.front();
  }

  std::string Refusal(const fs::path& file) {
    const Result<RunArchive> archive = ReadRunArchive(*there_, file);
    return archive.ok() ? "taken" : archive.error().message;
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> here_, there_;
};

TEST_F(RunArchiveTest, TheSameRunGivesTheSameBytesHereAndWhereItWasTaken) {
  const RunRecord run = Make("20260131_a");
  const std::string bytes = *Packed(*here_, run);
  EXPECT_EQ(*Packed(*here_, run), bytes);
  const Result<RunArchive> archive = ReadRunArchive(*there_, Write(bytes));
  ASSERT_TRUE(archive.ok()) << archive.error().message;
  EXPECT_EQ(archive->files.count("my_notes.txt"), 0u);
  const Result<ImportedRun> imported = ImportRun(*there_, *archive, folder_.path() / "elsewhere");
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_FALSE(imported->known);
  EXPECT_EQ(imported->run.folder, (folder_.path() / "elsewhere" / run.name).string());
  EXPECT_EQ(*ReadFile(fs::path(imported->run.folder) / "code/seed0.py"), "x = 1\n");
  EXPECT_EQ(*Packed(*there_, imported->run), bytes);
}

TEST_F(RunArchiveTest, EveryRowArrivesAsItWas) {
  const RunRecord run = Make("20260131_a");
  const RunArchive archive = *ReadRunArchive(*there_, Write(*Packed(*here_, run)));
  const RunRecord taken = ImportRun(*there_, archive, folder_.path() / "elsewhere")->run;
  const std::vector<CandidateRecord> candidates = *there_->Candidates(taken.id);
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].json, R"({"provenance":{"device":"a chip"}})");
  EXPECT_EQ(candidates[0].vs_best, 0.1 + 0.2);
  EXPECT_EQ(candidates[0].error, HUGE_VAL);
  EXPECT_EQ(there_->Calls(taken.id)->at(0).reply, "bytes that are no text: \xff\xfe");
  EXPECT_EQ(there_->Decisions(taken.id)->at(0).text, "seed0 it is");
  EXPECT_EQ(there_->Console(taken.id, 0, 10)->at(0).second, "hello");
  const SuiteRecord suite = *there_->FindSuite("three");
  EXPECT_EQ(taken.suite_id, suite.id);
  EXPECT_THAT(suite.options, testing::Not(HasSubstr("/secret/place")));
  EXPECT_TRUE(IsFromArchive(*ParseJson(taken.options)));
}

TEST_F(RunArchiveTest, FurtherRepliesArriveAndACallWithoutThemIsArchivedAsItEverWas) {
  const RunRecord run = Make("20260131_a");
  CallRecord call;
  call.run_id = run.id;
  call.key = "seed1";
  call.status = "answered";
  call.more_replies = RepliesText({{"another file", "", "stop"}});
  ASSERT_TRUE(here_->SaveCall(call).ok());
  const std::string bytes = *Packed(*here_, run);
  std::vector<TarMember> members = *UnpackTar(Write(bytes));
  const std::vector<std::string> rows = Lines(Member(members, "store/call.jsonl").content);
  EXPECT_THAT(rows.at(0), testing::Not(HasSubstr("more_replies")));
  EXPECT_THAT(rows.at(1), HasSubstr("more_replies"));
  const RunArchive archive = *ReadRunArchive(*there_, Write(bytes));
  const RunRecord taken = ImportRun(*there_, archive, folder_.path() / "elsewhere")->run;
  EXPECT_EQ(there_->Calls(taken.id)->at(0).more_replies, "");
  EXPECT_EQ(RepliesFrom(there_->Calls(taken.id)->at(1).more_replies).at(0).text, "another file");
  EXPECT_EQ(*Packed(*there_, taken), bytes);
}

TEST_F(RunArchiveTest, ARunThatIsThereAlreadyIsRecognised) {
  const RunRecord run = Make("20260131_a");
  const fs::path file = Write(*Packed(*here_, run));
  const RunArchive archive = *ReadRunArchive(*there_, file);
  const ImportedRun first = *ImportRun(*there_, archive, folder_.path() / "elsewhere");
  const ImportedRun second = *ImportRun(*there_, archive, folder_.path() / "elsewhere");
  EXPECT_TRUE(second.known);
  EXPECT_EQ(second.run.id, first.run.id);
  EXPECT_TRUE(ImportRun(*here_, archive, folder_.path() / "elsewhere")->known) << "where it was made";
  EXPECT_EQ(there_->Runs(10)->size(), 1u);
}

TEST_F(RunArchiveTest, AnotherRunOfTheSameNameGetsANameOfItsOwn) {
  const RunRecord run = Make("20260131_a");
  const RunArchive archive = *ReadRunArchive(*here_, Write(*Packed(*here_, run)));
  EXPECT_TRUE(here_->AddConsole(run.id, "more talk").ok());
  EXPECT_TRUE(ImportRun(*here_, archive, folder_.path() / "runs")->known) << "talk is not what a run is";
  EXPECT_TRUE(here_->SaveDecision(run.id, {"more", "now", "", "it went on", "{}"}).ok());
  const ImportedRun other = *ImportRun(*here_, archive, folder_.path() / "runs");
  EXPECT_FALSE(other.known);
  EXPECT_EQ(other.run.name, "20260131_a-2");
  EXPECT_EQ(other.run.suite_id, run.suite_id);
}

TEST_F(RunArchiveTest, AKeyDoesNotGoIntoAnArchive) {
  const RunRecord run = Make("20260131_a");
  ASSERT_TRUE(here_->AddConsole(run.id, "the server said sk-123456789abcdef").ok());
  EXPECT_TRUE(Packed(*here_, run).ok());
  setenv("HONE_TEST_SECRET", "sk-123456789abcdef", 1);
  const Result<std::string> bytes = Packed(*here_, run);
  unsetenv("HONE_TEST_SECRET");
  ASSERT_FALSE(bytes.ok());
  EXPECT_THAT(bytes.error().message, HasSubstr("HONE_TEST_SECRET"));
  EXPECT_THAT(bytes.error().message, testing::Not(HasSubstr("sk-1234")));
}

TEST_F(RunArchiveTest, NeitherDoesTheKeyOfTheModelForRepairs) {
  RunRecord run = Make("20260131_a");
  ASSERT_TRUE(here_->AddConsole(run.id, "the server said sk-123456789abcdef").ok());
  const fs::path file = folder_.path() / "second_key";
  ASSERT_TRUE(WriteFileAtomic(file, "sk-123456789abcdef\n").ok());
  const std::string by_file = DumpJson(Json{{"model", {{"api_key_file_repair", file.string()}}}});
  setenv("HONE_TEST_SECOND", "sk-123456789abcdef", 1);
  for (const std::string& options :
       {std::string(R"({"model":{"api_key_env_repair":"HONE_TEST_SECOND"}})"), by_file}) {
    run.options = options;
    ASSERT_TRUE(here_->UpdateRun(run).ok());
    const Result<std::string> bytes = Packed(*here_, run);
    ASSERT_FALSE(bytes.ok()) << options;
    EXPECT_THAT(bytes.error().message, testing::Not(HasSubstr("sk-1234")));
  }
  unsetenv("HONE_TEST_SECOND");
}

TEST_F(RunArchiveTest, HostileArchivesAreRefusedBeforeAnythingIsWritten) {
  const RunRecord run = Make("20260131_a");
  using Change = std::function<void(std::vector<TarMember>&, Json&)>;
  auto row = [](const char* member, const char* column, const Json& value) -> Change {
    return [=](std::vector<TarMember>& members, Json&) {
      TarMember& one = Member(members, member);
      Json json = *ParseJson(one.content);
      json[column] = value;
      one.content = DumpJson(json);
    };
  };
  struct Case {
    const char* what;
    Change change;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"untouched", [](auto&, auto&) {}, "taken"},
      {"a file of nobody",
       [](auto& members, auto&) {
         members.push_back({"folder/.bashrc", "rm"});
       },
       "belongs to no call"},
      {"another member",
       [](auto& members, auto&) {
         members.push_back({"extra", ""});
       },
       "no part of a run"},
      {"a table",
       [](auto& members, auto&) {
         members.push_back({"store/sqlite_master.jsonl", "{}"});
       },
       "no table"},
      {"broken JSON", [](auto& members, auto&) { Member(members, "store/call.jsonl").content = "{\"key\":"; },
       "store/call.jsonl"},
      {"a name that climbs", row("store/run.json", "name", "../../etc"), "cannot be a folder's"},
      {"a hidden name", row("store/run.json", "name", ".ssh"), "cannot be a folder's"},
      {"a column", row("store/run.json", "folder", "/etc"), "unknown column"},
      {"options that are no JSON", row("store/run.json", "options", "{"), "not JSON"},
      {"another task", row("store/run.json", "task_source", "import os"), "hash"},
      {"another candidate", row("store/candidate.jsonl", "source", "import os"), "hash"},
      {"replies that are no JSON", row("store/call.jsonl", "more_replies", "[{"), "not JSON"},
      {"a status", row("store/run.json", "status", "winning"), "status"},
      {"a suite's name", row("store/suite.json", "name", "a/b"), "suite"},
      {"a newer schema", [](auto&, Json& manifest) { manifest["schema"] = 999; }, "newer hone"},
      {"a newer format", [](auto&, Json& manifest) { manifest["version"] = 2; }, "newer hone"},
      {"another format", [](auto&, Json& manifest) { manifest["format"] = "zip"; }, "no archive of a run"},
  };
  for (const Case& one : cases) {
    EXPECT_THAT(Refusal(Changed(run, one.change)), HasSubstr(one.says)) << one.what;
  }
  const Result<RunArchive> wrong_type =
      ReadRunArchive(*there_, Changed(run, row("store/candidate.jsonl", "vs_best", "fast")));
  ASSERT_TRUE(wrong_type.ok()) << wrong_type.error().message;
  const Result<ImportedRun> imported = ImportRun(*there_, *wrong_type, folder_.path() / "elsewhere");
  ASSERT_FALSE(imported.ok());
  EXPECT_THAT(imported.error().message, HasSubstr("wrong type"));
  EXPECT_TRUE(there_->Runs(10)->empty());
  EXPECT_FALSE(there_->FindSuite("three").ok()) << "all or nothing";
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
}

TEST_F(RunArchiveTest, ADamagedArchiveIsRefusedWhereverItIsCut) {
  const std::string bytes = *Packed(*here_, Make("20260131_a"));
  // The last bytes hold only the end marks of tar and gzip.
  for (size_t length = 0; length + 64 < bytes.size(); length += 97)
    EXPECT_NE(Refusal(Write(bytes.substr(0, length))), "taken") << length;
  std::string flipped = bytes;
  flipped[bytes.size() / 2] ^= 0x10;
  EXPECT_NE(Refusal(Write(flipped)), "taken");
  EXPECT_NE(Refusal(Write("hello")), "taken");
}

TEST_F(RunArchiveTest, FilesThatARunDidNotWriteStayWhenItsFilesGo) {
  const RunRecord run = Make("20260131_a");
  const RunFolder folder = *LookAtRunFolder(*here_, run, false);
  EXPECT_EQ(folder.not_ours, "");
  EXPECT_THAT(folder.files, testing::ElementsAre("code/seed0.py", "run.json"));
  EXPECT_FALSE(*RemoveRunFiles(run, folder.files));
  EXPECT_EQ(*ReadFile(fs::path(run.folder) / "my_notes.txt"), "mine");
  EXPECT_FALSE(fs::exists(fs::path(run.folder) / "code"));
  fs::remove(fs::path(run.folder) / "my_notes.txt");
  EXPECT_TRUE(*RemoveRunFiles(run, folder.files));
  EXPECT_FALSE(fs::exists(run.folder));
}

TEST_F(RunArchiveTest, AFolderThatIsNotTheRunsIsLeftAlone) {
  RunRecord run = Make("20260131_a");
  EXPECT_NE(LookAtRunFolder(*here_, run, true)->not_ours, "");
  ASSERT_TRUE(WriteFileAtomic(fs::path(run.folder) / "run.json", R"({"run":"another"})").ok());
  EXPECT_THAT(LookAtRunFolder(*here_, run, false)->not_ours, HasSubstr("another run"));
  // A link in place of the folder, and one in place of a part of it.
  const fs::path own = run.folder;
  ASSERT_TRUE(WriteFileAtomic(own / "run.json", R"({"run":"20260131_a"})").ok());
  fs::rename(own / "code", folder_.path() / "code");
  fs::create_directory_symlink(folder_.path() / "code", own / "code");
  EXPECT_THAT(LookAtRunFolder(*here_, run, false)->files, testing::ElementsAre("run.json"));
  ASSERT_TRUE(RemoveRunFiles(run, {"code/seed0.py", "run.json"}).ok());
  EXPECT_TRUE(fs::exists(folder_.path() / "code/seed0.py"));
  fs::create_directory_symlink(own, folder_.path() / "20260131_a");
  run.folder = (folder_.path() / "20260131_a").string();
  EXPECT_NE(LookAtRunFolder(*here_, run, false)->not_ours, "");
}

}  // namespace
}  // namespace hone
