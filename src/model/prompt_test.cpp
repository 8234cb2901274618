// Tests prompts as they are sent. The golden files in tests/golden/prompts are for reading;
// HONE_UPDATE_GOLDEN=1 writes them. The examples in the knowledge must agree with `hone lint`.
#include "model/prompt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "analysis/lint.h"
#include "base/files.h"
#include "base/text.h"
#include "model/model.h"
#include "model/prompt_values.h"
#include "model/usage.h"

namespace hone {
namespace {

std::string Read(const fs::path& path) {
  Result<std::string> text = ReadFile(fs::path(HONE_SOURCE_DIR) / path);
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? *text : "";
}

PromptInputs Gru(const std::string& call_type, const std::string& target) {
  PromptInputs inputs;
  inputs.call_type = call_type;
  inputs.target = target;
  inputs.task_name = "39_GRU";
  inputs.task_source = Read("tasks/39_GRU.py");
  inputs.card = *ParseJson(R"({"modules": {"GRU": 1}, "operators": {"_cudnn_rnn": 1},
    "inputs": [{"dtype": "float32", "shape": [512, 10, 128]}, {"dtype": "float32", "shape": [6, 10, 256]}],
    "outputs": [{"dtype": "float32", "shape": [512, 10, 256]}], "parameters": 2267136, "weight_bytes": 9068544,
    "least_bytes": 16994304, "flops": 23152558080.0, "operator_calls": 1, "serial_chain": 3072, "launches": 12302,
    "floor_us": 95.4, "floor_bound": "arithmetic"})");
  inputs.best_baseline = target == "cpu" ? "eager" : "cudagraph";
  inputs.best_us = 8460;
  inputs.device = *ParseJson(R"({"name": "NVIDIA H200", "sm": 90, "multiprocessors": 132,
    "shared_memory_per_block": 232448, "l2_bytes": 62914560, "cuda": "13.0", "triton": "3.6.0", "torch": "2.11.0"})");
  if (target == "cpu")
    inputs.device =
        *ParseJson(R"({"name": "EPYC", "cores": 2, "cpu_flags": ["avx2", "fma"], "torch": "2.11.0"})");
  if (call_type == "seed") return inputs;
  inputs.candidate_source = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    ...\n";
  inputs.findings = *ParseJson(R"([
    {"rule": "tf32-by-default", "severity": "warning", "line": 9, "message": "tl.dot rounds", "fix": "Say so."},
    {"rule": "recurrence-race", "severity": "error", "line": 31, "message": "gru stores its part of h here", "fix": ""}])");
  inputs.verdict = *ParseJson(R"({"verdict": "rejected", "reason": "nondeterministic",
    "detail": "two runs on the same inputs differ by 0.1", "error": {"candidate": 0.04, "reference": 0.0004, "limit": 0.0008},
    "speedup": {"vs_eager": 1.75, "vs_best": 0.4, "best_baseline": "cudagraph", "candidate_us": 21150, "best_us": 8460},
    "launches": {"reference": 12302, "candidate": 6}})");
  return inputs;
}

// A candidate that the verdict calls correct, as improving and tuning have it.
void MakeRight(PromptInputs* inputs) {
  inputs->candidate_source =
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x, h0):\n"
      "        return run_layers(x, h0, self.packed())\n";
  inputs->findings = *ParseJson(
      R"([{"rule": "tf32-by-default", "severity": "warning", "line": 9, "message": "tl.dot rounds", "fix": "Say so."}])");
  inputs->verdict = *ParseJson(R"({"verdict": "accepted", "reason": "faster",
    "error": {"candidate": 0.0003, "reference": 0.0004, "limit": 0.0008},
    "speedup": {"vs_eager": 1.75, "vs_best": 1.4, "best_baseline": "cudagraph", "candidate_us": 6040, "best_us": 8460},
    "launches": {"reference": 12302, "candidate": 6}})");
  inputs->profile = {{"source", "counted by Nsight Compute around the candidate's process"},
                     {"largest kernels and their share of the time", "run_layer 88%, gemm 9%, copy 2%"},
                     {"SM throughput %", 31.5},
                     {"occupancy %", 12}};
}

std::vector<PromptInputs> EveryCallType() {
  std::vector<PromptInputs> out = {Gru("seed", "triton"),
                                   Gru("seed_repair", "triton"),
                                   Gru("analysis", "cuda"),
                                   Gru("algorithm", "cuda"),
                                   Gru("algorithm_repair", "cpu"),
                                   Gru("stage_grid", "triton"),
                                   Gru("stage_block", "cuda"),
                                   Gru("stage_memory", "cpu"),
                                   Gru("stage_repair", "cuda"),
                                   Gru("improve", "triton"),
                                   Gru("combine", "cuda"),
                                   Gru("restart", "triton"),
                                   Gru("mend", "cpu"),
                                   Gru("agent", "cpu")};
  const Json analysis = {{"bottleneck", "launches"},
                         {"optimisation_method", "one persistent kernel"},
                         {"modification_plan", "loop inside, cluster per layer"},
                         {"kernel_type", "persistent_recurrent"}};
  out[1].history =
      *ParseJson(R"([{"attempt": 1, "what": "tiles of h in global memory", "reason": "wrong-output",
    "detail": "output 0 differs by 0.3"}, {"attempt": 2, "what": "one program", "reason": "timeout", "detail": ""}])");
  out[1].verdict["detail"] =
      "Traceback (most recent call last):\n  File \"c.py\", line 3\n```\nNameError: tl";
  out[3].analysis = out[4].analysis = analysis;
  out[4].first_message =
      "The analysis asked for one persistent kernel with the loop inside; this launches once per step.";
  for (const size_t right : {5, 6, 7, 9, 10}) MakeRight(&out[right]);
  for (const size_t started_anew : {11, 13}) {
    out[started_anew].candidate_source.clear();
    out[started_anew].findings = out[started_anew].verdict = Json();
  }
  out[8].first_message = "HONE_TUNE names BLOCK_M, but the file has no module-level BLOCK_M = value.";
  const Json search = *ParseJson(
      R"({"reached": "1.40x of the best PyTorch baseline, 6.04 ms per call, 63.3 times the floor", "floor": "95.4 us",
    "others": [{"kind": "gemm", "result": "1.60x of the best PyTorch baseline, 5.29 ms per call, 55.4 times the floor",
                "what": "All input products first."}],
    "tried": [{"kind": "gemm", "result": "wrong-output", "what": "Half of h in registers."}]})");
  for (const size_t searching : {9, 10}) out[searching].search = search;
  out[10].search["second_source"] =
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x, h0):\n        return "
      "run_wave(x, h0)\n";
  out[10].search["second_result"] =
      "1.20x of the best PyTorch baseline, 7.05 ms per call, 73.9 times the floor";
  out[10].search["second_profile"] = {
      {"source", "PyTorch's profiler over one call, as the candidate's own process reports it, not verified"},
      {"largest kernels and their share of the time", "run_wave 97%, copy 3%"}};
  out[10].search["tried"] = *ParseJson(
      R"([{"kind": "gemm", "result": "wrong-output", "what": "Half of h in registers.", "from": "the first"},
          {"kind": "gemm", "result": "timeout", "what": "A barrier per step.", "from": "the second"}])");
  out[11].search = {{"floor", "95.4 us"}, {"others", search.at("others")}};
  out[11].search["failed"] = *ParseJson(
      R"([{"kind": "reduction", "result": "wrong-output after 3 repairs", "what": "A tree per row."},
          {"kind": "gemm", "result": "build-failed"}])");
  return out;
}

TEST(Prompt, EveryCallTypeReadsAsItsGoldenFile) {
  std::vector<std::string> rendered;
  for (const PromptInputs& inputs : EveryCallType()) {
    rendered.push_back(inputs.call_type);
    const Result<Prompt> prompt = RenderPrompt(inputs);
    ASSERT_TRUE(prompt.ok()) << prompt.error().message;
    const std::string text = "[system]\n" + prompt->system + "\n[user]\n" + prompt->user;
    const fs::path path =
        fs::path("tests/golden/prompts") / (inputs.call_type + "." + inputs.target + ".txt");
    if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(WriteFileAtomic(fs::path(HONE_SOURCE_DIR) / path, text).ok());
    }
    EXPECT_EQ(Read(path), text) << path << ": run with HONE_UPDATE_GOLDEN=1 if the change is meant";
  }
  EXPECT_EQ(rendered, CallTypes());
}

// A task of each class of knowledge. tests/golden/prompt_golden_test.cpp has whole prompts of real tasks.
struct ClassOfTask {
  const char* name;
  const char* target;
  const char* source;
  const char* card;
};
constexpr ClassOfTask kClasses[] = {
    {"attention", "triton", "torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)",
     R"({"modules": {}, "operators": {"scaled_dot_product_attention": 1}, "flops": 17179869184.0,
         "floor_us": 265.2, "floor_bound": "arithmetic", "launches": 1})"},
    {"conv", "cuda", "torch.relu(self.bn(self.conv(x)))",
     R"({"modules": {"Conv2d": 20, "BatchNorm2d": 20, "ReLU": 17, "Linear": 1},
         "operators": {"convolution": 20, "batch_norm": 20, "relu": 17, "addmm": 1, "mean": 1},
         "floor_us": 410.0, "floor_bound": "arithmetic", "launches": 69})"},
    {"elementwise", "cpu", "torch.tanh(x + self.bias) * torch.sigmoid(g)",
     R"({"modules": {}, "operators": {"add": 1, "tanh": 1, "sigmoid": 1, "mul": 1}, "operator_calls": 4,
         "floor_us": 12.5, "floor_bound": "memory"})"},
    {"gemm", "triton", "torch.relu(self.linear(x))",
     R"({"modules": {"Linear": 1}, "operators": {"addmm": 1, "relu": 1}, "floor_us": 40.0,
         "floor_bound": "arithmetic", "launches": 2})"},
    {"norm", "cuda", "self.norm(x)",
     R"({"modules": {"LayerNorm": 1}, "operators": {"native_layer_norm": 1}, "floor_us": 6.0,
         "floor_bound": "memory", "launches": 1})"},
    {"reduction", "cpu", "torch.softmax(x, dim=-1)",
     R"({"modules": {}, "operators": {"_softmax": 1}, "operator_calls": 1, "floor_us": 30.0,
         "floor_bound": "memory"})"},
    {"scan", "triton", "torch.cumsum(x, dim=-1)",
     R"({"modules": {}, "operators": {"cumsum": 1}, "floor_us": 9.0, "floor_bound": "memory", "launches": 1})"},
};

PromptInputs OfClass(const ClassOfTask& one) {
  PromptInputs inputs = Gru("seed", one.target);
  inputs.task_name = one.name;
  inputs.task_source = fmt::format("# Model.forward returns {}", one.source);
  inputs.card = *ParseJson(one.card);
  return inputs;
}

TEST(Prompt, KnowledgeIsBounded) {
  for (const ClassOfTask& one : kClasses)
    for (const char* target : {"triton", "cuda", "cpu"}) {
      ClassOfTask here = one;
      here.target = target;
      const Result<Prompt> prompt = RenderPrompt(OfClass(here));
      ASSERT_TRUE(prompt.ok()) << prompt.error().message;
      EXPECT_LT(EstimateTokens(prompt->system), 3000) << one.name << " for " << target;
      EXPECT_EQ(Lines(ReplaceAll(prompt->system, "\nCOMPLETE, ", "\n\n")).size(),
                Lines(prompt->system).size() + 1)
          << "one example: " << one.name << " for " << target;
    }
}

// The part that is the same in all calls of a run comes first, byte for byte, so that a server caches it
// once.
TEST(Prompt, EveryCallOfARunBeginsWithTheSameBytes) {
  for (const char* target : {"triton", "cuda", "cpu"}) {
    const std::string first = RenderPrompt(Gru("seed", target))->system;
    EXPECT_GT(EstimateTokens(first), 1024) << "shorter ones are not cached";
    for (PromptInputs inputs : EveryCallType()) {
      if (inputs.call_type == "agent") continue;
      inputs.target = target;
      inputs.card = Gru("seed", target).card;
      inputs.device = Gru("seed", target).device;
      inputs.best_baseline = Gru("seed", target).best_baseline;
      const Result<Prompt> prompt = RenderPrompt(inputs);
      ASSERT_TRUE(prompt.ok()) << prompt.error().message;
      EXPECT_EQ(prompt->system, first) << inputs.call_type;
      EXPECT_FALSE(Contains(prompt->user, "Task 39_GRU")) << inputs.call_type << " says the task twice";
    }
  }
}

TEST(Prompt, TheSeedPromptOfTheGruIsShort) {
  for (const char* target : {"triton", "cuda", "cpu"}) {
    PromptInputs inputs = Gru("seed", target);
    const Result<Prompt> prompt = RenderPrompt(inputs);
    ASSERT_TRUE(prompt.ok()) << prompt.error().message;
    const std::string task(Trim(inputs.task_source));
    ASSERT_TRUE(Contains(prompt->system, task));
    const int64_t tokens = EstimateTokens(ReplaceAll(prompt->system, task, "") + prompt->user);
    fmt::print("seed prompt for {}: about {} tokens\n", target, tokens);
    EXPECT_LT(tokens, 2500) << target;
  }
}

struct Example {
  bool right;
  std::string file;  // as a candidate would contain it
};

// Finds "WRONG, …:" or "RIGHT, …:" and the following block, and wraps the block into a whole candidate.
std::vector<Example> Examples(const std::string& target) {
  PromptInputs inputs = Gru("seed", target);
  const std::vector<std::string> lines = Lines(RenderPrompt(inputs)->system);
  std::vector<Example> out;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const bool right = StartsWith(lines[i], "RIGHT, ");
    if (!right && !StartsWith(lines[i], "WRONG, ")) continue;
    const std::string info = lines[i + 1];
    std::string code;
    for (i += 2; i < lines.size() && lines[i] != "```"; ++i) code += lines[i] + "\n";
    std::string file = "import hone_ext\nimport torch\nimport triton\nimport triton.language as tl\n\n\n";
    file += info == "```cuda" ? "lib = hone_ext.cuda(r'''\n" + code + "''')\nrun = lib.run\n" : code;
    file += "\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, *args):\n";
    file += info == "```cuda" ? "        lib.run(*args)\n" : "        run(*args)\n";
    out.push_back({right, file + "        return args[-1]\n"});
  }
  return out;
}

TEST(Prompt, LintAgreesWithTheExamples) {
  for (const char* target : {"triton", "cuda"}) {
    const std::vector<Example> examples = Examples(target);
    ASSERT_EQ(examples.size(), 3u) << target;
    for (const Example& example : examples) {
      const LintReport report = LintSource("candidate.py", example.file);
      bool race = false;
      for (const Finding& finding : report.findings) {
        race = race || finding.rule == "recurrence-race";
        EXPECT_FALSE(example.right && finding.severity == Severity::kError)
            << finding.rule << ": " << finding.message << "\n"
            << example.file;
      }
      EXPECT_EQ(race, !example.right) << example.file;
      EXPECT_EQ(report.kernel_class, KernelClass::kPersistentRecurrent) << example.file;
    }
  }
}

TEST(Prompt, HoldsOnlyTheKnowledgeThatTheTaskNeeds) {
  PromptInputs inputs = Gru("seed", "triton");
  EXPECT_TRUE(Contains(RenderPrompt(inputs)->system, "\nRecurrences:"));
  EXPECT_FALSE(Contains(RenderPrompt(inputs)->system, "\nReductions"));
  EXPECT_FALSE(Contains(RenderPrompt(inputs)->system, "hone_ext"));
  inputs.card = *ParseJson(R"({"modules": {}, "operators": {"_softmax": 1}, "serial_chain": 1})");
  EXPECT_FALSE(Contains(RenderPrompt(inputs)->system, "Recurrences:"));
  EXPECT_TRUE(Contains(RenderPrompt(inputs)->system, "\nReductions"));
}

TEST(Prompt, SaysWhatPyTorchReaches) {
  PromptInputs inputs = Gru("seed", "cuda");
  const auto says = [&](const char* line) { return Contains(RenderPrompt(inputs)->system, line); };
  EXPECT_TRUE(
      says("\n- floor of this device: 95.4 us, arithmetic bound\n"
           "- best of PyTorch: 8.46 ms (cudagraph), 88.7 times the floor\n"));
  inputs.best_baseline.clear();
  EXPECT_TRUE(says("\n- best of PyTorch: 8.46 ms, 88.7 times the floor\n"));
  inputs.best_us = 0.5;
  EXPECT_FALSE(says("best of PyTorch: ")) << "a busy machine, and no time of a GRU";
  inputs.best_us = 0;
  EXPECT_FALSE(says("best of PyTorch: ")) << "not known";
  inputs.best_us = 16;
  inputs.card = *ParseJson(R"({"operators": {"relu": 1}})");
  EXPECT_TRUE(says("\n- best of PyTorch: 16 us\n")) << "without a floor";
}

TEST(Prompt, SeedsAskForDifferentDesigns) {
  std::vector<std::string> users;
  for (int seed = 0; seed < 5; ++seed) {
    PromptInputs inputs = Gru("seed", "cuda");
    inputs.seed_index = seed;
    users.push_back(RenderPrompt(inputs)->user);
    for (int other = 0; other < seed; ++other) EXPECT_NE(users[static_cast<size_t>(other)], users.back());
  }
}

TEST(Prompt, EveryPieceOfKnowledgeRendersForEveryTarget) {
  const char* kCards[] = {R"({"operators": {"relu": 1}})",
                          R"({"operators": {"addmm": 1}})",
                          R"({"operators": {"convolution": 1}})",
                          R"({"operators": {"scaled_dot_product": 1}})",
                          R"({"operators": {"sum": 1}})",
                          R"({"operators": {"lstm": 1}})",
                          "null"};
  for (const char* card : kCards)
    for (const char* target : {"cuda", "triton", "cpu"})
      for (const char* type : {"seed", "analysis"}) {
        PromptInputs inputs = Gru(type, target);
        inputs.card = *ParseJson(card);
        inputs.candidate_source = "class ModelNew: pass";
        inputs.device = Json();
        const Result<Prompt> prompt = RenderPrompt(inputs);
        ASSERT_TRUE(prompt.ok()) << prompt.error().message;
        for (const std::string& text : {prompt->system, prompt->user}) {
          EXPECT_FALSE(Contains(text, "@{")) << text;
          EXPECT_FALSE(Contains(text, "null")) << text;
        }
      }
}

TEST(Prompt, EveryCallTypeCanSayWhyTheLastReplyCameBack) {
  for (PromptInputs inputs : EveryCallType()) {
    inputs.first_message = "That was no file.";
    const std::string user = RenderPrompt(inputs)->user;
    EXPECT_LT(user.find("That was no file."), std::min(user.find("Task 39_GRU"), user.find("The candidate:")))
        << inputs.call_type;
  }
}

TEST(Prompt, WhatIsMissingIsSaid) {
  const auto message = [](PromptInputs inputs) { return RenderPrompt(inputs).error().message; };
  PromptInputs inputs = Gru("sed", "cuda");
  EXPECT_TRUE(StartsWith(message(inputs), "'sed' is no call type; there are seed, seed_repair,"));
  EXPECT_EQ(message(Gru("seed", "rocm")), "'rocm' is no target; there are cuda, triton and cpu");
  EXPECT_EQ(message(Gru("algorithm", "cuda")), "a prompt of type algorithm needs an analysis");
  inputs = Gru("seed_repair", "cuda");
  inputs.candidate_source = " \n";
  EXPECT_EQ(message(inputs), "a prompt of type seed_repair needs a candidate");
  inputs = Gru("seed", "cuda");
  inputs.task_source.clear();
  EXPECT_EQ(message(inputs), "a prompt needs the task's source");
}

TEST(Prompt, TextOfStrangersCannotCloseItsFenceOrBreakTheTemplate) {
  PromptInputs inputs = Gru("seed_repair", "triton");
  inputs.candidate_source = "x = '''\n````\n@{nothing}@ @if x@ \xFF\n'''";
  inputs.verdict["detail"] = "line\n```\n@end@";
  inputs.findings = *ParseJson(R"([{"rule": 3}, 7, null, {"message": "@{x}@"}])");
  inputs.history = *ParseJson(R"([null, {"attempt": "x"}, "text"])");
  const Result<Prompt> prompt = RenderPrompt(inputs);
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  EXPECT_TRUE(
      Contains(prompt->user, "\n`````python\nx = '''\n````\n@{nothing}@ @if x@ \xEF\xBF\xBD\n'''\n`````\n"));
  EXPECT_TRUE(Contains(prompt->user, "\n````\nline\n```\n@end@\n````\n"));
}

TEST(Prompt, SaysOneFigureWhereEagerIsTheBestOfPyTorch) {
  PromptInputs inputs = Gru("seed_repair", "cpu");
  inputs.verdict = *ParseJson(R"({"verdict": "rejected", "reason": "slower", "speedup": {"vs_eager": 0.9,
    "vs_best": 0.8, "best_baseline": "eager", "candidate_us": 20, "best_us": 16}})");
  EXPECT_TRUE(Contains(RenderPrompt(inputs)->user,
                       "- speed: 0.80x of eager, the best of PyTorch (20 us; best 16 us)\n"));
  inputs.verdict["speedup"]["best_baseline"] = "tf32";
  EXPECT_TRUE(Contains(RenderPrompt(inputs)->user,
                       "- speed: 0.90x of eager, 0.80x of tf32, the best of PyTorch (20 us; best 16 us)\n"));
  inputs.verdict["speedup"]["best_us"] = -669;
  EXPECT_TRUE(Contains(RenderPrompt(inputs)->user, "0.80x of tf32, the best of PyTorch\n"))
      << "a time below 0 is none";
}

TEST(Prompt, SaysWhatIsNotShownOfAVeryLongFile) {
  std::string file = "_PRELUDE = '''\n" + std::string(120'000, 'p') + "\n'''\n\n";
  file += "class ModelNew:\n    def forward(self, x):\n        return fused(x)\n";
  PromptInputs inputs = Gru("combine", "cuda");
  inputs.candidate_source = file;
  inputs.search = {{"second_source", ReplaceAll(file, "fused", "second_fused")}};
  const std::string user = RenderPrompt(inputs)->user;
  EXPECT_LT(user.size(), 10'000u);
  for (const char* shown :
       {"return fused(x)", "It is too long to be shown whole. Left out: _PRELUDE, helper text (3 lines).",
        "return second_fused(x)", "Left out of it: _PRELUDE, helper text (3 lines)."})
    EXPECT_TRUE(Contains(user, shown)) << shown;
}

TEST(Prompt, ALongErrorKeepsItsEnd) {
  std::string log;
  for (int line = 1; line <= 500; ++line) log += fmt::format("line {}\n", line);
  const std::string clipped = ClipToEnd(log, 60, 6000);
  EXPECT_TRUE(StartsWith(clipped, "[earlier lines left out]\nline 441\n")) << clipped.substr(0, 80);
  EXPECT_TRUE(EndsWith(clipped, "line 500"));
  EXPECT_LT(ClipToEnd(std::string(1u << 20, 'x'), 60, 6000).size(), 6200u);
  EXPECT_EQ(ClipToEnd("short", 60, 6000), "short");
}

}  // namespace
}  // namespace hone
