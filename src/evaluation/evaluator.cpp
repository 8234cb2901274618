#include "evaluation/evaluator.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "analysis/check.h"
#include "analysis/device.h"
#include "analysis/lint.h"
#include "analysis/triton_tables.h"
#include "base/ids.h"
#include "base/text.h"
#include "evaluation/contest.h"
#include "evaluation/contract.h"
#include "evaluation/phase.h"
#include "evaluation/trial_judge.h"
#include "process/tree.h"

namespace hone {

namespace {

constexpr int kRepeats = 20;
constexpr int kPairs = 3;           // of processes, before a candidate is accepted
constexpr int kProcessLimit = 256;  // ninja and nvcc start a few dozen
// The shortest deadline for the first call of an instance: Triton and torch.compile compile then.
constexpr double kFirstCallSeconds = 90;

// Memory limit of a candidate: four times what the reference holds, at least 8 GB and a quarter of the
// machine for compilers (torch.compile starts one process per core), and at most 60% of the machine.
int64_t CandidateMemoryLimit(pid_t reference) {
  struct sysinfo info {};
  sysinfo(&info);
  const double total = static_cast<double>(info.totalram) * info.mem_unit;
  const double own = static_cast<double>(UsageOfTree(reference).resident_bytes);
  return static_cast<int64_t>(std::min(0.6 * total, std::max({8e9, 0.25 * total, 4 * own})));
}

// A thread that keeps a core busy every other millisecond, so that a candidate's own threads run in another
// order. More load would measure the scheduler: PyTorch's own barriers then take a hundred times as long.
class BusyCore {
 public:
  BusyCore() {
    thread_ = std::thread([this] {
      while (!stop_.load(std::memory_order_relaxed)) {
        const int64_t until = NowNs() + 1'000'000;
        while (NowNs() < until) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~BusyCore() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A candidate made from a task fails where the task needs a file of its own folder: the sandbox holds the
// candidate alone. The message then names the task's line and the change to make.
void BlameTaskFolder(const Json& beside, WorkerFailure* failure) {
  const bool looked_for_a_file = failure->type == "ModuleNotFoundError" || failure->type == "ImportError" ||
                                 failure->type == "FileNotFoundError" || failure->type == "PermissionError";
  if (!looked_for_a_file || !beside.is_array()) return;
  for (const Json& entry : beside) {
    const std::string stem = fs::path(GetString(entry, "name")).stem().string();
    if (!Contains(failure->message, stem) && failure->type != "ImportError") continue;
    failure->message += fmt::format(
        "; {}, and a candidate cannot: it runs in a sandbox without the task's folder. Move what is needed "
        "into "
        "the task file, or pass it to Model through get_init_inputs",
        GetString(entry, "text"));
    return;
  }
}

}  // namespace

Result<std::unique_ptr<CandidateSeat>> CandidateSeat::Start(const SessionOptions& options) {
  HONE_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("hone-candidate-"));
  auto seat = std::make_unique<CandidateSeat>(CandidateSeat{std::move(folder), nullptr});
  WorkerOptions worker;
  worker.python = options.python;
  worker.role = "candidate";
  worker.device = options.device;
  worker.sandbox = options.sandbox;
  worker.private_folder = seat->folder.path();
  worker.interpret_triton = options.interpret_triton;
  worker.process_limit = kProcessLimit;
  worker.end = options.end;
  HONE_ASSIGN_OR_RETURN(seat->worker, WorkerProcess::Start(worker));
  return seat;
}

Status Evaluator::Prewarm() {
  const std::scoped_lock lock(seats_mutex_);
  if (!seats_.empty()) return Ok();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, CandidateSeat::Start(session_.options()));
  seats_.push_back(std::move(seat));
  return Ok();
}

Result<std::unique_ptr<CandidateSeat>> Evaluator::TakeSeat() {
  std::unique_ptr<CandidateSeat> seat;
  while (seat == nullptr) {
    HONE_RETURN_IF_ERROR(Prewarm());
    const std::scoped_lock lock(seats_mutex_);
    if (seats_.empty()) continue;  // another evaluation was quicker
    seat = std::move(seats_.front());
    seats_.pop_front();
  }
  seat->worker->zygote().SetMemoryLimit(CandidateMemoryLimit(session_.worker().pid()));
  return seat;
}

// One candidate on its way through the phases. A phase returns false when the evaluation is over.
struct Evaluator::Check {
  ReferenceSession& session;
  const CandidateFile& candidate;
  WorkerProcess& worker;
  const fs::path& folder;
  const Progress& progress;
  size_t most_cases = SIZE_MAX;
  bool only_default = false;  // build the first instance alone
  Measurement m = {};
  std::vector<size_t> answer_bytes = {};
  std::set<std::pair<size_t, std::string>> called = {};  // instances and variants

  // Returns the reply, or nothing if the candidate failed; then m.stop says how.
  Result<std::optional<WorkerReply>> Ask(const std::string& phase, const std::string& verb, Json message,
                                         const std::vector<int>& descriptors, double seconds) {
    HONE_ASSIGN_OR_RETURN(WorkerReply reply, worker.Call(verb, std::move(message), descriptors, seconds));
    if (reply.ok()) return std::optional<WorkerReply>(std::move(reply));
    m.stop = Stop{phase, *reply.failure};
    BlameTaskFolder(GetMember(session.facts(), "beside"), &m.stop->failure);
    return std::optional<WorkerReply>();
  }

  Result<bool> Lint() {
    if (!session.options().lint) return true;
    LintOptions options;
    options.task_text = session.task().source;
    if (const std::string triton = GetString(session.facts(), "triton"); !triton.empty())
      options.triton_versions = TritonVersionMask(triton);
    if (options.triton_versions == 0) options.triton_versions = LintOptions().triton_versions;
    options.device = FindDevice(GetString(session.facts(), "device_name"));
    m.findings = LintSource(candidate.path.string(), candidate.source, options).findings;
    const Finding* refused =
        FirstWithForce(m.findings, session.options().lint_predicts ? Force::kPredict : Force::kRefuse);
    if (refused != nullptr) m.refused_by = *refused;
    return refused == nullptr;
  }

  Result<bool> Import() {
    progress("importing the candidate", 0, 0);
    HONE_ASSIGN_OR_RETURN(const auto hello, Ask("start", "hello", Json::object(), {}, 180));
    if (!hello)
      return Error{ErrorKind::kUnavailable, "the candidate's interpreter did not start: " +
                                                m.stop->failure.message + "\n" + m.stop->failure.detail};
    worker.zygote().ForgetAttempts();
    if (session.threads() > 0 && session.options().device == "cpu") {
      HONE_ASSIGN_OR_RETURN(const auto set, Ask("start", "threads", {{"count", session.threads()}}, {}, 60));
      if (!set) return false;
    }
    HONE_ASSIGN_OR_RETURN(const fs::path copy, CopyInto(candidate, folder));
    HONE_ASSIGN_OR_RETURN(
        const auto loaded,
        Ask("import", "load", {{"path", copy.string()}, {"name", "hone_candidate"}, {"class", "ModelNew"}},
            {}, session.options().build_timeout_s));
    if (!loaded) return false;
    m.has_class = GetBool(loaded->body, "has_class");
    if (!m.has_class) {
      std::vector<std::string> names;
      for (const Json& name : GetMember(loaded->body, "names"))
        if (name.is_string()) names.push_back(SafeForTerminal(name.get<std::string>()));
      m.class_hint = Join(names, ", ");
      return false;
    }
    return true;
  }

  Result<bool> Build() {
    for (const Instance& instance : session.instances()) {
      if (only_default && instance.slot != "default") continue;
      progress("building " + instance.slot, 0, 0);
      Json message = {{"slot", instance.slot}, {"class", "ModelNew"}, {"seed", instance.seed}};
      std::vector<int> descriptors;
      if (session.init_inputs_opaque()) {
        const fs::path copy = folder / "hone_task_file.py";
        HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, session.task().source));
        message["init_file"] = copy.string();
      } else {
        message["init"] = session.init_inputs().description;
        descriptors.push_back(session.init_inputs().blob.fd());
      }
      HONE_ASSIGN_OR_RETURN(const auto built,
                            Ask("build", "build", message, descriptors, session.options().build_timeout_s));
      if (!built) return false;
      HONE_ASSIGN_OR_RETURN(const auto taken,
                            Ask("weights", "take_weights",
                                {{"slot", instance.slot},
                                 {"names", instance.weight_names},
                                 {"tree", instance.weights.description}},
                                {instance.weights.blob.fd()}, session.options().build_timeout_s));
      if (!taken) return false;
      m.weights_how = GetString(taken->body, "how");
      auto list = [&](const char* key, std::vector<std::string>* out) {
        out->clear();
        const Json& names = GetMember(taken->body, key);
        if (!names.is_array()) return;
        for (size_t i = 0; i < names.size() && i < 20; ++i)
          if (names[i].is_string()) out->push_back(SafeForTerminal(names[i].get<std::string>()));
      };
      list("missing", &m.weights_missing);
      list("unexpected", &m.weights_unexpected);
      if (session.stateful()) {
        HONE_ASSIGN_OR_RETURN(const auto kept, Ask("build", "snapshot", {{"slot", instance.slot}}, {}, 60));
        if (!kept) return false;
      }
    }
    return true;
  }

  Result<bool> Put(const Case& one, const std::string& name, bool in_place) {
    HONE_ASSIGN_OR_RETURN(const auto put,
                          Ask("trial", "put_inputs",
                              {{"inputs", name}, {"tree", one.inputs.description}, {"in_place", in_place}},
                              {one.inputs.blob.fd()}, 120));
    return put.has_value();
  }

  double CallSeconds(const Case& one) {
    const bool first = called.insert({one.instance, one.variant}).second;
    return first && session.options().timeout_s <= 0 ? std::max(session.CallDeadline(), kFirstCallSeconds)
                                                     : session.CallDeadline();
  }

  // Makes one checked call. Returns nothing if the candidate failed.
  Result<std::optional<TensorTree>> Call(const std::string& phase, const Case& one, const std::string& inputs,
                                         bool busy, TensorTree* inputs_after) {
    HONE_ASSIGN_OR_RETURN(SharedBlob out, SharedBlob::Create("answer"));
    HONE_ASSIGN_OR_RETURN(SharedBlob after, SharedBlob::Create("after"));
    std::vector<int> descriptors = {out.fd()};
    if (inputs_after != nullptr) descriptors.push_back(after.fd());
    HONE_ASSIGN_OR_RETURN(const auto reply, Ask(phase, "run",
                                                {{"slot", session.instances()[one.instance].slot},
                                                 {"inputs", inputs},
                                                 {"seed", one.call_seed},
                                                 {"poison", true},
                                                 {"busy", busy},
                                                 {"output_bytes", answer_bytes}},
                                                descriptors, CallSeconds(one)));
    if (!reply) return std::optional<TensorTree>();
    Result<TensorTree> tree = ParseTree(GetMember(reply->body, "tree"), std::move(out), "output");
    if (tree.ok() && inputs_after != nullptr) {
      Result<TensorTree> kept = ParseTree(GetMember(reply->body, "inputs_after"), std::move(after), "input");
      if (kept.ok())
        *inputs_after = std::move(*kept);
      else
        tree = std::move(kept).error();
    }
    if (!tree.ok()) {
      m.stop = Stop{phase, WorkerFailure{FailureKind::kProtocol, "", tree.error().message, ""}};
      return std::optional<TensorTree>();
    }
    return std::optional<TensorTree>(std::move(*tree));
  }

  // Cases of different instances alternate in the same input buffers, so an output cached by address, by call
  // or for the first instance is wrong. The first case is repeated in new buffers.
  Result<bool> Trials() {
    std::vector<const Case*> order;
    const auto& cases = session.cases();
    for (size_t round = 0; round < cases.size(); ++round)
      for (size_t instance = 0; instance < session.instances().size(); ++instance) {
        size_t seen = 0;
        for (const Case& one : cases)
          if (one.instance == instance && one.change.empty() && seen++ == round) order.push_back(&one);
      }
    order.push_back(&cases[0]);
    const size_t repeated = order.size() - 1;
    for (const Case& one : cases)
      if (!one.change.empty()) order.push_back(&one);
    if (order.size() > most_cases) order.resize(most_cases);
    for (size_t i = 0; i < order.size(); ++i) {
      const Case& one = *order[i];
      progress("checking", static_cast<int>(i), static_cast<int>(order.size()));
      answer_bytes.clear();
      for (const TensorLeaf& leaf : one.expected.leaves) answer_bytes.push_back(leaf.bytes);
      const bool again = i == repeated;
      const bool shared = !again && one.variant.empty() && one.change.empty();
      const std::string buffer = again ? "again" : shared ? "trial" : one.id;
      const bool in_place = shared && i > 0;
      HONE_ASSIGN_OR_RETURN(const bool put, Put(one, buffer, in_place));
      if (!put) return false;
      TensorTree after;
      HONE_ASSIGN_OR_RETURN(const std::optional<TensorTree> answer,
                            Call("trial", one, buffer, false, &after));
      if (!answer && Forgive(one)) continue;
      if (!answer) return false;
      Trial trial = JudgeTrial(session.truth(), one, *answer, after);
      if (i == 0) Remark(StrideRemark(one, *answer));
      m.trials.push_back(std::move(trial));
      if (IsBad(m.trials.back())) return false;
    }
    return true;
  }

  void Remark(std::string text) {
    if (!text.empty()) m.notes.push_back(std::move(text));
  }

  // The task's own inputs have one memory order and one batch. A candidate that refuses others with an
  // exception is honest about it.
  bool Forgive(const Case& one) {
    const bool may_refuse = one.change == "strides" || one.is_another_batch();
    if (!may_refuse || !m.stop || m.stop->failure.kind != FailureKind::kException) return false;
    Remark(fmt::format("it raises {} for {}", m.stop->failure.type,
                       one.is_another_batch() ? "another batch size" : "non-contiguous inputs"));
    m.stop.reset();
    return true;
  }

  Result<bool> Repeat() {
    const Case& one = session.cases()[0];
    HONE_ASSIGN_OR_RETURN(const bool put, Put(one, "repeat", false));
    if (!put) return false;
    Repeats repeats;
    std::optional<TensorTree> first;
    for (int i = 0; i < kRepeats; ++i) {
      progress("repeating the same inputs", i, kRepeats);
      const bool busy = i % 4 == 3;
      std::optional<BusyCore> burner;
      if (busy && session.options().device == "cpu") burner.emplace();
      HONE_ASSIGN_OR_RETURN(std::optional<TensorTree> answer, Call("repeat", one, "repeat", busy, nullptr));
      if (!answer) return false;
      ++repeats.count;
      repeats.busy += busy ? 1 : 0;
      if (!first) {
        first = std::move(answer);
        continue;
      }
      bool same = answer->leaves.size() == first->leaves.size();
      double spread = same ? 0 : 1;
      for (size_t k = 0; k < answer->leaves.size() && k < first->leaves.size(); ++k) {
        const TensorLeaf& a = first->leaves[k];
        const TensorLeaf& b = answer->leaves[k];
        if (a.bytes != b.bytes || a.dtype != b.dtype) {
          same = false;
          spread = 1;
        } else if (std::memcmp(first->Bytes(a).data(), answer->Bytes(b).data(), a.bytes) != 0) {
          same = false;
          const Distance distance = Compare(b.dtype, answer->Bytes(b), a.dtype, first->Bytes(a));
          spread = std::max(spread, distance.non_finite > 0 ? 1.0 : distance.relative);
        }
      }
      repeats.distinct += same ? 0 : 1;
      repeats.spread = std::max(repeats.spread, spread);
    }
    double limit = 0;
    for (size_t k = 0; k < one.expected.leaves.size(); ++k) {
      const double epsilon = Epsilon(one.expected.leaves[k].dtype);
      // Reordered sums differ by a few ulp. A race differs by more.
      limit = std::max({limit, 8 * epsilon, session.LimitFor(one.instance, k).relative / 16});
    }
    repeats.spread_limit = limit;
    m.repeats = repeats;
    return repeats.spread <= limit;
  }

  Result<bool> Inspect() {
    HONE_ASSIGN_OR_RETURN(const auto tampering, Ask("profile", "tampering", Json::object(), {}, 60));
    if (!tampering) return false;
    const Json& changed = GetMember(tampering->body, "changed");
    for (size_t i = 0; changed.is_array() && i < changed.size() && i < 20; ++i)
      if (changed[i].is_string()) m.tampering.push_back(SafeForTerminal(changed[i].get<std::string>()));
    m.attempts = worker.zygote().Attempts();
    return m.tampering.empty() && m.attempts.empty();
  }

  Result<bool> ProfileCall() {
    if (session.options().interpret_triton) return true;
    progress("counting launches", 0, 0);
    HONE_ASSIGN_OR_RETURN(const auto reply,
                          Ask("profile", "profile", {{"slot", "default"}, {"inputs", "again"}}, {}, 300));
    if (!reply) return false;
    Profile profile;
    profile.launches = GetInt(reply->body, "launches", -1);
    profile.own_us = GetNumber(reply->body, "own_us");
    profile.library_us = GetNumber(reply->body, "library_us");
    profile.kernels = GetMember(reply->body, "kernels");
    m.profile = profile;
    return true;
  }

  Result<bool> Time() {
    if (!session.truth().doubts.empty() && !session.options().allow_blind) return true;  // nothing to gain
    if (session.options().interpret_triton) {
      m.speed_not_judged =
          "no GPU here: the kernels ran in Triton's interpreter, which says nothing about speed";
      return true;
    }
    if (session.options().check_only) {
      m.speed_not_judged = "it computes the same; nothing was timed (--check-only)";
      HONE_RETURN_IF_ERROR(CheckContract(session.eager_us() * 1e-6));
      return true;
    }
    Contest contest(session);
    HONE_ASSIGN_OR_RETURN(bool timed, contest.AddPair(session.worker(), worker, progress, &m.stop));
    if (timed && contest.timing().answers_wrong == 0) {
      HONE_ASSIGN_OR_RETURN(const bool more, AddCompiled(contest));
      if (more) {
        contest.Restart();
        HONE_ASSIGN_OR_RETURN(timed, contest.AddPair(session.worker(), worker, progress, &m.stop));
        if (timed) session.RememberCompile(contest.timing());
      }
    }
    if (timed && contest.Ahead() && contest.timing().answers_wrong == 0) {
      HONE_ASSIGN_OR_RETURN(timed, contest.TimeColdCalls(session.worker(), worker, &m.stop));
      const double call_us = contest.timing().MedianUs(contest.timing().contestants[0]);
      if (timed) {
        HONE_RETURN_IF_ERROR(CheckContract(call_us * 1e-6));
      }
      for (int pair = 1; timed && pair < kPairs; ++pair) {
        progress("timing fresh processes", pair, kPairs);
        HONE_ASSIGN_OR_RETURN(timed, AddFreshPair(contest));
      }
    }
    if (timed) m.timing = contest.timing();
    return timed;
  }

  // Prepares torch.compile where it could still change the verdict. True: it is there and the contest has to
  // be held again.
  Result<bool> AddCompiled(Contest& contest) {
    const std::string& policy = session.options().compile_rung;
    if (policy == "never" || (policy == "auto" && !contest.Ahead())) return false;
    if (contest.timing().Find("compile") != nullptr) return false;
    worker.Freeze();
    HONE_RETURN_IF_ERROR(session.PrepareCompile(progress));
    worker.Thaw();
    const std::optional<Rung> compiled = session.ladder().Find("compile");
    return compiled && compiled->available;
  }

  // One more pair of processes that have done nothing before: what one process owes to luck shows here.
  Result<bool> AddFreshPair(Contest& contest) {
    if (worker.alive()) worker.Kill();
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> own,
                          WorkerProcess::Start(worker.shared_zygote()));
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerProcess> reference,
                          session.StartFresh(contest.later_rungs()));
    Check fresh{session, candidate, *own, folder, progress};
    fresh.only_default = true;
    for (Result<bool> (Check::*phase)() : {&Check::Import, &Check::Build}) {
      HONE_ASSIGN_OR_RETURN(const bool go_on, (fresh.*phase)());
      if (go_on) continue;
      m.stop = fresh.m.stop;
      return false;
    }
    return contest.AddPair(*reference, *own, progress, &m.stop);
  }

  // Changes the weights and the mode of the candidate's process, so it comes after that process was timed.
  Status CheckContract(double call_s) {
    const Stopwatch watch;
    ContractCheck check(session, worker, call_s);
    HONE_ASSIGN_OR_RETURN(m.contract, check.Run(progress));
    m.phases.emplace_back("contract", watch.seconds());
    return Ok();
  }
};

Result<Measurement> Evaluator::Evaluate(const CandidateFile& candidate, bool another_follows,
                                        const Progress& progress) {
  Stopwatch watch;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, TakeSeat());
  const fs::path folder = seat->folder.path();
  Check check{session_, candidate, *seat->worker, folder, progress};
  double reference_before = 0;
  struct Phase {
    const char* name;
    Result<bool> (Check::*run)();
  };
  constexpr Phase kPhases[] = {{"lint", &Check::Lint},           {"import", &Check::Import},
                               {"build", &Check::Build},         {"trials", &Check::Trials},
                               {"repeats", &Check::Repeat},      {"inspect", &Check::Inspect},
                               {"profile", &Check::ProfileCall}, {"timing", &Check::Time}};
  Status prewarmed = Ok();
  std::shared_lock checking(device_);
  std::unique_lock alone(device_, std::defer_lock);
  for (const Phase& phase : kPhases) {
    if (phase.run == &Check::Time) {
      checking.unlock();
      alone.lock();
      reference_before = session_.worker().compute_seconds();
    }
    const Stopwatch phase_watch;
    HONE_ASSIGN_OR_RETURN(const bool go_on,
                          RunPhase(
                              phase.name, [&] { return (check.*phase.run)(); }, &check.m.stop));
    check.m.phases.emplace_back(phase.name, phase_watch.seconds());
    if (phase.run == &Check::Import && another_follows) prewarmed = Prewarm();
    // A worker that still imports torch would disturb the timing.
    if (phase.run == &Check::Repeat) {
      const std::scoped_lock lock(seats_mutex_);
      for (const std::unique_ptr<CandidateSeat>& waiting : seats_)
        HONE_RETURN_IF_ERROR(waiting->worker->Call("hello", 180));
    }
    if (!go_on) break;
  }
  HONE_RETURN_IF_ERROR(std::move(prewarmed));
  Measurement m = std::move(check.m);
  if (m.attempts.empty()) m.attempts = seat->worker->zygote().Attempts();
  seat->worker->zygote().Kill();
  if (m.timing) {
    // Times PyTorch again without the candidate, to see whether the candidate or the machine slowed it down.
    const Contestant* eager = m.timing->Find("eager");
    if (eager != nullptr && m.timing->MedianUs(*eager) > 1.5 * m.timing->eager_alone_us) {
      HONE_ASSIGN_OR_RETURN(m.timing->eager_after_us, session_.TimeEager());
    }
  }
  if (m.stop && session_.options().device == "cuda") {
    if (!alone.owns_lock()) {
      checking.unlock();
      alone.lock();
    }
    // After a GPU worker was killed, checks that the device still computes.
    HONE_ASSIGN_OR_RETURN(const Json canary, session_.worker().Require("canary").WithContext(
                                                 "the GPU no longer works after this candidate"));
    if (!GetBool(canary, "right"))
      return Error{ErrorKind::kUnavailable,
                   "the GPU computes wrongly after this candidate; reset it before going on"};
  }
  m.seconds = watch.seconds();
  m.candidate_seconds = seat->worker->compute_seconds();
  if (alone.owns_lock()) m.reference_seconds = session_.worker().compute_seconds() - reference_before;
  return m;
}

Result<QuickLook> Evaluator::Look(const CandidateFile& candidate, bool another_follows,
                                  const Progress& progress) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CandidateSeat> seat, TakeSeat());
  const fs::path folder = seat->folder.path();
  Check check{session_, candidate, *seat->worker, folder, progress, 2};
  QuickLook look;
  std::shared_lock checking(device_);
  bool prewarmed = !another_follows;
  for (Result<bool> (Check::*phase)() : {&Check::Lint, &Check::Import, &Check::Build, &Check::Trials}) {
    HONE_ASSIGN_OR_RETURN(const bool go_on, RunPhase(
                                                "trial", [&] { return (check.*phase)(); }, &check.m.stop));
    if (!prewarmed && phase == &Check::Import) {
      prewarmed = true;
      HONE_RETURN_IF_ERROR(Prewarm());
    }
    if (go_on) continue;
    look.refused = std::move(check.m);
    return look;
  }
  checking.unlock();
  const std::unique_lock alone(device_);
  Contest contest(session_);
  const auto time_alone = [&]() -> Result<bool> {
    HONE_ASSIGN_OR_RETURN(const std::optional<double> call_us,
                          contest.TimeAlone(*seat->worker, progress, &check.m.stop));
    look.call_us = call_us.value_or(0);
    return call_us.has_value();
  };
  HONE_ASSIGN_OR_RETURN(look.right, RunPhase("timing", time_alone, &check.m.stop));
  if (!look.right) look.why = check.m.stop ? check.m.stop->failure.message : "could not be timed";
  return look;
}

}  // namespace hone
