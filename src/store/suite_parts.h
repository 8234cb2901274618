// The parts of a suite whose runs come from several machines: the tasks in order, and the number of shards. A
// plain suite needs no parts: the store has all its runs from the start.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "store/records.h"

namespace hone {

struct SuiteParts {
  std::vector<std::string> tasks;  // distinct names; empty for a plain suite
  std::string sha256;              // hash of the names and texts of all tasks
  int shards = 0;                  // 0 if the suite is not divided
};

SuiteParts PartsOf(const SuiteRecord& suite);
// Adds the parts to the suite's options.
void AddParts(const SuiteParts& parts, Json* options);

// Tasks are distributed round-robin, so that neighbours, which often take equally long, go to different
// shards. Shards count from 1.
inline int ShardOf(size_t task, int shards) {
  return static_cast<int>(task % static_cast<size_t>(shards)) + 1;
}
// Parses "3/16". The Error says what form is expected.
struct ShardChoice {
  int shard = 0;
  int shards = 0;
};
Result<ShardChoice> ParseShard(const std::string& text);

struct MissingParts {
  std::vector<std::string> tasks;  // tasks without a run here
  std::vector<int> shards;         // shards of which no task has a run here
  bool any() const { return !tasks.empty(); }
};
MissingParts FindMissing(const SuiteParts& parts, const std::set<std::string>& tasks_here);

}  // namespace hone
