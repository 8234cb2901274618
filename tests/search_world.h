// A simulated world for runs of the real Spine: a model whose files have only a hidden quality, and a judge
// that reads it. The policy benchmark (search_tool.cpp) and tests of kills and budgets use it, because the
// real judge would take days. This code does not depend on how the search chooses.
//
// A file is a design: an algorithm (of kKinds kinds), how well it is made (`quality`, 0 to 1), and whether it
// works. Its speed is potential(kind) * quality, against PyTorch at 1. Potentials are drawn per world,
// lognormal around `typical`: few kinds are much better than PyTorch. What a call answers is drawn from these
// distributions, seeded by the world, the call's key and its prompt's parents, so that it does not depend on
// the order of calls:
//
//   seed, restart     kind by popularity (two kinds take most seeds; a restart draws evenly);
//                     quality U(.15, .6); right with p_new
//   *_repair, mend    the parent's design; right with p_repair
//   algorithm         another kind, the best of two draws; quality U(.2, .65); right with p_new
//   improve           right with p_improve; then with p_step quality q + (1 - q) U(0, .45), else q U(.6, 1);
//                     among the former one in twelve is a leap of kind
//   combine           right with p_improve * .9; the better kind's design with the better quality + (1 - q)
//                     U(-.15, .3); with .2 the potential of the two kinds adds up to 10% more
//   stage_*           right with p_improve; quality q + (1 - q) U(-.1, .12)
//
// A file without a design is one of the expert's: right, at 1 to 1.4 times PyTorch, by its text. The model's
// next file from it is a new design.
//
// In the world "workshop", right files declare a number to tune. Files that do not build lack an import and
// are right once it is added. One winner in three is wrong when it is judged again. The floor of its device
// is 30 us, and candidates take 25 us and more, so that kinds differ by their bottleneck as well. In the
// other worlds every candidate is far from the floor.
//
// A call costs 1 to 3 cents, drawn at random.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/ids.h"
#include "base/text.h"
#include "pipeline/population.h"
#include "pipeline/spine.h"

namespace hone::search_world {

constexpr int kKinds = 6;
constexpr std::array<const char*, kKinds> kClasses = {"elementwise", "gemm",      "reduction",
                                                      "conv",        "attention", "other"};

// The parameters of the world; the defaults are those of "even".
struct World {
  uint64_t seed = 1;
  double typical = 1.6;  // the median potential
  double spread = 0.45;  // standard deviation of its logarithm
  double p_new = 0.45;
  double p_repair = 0.45;
  double p_improve = 0.65;
  double p_step = 0.5;
  bool workshop = false;

  double Potential(int kind) const {
    Random random(seed * 977 + static_cast<uint64_t>(kind));
    (void)random.Next();
    // The sum of twelve uniform numbers is close enough to a normal distribution.
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform(&random);
    return typical * std::exp(spread * sum);
  }
};

inline World WorldNamed(const std::string& name, uint64_t seed) {
  World world;
  world.seed = seed;
  if (name == "hard") world.p_new = 0.2, world.p_repair = 0.3, world.p_improve = 0.4;
  // Improving rarely helps: the kind of algorithm decides.
  if (name == "rugged") world.p_step = 0.2, world.spread = 0.7;
  if (name == "smooth") world.p_step = 0.75, world.spread = 0.25;
  world.workshop = name == "workshop";
  return world;
}

// Price of a call: 1000 to 3000 tokens at 10 dollars per million.
constexpr double kMeanPrice_usd = 0.02;

struct Design {
  int kind = 0;
  double quality = 0;
  double bonus = 1;
  bool right = false;
  int wrong_by = 0;  // which error it has
};

inline std::string FileOf(const Design& design) {
  return fmt::format(
      "import torch\n# design: {} {:.6f} {:.6f} {} {}\nclass ModelNew(torch.nn.Module):\n"
      "    def forward(self, x):\n        return x\n",
      design.kind, design.quality, design.bonus, design.right ? 1 : 0, design.wrong_by);
}

// With parts that a run may change without a request.
inline std::string WorkshopFileOf(const Design& design) {
  if (design.right)
    return ReplaceAll(FileOf(design), "class ", "HONE_TUNE = {\"BLOCK\": [16, 32, 64]}\nBLOCK = 32\nclass ");
  return design.wrong_by == 0 ? ReplaceAll(FileOf(design), "return x", "return x * math.pi") : FileOf(design);
}

inline std::vector<Design> DesignsIn(const std::string& text) {
  constexpr std::string_view kMark = "# design: ";
  std::vector<Design> designs;
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const size_t begin = at + kMark.size();
    const std::vector<std::string> words = Split(text.substr(begin, text.find('\n', begin) - begin), ' ');
    if (words.size() != 5) continue;
    designs.push_back({std::stoi(words[0]), std::stod(words[1]), std::stod(words[2]), words[3] == "1",
                       std::stoi(words[4])});
  }
  return designs;
}

class WorldModel : public Model {
 public:
  // Parallel seeds and steps reach the store in any order. Only runs that make one call at a time can be
  // compared call by call.
  explicit WorldModel(const World& world, bool in_order = true) : world_(world), in_order_(in_order) {}

  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
    const std::vector<Design> shown = DesignsIn(request.prompt);
    // Seeded by the shown text, so that other parents yield other numbers.
    const std::string drawn_by = request.key + DumpDesigns(shown);
    Random random(world_.seed ^ std::stoull(Sha256(drawn_by).substr(0, 15), nullptr, 16));
    ModelReply reply;
    reply.finish_reason = "stop";
    reply.model = "made up";
    reply.usage.prompt_tokens = 2000;
    reply.usage.completion_tokens = 1000 + static_cast<int64_t>(random.Below(2000));
    // The same arithmetic as in model/prices.h, to the last digit.
    reply.usage.cost_usd = 10 * static_cast<double>(reply.usage.completion_tokens) / 1e6;
    reply.usage.price_known = true;
    reply.text = request.call_type == "analysis"
                     ? R"({"worth_optimizing": true, "reason": "r", "bottleneck": "memory", )"
                       R"("optimisation_method": "another split", "modification_plan": "use tiles", )"
                       R"("expected_speedup": 2, "implementation_complexity": "low", "kernel_type": "gemm"})"
                     : "A design.\n```python\n" + Text(Next(request.call_type, shown, &random)) + "```\n";
    return reply;
  }
  std::string name() const override { return "made up"; }
  bool order_matters() const override { return in_order_; }

 private:
  std::string Text(const Design& design) const {
    return world_.workshop ? WorkshopFileOf(design) : FileOf(design);
  }
  static std::string DumpDesigns(const std::vector<Design>& designs) {
    std::string text;
    for (const Design& one : designs) text += FileOf(one);
    return text;
  }
  static double Between(double low, double high, Random* random) {
    return low + (high - low) * Uniform(random);
  }
  int Popular(Random* random) const {
    const double u = Uniform(random);
    return u < 0.4 ? 0 : u < 0.7 ? 1 : static_cast<int>(2 + random->Below(kKinds - 2));
  }
  bool Draw(double chance, Random* random) const { return Uniform(random) < chance; }

  Design Next(const std::string& type, const std::vector<Design>& shown, Random* random) const {
    Design next = shown.empty() ? Design() : shown[0];
    next.wrong_by = static_cast<int>(random->Below(4));
    if (shown.empty() || type == "seed" || type == "restart") {
      next = {type == "seed" ? Popular(random) : static_cast<int>(random->Below(kKinds)),
              Between(0.15, 0.6, random), 1, Draw(world_.p_new, random), next.wrong_by};
    } else if (EndsWith(type, "_repair") || type == "mend") {
      next.right = Draw(world_.p_repair, random);
    } else if (type == "algorithm") {
      const int a = static_cast<int>(random->Below(kKinds));
      const int b = static_cast<int>(random->Below(kKinds));
      next.kind = world_.Potential(a) > world_.Potential(b) ? a : b;
      next.quality = Between(0.2, 0.65, random);
      next.bonus = 1;
      next.right = Draw(world_.p_new, random);
    } else if (type == "improve") {
      next.right = Draw(world_.p_improve, random);
      if (!Draw(world_.p_step, random))
        next.quality *= Between(0.6, 1, random);
      else if (Draw(1.0 / 12, random))
        next.kind = static_cast<int>(random->Below(kKinds));
      else
        next.quality += (1 - next.quality) * Between(0, 0.45, random);
    } else if (type == "combine") {
      const Design& other = shown.size() > 1 ? shown[1] : shown[0];
      if (world_.Potential(other.kind) > world_.Potential(next.kind)) next.kind = other.kind;
      next.bonus = std::max(next.bonus, other.bonus);
      if (other.kind != shown[0].kind && Draw(0.2, random)) next.bonus *= Between(1, 1.1, random);
      const double quality = std::max(shown[0].quality, other.quality);
      next.quality = quality + (1 - quality) * Between(-0.15, 0.3, random);
      next.right = Draw(0.9 * world_.p_improve, random);
    } else {  // a tuning stage
      next.right = Draw(world_.p_improve, random);
      next.quality += (1 - next.quality) * Between(-0.1, 0.12, random);
    }
    next.quality = std::clamp(next.quality, 0.01, 1.0);
    return next;
  }

  World world_;
  bool in_order_;
};

class WorldJudge : public CandidateJudge {
 public:
  explicit WorldJudge(const World& world) : world_(world) {}

  void EndAt(Deadline) override {}
  CandidateRecord Describe(const std::string& key, const std::string& phase, const std::string& source,
                           const std::string&) override {
    CandidateRecord candidate;
    candidate.key = key;
    candidate.phase = phase;
    candidate.created = "now";
    candidate.source = source;
    candidate.sha256 = Sha256(source);
    const std::vector<Design> designs = DesignsIn(source);
    candidate.kernel_class = designs.empty() ? "none" : kClasses[static_cast<size_t>(designs[0].kind)];
    return candidate;
  }
  Result<TaskContext> Context(const Progress&) override {
    TaskContext context;
    context.card = {{"modules", Json::object()},
                    {"operators", {{"addmm", 1}}},
                    {"floor_us", world_.workshop ? 30.0 : 1.0},
                    {"floor_bound", "memory"}};
    context.facts = Json::object();
    context.device = {{"name", "made up"}};
    context.machine = {{"device", "cpu"}};
    context.device_name = "made up";
    context.best_us = 100;
    return context;
  }
  Result<Judged> Judge(const CandidateFile& file, const Progress&) override {
    return JudgedAs(file.source, false);
  }
  Result<std::optional<Judged>> JudgeAnew(const CandidateFile& file, bool, const Progress&) override {
    if (!world_.workshop) return std::optional<Judged>();
    return std::optional<Judged>(JudgedAs(file.source, Sha256(file.source)[0] < '5'));
  }
  Result<QuickLook> Look(const CandidateFile& file, const Progress&) override {
    return QuickLook{true, "", 100 / TunedBy(file.source)};
  }
  Result<KernelProfile> Profile(const CandidateFile&) override {
    return KernelProfile{"there is no profiler", {}};
  }

 private:
  static double TunedBy(const std::string& source) {
    return Contains(source, "BLOCK = 64") ? 1.04 : Contains(source, "BLOCK = 16") ? 0.97 : 1;
  }

  static double ExpertSpeed(const std::string& source) {
    Random random(std::stoull(Sha256(source).substr(0, 15), nullptr, 16));
    return 1 + 0.4 * Uniform(&random);
  }

  Judged JudgedAs(const std::string& source, bool unlucky) const {
    const std::vector<Design> designs = DesignsIn(source);
    const bool mended = Contains(source, "math.pi") && Contains(source, "import math");
    Judged out;
    if (unlucky || !(designs.empty() || designs[0].right || mended)) {
      constexpr std::array<const char*, 4> kReasons = {"build-failed", "wrong-output", "crashed", "timeout"};
      out.verdict.verdict = "rejected";
      out.verdict.reason = kReasons[unlucky ? 1 : static_cast<size_t>(designs[0].wrong_by)];
      out.verdict.detail = "made up";
    } else {
      const double speed = TunedBy(source) * (designs.empty() ? ExpertSpeed(source)
                                                              : world_.Potential(designs[0].kind) *
                                                                    designs[0].quality * designs[0].bonus);
      const bool faster = speed > 1.01;
      out.verdict.verdict = faster ? "accepted" : "rejected";
      out.verdict.reason = faster ? "faster" : "slower";
      out.verdict.vs_best = {speed, 0.99 * speed, 1.01 * speed};
      out.verdict.vs_eager = out.verdict.vs_best;
      out.verdict.candidate_us = 100 / speed;
    }
    out.record = ToJson(out.verdict);
    return out;
  }

  World world_;
};

inline RunRecord NewRun(const std::string& name, const RunOptions& options) {
  RunRecord run;
  run.name = name;
  run.created = "now";
  run.status = "running";
  run.task = "made_up";
  run.task_source = "import torch\nclass Model(torch.nn.Module):\n    pass\n";
  run.target = "cpu";
  run.proposer = options.proposer;
  run.options = DumpJson(ToJson(options));
  return run;
}

// Runs or resumes the run to its end. `model` and `judge` are the world's, or wrap them.
inline Result<RunEnd> RunIn(RunStore& store, const std::string& name, Model& model, CandidateJudge& judge,
                            const RunWatcher& watcher = {}) {
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store.FindRun(name));
  HONE_ASSIGN_OR_RETURN(const Json options, ParseJson(run.options));
  const TaskFile task{"made_up.py", run.task, run.task_source, "x"};
  Recorder recorder(store, run, watcher);
  return Spine(recorder, judge, &model, task, RunOptionsFromJson(options)).Run();
}

}  // namespace hone::search_world
