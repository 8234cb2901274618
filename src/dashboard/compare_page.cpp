// Runs side by side, rows that differ first, and whether a difference in speed is one, given the intervals.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "dashboard/pages.h"
#include "dashboard/views.h"
#include "report/run_report.h"

namespace hone {

namespace {

constexpr size_t kMostRuns = 6;

// "R1,R2" and several run=… fields alike.
std::vector<std::string> AskedRuns(const HttpRequest& request) {
  std::vector<std::string> ids;
  for (const auto& [name, value] : request.query) {
    if (name != "run") continue;
    std::string text = value;
    std::replace(text.begin(), text.end(), ' ', ',');
    for (const std::string& id : Split(text, ','))
      if (!id.empty() && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

struct Side {
  RunRecord run;
  std::vector<CandidateRecord> candidates;
  UsageTotals usage;
  const CandidateRecord* best() const {
    for (const CandidateRecord& one : candidates)
      if (!run.best_key.empty() && one.key == run.best_key) return &one;
    return nullptr;
  }
};

Json Rows(const std::vector<Side>& sides) {
  struct Row {
    const char* name;
    std::string (*value)(const Side&);
  };
  static constexpr Row kRows[] = {
      {"task", [](const Side& s) { return s.run.task; }},
      {"status", [](const Side& s) { return s.run.status; }},
      {"vs best PyTorch",
       [](const Side& s) {
         return s.best() == nullptr ? std::string("PyTorch kept")
                                    : fmt::format("{} {}", SpeedText(s.best()->vs_best),
                                                  IntervalText(s.best()->ci_low, s.best()->ci_high));
       }},
      {"vs eager", [](const Side& s) { return s.best() == nullptr ? "-" : SpeedText(s.best()->vs_eager); }},
      {"best", [](const Side& s) { return s.run.best_key.empty() ? "PyTorch" : s.run.best_key; }},
      {"kind", [](const Side& s) { return s.best() == nullptr ? "" : s.best()->kind; }},
      {"kernel", [](const Side& s) { return s.best() == nullptr ? "" : s.best()->kernel_class; }},
      {"error / limit",
       [](const Side& s) {
         return s.best() == nullptr ? ""
                                    : fmt::format("{} / {}", HumanNumber(s.best()->error),
                                                  HumanNumber(s.best()->error_limit));
       }},
      {"accepted",
       [](const Side& s) {
         return std::to_string(std::count_if(s.candidates.begin(), s.candidates.end(),
                                             [](const CandidateRecord& one) { return one.accepted(); }));
       }},
      {"rejected",
       [](const Side& s) {
         return std::to_string(
             std::count_if(s.candidates.begin(), s.candidates.end(),
                           [](const CandidateRecord& one) { return one.verdict == "rejected"; }));
       }},
      {"proposer", [](const Side& s) { return s.run.proposer; }},
      {"model", [](const Side& s) { return s.run.model; }},
      {"device", [](const Side& s) { return s.run.device; }},
      {"target", [](const Side& s) { return s.run.target; }},
      {"tokens",
       [](const Side& s) { return std::to_string(s.usage.prompt_tokens + s.usage.completion_tokens); }},
      {"cost",
       [](const Side& s) {
         return s.usage.price_known ? fmt::format("${:.4f}", s.usage.cost_usd) : "not known";
       }},
      {"work", [](const Side& s) { return HumanSeconds(s.run.seconds); }},
      {"task file", [](const Side& s) { return s.run.task_sha256.substr(0, 12); }},
  };
  Json differ = Json::array();
  Json same = Json::array();
  for (const Row& row : kRows) {
    Json values = Json::array();
    bool different = false;
    for (const Side& side : sides) {
      values.push_back(row.value(side));
      different = different || values.back() != values.front();
    }
    (different ? differ : same).push_back({{"name", row.name}, {"values", values}, {"differs", different}});
  }
  for (Json& row : same) differ.push_back(std::move(row));
  return differ;
}

// One sentence on the two fastest; empty where there is nothing to say.
std::string Judgement(const std::vector<Side>& sides) {
  const std::string& task = sides[0].run.task_sha256;
  for (const Side& side : sides)
    if (side.run.task_sha256 != task || side.run.device != sides[0].run.device)
      return "These runs are of different tasks or devices: their speed-ups are not comparable.";
  std::vector<const Side*> won;
  for (const Side& side : sides)
    if (side.best() != nullptr) won.push_back(&side);
  if (won.empty()) return "None of them beat PyTorch.";
  std::sort(won.begin(), won.end(),
            [](const Side* a, const Side* b) { return a->best()->vs_best > b->best()->vs_best; });
  const std::string first = fmt::format("R{}", won[0]->run.id);
  if (won.size() == 1) return fmt::format("Only {} beat PyTorch.", first);
  const bool apart = won[0]->best()->ci_low > won[1]->best()->ci_high;
  return apart ? fmt::format("{} is faster than R{}: their 95% intervals do not meet.", first, won[1]->run.id)
               : fmt::format("{} and R{} cannot be told apart: their 95% intervals overlap.", first,
                             won[1]->run.id);
}

}  // namespace

HttpReply ComparePage(const PageContext& page) {
  const std::vector<std::string> ids = AskedRuns(page.request);
  Json values = {
      {"runs", Join(ids, " ")}, {"sides", Json::array()}, {"rows", Json::array()}, {"judgement", ""}};
  if (ids.size() > kMostRuns) return ErrorPage(400, fmt::format("at most {} runs at a time", kMostRuns));
  std::vector<Side> sides;
  for (const std::string& id : ids) {
    Side side;
    Result<RunRecord> run = FindRunById(page.store, id);
    if (!run.ok()) return ErrorPage(404, fmt::format("there is no run '{}'", id));
    side.run = std::move(*run);
    Result<std::vector<CandidateRecord>> candidates = page.store.CandidateSummaries(side.run.id);
    if (!candidates.ok()) return ErrorPage(candidates.error());
    side.candidates = std::move(*candidates);
    const Result<UsageTotals> usage = page.store.Usage(side.run.id);
    if (!usage.ok()) return ErrorPage(usage.error());
    side.usage = *usage;
    sides.push_back(std::move(side));
  }
  if (sides.size() >= 2) {
    for (const Side& side : sides) values["sides"].push_back(RunValues(side.run, false));
    values["rows"] = Rows(sides);
    values["judgement"] = Judgement(sides);
  }
  return RenderPage("compare", "Compare", "compare", std::move(values));
}

}  // namespace hone
