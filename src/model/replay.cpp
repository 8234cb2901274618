#include "model/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"
#include "model/replies.h"
#include "model/usage.h"

namespace hone {

namespace {

constexpr size_t kMaxFile = 16u << 20;

struct Recording {
  int64_t number = 0;
  std::string file;
  std::string call_type;
  std::string key;
  ModelReply reply;
  bool usage_recorded = false;
  bool used = false;
};

Error Bad(const fs::path& folder, const std::string& what) {
  return Error{ErrorKind::kInvalid, fmt::format("the recording {}: {}", folder.string(), what)};
}

// Parses "007_seed.txt" as 7 and "seed". No value for files that are not replies.
std::optional<std::pair<int64_t, std::string>> ParseName(const std::string& name) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (code != std::errc() || end == name.data() || *end != '_' || !EndsWith(name, ".txt"))
    return std::nullopt;
  const size_t begin = static_cast<size_t>(end - name.data()) + 1;
  return std::pair(number, name.substr(begin, name.size() - begin - 4));
}

class Replay : public Model {
 public:
  Replay(fs::path folder, std::vector<Recording> recordings)
      : folder_(std::move(folder)), recordings_(std::move(recordings)) {}

  std::string name() const override { return "replay:" + folder_.string(); }
  bool order_matters() const override {
    return std::any_of(recordings_.begin(), recordings_.end(),
                       [](const Recording& r) { return r.key.empty(); });
  }

  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    ModelReply reply;
    if (Interrupted()) {
      reply.failure = ModelFailure::kInterrupted;
      reply.message = "interrupted";
      return reply;
    }
    if (request.only_as_recorded && !Has(request.call_type, request.key)) {
      reply.failure = ModelFailure::kNotOnRecord;
      reply.message = "the recording has no reply to " + request.key;
      return reply;
    }
    Recording* found = Take(request.call_type, request.key);
    if (found == nullptr) {
      reply.failure = ModelFailure::kExhausted;
      reply.message = Exhausted(request.call_type);
      return reply;
    }
    // After opening, only the mark of use changes, so the reply is read without the lock.
    reply = found->reply;
    if (!found->usage_recorded) {
      reply.usage.prompt_tokens = EstimateTokens(request.system) + EstimateTokens(request.prompt);
      reply.usage.completion_tokens = EstimateTokens(reply.text) + EstimateTokens(reply.thinking);
      reply.usage.estimated = true;
      reply.usage.price_known = true;
    }
    if (progress.tokens) progress.tokens(reply.usage.completion_tokens);
    return reply;
  }

  // Returns the replies recorded for this call, or the next ones of a recording without keys. Does not use
  // replies of other calls.
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override {
    std::vector<ModelReply> replies = {Ask(request, progress)};
    for (int number = 2; number <= n && replies[0].ok(); ++number) {
      ModelRequest further = request;
      further.key = ReplyKey(request.key, number);
      if (!Has(further.call_type, further.key)) continue;
      replies.push_back(Ask(further, {}));
      // An estimate counts the prompt, which was sent once.
      if (replies.back().usage.estimated) replies.back().usage.prompt_tokens = 0;
    }
    return MergeReplies(std::move(replies));
  }

  void MarkAnswered(const std::string& call_type, const std::string& key) override { Take(call_type, key); }

 private:
  Recording* Take(const std::string& call_type, const std::string& key) {
    std::lock_guard lock(mutex_);
    Recording* best = nullptr;
    int best_rank = 0;
    for (Recording& each : recordings_) {
      if (each.used || each.call_type != call_type) continue;
      const int rank = !key.empty() && each.key == key ? 3 : each.key.empty() ? 2 : 1;
      if (rank > best_rank) {
        best = &each;
        best_rank = rank;
      }
    }
    if (best != nullptr) best->used = true;
    return best;
  }

  bool Has(const std::string& call_type, const std::string& key) {
    const std::lock_guard lock(mutex_);
    return std::any_of(recordings_.begin(), recordings_.end(), [&](const Recording& each) {
      return !each.used && each.call_type == call_type && (each.key.empty() || each.key == key);
    });
  }

  std::string Exhausted(const std::string& call_type) const {
    const auto count = std::count_if(recordings_.begin(), recordings_.end(),
                                     [&](const Recording& each) { return each.call_type == call_type; });
    if (count == 0)
      return fmt::format("the recording {} has no reply to a {} call", folder_.string(), call_type);
    return fmt::format("the recording {} has {} {} to {} calls and all are used", folder_.string(), count,
                       count == 1 ? "reply" : "replies", call_type);
  }

  const fs::path folder_;
  std::mutex mutex_;
  std::vector<Recording> recordings_;
};

Result<std::vector<Recording>> ReadFolder(const fs::path& folder) {
  std::vector<Recording> recordings;
  std::error_code code;
  for (fs::directory_iterator each(folder, code), end; !code && each != end; each.increment(code)) {
    const std::string name = each->path().filename().string();
    const auto parsed = ParseName(name);
    if (!parsed) continue;
    const std::vector<std::string>& known = CallTypes();
    if (std::find(known.begin(), known.end(), parsed->second) == known.end()) {
      const std::string near = ClosestWord(parsed->second, known);
      return Bad(folder, fmt::format("{} names no call type{}; there are {}", name,
                                     near.empty() ? "" : " (did you mean " + near + "?)", Join(known, ", ")));
    }
    Recording recording;
    recording.number = parsed->first;
    recording.file = name;
    recording.call_type = parsed->second;
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(each->path(), kMaxFile));
    recording.reply.text = ValidUtf8(text);
    recording.reply.finish_reason = "stop";
    recording.reply.model = "replay";
    recordings.push_back(std::move(recording));
  }
  if (code) return Bad(folder, code.message());
  if (recordings.empty()) return Bad(folder, "no file in it is named like 001_seed.txt");
  std::sort(recordings.begin(), recordings.end(), [](const Recording& a, const Recording& b) {
    return std::pair(a.number, a.file) < std::pair(b.number, b.file);
  });
  return recordings;
}

Status ReadEntry(const fs::path& folder, const Json& entry, std::vector<Recording>& recordings) {
  const std::string file = GetString(entry, "file");
  const auto found = std::find_if(recordings.begin(), recordings.end(),
                                  [&](const Recording& each) { return each.file == file; });
  if (found == recordings.end()) return Bad(folder, "index.json names '" + file + "', which is not there");
  ModelReply& reply = found->reply;
  found->key = GetString(entry, "key");
  reply.model = GetString(entry, "model", reply.model);
  reply.finish_reason = GetString(entry, "finish_reason", reply.finish_reason);
  if (const std::string failure = GetString(entry, "failure"); !failure.empty()) {
    reply.failure = FailureFromName(failure);
    reply.message = GetString(entry, "message", "a recorded failure");
  }
  if (const std::string thinking = GetString(entry, "thinking_file"); !thinking.empty()) {
    if (Contains(thinking, "/")) return Bad(folder, "index.json: a thinking_file lies in the folder itself");
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / thinking, kMaxFile));
    reply.thinking = ValidUtf8(text);
  }
  const Json& usage = GetMember(entry, "usage");
  if (usage.is_object()) {
    found->usage_recorded = true;
    reply.usage = UsageFromJson(usage);
    // Playback costs nothing, whatever the recording cost.
    reply.usage.cost_usd = 0;
    reply.usage.price_known = true;
  }
  return Ok();
}

}  // namespace

Result<std::unique_ptr<Model>> OpenReplay(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return Error{ErrorKind::kNotFound, "there is no folder of recorded replies at " + folder.string()};
  HONE_ASSIGN_OR_RETURN(std::vector<Recording> recordings, ReadFolder(folder));
  if (fs::exists(folder / "index.json", ignored)) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "index.json", kMaxFile));
    Result<Json> index = ParseJson(ValidUtf8(text));
    if (!index.ok() || !GetMember(*index, "calls").is_array())
      return Bad(folder, "index.json is not an object with a list of calls");
    for (const Json& entry : GetMember(*index, "calls"))
      HONE_RETURN_IF_ERROR(ReadEntry(folder, entry, recordings));
  }
  return std::unique_ptr<Model>(std::make_unique<Replay>(folder, std::move(recordings)));
}

Result<ReplayWriter> ReplayWriter::Make(const fs::path& folder) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  std::error_code code;
  if (!fs::is_empty(folder, code) || code)
    return Error{ErrorKind::kUsage,
                 folder.string() + " is not an empty folder; name one that is, or a new one"};
  return ReplayWriter(folder);
}

Status ReplayWriter::Add(const RecordedCall& call) {
  const std::string stem = fmt::format("{:03}_{}", entries_.size() + 1, call.call_type);
  const ModelReply& reply = call.reply;
  OrderedJson entry = {{"file", stem + ".txt"}, {"call_type", call.call_type}, {"key", call.key}};
  entry["model"] = reply.model;
  entry["finish_reason"] = reply.finish_reason;
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder_ / (stem + ".txt"), reply.text));
  if (!reply.thinking.empty()) {
    entry["thinking_file"] = stem + ".thinking";
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder_ / (stem + ".thinking"), reply.thinking));
  }
  entry["usage"] = ToJson(reply.usage);
  if (!reply.ok()) {
    entry["failure"] = FailureName(reply.failure);
    entry["message"] = reply.message;
  }
  entries_.push_back(DumpJson(entry));
  return Ok();
}

Status ReplayWriter::Finish() {
  return WriteFileAtomic(folder_ / "index.json",
                         "{\"version\": 1, \"calls\": [\n" + Join(entries_, ",\n") + "\n]}\n");
}

Status WriteReplay(const fs::path& folder, const std::vector<RecordedCall>& calls) {
  HONE_ASSIGN_OR_RETURN(ReplayWriter writer, ReplayWriter::Make(folder));
  for (const RecordedCall& call : calls) HONE_RETURN_IF_ERROR(writer.Add(call));
  return writer.Finish();
}

}  // namespace hone
