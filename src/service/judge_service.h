// The judge as a service: the endpoints POST /evaluate, GET /jobs, GET and DELETE /jobs/ID, and its part of
// /metrics. It is one function from request to reply. The dashboard's HttpServer handles sockets, and the
// desk handles judging. Every request needs a token in its Authorization header, also on loopback.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "dashboard/access.h"
#include "dashboard/http_message.h"
#include "evaluation/session_options.h"
#include "pipeline/verdict_reuse.h"
#include "service/evaluate_request.h"
#include "service/job_desk.h"
#include "service/session_pool.h"
#include "service/tokens.h"

namespace hone {

struct JudgeServiceOptions {
  SessionOptions judging;            // options that a client cannot set
  std::vector<fs::path> tasks;       // folders with named tasks
  bool allow_task_source = false;    // such a task runs in the sandbox, like a candidate
  std::vector<std::string> command;  // the judge's command; empty: this program
  fs::path folder;                   // for the journal and temporary files
  double per_minute = 6000;          // requests per token
  double most_wait_s = 60;
  DeskOptions desk;
  size_t most_sessions = 2;
  double job_timeout_s = 1800;
  WithOtherChildren other_children;
};

class JudgeService {
 public:
  static Result<std::unique_ptr<JudgeService>> Open(JudgeServiceOptions options, std::vector<Token> tokens,
                                                    AccessRules rules);

  // Whether the request is for this service and not for the dashboard.
  static bool IsOurs(const HttpRequest& request);
  // Checks the client's identity and rights before the body is read. No value: continue.
  std::optional<HttpReply> CheckHead(const HttpRequest& request) const;
  // Never throws.
  HttpReply Handle(const HttpRequest& request);
  // Lines for /metrics, in the format of dashboard/metrics.h.
  std::string MetricsText();

  // {"error": {"status", "reason", "message"}}
  static HttpReply Refuse(int status, const std::string& reason, const std::string& message);

 private:
  JudgeService(JudgeServiceOptions options, std::vector<Token> tokens, AccessRules rules);
  HttpReply Route(const HttpRequest& request);
  HttpReply Evaluate(const HttpRequest& request, const Token& token);
  HttpReply ShowJob(const HttpRequest& request, const Token& token, const std::string& id);
  HttpReply ListJobs(const HttpRequest& request, const Token& token);
  HttpReply CancelJob(const Token& token, const std::string& id);
  // Replies when the job has ended, or after the number of seconds in the request.
  HttpReply WhenEnded(const HttpRequest& request, const DeskAnswer& answer);

  // The server's options combined with the client's.
  Result<SessionOptions> JudgingOf(const Job& job) const;
  Result<Job> MakeJob(const EvaluateRequest& request);
  std::string IdOf(const TaskFile& task, const std::string& candidate, const SessionOptions& options) const;
  Result<Assignment> Prepare(const Job& job) const;
  std::string SessionOf(const Job& job) const;

  const JudgeServiceOptions options_;
  const std::vector<Token> tokens_;
  const AccessRules rules_;  // for checking the Host header
  JudgingMachine machine_;
  std::string salt_;  // for questions whose answer may change: see IdOf
  RequestRate rate_;
  std::unique_ptr<SessionPool> pool_;
  std::unique_ptr<JobDesk> desk_;  // declared after the pool, which its workers use
};

}  // namespace hone
