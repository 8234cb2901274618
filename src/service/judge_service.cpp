#include "service/judge_service.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/ids.h"
#include "base/text.h"
#include "candidate/candidate_file.h"
#include "service/evaluation_options.h"
#include "service/reward_result.h"

namespace hone {

namespace {

constexpr int kMostListed = 1000;

HttpReply JsonReply(int status, const OrderedJson& json) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "application/json; charset=utf-8";
  reply.body = DumpJson(json) + "\n";
  return reply;
}

HttpReply JobReply(const Job& job, size_t position) {
  HttpReply reply = JsonReply(IsActive(job.state) ? 202 : 200, ToJson(job, true, position));
  reply.headers.emplace_back("Location", "/jobs/" + job.id);
  return reply;
}

HttpReply RefuseFor(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kInvalid:
      return JudgeService::Refuse(400, "bad-request", error.message);
    case ErrorKind::kNotFound:
      return JudgeService::Refuse(404, "not-found", error.message);
    default:
      return JudgeService::Refuse(503, "unavailable", error.message);
  }
}

HttpReply TooMany(const std::string& reason, const std::string& message, double retry_s) {
  HttpReply reply = JudgeService::Refuse(429, reason, message);
  reply.headers.emplace_back("Retry-After",
                             fmt::format("{}", std::max(1, static_cast<int>(std::ceil(retry_s)))));
  return reply;
}

bool IsJobId(const std::string& id) {
  return id.size() == 64 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// A number in a query. No value if it is invalid.
std::optional<double> QueryNumber(const HttpRequest& request, const char* name, double fallback) {
  if (!request.HasQuery(name)) return fallback;
  const std::string text = request.Query(name);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number < 0)
    return std::nullopt;
  return number;
}

}  // namespace

HttpReply JudgeService::Refuse(int status, const std::string& reason, const std::string& message) {
  HttpReply reply =
      JsonReply(status, {{"error", {{"status", status}, {"reason", reason}, {"message", message}}}});
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

JudgeService::JudgeService(JudgeServiceOptions options, std::vector<Token> tokens, AccessRules rules)
    : options_(std::move(options)),
      tokens_(std::move(tokens)),
      rules_(std::move(rules)),
      salt_(RandomHex(16)),
      rate_(options_.per_minute) {}

Result<std::unique_ptr<JudgeService>> JudgeService::Open(JudgeServiceOptions options,
                                                         std::vector<Token> tokens, AccessRules rules) {
  std::unique_ptr<JudgeService> service(
      new JudgeService(std::move(options), std::move(tokens), std::move(rules)));
  const JudgeServiceOptions& asked = service->options_;
  service->machine_ = IdentifyMachine(asked.judging);
  SessionPoolOptions pool;
  pool.command = asked.command;
  if (pool.command.empty())
    pool.command = {OwnExecutable().string()};
  else  // verdicts of another judge must not count as Hone's
    service->machine_.hone = Sha256("stand-in " + Join(asked.command, " "));
  pool.folder = asked.folder / "work";
  pool.most_sessions = std::max(asked.most_sessions, static_cast<size_t>(asked.desk.workers));
  pool.job_timeout_s = asked.job_timeout_s;
  pool.with_others = asked.other_children;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<JobJournal> journal, JobJournal::Open(asked.folder));
  HONE_ASSIGN_OR_RETURN(service->pool_, SessionPool::Make(std::move(pool)));
  JudgeService* const self = service.get();
  HONE_ASSIGN_OR_RETURN(service->desk_, JobDesk::Open(
                                            asked.desk, std::move(journal), service->pool_.get(),
                                            [self](const Job& job) { return self->Prepare(job); },
                                            [self](const Job& job) { return self->SessionOf(job); }));
  return service;
}

bool JudgeService::IsOurs(const HttpRequest& request) {
  return request.path == "/evaluate" || request.path == "/jobs" || StartsWith(request.path, "/jobs/");
}

std::optional<HttpReply> JudgeService::CheckHead(const HttpRequest& request) const {
  if (!HostIsOurs(rules_, request.host))
    return Refuse(421, "wrong-host",
                  "this server does not answer to that host name; see hone serve --allow-host");
  if (IsOurs(request)) {
    if (FindToken(tokens_, request.authorization) == nullptr)
      return Refuse(401, "no-token",
                    "the header Authorization must be: Bearer TOKEN, with a token of this server");
    return std::nullopt;
  }
  // The dashboard's own check makes the reply. This check only prevents unauthorised clients from sending
  // large bodies.
  if (std::optional<HttpReply> refused = CheckAccess(rules_, request); refused && refused->status >= 400)
    return refused;
  return std::nullopt;
}

HttpReply JudgeService::Handle(const HttpRequest& request) {
  try {
    return Route(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hone: a bug in hone: {}: {}\n", SafeForTerminal(request.path),
               SafeForTerminal(error.what()));
    return Refuse(500, "bug", "a bug in hone; its terminal says more");
  }
}

HttpReply JudgeService::Route(const HttpRequest& request) {
  if (std::optional<HttpReply> refused = CheckHead(request)) return std::move(*refused);
  const Token& token = *FindToken(tokens_, request.authorization);
  const double now_s = static_cast<double>(NowNs()) * 1e-9;
  if (const std::optional<double> wait_s = rate_.Refuse(token.name, now_s))
    return TooMany("rate", fmt::format("this token may send {} requests a minute", options_.per_minute),
                   *wait_s);
  const auto only = [&](const char* methods) {
    HttpReply reply =
        Refuse(405, "method",
               fmt::format("{} takes {}", request.path == "/evaluate" ? "/evaluate" : "/jobs", methods));
    reply.headers.emplace_back("Allow", methods);
    return reply;
  };
  if (request.path == "/evaluate") return request.method == "POST" ? Evaluate(request, token) : only("POST");
  if (request.path == "/jobs") return request.method == "GET" ? ListJobs(request, token) : only("GET");
  const std::string id = request.path.substr(6);
  if (!IsJobId(id)) return Refuse(404, "no-job", "the name of a job has 64 hexadecimal digits");
  if (request.method == "GET") return ShowJob(request, token, id);
  if (request.method == "DELETE") return CancelJob(token, id);
  return only("GET, DELETE");
}

std::string JudgeService::IdOf(const TaskFile& task, const std::string& candidate,
                               const SessionOptions& options) const {
  CandidateFile file;
  file.source = candidate;
  file.sha256 = Sha256(candidate);
  const std::string conditions = ConditionsOf(task, file, options, machine_);
  if (!conditions.empty()) return Sha256("job " + conditions);
  // The task imports files beside it, or the device is unknown, so the answer to the same question may
  // change. Such a question is judged once per life of the server.
  return Sha256("job " + salt_ + " " + task.sha256 + " " + file.sha256 + " " +
                Join(BenchArguments(options), " "));
}

Result<SessionOptions> JudgeService::JudgingOf(const Job& job) const {
  HONE_ASSIGN_OR_RETURN(SessionOptions judging, WithClientOptions(options_.judging, job.options));
  // A task sent as source comes from a client and is as untrusted as a candidate.
  if (job.task_path.empty() && judging.sandbox != SandboxLevel::kNone) judging.sandbox_task = true;
  return judging;
}

Result<Job> JudgeService::MakeJob(const EvaluateRequest& request) {
  TaskFile task;
  Job job;
  if (!request.task_source.empty()) {
    if (!options_.allow_task_source)
      return Error{ErrorKind::kUsage,
                   "this server judges the tasks that it has by name; hone serve --judge --allow-task-source "
                   "accepts task_source"};
    task = TaskOfSource(request.task_source);
    job.task_source = request.task_source;
  } else {
    HONE_ASSIGN_OR_RETURN(task, FindTask(options_.tasks, request.task));
    job.task_path = task.path.string();
  }
  job.options = request.options.is_object() ? request.options : Json::object();
  HONE_ASSIGN_OR_RETURN(const SessionOptions judging, JudgingOf(job));
  job.id = IdOf(task, request.candidate, judging);
  job.task = task.name;
  job.task_sha256 = task.sha256;
  job.candidate = request.candidate;
  if (request.candidate.empty()) {
    job.state = JobState::kDone;
    job.result = RewardWithoutCode();
  }
  return job;
}

std::string JudgeService::SessionOf(const Job& job) const {
  const Result<SessionOptions> judging = JudgingOf(job);
  if (!judging.ok()) return "";
  return Sha256(job.task_path + "\n" + job.task_sha256 + "\n" + Join(BenchArguments(*judging), " "));
}

Result<Assignment> JudgeService::Prepare(const Job& job) const {
  HONE_ASSIGN_OR_RETURN(const SessionOptions judging, JudgingOf(job));
  TaskFile task;
  if (job.task_path.empty()) {
    task = TaskOfSource(job.task_source);
  } else {
    HONE_ASSIGN_OR_RETURN(task, LoadTaskFile(job.task_path));
  }
  // A job that waited for the next server keeps its id only if that server would judge under the same
  // conditions.
  CandidateFile file;
  file.sha256 = Sha256(job.candidate);
  const std::string conditions = ConditionsOf(task, file, judging, machine_);
  if (!conditions.empty() && Sha256("job " + conditions) != job.id)
    return Error{ErrorKind::kInvalid,
                 "the task, this server's version or its options have changed since the job came; ask again"};
  Assignment made;
  made.id = job.id;
  made.session = SessionOf(job);
  made.task_name = job.task;
  made.task_path = job.task_path;
  made.task_sha256 = job.task_sha256;
  made.task_source = job.task_source;
  made.candidate = job.candidate;
  made.arguments = BenchArguments(judging);
  return made;
}

HttpReply JudgeService::Evaluate(const HttpRequest& request, const Token& token) {
  if (!StartsWith(ToLower(request.content_type), "application/json"))
    return Refuse(415, "content-type", "the body must be JSON, with Content-Type: application/json");
  if (!QueryNumber(request, "wait", 0))
    return WhenEnded(request, {});  // reject the request before creating a job
  const Result<EvaluateRequest> asked = ParseEvaluateRequest(request.body);
  if (!asked.ok()) return RefuseFor(asked.error());
  Result<Job> job = MakeJob(*asked);
  if (!job.ok()) return RefuseFor(job.error());
  job->askers = {token.name};
  const Result<DeskAnswer> answer = desk_->Ask(std::move(*job), asked->again);
  if (!answer.ok()) return RefuseFor(answer.error());
  if (answer->refused) return TooMany(answer->reason, answer->message, answer->retry_s);
  return WhenEnded(request, *answer);
}

HttpReply JudgeService::WhenEnded(const HttpRequest& request, const DeskAnswer& answer) {
  const std::optional<double> wait_s = QueryNumber(request, "wait", 0);
  if (!wait_s) return Refuse(400, "bad-request", "wait must be a number of seconds");
  if (*wait_s == 0 || !IsActive(answer.job.state)) return JobReply(answer.job, answer.position);
  HttpReply reply;
  reply.later = [this, id = answer.job.id, seconds = std::min(*wait_s, options_.most_wait_s)](auto done) {
    desk_->Wait(id, seconds, [done](const Job& job, size_t position) { done(JobReply(job, position)); });
  };
  return reply;
}

HttpReply JudgeService::ShowJob(const HttpRequest& request, const Token& token, const std::string& id) {
  const Result<std::optional<DeskAnswer>> found = desk_->Find(id, token.name);
  if (!found.ok()) return RefuseFor(found.error());
  if (!*found) return Refuse(404, "no-job", "there is no such job of this token; POST /evaluate makes one");
  return WhenEnded(request, **found);
}

HttpReply JudgeService::ListJobs(const HttpRequest& request, const Token& token) {
  const std::optional<double> most = QueryNumber(request, "limit", 100);
  if (!most || *most < 1 || *most > kMostListed)
    return Refuse(400, "bad-request", fmt::format("limit must be a number from 1 to {}", kMostListed));
  const std::string state = request.Query("state");
  if (!state.empty() && state != NameOf(JobStateOf(state)))
    return Refuse(400, "bad-request", "state must be queued, running, done, failed or cancelled");
  const Result<std::vector<Job>> jobs = desk_->List(token.name, state, static_cast<int>(*most));
  if (!jobs.ok()) return RefuseFor(jobs.error());
  OrderedJson list = OrderedJson::array();
  for (const Job& job : *jobs) list.push_back(ToJson(job, false));
  return JsonReply(200, {{"jobs", list}});
}

HttpReply JudgeService::CancelJob(const Token& token, const std::string& id) {
  const Result<std::optional<DeskAnswer>> found = desk_->Cancel(id, token.name);
  if (!found.ok()) return RefuseFor(found.error());
  if (!*found) return Refuse(404, "no-job", "there is no such job of this token");
  return JsonReply(200, ToJson((*found)->job, false));
}

std::string JudgeService::MetricsText() {
  const DeskCounts counts = desk_->counts();
  std::string text;
  const auto add = [&](const char* name, const char* type, const char* help, uint64_t value) {
    text += fmt::format("# HELP hone_judge_{0} {2}\n# TYPE hone_judge_{0} {1}\nhone_judge_{0} {3}\n", name,
                        type, help, value);
  };
  add("queued", "gauge", "Jobs that wait for a worker.", counts.queued);
  add("running", "gauge", "Jobs that a worker judges.", counts.running);
  add("waiting_requests", "gauge", "Requests that wait for a job to end.", counts.waiting);
  add("warm_sessions", "gauge", "Processes that hold a task ready.", pool_->warm());
  add("sessions_started_total", "counter", "Processes that were started to judge.", pool_->started());
  add("jobs_accepted_total", "counter", "New jobs.", counts.accepted);
  add("jobs_deduplicated_total", "counter", "Questions that were asked before.", counts.deduplicated);
  add("jobs_refused_total", "counter", "Questions refused because a queue was full.", counts.refused);
  add("jobs_done_total", "counter", "Jobs that ended with a verdict or without code.", counts.done);
  add("jobs_failed_total", "counter", "Jobs that ended without a verdict.", counts.failed);
  add("jobs_cancelled_total", "counter", "Jobs that were cancelled.", counts.cancelled);
  add("verdicts_total", "counter", "Verdicts that workers gave.", counts.judged);
  add("lost_workers_total", "counter", "Workers that ended without an answer.", counts.lost_workers);
  return text;
}

}  // namespace hone
