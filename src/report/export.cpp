#include "report/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "report/run_figures.h"
#include "store/record_io.h"

namespace hone {

namespace {

Json ParsedOrText(const std::string& text) {
  Result<Json> json = ParseJson(text);
  return json.ok() ? std::move(*json) : Json(text);
}

// Milliseconds over the contest's rounds, under KernelBench's names. A round with an interrupted empty block
// has a negative time and is skipped.
Json RuntimeStats(const CandidateFigure& figure, const std::string& device, const std::string& target) {
  for (const TimingFigure& timing : figure.timings) {
    std::vector<double> rounds = timing.round_us;
    rounds.erase(std::remove_if(rounds.begin(), rounds.end(), [](double us) { return us <= 0; }),
                 rounds.end());
    if (timing.name != "candidate" || rounds.empty()) continue;
    const double count = static_cast<double>(rounds.size());
    double sum = 0;
    double squares = 0;
    for (const double us : rounds) sum += us;
    for (const double us : rounds) squares += (us - sum / count) * (us - sum / count);
    const auto [least, most] = std::minmax_element(rounds.begin(), rounds.end());
    return {{"mean", sum / count / 1e3},
            {"std", std::sqrt(squares / count) / 1e3},
            {"min", *least / 1e3},
            {"max", *most / 1e3},
            {"median", timing.median_us / 1e3},
            {"num_trials", rounds.size()},
            {"hardware", device},
            {"device", target}};
  }
  return Json::object();
}

OrderedJson EvalResult(const RunRecord& run, const CandidateRecord& one, int sample) {
  const CandidateFigure figure = FigureOf(one);
  const Json record = ParsedOrText(one.json);
  const std::string built = GetString(GetMember(record, "gates"), "build");
  OrderedJson metadata = {
      {"hone_key", one.key},           {"hone_verdict", one.verdict.empty() ? "not judged" : one.verdict},
      {"hone_reason", one.reason},     {"hone_vs_best", one.vs_best},
      {"hone_vs_eager", one.vs_eager}, {"hardware", run.device},
      {"device", run.target}};
  if (!figure.right() && !one.detail.empty()) metadata["hone_detail"] = one.detail;
  const Json stats = RuntimeStats(figure, run.device, run.target);
  return {{"sample_id", sample},
          {"compiled", built == "pass"},
          {"correctness", figure.right()},
          {"metadata", metadata},
          {"runtime", figure.right() ? GetNumber(stats, "mean", -1) : -1.0},
          {"runtime_stats", stats}};
}

}  // namespace

KernelBenchProblem ProblemOf(const RunRecord& run) {
  KernelBenchProblem found;
  const fs::path path = run.task_path.empty() ? fs::path(run.task) : fs::path(run.task_path);
  found.problem = std::atoi(path.filename().c_str());
  const std::string folder = path.parent_path().filename().string();
  if (StartsWith(folder, "level"))
    found.level = std::atoi(folder.c_str() + 5 + (StartsWith(folder, "level_") ? 1 : 0));
  return found;
}

std::vector<ExportFile> KernelBenchFiles(const RunStory& story, const KernelBenchProblem& problem) {
  std::vector<const CandidateRecord*> order;
  for (const CandidateRecord& one : story.candidates)
    if (one.phase != "zero" && !one.source.empty()) order.push_back(&one);
  std::stable_partition(order.begin(), order.end(), [&](const CandidateRecord* one) {
    return !story.run.best_key.empty() && one->key == story.run.best_key;
  });
  std::vector<ExportFile> files;
  OrderedJson samples = OrderedJson::array();
  for (size_t i = 0; i < order.size(); ++i) {
    files.push_back(
        {fmt::format("level_{}_problem_{}_sample_{}_kernel.py", problem.level, problem.problem, i),
         order[i]->source});
    if (order[i]->judged()) samples.push_back(EvalResult(story.run, *order[i], static_cast<int>(i)));
  }
  const OrderedJson results = {{std::to_string(problem.problem), samples}};
  files.push_back({"eval_results.json", DumpJson(results, 4) + "\n"});
  return files;
}

OrderedJson RunExport(const RunData& data, const std::vector<std::string>& console) {
  const RunRecord& run = data.story.run;
  OrderedJson json = {{"format", "hone-run"}, {"version", 1}};
  json["run"] = RunToJson(run);
  json["run"]["best_key"] = run.best_key;
  const OrderedJson whole = RecordToJson(run, Extent::kWhole);
  for (const char* name : {"task_source", "options", "context"}) json[name] = whole.at(name);
  json["usage"] = RecordToJson(data.story.usage, Extent::kWhole);
  json["candidates"] = OrderedJson::array();
  for (const CandidateRecord& one : data.story.candidates) {
    OrderedJson candidate = RecordToJson(one, Extent::kWhole);
    candidate.erase("limit");  // the format's own name is:
    candidate["error_limit"] = one.error_limit;
    json["candidates"].push_back(std::move(candidate));
  }
  json["calls"] = OrderedJson::array();
  for (const CallRecord& call : data.calls) json["calls"].push_back(RecordToJson(call, Extent::kWhole));
  json["decisions"] = OrderedJson::array();
  for (const DecisionRecord& one : data.story.decisions)
    json["decisions"].push_back({{"key", one.key},
                                 {"created", one.created},
                                 {"phase", one.phase},
                                 {"text", one.text},
                                 {"json", one.json.empty() ? Json() : ParsedOrText(one.json)}});
  json["console"] = console;
  return json;
}

}  // namespace hone
