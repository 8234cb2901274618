// One connection of the server: reads a request, waits for its reply, writes it, and then reads the next
// request, becomes a stream of events, or closes. The server's socket thread calls all functions but Send,
// Finish and gone, which the live hub's thread calls.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "dashboard/http_server.h"
#include "dashboard/request_reader.h"

namespace hone {

// What a connection needs from its server.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual const HttpServerOptions& options() const = 0;
  // Runs `task` on the socket thread soon. Thread-safe.
  virtual void Post(std::function<void()> task) = 0;
  virtual void Handle(HttpRequest request, std::function<void(HttpReply)> done) = 0;
  virtual void Watch(const EventSubscription& events, std::shared_ptr<LiveViewer> viewer) = 0;
  virtual void CountRequest() = 0;
  virtual void CountReply(int status) = 0;
};

class HttpConnection : public LiveViewer, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(UniqueFd socket, ConnectionHost& host);

  // Replies 503 and closes, because the server has reached its limit of connections.
  void TurnAway();

  // For poll(2): the events to wait for (0: none) and the timeout (-1: unlimited).
  int fd() const { return socket_.get(); }
  short poll_events() const;
  int poll_ms() const { return deadline_.poll_ms(); }
  // Call after poll(2): continues as far as the socket allows, and closes at the deadline.
  void Continue(short happened);
  bool closed() const { return !socket_.valid(); }
  void Close();

  void Send(std::shared_ptr<const std::string> bytes) override;
  void Finish() override;
  bool gone() const override { return gone_; }

 private:
  enum class Phase { kReading, kHandling, kReplying, kStreaming, kDraining };

  void StartReading();
  void Read();
  void Advance(RequestReader::State state);
  void Reply(const HttpReply& reply, bool head);
  void RefuseRequest(int status, const std::string& sentence);
  void Stream(const EventSubscription& events);
  void Queue(std::shared_ptr<const std::string> bytes);
  void Write();
  void HaveWritten();

  UniqueFd socket_;
  ConnectionHost& host_;
  RequestReader reader_;
  Phase phase_ = Phase::kReading;
  Deadline deadline_;
  bool keep_alive_ = false;
  bool head_checked_ = false;
  bool linger_ = true;
  bool finishing_ = false;
  std::deque<std::shared_ptr<const std::string>> queue_;
  size_t queued_bytes_ = 0;
  size_t written_ = 0;  // bytes of the first entry in the queue
  std::atomic<bool> gone_{false};
};

}  // namespace hone
