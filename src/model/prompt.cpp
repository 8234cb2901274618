#include "model/prompt.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/embedded.h"
#include "base/template.h"
#include "base/text.h"
#include "model/analysis_record.h"
#include "model/knowledge.h"
#include "model/prompt_values.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_model();

namespace {

// Examples are the longest part of the knowledge. The classes that fit a task best come first.
constexpr int kMostExamples = 1;

struct CallType {
  std::string_view name;
  bool needs_candidate;
  bool needs_analysis;
};

constexpr CallType kCallTypes[] = {
    {"seed", false, false},       {"seed_repair", true, false},      {"analysis", true, false},
    {"algorithm", true, true},    {"algorithm_repair", true, false}, {"stage_grid", true, false},
    {"stage_block", true, false}, {"stage_memory", true, false},     {"stage_repair", true, false},
    {"improve", true, false},     {"combine", true, false},          {"restart", false, false},
    {"mend", true, false},        {"agent", false, false},
};

Result<std::string> Render(const std::string& name, const Json& values) {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_model())
    if (file.name == name + ".txt")
      return RenderTemplate(file.content, values).WithContext("prompts/" + file.name);
  return Error{ErrorKind::kInternal, "there is no prompt file '" + name + ".txt'"};
}

Result<const CallType*> CheckInputs(const PromptInputs& inputs) {
  const auto refuse = [](const std::string& message) { return Error{ErrorKind::kUsage, message}; };
  const auto* type = std::find_if(std::begin(kCallTypes), std::end(kCallTypes),
                                  [&](const CallType& t) { return t.name == inputs.call_type; });
  if (type == std::end(kCallTypes)) {
    std::vector<std::string> names;
    for (const CallType& known : kCallTypes) names.emplace_back(known.name);
    return refuse("'" + inputs.call_type + "' is no call type; there are " + Join(names, ", "));
  }
  if (inputs.target != "cuda" && inputs.target != "triton" && inputs.target != "cpu")
    return refuse("'" + inputs.target + "' is no target; there are cuda, triton and cpu");
  if (Trim(inputs.task_source).empty()) return refuse("a prompt needs the task's source");
  if (type->needs_candidate && Trim(inputs.candidate_source).empty())
    return refuse("a prompt of type " + inputs.call_type + " needs a candidate");
  if (type->needs_analysis && !inputs.analysis.is_object())
    return refuse("a prompt of type " + inputs.call_type + " needs an analysis");
  return type;
}

// Removed conditions leave empty lines. Outside of code, several empty lines become one.
std::string Tidy(const std::string& text) {
  std::string out;
  std::string fence;
  int empty = 0;
  for (const std::string& line : Lines(text)) {
    const size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3)
      fence = line.substr(0, ticks);
    else if (!fence.empty() && line == fence)
      fence.clear();
    const bool is_empty = fence.empty() && Trim(line).empty();
    empty = is_empty ? empty + 1 : 0;
    if (is_empty && (empty > 1 || out.empty())) continue;
    out += is_empty ? "" : line;
    out += '\n';
  }
  while (EndsWith(out, "\n\n")) out.pop_back();
  return out;
}

}  // namespace

Result<Prompt> RenderPrompt(const PromptInputs& inputs) {
  HONE_RETURN_IF_ERROR(CheckInputs(inputs));
  Json values = PromptValues(inputs);
  std::string knowledge;
  int examples = 0;
  for (const std::string& piece : KnowledgeFor(inputs.card, inputs.task_source, inputs.target)) {
    values["example"] = piece != inputs.target && ++examples <= kMostExamples;
    HONE_ASSIGN_OR_RETURN(const std::string text, Render("knowledge/" + piece, values));
    knowledge += text + "\n";
  }
  values["knowledge"] = knowledge;
  for (const char* part : {"task", "state", "tune", "rules", "reply"}) {
    HONE_ASSIGN_OR_RETURN(values[part], Render(std::string("parts/") + part, values));
  }
  Prompt prompt;
  // An agent gets one text, the README of its folder. For all others, the part that is the same throughout a
  // run comes first, in the system prompt, byte for byte, so that one cached prefix serves all calls. A
  // template that names these parts has them above already.
  if (inputs.call_type != "agent") {
    HONE_ASSIGN_OR_RETURN(prompt.system, Render("system", values));
    values["task"] = values["knowledge"] = "";
  }
  HONE_ASSIGN_OR_RETURN(prompt.user, Render(inputs.call_type, values));
  if (inputs.call_type != "agent") prompt.user += "\n" + values["reply"].get<std::string>();
  if (inputs.call_type == "analysis") prompt.schema = AnalysisSchema();
  prompt.system = Tidy(prompt.system);
  prompt.user = Tidy(prompt.user);
  return prompt;
}

}  // namespace hone
