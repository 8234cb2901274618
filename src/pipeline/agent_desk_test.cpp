// Tests the desk alone with real sockets: what it accepts and rejects, and that no client can block it.
#include "pipeline/agent_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;

DeskRequest BenchOf(const std::string& source) {
  DeskRequest request;
  request.verb = "bench";
  request.name = "a.py";
  request.source = source;
  return request;
}

Json Echo(const DeskRequest& request, const std::function<bool()>&) {
  return {{"status", "judged"}, {"source", request.source}, {"parent", request.parent}};
}

// A connection that sends these bytes and nothing else.
UniqueFd Connect(const fs::path& folder, const std::string& bytes) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (folder / ".hone-desk").string();
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  return fd;
}

std::string Received(const UniqueFd& fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

TEST(AgentDesk, ReadsRequestsAndSaysWhatIsWrongWithOthers) {
  const Result<DeskRequest> fine =
      ParseDeskRequest(R"({"verb":"bench","name":"a.py","source":"x = 1\n","parent":"agent1","note":"n"})");
  ASSERT_TRUE(fine.ok());
  EXPECT_EQ(fine->source, "x = 1\n");
  EXPECT_EQ(fine->parent, "agent1");
  EXPECT_TRUE(ParseDeskRequest(R"({"verb":"history"})").ok());
  const struct {
    std::string line;
    const char* wanted;
  } wrong[] = {
      {"", "one JSON object"},
      {"[]", "one JSON object"},
      {R"({"verb":"bench","source":"a")", "one JSON object"},
      {R"({"verb":"shell","source":"a"})", "'shell' is no request"},
      {R"({"verb":"bench"})", "the file is empty"},
      {R"({"verb":"bench","source":" \n"})", "the file is empty"},
      {R"({"verb":"bench","source":7})", "'source' must be a string"},
      {R"({"verb":"bench","source":"a","parent":[]})", "'parent' must be a string"},
      {R"({"verb":"bench","source":"a","note":")" + std::string(5000, 'n') + "\"}", "'note' is longer than"},
      {R"({"verb":"lint","source":")" + std::string(kMostCandidateBytes + 1, 'x') + "\"}",
       "'source' is longer than 4"},
  };
  for (const auto& [line, wanted] : wrong) {
    const Result<DeskRequest> read = ParseDeskRequest(line);
    ASSERT_FALSE(read.ok()) << wanted;
    EXPECT_THAT(read.error().message, HasSubstr(wanted));
  }
}

TEST(AgentDesk, AnswersInAFolderWhosePathIsLongerThanASocketsMayBe) {
  const TempFolder base = *TempFolder::Make("hone-desk-");
  const fs::path folder = base.path() / std::string(120, 'a') / std::string(120, 'b');
  ASSERT_TRUE(MakeFolders(folder).ok());
  const std::unique_ptr<AgentDesk> desk = std::move(*AgentDesk::Open(folder, Echo));
  DeskRequest request = BenchOf("s\xc3\xa9\n\"quoted\"");
  request.parent = "agent7";
  const Result<Json> answer = AskDesk(folder, request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(GetString(*answer, "source"), request.source);
  EXPECT_EQ(GetString(*answer, "parent"), "agent7");
  // A file of the largest size is accepted.
  EXPECT_EQ(GetString(*AskDesk(folder, BenchOf(std::string(kMostCandidateBytes, '\n') + "")), "status"),
            "refused");
  const std::string large = std::string(kMostCandidateBytes - 1, '\n') + "x";
  EXPECT_EQ(GetString(*AskDesk(folder, BenchOf(large)), "source"), large);
}

TEST(AgentDesk, TurnsGarbageAwayAndGoesOn) {
  const TempFolder folder = *TempFolder::Make("hone-desk-");
  const std::unique_ptr<AgentDesk> desk = std::move(*AgentDesk::Open(folder.path(), Echo));
  EXPECT_THAT(Received(Connect(folder.path(), "GET / HTTP/1.1\r\n\r\n")), HasSubstr("one JSON object"));
  EXPECT_THAT(Received(Connect(folder.path(), "{\"verb\":\"bench\",\"source\":\"\xff\xfe\"}\n")),
              HasSubstr("refused"));
  { const UniqueFd silent = Connect(folder.path(), ""); }
  EXPECT_EQ(GetString(*AskDesk(folder.path(), BenchOf("x")), "status"), "judged");
}

TEST(AgentDesk, TurnsAwayWhatComesWhenTheQueueIsFull) {
  const TempFolder folder = *TempFolder::Make("hone-desk-");
  std::mutex gate;
  std::atomic<int> inside{0};
  gate.lock();
  std::unique_ptr<AgentDesk> desk =
      std::move(*AgentDesk::Open(folder.path(), [&](const DeskRequest&, const std::function<bool()>&) {
        ++inside;
        const std::scoped_lock wait(gate);
        return Json{{"status", "judged"}};
      }));
  std::vector<std::thread> askers;
  std::atomic<int> judged{0};
  for (int i = 0; i < AgentDesk::kMostWaiting; ++i)
    askers.emplace_back(
        [&] { judged += GetString(*AskDesk(folder.path(), BenchOf("x")), "status") == "judged" ? 1 : 0; });
  while (inside < AgentDesk::kMostWaiting) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(GetString(*AskDesk(folder.path(), BenchOf(std::string(1 << 20, 'x'))), "message"),
              HasSubstr("requests are waiting already"));
  gate.unlock();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(judged, AgentDesk::kMostWaiting);
  // There is a free place again.
  EXPECT_EQ(GetString(*AskDesk(folder.path(), BenchOf("x")), "status"), "judged");
}

TEST(AgentDesk, KnowsWhenWhoeverAskedHasHungUp) {
  const TempFolder folder = *TempFolder::Make("hone-desk-");
  std::atomic<bool> begun{false};
  std::atomic<bool> noticed{false};
  const std::unique_ptr<AgentDesk> desk =
      std::move(*AgentDesk::Open(folder.path(), [&](const DeskRequest&, const auto& still_there) {
        begun = true;
        while (still_there()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        noticed = true;
        return Json{{"status", "judged"}};
      }));
  UniqueFd asker = Connect(folder.path(), "{\"verb\":\"bench\",\"source\":\"x\"}\n");
  while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(noticed);
  asker.Close();
  desk->Close();
  EXPECT_TRUE(noticed);
}

TEST(AgentDesk, AnswersWhatItTookBeforeItClosesAndNothingAfterwards) {
  const TempFolder folder = *TempFolder::Make("hone-desk-");
  std::atomic<bool> begun{false};
  std::unique_ptr<AgentDesk> desk =
      std::move(*AgentDesk::Open(folder.path(), [&](const DeskRequest&, const std::function<bool()>&) {
        begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return Json{{"status", "judged"}};
      }));
  const UniqueFd silent = Connect(folder.path(), "{\"verb\"");  // never ends its line
  std::string status;
  std::thread asker([&] { status = GetString(*AskDesk(folder.path(), BenchOf("x")), "status"); });
  while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  desk->Close();
  asker.join();
  EXPECT_EQ(status, "judged");
  const Result<Json> late = AskDesk(folder.path(), BenchOf("x"));
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().message, HasSubstr("has ended or was stopped"));
  EXPECT_FALSE(fs::exists(folder.path() / ".hone-desk"));
}

TEST(AgentDesk, TakesThePlaceOfWhateverLiesThere) {
  const TempFolder folder = *TempFolder::Make("hone-desk-");
  ASSERT_TRUE(MakeFolders(folder.path() / ".hone-desk" / "forged").ok());
  const std::unique_ptr<AgentDesk> desk = std::move(*AgentDesk::Open(folder.path(), Echo));
  EXPECT_EQ(GetString(*AskDesk(folder.path(), BenchOf("x")), "status"), "judged");
}

}  // namespace
}  // namespace hone
