#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"
#include "cli/module_task.h"
#include "pipeline/candidate_judge.h"
#include "pipeline/verdict_reuse.h"
#include "report/verdict_report.h"
#include "store/run_store.h"
#include "verdict/verdict.h"

namespace hone {

namespace {

struct BenchFlags : JudgeFlags {
  std::string task;
  ModuleFlags module;
  std::vector<std::string> candidates;
  bool json = false;
  bool verbose = false;
  bool no_save = false;
  bool again = false;
  bool from_stdin = false;
  bool check_only = false;
  bool progress = false;
};

// If saving fails, the verdict is still printed.
void Save(const OrderedJson& record, const Verdict& verdict, const ReferenceSession& session,
          const CandidateFile& candidate) {
  VerdictRecord row;
  row.created = record["provenance"]["time"].get<std::string>();
  row.task = session.task().name;
  row.candidate = candidate.path.string();
  row.target = session.options().target;
  row.device = record["provenance"]["device"].get<std::string>();
  row.verdict = verdict.verdict;
  row.reason = verdict.reason;
  row.vs_best = verdict.vs_best.estimate;
  row.vs_eager = verdict.vs_eager.estimate;
  row.json = DumpJson(record);
  Result<Store> store = Store::Open();
  const Result<int64_t> id = store.ok() ? store->Save(row) : Result<int64_t>(store.error());
  if (!id.ok()) fmt::print(stderr, "hone: the verdict below was not saved: {}\n", id.error().message);
}

class Bench {
 public:
  explicit Bench(const BenchFlags& flags)
      : flags_(flags), line_(LiveLine::Choose(flags.json && !flags.progress)) {}

  Result<int> Run() {
    HONE_ASSIGN_OR_RETURN(const fs::path path, TaskFileFor(flags_.task, flags_.module, flags_.python));
    HONE_ASSIGN_OR_RETURN(task_, LoadTaskFile(path));
    std::vector<CandidateFile> candidates;
    for (const std::string& path : flags_.candidates) {
      HONE_ASSIGN_OR_RETURN(CandidateFile candidate, LoadCandidateFile(path));
      candidates.push_back(std::move(candidate));
    }
    HONE_ASSIGN_OR_RETURN(options_, ResolveJudge(flags_));
    options_.check_only = flags_.check_only;
    machine_ = IdentifyMachine(options_);
    judge_ = std::make_unique<SessionJudge>(task_, options_, candidates.size() > 1 || flags_.from_stdin);
    for (size_t i = 0; i < candidates.size(); ++i)
      HONE_RETURN_IF_ERROR(JudgeNext(candidates[i], flags_.from_stdin || i + 1 < candidates.size()));
    if (flags_.from_stdin) HONE_RETURN_IF_ERROR(FromStdin());
    return worst_;
  }

 private:
  // A failure of Hone or of the reference during one candidate does not end the session. That candidate gets
  // the error in place of a verdict, and the next one gets a new reference. If that cannot be started, the
  // session ends.
  Status JudgeNext(const CandidateFile& candidate, bool another_follows) {
    judging_ = false;
    Status judged = Ok();
    try {
      judged = One(candidate, another_follows);
    } catch (const std::exception& error) {
      judged = Error{ErrorKind::kInternal, std::string("Hone failed: ") + error.what()};
    }
    if (judged.ok() || !judging_ || !another_follows || judged.error().kind == ErrorKind::kInterrupted)
      return judged;
    line_.Clear();
    const Error error = std::move(judged).WithContext(candidate.name).error();
    worst_ = std::max(worst_, Report(error, flags_.json));
    std::fflush(stdout);
    judge_ = std::make_unique<SessionJudge>(task_, options_, true);
    return Ok();
  }

  Status One(const CandidateFile& candidate, bool another_follows) {
    if (const std::optional<KnownVerdict> known = Known(candidate)) return ShowKnown(*known);
    HONE_ASSIGN_OR_RETURN(const ReferenceSession* session, judge_->Session(line_.AsProgress(task_.name)));
    judging_ = true;
    judge_->SetNext(another_follows ? NextCandidate::kComes : NextCandidate::kNone);
    HONE_ASSIGN_OR_RETURN(const Judged judged, judge_->Judge(candidate, line_.AsProgress(candidate.name)));
    OrderedJson record = judged.record;
    if (flags_.verbose || !flags_.json) record["measurement"] = ToJson(judged.measurement);
    if (!flags_.no_save) Save(record, judged.verdict, *session, candidate);
    record["from_store"] = nullptr;
    return Print(record);
  }

  // Finds a stored verdict under the same conditions. An unreadable store counts as empty; saving reports
  // why.
  std::optional<KnownVerdict> Known(const CandidateFile& candidate) {
    if (flags_.again) return {};
    const Result<std::unique_ptr<RunStore>> store = RunStore::Open();
    if (!store.ok()) return {};
    Result<std::optional<KnownVerdict>> known = FindKnown(**store, task_, candidate, options_, machine_);
    return known.ok() ? std::move(*known) : std::nullopt;
  }

  Status ShowKnown(const KnownVerdict& known) {
    Json record = known.record;
    record["from_store"] = {{"id", known.where}, {"created", known.created}};
    if (flags_.json && !flags_.verbose && record.contains("measurement")) record.erase("measurement");
    if (!flags_.json) {
      line_.Clear();
      fmt::print("taken from the store: {} of {}; --again judges anew\n", known.where, known.created);
    }
    return Print(record);
  }

  Status Print(OrderedJson record) {
    line_.Clear();
    const std::string reason = GetString(Json(record), "reason");
    record["right"] = AnswersAreRight(reason);
    record["next_step"] = NextStep(reason);
    if (flags_.json)
      fmt::print("{}\n", DumpJson(record));
    else
      fmt::print("{}", VerdictText(Json(record), Style(stdout), flags_.verbose));
    std::fflush(stdout);
    const bool right = flags_.check_only && reason == NameOf(Reason::kSpeedNotJudged);
    if (!right && GetString(Json(record), "verdict") != "accepted")
      worst_ = std::max(worst_, static_cast<int>(kExitRejected));
    return Ok();
  }

  // Reads one path per line and prints one verdict per line: a warm judge for programs that write kernels.
  Status FromStdin() {
    std::string path;
    while (!Interrupted() && std::getline(std::cin, path)) {
      if (Trim(path).empty()) continue;
      const Result<CandidateFile> candidate = LoadCandidateFile(std::string(Trim(path)));
      if (!candidate.ok()) {
        worst_ = Report(candidate.error(), flags_.json);
        std::fflush(stdout);
        continue;
      }
      HONE_RETURN_IF_ERROR(JudgeNext(*candidate, MoreMayCome()));
    }
    return Ok();
  }

  // False at the end of the input. Does not wait for more: a program may send its next path after this
  // verdict.
  static bool MoreMayCome() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) <= 0 || std::cin.peek() != std::char_traits<char>::eof();
  }

  BenchFlags flags_;
  LiveLine line_;
  TaskFile task_;
  SessionOptions options_;
  JudgingMachine machine_;
  std::unique_ptr<SessionJudge> judge_;
  bool judging_ = false;  // the session is open, and what fails now fails for one candidate
  int worst_ = kExitAccepted;
};

}  // namespace

void AddBenchCommand(CommandTable& table) {
  Command& command = table.Add(
      "bench",
      "Check a candidate against PyTorch and time it against the fastest PyTorch baseline (inference only)");
  auto flags = std::make_shared<BenchFlags>();
  command.Add("TASK", &flags->task, kTaskOrModuleHelp).Required();
  command.Add("CANDIDATE", &flags->candidates, "Files that define ModelNew; all share one reference run");
  command.Add("--json", &flags->json, "Print one JSON object per candidate, one per line");
  command.Add("-v,--verbose", &flags->verbose, "Print every measured value");
  command.Add("--no-save", &flags->no_save, "Do not store the verdict");
  command.Add(
      "--again", &flags->again,
      "Judge again even if the store holds a verdict for the same files, options, device and versions");
  command.Add("--progress", &flags->progress, "Print the phases on standard error, with --json too");
  command.Add("--check-only", &flags->check_only,
              "Check the answers and the contract for later use; time nothing");
  command.Add("--stdin", &flags->from_stdin,
              "After the candidates named here, read more paths from standard input, one per line");
  AddModuleFlags(command, &flags->module);
  AddJudgeFlags(command, flags.get());
  command.Note(
      "Exit code: 0 accepted (with --check-only: right), 1 not accepted, 2 wrong usage, 3 Hone could not "
      "judge.");
  command.Example("hone bench tasks/39_GRU.py my_gru.py");
  command.Example("hone bench tasks/39_GRU.py a.py b.py c.py --json | jq .speedup");
  command.Example("ls candidates/*.py | hone bench tasks/39_GRU.py --stdin --json");
  command.Runs([flags]() -> Result<int> {
    if (flags->candidates.empty() && !flags->from_stdin)
      return Error{ErrorKind::kUsage,
                   "bench needs at least one CANDIDATE file or --stdin\nsee `hone bench --help`"};
    return Bench(*flags).Run();
  });
}

}  // namespace hone
