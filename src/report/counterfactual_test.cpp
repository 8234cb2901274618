// Compares counterfactuals with really running without the part: the spine runs in simulated worlds, with and
// without each part. In a world a model's answer is a function of the exact question, and the judge's of the
// candidate. An answer that a counterfactual takes from the record must therefore equal the real one.
#include "report/counterfactual.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/files.h"
#include "base/ids.h"
#include "base/text.h"
#include "model/replies.h"
#include "pipeline/spine.h"

namespace hone {
namespace {

constexpr char kReduction[] = R"(
@triton.jit
def kernel(x_ptr, y_ptr, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * columns + offsets, e / tl.sum(e, 0), mask=offsets < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1], WIDTH=32)
        return y
)";

constexpr char kPersistent[] = R"(
@triton.jit
def kernel(x_ptr, y_ptr, rows, columns, WIDTH: tl.constexpr):
    offsets = tl.arange(0, WIDTH)
    mask = offsets < columns
    state = tl.zeros([WIDTH], dtype=tl.float32)
    for i in range(rows):
        x = tl.load(x_ptr + i * columns + offsets, mask=mask, other=0.0)
        state = tl.exp(x - state) + 0.5 * state
        tl.store(y_ptr + i * columns + offsets, state, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(1,)](x, y, x.shape[0], x.shape[1], WIDTH=32)
        return y
)";

constexpr char kNoKernel[] = R"(
class ModelNew(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
)";

// In so many worlds every part has every effect. The sanitizers, which take ten times as long, see fewer.
constexpr uint64_t kManyWorlds = 128;
#ifdef HONE_FEW_WORLDS
constexpr uint64_t kWorlds = 15;
#else
constexpr uint64_t kWorlds = kManyWorlds;
#endif

// HONE_TEST_WORLDS requests another number of worlds.
uint64_t WorldCount() {
  const char* asked = std::getenv("HONE_TEST_WORLDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : kWorlds;
}

// A random generator that depends only on the question, so that it always draws the same.
Random Drawn(uint64_t world, const std::string& question) {
  return Random(
      std::strtoull(Sha256(fmt::format("{}:{}", world, question)).substr(0, 15).c_str(), nullptr, 16));
}

constexpr char kNn[] = "import torch.nn as nn\n";

std::string CandidateText(Random& random) {
  const char* const kFates[] = {"wrong-output",  "build-failed", "slower",  "slower",
                                "no_difference", "accepted",     "accepted"};
  const char* const kBodies[] = {kReduction, kReduction, kPersistent, kNoKernel};
  const std::string fate = kFates[random.Below(7)];
  double speed = 1 + static_cast<double>(random.Below(1'000'000)) * 4e-6;
  if (fate == "slower") speed /= 6;
  if (fate == "no_difference") speed = 0.95 + speed / 50;
  std::string tunables;
  if (random.Below(2) == 0) tunables = "BLOCK = 2\nHONE_TUNE = {\"BLOCK\": [2, 8, 24]}\n";
  const std::string text =
      fmt::format("# fate: {} {:.7f}\n{}{}", fate, speed, tunables, kBodies[random.Below(4)]);
  // A quarter of the failing candidates lack an import. Their verdict with it is drawn separately, so that
  // other worlds do not change.
  Random mending = Drawn(0, text);
  const bool lacks = (fate == "wrong-output" || fate == "build-failed") && mending.Below(4) == 0;
  const std::string mended =
      lacks ? fmt::format("# mended: {} 1.{:03}\n", kFates[mending.Below(7)], mending.Below(1000)) : "";
  return fmt::format("import torch\n{}import triton\nimport triton.language as tl\n{}{}", lacks ? "" : kNn,
                     mended, text);
}

std::string AnalysisText(Random& random) {
  return fmt::format(
      R"({{"worth_optimizing": {}, "reason": "r", "bottleneck": "memory", "optimisation_method": "{}",)"
      R"( "modification_plan": "p", "expected_speedup": 2, "implementation_complexity": "{}", "kernel_type": "x"}})",
      random.Below(4) > 0, random.Below(3) > 0 ? "a persistent kernel" : "tiles",
      random.Below(4) == 0 ? "high" : "low");
}

class WorldModel : public Model {
 public:
  explicit WorldModel(uint64_t world) : world_(world) {}
  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
    Random random = Drawn(world_, request.call_type + request.system + request.prompt);
    ModelReply reply;
    reply.usage = {100, 10, false, 0, true};
    const uint64_t luck = random.Below(20);
    if (luck == 0) {
      reply.failure = ModelFailure::kBadReply;
      reply.message = "no answer";
    } else if (luck == 1) {
      reply.text = "I would rather not.";
    } else {
      reply.text = request.call_type == "analysis" ? AnalysisText(random)
                                                   : "```python\n" + CandidateText(random) + "```\n";
    }
    return reply;
  }
  // The first reply is what a single reply would be. A call fails as a whole.
  ModelReply AskForSeveral(const ModelRequest& request, int n, const ModelProgress& progress) override {
    std::vector<ModelReply> replies = {Ask(request, progress)};
    for (int number = 2; number <= n && replies[0].ok(); ++number) {
      ModelRequest another = request;
      another.system += ReplyKey("", number);
      ModelReply further = Ask(another, progress);
      if (further.ok()) replies.push_back(std::move(further));
    }
    return MergeReplies(std::move(replies));
  }
  std::string name() const override { return "world"; }
  bool order_matters() const override { return true; }

 private:
  uint64_t world_;
};

class WorldJudge : public CandidateJudge {
 public:
  void EndAt(Deadline) override {}
  Result<TaskContext> Context(const Progress&) override {
    TaskContext context;
    context.card = {{"modules", {{"GRU", 1}}},
                    {"operators", {{"addmm", 1}}},
                    {"flops", 1e6},
                    {"serial_chain", 3},
                    {"floor_us", 1.0}};
    context.facts = Json::object();
    context.device = {{"name", "a machine"}};
    context.machine = {{"device", "cuda"}};
    context.best_us = 100;
    return context;
  }

  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
    const bool mended = Contains(candidate.source, "# mended: ") && Contains(candidate.source, kNn);
    const std::vector<std::string> fate =
        Split(After(candidate.source, mended ? "# mended: " : "# fate: "), ' ');
    const bool right = fate[0] == "accepted" || fate[0] == "slower" || fate[0] == "no_difference";
    const double speed = right ? std::stod(fate[1]) * Faster(candidate.source) : 0;
    Judged out;
    out.verdict.verdict = fate[0] == "accepted" || fate[0] == "no_difference" ? fate[0] : "rejected";
    out.verdict.reason = fate[0] == "accepted" ? "faster" : fate[0];
    out.verdict.vs_best = {speed, speed * 0.99, speed * 1.01};
    out.verdict.candidate_us = speed > 0 ? 100 / speed : 0;
    out.record = ToJson(out.verdict);
    return out;
  }

  Result<QuickLook> Look(const CandidateFile& candidate, const Progress&) override {
    return QuickLook{true, "", 100 / Faster(candidate.source)};
  }

  Result<KernelProfile> Profile(const CandidateFile& candidate) override {
    const double busy = static_cast<double>(Drawn(0, candidate.source).Below(100));
    return KernelProfile{"", {KernelMetrics{"k", 1, 10, 1.0, busy, 20, 50, 70, 0.5}}};
  }

 private:
  static std::string After(const std::string& text, const std::string& mark) {
    const size_t at = text.find(mark);
    if (at == std::string::npos) return "";
    return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
  }
  static double Faster(const std::string& source) {
    const std::string block = After(source, "BLOCK = ");
    return block.empty() ? 1 : 1 + std::stod(block) / 100;
  }
};

class CounterfactualWorlds : public testing::Test {
 protected:
  CounterfactualWorlds() : folder_(*TempFolder::Make("hone-worlds-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
    task_ = TaskFile{folder_.path() / "t.py", "t", "import torch\nclass Model(torch.nn.Module):\n    pass\n",
                     "x"};
  }

  RunStory Play(uint64_t world, RunOptions options) {
    options.proposer = "exec:world";
    RunRecord run;
    run.name = fmt::format("run{}", ++runs_);
    run.created = "now";
    run.status = "running";
    run.task = "t";
    run.task_source = task_.source;
    run.target = "cpu";
    run.proposer = options.proposer;
    run.folder = "/dev/null/no_folder";  // the store has everything, and files would only take time
    run.options = DumpJson(ToJson(options));
    run.id = *store_->AddRun(run);
    WorldModel model(world);
    WorldJudge judge;
    Recorder recorder(*store_, *store_->FindRun(run.name), {});
    EXPECT_TRUE(Spine(recorder, judge, &model, task_, options).Run().ok());
    return *ReadStory(*store_, run.name);
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  TaskFile task_;
  int runs_ = 0;
};

std::set<std::string> JudgedKeys(const RunStory& story) {
  std::set<std::string> keys;
  for (const CandidateRecord& one : story.candidates)
    if (one.phase != "zero") keys.insert(one.key);
  return keys;
}

double BestSpeed(const RunStory& story) {
  return story.run.best_key.empty() ? 1 : story.run.vs_best;
}

TEST_F(CounterfactualWorlds, AreWhatReallyHappensWithoutThePart) {
  std::map<std::string, int> seen;
  // In the worlds beyond the count a prompt has several replies.
  for (uint64_t world = 1; world <= WorldCount() * 4 / 3; ++world) {
    Random random = Drawn(world, "options");
    RunOptions options;
    options.seeds = 1 + static_cast<int>(random.Below(3));
    options.repairs = static_cast<int>(random.Below(3));
    options.analysis = random.Below(4) > 0;
    options.tuning = random.Below(2) > 0;
    options.tune_trials = 3;
    options.search_seed = world;
    options.replies = world > WorldCount() ? 3 : 1;
    const RunStory base = Play(world, options);
    ASSERT_EQ(base.run.status == "done" || base.candidates.size() == 1, true) << base.run.outcome;
    if (base.run.status != "done") continue;
    for (const Counterfactual& said : Counterfactuals(base)) {
      ++seen[said.part + " " + said.effect];
      ASSERT_NE(said.effect, "not_recomputable") << "world " << world;
      RunOptions without = options;
      if (said.part == "repair") without.repairs = 0;
      if (said.part == "analysis") without.analysis = false;
      if (said.part == "seeds") without.seeds = 1;
      if (said.part == "class_check") without.class_check = false;
      if (said.part == "replies") without.replies = 1;
      if (said.part == "mend") without.mend = false;
      if (said.effect == "was_off") continue;
      const RunStory really = Play(world, without);
      const std::string where = fmt::format("world {}, {}, {}", world, said.part, said.effect);
      if (said.exact) {
        EXPECT_EQ(really.run.best_key, said.best_key) << where;
        std::set<std::string> expected = JudgedKeys(base);
        for (const std::string& lost : said.lost) expected.erase(lost);
        EXPECT_EQ(JudgedKeys(really), expected) << where;
      } else {
        EXPECT_GE(BestSpeed(really), said.speed.vs_best) << where;
        // It requested what the record lacks: the unknown key was really requested, or made from something
        // else.
        const std::string& key = said.unknown.front().first;
        const bool asked = std::any_of(really.calls.begin(), really.calls.end(),
                                       [&](const CallRecord& call) { return call.key == key; });
        const bool decided = std::any_of(really.decisions.begin(), really.decisions.end(),
                                         [&](const DecisionRecord& one) { return one.key == key; });
        EXPECT_TRUE(asked || decided || JudgedKeys(really).count(key) != 0 || Contains(key, ".tuned"))
            << where << " " << key;
      }
    }
  }
  if (WorldCount() < kManyWorlds) return;
  for (const char* part : {"repair", "analysis", "seeds", "replies"})
    for (const char* effect : {"other_best", "same_best"})
      EXPECT_GT(seen[std::string(part) + " " + effect], 0)
          << part << " " << effect << ": the worlds are too tame";
  EXPECT_GT(seen["repair at_least"], 0);
  EXPECT_GT(seen["seeds at_least"], 0);
  EXPECT_GT(seen["replies at_least"], 0);
  EXPECT_GT(seen["class_check at_least"], 0);
  EXPECT_GT(seen["mend at_least"], 0);
  EXPECT_GT(seen["mend same_best"], 0) << "one that got less far than what it was made from";
  EXPECT_GT(seen["mend never_used"], 0);
  EXPECT_GT(seen["class_check same_best"] + seen["class_check other_best"], 0);
  if (testing::Test::HasFailure())
    for (const auto& [what, count] : seen) fmt::print("{:4} {}\n", count, what);
}

}  // namespace
}  // namespace hone
