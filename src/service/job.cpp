#include "service/job.h"

#include <array>

namespace hone {

namespace {

constexpr std::array<const char*, 5> kStateNames = {"queued", "running", "done", "failed", "cancelled"};

OrderedJson TextOrNull(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

}  // namespace

const char* NameOf(JobState state) {
  return kStateNames[static_cast<size_t>(state)];
}

JobState JobStateOf(const std::string& name) {
  for (size_t i = 0; i < kStateNames.size(); ++i)
    if (name == kStateNames[i]) return static_cast<JobState>(i);
  return JobState::kFailed;
}

bool IsActive(JobState state) {
  return state == JobState::kQueued || state == JobState::kRunning;
}

OrderedJson ToJson(const Job& job, bool whole, size_t position) {
  OrderedJson json;
  json["id"] = job.id;
  json["state"] = NameOf(job.state);
  json["task"] = job.task;
  json["position"] = position == 0 ? OrderedJson() : OrderedJson(position);
  json["attempts"] = job.attempts;
  json["created"] = job.created;
  json["started"] = TextOrNull(job.started);
  json["finished"] = TextOrNull(job.finished);
  json["options"] = job.options.is_object() ? OrderedJson(job.options) : OrderedJson::object();
  json["error"] =
      job.error.empty() ? OrderedJson() : OrderedJson{{"kind", job.error_kind}, {"message", job.error}};
  json["result"] = OrderedJson(job.result);
  if (whole) json["verdict"] = OrderedJson(job.verdict);
  return json;
}

}  // namespace hone
