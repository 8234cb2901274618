#include "evaluation/nursery.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <map>

#include "base/interrupt.h"
#include "base/text.h"
#include "evaluation/timing_messages.h"
#include "evaluation/zygote.h"

namespace hone {

namespace {

constexpr double kImportS = 120;  // enough for a cold cache on a slow disk

// Whether a process from outside can join sandboxes on this machine.
bool CanBeEntered(SandboxLevel level) {
  static std::mutex mutex;
  static std::map<SandboxLevel, bool> known;
  if (level == SandboxLevel::kNone) return false;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(level); found != known.end()) return found->second;
  ChildSpec spec;
  spec.env = CandidateEnvironment("/nonexistent");
  Result<TempFolder> folder = TempFolder::Make("hone-nursery-");
  SandboxPolicy policy;
  if (folder.ok()) policy.private_folder = folder->path();
  const bool can = folder.ok() && MakeEmptySandbox(spec, policy, level).ok();
  if (!Interrupted()) known[level] = can;
  return can;
}

}  // namespace

Result<std::shared_ptr<Nursery>> Nursery::Start(const PythonInfo& python, const std::string& device,
                                                SandboxLevel level) {
  if (!CanBeEntered(level)) return std::shared_ptr<Nursery>();
  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  ChildSpec spec;
  HONE_ASSIGN_OR_RETURN(spec.argv, InterpreterArgv(python, "nursery", device));
  spec.env = CandidateEnvironment("/nonexistent");
  AddInterpreterVariables(spec.env);
  spec.folder = "/";
  spec.descriptors = {{pair.theirs.get(), kWorkerFd}};
  std::shared_ptr<Nursery> nursery(new Nursery());
  nursery->level_ = level;
  HONE_ASSIGN_OR_RETURN(nursery->child_, Child::Spawn(spec));
  nursery->control_ = std::move(pair.ours);
  return nursery;
}

Nursery::~Nursery() {
  if (child_) child_->Kill();
}

Result<SandboxedChild> Nursery::Place(const ChildSpec& spec, const SandboxPolicy& policy, int control) {
  const std::lock_guard lock(mutex_);
  if (broken_) return Error{ErrorKind::kUnavailable, "the nursery is closed"};
  Result<SandboxedChild> placed = PlaceNow(spec, policy, control);
  if (placed.ok() || placed.error().kind == ErrorKind::kInterrupted) return placed;
  broken_ = true;
  child_->Kill();
  return Error{ErrorKind::kUnavailable, placed.error().message};
}

Result<SandboxedChild> Nursery::PlaceNow(const ChildSpec& spec, const SandboxPolicy& policy, int control) {
  ChildSpec outer = spec;
  outer.argv.clear();
  outer.descriptors.clear();
  HONE_ASSIGN_OR_RETURN(EmptySandbox sandbox, MakeEmptySandbox(outer, policy, level_));
  HONE_ASSIGN_OR_RETURN(Channel::Pair ticket, Channel::MakePair());
  std::vector<std::pair<std::string, int>> tickets = TicketsOf(sandbox);
  tickets.emplace_back("control", control);
  tickets.emplace_back("ticket", ticket.theirs.get());
  JoinRequest request;
  std::vector<int> descriptors;
  for (const auto& [name, descriptor] : tickets) {
    request.descriptors.push_back(name);
    descriptors.push_back(descriptor);
  }
  request.nested = sandbox.nested;
  request.folder = spec.folder.string();
  request.environment = spec.env;
  request.filter = NewcomersFilter();
  request.seccomp = SYS_seccomp;
  request.limits = NewcomersLimits(policy, level_);
  HONE_RETURN_IF_ERROR(control_.Send(EncodeRequest(request), descriptors));
  ticket.theirs.Close();
  for (UniqueFd* sent : {&sandbox.told, &sandbox.out, &sandbox.err}) sent->Close();
  Result<UniqueFd> listener = ticket.ours.ReceiveDescriptor(Deadline::After(kImportS));
  if (!listener.ok()) {
    sandbox.child->Kill();
    return Error{listener.error().kind,
                 fmt::format("no process entered the sandbox: {}", Tail(sandbox.child->err(), 1000))};
  }
  SandboxedChild placed;
  placed.child = std::move(sandbox.child);
  placed.watch = std::make_unique<SyscallWatch>(std::move(*listener), policy.private_folder);
  return placed;
}

}  // namespace hone
