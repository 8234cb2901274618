// The dashboard as one function from request to reply: checks access, selects the page, reads the store.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "dashboard/access.h"
#include "dashboard/http_server.h"
#include "dashboard/live_hub.h"
#include "dashboard/run_actions.h"
#include "store/run_store.h"

namespace hone {

class Dashboard {
 public:
  Dashboard(fs::path store, AccessRules rules);

  // Thread-safe. Never throws: an exception becomes a reply with status 500.
  HttpReply Handle(const HttpRequest& request);
  RunActions& actions() { return actions_; }
  // The server's own counters, for /metrics.
  void CountWith(const HttpServer* server, const LiveHub* hub);

 private:
  HttpReply Route(const HttpRequest& request);
  HttpReply Get(RunStore& store, const HttpRequest& request);
  HttpReply Post(const HttpRequest& request);
  Status ChangeNote(const RunRecord& run, const std::vector<std::pair<std::string, std::string>>& form);
  HttpReply Events(RunStore& store, const HttpRequest& request, const std::string& id);
  Result<std::unique_ptr<RunStore>> TakeStore();

  const fs::path store_path_;
  const AccessRules rules_;
  RunActions actions_;
  const HttpServer* server_ = nullptr;
  const LiveHub* hub_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunStore>> idle_;
};

}  // namespace hone
