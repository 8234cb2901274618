#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/live_line.h"
#include "pipeline/candidate_judge.h"
#include "report/verdict_report.h"
#include "store/store.h"
#include "verdict/verdict.h"

namespace hone {

namespace {

struct BenchFlags : JudgeFlags {
  std::string task;
  std::vector<std::string> candidates;
  bool json = false;
  bool verbose = false;
  bool no_save = false;
  bool from_stdin = false;
};

// Saving is a service to the user; failing to must not cost the verdict.
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
  explicit Bench(const BenchFlags& flags) : flags_(flags), line_(LiveLine::Choose(flags.json)) {}

  Result<int> Run() {
    HONE_ASSIGN_OR_RETURN(TaskFile task, LoadTaskFile(flags_.task));
    std::vector<CandidateFile> candidates;
    for (const std::string& path : flags_.candidates) {
      HONE_ASSIGN_OR_RETURN(CandidateFile candidate, LoadCandidateFile(path));
      candidates.push_back(std::move(candidate));
    }
    HONE_ASSIGN_OR_RETURN(const SessionOptions options, ResolveJudge(flags_));
    const std::string name = task.name;
    judge_ =
        std::make_unique<SessionJudge>(std::move(task), options, candidates.size() > 1 || flags_.from_stdin);
    HONE_ASSIGN_OR_RETURN(session_, judge_->Session(line_.AsProgress(name)));
    for (size_t i = 0; i < candidates.size(); ++i)
      HONE_RETURN_IF_ERROR(One(candidates[i], flags_.from_stdin || i + 1 < candidates.size()));
    if (flags_.from_stdin) HONE_RETURN_IF_ERROR(FromStdin());
    return worst_;
  }

 private:
  Status One(const CandidateFile& candidate, bool another_follows) {
    judge_->SetAnotherFollows(another_follows);
    HONE_ASSIGN_OR_RETURN(const Judged judged, judge_->Judge(candidate, line_.AsProgress(candidate.name)));
    const Verdict& verdict = judged.verdict;
    OrderedJson record = judged.record;
    if (flags_.verbose || !flags_.json) record["measurement"] = ToJson(judged.measurement);
    if (!flags_.no_save) Save(record, verdict, *session_, candidate);
    line_.Clear();
    if (flags_.json) {
      fmt::print("{}\n", DumpJson(record));
    } else {
      const Json plain = *ParseJson(DumpJson(record));
      fmt::print("{}", VerdictText(plain, Style(stdout), flags_.verbose));
    }
    std::fflush(stdout);
    if (!verdict.accepted()) worst_ = kExitRejected;
    return Ok();
  }

  // One path per line, one verdict per line: a judge that stays warm for a program that writes kernels.
  Status FromStdin() {
    std::string path;
    while (!Interrupted() && std::getline(std::cin, path)) {
      if (Trim(path).empty()) continue;
      const Result<CandidateFile> candidate = LoadCandidateFile(std::string(Trim(path)));
      if (!candidate.ok()) {
        Report(candidate.error());
        if (flags_.json) fmt::print("{}\n", DumpJson(Json{{"error", candidate.error().message}}));
        std::fflush(stdout);
        worst_ = kExitCannot;
        continue;
      }
      HONE_RETURN_IF_ERROR(One(*candidate, true));
    }
    return Ok();
  }

  BenchFlags flags_;
  LiveLine line_;
  std::unique_ptr<SessionJudge> judge_;
  ReferenceSession* session_ = nullptr;
  int worst_ = kExitAccepted;
};

}  // namespace

void AddBenchCommand(CommandTable& table) {
  Command& command = table.Add(
      "bench",
      "Check a candidate against PyTorch and time it against the fastest PyTorch baseline (inference only)");
  auto flags = std::make_shared<BenchFlags>();
  command.Add("TASK", &flags->task, kTaskHelp).Required();
  command.Add("CANDIDATE", &flags->candidates, "Files that define ModelNew; all share one reference run");
  command.Add("--json", &flags->json, "Print one JSON object per candidate, one per line");
  command.Add("-v,--verbose", &flags->verbose, "Print every measured value");
  command.Add("--no-save", &flags->no_save, "Do not store the verdict");
  command.Add("--stdin", &flags->from_stdin,
              "After the candidates named here, read more paths from standard input, one per line");
  AddJudgeFlags(command, flags.get());
  command.Note("Exit code: 0 accepted, 1 not accepted, 2 wrong usage, 3 Hone could not judge.");
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
