#include "dashboard/live_hub.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "base/clock.h"
#include "base/json.h"
#include "dashboard/sse.h"
#include "pipeline/run_lock.h"

namespace hone {

namespace {

constexpr size_t kConsoleKept = 1000;
// How often a run in state "running" is checked for a live process.
constexpr double kAbandonedEvery_s = 2;
// Plots are by far the largest events, so several verdicts within a short time share one.
constexpr double kPlotEvery_s = 1.5;

using ConsoleLines = std::deque<std::pair<int64_t, std::string>>;

std::string ConsoleEvent(ConsoleLines::const_iterator begin, ConsoleLines::const_iterator end) {
  Json lines = Json::array();
  for (auto line = begin; line != end; ++line) lines.push_back({line->first, line->second});
  return SseEvent("console", DumpJson(lines), std::prev(end)->first);
}

std::string HtmlEvent(const char* name, const std::string& html) {
  return SseEvent(name, DumpJson(Json{{"html", html}}));
}

std::string RowEvent(const CandidateRecord& one, const std::string& html) {
  return SseEvent("candidate", DumpJson(Json{{"key", one.key}, {"html", html}}));
}

}  // namespace

struct LiveHub::Channel {
  struct Viewer {
    std::shared_ptr<LiveViewer> viewer;
    int64_t after = 0;
    bool welcomed = false;
  };

  std::unique_ptr<RunStore> store;
  std::unique_ptr<RunFollower> follower;
  LiveRun live;
  ConsoleLines console;
  std::vector<Viewer> viewers;
  Stopwatch since_beat;
  Stopwatch since_lock_check;
  Stopwatch since_plot;
  bool plot_due = false;

  bool over() const { return live.abandoned || live.run.status != "running"; }
};

LiveHub::LiveHub(fs::path store, LiveRenderer renderer, double every_s, double beat_s)
    : store_path_(std::move(store)),
      renderer_(std::move(renderer)),
      every_s_(every_s),
      beat_s_(beat_s),
      thread_([this] { Loop(); }) {}

LiveHub::~LiveHub() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LiveHub::Watch(const EventSubscription& what, std::shared_ptr<LiveViewer> viewer) {
  {
    const std::scoped_lock lock(mutex_);
    arrivals_.emplace_back(what, std::move(viewer));
  }
  wake_.notify_all();
}

size_t LiveHub::viewers() const {
  const std::scoped_lock lock(mutex_);
  return viewers_ + arrivals_.size();
}

void LiveHub::Tell(Channel& channel, const std::string& text) {
  if (text.empty()) return;
  const auto bytes = std::make_shared<const std::string>(text);
  for (Channel::Viewer& each : channel.viewers)
    if (each.welcomed) each.viewer->Send(bytes);
}

void LiveHub::Welcome(Channel& channel) {
  std::string now;
  for (Channel::Viewer& each : channel.viewers) {
    if (each.welcomed) continue;
    if (now.empty()) {
      now = "retry: 2000\n\n" + HtmlEvent("summary", renderer_.summary(channel.live)) +
            HtmlEvent("plot", renderer_.plot(channel.live));
      for (const CandidateRecord& one : channel.live.candidates)
        now += RowEvent(one, renderer_.row(channel.live, one));
    }
    std::string text = now;
    const auto first = std::find_if(channel.console.begin(), channel.console.end(),
                                    [&](const auto& line) { return line.first > each.after; });
    if (first != channel.console.end()) text += ConsoleEvent(first, channel.console.end());
    each.viewer->Send(std::make_shared<const std::string>(std::move(text)));
    each.welcomed = true;
  }
}

bool LiveHub::LookAt(Channel& channel) {
  Result<RunNews> looked = channel.follower->Look();
  if (!looked.ok()) return false;
  RunNews& news = *looked;
  LiveRun& live = channel.live;
  if (news.run) live.run = std::move(*news.run);
  if (news.usage) {
    live.usage = *news.usage;
    live.calls = std::move(news.calls);
  }
  bool lock_changed = false;
  if (live.run.status != "running") {
    live.abandoned = false;
  } else if (channel.since_lock_check.seconds() > kAbandonedEvery_s) {
    channel.since_lock_check = Stopwatch();
    const bool abandoned = IsAbandoned(live.run);
    lock_changed = abandoned != live.abandoned;
    live.abandoned = abandoned;
  }
  for (const CandidateRecord& one : news.candidates) {
    const auto known = std::find_if(live.candidates.begin(), live.candidates.end(),
                                    [&](const CandidateRecord& each) { return each.key == one.key; });
    if (known == live.candidates.end())
      live.candidates.push_back(one);
    else
      *known = one;
  }
  std::string text;
  if (news.run || news.usage || !news.candidates.empty() || lock_changed)
    text += HtmlEvent("summary", renderer_.summary(live));
  for (const CandidateRecord& one : news.candidates) text += RowEvent(one, renderer_.row(live, one));
  channel.plot_due = channel.plot_due || !news.candidates.empty() || news.usage;
  if (channel.plot_due && (channel.over() || channel.since_plot.seconds() > kPlotEvery_s)) {
    channel.plot_due = false;
    channel.since_plot = Stopwatch();
    text += HtmlEvent("plot", renderer_.plot(live));
  }
  if (!news.console.empty()) {
    const size_t before = channel.console.size();
    channel.console.insert(channel.console.end(), news.console.begin(), news.console.end());
    text += ConsoleEvent(channel.console.begin() + static_cast<long>(before), channel.console.end());
    while (channel.console.size() > kConsoleKept) channel.console.pop_front();
  }
  Tell(channel, text);
  Welcome(channel);
  // If the lock was just found free, the run may have ended since it was read. The next look shows that.
  if (channel.over() && news.empty() && !lock_changed) {
    // The run has ended and nothing is new, so viewers have all events.
    Tell(channel, SseEvent("end", DumpJson(Json{{"status", live.abandoned ? "killed" : live.run.status}})));
    for (Channel::Viewer& each : channel.viewers) each.viewer->Finish();
    channel.viewers.clear();
  } else if (channel.since_beat.seconds() > beat_s_) {
    channel.since_beat = Stopwatch();
    Tell(channel, SseBeat());
  }
  return true;
}

void LiveHub::Loop() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto ready = [&] { return stop_ || !arrivals_.empty(); };
    if (channels_.empty())
      wake_.wait(lock, ready);
    else
      wake_.wait_for(lock, std::chrono::duration<double>(every_s_), ready);
    if (stop_) break;
    auto arrivals = std::move(arrivals_);
    arrivals_.clear();
    lock.unlock();
    for (auto& [what, viewer] : arrivals) {
      std::unique_ptr<Channel>& channel = channels_[what.run_id];
      if (channel == nullptr) {
        channel = std::make_unique<Channel>();
        Result<std::unique_ptr<RunStore>> store = RunStore::OpenReadOnly(store_path_);
        if (store.ok()) {
          channel->store = std::move(*store);
          channel->follower = std::make_unique<RunFollower>(*channel->store, what.run_id);
          const Result<RunRecord> run = channel->store->FindRun("R" + std::to_string(what.run_id));
          if (run.ok()) {
            channel->live.options = run->options;
            channel->live.abandoned = IsAbandoned(*run);
          }
        }
      }
      channel->viewers.push_back({std::move(viewer), what.after_console_id, false});
    }
    for (auto& [id, channel] : channels_) {
      std::erase_if(channel->viewers, [](const Channel::Viewer& each) { return each.viewer->gone(); });
      if (channel->follower == nullptr || !LookAt(*channel)) {
        for (Channel::Viewer& each : channel->viewers) each.viewer->Finish();
        channel->viewers.clear();
      }
    }
    std::erase_if(channels_, [](const auto& each) { return each.second->viewers.empty(); });
    size_t viewers = 0;
    for (const auto& [id, channel] : channels_) viewers += channel->viewers.size();
    lock.lock();
    viewers_ = viewers;
  }
}

}  // namespace hone
