// Tests the real server on a real socket with raw bytes: well-formed requests are answered, malformed ones
// cost one connection.
#include "dashboard/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"
#include "base/ids.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "dashboard/sse.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kHost[] = "Host: 127.0.0.1\r\n";

class Client {
 public:
  explicit Client(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Receives until the text arrives, the server closes, or the time is over.
  std::string Receive(std::string_view until = "", double seconds = 10) {
    const Deadline deadline = Deadline::After(seconds);
    while (until.empty() || !Contains(got_, until)) {
      pollfd wait{socket_.get(), POLLIN, 0};
      if (poll(&wait, 1, deadline.poll_ms()) <= 0) break;
      char buffer[4096];
      const ssize_t count = recv(socket_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) {
        closed_ = true;
        break;
      }
      got_.append(buffer, static_cast<size_t>(count));
    }
    return got_;
  }
  bool closed() const { return closed_; }

 private:
  UniqueFd socket_;
  bool connected_ = false;
  bool closed_ = false;
  std::string got_;
};

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() : folder_(*TempFolder::Make("hone-http-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
  }
  ~HttpServerTest() override {
    server_->Stop();
    thread_.join();
    hub_.reset();
  }
  void Start(HttpServerOptions options = {}) {
    options.port = 0;
    server_ = std::move(*HttpServer::Listen(options));
    LiveRenderer renderer;
    renderer.summary = [](const LiveRun& live) { return "summary " + live.run.status; };
    renderer.plot = [](const LiveRun&) { return "plot"; };
    renderer.row = [](const LiveRun&, const CandidateRecord& one) { return "row " + one.key + one.verdict; };
    hub_ = std::make_unique<LiveHub>(folder_.path() / "hone.db", renderer, 0.02, 0.05);
    thread_ = std::thread([this] {
      server_->Run(
          [](const HttpRequest& request) {
            HttpReply reply;
            reply.content_type = "text/plain";
            reply.body = request.method + " " + request.path + " [" + request.body + "]";
            if (request.path == "/split") reply.headers.emplace_back("X-Test", "a\r\nSet-Cookie: evil=1");
            if (hone::StartsWith(request.path, "/events/"))
              reply.events =
                  EventSubscription{std::stoll(request.path.substr(8)),
                                    request.last_event_id.empty() ? 0 : std::stoll(request.last_event_id)};
            return reply;
          },
          *hub_);
    });
  }
  std::string Ask(const std::string& bytes, std::string_view until = "") {
    Client client(server_->port());
    client.Send(bytes);
    return client.Receive(until);
  }
  bool Answers() {
    return Contains(Ask(std::string("GET /alive HTTP/1.1\r\n") + kHost + "Connection: close\r\n\r\n"),
                    "GET /alive []");
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<LiveHub> hub_;
  std::thread thread_;
};

TEST_F(HttpServerTest, ARequestIsAnsweredWithThePolicyAndNoHeaderCanBeSmuggled) {
  Start();
  const std::string reply = Ask(std::string("GET /split HTTP/1.1\r\n") + kHost + "Connection: close\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
  EXPECT_THAT(reply, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(reply, HasSubstr("Cache-Control: no-store"));
  EXPECT_THAT(reply, Not(HasSubstr("evil")));
}

TEST_F(HttpServerTest, OneConnectionServesSeveralRequestsAndHeadHasNoBody) {
  Start();
  Client client(server_->port());
  client.Send(std::string("HEAD /a HTTP/1.1\r\n") + kHost + "\r\n");
  EXPECT_THAT(client.Receive("\r\n\r\n"), Not(HasSubstr("GET /a")));
  client.Send(std::string("POST /b HTTP/1.1\r\n") + kHost + "Content-Length: 3\r\n\r\nx=1");
  EXPECT_THAT(client.Receive("POST /b [x=1]"), HasSubstr("POST /b [x=1]"));
}

TEST_F(HttpServerTest, WhatIsTooLargeOrCannotBeReadIsRefused) {
  HttpServerOptions options;
  options.most_head_bytes = 2000;
  options.most_body_bytes = 100;
  Start(options);
  const std::string get = std::string("GET / HTTP/1.1\r\n") + kHost;
  EXPECT_THAT(Ask(get + "X: " + std::string(5000, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Ask(std::string("POST / HTTP/1.1\r\n") + kHost + "Content-Length: 1000\r\n\r\n" +
                  std::string(1000, 'x')),
              StartsWith("HTTP/1.1 413"));
  for (const char* bad :
       {"hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nBroken\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://elsewhere/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"})
    EXPECT_THAT(Ask(bad), StartsWith("HTTP/1.1 400")) << bad;
  EXPECT_TRUE(Answers());
}

TEST_F(HttpServerTest, GarbageOfEveryKindLeavesItServing) {
  HttpServerOptions options;
  options.read_seconds = 0.5;
  Start(options);
  Random random(RandomU64());
  const std::string whole =
      std::string("GET /x?y=%41 HTTP/1.1\r\n") + kHost + "Cookie: a=b\r\nContent-Length: 0\r\n\r\n";
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole;
    if (i % 3 == 0) {
      bytes.resize(random.Below(600));
      for (char& c : bytes) c = static_cast<char>(random.Below(256));
    } else if (i % 3 == 1) {
      for (int change = 0; change < 4; ++change)
        bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    } else {
      bytes = bytes.substr(0, random.Below(bytes.size()));
    }
    Client client(server_->port());
    ASSERT_TRUE(client.connected()) << i;
    client.Send(bytes);
  }
  EXPECT_TRUE(Answers());
}

TEST_F(HttpServerTest, AClientThatNeverFinishesItsRequestIsDropped) {
  HttpServerOptions options;
  options.read_seconds = 0.3;
  Start(options);
  Client client(server_->port());
  const Stopwatch watch;
  // Sending single bytes slowly does not extend the deadline.
  for (const char c : std::string("GET / HTTP/1.1\r\nHos")) {
    client.Send(std::string(1, c));
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  client.Receive("", 30);
  EXPECT_TRUE(client.closed());
  EXPECT_LT(watch.seconds(), 30);
}

TEST_F(HttpServerTest, MoreConnectionsThanAllowedAreTurnedAway) {
  HttpServerOptions options;
  options.most_connections = 3;
  Start(options);
  std::vector<std::unique_ptr<Client>> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(std::make_unique<Client>(server_->port()));
    held.back()->Send("GET ");
  }
  const Deadline deadline = Deadline::After(5);
  std::string reply;
  while (!Contains(reply, "503") && !deadline.passed()) reply = Ask("");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 503"));
  held.clear();
  bool answers = false;
  while (!answers && !deadline.passed()) answers = Answers();
  EXPECT_TRUE(answers);
}

TEST_F(HttpServerTest, APortInUseIsOneSentence) {
  Start();
  HttpServerOptions options;
  options.port = server_->port();
  const Result<std::unique_ptr<HttpServer>> second = HttpServer::Listen(options);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("is in use"));
  options.bind = "no.such.address.invalid";
  EXPECT_EQ(HttpServer::Listen(options).error().kind, ErrorKind::kUsage);
}

class LiveTest : public HttpServerTest {
 protected:
  LiveTest() {
    run_.name = "r";
    run_.status = "stopped";
    run_.task = "t";
    run_.target = "cpu";
    run_.proposer = "expert";
    run_.folder = "/f";
    run_.options = "{}";
    run_.id = *store_->AddRun(run_);
    EXPECT_TRUE(store_->AddConsole(run_.id, "first line").ok());
  }
  std::string Events(const std::string& more = "") const {
    return "GET /events/" + std::to_string(run_.id) + " HTTP/1.1\r\n" + kHost + more + "\r\n";
  }
  RunRecord run_;
};

TEST_F(LiveTest, AnEndedRunIsToldWholeAndThenTheStreamEnds) {
  CandidateRecord one;
  one.run_id = run_.id;
  one.key = "seed0";
  one.verdict = "accepted";
  ASSERT_TRUE(store_->SaveCandidate(one).ok());
  Start();
  const std::string told = Ask(Events());
  EXPECT_THAT(told, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(told, HasSubstr("event: summary\ndata: {\"html\":\"summary stopped\"}"));
  EXPECT_THAT(told, HasSubstr("row seed0accepted"));
  EXPECT_THAT(told, HasSubstr("[[1,\"first line\"]]"));
  EXPECT_THAT(told, HasSubstr("event: end\ndata: {\"status\":\"stopped\"}"));
}

TEST_F(LiveTest, WhoComesBackHearsOnlyNewLines) {
  ASSERT_TRUE(store_->AddConsole(run_.id, "second line").ok());
  Start();
  const std::string told = Ask(Events("Last-Event-ID: 1\r\n"));
  EXPECT_THAT(told, Not(HasSubstr("first line")));
  EXPECT_THAT(told, HasSubstr("second line"));
}

TEST_F(LiveTest, ARunThatDoesNotExistEndsTheStream) {
  Start();
  EXPECT_THAT(Ask("GET /events/4711 HTTP/1.1\r\n" + std::string(kHost) + "\r\n"), Not(HasSubstr("event:")));
  EXPECT_TRUE(Answers());
}

TEST_F(LiveTest, AViewerThatLeavesIsForgotten) {
  Start();
  {
    Client client(server_->port());
    client.Send(Events());
    client.Receive("event: summary");
  }
  const Deadline deadline = Deadline::After(5);
  while (hub_->viewers() > 0 && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(hub_->viewers(), 0u);
}

}  // namespace
}  // namespace hone
