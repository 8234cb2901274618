#include "codegen/recurrent_plan.h"

#include <fmt/format.h>

#include "analysis/scopes.h"
#include "base/json.h"
#include "base/text.h"
#include "codegen/recurrent_graph.h"
#include "codegen/time_loop.h"
#include "source/python_ast.h"
#include "source/syntax_tree.h"

namespace hone {

namespace {

std::vector<int64_t> Extents(const Json& json) {
  std::vector<int64_t> extents;
  if (json.is_array())
    for (const Json& extent : json)
      if (extent.is_number_integer()) extents.push_back(extent.get<int64_t>());
  return extents;
}

std::vector<RecurrentModule> ModulesOf(const Json& facts) {
  std::vector<RecurrentModule> modules;
  for (const Json& fact : GetMember(facts, "recurrent_modules")) {
    RecurrentModule module;
    module.path = GetString(fact, "path");
    module.kind = GetString(fact, "kind");
    module.cell = GetBool(fact, "cell");
    module.nonlinearity = GetString(fact, "nonlinearity");
    module.input_size = GetInt(fact, "input_size");
    module.hidden_size = GetInt(fact, "hidden_size");
    module.num_layers = GetInt(fact, "num_layers", 1);
    module.bias = GetBool(fact, "bias", true);
    module.batch_first = GetBool(fact, "batch_first");
    module.dropout = GetNumber(fact, "dropout");
    module.bidirectional = GetBool(fact, "bidirectional");
    module.proj_size = GetInt(fact, "proj_size");
    module.dtype = GetString(fact, "dtype", "float32");
    module.calls = GetInt(fact, "calls", 1);
    module.input_shape = Extents(GetMember(fact, "input_shape"));
    module.packed_input = GetBool(fact, "packed_input");
    modules.push_back(std::move(module));
  }
  return modules;
}

LoopFacts LoopFactsOf(const Json& facts, const std::vector<RecurrentModule>& modules) {
  LoopFacts known;
  known.modules = &modules;
  for (const Json& fact : GetMember(facts, "module_list")) {
    const std::string path = GetString(fact, "path");
    known.types[path] = GetString(fact, "type");
    if (GetString(fact, "type") == "Linear")
      known.linears[path] = {GetInt(fact, "in_features"), GetInt(fact, "out_features"),
                             GetBool(fact, "bias")};
  }
  for (const RecurrentModule& module : modules)
    known.types.emplace(module.path, module.kind + (module.cell ? "Cell" : ""));
  return known;
}

std::string ModuleText(const RecurrentModule& module) {
  std::string text;
  if (module.cell) {
    text = fmt::format("{}Cell", module.kind);
  } else {
    text = fmt::format("{}-layer {}{}{}", module.num_layers, module.bidirectional ? "bidirectional " : "",
                       module.nonlinearity == "relu" ? "ReLU " : "", module.kind);
  }
  text += fmt::format(", {} -> {}", module.input_size, module.hidden_size);
  if (module.proj_size > 0) text += fmt::format(" (projected to {})", module.proj_size);
  if (!module.cell)
    text += module.unbatched() ? ", no batch" : module.batch_first ? ", batch first" : ", sequence first";
  if (!module.bias) text += ", no bias";
  if (module.cell) return text;
  if (!module.why_untraced.empty())
    return text + "; all of its outputs count as used, because " + module.why_untraced;
  if (!module.used.any()) return text + "; none of its outputs is used";
  const int count = static_cast<int>(module.used.last_step) + static_cast<int>(module.used.h_n) +
                    static_cast<int>(module.used.c_n);
  return fmt::format("{}; only {}{} {} used", text, module.used.last_step ? "the " : "",
                     OutputsText(module.used), count > 1 ? "are" : "is");
}

std::string LoopText(const TimeLoop& loop) {
  const std::string layer =
      loop.form == "split" ? loop.input_layer + " and " + loop.hidden_layer : loop.input_layer;
  std::string text = fmt::format("a loop over time in Python around {} ({} -> {}{})", layer, loop.input_size,
                                 loop.hidden_size, loop.activation.empty() ? "" : ", " + loop.activation);
  if (!loop.output_layer.empty())
    text +=
        fmt::format(", {} ({} -> {}) on every step", loop.output_layer, loop.hidden_size, loop.output_size);
  text += "; the state starts from " + loop.state_source.Text();
  return text;
}

}  // namespace

std::string OutputsText(const OutputsUsed& used) {
  std::vector<std::string> parts;
  if (used.sequence)
    parts.emplace_back("output sequence");
  else if (used.last_step)
    parts.emplace_back("last step of the output");
  if (used.h_n) parts.emplace_back("h_n");
  if (used.c_n) parts.emplace_back("c_n");
  return parts.empty() ? "nothing" : Join(parts, " and ");
}

std::string StateSource::Text() const {
  std::vector<std::string> parts;
  if (caller) parts.emplace_back("the caller");
  if (zeros) parts.emplace_back("zeros");
  if (attribute) parts.emplace_back("an attribute of the module");
  if (drawn) parts.emplace_back("random numbers");
  if (other || parts.empty()) parts.emplace_back("a computed value");
  return Join(parts, " or ");
}

int64_t RecurrentModule::steps() const {
  if (cell || input_shape.empty()) return 1;
  return input_shape[unbatched() || !batch_first ? 0 : 1];
}

int64_t RecurrentModule::batch() const {
  if (input_shape.empty() || unbatched()) return 1;
  return input_shape[cell || batch_first ? 0 : 1];
}

Result<RecurrentPlan> RecognizeRecurrent(const std::string& task_source, const Json& facts,
                                         const graph::Graph* graph, const std::string& why_no_graph) {
  const SyntaxTree syntax = SyntaxTree::Parse(task_source, Language::kPython);
  if (syntax.gave_up()) return Error{ErrorKind::kInvalid, "the task's source could not be parsed"};
  const PyTree tree = BuildPythonTree(syntax);
  const Scopes scopes(tree);
  RecurrentPlan plan;
  plan.modules = ModulesOf(facts);
  const LoopFacts known = LoopFactsOf(facts, plan.modules);
  if (why_no_graph.empty())
    ReadRecurrentGraph(*graph, &plan.modules);
  else
    CountAllOutputs(why_no_graph, &plan.modules);
  LoopAnswer answer = FindTimeLoop(scopes, known);
  plan.loop = std::move(answer.loop);
  plan.loop_why_not = std::move(answer.why_not);

  std::vector<std::string> parts;
  if (plan.loop) parts.push_back(LoopText(*plan.loop));
  for (const RecurrentModule& module : plan.modules)
    if (!module.cell) {
      plan.recognised = true;
      parts.push_back(ModuleText(module) + (plan.modules.size() > 1 ? " (" + module.path + ")" : ""));
    }
  plan.recognised = plan.recognised || plan.loop.has_value();
  plan.sentence = Join(parts, "; ");
  if (plan.recognised) return plan;
  if (!plan.loop_why_not.empty())
    plan.why_not = "there is a loop over time, but " + plan.loop_why_not;
  else if (!plan.modules.empty())
    plan.why_not = "it holds " + ModuleText(plan.modules[0]) + ", but no loop over time around it was found";
  else
    plan.why_not = "it holds no nn.RNN, nn.GRU or nn.LSTM and no loop over time steps";
  return plan;
}

Json ToJson(const RecurrentPlan& plan) {
  const auto state = [](const StateSource& source) {
    return Json{{"zeros", source.zeros},
                {"caller", source.caller},
                {"attribute", source.attribute},
                {"drawn", source.drawn},
                {"other", source.other}};
  };
  Json json = {{"recognised", plan.recognised}, {"sentence", plan.sentence}, {"why_not", plan.why_not}};
  json["modules"] = Json::array();
  for (const RecurrentModule& m : plan.modules)
    json["modules"].push_back({{"path", m.path},
                               {"kind", m.kind},
                               {"cell", m.cell},
                               {"nonlinearity", m.nonlinearity},
                               {"input_size", m.input_size},
                               {"hidden_size", m.hidden_size},
                               {"num_layers", m.num_layers},
                               {"bias", m.bias},
                               {"batch_first", m.batch_first},
                               {"bidirectional", m.bidirectional},
                               {"proj_size", m.proj_size},
                               {"traced", m.why_untraced.empty()},
                               {"used",
                                {{"sequence", m.used.sequence},
                                 {"last_step", m.used.last_step},
                                 {"h_n", m.used.h_n},
                                 {"c_n", m.used.c_n}}},
                               {"touched",
                                {{"sequence", m.touched.sequence},
                                 {"last_step", m.touched.last_step},
                                 {"h_n", m.touched.h_n},
                                 {"c_n", m.touched.c_n}}},
                               {"state", state(m.state)}});
  if (plan.loop) {
    const TimeLoop& l = *plan.loop;
    json["loop"] = {{"form", l.form},
                    {"loop_variable", l.loop_variable},
                    {"sequence", l.sequence},
                    {"time_axis", l.time_axis},
                    {"state_first", l.state_first},
                    {"input_layer", l.input_layer},
                    {"hidden_layer", l.hidden_layer},
                    {"activation", l.activation},
                    {"state", l.state},
                    {"cell_state", l.cell_state},
                    {"state_attribute", l.state_attribute},
                    {"state_source", state(l.state_source)},
                    {"outputs", l.outputs},
                    {"output_layer", l.output_layer},
                    {"stack_axis", l.stack_axis},
                    {"input_size", l.input_size},
                    {"hidden_size", l.hidden_size},
                    {"output_size", l.output_size}};
  }
  return json;
}

}  // namespace hone
