#include "service/evaluation_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone {

namespace {

const std::vector<std::string> kOptionNames = {"check_only",    "trials",  "precision",   "error_factor",
                                               "atol",          "rtol",    "allow_blind", "timeout",
                                               "build_timeout", "compile", "baselines"};

Error WrongOption(const std::string& name, const std::string& must) {
  return Error{ErrorKind::kUsage, fmt::format("options.{} must be {}", name, must)};
}

Status TakeFlag(const std::string& name, const Json& value, bool* field) {
  if (!value.is_boolean()) return WrongOption(name, "true or false");
  *field = value.get<bool>();
  return Ok();
}

// If `open`, the lower bound itself is too small.
Status TakeNumber(const std::string& name, const Json& value, double least, double most, bool open,
                  double* field) {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= least && number <= most) || (open && number == least))
    return WrongOption(name,
                       fmt::format("a number {} {} and at most {}", open ? "above" : "from", least, most));
  *field = number;
  return Ok();
}

Status TakeWord(const std::string& name, const Json& value, const std::vector<std::string>& choices,
                std::string* field) {
  if (!value.is_string() || std::find(choices.begin(), choices.end(), value.str()) == choices.end())
    return WrongOption(name, "one of " + Join(choices, ", "));
  *field = value.str();
  return Ok();
}

Status TakeOption(const std::string& name, const Json& value, SessionOptions* options) {
  if (name == "check_only") return TakeFlag(name, value, &options->check_only);
  if (name == "allow_blind") return TakeFlag(name, value, &options->allow_blind);
  if (name == "error_factor") return TakeNumber(name, value, 0, 1000, true, &options->error_factor);
  if (name == "atol") return TakeNumber(name, value, 0, 1e6, false, &options->atol);
  if (name == "rtol") return TakeNumber(name, value, 0, 1e6, false, &options->rtol);
  if (name == "timeout") return TakeNumber(name, value, 0, 600, true, &options->timeout_s);
  if (name == "build_timeout") return TakeNumber(name, value, 0, 3600, true, &options->build_timeout_s);
  if (name == "precision") return TakeWord(name, value, {"fp32", "tf32", "bf16"}, &options->precision);
  if (name == "compile") return TakeWord(name, value, {"auto", "always", "never"}, &options->compile_rung);
  if (name == "trials") {
    double trials = 0;
    HONE_RETURN_IF_ERROR(TakeNumber(name, value, 5, 1000, false, &trials));
    if (trials != std::floor(trials)) return WrongOption(name, "a whole number");
    options->trials = static_cast<int>(trials);
    return Ok();
  }
  if (name == "baselines") {
    if (!value.is_array() || value.size() > 8) return WrongOption(name, "a list of names of baselines");
    std::vector<std::string> ladder;
    for (const Json& each : value) {
      std::string word;
      HONE_RETURN_IF_ERROR(
          TakeWord(name, each, {"eager", "tf32", "cudagraph", "flush_denormals", "compile"}, &word));
      ladder.push_back(std::move(word));
    }
    options->ladder = std::move(ladder);
    return Ok();
  }
  const std::string close = ClosestWord(name, kOptionNames);
  return Error{ErrorKind::kUsage, fmt::format("options.{} is not known{}", name.substr(0, 60),
                                              close.empty() ? "" : "; did you mean " + close + "?")};
}

const char* SandboxWord(SandboxLevel level) {
  return level == SandboxLevel::kBubblewrap ? "bubblewrap"
         : level == SandboxLevel::kLandlock ? "landlock"
                                            : "none";
}

}  // namespace

Result<SessionOptions> WithClientOptions(SessionOptions server, const Json& asked) {
  if (asked.is_null()) return server;
  if (!asked.is_object()) return Error{ErrorKind::kUsage, "options must be an object"};
  for (const auto& [name, value] : asked.items()) HONE_RETURN_IF_ERROR(TakeOption(name, value, &server));
  return server;
}

std::vector<std::string> BenchArguments(const SessionOptions& options) {
  std::vector<std::string> words = {"--python",        options.python.program.string(),
                                    "--target",        options.target,
                                    "--trials",        fmt::format("{}", options.trials),
                                    "--error-factor",  fmt::format("{}", options.error_factor),
                                    "--atol",          fmt::format("{}", options.atol),
                                    "--rtol",          fmt::format("{}", options.rtol),
                                    "--build-timeout", fmt::format("{}", options.build_timeout_s),
                                    "--compile",       options.compile_rung,
                                    "--sandbox",       SandboxWord(options.sandbox)};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (!options.precision.empty()) add({"--precision", options.precision});
  if (options.timeout_s > 0) add({"--timeout", fmt::format("{}", options.timeout_s)});
  if (!options.ladder.empty()) add({"--baselines", Join(options.ladder, ",")});
  if (options.allow_blind) add({"--allow-blind"});
  if (!options.lint) add({"--no-lint"});
  if (options.sandbox_task) add({"--sandbox-task"});
  if (options.check_only) add({"--check-only"});
  return words;
}

}  // namespace hone
