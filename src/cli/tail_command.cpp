#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_lock.h"
#include "report/run_report.h"
#include "store/run_follower.h"

namespace hone {

namespace {

constexpr double kEvery_s = 0.25;
constexpr double kLockEvery_s = 1;

struct TailFlags {
  std::string run;
  int lines = -1;  // below 0: all lines
  bool once = false;
};

void Print(const RunNews& news, size_t skip, const Style& style) {
  for (size_t i = std::min(skip, news.console.size()); i < news.console.size(); ++i)
    fmt::print("{}\n", SafeForTerminal(news.console[i].second));
  for (const CandidateRecord& one : news.candidates)
    if (one.judged() && one.phase != "zero") fmt::print("  {}\n", CandidateLine(one, style));
  std::fflush(stdout);
}

Result<int> Tail(const TailFlags& flags) {
  // Creates the store if it is missing, or migrates an old one.
  HONE_RETURN_IF_ERROR(RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::OpenReadOnly());
  HONE_ASSIGN_OR_RETURN(RunRecord run, store->FindRun(flags.run));
  const Style style(stdout);
  fmt::print("{} {}\n", style.Bold(fmt::format("R{}", run.id)), SafeForTerminal(run.name));
  RunFollower follower(*store, run.id);
  bool first = true;
  Stopwatch since_lock_check;
  bool killed = IsAbandoned(run);
  while (true) {
    HONE_ASSIGN_OR_RETURN(const RunNews news, follower.Look());
    size_t skip = 0;
    if (first && flags.lines >= 0 && news.console.size() > static_cast<size_t>(flags.lines))
      skip = news.console.size() - static_cast<size_t>(flags.lines);
    Print(news, skip, style);
    first = false;
    if (news.run) run = *news.run;
    if (run.status == "running" && since_lock_check.seconds() > kLockEvery_s) {
      since_lock_check = Stopwatch();
      // If the lock was just found free, the run may have ended since it was read. The next look shows that.
      if (const bool was = killed; (killed = IsAbandoned(run)) && !was) continue;
    }
    if (run.status != "running") killed = false;
    // If a look after the end finds nothing new, everything has been printed.
    if (news.empty() && (run.status != "running" || killed || flags.once)) break;
    if (news.empty() && !SleepUnlessInterrupted(kEvery_s)) return InterruptedError();
  }
  fmt::print("{}\n", RunLine(run, killed, style));
  if (killed) fmt::print(stderr, "hone: its process is gone; to continue: hone resume R{}\n", run.id);
  return 0;
}

}  // namespace

void AddTailCommand(CommandTable& table) {
  Command& command = table.Add("tail", "Follow a run in the terminal until it ends");
  auto flags = std::make_shared<TailFlags>();
  command.Add("RUN", &flags->run, kRunHelp).Required();
  command.Add("-n,--lines", &flags->lines, "Number of earlier lines to print first (default: all)")
      .AtLeast(0);
  command.Add("--no-follow", &flags->once, "Print what is there and exit");
  command.Example("hone tail last");
  command.Example("hone tail R12 -n 20");
  command.Example("hone tail last | grep accepted");
  command.Runs([flags] { return Tail(*flags); });
}

}  // namespace hone
