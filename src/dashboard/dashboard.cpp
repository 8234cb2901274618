#include "dashboard/dashboard.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "base/text.h"
#include "dashboard/metrics.h"
#include "dashboard/pages.h"
#include "store/run_notes.h"

namespace hone {

namespace {

int64_t EventNumber(const std::string& text) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && number > 0 ? number : 0;
}

}  // namespace

Dashboard::Dashboard(fs::path store, AccessRules rules)
    : store_path_(std::move(store)), rules_(std::move(rules)) {}

void Dashboard::CountWith(const HttpServer* server, const LiveHub* hub) {
  server_ = server;
  hub_ = hub;
}

Result<std::unique_ptr<RunStore>> Dashboard::TakeStore() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<RunStore> store = std::move(idle_.back());
      idle_.pop_back();
      return store;
    }
  }
  return RunStore::OpenReadOnly(store_path_);
}

HttpReply Dashboard::Handle(const HttpRequest& request) {
  try {
    return Route(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hone: a bug in hone: {}: {}\n", SafeForTerminal(request.path),
               SafeForTerminal(error.what()));
    return Refusal(500, "a bug in hone; its terminal says more");
  }
}

HttpReply Dashboard::Route(const HttpRequest& request) {
  if (std::optional<HttpReply> refused = CheckAccess(rules_, request)) return std::move(*refused);
  if (request.method == "POST") return Post(request);
  if (request.method != "GET") {
    HttpReply reply = Refusal(405, "only GET, HEAD and POST are understood");
    reply.headers.emplace_back("Allow", "GET, HEAD, POST");
    return reply;
  }
  if (StartsWith(request.path, "/assets/")) return Asset(request.path.substr(8), request);
  Result<std::unique_ptr<RunStore>> store = TakeStore();
  if (!store.ok()) return ErrorPage(store.error());
  HttpReply reply = Get(**store, request);
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(*store));
  return reply;
}

HttpReply Dashboard::Get(RunStore& store, const HttpRequest& request) {
  const PageContext page{store, request, rules_};
  const std::string& path = request.path;
  if (path == "/" || path == "/runs") return RunsPage(page);
  if (path == "/suites") return SuitesPage(page);
  if (path == "/leaderboard" || path == "/tasks") return LeaderboardPage(page);
  if (path == "/devices") return DevicesPage(page);
  if (path == "/compare") return ComparePage(page);
  if (path == "/metrics") {
    const HttpCounts counts = server_ == nullptr ? HttpCounts{} : server_->counts();
    return MetricsReply(store, store_path_, counts, hub_ == nullptr ? 0 : hub_->viewers());
  }
  if (path == "/favicon.ico") return Asset("icon.svg", request);
  if (StartsWith(path, "/api/")) return Api(page, path.substr(4));
  if (StartsWith(path, "/suites/")) return SuitePage(page, path.substr(8));
  if (StartsWith(path, "/tasks/")) return TaskPage(page, path.substr(7));
  if (StartsWith(path, "/runs/")) {
    const std::string rest = path.substr(6);
    const size_t slash = rest.find('/');
    const std::string id = rest.substr(0, slash);
    if (slash == std::string::npos) return RunPage(page, id);
    const std::string part = rest.substr(slash + 1);
    if (part == "explain") return ExplainPage(page, id);
    if (part == "report") return RunReportPage(page, id);
    if (part == "best.py") return BestFileReply(page, id);
    if (part == "events") return Events(store, request, id);
    if (StartsWith(part, "candidates/")) return CandidatePage(page, id, part.substr(11));
  }
  return ErrorPage(404, "there is no such page");
}

HttpReply Dashboard::Events(RunStore& store, const HttpRequest& request, const std::string& id) {
  const Result<RunRecord> run = FindRunById(store, id);
  if (!run.ok()) return Refusal(404, run.error().message);
  HttpReply reply;
  // A browser that reconnects names the last event that it saw. A new page names the one it was rendered
  // with.
  const std::string after = request.last_event_id.empty() ? request.Query("after") : request.last_event_id;
  reply.events = EventSubscription{run->id, EventNumber(after)};
  return reply;
}

// The only change that a page makes to the store. It uses its own connection.
Status Dashboard::ChangeNote(const RunRecord& run,
                             const std::vector<std::pair<std::string, std::string>>& form) {
  RunNote note;
  for (const auto& [name, value] : form) {
    if (name == "text") note.text = std::string(Trim(ReplaceAll(value, "\r\n", "\n")));
    if (name != "tags") continue;
    HONE_ASSIGN_OR_RETURN(note.tags, ParseTags(value));
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open(store_path_));
  return SaveRunNote(*store, run.id, note);
}

HttpReply Dashboard::Post(const HttpRequest& request) {
  const std::string& path = request.path;
  const bool start = path == "/actions/start";
  const bool stop = StartsWith(path, "/runs/") && EndsWith(path, "/stop");
  const bool resume = StartsWith(path, "/runs/") && EndsWith(path, "/resume");
  const bool note = StartsWith(path, "/runs/") && EndsWith(path, "/note");
  if (!start && !stop && !resume && !note) return Refusal(405, "this address takes no POST");
  if (!StartsWith(request.content_type, "application/x-www-form-urlencoded"))
    return Refusal(400, "a form is expected");
  const auto form = ParseForm(request.body);
  if (!form) return Refusal(400, "the form cannot be read");
  if (std::optional<HttpReply> refused =
          note ? CheckNoteChange(rules_, request, *form) : CheckAction(rules_, request, *form))
    return std::move(*refused);
  std::string there = "/runs";
  Status done = Ok();
  if (start) {
    done = actions_.Start(*form);
  } else {
    const std::string id = path.substr(6, path.rfind('/') - 6);
    Result<std::unique_ptr<RunStore>> store = TakeStore();
    if (!store.ok()) return ErrorPage(store.error());
    const Result<RunRecord> run = FindRunById(**store, id);
    if (!run.ok()) return ErrorPage(run.error());
    there += "/" + id;
    done = note ? ChangeNote(*run, *form) : stop ? actions_.StopRun(*run) : actions_.Resume(*run);
    if (note) there += "#notes";
  }
  if (!done.ok()) return ErrorPage(done.error().kind == ErrorKind::kUsage ? 400 : 503, done.error().message);
  HttpReply reply = Refusal(303, "done");
  reply.headers.emplace_back("Location", there);
  return reply;
}

}  // namespace hone
