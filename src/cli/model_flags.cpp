#include "cli/model_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/http_model.h"
#include "model/open_model.h"
#include "pipeline/model_roles.h"

namespace hone {

namespace {

// Options that require --model-repair.
struct RepairOption {
  const char* flag;
  std::string ModelFlags::*value;
};
constexpr RepairOption kOfRepair[] = {{"--api-base-repair", &ModelFlags::api_base_repair},
                                      {"--api-key-env-repair", &ModelFlags::api_key_env_repair},
                                      {"--api-key-file-repair", &ModelFlags::api_key_file_repair},
                                      {"--request-extra-repair", &ModelFlags::extra_repair},
                                      {"--reasoning-effort-repair", &ModelFlags::reasoning_effort_repair}};

constexpr const char* kKnownEfforts = "none, minimal, low, medium, high, xhigh or max";

// Servers have different words, and get new ones. One that a server does not take ends the run with its
// answer.
std::string CheckEffort(const std::string& word) {
  const bool plain = !word.empty() && word.size() <= 32 && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return plain ? "" : fmt::format("'{}' is not a plain word; there are {}", word, kKnownEfforts);
}

void AddRepairFlags(Command& command, ModelFlags* flags) {
  const char* group = "Second language model, for repairs (--model-repair)";
  command
      .Add("--model-repair", &flags->model_repair,
           "Model that repairs broken candidates (default: the one of --model)")
      .Group(group)
      .Placeholder("NAME");
  command
      .Add("--api-base-repair", &flags->api_base_repair, "Base URL of its server (default: as for --model)")
      .Group(group)
      .Placeholder("URL");
  command
      .Add(
          "--api-key-env-repair", &flags->api_key_env_repair,
          "Environment variable that holds its API key (default, if it uses --model's server: --model's key)")
      .Group(group)
      .Placeholder("NAME");
  command
      .Add("--api-key-file-repair", &flags->api_key_file_repair,
           "File that holds its API key; only its owner may read it")
      .Group(group)
      .Placeholder("FILE");
  command
      .Add("--reasoning-effort-repair", &flags->reasoning_effort_repair,
           "How much it thinks before it replies (default: --reasoning-effort, left out if it refuses that)")
      .Group(group)
      .CheckedBy(CheckEffort)
      .Placeholder("WORD");
  command
      .Add("--request-extra-repair", &flags->extra_repair,
           "JSON object merged into its requests (default: --request-extra; '{}' for nothing)")
      .Group(group)
      .Placeholder("JSON");
}

Result<Json> ExtraOf(const std::string& text, const std::string& flag) {
  if (text.empty()) return Json();
  HONE_ASSIGN_OR_RETURN(Json extra, ParseJson(text).WithContext(flag));
  if (!extra.is_object()) return Error{ErrorKind::kUsage, flag + " must be a JSON object"};
  return extra;
}

Result<PriceTable> PricesOf(const ModelFlags& flags) {
  PriceTable prices = PriceTable::BuiltIn();
  if (!flags.prices.empty()) HONE_RETURN_IF_ERROR(prices.Override(flags.prices));
  return prices;
}

Result<HttpModelOptions> MainOptions(const ModelFlags& flags) {
  HttpModelOptions http;
  http.model = flags.model;
  http.api_base = flags.api_base;
  HONE_ASSIGN_OR_RETURN(http.style, ApiStyleFromName(flags.api_style));
  http.key_variable = flags.api_key_env;
  http.key_file = flags.api_key_file;
  http.max_output_tokens = flags.max_output_tokens;
  http.limits.idle_seconds = flags.idle_timeout_s;
  if (flags.temperature >= 0) http.temperature = flags.temperature;
  http.reasoning_effort = flags.reasoning_effort;
  HONE_ASSIGN_OR_RETURN(http.extra, ExtraOf(flags.extra, "--request-extra"));
  HONE_ASSIGN_OR_RETURN(http.prices, PricesOf(flags));
  return http;
}

Result<HttpModelOptions> RepairOptions(const ModelFlags& flags, const HttpModelOptions& main) {
  HttpModelOptions repair = main;
  repair.model = flags.model_repair;
  if (!flags.api_base_repair.empty()) repair.api_base = flags.api_base_repair;
  if (!flags.api_key_env_repair.empty() || !flags.api_key_file_repair.empty()) {
    repair.key_variable = flags.api_key_env_repair;
    repair.key_file = flags.api_key_file_repair;
  } else if (!flags.one_key) {
    HONE_ASSIGN_OR_RETURN(const std::string server, ServerOf(main));
    HONE_ASSIGN_OR_RETURN(const std::string other, ServerOf(repair));
    if (server != other) {
      // A key for one server must not be sent to another.
      repair.key_variable.clear();
      repair.key_file.clear();
    }
  }
  if (!flags.extra_repair.empty()) {
    HONE_ASSIGN_OR_RETURN(repair.extra, ExtraOf(flags.extra_repair, "--request-extra-repair"));
  }
  repair.effort_may_be_left_out = flags.reasoning_effort_repair.empty();
  if (!flags.reasoning_effort_repair.empty()) repair.reasoning_effort = flags.reasoning_effort_repair;
  return repair;
}

}  // namespace

void AddModelFlags(Command& command, ModelFlags* flags) {
  const char* group = "Language model (--proposer llm)";
  command.Add("--model", &flags->model, "Name of the model on the server").Group(group).Placeholder("NAME");
  command
      .Add(
          "--api-base", &flags->api_base,
          "Base URL of the server, such as http://127.0.0.1:8000/v1 (default: derived from the model's name)")
      .Group(group)
      .Placeholder("URL");
  command.Add("--api-style", &flags->api_style, "Protocol of the server")
      .Group(group)
      .OneOf({"auto", "openai", "anthropic"});
  command.Add("--api-key-env", &flags->api_key_env, "Environment variable that holds the API key")
      .Group(group)
      .Placeholder("NAME");
  command
      .Add("--api-key-file", &flags->api_key_file, "File that holds the API key; only its owner may read it")
      .Group(group)
      .Placeholder("FILE");
  command.Add("--max-output-tokens", &flags->max_output_tokens, "Longest reply to ask for, in tokens")
      .Group(group)
      .AtLeast(0);
  command
      .Add("--idle-timeout", &flags->idle_timeout_s,
           "A request without data for this long is cancelled and sent again")
      .Group(group)
      .Positive()
      .Placeholder("SECONDS");
  command.Add("--temperature", &flags->temperature, "Sampling temperature (default: the server's)")
      .Group(group);
  command
      .Add("--reasoning-effort", &flags->reasoning_effort,
           std::string("How much the model thinks before it replies (default: the server's): ") +
               kKnownEfforts)
      .Group(group)
      .CheckedBy(CheckEffort)
      .Placeholder("WORD");
  command
      .Add("--request-extra", &flags->extra,
           "JSON object merged into every request, such as '{\"top_p\":0.9}'")
      .Group(group)
      .Placeholder("JSON");
  command
      .Add("--prices", &flags->prices,
           "JSON file with prices in USD per million tokens, such as {\"model\": {\"input\": 1, \"output\": "
           "2}}; \"cached\" and \"cache_write\" may be added")
      .Group(group)
      .Placeholder("FILE");
  AddRepairFlags(command, flags);
}

Json ToJson(const ModelFlags& flags) {
  return {{"model", flags.model},
          {"model_repair", flags.model_repair},
          {"api_base_repair", flags.api_base_repair},
          {"api_key_env_repair", flags.api_key_env_repair},
          {"api_key_file_repair", flags.api_key_file_repair},
          {"extra_repair", flags.extra_repair},
          {"reasoning_effort_repair", flags.reasoning_effort_repair},
          {"api_base", flags.api_base},
          {"api_style", flags.api_style},
          {"api_key_env", flags.api_key_env},
          {"api_key_file", flags.api_key_file},
          {"prices", flags.prices},
          {"extra", flags.extra},
          {"max_output_tokens", flags.max_output_tokens},
          {"idle_timeout_s", flags.idle_timeout_s},
          {"temperature", flags.temperature},
          {"reasoning_effort", flags.reasoning_effort}};
}

ModelFlags ModelFlagsFromJson(const Json& json) {
  ModelFlags flags;
  flags.model = GetString(json, "model");
  flags.model_repair = GetString(json, "model_repair");
  flags.api_base = GetString(json, "api_base");
  flags.api_base_repair = GetString(json, "api_base_repair");
  flags.one_key = json.is_object() && !json.contains("api_key_env_repair");
  flags.api_key_env_repair = GetString(json, "api_key_env_repair");
  flags.api_key_file_repair = GetString(json, "api_key_file_repair");
  flags.extra_repair = GetString(json, "extra_repair");
  flags.reasoning_effort_repair = GetString(json, "reasoning_effort_repair");
  flags.api_style = GetString(json, "api_style", flags.api_style);
  flags.api_key_env = GetString(json, "api_key_env");
  flags.api_key_file = GetString(json, "api_key_file");
  flags.prices = GetString(json, "prices");
  flags.extra = GetString(json, "extra");
  flags.max_output_tokens = GetInt(json, "max_output_tokens");
  flags.idle_timeout_s = GetNumber(json, "idle_timeout_s", flags.idle_timeout_s);
  flags.temperature = GetNumber(json, "temperature", -1);
  flags.reasoning_effort = GetString(json, "reasoning_effort");
  return flags;
}

Status CheckModelRoles(const RunOptions& options) {
  const ModelFlags flags = ModelFlagsFromJson(options.model);
  const std::string source = ModelPartOf(options);
  if (!flags.model_repair.empty() && !source.empty() && source != "llm")
    return Error{ErrorKind::kUsage, "--model-repair is for --proposer llm and expert+llm; " + source +
                                        " answers all calls by itself, so leave it out"};
  if (flags.model_repair.empty())
    for (const RepairOption& option : kOfRepair)
      if (!(flags.*option.value).empty())
        return Error{ErrorKind::kUsage, std::string(option.flag) + " needs --model-repair NAME"};
  return Ok();
}

Status CheckSpendLimits(const RunOptions& options) {
  const Budget& budget = options.budget;
  if (StartsWith(options.proposer, "agent:")) {
    const char* limit = budget.usd > 0      ? "--max-usd"
                        : budget.tokens > 0 ? "--max-tokens"
                        : budget.calls > 0  ? "--max-calls"
                                            : nullptr;
    if (limit == nullptr) return Ok();
    return Error{ErrorKind::kUsage,
                 fmt::format("Hone does not see the calls of an agent, so {0} cannot hold: leave it out "
                             "({0} 0) and limit the agent with --agent-minutes or --max-evaluations",
                             limit)};
  }
  const std::string source = ModelPartOf(options);
  if (budget.usd <= 0 || source.empty() || StartsWith(source, "replay:")) return Ok();  // a replay is free
  if (source != "llm")
    return Error{ErrorKind::kUsage,
                 fmt::format("no price is known for {}, so --max-usd cannot hold: use --max-tokens or "
                             "--max-calls instead (and --max-usd 0)",
                             source)};
  const ModelFlags flags = ModelFlagsFromJson(options.model);
  HONE_ASSIGN_OR_RETURN(const PriceTable prices, PricesOf(flags));
  std::vector<std::string> unknown;
  for (const std::string& name : {flags.model, flags.model_repair})
    if (!name.empty() && !prices.Find(name)) unknown.push_back(name);
  if (unknown.empty()) return Ok();
  return Error{ErrorKind::kUsage,
               fmt::format("no price is known for {}, so --max-usd cannot hold: give --prices FILE, or use "
                           "--max-tokens or --max-calls instead (and --max-usd 0)",
                           Join(unknown, " and "))};
}

Result<std::unique_ptr<Model>> ModelOf(const RunOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSpendLimits(options));
  const std::string source = ModelPartOf(options);
  if (source.empty()) return std::unique_ptr<Model>();
  const ModelFlags flags = ModelFlagsFromJson(options.model);
  if (source == "llm" && flags.model.empty())
    return Error{ErrorKind::kUsage,
                 "--proposer llm needs --model NAME (and --api-base URL for a server of your own)"};
  HONE_ASSIGN_OR_RETURN(const HttpModelOptions http, MainOptions(flags));
  if (source != "llm" || flags.model_repair.empty()) return OpenModel(source, http);
  HONE_ASSIGN_OR_RETURN(const HttpModelOptions repair, RepairOptions(flags, http));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Model> main_model, OpenModel(source, http));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Model> repair_model,
                        OpenModel(source, repair).WithContext("--model-repair"));
  return WithRepairModel(std::move(main_model), std::move(repair_model));
}

}  // namespace hone
