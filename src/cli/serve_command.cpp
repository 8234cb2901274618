#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "dashboard/dashboard.h"
#include "dashboard/pages.h"
#include "model/url.h"
#include "service/judge_service.h"

namespace hone {

namespace {

struct ServeFlags {
  HttpServerOptions server;
  std::vector<std::string> hosts;
  bool allow_actions = false;
  bool judge = false;
  JudgeFlags judging;
  std::vector<std::string> tasks;
  bool allow_task_source = false;
  bool check_only = false;
  std::string token_file;
  int workers = 0;
  int sessions = 2;
  int queue = 1024;
  int token_jobs = 256;
  int token_rate = 6000;
  int tries = 3;
  double job_timeout_s = 1800;
  int64_t keep_jobs = 100'000;
};

constexpr size_t kMostJudgeBody = size_t{4} << 20;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Address(const std::string& bind, int port, const std::string& token) {
  const bool any = bind == "0.0.0.0" || bind == "::";
  const std::string host = any ? "localhost" : bind.find(':') != std::string::npos ? "[" + bind + "]" : bind;
  return fmt::format("http://{}:{}/{}", host, port, token.empty() ? "" : "?token=" + token);
}

Result<int> Serve(const ServeFlags& flags) {
  const fs::path path = DataFolder() / "hone.db";
  // Creates the store or migrates it. Afterwards it is only read.
  HONE_RETURN_IF_ERROR(RunStore::Open(path));
  AccessRules rules = RulesFor(flags.server.bind, flags.hosts, flags.allow_actions);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> server, HttpServer::Listen(flags.server));
  const std::string address = Address(flags.server.bind, server->port(), rules.token);
  Dashboard dashboard(path, std::move(rules));
  LiveHub hub(path, RunRenderer());
  dashboard.CountWith(server.get(), &hub);
  fmt::print("{}\n", address);
  std::fflush(stdout);
  fmt::print(stderr, "hone: serving {}; Ctrl-C stops the server\n", path.string());
  server->Run([&dashboard](const HttpRequest& request) { return dashboard.Handle(request); }, hub);
  const size_t ended = dashboard.actions().Shutdown();
  if (ended > 0)
    fmt::print(stderr, "hone: stopped {} run{} started from the page; `hone resume` continues\n", ended,
               ended == 1 ? "" : "s");
  return 0;
}

// On a CPU the cores are the device. With a GPU, one candidate can compile while another one runs.
int DefaultWorkers(const SessionOptions& options) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return options.device == "cuda" ? std::clamp(cores / 4, 1, 4) : 1;
}

Result<JudgeServiceOptions> JudgeOptionsOf(const ServeFlags& flags) {
  JudgeServiceOptions options;
  HONE_ASSIGN_OR_RETURN(options.judging, ResolveJudge(flags.judging));
  options.judging.check_only = flags.check_only;
  for (const std::string& folder : flags.tasks) {
    std::error_code code;
    if (!fs::is_directory(folder, code))
      return Error{ErrorKind::kUsage, fmt::format("--tasks {}: there is no such folder", folder)};
    options.tasks.push_back(fs::absolute(folder));
  }
  if (options.tasks.empty() && !flags.allow_task_source)
    return Error{ErrorKind::kUsage,
                 "the judge has no tasks: pass --tasks FOLDER, or --allow-task-source if clients may send "
                 "tasks, which run in the sandbox"};
  if (flags.allow_task_source && options.judging.sandbox == SandboxLevel::kNone &&
      flags.judging.sandbox != "none")
    return Error{ErrorKind::kUnavailable,
                 "--allow-task-source needs a sandbox, and none works here; `hone doctor` says what is "
                 "missing (--sandbox none runs tasks and candidates of clients with your rights)"};
  options.allow_task_source = flags.allow_task_source;
  for (const std::string& word : Split(Variable("HONE_JUDGE_COMMAND"), ' '))
    if (!word.empty()) options.command.push_back(word);
  options.folder = DataFolder() / "judge";
  options.per_minute = flags.token_rate;
  options.most_sessions = static_cast<size_t>(flags.sessions);
  options.job_timeout_s = flags.job_timeout_s;
  options.desk.workers = flags.workers > 0 ? flags.workers : DefaultWorkers(options.judging);
  options.desk.most_queued = static_cast<size_t>(flags.queue);
  options.desk.most_per_token = static_cast<size_t>(flags.token_jobs);
  options.desk.tries = flags.tries;
  options.desk.keep = flags.keep_jobs;
  return options;
}

Result<int> ServeJudge(const ServeFlags& flags) {
  const fs::path path = DataFolder() / "hone.db";
  HONE_RETURN_IF_ERROR(RunStore::Open(path));
  HONE_ASSIGN_OR_RETURN(const TokenSet tokens, ChooseTokens(flags.token_file, Variable("HONE_JUDGE_TOKEN"),
                                                            !IsLoopback(flags.server.bind)));
  HONE_ASSIGN_OR_RETURN(JudgeServiceOptions options, JudgeOptionsOf(flags));
  const bool stand_in = !options.command.empty();
  AccessRules rules = RulesFor(flags.server.bind, flags.hosts, flags.allow_actions);
  rules.token = tokens.tokens[0].secret;
  HttpServerOptions listening = flags.server;
  listening.most_body_bytes = kMostJudgeBody;
  listening.handler_threads = 4;
  JudgeService* judge = nullptr;
  listening.check_head = [&judge](const HttpRequest& request) { return judge->CheckHead(request); };
  listening.refusal = [](int status, const std::string& sentence) {
    return JudgeService::Refuse(status, "bad-request", sentence);
  };
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> server, HttpServer::Listen(listening));
  Dashboard dashboard(path, rules);
  LiveHub hub(path, RunRenderer());
  dashboard.CountWith(server.get(), &hub);
  options.other_children = [&dashboard](const auto& use) { dashboard.actions().WithProcesses(use); };
  // Declared after the server and the dashboard, because it uses both until it ends.
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<JudgeService> service,
                        JudgeService::Open(std::move(options), tokens.tokens, rules));
  judge = service.get();
  fmt::print("{}\n", Address(flags.server.bind, server->port(), ""));
  if (tokens.generated) fmt::print("HONE_JUDGE_TOKEN={}\n", tokens.tokens[0].secret);
  std::fflush(stdout);
  if (stand_in)
    fmt::print(stderr, "hone: HONE_JUDGE_COMMAND is set: its answers are no verdicts of Hone's judge\n");
  fmt::print(stderr,
             "hone: judging for {} token{}; Ctrl-C stops the server, and jobs go on at the next start\n",
             tokens.tokens.size(), tokens.tokens.size() == 1 ? "" : "s");
  server->Run(
      [&](const HttpRequest& request) {
        if (JudgeService::IsOurs(request)) return service->Handle(request);
        HttpReply reply = dashboard.Handle(request);
        if (request.path == "/metrics" && reply.status == 200) reply.body += service->MetricsText();
        return reply;
      },
      hub);
  (void)dashboard.actions().Shutdown();
  return 0;
}

}  // namespace

void AddServeCommand(CommandTable& table) {
  Command& command = table.Add("serve", "Serve a live dashboard of all runs on 127.0.0.1");
  auto flags = std::make_shared<ServeFlags>();
  command.Add("--port", &flags->server.port, "Port to listen on; 0 picks a free one").Between(0, 65535);
  command
      .Add(
          "--bind,--host", &flags->server.bind,
          "Address to listen on; every address except loopback requires the token that the printed URL holds")
      .Placeholder("ADDRESS");
  command
      .Add("--allow-host", &flags->hosts,
           "Host name that browsers may use to reach the server, such as a proxy's; may be repeated")
      .Placeholder("NAME");
  command.Add("--allow-actions", &flags->allow_actions, "Allow the page to start, stop and resume runs");
  command.Add("--judge", &flags->judge,
              "Also judge candidates for programs: POST /evaluate and GET /jobs/ID (docs/SERVICE.md)");
  const char* const kJudging = "With --judge";
  command.Add("--tasks", &flags->tasks, "Folder of tasks that clients may request; may be repeated")
      .Placeholder("FOLDER")
      .Group(kJudging);
  command
      .Add("--allow-task-source", &flags->allow_task_source,
           "Accept tasks as source; such a task runs in the sandbox, like a candidate")
      .Group(kJudging);
  command
      .Add("--token-file", &flags->token_file,
           "File with one line per client, NAME TOKEN (default: $HONE_JUDGE_TOKEN, or a new token that is "
           "printed once)")
      .Placeholder("FILE")
      .Group(kJudging);
  command.Add("--check-only", &flags->check_only, "Time nothing unless a request asks for it")
      .Group(kJudging);
  command
      .Add("--workers", &flags->workers,
           "Candidates judged side by side; timings still wait for each other (default: 1 on a CPU, up to 4 "
           "beside a GPU)")
      .Between(0, 256)
      .Group(kJudging);
  command.Add("--sessions", &flags->sessions, "Tasks that are kept ready in a process")
      .Between(1, 256)
      .Group(kJudging);
  command.Add("--queue", &flags->queue, "Most jobs that wait; more get status 429")
      .Between(1, 100'000)
      .Group(kJudging);
  command.Add("--token-jobs", &flags->token_jobs, "Most jobs of one token that are queued or running")
      .Between(1, 100'000)
      .Group(kJudging);
  command.Add("--token-rate", &flags->token_rate, "Most requests of one token in a minute; 0: no limit")
      .Between(0, 10'000'000)
      .Group(kJudging);
  command.Add("--tries", &flags->tries, "How often a job is tried when its worker is lost")
      .Between(1, 20)
      .Group(kJudging);
  command.Add("--job-timeout", &flags->job_timeout_s, "A worker that takes longer for one job counts as lost")
      .Positive()
      .Placeholder("SECONDS")
      .Group(kJudging);
  command.Add("--keep-jobs", &flags->keep_jobs, "Finished jobs that are remembered")
      .Between(1, 1e9)
      .Group(kJudging);
  AddJudgeFlags(command, &flags->judging);
  command.Note("The URL is printed on standard output. Ctrl-C ends the server.");
  command.Note(
      "Pages read the store and can change the tags and notes of runs. With --allow-actions they can also "
      "start, stop and resume runs.");
  command.Example("hone serve");
  command.Example("hone serve --port 0 --allow-actions");
  command.Example("hone serve --bind 0.0.0.0");
  command.Example("curl -s http://127.0.0.1:8377/api/runs | jq '.runs[0]'");
  command.Example("hone serve --judge --tasks tasks");
  command.Runs([flags] { return flags->judge ? ServeJudge(*flags) : Serve(*flags); });
}

}  // namespace hone
