#include "base/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/clock.h"

namespace hone {

namespace {

std::atomic<bool> interrupted{false};
int pipe_ends[2] = {-1, -1};

void OnSignal(int) {
  interrupted.store(true, std::memory_order_relaxed);
  const char byte = 1;
  [[maybe_unused]] const ssize_t ignored = write(pipe_ends[1], &byte, 1);
}

}  // namespace

void InstallInterruptHandler() {
  if (pipe_ends[0] >= 0 || pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() {
  return interrupted.load(std::memory_order_relaxed);
}

int InterruptFd() {
  return pipe_ends[0];
}

Error InterruptedError() {
  return Error{ErrorKind::kInterrupted, "interrupted"};
}

Error OutOfTimeError() {
  return Error{ErrorKind::kInterrupted, "the time for this work is over"};
}

bool SleepUnlessInterrupted(double seconds) {
  const Deadline deadline = Deadline::After(seconds);
  pollfd wait{InterruptFd(), POLLIN, 0};
  while (!Interrupted() && !deadline.passed()) poll(&wait, 1, deadline.poll_ms());
  return !Interrupted();
}

}  // namespace hone
