// Whole prompts of real tasks, one of each class for the CPU and one for a GPU: recorded runs
// (prompt_runs/NAME.json: context, replies and verdicts) are played through the real Spine, and what it asks
// is compared with prompts/NAME.KEY.txt. record_prompt_runs.py makes the records of the CPU with the real
// judge. write_gpu_prompt_runs.py writes NAME.cuda and NAME.triton without a device: their times are set by
// hand. HONE_UPDATE_GOLDEN=1 writes the prompts.
//
// Which step a search makes depends on chance. It is written down before the run begins, as for a run that
// was killed between the choice and the question.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "model/model.h"
#include "model/prompt_values.h"
#include "pipeline/spine.h"

namespace hone {
namespace {

using testing::HasSubstr;

class RecordedReplies : public Model {
 public:
  explicit RecordedReplies(const Json& story) : story_(story) {}
  // What is not recorded is what the test is about: asked, and not answered.
  ModelReply Ask(const ModelRequest& request, const ModelProgress&) override {
    ModelReply reply;
    reply.text = GetString(GetMember(story_, "replies"), request.key);
    reply.finish_reason = "stop";
    if (reply.text.empty()) reply.failure = ModelFailure::kExhausted;
    return reply;
  }
  std::string name() const override { return "the record"; }
  bool order_matters() const override { return true; }

 private:
  const Json& story_;
};

class RecordedVerdicts : public CandidateJudge {
 public:
  explicit RecordedVerdicts(const Json& story) : story_(story) {}
  void EndAt(Deadline) override {}
  Result<TaskContext> Context(const Progress&) override {
    return TaskContextFromJson(GetMember(story_, "context"));
  }
  // As from the store: with the measurement as it was recorded.
  Result<std::optional<Judged>> Known(const CandidateFile& candidate) override {
    for (const Json& row : GetMember(story_, "candidates")) {
      if (Trim(GetString(row, "source")) != Trim(candidate.source)) continue;
      Json record = GetMember(row, "record");
      record["from_store"] = {{"id", "R1"}, {"created", "then"}};
      return std::optional<Judged>(JudgedFromRecord(record));
    }
    return std::optional<Judged>();
  }
  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
    return Error{ErrorKind::kInternal, "never judged in the recorded run: " + candidate.name};
  }
  Result<QuickLook> Look(const CandidateFile& candidate, const Progress&) override {
    return Error{ErrorKind::kInternal, "never looked at in the recorded run: " + candidate.name};
  }
  Result<KernelProfile> Profile(const CandidateFile&) override { return KernelProfile{"no profiler", {}}; }

 private:
  const Json& story_;
};

struct Prompts {
  const char* name;                  // CLASS, or CLASS.TARGET for a GPU
  const char* step;                  // of the search; "": none
  std::vector<std::string> parents;  // of that step
  std::vector<std::string> timed;    // keys of prompts about a candidate that was timed
  std::vector<std::string> others;
};

void PrintTo(const Prompts& one, std::ostream* out) {
  *out << one.name;
}

class PromptGolden : public testing::TestWithParam<Prompts> {};

INSTANTIATE_TEST_SUITE_P(
    Classes, PromptGolden,
    testing::Values(Prompts{"attention", "improve", {"seed1"}, {"gen1.improve"}, {}},
                    Prompts{"conv", "restart", {}, {}, {"gen1.restart"}},
                    Prompts{"elementwise", "", {}, {}, {"seed0", "seed0.repair1"}},
                    Prompts{"gemm", "combine", {"seed0", "seed1"}, {"gen1.combine"}, {}},
                    Prompts{"norm", "mend", {"seed0"}, {}, {"gen1.mend"}},
                    Prompts{"recurrent", "", {}, {"seed0.analysis"}, {"seed0.algorithm.repair1"}},
                    Prompts{"reduction", "", {}, {"seed0.analysis", "seed0.algorithm"}, {}},
                    Prompts{"scan", "tune", {"seed0"}, {"gen1.tune"}, {}},
                    Prompts{"attention.triton", "improve", {"seed0"}, {"gen1.improve"}, {}},
                    Prompts{"conv.cuda", "combine", {"seed0", "seed1"}, {"gen1.combine"}, {}},
                    Prompts{"elementwise.cuda", "", {}, {}, {"seed0", "seed0.repair1"}},
                    Prompts{"gemm.triton", "", {}, {"seed0.analysis"}, {}},
                    Prompts{"norm.cuda", "mend", {"seed0"}, {}, {"gen1.mend"}},
                    Prompts{"recurrent.triton", "", {}, {"seed0.analysis", "seed0.algorithm"}, {}},
                    Prompts{"reduction.triton", "tune", {"seed0"}, {"gen1.tune"}, {}},
                    Prompts{"scan.cuda", "restart", {}, {}, {"gen1.restart"}}),
    [](const auto& info) { return ReplaceAll(info.param.name, ".", "_"); });

TEST_P(PromptGolden, ReadsAsItsFile) {
  const Prompts& wanted = GetParam();
  const std::vector<std::string> class_and_target = Split(wanted.name, '.');
  const bool gpu = class_and_target.size() > 1;
  const fs::path golden = fs::path(HONE_SOURCE_DIR) / "tests" / "golden";
  const Json story = *ParseJson(*ReadFile(golden / "prompt_runs" / (std::string(wanted.name) + ".json")));
  const TempFolder folder = std::move(*TempFolder::Make("hone-prompts-"));
  const std::unique_ptr<RunStore> store = std::move(*RunStore::Open(folder.path() / "hone.db"));
  const TaskFile task{folder.path() / "task.py", class_and_target[0], GetString(story, "task"), "x"};
  RunRecord run;
  run.name = "again";
  run.created = "now";
  run.status = "running";
  run.task = task.name;
  run.task_source = task.source;
  run.target = gpu ? class_and_target[1] : "cpu";
  run.proposer = "the record";
  run.options = "{}";
  run.folder = (folder.path() / "run").string();
  run.id = *store->AddRun(run);
  RunOptions options;
  options.seeds = static_cast<int>(GetInt(story, "seeds", 1));
  options.search_seed = 7;
  options.breadth = 1;
  options.analysis = *wanted.step == '\0';
  options.search = *wanted.step == '\0' ? "classic" : "population";
  if (*wanted.step != '\0') {
    options.repairs = 0;
    options.mend = false;
    const Json choice = {{"operator", wanted.step}, {"parents", wanted.parents}};
    ASSERT_TRUE(store->SaveDecision(run.id, {"gen1", "now", "search", "chosen", DumpJson(choice)}).ok());
  }
  Recorder recorder(*store, *store->FindRun("again"), {});
  RecordedVerdicts judge(story);
  RecordedReplies model(story);
  const Result<RunEnd> end = Spine(recorder, judge, &model, task, options).Run();
  ASSERT_TRUE(end.ok()) << end.error().message;
  std::vector<std::string> keys = wanted.timed;
  keys.insert(keys.end(), wanted.others.begin(), wanted.others.end());
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::optional<CallRecord> call = *store->Call(run.id, keys[i]);
    ASSERT_TRUE(call.has_value()) << keys[i] << " was never asked";
    const std::string text = "[system]\n" + call->system + "\n[user]\n" + call->prompt;
    const fs::path path = golden / "prompts" / fmt::format("{}.{}.txt", wanted.name, keys[i]);
    if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(WriteFileAtomic(path, text).ok());
    }
    const Result<std::string> expected = ReadFile(path);
    EXPECT_EQ(expected.ok() ? *expected : "", text)
        << path << ": run with HONE_UPDATE_GOLDEN=1 if the change is meant";
    EXPECT_THAT(text, HasSubstr("- floor of this device: "));
    // One short timing was taken on a busy machine and is below the floor, so that it says nothing.
    const Json& context = GetMember(story, "context");
    const double best_us = GetNumber(context, "best_us");
    const double floor_us = GetNumber(GetMember(context, "card"), "floor_us");
    if (best_us > floor_us) {
      EXPECT_THAT(text,
                  HasSubstr(fmt::format("- best of PyTorch: {} ({}), {}\n", HumanSeconds(best_us * 1e-6),
                                        GetString(context, "best_rung"), TimesTheFloor(best_us, floor_us))))
          << keys[i];
    } else {
      EXPECT_THAT(text, testing::Not(HasSubstr("best of PyTorch: "))) << keys[i];
    }
    // Every row of a candidate has its time and its distance from the floor. A machine that was too busy may
    // leave only a ratio.
    for (const std::string& line : Lines(text))
      if (Contains(line, "x of the best PyTorch baseline") && !Contains(line, "too busy to be sure")) {
        EXPECT_THAT(line, HasSubstr(" per call, ")) << keys[i];
      }
    if (i >= wanted.timed.size()) continue;
    EXPECT_THAT(text, HasSubstr("- reached: ")) << keys[i];
    EXPECT_THAT(text, HasSubstr(fmt::format("- largest {} and their share of the time: ",
                                            gpu ? "kernels" : "operators")))
        << keys[i];
  }
}

}  // namespace
}  // namespace hone
