// The way from a coding agent to the judge of its run: a Unix socket in the agent's folder. A request is one
// line of JSON, and so is the answer. The file to judge travels inside the request, so that nothing of the
// agent's folder is ever opened here; verdicts are recorded by whoever handles the request, never by the
// agent.
//
// The desk reads requests and sends answers. It does not know what a verdict or a budget is.
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
  std::string name;    // of the file, for people
  std::string source;  // the whole file
  std::string parent;  // key of the candidate it was made from; may be empty
  std::string note;    // what the agent says about it; may be empty
};
// The Error says what is wrong with the line.
Result<DeskRequest> ParseDeskRequest(std::string_view line);
Json ToJson(const DeskRequest& request);

inline constexpr size_t kMostCandidateBytes = 4u << 20;

class AgentDesk {
 public:
  // Called on a thread of its own for every request. `still_there`: false once whoever asked has hung up.
  using Handler = std::function<Json(const DeskRequest& request, const std::function<bool()>& still_there)>;

  // Requests that are answered or wait at the same time; one more is turned away.
  static constexpr int kMostWaiting = 8;
  // The longest time between a connection and the end of its request.
  static constexpr double kPatience_s = 20;

  static Result<std::unique_ptr<AgentDesk>> Open(const fs::path& folder, Handler handler);
  ~AgentDesk() { Close(); }
  AgentDesk(const AgentDesk&) = delete;
  AgentDesk& operator=(const AgentDesk&) = delete;

  // No request is taken from now on; returns when those that were taken are answered.
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
  int open_ = 0;  // connections
};

// The other end: asks the desk of a folder and waits for the answer, however long it takes. An Error: there
// is no desk, it hung up, or Ctrl-C.
Result<Json> AskDesk(const fs::path& folder, const DeskRequest& request);

}  // namespace hone
