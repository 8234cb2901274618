#include "service/session_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "process/tree.h"
#include "task/task_file.h"

namespace hone {

namespace {

JudgeOutcome RefusedOutcome(const std::string& kind, const std::string& sentence) {
  JudgeOutcome outcome;
  outcome.kind = JudgeOutcome::Kind::kRefused;
  outcome.error_kind = kind;
  outcome.error = sentence;
  return outcome;
}

JudgeOutcome LostOutcome(const Error& error) {
  JudgeOutcome outcome;
  outcome.error_kind = "infrastructure";
  outcome.error = error.message;
  return outcome;
}

}  // namespace

Result<std::unique_ptr<SessionPool>> SessionPool::Make(SessionPoolOptions options) {
  std::error_code ignored;
  fs::remove_all(options.folder, ignored);  // left by a server that was killed
  HONE_RETURN_IF_ERROR(MakeFolders(options.folder, 0700));
  return std::unique_ptr<SessionPool>(new SessionPool(std::move(options)));
}

bool SessionPool::IsWarm(const std::string& session) {
  const std::scoped_lock lock(mutex_);
  return std::any_of(idle_.begin(), idle_.end(), [&](const Session& each) { return each.name == session; });
}

size_t SessionPool::warm() {
  const std::scoped_lock lock(mutex_);
  return idle_.size() + busy_;
}

void SessionPool::Tidy() {
  bool some_ended = false;
  std::list<Session> old;  // ended outside the lock, because killing a process tree takes time
  {
    const std::scoped_lock lock(mutex_);
    for (auto at = idle_.begin(); at != idle_.end();) {
      const auto next = std::next(at);
      const bool ended = !at->child->alive();
      some_ended = some_ended || ended;
      if (ended || at->idle.seconds() > options_.idle_s) old.splice(old.end(), idle_, at);
      at = next;
    }
  }
  old.clear();
  if (some_ended) EndStrays();
}

void SessionPool::EndStrays() {
  const auto end = [this](const std::vector<pid_t>& others) {
    const std::scoped_lock lock(living_->mutex);
    std::vector<pid_t> keep = others;
    keep.insert(keep.end(), living_->pids.begin(), living_->pids.end());
    KillStrays(keep);
  };
  if (options_.with_others)
    options_.with_others(end);
  else
    end({});
}

Result<std::unique_ptr<JudgeChild>> SessionPool::StartFor(const Assignment& job) {
  std::string path = job.task_path;
  if (path.empty()) {
    // Each task gets a folder, so that it cannot find files of another task.
    const fs::path file = options_.folder / "tasks" / job.task_sha256.substr(0, 24) / (job.task_name + ".py");
    HONE_RETURN_IF_ERROR(MakeFolders(file.parent_path(), 0700));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(file, job.task_source));
    path = file.string();
  }
  std::vector<std::string> argv = options_.command;
  for (const std::string& word :
       {std::string("bench"), path, std::string("--stdin"), std::string("--json"), std::string("--verbose")})
    argv.push_back(word);
  argv.insert(argv.end(), job.arguments.begin(), job.arguments.end());
  std::vector<std::string> env = CurrentEnvironment();
  // Child processes do not need the secret of the service.
  std::erase_if(env, [](const std::string& line) { return line.rfind("HONE_JUDGE_TOKEN=", 0) == 0; });
  ++started_;
  return JudgeChild::Start(argv, env, living_);
}

Result<std::unique_ptr<JudgeChild>> SessionPool::Take(const Assignment& job) {
  std::list<Session> replaced;
  {
    const std::scoped_lock lock(mutex_);
    ++busy_;
    for (auto at = idle_.begin(); at != idle_.end();) {
      const auto next = std::next(at);
      if (!at->child->alive()) {
        replaced.splice(replaced.end(), idle_, at);
      } else if (at->name == job.session) {
        std::unique_ptr<JudgeChild> child = std::move(at->child);
        idle_.erase(at);
        return child;
      }
      at = next;
    }
    while (!idle_.empty() && idle_.size() + busy_ > options_.most_sessions)
      replaced.splice(replaced.end(), idle_, std::prev(idle_.end()));
  }
  replaced.clear();
  return StartFor(job);
}

void SessionPool::Keep(const std::string& session, std::unique_ptr<JudgeChild> child) {
  const bool usable = child != nullptr && child->alive();
  const std::scoped_lock lock(mutex_);
  --busy_;
  if (usable) idle_.push_front(Session{session, std::move(child), Stopwatch()});
}

JudgeOutcome SessionPool::Judge(const Assignment& job, const std::function<bool()>& stop) {
  if (!job.task_path.empty()) {
    const Result<TaskFile> task = LoadTaskFile(job.task_path);
    if (!task.ok()) return RefusedOutcome("not_found", task.error().message);
    if (task->sha256 != job.task_sha256)
      return RefusedOutcome("invalid", "the task " + job.task_name +
                                           " has changed on the server since the job came; ask again");
  }
  const fs::path file = options_.folder / fmt::format("candidate_{}.py", job.id.substr(0, 24));
  if (const Status written = WriteFileAtomic(file, job.candidate, 0600); !written.ok())
    return LostOutcome(written.error());
  Result<std::unique_ptr<JudgeChild>> child = Take(job);
  if (!child.ok()) {
    Keep(job.session, nullptr);
    return LostOutcome(child.error());
  }
  JudgeOutcome outcome = (*child)->Judge(file.string(), Deadline::After(options_.job_timeout_s), stop);
  // After an outcome without a verdict, the process may be about to end. A new one costs less than finding
  // out.
  const bool keep = outcome.kind == JudgeOutcome::Kind::kVerdict;
  Keep(job.session, keep ? std::move(*child) : nullptr);
  child->reset();
  if (outcome.kind == JudgeOutcome::Kind::kLost) EndStrays();
  std::error_code ignored;
  fs::remove(file, ignored);
  return outcome;
}

}  // namespace hone
