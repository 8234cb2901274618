// All pages and API endpoints: functions from a store and a request to a reply.
#pragma once

#include <string>

#include "dashboard/access.h"
#include "dashboard/http_message.h"
#include "dashboard/live_hub.h"
#include "dashboard/page.h"
#include "store/run_store.h"

namespace hone {

// The inputs of a page.
struct PageContext {
  RunStore& store;
  const HttpRequest& request;
  const AccessRules& rules;
};

HttpReply RunsPage(const PageContext& page);
HttpReply SuitesPage(const PageContext& page);
HttpReply SuitePage(const PageContext& page, const std::string& name);
HttpReply RunPage(const PageContext& page, const std::string& id);
// The run's best.py as a download.
HttpReply BestFileReply(const PageContext& page, const std::string& id);
// The output of `hone report RUN --html`.
HttpReply RunReportPage(const PageContext& page, const std::string& id);
HttpReply CandidatePage(const PageContext& page, const std::string& id, const std::string& key);
HttpReply ComparePage(const PageContext& page);
HttpReply CompareJson(const PageContext& page);
HttpReply ExplainPage(const PageContext& page, const std::string& id);
HttpReply ExplainJson(const PageContext& page, const std::string& id);
HttpReply LeaderboardPage(const PageContext& page);
// The leaderboard's entries for one task, or for all if `task` is empty.
Result<OrderedJson> LeaderboardJson(const PageContext& page, const std::string& task);
HttpReply TaskPage(const PageContext& page, const std::string& task);
HttpReply DevicesPage(const PageContext& page);

// `path` has no "/api".
HttpReply Api(const PageContext& page, const std::string& path);

// The fragments of a run page that change during the run.
LiveRenderer RunRenderer();

// Accepts "R12" and nothing else, so that each run has one URL.
Result<RunRecord> FindRunById(RunStore& store, const std::string& id);

}  // namespace hone
