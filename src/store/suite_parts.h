// What a suite consists of where its runs arrive from several places: the tasks in their order, and the
// number of shards that they are dealt out to. A plain suite needs none of this: all of its runs are in the
// store from the beginning.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "store/records.h"

namespace hone {

struct SuiteParts {
  std::vector<std::string> tasks;  // names, each once; empty: a plain suite
  std::string sha256;              // of the names and the texts of all tasks
  int shards = 0;                  // 0: not divided
};

SuiteParts PartsOf(const SuiteRecord& suite);
// As members of the suite's options.
void AddParts(const SuiteParts& parts, Json* options);

// Tasks are dealt out like cards, so that neighbours, which often take equally long, go to different shards.
// The first shard is 1.
inline int ShardOf(size_t task, int shards) {
  return static_cast<int>(task % static_cast<size_t>(shards)) + 1;
}
// "3/16". The error says what is expected.
struct ShardChoice {
  int shard = 0;
  int shards = 0;
};
Result<ShardChoice> ParseShard(const std::string& text);

struct MissingParts {
  std::vector<std::string> tasks;  // without a run here
  std::vector<int> shards;         // of which no task has a run here
  bool any() const { return !tasks.empty(); }
};
MissingParts FindMissing(const SuiteParts& parts, const std::set<std::string>& tasks_here);

}  // namespace hone
