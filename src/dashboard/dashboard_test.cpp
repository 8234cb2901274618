// Tests every page over a small store in which every text is hostile.
#include "dashboard/dashboard.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "dashboard/page.h"
#include "dashboard/pages.h"
#include "model/replies.h"
#include "store/run_notes.h"
#include "store/run_result.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

// Would break out of text, an attribute, or a script.
constexpr char kEvil[] =
    "</pre></script><script>alert(1)</script><img src=x onerror='alert(2)'>\" onload=\"alert(3)\x1b[31m\xff";

class DashboardTest : public testing::Test {
 protected:
  DashboardTest() : folder_(*TempFolder::Make("hone-dashboard-")) {
    store_ = std::move(*RunStore::Open(path()));
    const int64_t suite = *store_->AddSuite({0, std::string("suite ") + kEvil, "2026-01-31T00:00:00Z", "{}"});
    RunRecord run;
    run.name = std::string("20260131_") + kEvil;
    run.created = "2026-01-31T00:00:00Z";
    run.status = "done";
    run.task = std::string("39_GRU") + kEvil;
    run.task_path = kEvil;
    run.task_source = kEvil;
    run.target = "cpu";
    run.device = kEvil;
    run.proposer = "llm";
    run.model = kEvil;
    run.folder = kEvil;
    run.outcome = kEvil;
    run.best_key = "seed0";
    run.vs_best = 2.5;
    run.vs_eager = 3;
    run.options = R"({"budget":{"tokens":1000,"evaluations":4}})";
    run.suite_id = suite;
    run.id = *store_->AddRun(run);
    run_ = run;
    Judge("seed0", "", "accepted", 2.5);
    Judge(std::string("seed1/") + kEvil, "seed0", "rejected", 0);
    CallRecord call;
    call.run_id = run.id;
    call.key = "seed0";
    call.status = "answered";
    for (std::string* text :
         {&call.model, &call.system, &call.prompt, &call.reply, &call.thinking, &call.error})
      *text = kEvil;
    call.prompt_tokens = 500;
    EXPECT_TRUE(store_->SaveCall(call).ok());
    EXPECT_TRUE(store_->SaveDecision(run.id, {"d", "now", kEvil, kEvil, "null"}).ok());
    EXPECT_TRUE(store_->AddConsole(run.id, kEvil).ok());
  }
  fs::path path() const { return folder_.path() / "hone.db"; }

  void Judge(const std::string& key, const std::string& parent, const std::string& verdict, double speed) {
    CandidateRecord one;
    one.run_id = run_.id;
    one.key = key;
    one.parent_key = parent;
    one.phase = one.proposer = one.title = one.kind = one.kernel_class = one.sha256 = kEvil;
    one.created = "2026-01-31T00:00:00Z";
    one.source = std::string("line one\n") + kEvil;
    one.findings = DumpJson(Json::array(
        {{{"rule", kEvil}, {"severity", kEvil}, {"line", 2}, {"message", kEvil}, {"fix", kEvil}}}));
    one.verdict = verdict;
    one.reason = one.detail = kEvil;
    one.vs_best = speed;
    one.ci_low = 2;
    one.ci_high = 3;
    one.error = 1e-6;
    one.error_limit = 1e-5;
    one.json =
        DumpJson(Json{{"gates", {{kEvil, "pass"}, {"build", kEvil}}},
                      {"notes", {kEvil}},
                      {"card", {{"floor_bound", kEvil}, {"modules", {{kEvil, 1}}}}},
                      {"provenance",
                       {{"device", kEvil},
                        {"torch", kEvil},
                        {"mutants", {{{"name", kEvil}, {"told_apart", false}, {"times_over_limit", 0.5}}}},
                        {"ladder", {{{"name", kEvil}, {"why_not", kEvil}}}}}},
                      {"measurement", {{"stdout", kEvil}}}});
    EXPECT_TRUE(store_->SaveCandidate(one).ok());
  }
  HttpReply Get(const std::string& target, bool actions = false) {
    HttpRequest request;
    request.host = "127.0.0.1";
    EXPECT_TRUE(ParseTarget(target, &request)) << target;
    return Dashboard(path(), RulesFor("127.0.0.1", {}, actions)).Handle(request);
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  RunRecord run_;
};

TEST_F(DashboardTest, ACandidateShowsTheReplyThatItWasMadeOf) {
  CallRecord call;
  call.run_id = run_.id;
  call.key = "seed7";
  call.status = "answered";
  call.reply = "words of the first";
  call.more_replies = RepliesText({{std::string("words of the second") + kEvil, "thought", "stop"}});
  ASSERT_TRUE(store_->SaveCall(call).ok());
  Judge("seed7", "", "accepted", 2);
  Judge("seed7~2", "", "accepted", 2);
  const std::string first = Get("/runs/R1/candidates/seed7").body;
  EXPECT_THAT(first, HasSubstr("words of the first"));
  EXPECT_THAT(first, Not(HasSubstr("words of the second")));
  const std::string second = Get("/runs/R1/candidates/" + PercentEncode("seed7~2")).body;
  EXPECT_THAT(second, HasSubstr("words of the second"));
  EXPECT_THAT(second, Not(HasSubstr("words of the first")));
  EXPECT_THAT(second, Not(HasSubstr("<script>alert(1)")));
}

TEST_F(DashboardTest, NoPageLetsATextOfAStrangerBecomeMarkup) {
  const std::string evil_key = PercentEncode(std::string("seed1/") + kEvil);
  const std::vector<std::string> pages = {"/",
                                          "/runs?q=" + PercentEncode(kEvil),
                                          "/runs?task=" + PercentEncode(run_.task),
                                          "/suites",
                                          "/suites/" + PercentEncode(std::string("suite ") + kEvil),
                                          "/leaderboard?q=gru",
                                          "/devices",
                                          "/tasks/" + PercentEncode(run_.task),
                                          "/runs/R1",
                                          "/runs/R1/candidates/seed0",
                                          "/runs/R1/candidates/" + evil_key,
                                          "/compare?run=R1",
                                          "/runs/R1/report",
                                          "/runs/R1/explain",
                                          "/runs/R1/explain?lang=zh",
                                          "/compare?run=R1:seed0,R1:seed0",
                                          "/compare?run=" + PercentEncode(kEvil),
                                          "/runs/" + PercentEncode(kEvil),
                                          "/" + PercentEncode(kEvil)};
  for (const std::string& page : pages) {
    const HttpReply reply = Get(page);
    EXPECT_LT(reply.status, 500) << page << reply.body.substr(0, 300);
    EXPECT_THAT(reply.body, Not(HasSubstr("<script>alert"))) << page;
    EXPECT_THAT(reply.body, Not(HasSubstr("<img"))) << page;
    EXPECT_THAT(reply.body, Not(HasSubstr("\" onload=\""))) << page;
    EXPECT_THAT(reply.body, Not(HasSubstr("\x1b"))) << page;
    EXPECT_EQ(reply.body, ValidUtf8(reply.body)) << page;
  }
}

TEST_F(DashboardTest, PagesShowWhatIsInTheStore) {
  EXPECT_THAT(Get("/").body, HasSubstr("2.50x"));
  EXPECT_THAT(Get("/runs/R1").body, HasSubstr("500 of 1000"));
  EXPECT_THAT(Get("/runs/R1").body, HasSubstr("data-key=\"seed0\""));
  EXPECT_THAT(Get("/runs/R1/candidates/seed0").body, HasSubstr("line one"));
  EXPECT_THAT(Get("/runs/R1/candidates/" + PercentEncode(std::string("seed1/") + kEvil)).body,
              HasSubstr("What changed from its parent"));
  EXPECT_THAT(Get("/tasks/" + PercentEncode(run_.task)).body, HasSubstr("blind"));
  EXPECT_THAT(Get("/metrics").body, HasSubstr("hone_runs{status=\"done\"} 1"));
  EXPECT_THAT(Get("/leaderboard").body, HasSubstr("2.00x")) << "the lower end";
  EXPECT_THAT(Get("/tasks/" + PercentEncode(run_.task)).body, HasSubstr("plot-history"));
  EXPECT_THAT(Get("/suites/" + PercentEncode(std::string("suite ") + kEvil)).body, HasSubstr("plot-suite"));
  EXPECT_THAT(Get("/assets/hone.css").body, HasSubstr("svg.plot"));
  EXPECT_EQ(Get("/assets/hone.js").content_type, "text/javascript; charset=utf-8");
}

TEST_F(DashboardTest, TokensAreShownAsTheyWereBilledWhereTheRecordHasTheParts) {
  EXPECT_THAT(Get("/runs/R1").body, Not(HasSubstr("of these")));
  CallRecord call;
  call.run_id = run_.id;
  call.key = "seed0";
  call.status = "answered";
  call.prompt_tokens = 5000;
  call.completion_tokens = 900;
  call.cached_tokens = 4000;
  call.cached_usd = 0.002;
  call.reasoning_tokens = 700;
  call.reasoning_usd = 0.0175;
  call.cost_usd = 0.03;
  call.price_known = true;
  ASSERT_TRUE(store_->SaveCall(call).ok());
  for (const char* page : {"/runs/R1", "/runs/R1/candidates/seed0"}) {
    EXPECT_THAT(Get(page).body, HasSubstr("of these 4,000 cached ($0.0020), 700 reasoning ($0.0175)"))
        << page;
    EXPECT_THAT(Get(page).body, Not(HasSubstr("cache writes"))) << page;
  }
}

TEST_F(DashboardTest, ARunThatGoesOnHasItsEventsAndOneThatIsOverHasNot) {
  EXPECT_THAT(Get("/runs/R1").body, Not(HasSubstr("data-events")));
  const HttpReply events = Get("/runs/R1/events?after=12");
  ASSERT_TRUE(events.events.has_value());
  EXPECT_EQ(events.events->run_id, 1);
  EXPECT_EQ(events.events->after_console_id, 12);
  EXPECT_EQ(Get("/runs/R99/events").status, 404);
}

TEST_F(DashboardTest, WhatIsNotThereIsNotFound) {
  for (const char* page :
       {"/nothing", "/runs/R99", "/runs/R", "/runs/1", "/runs/R1x", "/runs/last", "/runs/R1/candidates/none",
        "/runs/R1/none", "/suites/none", "/tasks/none", "/assets/../page.h", "/assets/none", "/api/none",
        "/api/runs/R99", "/compare?run=R99"})
    EXPECT_EQ(Get(page).status, 404) << page;
  EXPECT_EQ(Get("/compare?run=R1&run=R2&run=R3&run=R4&run=R5&run=R6&run=R7").status, 400);
  EXPECT_EQ(Get("/runs?page=99999999999999999999&sort=none").status, 200);
}

TEST_F(DashboardTest, TheApiGivesTheSameAsJson) {
  for (const char* path : {"/api/runs", "/api/runs/R1", "/api/runs/R1/candidates/seed0", "/api/suites",
                           "/api/tasks", "/api/devices"}) {
    const HttpReply reply = Get(path);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_EQ(reply.content_type, "application/json");
    EXPECT_TRUE(ParseJson(reply.body).ok()) << path;
  }
  const Json run = *ParseJson(Get("/api/runs/R1").body);
  EXPECT_EQ(run["candidates"].size(), 2u);
  EXPECT_FALSE(GetString(run["candidates"][0], "created").empty());
  EXPECT_EQ(run["usage"]["prompt_tokens"], 500);
}

TEST_F(DashboardTest, ActionsAreRefusedUnlessAllowedAndNeverDoneByGet) {
  HttpRequest request;
  request.method = "POST";
  request.host = "127.0.0.1";
  request.path = "/runs/R1/stop";
  request.content_type = "application/x-www-form-urlencoded";
  EXPECT_EQ(Dashboard(path(), RulesFor("127.0.0.1", {}, false)).Handle(request).status, 403);
  const AccessRules rules = RulesFor("127.0.0.1", {}, true);
  EXPECT_EQ(Dashboard(path(), rules).Handle(request).status, 403);
  request.body = "csrf=" + rules.csrf;
  EXPECT_EQ(Dashboard(path(), rules).Handle(request).status, 503) << "nobody works on the run";
  request.content_type = "text/plain";
  EXPECT_EQ(Dashboard(path(), rules).Handle(request).status, 400);
  request.path = "/runs/R1";
  EXPECT_EQ(Dashboard(path(), rules).Handle(request).status, 405);
  EXPECT_EQ(Get("/runs/R1/stop", true).status, 404);
  EXPECT_EQ(Get("/actions/start", true).status, 404);
  EXPECT_THAT(Get("/runs").body, Not(HasSubstr("Start a run")));
  EXPECT_THAT(Get("/runs", true).body, HasSubstr("Start a run"));
}

TEST_F(DashboardTest, TheBestFileIsSentToBeSaved) {
  const HttpReply reply = Get("/runs/R1/best.py");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "text/x-python; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("line one"));
  ASSERT_EQ(reply.headers.size(), 1u);
  EXPECT_EQ(reply.headers[0].second, "attachment; filename=\"best.py\"");
  const HttpReply source =
      Get("/runs/R1/candidates/" + PercentEncode(std::string("seed1/") + kEvil) + "?download=1");
  EXPECT_THAT(source.headers[0].second, testing::MatchesRegex("attachment; filename=\"[A-Za-z0-9._-]+\""));
}

TEST_F(DashboardTest, ARunThatFailedOrHasNoRightCandidateIsNowhereShownAsPyTorchKept) {
  const std::string suite = "/suites/" + PercentEncode(std::string("suite ") + kEvil);
  struct Row {
    const char *task, *status, *words, *explained, *counted;
  };
  for (const Row& row : {Row{"broken", "failed", "failed", "failed", "over 1 of 2 tasks"},
                         Row{"wrong", "done", "none right", "o candidate", "over 2 of 3 tasks"}}) {
    RunRecord run = run_;
    run.name = run.task = row.task;
    run.status = row.status;
    run.best_key = "";
    run.outcome = "this is why";
    run.id = *store_->AddRun(run);
    if (run.status == "done") {
      CandidateRecord wrong;
      wrong.run_id = run.id;
      wrong.key = "seed0";
      wrong.phase = "seed";
      wrong.source = "x = 1\n";
      wrong.verdict = "rejected";
      wrong.reason = "wrong-output";
      ASSERT_TRUE(store_->SaveCandidate(wrong).ok());
      ASSERT_EQ(*store_->UpdateRun(run), kNoneRight);
    }
    const std::string task = row.task, page_of = fmt::format("/runs/R{}", run.id);
    for (const std::string& page : {"/runs?task=" + task, page_of, "/tasks/" + task, "/leaderboard?q=" + task,
                                    page_of + "/explain", page_of + "/report", suite}) {
      const HttpReply reply = Get(page);
      EXPECT_EQ(reply.status, 200) << page;
      EXPECT_THAT(reply.body, HasSubstr(page == page_of + "/explain" ? row.explained : row.words)) << page;
      EXPECT_THAT(reply.body, Not(HasSubstr("PyTorch kept"))) << page;
      EXPECT_THAT(reply.body, Not(HasSubstr("Keep PyTorch"))) << page;
    }
    EXPECT_EQ(Get(page_of + "/best.py").status, 404);
    EXPECT_THAT(Get(suite).body, HasSubstr(row.counted));
  }
}

TEST_F(DashboardTest, ASuiteInWhichNoTaskCountsHasNoMean) {
  RunRecord failed = run_;
  failed.name = failed.task = "broken";
  failed.status = "failed";
  failed.best_key = "";
  failed.suite_id = *store_->AddSuite({0, "nothing", "2026-02-01T00:00:00Z", "{}"});
  failed.id = *store_->AddRun(failed);
  const std::string page = Get("/suites/nothing").body;
  EXPECT_THAT(page, HasSubstr("<dt>Geometric mean</dt><dd>-<small>no task counts in the mean</small>"));
  EXPECT_THAT(page, HasSubstr("1 failed"));
  EXPECT_THAT(page, Not(HasSubstr("1.00x")));
  EXPECT_THAT(Get("/suites").body,
              HasSubstr("<td data-label=\"Geometric mean\" class=\"number\"><strong>-</strong>"));
  const Json suites = *ParseJson(Get("/api/suites").body);
  EXPECT_TRUE(suites["suites"][0]["geomean_vs_best"].is_null());
  EXPECT_TRUE(suites["suites"][0]["geomean_vs_best_without_degenerate"].is_null());
  EXPECT_TRUE((*ParseJson(Get("/api/suites/nothing").body))["geomean_vs_best"].is_null());
}

TEST_F(DashboardTest, TheLeaderboardDoesNotRankTasksAgainstEachOther) {
  const auto add = [&](const std::string& task, double speed) {
    RunRecord run = run_;
    run.name = run.task = task;
    run.device = "a device";
    run.id = run_.id = *store_->AddRun(run);
    Judge("seed0", "", "accepted", speed);
  };
  add("10_fast", 9);
  add("2_slow", 2);
  const std::string body = Get("/leaderboard?q=device").body;
  EXPECT_THAT(body, Not(HasSubstr("rank\">")));
  EXPECT_THAT(body, Not(HasSubstr(">#<")));
  ASSERT_THAT(body, HasSubstr("10_fast"));
  EXPECT_LT(body.find("2_slow"), body.find("10_fast")) << "by number and name, not by speed";
}

TEST_F(DashboardTest, TagsAndNotesAreSavedByTheOwnFormOnly) {
  const AccessRules rules = RulesFor("127.0.0.1", {}, false);
  Dashboard dashboard(path(), rules);
  HttpRequest request;
  request.method = "POST";
  request.host = "127.0.0.1";
  request.path = "/runs/R1/note";
  request.content_type = "application/x-www-form-urlencoded";
  request.body = "text=hello&tags=a+b";
  EXPECT_EQ(dashboard.Handle(request).status, 403);
  EXPECT_TRUE(ReadRunNote(*store_, 1)->empty());
  request.body = FormText({{"csrf", rules.csrf}, {"tags", "b a"}, {"text", "one\r\ntwo"}});
  EXPECT_EQ(dashboard.Handle(request).status, 303);
  EXPECT_EQ(ReadRunNote(*store_, 1)->text, "one\ntwo");
  EXPECT_THAT(ReadRunNote(*store_, 1)->tags, testing::ElementsAre("a", "b"));
  EXPECT_THAT(Get("/runs/R1").body, HasSubstr("one\ntwo"));
  EXPECT_THAT(Get("/runs?tag=a").body, HasSubstr("data-row=\"/runs/R1\""));
  EXPECT_THAT(Get("/runs?tag=c").body, Not(HasSubstr("data-row=\"/runs/R1\"")));
  EXPECT_THAT(Get("/api/runs/R1").body, HasSubstr("\"note\": \"one\\ntwo\""));
  request.body = FormText({{"csrf", rules.csrf}, {"tags", "<script>"}});
  EXPECT_EQ(dashboard.Handle(request).status, 400);
  request.path = "/runs/R99/note";
  EXPECT_EQ(dashboard.Handle(request).status, 404);
}

TEST_F(DashboardTest, OtherMethodsAreNotUnderstood) {
  HttpRequest request;
  request.host = "127.0.0.1";
  for (const char* method : {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}) {
    request.method = method;
    EXPECT_EQ(Dashboard(path(), RulesFor("127.0.0.1", {}, true)).Handle(request).status, 405) << method;
  }
}

TEST_F(DashboardTest, ABrowserThatHasAFileIsNotSentItAgain) {
  HttpRequest request;
  request.host = "127.0.0.1";
  request.path = "/assets/hone.js";
  Dashboard dashboard(path(), RulesFor("127.0.0.1", {}, false));
  const HttpReply first = dashboard.Handle(request);
  for (const auto& [name, value] : first.headers)
    if (name == "ETag") request.if_none_match = value;
  ASSERT_FALSE(request.if_none_match.empty());
  EXPECT_EQ(dashboard.Handle(request).status, 304);
}

TEST_F(DashboardTest, ASuiteOnAClusterShowsNodesQueueAndProgress) {
  const Json options = {{"on", "ray:10.0.0.1:6379"},
                        {"folder", folder_.path().string()},
                        {"tasks", Json::array({"a", "b", "c"})}};
  ASSERT_TRUE(store_->AddSuite({0, "far", "2026-02-01T00:00:00Z", DumpJson(options)}).ok());
  EXPECT_THAT(Get("/suites/far").body,
              Not(HasSubstr("id=\"cluster\"")));  // the driver has not written the file yet
  const auto write = [&](const Json& progress) {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "progress.json", DumpJson(progress)).ok());
  };
  Json progress = {{"state", "running"},
                   {"host", kEvil},
                   {"pid", 7},
                   {"total", 3},
                   {"done", 1},
                   {"running", 1},
                   {"queued", 1},
                   {"updated", 4e9},
                   {"nodes", Json::array({{{"host", kEvil},
                                           {"id", "abc"},
                                           {"alive", true},
                                           {"used", true},
                                           {"places", 8},
                                           {"running", Json::array({kEvil, 5})},
                                           {"done", 1}},
                                          "no node"})},
                   {"faults", Json::array({{{"task", "b"}, {"why", kEvil}, {"attempt", 1}}})}};
  write(progress);
  const std::string page = Get("/suites/far").body;
  EXPECT_THAT(page, HasSubstr("Running. 1 of 3 tasks are done, 1 running, 1 waiting"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("3 tasks have no result yet: a, b and c"));
  const Json api = *ParseJson(Get("/api/suites/far").body);
  EXPECT_EQ(api["cluster"]["nodes"].size(), 1u);
  EXPECT_EQ(api["cluster"]["nodes"][0]["places"], 8);
  progress["updated"] = 1;
  write(progress);
  EXPECT_THAT(Get("/suites/far").body, HasSubstr("if it died, continue with: hone resume far"));
  write("nothing that a driver writes");
  EXPECT_THAT(Get("/suites/far").body, Not(HasSubstr("id=\"cluster\"")));
}

}  // namespace
}  // namespace hone
