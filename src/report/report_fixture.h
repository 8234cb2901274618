// A hand-made run for tests: every kind of verdict, a lineage, calls, and hostile text. All values are fixed,
// so that reports of it can be compared byte by byte.
#pragma once

#include <string>

#include "base/json.h"
#include "base/terminal.h"
#include "report/html_report.h"

namespace hone {

// Text that hostile candidates and models put wherever they can.
inline const std::string kHostile = std::string("<script>alert('1')</script>\" onload=\"x\" \x1b[31m\xff") +
                                    "&amp;" + std::string(1, '\0') + "</textarea></style>end";

// Wide enough for every sentence, so that a test finds it on one line.
inline const Style kOneLine(false, 1000);

inline CandidateRecord FixtureCandidate(const std::string& key, const std::string& parent,
                                        const std::string& phase, const std::string& verdict,
                                        const std::string& reason, double vs_best) {
  CandidateRecord one;
  one.run_id = 7;
  one.key = key;
  one.parent_key = parent;
  one.phase = phase;
  one.proposer = "replay";
  one.created = "2026-01-31T10:00:30Z";
  one.verdict = verdict;
  one.reason = reason;
  one.kernel_class = "per-step";
  one.source =
      "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x.sum() "
      " # " +
      key + "\n";
  one.sha256 = "0123456789abcdef";
  Json record = {{"verdict", verdict}, {"reason", reason}};
  record["gates"] = {{"build", "pass"},
                     {"correct", reason == "wrong-output" ? "fail" : "pass"},
                     {"speed", vs_best > 0 ? "pass" : "skipped"}};
  record["launches"] = {{"reference", 12}, {"candidate", 1}};
  record["task_audit"] = {{"mutants", 5}, {"blind_spots", {"drops the bias"}}, {"blind", false}};
  record["provenance"] = {{"time", "2026-01-31T10:00:40Z"},
                          {"hone", "1.0"},
                          {"device", "Test CPU"},
                          {"target", "cpu"},
                          {"python", "3.12"},
                          {"torch", "2.11"},
                          {"cores", 2},
                          {"load_average", {0.5, 0.4, 0.3}},
                          {"seconds", 4.0},
                          {"task", {{"sha256", "aa"}}},
                          {"candidate", {{"sha256", "bb"}}}};
  Json measurement = {{"trials",
                       {{{"case", "own/0"},
                         {"outputs",
                          {{{"path", "output"},
                            {"distance", {{"relative", 1e-6}, {"worst", 2e-6}}},
                            {"limit", 1e-5},
                            {"worst_limit", 1e-4}}}}}}}};
  one.error = reason == "wrong-output" ? 0.25 : 1e-6;
  one.error_limit = 1e-5;
  record["error"] = {{"candidate", one.error}, {"limit", one.error_limit}, {"reference", 5e-7}};
  if (vs_best > 0) {
    one.vs_best = vs_best;
    one.ci_low = vs_best * 0.9;
    one.ci_high = vs_best * 1.1;
    one.vs_eager = vs_best * 1.5;
    one.candidate_us = 400 / vs_best;
    one.kind = "kernel";
    one.seconds = 4;
    record["speedup"] = {
        {"best_baseline", "compile"}, {"best_us", 400.0}, {"candidate_us", one.candidate_us}};
    measurement["profile"] = {{"own_us", one.candidate_us * 0.6}, {"library_us", one.candidate_us * 0.1}};
    measurement["timing"]["contestants"] = {
        {{"name", "candidate"},
         {"median_us", one.candidate_us},
         {"round_us", {one.candidate_us * 0.98, one.candidate_us, one.candidate_us * 1.04}}},
        {{"name", "eager"}, {"median_us", 600.0}, {"round_us", {590.0, 600.0, 620.0}}},
        {{"name", "compile"}, {"median_us", 400.0}, {"round_us", {396.0, 400.0, 404.0}}}};
  }
  record["measurement"] = measurement;
  one.json = DumpJson(record);
  return one;
}

inline RunData FixtureRun() {
  RunData data;
  RunRecord& run = data.story.run;
  run.id = 7;
  run.name = "20260131-100000_39_GRU_replay";
  run.created = "2026-01-31T10:00:00Z";
  run.finished = "2026-01-31T10:02:00Z";
  run.status = "done";
  run.task = "39_GRU";
  run.task_path = "/tasks/level3/39_GRU.py";
  run.task_source = "import torch\n# " + kHostile + "\n";
  run.task_sha256 = "aa";
  run.target = "cpu";
  run.device = "Test CPU";
  run.proposer = "replay:folder";
  run.model = kHostile;
  run.folder = "/runs/20260131-100000_39_GRU_replay";
  run.outcome = "seed0.repair1 is 4.00x as fast as the best PyTorch baseline";
  run.best_key = "seed0.repair1";
  run.vs_best = 4;
  run.vs_eager = 6;
  run.seconds = 120;
  run.options = "{}";
  run.card = DumpJson(Json{{"card",
                            {{"floor_us", 20.0},
                             {"floor_bound", "memory"},
                             {"flops", 2e9},
                             {"least_bytes", 4e8},
                             {"ceiling_flops_per_s", 4e14},
                             {"ceiling_bytes_per_s", 2e13},
                             {"serial_chain", 100},
                             {"operator_calls", 12}}},
                           {"facts", {{"recurrent_modules", {{{"kind", "GRU"}}}}}}});
  CandidateRecord zero;
  zero.key = "zero";
  zero.phase = "zero";
  zero.verdict = "baseline";
  CandidateRecord wrong = FixtureCandidate("seed0", "", "seed", "rejected", "wrong-output", 0);
  wrong.detail = "output[0] is off " + kHostile;
  wrong.title = kHostile;
  wrong.source += kHostile + "\n";
  wrong.findings = DumpJson(Json{{{"rule", "host-loop"},
                                  {"severity", "warning"},
                                  {"line", 6},
                                  {"message", kHostile},
                                  {"fix", "move the loop into the kernel"}}});
  CandidateRecord unjudged = FixtureCandidate("seed1.algorithm" + kHostile, "seed1", "algorithm", "", "", 0);
  unjudged.json.clear();
  unjudged.error = unjudged.error_limit = 0;
  data.story.candidates = {
      zero,
      wrong,
      FixtureCandidate("seed0.repair1", "seed0", "seed_repair", "accepted", "faster", 4),
      FixtureCandidate("seed1", "", "seed", "rejected", "slower", 0.5),
      FixtureCandidate("seed1.repair1", "seed1", "seed_repair", "accepted", "faster", 1.25),
      unjudged};
  data.story.decisions = {{"tuning", "2026-01-31T10:01:00Z", "tuning", "no tuning: " + kHostile, "null"}};
  data.story.usage.calls = 3;
  static_cast<Usage&>(data.story.usage) = {3000, 900, false, 0.0123, true};
  for (int i = 0; i < 3; ++i) {
    CallRecord call;
    call.key = i == 0 ? "seed0" : i == 1 ? "seed0.repair1" : "seed1";
    call.created = "2026-01-31T10:0" + std::to_string(i) + ":10Z";
    call.call_type = i == 1 ? "seed_repair" : "seed";
    call.status = "answered";
    call.prompt = kHostile;
    call.reply = "a reply";
    call.prompt_tokens = 1000;
    call.completion_tokens = 300;
    call.cost_usd = 0.0041;
    call.price_known = true;
    data.calls.push_back(call);
  }
  return data;
}

}  // namespace hone
