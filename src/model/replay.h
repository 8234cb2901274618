// Plays back recorded replies: a folder of text files NNN_<call type>.txt, in the order of their numbers
// within each call type. Hand-written files suffice. An optional index.json adds to each file the key of its
// call, usage, thinking, finish reason, or the failure that it represents.
//
//   index.json: {"version": 1, "calls": [{"file": "001_seed.txt", "call_type": "seed", "key": "...",
//     "model": "...", "finish_reason": "stop", "thinking_file": "001_seed.thinking",
//     "usage": {"prompt_tokens": n, "completion_tokens": n, "estimated": false, "cost_usd": x,
//     "price_known": true}, "failure": "bad_reply", "message": "..."}]}   all but "file" may be missing
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/model.h"

namespace hone {

// Reads all files at once. A file without a call type, or an index entry without a file, is an error. A
// request takes the unused reply with its key, else the first unused one without a key, else the first unused
// one.
Result<std::unique_ptr<Model>> OpenReplay(const fs::path& folder);

struct RecordedCall {
  std::string call_type;
  std::string key;
  ModelReply reply;
};

// Writes a folder that OpenReplay plays back, with calls in the order of addition. The folder must be empty
// or missing. Finish writes index.json last.
class ReplayWriter {
 public:
  static Result<ReplayWriter> Make(const fs::path& folder);
  Status Add(const RecordedCall& call);
  Status Finish();

 private:
  explicit ReplayWriter(fs::path folder) : folder_(std::move(folder)) {}
  fs::path folder_;
  std::vector<std::string> entries_;  // JSON objects
};

Status WriteReplay(const fs::path& folder, const std::vector<RecordedCall>& calls);

}  // namespace hone
