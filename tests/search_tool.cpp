// Runs of the real Spine in a made-up world (search_world.h), for bench/search_policies.py,
// bench/search_day.py and tests:
//
//   policy WORLD SEED OPTIONS [BASE]  one run; OPTIONS is a run's options as JSON. Prints a JSON line: best
//                                     so far and dollars after each call, and operators
//   sit WORLD SEED OPTIONS FOLDER     one sitting of a run whose store and files are in FOLDER: begins it, or
//                                     goes on with it after a kill. With seed_from, a run "earlier" is there
//                                     first. FOLDER/asked.log gets a line for each
//                                     question and each verdict
//   day TASKS CALLS FOLDER [BASE]     a day's work: TASKS runs of CALLS calls each in one process, into a
//                                     store on disk. Prints a line a run: calls, dollars, seconds, memory
//   answers                           the model of every world: a question is a line of JSON (call_type,
//                                     key, prompt; tag: "even-17", a world and its seed), and so is a reply
//
// With BASE the model is the real HTTP client. The address is that of the scenario `program` of a
// fake_llm_server.py (http://127.0.0.1:PORT/s/program) whose --program is `hone_search_tool answers`, so that
// the world is described once.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>

#include "base/clock.h"
#include "base/files.h"
#include "heard.h"
#include "model/http_model.h"
#include "pipeline/kept_verdict.h"
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

// The prices of WorldModel: only output tokens cost money.
constexpr char kPrices[] = R"({"made-up": {"input": 0, "output": 10}})";

Result<std::unique_ptr<Model>> OverHttp(const std::string& base, const std::string& world, uint64_t seed) {
  HttpModelOptions options;
  options.model = "made-up";
  options.api_base = fmt::format("{}@{}-{}", base, world, seed);
  HONE_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("hone-search-tool-"));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder.path() / "prices.json", kPrices));
  HONE_RETURN_IF_ERROR(options.prices.Override(folder.path() / "prices.json"));
  return MakeHttpModel(std::move(options));
}

// Makes one call at a time, so that runs can be compared call by call.
class InOrder : public Model {
 public:
  explicit InOrder(Model& model) : model_(model) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    return model_.Ask(request, progress);
  }
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override {
    return model_.AskForSeveral(request, n, progress);
  }
  std::string name() const override { return model_.name(); }
  bool order_matters() const override { return true; }

 private:
  Model& model_;
};

Result<int> Policy(const std::string& world_name, uint64_t seed, const std::string& options_text,
                   const std::string& base) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(options_text));
  RunOptions options = RunOptionsFromJson(json);
  options.search_seed = seed;
  const World world = WorldNamed(world_name, seed);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::OpenInMemory());
  HONE_RETURN_IF_ERROR(store->AddRun(NewRun("run", options)));
  std::unique_ptr<Model> model = std::make_unique<WorldModel>(world);
  if (!base.empty()) {
    HONE_ASSIGN_OR_RETURN(model, OverHttp(base, world_name, seed));
  }
  InOrder in_order(*model);
  WorldJudge judge(world);
  HONE_RETURN_IF_ERROR(RunIn(*store, "run", in_order, judge));
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store->FindRun("run"));
  HONE_ASSIGN_OR_RETURN(Json story, Story(*store, run));
  story["outcome"] = run.outcome;
  fmt::print("{}\n", DumpJson(story));
  return 0;
}

// Answers after up to three milliseconds, so that a kill can occur during a request and parallel steps end in
// any order.
class ThinkingModel : public WorldModel {
 public:
  using WorldModel::WorldModel;
  ModelReply Ask(const ModelRequest& request, const ModelProgress& progress) override {
    std::this_thread::sleep_for(std::chrono::microseconds(std::random_device()() % 3000));
    return WorldModel::Ask(request, progress);
  }
};

// The run that --seed-from names in tests: two right candidates of different kinds.
constexpr char kEarlierRun[] = "earlier";

Status SaveEarlierRun(RunStore& store, const World& world) {
  if (!store.FindRun(kEarlierRun).ok()) {
    RunRecord run = NewRun(kEarlierRun, {});
    run.status = "done";
    HONE_RETURN_IF_ERROR(store.AddRun(run));
  }
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store.FindRun(kEarlierRun));
  WorldJudge judge(world);
  for (const int kind : {0, 2}) {
    const std::string source = WorkshopFileOf({kind, 0.7, 1, true, 0});
    CandidateRecord one = judge.Describe(fmt::format("seed{}", kind), "seed", source, "");
    one.run_id = run.id;
    HONE_ASSIGN_OR_RETURN(const Judged judged, judge.Judge({"", one.key, source, one.sha256}, {}));
    KeepVerdict(judged.verdict, &one);
    HONE_RETURN_IF_ERROR(store.SaveCandidate(one));
  }
  return Ok();
}

Result<int> Sit(const std::string& world_name, uint64_t seed, const std::string& options_text,
                const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(options_text));
  RunOptions options = RunOptionsFromJson(json);
  options.search_seed = seed;
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open(folder / "hone.db"));
  const World world = WorldNamed(world_name, seed);
  if (!store->FindRun("run").ok()) {
    // The run comes last, so that a kill leaves no run that lacks the earlier one.
    if (!options.seed_from.empty()) HONE_RETURN_IF_ERROR(SaveEarlierRun(*store, world));
    RunRecord run = NewRun("run", options);
    run.folder = (folder / "run").string();
    HONE_RETURN_IF_ERROR(store->AddRun(run));
  }
  ThinkingModel model(world, options.breadth == 1);
  WorldJudge judge(world);
  const Listener listener = ListenerInto(folder / "asked.log");
  HeardModel heard_model(model, listener);
  HeardJudge heard_judge(judge, listener);
  HONE_RETURN_IF_ERROR(RunIn(*store, "run", heard_model, heard_judge));
  return 0;
}

// In KiB.
int64_t ResidentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (StartsWith(line, "VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

// Half of the runs end by their number of calls, half by a corresponding budget. Half of each run four steps
// in parallel.
RunOptions OptionsOfDay(int task, int calls) {
  RunOptions options;
  options.proposer = "llm";
  options.search = "population";
  options.patience = 1000 * calls;
  options.search_seed = static_cast<uint64_t>(task);
  options.breadth = task % 4 < 2 ? 1 : 4;
  if (task % 2 == 0)
    options.budget.calls = calls;
  else
    options.budget.usd = kMeanPrice_usd * calls;
  return options;
}

Result<int> Day(int tasks, int calls, const fs::path& folder, const std::string& base) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open(folder / "hone.db"));
  for (int task = 0; task < tasks; ++task) {
    const RunOptions options = OptionsOfDay(task, calls);
    const std::string name = fmt::format("run{}", task);
    RunRecord run = NewRun(name, options);
    run.folder = (folder / name).string();
    HONE_RETURN_IF_ERROR(store->AddRun(run));
    const World world = WorldNamed("even", static_cast<uint64_t>(task));
    std::unique_ptr<Model> model = std::make_unique<WorldModel>(world, false);
    if (!base.empty()) {
      HONE_ASSIGN_OR_RETURN(model, OverHttp(base, "even", static_cast<uint64_t>(task)));
    }
    WorldJudge judge(world);
    const Stopwatch watch;
    HONE_RETURN_IF_ERROR(RunIn(*store, name, *model, judge));
    const double seconds = watch.seconds();
    HONE_ASSIGN_OR_RETURN(run, store->FindRun(name));
    HONE_ASSIGN_OR_RETURN(const std::vector<CallRecord> made, store->CallSummaries(run.id));
    double spent = 0;
    double before_last = 0;
    double asking = 0;
    int64_t tokens = 0;
    for (const CallRecord& call : made) {
      before_last = spent;
      spent += call.cost_usd;
      asking += call.seconds;
      tokens += call.completion_tokens;
    }
    fmt::print("{}\n", DumpJson(Json({{"run", name},
                                      {"tag", fmt::format("even-{}", task)},
                                      {"calls", made.size()},
                                      {"max_calls", options.budget.calls},
                                      {"completion_tokens", tokens},
                                      {"dollars", spent},
                                      {"dollars_before_last", before_last},
                                      {"max_dollars", options.budget.usd},
                                      {"vs_best", run.vs_best},
                                      {"outcome", run.outcome},
                                      {"seconds", seconds},
                                      {"asking_seconds", asking},
                                      {"resident_kib", ResidentMemory()}})));
    std::fflush(stdout);
  }
  return 0;
}

// Parses a tag such as "even-17".
Result<World> WorldOfTag(const std::string& tag) {
  const std::vector<std::string> words = Split(tag, '-');
  if (words.size() != 2) return Error{ErrorKind::kInvalid, "'" + tag + "' is not WORLD-SEED"};
  return WorldNamed(words[0], std::strtoull(words[1].c_str(), nullptr, 10));
}

Result<int> Answers() {
  for (std::string line; std::getline(std::cin, line);) {
    HONE_ASSIGN_OR_RETURN(const Json asked, ParseJson(line));
    HONE_ASSIGN_OR_RETURN(const World world, WorldOfTag(GetString(asked, "tag")));
    ModelRequest request;
    request.call_type = GetString(asked, "call_type");
    request.key = GetString(asked, "key");
    request.prompt = GetString(asked, "prompt");
    const ModelReply reply = WorldModel(world).Ask(request, {});
    fmt::print("{}\n", DumpJson(Json({{"text", reply.text},
                                      {"prompt_tokens", reply.usage.prompt_tokens},
                                      {"completion_tokens", reply.usage.completion_tokens}})));
    std::fflush(stdout);
  }
  return 0;
}

uint64_t Number(const std::string& word) {
  return std::strtoull(word.c_str(), nullptr, 10);
}

Result<int> Main(std::vector<std::string> words) {
  const std::string what = words.empty() ? "" : words[0];
  if (what == "answers" && words.size() == 1) return Answers();
  if (what == "sit" && words.size() == 5) return Sit(words[1], Number(words[2]), words[3], words[4]);
  if (words.size() == 4) words.emplace_back();  // without BASE
  if (what == "policy" && words.size() == 5) return Policy(words[1], Number(words[2]), words[3], words[4]);
  if (what == "day" && words.size() == 5)
    return Day(std::stoi(words[1]), std::stoi(words[2]), words[3], words[4]);
  return Error{
      ErrorKind::kUsage,
      "hone_search_tool policy WORLD SEED OPTIONS [BASE] | sit WORLD SEED OPTIONS FOLDER | day TASKS "
      "CALLS FOLDER [BASE] | answers"};
}

}  // namespace
}  // namespace hone

int main(int count, char** words) {
  const hone::Result<int> done = hone::Main({words + 1, words + count});
  if (done.ok()) return *done;
  fmt::print(stderr, "{}\n", done.error().message);
  return 2;
}
