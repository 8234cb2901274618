#include "codegen/recurrent_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codegen/candidate_text.h"
#include "codegen/device_costs.h"
#include "codegen/recurrent_graph.h"

namespace hone {

namespace {

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

bool LeavesOut(const RecurrentModule& module, const Json& wanted) {
  return wanted.size() < (module.kind == "LSTM" ? 3u : 2u) || wanted[0] != "sequence";
}

// Prints ["sequence", "h_n"] as a Python tuple.
std::string PythonTuple(const Json& words) {
  std::string text = "(";
  for (const Json& word : words) text += "\"" + word.get<std::string>() + "\", ";
  if (words.size() > 1) text.resize(text.size() - 2);
  if (words.size() == 1) text.resize(text.size() - 1);
  return text + ")";
}

// The task's `forward` with the loop replaced by one call. Empty if it cannot be moved into another class.
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

constexpr int kDeepestInclude = 4;  // a template that includes itself is an Error instead of a stack overflow

// See RuntimeText.
Result<std::string> WithIncludes(std::string_view text, int depth) {
  constexpr std::string_view kMark = "@@";
  std::string out;
  for (size_t at = 0;;) {
    const size_t begin = text.find(kMark, at);
    if (begin == std::string_view::npos) return out.append(text.substr(at));
    const size_t end = text.find(kMark, begin + kMark.size());
    if (end == std::string_view::npos || depth >= kDeepestInclude)
      return Error{ErrorKind::kInternal, "an include without an end, or includes without one"};
    const std::string name(text.substr(begin + kMark.size(), end - begin - kMark.size()));
    out.append(text.substr(at, begin - at));
    if (Contains(name, ":")) {
      HONE_ASSIGN_OR_RETURN(const std::string section, DeviceSection(name));
      out += section;
    } else {
      HONE_ASSIGN_OR_RETURN(const std::string_view included, TemplateText(name));
      HONE_ASSIGN_OR_RETURN(const std::string expanded, WithIncludes(included, depth + 1).WithContext(name));
      out += expanded;
    }
    at = end + kMark.size();
  }
}

}  // namespace

std::string WhyNotModuleOfAnyFloat(const RecurrentModule& module) {
  if (module.calls == 0) return module.path + " is not called in forward";
  if (module.packed_input) return module.path + " gets a packed sequence";
  if (module.proj_size > 0) return module.path + " projects its state (proj_size)";
  if (module.dtype != "float32" && module.dtype != "float16" && module.dtype != "bfloat16")
    return module.path + " is " + module.dtype + ", and the kernel is for float32, float16 and bfloat16";
  return "";
}

std::string WhyNotModule(const RecurrentModule& module) {
  if (std::string why = WhyNotModuleOfAnyFloat(module); !why.empty()) return why;
  if (module.dtype != "float32")
    return module.path + " is " + module.dtype + ", and the kernel is for float32";
  return "";
}

Result<Takeover> PlanTakeover(const RecipeContext& context,
                              const std::function<std::string(const RecurrentModule&)>& refuse) {
  const RecurrentPlan& plan = context.plan;
  Takeover takeover;
  const auto decline = [](std::string why) {
    Takeover declined;
    declined.why_not = std::move(why);
    return declined;
  };
  if (!plan.recognised) return decline("not a recurrent network: " + plan.why_not);
  Json adopted = Json::array();
  std::string refused;
  bool leaves_out = false;
  for (const RecurrentModule& module : plan.modules) {
    if (module.cell) continue;
    if (std::string why = refuse(module); !why.empty()) {
      refused = std::move(why);
      continue;
    }
    takeover.modules.push_back(&module);
    const Json wanted = WantedOutputs(module);
    leaves_out |= LeavesOut(module, wanted);
    adopted.push_back({{"path", module.path}, {"outputs", PythonTuple(wanted)}});
  }
  takeover.values["adopted"] = adopted;
  takeover.values["captured"] = leaves_out ? CapturedArguments(*context.inputs.graph) : "";
  takeover.values["loop"] = false;
  const bool cell = plan.loop && plan.loop->form == "cell";
  takeover.values["cell"] = cell;
  takeover.values["has_init"] = cell || !adopted.empty();
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
    takeover.values["loop"] = {{"form", loop.form},
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
  return takeover;
}

Result<std::string> RuntimeText(const std::vector<std::string>& templates) {
  std::vector<std::string> pieces;
  for (const std::string& name : templates) {
    HONE_ASSIGN_OR_RETURN(const std::string_view text, TemplateText(name));
    HONE_ASSIGN_OR_RETURN(std::string piece, WithIncludes(text, 0).WithContext(name));
    pieces.emplace_back(Trim(piece));
  }
  return Join(pieces, "\n\n\n");
}

}  // namespace hone
