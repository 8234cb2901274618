// Kills a run with SIGKILL and counts repeated requests: at every step of its code (KillAtEveryStep, in a
// fork of the test), or a program at some moment (RunKilledOnceIt). The test checks the result of the killed
// run.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "heard.h"

namespace hone {

// How often each line occurs in the file.
inline std::map<std::string, int> CountLines(const fs::path& file) {
  std::map<std::string, int> count;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) ++count[line];
  return count;
}

// Counts repeated requests, each beyond the first.
inline int AskedAgain(const fs::path& log) {
  int again = 0;
  for (const auto& [what, times] : CountLines(log)) again += times - 1;
  return again;
}

// Runs in a separate process that kills itself at the given step. False if the run had fewer steps.
inline bool RunKilledAt(int step, const Listener& listener, const std::function<bool(const Listener&)>& run) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> left = step;
    Listener deadly = listener;
    deadly.step = [&left] {
      if (--left == 0) kill(getpid(), SIGKILL);
    };
    _exit(run(deadly) ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "step " << step;
  return WIFSIGNALED(status);
}

// Kills a fresh run at step 1, 1 + stride, and so on, until a run has fewer steps. Each run continues in this
// process to its end and is then passed to `check`. A run has Go(listener), which returns a Result, and
// folder(). Returns the number of kills. Only the pending requests may be repeated: one, or as many as the
// run has threads.
template <class Run, class Make, class Check>
int KillAtEveryStep(int stride, const Make& make, const Check& check, int threads = 1) {
  int kills = 0;
  bool killed = true;
  for (int step = 1; killed; step += stride) {
    SCOPED_TRACE(fmt::format("killed at step {}", step));
    Run run = make();
    const fs::path log = run.folder() / "asked.log";
    const Listener listener = ListenerInto(log);
    killed = RunKilledAt(step, listener, [&](const Listener& deadly) { return run.Go(deadly).ok(); });
    kills += killed ? 1 : 0;
    const auto end = run.Go(listener);
    EXPECT_TRUE(end.ok()) << end.error().message;
    check(run);
    EXPECT_LE(AskedAgain(log), killed ? threads : 0);
    if (testing::Test::HasFailure()) break;
  }
  return kills;
}

// Starts a program, waits until `reached` returns true, and kills it after a delay in seconds. False if the
// program ended earlier.
inline bool RunKilledOnceIt(const std::function<bool()>& reached, double later_s,
                            std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  pid_t ended = 0;
  Deadline moment = Deadline::Never();
  bool there = false;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && !(there && moment.passed())) {
    if (!there && reached()) {
      there = true;
      moment = Deadline::After(later_s);
    }
    usleep(50);
  }
  if (ended == 0) {
    kill(child, SIGKILL);
    ended = waitpid(child, &status, 0);
  }
  EXPECT_EQ(ended, child);
  EXPECT_TRUE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
              (WIFEXITED(status) && WEXITSTATUS(status) == 0))
      << words[0] << " ended with status " << status;
  return WIFSIGNALED(status);
}

}  // namespace hone
