// For tests of the spine: recorded replies, a judge that reads its verdict from the candidate, and a run in
// its own store.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "model/replay.h"
#include "pipeline/spine.h"

namespace hone::spine_fixture {

// A candidate that contains its fate: "# fate: accepted 2.5", "# fate: wrong-output", "# fate: inconclusive
// 5", "# look: 120", and its class: "# kernel: softmax". "# fate at 64: crashed" holds where BLOCK = 64.
inline std::string CandidateText(const std::string& fate, const std::string& more = "") {
  return "```python\nimport torch\n# fate: " + fate + "\n" + more +
         "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n```\n";
}

// A kernel with a number to tune: one of its values cannot be built.
inline constexpr char kTunable[] =
    "import triton\nimport triton.language as tl\nHONE_TUNE = {\"BLOCK\": [16, 32, 64, 7]}\nBLOCK = 16\n"
    "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n"
    "def go(x, y):\n    k[(4,)](x, y, x.numel(), B=BLOCK)\n";

inline std::string Analysis(bool worth, const std::string& complexity = "low",
                            const std::string& type = "gemm") {
  return fmt::format(
      R"({{"worth_optimizing": {}, "reason": "r", "bottleneck": "memory", "optimisation_method": "tile it",)"
      R"( "modification_plan": "use tiles", "expected_speedup": 2, "implementation_complexity": "{}",)"
      R"( "kernel_type": "{}"}})",
      worth, complexity, type);
}

inline std::string After(const std::string& text, const std::string& mark) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
}

class FakeJudge : public CandidateJudge {
 public:
  void EndAt(Deadline at) override {
    end = at;
    given_s = at.seconds_left();
    hung = begun_after = 0;
  }

  // Blocks until the run's time is over, like a judge that waits for a worker.
  Error Hang() {
    ++hung;
    while (!end.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return OutOfTimeError();
  }

  MendedSource Mend(const CandidateRecord& failed, const std::string& task_source, const Json& on) override {
    mended_on.push_back(on);
    if (mends) return CandidateJudge::Mend(failed, task_source, on);
    MendedSource same;
    same.text = failed.source;
    return same;
  }

  Result<TaskContext> Context(const Progress&) override {
    begun_after += hung;
    ++contexts;
    if (hangs_in == "context") return Hang();
    TaskContext context;
    context.card = {{"modules", modules},
                    {"operators", {{"addmm", 1}}},
                    {"flops", 1e6},
                    {"serial_chain", 3},
                    {"floor_us", 1.0}};
    context.facts = facts;
    context.device = {{"name", "a machine"}};
    context.machine = {{"device", device}};
    context.device_name = "a machine";
    context.preparation = {{"seconds", 1.5}};
    context.best_us = 100;
    return context;
  }

  // The stored verdict, by the fate in the candidate.
  Result<std::optional<Judged>> Known(const CandidateFile& candidate) override {
    const std::string fate = After(candidate.source, "# known: ");
    if (fate.empty()) return std::optional<Judged>();
    const double speed = std::stod(fate);
    return std::optional<Judged>(JudgedFromRecord(
        {{"verdict", "accepted"},
         {"reason", "faster"},
         {"speedup", {{"vs_best", speed}, {"ci95", {speed * 0.99, speed * 1.01}}, {"vs_eager", speed}}},
         {"error", {{"candidate", 1e-7}, {"limit", 1e-6}}},
         {"measurement", {{"kept", true}}},
         {"from_store", {{"id", "R1 seed0"}, {"created", "then"}}}}));
  }

  Result<Judged> Judge(const CandidateFile& candidate, const Progress&) override {
    {
      const std::scoped_lock lock(mutex);
      judged.push_back(candidate.name);
      begun_after += hung;
    }
    if (hangs_in == "judge") return Hang();
    if (pause_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    if (fail_after >= 0 && static_cast<int>(judged.size()) > fail_after)
      return Error{ErrorKind::kIo, "the machine is on fire."};
    Judged out;
    // The verdict after repair, which adds a missing import.
    const bool mended =
        Contains(candidate.source, "import math\n") && Contains(candidate.source, "# mended: ");
    std::string written = After(candidate.source, mended ? "# mended: " : "# fate: ");
    const std::string tuned =
        After(candidate.source, "# fate at " + After(candidate.source, "BLOCK = ") + ": ");
    if (!mended && !tuned.empty()) written = tuned;
    if (written.empty()) written = of_others;
    const std::vector<std::string> fate = Split(written, ' ');
    const std::string& word = fate[0];
    const double speed = fate.size() > 1 ? std::stod(fate[1]) : 0;
    out.verdict.verdict =
        word == "accepted" || word == "no_difference" || word == "inconclusive" ? word : "rejected";
    out.verdict.reason = word == "accepted" ? "faster" : word == "no_difference" ? "no_difference" : word;
    out.verdict.detail = "said the fake judge";
    out.verdict.vs_best = word == "inconclusive" ? Interval{speed, speed / 6, speed * 6}
                                                 : Interval{speed, speed * 0.99, speed * 1.01};
    out.verdict.vs_eager = out.verdict.vs_best;
    out.verdict.candidate_us = speed > 0 ? 100 / speed : 0;
    out.verdict.best_baseline = "tf32";
    // What the candidate's process said of its kernels.
    if (const std::string kernel = After(candidate.source, "# kernel: "); !kernel.empty())
      out.measurement.profile = hone::Profile{2, 60, 40, {{kernel, 3, 60}, {"copy", 1, 40}}};
    out.record = ToJson(out.verdict);
    return out;
  }

  // The source also contains the second verdict; without one there is no second judgement.
  Result<std::optional<Judged>> JudgeAnew(const CandidateFile& candidate, bool of_several,
                                          const Progress& progress) override {
    const std::string later = After(candidate.source, "# later: ");
    if (later.empty()) return std::optional<Judged>();
    confirmed.push_back(candidate.name);
    begun_after += hung;
    if (hangs_in == "confirm") return Hang();
    chosen.push_back(of_several);
    CandidateFile second = candidate;
    second.source = "# fate: " + later + "\n";
    HONE_ASSIGN_OR_RETURN(Judged judged, Judge(second, progress));
    return std::optional<Judged>(std::move(judged));
  }

  Result<QuickLook> Look(const CandidateFile& candidate, const Progress&) override {
    begun_after += hung;
    ++looks;
    if (hangs_in == "look") return Hang();
    const std::string us = After(candidate.source, "BLOCK = ");
    if (us.empty()) return QuickLook{true, "", 100};
    return QuickLook{us != "7", us == "7" ? "does not build" : "", 1000 / std::stod(us)};
  }

  Result<KernelProfile> Profile(const CandidateFile&) override {
    begun_after += hung;
    ++profiles;
    if (hangs_in == "profile") return Hang();
    if (sm_percent == 0) return KernelProfile{"ncu is not installed", {}};
    return KernelProfile{"", {KernelMetrics{"k", 1, 10, 1.0, sm_percent, 20, 50, 70, 0.5}}};
  }

  std::vector<std::string> confirmed;
  std::vector<bool> chosen;
  Deadline end = Deadline::Never();
  double given_s = 0;  // how far away the end was when the run named it
  int hung = 0;        // steps that took until the end, and steps that began after one of them
  int begun_after = 0;
  std::string hangs_in;
  std::string of_others;  // the fate of files in which none is written: those of the expert
  int pause_ms = 0;
  std::mutex mutex;
  Json modules = Json::object();
  Json facts = Json::object();  // of the worker's machine
  bool mends = true;            // false: a version without fixes
  std::vector<Json> mended_on;
  double sm_percent = 0;  // the profiler's result; 0: no profile
  int profiles = 0;
  std::string device = "cpu";
  int contexts = 0;
  int looks = 0;
  int fail_after = -1;
  std::vector<std::string> judged;
};

class SpineTest : public testing::Test {
 protected:
  SpineTest() : folder_(*TempFolder::Make("hone-spine-")) {
    store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
    task_ = TaskFile{folder_.path() / "t.py", "t", "import torch\nclass Model(torch.nn.Module):\n    pass\n",
                     "x"};
    run_.name = "run";
    run_.created = "now";
    run_.status = "running";
    run_.task = "t";
    run_.task_source = task_.source;
    run_.target = "cpu";
    run_.proposer = "replay:x";
    run_.folder = (folder_.path() / "run").string();
    run_.options = "{}";
    run_.id = *store_->AddRun(run_);
    options_.seeds = 1;
    options_.search_seed = 7;
  }

  void Reply(const std::string& call_type, const std::string& text) {
    const fs::path path = folder_.path() / "replies" / fmt::format("{:03}_{}.txt", ++replies_, call_type);
    ASSERT_TRUE(MakeFolders(path.parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  }

  RunEnd Run() {
    std::unique_ptr<Model> model = std::move(*OpenReplay(folder_.path() / "replies"));
    Recorder recorder(*store_, *store_->FindRun("run"), {});
    Result<RunEnd> end = Spine(recorder, judge_, model.get(), task_, options_).Run();
    EXPECT_TRUE(end.ok()) << end.error().message;
    return end.ok() ? *end : RunEnd{};
  }

  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    const std::vector<CandidateRecord> all = *store_->Candidates(run_.id);
    for (const CandidateRecord& one : all)
      if (one.key != "zero") keys.push_back(one.key + ":" + one.reason);
    return keys;
  }
  std::string Decisions() {
    std::string all;
    const std::vector<DecisionRecord> decisions = *store_->Decisions(run_.id);
    for (const DecisionRecord& one : decisions) all += one.text + "\n";
    return all;
  }

  TempFolder folder_;
  std::unique_ptr<RunStore> store_;
  TaskFile task_;
  RunRecord run_;
  RunOptions options_;
  FakeJudge judge_;
  int replies_ = 0;
};

}  // namespace hone::spine_fixture
