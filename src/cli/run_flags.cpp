// The flags of a run as values that a record holds, and back: as JSON, and as the words of a command line.
// Those of models are in model_flags.cpp.
#include "base/text.h"
#include "cli/run_launcher.h"

namespace hone {

Json ToJson(const JudgeFlags& flags) {
  return {{"python", flags.python},
          {"target", flags.target},
          {"precision", flags.precision},
          {"sandbox", flags.sandbox},
          {"sandbox_task", flags.sandbox_task},
          {"compile", flags.compile},
          {"ladder", flags.ladder},
          {"no_lint", flags.no_lint},
          {"trials", flags.trials},
          {"timeout_s", flags.timeout_s},
          {"build_timeout_s", flags.build_timeout_s},
          {"candidate_memory_gib", flags.candidate_memory_gib},
          {"atol", flags.atol},
          {"rtol", flags.rtol},
          {"error_factor", flags.error_factor},
          {"allow_blind", flags.allow_blind}};
}

JudgeFlags JudgeFlagsFromJson(const Json& json) {
  JudgeFlags flags;
  flags.python = GetString(json, "python");
  flags.target = GetString(json, "target", flags.target);
  flags.precision = GetString(json, "precision");
  flags.sandbox = GetString(json, "sandbox", flags.sandbox);
  flags.sandbox_task = GetBool(json, "sandbox_task");
  flags.compile = GetString(json, "compile", flags.compile);
  const Json& ladder = GetMember(json, "ladder");
  if (ladder.is_array())
    for (const Json& rung : ladder)
      if (rung.is_string()) flags.ladder.push_back(rung.get<std::string>());
  flags.no_lint = GetBool(json, "no_lint");
  flags.trials = static_cast<int>(GetInt(json, "trials", flags.trials));
  flags.timeout_s = GetNumber(json, "timeout_s");
  flags.atol = GetNumber(json, "atol");
  flags.rtol = GetNumber(json, "rtol");
  flags.error_factor = GetNumber(json, "error_factor", flags.error_factor);
  flags.allow_blind = GetBool(json, "allow_blind");
  flags.build_timeout_s = GetNumber(json, "build_timeout_s", flags.build_timeout_s);
  flags.candidate_memory_gib = GetNumber(json, "candidate_memory_gib");
  return flags;
}

std::vector<std::string> FlagsFor(const RunOptions& options) {
  OptimizeFlags flags;
  Command command("optimize", "");
  AddRunFlags(command, &flags);
  std::vector<std::string> usual;
  for (const Option& option : command.options()) usual.push_back(option.ValueText());
  SetOptions(options, &flags);
  std::vector<std::string> words;
  const auto add = [&](const std::string& name, const std::string& value) {
    // A value that looks like an option.
    if (StartsWith(value, "-"))
      words.push_back(name + "=" + value);
    else
      words.insert(words.end(), {name, value});
  };
  for (size_t i = 0; i < usual.size(); ++i) {
    const Option& option = command.options()[i];
    const std::string value = option.ValueText();
    if (value == usual[i]) continue;
    if (option.is_flag())
      words.push_back(option.name());
    else if (option.is_list())
      for (const std::string& one : option.values()) add(option.name(), one);
    else
      add(option.name(), value);
  }
  return words;
}

}  // namespace hone
