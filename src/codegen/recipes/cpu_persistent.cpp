// All steps and layers of a recurrent network in one call of a C++ kernel that travels with the file: packed
// weights, fused gates, threads that stay together over the whole sequence. Outputs that nobody reads are not
// computed.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/cost.h"

namespace hone {

namespace {

// Measured on small machines: what the kernel reaches of the matrix product's rate, and a step's hand-over.
constexpr double kShareOfCeiling = 0.7;
constexpr double kPerStepUs = 1.0;

Json WantedOutputs(const RecurrentModule& module) {
  Json wanted = Json::array();
  if (module.used.sequence || module.touched.sequence)
    wanted.push_back("sequence");
  else if (module.used.last_step || module.touched.last_step)
    wanted.push_back("last");
  if (module.used.h_n || module.touched.h_n) wanted.push_back("h_n");
  if (module.used.c_n || module.touched.c_n) wanted.push_back("c_n");
  return wanted;
}

// ["sequence", "h_n"] as a Python tuple.
std::string PythonTuple(const Json& words) {
  std::string text = "(";
  for (const Json& word : words) text += "\"" + word.get<std::string>() + "\", ";
  if (words.size() > 1) text.resize(text.size() - 2);
  if (words.size() == 1) text.resize(text.size() - 1);
  return text + ")";
}

std::string WhyNotModule(const RecurrentModule& module) {
  if (module.calls == 0) return module.path + " is not called in forward";
  if (module.packed_input) return module.path + " gets a packed sequence";
  if (module.proj_size > 0) return module.path + " projects its state (proj_size)";
  if (module.dtype != "float32")
    return module.path + " is " + module.dtype + ", and the kernel is for float32";
  return "";
}

// `forward` of the task with the loop replaced by one call; empty when it cannot be moved into another class.
Result<std::string> RewrittenForward(const std::string& source, const TimeLoop& loop) {
  const auto line_start = source.rfind('\n', loop.function.start) + 1;
  if (source.substr(line_start, loop.function.start - line_start) != "    ")
    return Error{ErrorKind::kInvalid, "forward is not indented by four spaces"};
  const std::string original = source.substr(loop.function.start, loop.function.end - loop.function.start);
  for (const char* word : {"super(", "__class__", "yield", "await"})
    if (Contains(original, word)) return Error{ErrorKind::kInvalid, std::string("forward uses ") + word};
  struct Edit {
    TimeLoop::Range range;
    std::string text;
  };
  std::vector<Edit> edits;
  std::string targets = loop.outputs.empty() ? "_" : "hone_outputs";
  const std::string states =
      loop.cell_state.empty() ? loop.state : "(" + loop.state + ", " + loop.cell_state + ")";
  const std::string sequence = loop.time_axis == 0 ? loop.sequence : loop.sequence + ".transpose(0, 1)";
  edits.push_back(
      {loop.loop, fmt::format("{}, {} = self.hone_steps({}, {})", targets, states, sequence, states)});
  if (loop.list_init) edits.push_back({*loop.list_init, "hone_outputs = None"});
  for (const TimeLoop::Range& stack : loop.stacks)
    edits.push_back(
        {stack, loop.stack_axis == 0 ? "hone_outputs" : "hone_outputs.transpose(0, 1).contiguous()"});
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.range.start > b.range.start; });
  std::string text = original;
  for (const Edit& edit : edits)
    text.replace(edit.range.start - loop.function.start, edit.range.end - edit.range.start, edit.text);
  return std::string(Trim(text));
}

}  // namespace

Result<RecipeAnswer> ProposeCpuPersistent(const RecipeContext& context) {
  const auto decline = [](std::string why) { return RecipeAnswer(Declined{"", std::move(why)}); };
  const RecurrentPlan& plan = context.plan;
  if (context.on_gpu()) return decline("it is for the CPU");
  if (!plan.recognised) return decline("not a recurrent network: " + plan.why_not);
  if (!GetBool(context.inputs.machine, "gxx"))
    return decline("there is no C++ compiler to build the kernel with");

  Json adopted = Json::array();
  std::string refused;
  for (const RecurrentModule& module : plan.modules) {
    if (module.cell) continue;
    if (const std::string why = WhyNotModule(module); !why.empty()) {
      refused = why;
      continue;
    }
    adopted.push_back({{"path", module.path}, {"outputs", PythonTuple(WantedOutputs(module))}});
  }
  CandidateParts parts;
  parts.values["adopted"] = adopted;
  parts.values["loop"] = false;
  const bool cell = plan.loop && plan.loop->form == "cell";
  parts.values["cell"] = cell;
  parts.values["has_init"] = cell || !adopted.empty();
  if (plan.loop) {
    const TimeLoop& loop = *plan.loop;
    if (loop.form != "cell" && loop.activation != "tanh" && loop.activation != "relu")
      return decline("the loop's activation is " + loop.activation);
    const Result<std::string> forward = RewrittenForward(context.inputs.task.source, loop);
    if (!forward.ok())
      return decline("the loop over time cannot be taken out of forward: " + forward.error().message);
    std::string kind;
    for (const RecurrentModule& module : plan.modules)
      if (module.cell && module.path == loop.input_layer) kind = module.kind;
    parts.values["loop"] = {{"form", loop.form},
                            {"forward", *forward},
                            {"state_first", loop.state_first},
                            {"input_layer", loop.input_layer},
                            {"hidden_layer", loop.hidden_layer},
                            {"activation", loop.activation},
                            {"output_layer", loop.output_layer},
                            {"input_size", loop.input_size},
                            {"hidden_size", loop.hidden_size},
                            {"bias", loop.bias ? "True" : "False"},
                            {"kind", kind}};
  } else if (adopted.empty()) {
    return decline(refused.empty() ? "nothing in it can be taken over" : refused);
  }
  HONE_ASSIGN_OR_RETURN(const std::string_view runtime, TemplateText("recurrent_cpu.py"));
  HONE_ASSIGN_OR_RETURN(const std::string_view kernel, TemplateText("recurrent_cpu.cpp"));
  parts.values["runtime"] = ReplaceAll(std::string(runtime), "@@recurrent_cpu.cpp@@", kernel);
  parts.recipe = "cpu/persistent";
  parts.title = "Recurrent steps in one persistent CPU kernel";
  parts.about = "Seen in the task: " + plan.sentence +
                ". All steps run in one call of the C++ kernel below, which is compiled on first use and "
                "kept. What it does not "
                "cover (gradients, other dtypes, no compiler) runs in PyTorch as before.";
  parts.files = {"cpu_persistent.py"};
  Proposal proposal;
  proposal.title = parts.title;
  proposal.why = plan.sentence;
  proposal.predicted_us = PersistentUs(context, kShareOfCeiling, kPerStepUs);
  HONE_ASSIGN_OR_RETURN(proposal.source, WriteCandidate(context, parts));
  return RecipeAnswer(std::move(proposal));
}

}  // namespace hone
