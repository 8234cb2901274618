// Runs of the real Spine in a made-up world (search_world.h), for bench/search_policies.py:
//
//   hone_search_tool policy WORLD SEED OPTIONS     one run; OPTIONS is a run's options as JSON. Prints a JSON
//                                                  line: best so far and dollars after each call, and
//                                                  operators
//   hone_search_tool day TASKS CALLS FOLDER        a day's work: TASKS runs of CALLS calls each in one
//   process,
//                                                  into a store on disk. Prints a line a run: calls, dollars,
//                                                  resident memory
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "base/files.h"
#include "report/best_so_far.h"
#include "search_world.h"

namespace hone {
namespace {

using namespace search_world;

Result<Json> Story(RunStore& store, const RunRecord& run) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CandidateRecord> all, store.Candidates(run.id));
  HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> calls, store.CallSummaries(run.id));
  const CostCurve curve = BestSoFar(all, calls);
  Json types = Json::object();
  for (const CallRecord& call : calls) types[call.call_type] = GetInt(types, call.call_type.c_str()) + 1;
  return Json({{"best", curve.best}, {"dollars", curve.usd}, {"types", types}});
}

Result<int> Policy(const std::string& world_name, uint64_t seed, const std::string& options_text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(options_text));
  RunOptions options = RunOptionsFromJson(json);
  options.search_seed = seed;
  const World world = WorldNamed(world_name, seed);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::OpenInMemory());
  HONE_RETURN_IF_ERROR(store->AddRun(NewRun("run", options)));
  WorldModel model(world);
  WorldJudge judge(world);
  HONE_RETURN_IF_ERROR(RunIn(*store, "run", model, judge));
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store->FindRun("run"));
  HONE_ASSIGN_OR_RETURN(Json story, Story(*store, run));
  story["outcome"] = run.outcome;
  fmt::print("{}\n", DumpJson(story));
  return 0;
}

// In KiB.
int64_t ResidentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (StartsWith(line, "VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

Result<int> Day(int tasks, int calls, const fs::path& folder) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open(folder / "hone.db"));
  for (int task = 0; task < tasks; ++task) {
    RunOptions options;
    options.proposer = "llm";
    options.search = "population";
    options.patience = 1000 * calls;
    options.search_seed = static_cast<uint64_t>(task);
    // Half of the tasks are ended by calls, half by money that is spent before.
    options.budget.calls = calls;
    if (task % 2 == 1) options.budget.usd = 0.008 * calls;
    const std::string name = fmt::format("run{}", task);
    RunRecord run = NewRun(name, options);
    run.folder = (folder / name).string();
    HONE_RETURN_IF_ERROR(store->AddRun(run));
    const World world = WorldNamed("even", static_cast<uint64_t>(task));
    WorldModel model(world);
    WorldJudge judge(world);
    HONE_RETURN_IF_ERROR(RunIn(*store, name, model, judge));
    HONE_ASSIGN_OR_RETURN(run, store->FindRun(name));
    HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> made, store->CallSummaries(run.id));
    double spent = 0;
    double before_last = 0;
    for (const CallRecord& call : made) {
      before_last = spent;
      spent += call.cost_usd;
    }
    fmt::print("{}\n", DumpJson(Json({{"run", name},
                                      {"calls", made.size()},
                                      {"max_calls", options.budget.calls},
                                      {"dollars", spent},
                                      {"dollars_before_last", before_last},
                                      {"max_dollars", options.budget.usd},
                                      {"vs_best", run.vs_best},
                                      {"outcome", run.outcome},
                                      {"resident_kib", ResidentMemory()}})));
    std::fflush(stdout);
  }
  return 0;
}

Result<int> Main(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "policy")
    return Policy(words[1], std::strtoull(words[2].c_str(), nullptr, 10), words[3]);
  if (words.size() == 4 && words[0] == "day") return Day(std::stoi(words[1]), std::stoi(words[2]), words[3]);
  return Error{ErrorKind::kUsage, "hone_search_tool policy WORLD SEED OPTIONS | day TASKS CALLS FOLDER"};
}

}  // namespace
}  // namespace hone

int main(int count, char** words) {
  const hone::Result<int> done = hone::Main({words + 1, words + count});
  if (done.ok()) return *done;
  fmt::print(stderr, "{}\n", done.error().message);
  return 2;
}
