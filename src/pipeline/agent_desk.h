// The connection from a coding agent to the judge of its run: a Unix socket in the agent's folder. A request
// and its answer are one line of JSON each. The request contains the file to judge, so that nothing in the
// agent's folder is opened here. The handler records verdicts; the agent cannot.
//
// The desk reads requests and sends answers. It does not interpret verdicts or budgets.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hone {

struct DeskRequest {
  std::string verb;    // "bench", "lint" or "history"
  std::string name;    // name of the file, for users
  std::string source;  // the whole file
  std::string parent;  // key of the parent candidate; may be empty
  std::string note;    // the agent's description; may be empty
};
// The Error says why the line is invalid.
Result<DeskRequest> ParseDeskRequest(std::string_view line);
Json ToJson(const DeskRequest& request);

inline constexpr size_t kMostCandidateBytes = 4u << 20;

class AgentDesk {
 public:
  // Called on a separate thread for every request. `still_there` returns false after the client has
  // disconnected.
  using Handler = std::function<Json(const DeskRequest& request, const std::function<bool()>& still_there)>;

  // Limit of requests that are answered or waiting; more are rejected.
  static constexpr int kMostWaiting = 8;
  // The time limit from a connection to the end of its request.
  static constexpr double kPatience_s = 20;

  static Result<std::unique_ptr<AgentDesk>> Open(const fs::path& folder, Handler handler);
  ~AgentDesk() { Close(); }
  AgentDesk(const AgentDesk&) = delete;
  AgentDesk& operator=(const AgentDesk&) = delete;

  // Accepts no more requests. Returns when all accepted ones are answered.
  void Close();

 private:
  AgentDesk(fs::path folder, UniqueFd listener, UniqueFd stop_read, UniqueFd stop_write, Handler handler);
  void Accept();
  void Serve(UniqueFd connection);

  const fs::path folder_;
  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  const Handler handler_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable answered_;
  int open_ = 0;  // number of connections
};

// The client: sends a request to a folder's desk and waits for the answer without a limit. Returns an Error
// if there is no desk, if it disconnects, or on Ctrl-C.
Result<Json> AskDesk(const fs::path& folder, const DeskRequest& request);

}  // namespace hone
