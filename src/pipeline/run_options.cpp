#include "pipeline/run_options.h"

#include "base/text.h"

namespace hone {

namespace {

constexpr char kBoth[] = "expert+";

std::vector<std::string> Texts(const Json& array) {
  std::vector<std::string> texts;
  if (array.is_array())
    for (const Json& one : array)
      if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

}  // namespace

bool ExpertBesideModel(const RunOptions& options) {
  return StartsWith(options.proposer, kBoth);
}

bool AsksExpert(const RunOptions& options) {
  return options.proposer == "expert" || ExpertBesideModel(options);
}

std::string ModelPartOf(const RunOptions& options) {
  const std::string& proposer = options.proposer;
  if (ExpertBesideModel(options)) return proposer.substr(sizeof(kBoth) - 1);
  const bool none = proposer == "expert" || proposer == "import" || StartsWith(proposer, "agent:");
  return none ? "" : proposer;
}

Json ToJson(const RecordedStep& step) {
  return {{"step", step.number}, {"operator", step.op}, {"parents", step.parents}};
}

RecordedStep RecordedStepFrom(const Json& json) {
  return {static_cast<int>(GetInt(json, "step")), GetString(json, "operator"),
          Texts(GetMember(json, "parents"))};
}

Json ToJson(const RunOptions& options) {
  Json follow = Json::array();
  for (const RecordedStep& step : options.follow) follow.push_back(ToJson(step));
  return {{"proposer", options.proposer},
          {"seeds", options.seeds},
          {"repairs", options.repairs},
          {"mend", options.mend},
          {"analysis", options.analysis},
          {"class_check", options.class_check},
          {"tuning", options.tuning},
          {"tune_trials", options.tune_trials},
          {"judge_at_most", options.judge_at_most},
          {"again", options.again},
          {"search", options.search},
          {"patience", options.patience},
          {"breadth", options.breadth},
          {"replies", options.replies},
          {"seed_from", options.seed_from},
          {"agent_minutes", options.agent_minutes},
          {"files", options.files},
          // As text, because other JSON readers keep only 53 bits of a number.
          {"search_seed", std::to_string(options.search_seed)},
          {"follow", follow},
          {"budget",
           {{"tokens", options.budget.tokens},
            {"usd", options.budget.usd},
            {"minutes", options.budget.minutes},
            {"evaluations", options.budget.evaluations},
            {"calls", options.budget.calls}}},
          {"model", options.model},
          {"judge", options.judge}};
}

RunOptions RunOptionsFromJson(const Json& json) {
  RunOptions options;
  options.proposer = GetString(json, "proposer", options.proposer);
  options.seeds = static_cast<int>(GetInt(json, "seeds", options.seeds));
  options.repairs = static_cast<int>(GetInt(json, "repairs", options.repairs));
  // Older versions had no mechanical repair.
  options.mend = GetBool(json, "mend", false);
  options.analysis = GetBool(json, "analysis", options.analysis);
  options.class_check = GetBool(json, "class_check", options.class_check);
  options.tuning = GetBool(json, "tuning", options.tuning);
  options.tune_trials = static_cast<int>(GetInt(json, "tune_trials", options.tune_trials));
  options.judge_at_most = static_cast<int>(GetInt(json, "judge_at_most", options.judge_at_most));
  options.again = GetBool(json, "again", options.again);
  options.agent_minutes = GetNumber(json, "agent_minutes", options.agent_minutes);
  options.search = GetString(json, "search", options.search);
  options.patience = static_cast<int>(GetInt(json, "patience", options.patience));
  options.breadth = static_cast<int>(GetInt(json, "breadth", options.breadth));
  options.replies = static_cast<int>(GetInt(json, "replies", options.replies));
  options.seed_from = Texts(GetMember(json, "seed_from"));
  options.files = Texts(GetMember(json, "files"));
  options.search_seed = std::strtoull(GetString(json, "search_seed", "0").c_str(), nullptr, 10);
  const Json& follow = GetMember(json, "follow");
  if (follow.is_array())
    for (const Json& step : follow) options.follow.push_back(RecordedStepFrom(step));
  const Json& budget = GetMember(json, "budget");
  options.budget.tokens = GetInt(budget, "tokens");
  options.budget.usd = GetNumber(budget, "usd");
  options.budget.minutes = GetNumber(budget, "minutes");
  options.budget.evaluations = static_cast<int>(GetInt(budget, "evaluations"));
  options.budget.calls = static_cast<int>(GetInt(budget, "calls"));
  options.model = GetMember(json, "model");
  options.judge = GetMember(json, "judge");
  return options;
}

}  // namespace hone
