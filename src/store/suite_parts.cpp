#include "store/suite_parts.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/json.h"

namespace hone {

SuiteParts PartsOf(const SuiteRecord& suite) {
  SuiteParts parts;
  const Result<Json> options = ParseJson(suite.options);
  if (!options.ok() || !options->is_object()) return parts;
  const Json& tasks = GetMember(*options, "tasks");
  if (tasks.is_array())
    for (const Json& task : tasks)
      if (task.is_string()) parts.tasks.push_back(task.str());
  parts.sha256 = GetString(*options, "tasks_sha256");
  const int64_t shards = GetInt(*options, "shards");
  parts.shards = shards > 0 && shards <= 100'000 ? static_cast<int>(shards) : 0;
  return parts;
}

void AddParts(const SuiteParts& parts, Json* options) {
  Json tasks = Json::array();
  for (const std::string& task : parts.tasks) tasks.push_back(task);
  (*options)["tasks"] = std::move(tasks);
  (*options)["tasks_sha256"] = parts.sha256;
  if (parts.shards > 0) (*options)["shards"] = parts.shards;
}

Result<ShardChoice> ParseShard(const std::string& text) {
  ShardChoice choice;
  char rest = 0;
  const bool read = std::sscanf(text.c_str(), "%d/%d%c", &choice.shard, &choice.shards, &rest) == 2;
  if (read && choice.shard >= 1 && choice.shard <= choice.shards && choice.shards <= 100'000) return choice;
  if (read && choice.shard == 0)
    return Error{
        ErrorKind::kUsage,
        fmt::format("--shard {}: shards are numbered from 1; number the array job from 1 too", text)};
  return Error{ErrorKind::kUsage,
               fmt::format("--shard '{}' is not K/N with K from 1 to N, such as 3/16", text)};
}

MissingParts FindMissing(const SuiteParts& parts, const std::set<std::string>& tasks_here) {
  MissingParts missing;
  std::set<int> begun;
  std::set<int> all;
  for (size_t i = 0; i < parts.tasks.size(); ++i) {
    const bool here = tasks_here.count(parts.tasks[i]) != 0;
    if (!here) missing.tasks.push_back(parts.tasks[i]);
    if (parts.shards == 0) continue;
    all.insert(ShardOf(i, parts.shards));
    if (here) begun.insert(ShardOf(i, parts.shards));
  }
  for (const int shard : all)
    if (begun.count(shard) == 0) missing.shards.push_back(shard);
  return missing;
}

}  // namespace hone
