// Live pages. One thread reads every run that has viewers, renders each change once, and sends the same bytes
// to all viewers, so that fifty viewers cost the store no more than one. A viewer first gets the current
// state and then the changes. Applying an event twice is harmless, which makes reconnecting simple.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "dashboard/http_message.h"
#include "store/run_follower.h"

namespace hone {

// A client that follows a run. Called from the hub's thread.
class LiveViewer {
 public:
  virtual ~LiveViewer() = default;
  virtual void Send(std::shared_ptr<const std::string> bytes) = 0;
  // No more events follow.
  virtual void Finish() = 0;
  virtual bool gone() const = 0;
};

// The hub's copy of a run.
struct LiveRun {
  RunRecord run;
  bool abandoned = false;
  std::string options;
  UsageTotals usage;
  std::vector<CandidateRecord> candidates;  // summaries, in the order of the run
  std::vector<CallRecord> calls;            // summaries, in the order of the run
};

// The HTML fragments that the hub sends. pages.h declares the functions that make them.
struct LiveRenderer {
  std::function<std::string(const LiveRun&)> summary;
  std::function<std::string(const LiveRun&)> plot;
  std::function<std::string(const LiveRun&, const CandidateRecord&)> row;
};

class LiveHub {
 public:
  LiveHub(fs::path store, LiveRenderer renderer, double every_s = 0.3, double beat_s = 15);
  ~LiveHub();

  void Watch(const EventSubscription& what, std::shared_ptr<LiveViewer> viewer);
  size_t viewers() const;

 private:
  struct Channel;
  void Loop();
  // Returns false if the store cannot be read.
  bool LookAt(Channel& channel);
  void Welcome(Channel& channel);
  void Tell(Channel& channel, const std::string& text);

  const fs::path store_path_;
  const LiveRenderer renderer_;
  const double every_s_;
  const double beat_s_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::vector<std::pair<EventSubscription, std::shared_ptr<LiveViewer>>> arrivals_;
  size_t viewers_ = 0;
  std::map<int64_t, std::unique_ptr<Channel>> channels_;  // used by the hub's thread only
  std::thread thread_;
};

}  // namespace hone
