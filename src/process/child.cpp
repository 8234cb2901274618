#include "process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/unique_fd.h"
#include "process/tree.h"

extern char** environ;

namespace hone {

namespace {

// Keeps the beginning and the end of unlimited text: a compiler's first error and the last lines before a
// crash.
class CappedText {
 public:
  explicit CappedText(size_t cap) : half_(cap / 2) {}
  void Append(const char* data, size_t size) {
    const size_t to_head = std::min(size, half_ - std::min(half_, head_.size()));
    head_.append(data, to_head);
    tail_.append(data + to_head, size - to_head);
    if (tail_.size() > 2 * half_) {
      dropped_ += tail_.size() - half_;
      tail_.erase(0, tail_.size() - half_);
    }
  }
  std::string text() const {
    if (dropped_ == 0) return head_ + tail_;
    return head_ + "\n[" + HumanBytes(static_cast<double>(dropped_)) + " left out]\n" + tail_;
  }

 private:
  size_t half_;
  size_t dropped_ = 0;
  std::string head_;
  std::string tail_;
};

// Starts every child from one thread that lives as long as the process. The sandbox and bubblewrap ask to be
// killed when their parent ends. For the kernel that parent is the thread that started them. A thread that
// serves one branch of a run would, when it ends, kill interpreters that other branches use.
class Starter {
 public:
  static Starter& Get() {
    static Starter* const starter = new Starter;
    return *starter;
  }

  int Run(std::packaged_task<int()> task) {
    std::future<int> code = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
    return code.get();
  }

 private:
  Starter() {
    StartThread([this] {
      while (true) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return !tasks_.empty(); });
        std::packaged_task<int()> task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
      }
    }).detach();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::packaged_task<int()>> tasks_;
};

}  // namespace

// Reads both pipes on its own thread, so that a child that floods its output never blocks. Stops when the
// child has been collected, even if a grandchild still holds the pipe open.
struct Child::Drain {
  Drain(int out, int err, size_t cap)
      : ends{UniqueFd(out), UniqueFd(err)}, texts{CappedText(cap), CappedText(cap)} {
    int stop_pipe[2];
    if (pipe2(stop_pipe, O_CLOEXEC) == 0) {
      stop_read = UniqueFd(stop_pipe[0]);
      stop_write = UniqueFd(stop_pipe[1]);
    }
    thread = StartThread([this] { Run(); });
  }
  ~Drain() { Stop(); }

  void Stop() {
    if (!thread.joinable()) return;
    stop_write.Close();
    thread.join();
  }

  void Run() {
    bool stopping = false;
    while (true) {
      pollfd polls[3] = {
          {ends[0].get(), POLLIN, 0}, {ends[1].get(), POLLIN, 0}, {stop_read.get(), POLLIN, 0}};
      // After the stop it reads only what the pipes already hold.
      const int ready = poll(polls, stopping ? 2 : 3, stopping ? 0 : -1);
      if (ready < 0 && errno == EINTR) continue;
      if (stopping && ready <= 0) return;
      if (!stopping && (polls[2].revents & (POLLIN | POLLHUP)) != 0) stopping = true;
      bool any_open = false;
      for (int i = 0; i < 2; ++i) {
        if (!ends[i].valid()) continue;
        any_open = true;
        if ((polls[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
        char buffer[65536];
        const ssize_t got = read(ends[i].get(), buffer, sizeof buffer);
        if (got > 0) {
          std::lock_guard lock(mutex);
          texts[i].Append(buffer, static_cast<size_t>(got));
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
          ends[i].Close();
        }
      }
      if (!any_open) return;
    }
  }

  std::string Text(int which) {
    std::lock_guard lock(mutex);
    return texts[which].text();
  }

  UniqueFd ends[2];
  UniqueFd stop_read;
  UniqueFd stop_write;
  std::mutex mutex;
  CappedText texts[2];
  std::thread thread;
};

Result<std::unique_ptr<Child>> Child::Spawn(const ChildSpec& spec) {
  if (spec.argv.empty()) return Error{ErrorKind::kInternal, "no program to start"};
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  UniqueFd out_read(out[0]), out_write(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  UniqueFd err_read(err[0]), err_write(err[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err_write.get(), 2);
  // All descriptors first move above every target number, so that no dup2 overwrites the source of a later
  // one.
  std::vector<UniqueFd> lifted;
  for (const auto& [here, there] : spec.descriptors) {
    lifted.emplace_back(fcntl(here, F_DUPFD_CLOEXEC, 64));
    posix_spawn_file_actions_adddup2(&actions, lifted.back().get(), there);
  }
  // No other descriptor is inherited, not even one that Hone inherited itself.
  int next = STDERR_FILENO + 1;
  std::set<int> targets;
  for (const auto& [here, there] : spec.descriptors) targets.insert(there);
  for (const int target : targets) {
    for (; next < target; ++next) posix_spawn_file_actions_addclose(&actions, next);
    next = std::max(next, target + 1);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, next);
  if (!spec.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, spec.folder.c_str());
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  // The child gets its own session: it is no shell's foreground job and has no terminal for input.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> argv, env;
  for (const std::string& word : spec.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& line : spec.env) env.push_back(const_cast<char*>(line.c_str()));
  argv.push_back(nullptr);
  env.push_back(nullptr);
  pid_t pid = -1;
  const Stopwatch
      started;  // before the child starts: afterwards this thread may have to wait for a processor
  const int code = Starter::Get().Run(std::packaged_task<int()>(
      [&] { return posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), env.data()); }));
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) {
    errno = code;
    return ErrnoError("cannot start " + spec.argv[0]);
  }
  return std::unique_ptr<Child>(new Child(
      pid, started, std::make_unique<Drain>(out_read.release(), err_read.release(), spec.output_cap)));
}

Child::Child(pid_t pid, Stopwatch started, std::unique_ptr<Drain> drain)
    : pid_(pid), started_(started), drain_(std::move(drain)) {}

Child::~Child() {
  if (running()) Kill();
}

void Child::Reap(int status) {
  ended_ = true;
  drain_->Stop();
  report_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  report_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  report_.seconds = started_.seconds();
  report_.out = drain_->Text(0);
  report_.err = drain_->Text(1);
}

bool Child::running() {
  if (ended_) return false;
  int status = 0;
  const pid_t got = waitpid(pid_, &status, WNOHANG);
  if (got == pid_) Reap(status);
  return !ended_;
}

bool Child::WaitUntil(Deadline deadline) {
  double nap = 0.0005;
  while (running()) {
    if (deadline.passed() || Interrupted()) return false;
    if (!SleepUnlessInterrupted(std::min(nap, std::max(0.0, deadline.seconds_left())))) return !running();
    nap = std::min(nap * 1.5, 0.02);
  }
  return true;
}

void Child::Kill() {
  if (!running()) return;
  KillTree(pid_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  Reap(status);
}

std::string Child::out() const {
  return ended_ ? report_.out : drain_->Text(0);
}
std::string Child::err() const {
  return ended_ ? report_.err : drain_->Text(1);
}
ExitReport Child::report() const {
  return report_;
}

Result<ExitReport> RunProgram(const ChildSpec& spec, Deadline deadline) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Child> child, Child::Spawn(spec));
  const bool ended = child->WaitUntil(deadline);
  if (!ended) child->Kill();
  if (Interrupted()) return InterruptedError();
  ExitReport report = child->report();
  report.timed_out = !ended;
  return report;
}

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> lines;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) lines.emplace_back(*line);
  return lines;
}

void SetVariable(std::vector<std::string>& env, const std::string& name, const std::string& value) {
  const std::string prefix = name + "=";
  std::erase_if(env, [&](const std::string& line) { return StartsWith(line, prefix); });
  env.push_back(prefix + value);
}

}  // namespace hone
