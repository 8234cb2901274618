#include "dashboard/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "base/interrupt.h"
#include "dashboard/http_connection.h"

namespace hone {

namespace {

// How long accepting pauses if no descriptors are left.
constexpr double kAcceptPause_s = 0.1;

// Runs tasks on a few threads, in order of arrival.
class WorkerPool {
 public:
  explicit WorkerPool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  // Drops tasks that have not started.
  ~WorkerPool() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void Add(std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void Work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
        if (stop_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// The shorter of two timeouts for poll(2), in which -1 means unlimited.
int Sooner(int a, int b) {
  return a < 0 ? b : b < 0 ? a : std::min(a, b);
}

}  // namespace

struct HttpServer::State : ConnectionHost {
  explicit State(const HttpServerOptions& asked) : asked(asked) {}

  const HttpServerOptions& options() const override { return asked; }
  void Post(std::function<void()> task) override {
    {
      const std::scoped_lock lock(mutex);
      posted.push_back(std::move(task));
    }
    Wake();
  }
  void Handle(HttpRequest request, std::function<void(HttpReply)> done) override {
    auto shared = std::make_shared<HttpRequest>(std::move(request));
    pool->Add([this, shared, done = std::move(done)] {
      const auto deliver = [this, done](HttpReply made) {
        auto reply = std::make_shared<HttpReply>(std::move(made));
        Post([done, reply] { done(std::move(*reply)); });
      };
      HttpReply reply = (*handler)(*shared);
      if (!reply.later) return deliver(std::move(reply));
      const LaterReply later = std::move(reply.later);
      later(deliver);
    });
  }
  void Watch(const EventSubscription& events, std::shared_ptr<LiveViewer> viewer) override {
    hub->Watch(events, std::move(viewer));
  }
  void CountRequest() override { ++requests; }
  void CountReply(int status) override {
    if (status >= 500)
      ++failed;
    else if (status >= 400)
      ++refused;
  }

  void Wake() {
    const uint64_t one = 1;
    (void)!write(wake.get(), &one, sizeof one);
  }
  void RunPosted() {
    std::vector<std::function<void()>> tasks;
    {
      const std::scoped_lock lock(mutex);
      tasks.swap(posted);
    }
    for (const std::function<void()>& task : tasks) task();
  }
  void Accept();
  void Turn();

  const HttpServerOptions asked;
  UniqueFd listener;
  UniqueFd wake;
  const Handler* handler = nullptr;
  LiveHub* hub = nullptr;
  WorkerPool* pool = nullptr;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> failed{0};
  std::mutex mutex;
  std::vector<std::function<void()>> posted;
  std::vector<std::shared_ptr<HttpConnection>> open;
  Deadline accept_again = Deadline::After(0);
};

void HttpServer::State::Accept() {
  while (true) {
    UniqueFd socket(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        accept_again = Deadline::After(kAcceptPause_s);
      return;
    }
    ++connections;
    const int on = 1;
    (void)setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const bool full = open.size() >= asked.most_connections;
    open.push_back(std::make_shared<HttpConnection>(std::move(socket), *this));
    if (full) open.back()->TurnAway();
  }
}

// Waits for an event on any socket and handles it.
void HttpServer::State::Turn() {
  const bool accepting = accept_again.passed();
  std::vector<pollfd> polled = {
      {wake.get(), POLLIN, 0}, {InterruptFd(), POLLIN, 0}, {accepting ? listener.get() : -1, POLLIN, 0}};
  int wait_ms = accepting ? -1 : accept_again.poll_ms();
  const size_t first = polled.size();
  for (const std::shared_ptr<HttpConnection>& each : open) {
    // poll(2) always reports a hang-up, so a connection whose reply is being made is not polled.
    polled.push_back({each->poll_events() == 0 ? -1 : each->fd(), each->poll_events(), 0});
    wait_ms = Sooner(wait_ms, each->poll_ms());
  }
  if (poll(polled.data(), polled.size(), wait_ms) < 0 && errno != EINTR) {
    fmt::print(stderr, "hone: a bug in hone: poll: {}\n", std::strerror(errno));
    stop = true;
  }
  if (polled[0].revents != 0) {
    uint64_t count = 0;
    (void)!read(wake.get(), &count, sizeof count);
  }
  if (polled[1].revents != 0) stop = true;
  const size_t known = open.size();
  for (size_t i = 0; i < known; ++i) {
    const std::shared_ptr<HttpConnection> each = open[i];
    try {
      each->Continue(polled[first + i].revents);
    } catch (const std::exception& error) {
      fmt::print(stderr, "hone: a bug in hone: {}\n", error.what());
      each->Close();
    }
  }
  RunPosted();
  if (polled[2].revents != 0) Accept();
  std::erase_if(open, [](const std::shared_ptr<HttpConnection>& each) { return each->closed(); });
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(const HttpServerOptions& options) {
  auto state = std::make_unique<State>(options);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(options.bind.c_str(), std::to_string(options.port).c_str(), &hints, &found) != 0 ||
      found == nullptr)
    return Error{ErrorKind::kUsage, fmt::format("--bind {}: there is no such address here", options.bind)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> address(found, freeaddrinfo);
  state->wake = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  state->listener = UniqueFd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!state->wake.valid() || !state->listener.valid() ||
      setsockopt(state->listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(state->listener.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(state->listener.get(), 128) != 0) {
    if (errno == EADDRINUSE)
      return Error{ErrorKind::kUnavailable,
                   fmt::format("port {} is in use, perhaps by another hone serve; --port 0 takes a free one",
                               options.port)};
    return Error{ErrorKind::kUnavailable, fmt::format("cannot listen on {} port {}: {}", options.bind,
                                                      options.port, std::strerror(errno))};
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

int HttpServer::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(state_->listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

HttpCounts HttpServer::counts() const {
  return {state_->connections, state_->requests, state_->refused, state_->failed};
}

void HttpServer::Run(const Handler& handler, LiveHub& hub) {
  State& state = *state_;
  WorkerPool pool(state.asked.handler_threads);
  state.handler = &handler;
  state.hub = &hub;
  state.pool = &pool;
  while (!state.stop) {
    try {
      state.Turn();
    } catch (const std::exception& error) {
      fmt::print(stderr, "hone: a bug in hone: {}\n", error.what());
    }
  }
  for (const std::shared_ptr<HttpConnection>& each : state.open) each->Close();
  state.open.clear();
}

void HttpServer::Stop() {
  state_->stop = true;
  state_->Wake();
}

}  // namespace hone
