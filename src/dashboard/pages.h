// Every page and every endpoint of the API: a store and a request in, a reply out.
#pragma once

#include <string>

#include "dashboard/access.h"
#include "dashboard/http_message.h"
#include "dashboard/live_hub.h"
#include "dashboard/page.h"
#include "store/run_store.h"

namespace hone {

// What a page is made from.
struct PageContext {
  RunStore& store;
  const HttpRequest& request;
  const AccessRules& rules;
};

HttpReply RunsPage(const PageContext& page);
HttpReply SuitesPage(const PageContext& page);
HttpReply SuitePage(const PageContext& page, const std::string& name);
HttpReply RunPage(const PageContext& page, const std::string& id);
// best.py of the run, as a file to save.
HttpReply BestFileReply(const PageContext& page, const std::string& id);
// What `hone report RUN --html` writes.
HttpReply RunReportPage(const PageContext& page, const std::string& id);
HttpReply CandidatePage(const PageContext& page, const std::string& id, const std::string& key);
HttpReply ComparePage(const PageContext& page);
HttpReply CompareJson(const PageContext& page);
HttpReply ExplainPage(const PageContext& page, const std::string& id);
HttpReply ExplainJson(const PageContext& page, const std::string& id);
HttpReply LeaderboardPage(const PageContext& page);
// The leaderboard's entries, of one task or (empty) of all.
Result<OrderedJson> LeaderboardJson(const PageContext& page, const std::string& task);
HttpReply TaskPage(const PageContext& page, const std::string& task);
HttpReply DevicesPage(const PageContext& page);

// `path` without "/api".
HttpReply Api(const PageContext& page, const std::string& path);

// The fragments of a run page that change while it runs.
LiveRenderer RunRenderer();

// "R12" and nothing else, so that addresses are what they look like.
Result<RunRecord> FindRunById(RunStore& store, const std::string& id);

}  // namespace hone
