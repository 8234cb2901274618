// Tests with hostile children. They hang, flood, crash, leave their process group and keep pipes open.
#include "process/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "process/tree.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ChildSpec Spec(std::vector<std::string> argv) {
  ChildSpec spec;
  spec.argv = std::move(argv);
  spec.env = {"PATH=/usr/bin:/bin"};
  return spec;
}

ChildSpec Shell(const std::string& script) {
  return Spec({"/bin/sh", "-c", script});
}

ChildSpec Python(const std::string& script) {
  return Spec({"/usr/bin/python3", "-S", "-c", script});
}

ExitReport EndOf(const ChildSpec& spec, double seconds = 30) {
  Result<ExitReport> report = RunProgram(spec, Deadline::After(seconds));
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? *report : ExitReport{};
}

// True if the process does not exist, or is a zombie.
bool Gone(pid_t pid) {
  for (int i = 0; i < 200; ++i) {
    const Result<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    if (!stat.ok()) return true;
    const char state = stat->at(stat->rfind(')') + 2);
    if (state == 'Z' || state == 'X') return true;
    usleep(5000);
  }
  return false;
}

// Waits until the child has printed this many lines. A busy machine may need long to start a program.
bool HasPrinted(const Child& child, size_t lines) {
  const Deadline deadline = Deadline::After(60);
  while (Lines(child.out()).size() < lines && !deadline.passed()) usleep(5000);
  return Lines(child.out()).size() >= lines;
}

TEST(RunProgram, HandsTheWordsOverAsTheyAreWithoutAShell) {
  const ExitReport report =
      EndOf(Spec({"/usr/bin/printf", "%s|", "a b", "$HOME", "`id`", "; exit 3", "*", "", "\"'\\", "\n"}));
  EXPECT_EQ(report.out, "a b|$HOME|`id`|; exit 3|*||\"'\\|\n|");
  EXPECT_EQ(report.code, 0);
  EXPECT_FALSE(report.timed_out);
}

TEST(RunProgram, ReportsExitCodesAndSignals) {
  struct Row {
    const char* script;
    int code, signal;
  };
  for (const Row& row : std::vector<Row>{{"exit 0", 0, 0},
                                         {"exit 1", 1, 0},
                                         {"exit 255", 255, 0},
                                         {"kill -SEGV $$", -1, SIGSEGV},
                                         {"kill -ABRT $$", -1, SIGABRT},
                                         {"kill -KILL $$", -1, SIGKILL},
                                         {"kill -PIPE $$", -1, SIGPIPE}}) {
    const ExitReport report = EndOf(Shell(row.script));
    EXPECT_EQ(report.code, row.code) << row.script;
    EXPECT_EQ(report.signal, row.signal) << row.script;
    EXPECT_FALSE(report.timed_out) << row.script;
  }
}

TEST(RunProgram, KeepsOutputAndErrorApart) {
  const ExitReport report = EndOf(Shell("echo one; echo two >&2; echo three"));
  EXPECT_EQ(report.out, "one\nthree\n");
  EXPECT_EQ(report.err, "two\n");
}

TEST(RunProgram, WhatCannotBeStartedIsAnErrorThatNamesIt) {
  struct Row {
    const char* what;
    ChildSpec spec;
  };
  ChildSpec lost = Shell("exit 0");
  lost.folder = "/nonexistent/folder";
  for (const Row& row : std::vector<Row>{{"no such program", Spec({"/nonexistent/program"})},
                                         {"not on the path", Spec({"no-such-program-anywhere"})},
                                         {"a folder", Spec({"/usr"})},
                                         {"a file that is no program", Spec({"/etc/passwd"})},
                                         {"no such working folder", lost}}) {
    const Result<ExitReport> report = RunProgram(row.spec, Deadline::After(10));
    ASSERT_FALSE(report.ok()) << row.what;
    EXPECT_THAT(report.error().message, HasSubstr(row.spec.argv[0])) << row.what;
  }
  EXPECT_FALSE(RunProgram(ChildSpec{}, Deadline::After(10)).ok()) << "no words at all";
}

TEST(RunProgram, GivesExactlyTheEnvironmentAndFolderOfTheSpecAndAnEmptyInput) {
  ASSERT_EQ(setenv("HONE_TEST_SECRET", "1", 1), 0);
  ChildSpec spec = Spec({"/usr/bin/env"});
  spec.env = {"A=1", "B=x=y"};
  EXPECT_EQ(EndOf(spec).out, "A=1\nB=x=y\n");
  unsetenv("HONE_TEST_SECRET");

  TempFolder folder = *TempFolder::Make("hone-test-");
  ChildSpec where = Shell("pwd -P; cat");
  where.folder = folder.path();
  EXPECT_EQ(EndOf(where, 10).out, fs::canonical(folder.path()).string() + "\n");
}

TEST(RunProgram, TheChildLeadsAGroupOfItsOwnAndDoesNotInheritAnIgnoredPipeSignal) {
  const ExitReport group = EndOf(Python("import os; print(os.getpgrp() == os.getpid())"));
  EXPECT_EQ(group.out, "True\n");
  const sighandler_t before = signal(SIGPIPE, SIG_IGN);
  const ExitReport signals = EndOf(Spec({"/usr/bin/grep", "SigIgn", "/proc/self/status"}));
  signal(SIGPIPE, before);
  const unsigned long ignored = std::stoul(Split(signals.out, '\t').at(1), nullptr, 16);
  EXPECT_EQ(ignored & (1ul << (SIGPIPE - 1)), 0u) << signals.out;
}

TEST(RunProgram, AFloodOfAHundredMegabytesEndsAndKeepsItsHeadAndTail) {
  ChildSpec spec = Shell(
      "printf FIRST; head -c 100000000 /dev/zero | tr '\\0' x; printf LAST; "
      "(printf FIRST; head -c 3000000 /dev/zero; printf LAST) >&2");
  spec.output_cap = 64 * 1024;
  const ExitReport report = EndOf(spec, 60);
  EXPECT_EQ(report.code, 0);
  for (const std::string* text : {&report.out, &report.err}) {
    EXPECT_TRUE(StartsWith(*text, "FIRST"));
    EXPECT_TRUE(EndsWith(*text, "LAST"));
    EXPECT_THAT(*text, HasSubstr("left out]"));
    EXPECT_LE(text->size(), 2 * spec.output_cap);
    EXPECT_GE(text->size(), spec.output_cap);
  }
}

TEST(RunProgram, OutputUpToTheCapIsKeptWhole) {
  ChildSpec spec = Shell("i=0; while [ $i -lt 1000 ]; do printf '%07d ' $i; i=$((i+1)); done");
  spec.output_cap = 8000;
  const ExitReport report = EndOf(spec);
  ASSERT_EQ(report.out.size(), 8000u);
  EXPECT_TRUE(EndsWith(report.out, "0000999 "));
  EXPECT_EQ(report.out.find("left out"), std::string::npos);
}

TEST(RunProgram, TheDeadlineEndsAChildThatIgnoresEverySignalItCan) {
  const Stopwatch watch;
  const ExitReport report = EndOf(Shell("trap '' INT TERM HUP; while :; do sleep 1; done"), 0.5);
  EXPECT_TRUE(report.timed_out);
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_LT(watch.seconds(), 20);
}

TEST(Child, OneThatIgnoresEverySignalItCanIsKilledAndWhatItSaidIsKept) {
  std::unique_ptr<Child> child =
      *Child::Spawn(Shell("trap '' INT TERM HUP; echo begun; while :; do sleep 1; done"));
  ASSERT_TRUE(HasPrinted(*child, 1));
  child->Kill();
  EXPECT_EQ(child->report().signal, SIGKILL);
  EXPECT_EQ(child->report().out, "begun\n");
}

TEST(Child, IsKilledTogetherWithAGrandchildThatLeftForASessionOfItsOwn) {
  std::unique_ptr<Child> child =
      *Child::Spawn(Shell("setsid sleep 300 & echo $!; sleep 300 & echo $!; wait"));
  ASSERT_TRUE(HasPrinted(*child, 2));
  child->Kill();
  const std::vector<std::string> pids = Lines(child->report().out);
  ASSERT_EQ(pids.size(), 2u);
  for (const std::string& pid : pids) EXPECT_TRUE(Gone(std::stoi(pid))) << pid;
}

TEST(Child, OneThatWantsToDieWithItsParentOutlivesTheThreadThatStartedIt) {
  ChildSpec spec;
  spec.argv = {
      "python3", "-c",
      "import ctypes, time\nctypes.CDLL(None).prctl(1, 9)\nprint('ready', flush=True)\ntime.sleep(1)"};
  spec.env = CurrentEnvironment();
  std::unique_ptr<Child> child;
  std::thread([&] {
    child = std::move(*Child::Spawn(spec));
    while (child->running() && child->out().empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }).join();
  ASSERT_TRUE(child->WaitUntil(Deadline::After(30)));
  EXPECT_EQ(child->report().signal, 0);
  EXPECT_EQ(child->report().out, "ready\n");
}

TEST(RunProgram, AStoppedChildIsKilledAtTheDeadlineAsWell) {
  const Stopwatch watch;
  const ExitReport report = EndOf(Shell("kill -STOP $$; exit 0"), 0.5);
  EXPECT_TRUE(report.timed_out);
  EXPECT_LT(watch.seconds(), 20);
}

TEST(RunProgram, ADeadlineThatHasPassedStillCollectsTheChild) {
  const ExitReport report = EndOf(Shell("echo $$; sleep 100"), -1);
  EXPECT_TRUE(report.timed_out);
  EXPECT_EQ(report.signal, SIGKILL);
}

TEST(RunProgram, AChildThatClosesItsOutputIsWaitedForAllTheSame) {
  const ExitReport report = EndOf(Shell("echo word; exec >&- 2>&-; sleep 0.3; exit 7"));
  EXPECT_EQ(report.code, 7);
  EXPECT_EQ(report.out, "word\n");
  EXPECT_GE(report.seconds, 0.3);
}

TEST(RunProgram, AGrandchildThatKeepsThePipeOpenDoesNotHoldUpTheEnd) {
  const Stopwatch watch;
  const ExitReport report = EndOf(Shell("sleep 60 & echo word; exit 3"));
  EXPECT_EQ(report.code, 3);
  EXPECT_EQ(report.out, "word\n");
  EXPECT_LT(watch.seconds(), 20);
}

TEST(RunProgram, AGrandchildThatFloodsThePipeDoesNotHoldUpTheEndEither) {
  const Stopwatch watch;
  const ExitReport report = EndOf(Shell("timeout 60 yes & echo word; exit 3"));
  EXPECT_EQ(report.code, 3);
  EXPECT_LT(watch.seconds(), 20) << "it must not be read until it stops by itself";
}

TEST(RunProgram, PutsDescriptorsWhereTheyWereAskedForEvenWhenTheNumbersClash) {
  int first[2], second[2];
  ASSERT_EQ(pipe2(first, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(second, O_CLOEXEC), 0);
  ASSERT_EQ(write(first[1], "one", 3), 3);
  ASSERT_EQ(write(second[1], "two", 3), 3);
  // Two descriptors that swap numbers: each one's number in the child is the other's number here.
  ChildSpec spec =
      Python("import os,sys; a,b=int(sys.argv[1]),int(sys.argv[2]); print(os.read(a,9), os.read(b,9))");
  spec.descriptors = {{first[0], second[0]}, {second[0], first[0]}};
  spec.argv.push_back(std::to_string(second[0]));
  spec.argv.push_back(std::to_string(first[0]));
  EXPECT_EQ(EndOf(spec).out, "b'one' b'two'\n");

  // A descriptor keeps its number in the child, or gets two numbers there.
  ASSERT_EQ(write(first[1], "12", 2), 2);
  ChildSpec twice = Python("import os,sys; print(os.read(int(sys.argv[1]),1), os.read(30,1))");
  twice.descriptors = {{first[0], first[0]}, {first[0], 30}};
  twice.argv.push_back(std::to_string(first[0]));
  EXPECT_EQ(EndOf(twice).out, "b'1' b'2'\n");
  for (const int fd : {first[0], first[1], second[0], second[1]}) close(fd);
}

TEST(Child, IsKilledWithEverythingBelowItWhenItsOwnerLetsGo) {
  pid_t pid = 0, grandchild = 0;
  {
    std::unique_ptr<Child> child = *Child::Spawn(Shell("sleep 300 & echo $!; wait"));
    pid = child->pid();
    ASSERT_TRUE(HasPrinted(*child, 1));
    grandchild = std::stoi(child->out());
    EXPECT_TRUE(child->running());
  }
  EXPECT_TRUE(Gone(pid));
  EXPECT_TRUE(Gone(grandchild));
}

TEST(Child, ShowsItsOutputWhileItRunsAndItsReportWhenItHasEnded) {
  const TempFolder folder = *TempFolder::Make("hone-test-");
  const fs::path go_on = folder.path() / "go_on";
  std::unique_ptr<Child> child = *Child::Spawn(
      Shell("echo early; until [ -e " + go_on.string() + " ]; do sleep 0.02; done; echo late; exit 4"));
  ASSERT_TRUE(HasPrinted(*child, 1));
  EXPECT_FALSE(child->WaitUntil(Deadline::After(0.05)));
  EXPECT_EQ(child->out(), "early\n");
  ASSERT_TRUE(WriteFileAtomic(go_on, "").ok());
  EXPECT_TRUE(child->WaitUntil(Deadline::After(20)));
  EXPECT_FALSE(child->running());
  EXPECT_EQ(child->report().code, 4);
  EXPECT_EQ(child->out(), "early\nlate\n");
  child->Kill();  // killing an ended child does nothing
  EXPECT_EQ(child->report().code, 4);
}

TEST(Environment, ReplacesAVariableByItsWholeName) {
  std::vector<std::string> env = {"PATH=/bin", "PATHS=x", "A=1"};
  SetVariable(env, "PATH", "/usr/bin");
  SetVariable(env, "B", "");
  EXPECT_THAT(env, ElementsAre("PATHS=x", "A=1", "PATH=/usr/bin", "B="));
  ASSERT_EQ(setenv("HONE_TEST_VARIABLE", "a=b", 1), 0);
  EXPECT_THAT(CurrentEnvironment(), testing::Contains("HONE_TEST_VARIABLE=a=b"));
  unsetenv("HONE_TEST_VARIABLE");
}

}  // namespace
}  // namespace hone
