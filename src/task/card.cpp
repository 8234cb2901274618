#include "task/card.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "base/text_wrap.h"

namespace hone {

namespace {

constexpr double kSplitProducts = 3;  // fp16 products for one of float32 operands in two terms each

std::map<std::string, int64_t> Counts(const Json& json) {
  std::map<std::string, int64_t> counts;
  if (json.is_object())
    for (const auto& [name, count] : json.items())
      if (count.is_number_integer()) counts[name] = count.get<int64_t>();
  return counts;
}

std::vector<TensorShape> Shapes(const Json& json) {
  std::vector<TensorShape> shapes;
  if (!json.is_array()) return shapes;
  for (const Json& item : json) {
    TensorShape shape;
    shape.dtype = GetString(item, "dtype", GetString(item, "type", "?"));
    const Json& extents = GetMember(item, "shape");
    if (extents.is_array())
      for (const Json& extent : extents)
        if (extent.is_number_integer()) shape.shape.push_back(extent.get<int64_t>());
    shapes.push_back(shape);
  }
  return shapes;
}

Json ShapesToJson(const std::vector<TensorShape>& shapes) {
  Json json = Json::array();
  for (const TensorShape& shape : shapes) json.push_back({{"dtype", shape.dtype}, {"shape", shape.shape}});
  return json;
}

std::string ShapeText(const std::vector<TensorShape>& shapes) {
  std::vector<std::string> parts;
  for (const TensorShape& shape : shapes)
    parts.push_back(fmt::format("{} [{}]", shape.dtype, fmt::join(shape.shape, ", ")));
  return parts.empty() ? "none" : Join(parts, ", ");
}

std::string CountText(const std::map<std::string, int64_t>& counts, size_t most) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (size_t i = 0; i < sorted.size() && i < most; ++i)
    parts.push_back(fmt::format("{} x{}", sorted[i].first, sorted[i].second));
  if (sorted.size() > most) parts.push_back(fmt::format("{} more kinds", sorted.size() - most));
  return parts.empty() ? "none" : Join(parts, ", ");
}

}  // namespace

Ceilings CeilingsFromJson(const Json& json) {
  Ceilings ceilings;
  ceilings.memory_bytes_per_s = GetNumber(json, "memory_bytes_per_s");
  ceilings.cache_bytes_per_s = GetNumber(json, "cache_bytes_per_s");
  for (const char* dtype : {"float64", "float32", "tf32", "bfloat16", "float16"}) {
    const double rate = GetNumber(json, (std::string(dtype) + "_flops_per_s").c_str());
    if (rate > 0) ceilings.flops_per_s[dtype] = rate;
  }
  return ceilings;
}

Json ToJson(const Ceilings& ceilings) {
  Json json = {{"memory_bytes_per_s", ceilings.memory_bytes_per_s},
               {"cache_bytes_per_s", ceilings.cache_bytes_per_s}};
  for (const auto& [dtype, rate] : ceilings.flops_per_s) json[dtype + "_flops_per_s"] = rate;
  return json;
}

Ceilings Larger(const Ceilings& a, const Ceilings& b) {
  Ceilings larger = a;
  larger.memory_bytes_per_s = std::max(a.memory_bytes_per_s, b.memory_bytes_per_s);
  larger.cache_bytes_per_s = std::max(a.cache_bytes_per_s, b.cache_bytes_per_s);
  for (const auto& [dtype, rate] : b.flops_per_s)
    larger.flops_per_s[dtype] = std::max(larger.flops_per_s[dtype], rate);
  return larger;
}

int64_t Card::operator_calls() const {
  int64_t total = 0;
  for (const auto& [name, count] : operators) total += count;
  return total;
}

Card CardFromJson(const Json& json) {
  Card card;
  card.modules = Counts(GetMember(json, "modules"));
  card.operators = Counts(GetMember(json, "operators"));
  card.inputs = Shapes(GetMember(json, "inputs"));
  card.outputs = Shapes(GetMember(json, "outputs"));
  card.parameters = GetInt(json, "parameters");
  card.weight_bytes = GetInt(json, "weight_bytes");
  card.input_bytes = GetInt(json, "input_bytes");
  card.output_bytes = GetInt(json, "output_bytes");
  card.flops = GetNumber(json, "flops");
  card.least_flops = GetNumber(json, "least_flops", -1);
  card.cudnn_flops = GetNumber(json, "cudnn_flops");
  card.graph_bytes = GetInt(json, "graph_bytes", -1);
  card.counted_by = GetString(json, "counted_by", "operators");
  card.serial_chain = GetInt(json, "serial_chain");
  card.launches = GetInt(json, "launches", -1);
  card.floor_us = GetNumber(json, "floor_us");
  card.library_us = GetNumber(json, "library_us", card.floor_us);
  card.floor_bound = GetString(json, "floor_bound");
  card.ceiling_flops_per_s = GetNumber(json, "ceiling_flops_per_s");
  card.ceiling_bytes_per_s = GetNumber(json, "ceiling_bytes_per_s");
  card.degenerate = GetString(json, "degenerate");
  card.degenerate_rule = GetString(json, "degenerate_rule");
  return card;
}

Json ToJson(const Card& card) {
  return {{"modules", card.modules},
          {"operators", card.operators},
          {"inputs", ShapesToJson(card.inputs)},
          {"outputs", ShapesToJson(card.outputs)},
          {"parameters", card.parameters},
          {"weight_bytes", card.weight_bytes},
          {"input_bytes", card.input_bytes},
          {"output_bytes", card.output_bytes},
          {"least_bytes", card.least_bytes()},
          {"flops", card.flops},
          {"least_flops", card.least_flops >= 0 ? Json(card.least_flops) : Json()},
          {"cudnn_flops", card.cudnn_flops},
          {"graph_bytes", card.graph_bytes >= 0 ? Json(card.graph_bytes) : Json()},
          {"counted_by", card.counted_by},
          {"operator_calls", card.operator_calls()},
          {"serial_chain", card.serial_chain},
          {"launches", card.launches >= 0 ? Json(card.launches) : Json()},
          {"floor_us", card.floor_us},
          {"library_us", card.library_us},
          {"floor_bound", card.floor_bound},
          {"ceiling_flops_per_s", card.ceiling_flops_per_s},
          {"ceiling_bytes_per_s", card.ceiling_bytes_per_s},
          {"degenerate", card.degenerate.empty() ? Json() : Json(card.degenerate)},
          {"degenerate_rule", card.degenerate_rule}};
}

void SetFloor(Card* card, const Ceilings& ceilings, Tf32Allowed tf32) {
  const std::string dtype = card->outputs.empty() ? "float32" : card->outputs[0].dtype;
  const auto rate_of = [&](const std::string& name) {
    const auto found = ceilings.flops_per_s.find(name);
    return found == ceilings.flops_per_s.end() ? 0.0 : found->second;
  };
  const double plain = rate_of(dtype) > 0 ? rate_of(dtype) : rate_of("float32");
  const bool single = dtype == "float32";
  const auto library_rate = [&](bool rounds) {
    return single && rounds ? std::max(plain, rate_of("tf32")) : plain;
  };
  const auto rate = [&](bool rounds) {
    const double half = !single ? 0 : rounds ? rate_of("float16") : rate_of("float16") / kSplitProducts;
    return std::max(library_rate(rounds), half);
  };
  const double cudnn = std::clamp(card->cudnn_flops, 0.0, card->floor_flops());
  const double others = card->floor_flops() - cudnn;
  const auto arithmetic = [&](const auto& rate_at) {
    double us = 0;
    for (const auto& [flops, per_s] :
         {std::pair(cudnn, rate_at(tf32.cudnn)), std::pair(others, rate_at(tf32.matmul))})
      if (per_s > 0) us += flops / per_s * 1e6;
    return us;
  };
  const double arithmetic_us = arithmetic(rate);
  const double bandwidth = ceilings.memory_bytes_per_s;
  const double memory_us = bandwidth > 0 ? static_cast<double>(card->least_bytes()) / bandwidth * 1e6 : 0;
  card->ceiling_flops_per_s = cudnn > 0 && others > 0 && arithmetic_us > 0
                                  ? card->floor_flops() / arithmetic_us * 1e6
                                  : rate(cudnn > 0 ? tf32.cudnn : tf32.matmul);
  card->ceiling_bytes_per_s = bandwidth;
  card->floor_us = std::max(arithmetic_us, memory_us);
  card->library_us = std::max(arithmetic(library_rate), memory_us);
  card->floor_bound = arithmetic_us > memory_us ? "arithmetic" : "memory";
}

double ImpossibleBelowUs(const Card& card, const Ceilings& ceilings) {
  const double rate = std::max(ceilings.cache_bytes_per_s, ceilings.memory_bytes_per_s);
  if (rate <= 0) return 0;
  return static_cast<double>(card.input_bytes + card.output_bytes) / (2 * rate) * 1e6;
}

std::string CardText(const Card& card, int width) {
  std::string text;
  auto line = [&](const char* label, const std::string& value) {
    constexpr int kIndent = 16;
    text += fmt::format("  {:<{}}{}\n", label, kIndent - 2,
                        width > 0 ? WrapIndented(value, kIndent, width) : value);
  };
  line("inputs", ShapeText(card.inputs));
  line("outputs", ShapeText(card.outputs));
  line("modules", CountText(card.modules, 8));
  line("parameters",
       fmt::format("{} ({})", card.parameters, HumanBytes(static_cast<double>(card.weight_bytes))));
  line("operators", fmt::format("{} calls: {}", card.operator_calls(), CountText(card.operators, 8)));
  const bool rewritten = card.least_flops >= 0 && card.least_flops != card.flops;
  line("arithmetic", rewritten ? fmt::format("{:.3g} GFLOP, {:.3g} after rewrites", card.flops / 1e9,
                                             card.least_flops / 1e9)
                               : fmt::format("{:.3g} GFLOP", card.flops / 1e9));
  line("least bytes", HumanBytes(static_cast<double>(card.least_bytes())));
  line("serial chain", fmt::format("{} dependent operators", card.serial_chain));
  line("launches",
       card.launches >= 0 ? fmt::format("{} per forward", card.launches) : "not counted: no GPU here");
  line("floor", fmt::format("{} ({} bound, at the measured peak rates of this device)",
                            HumanSeconds(card.floor_us * 1e-6), card.floor_bound));
  if (!card.degenerate.empty()) line("degenerate", card.degenerate);
  return text;
}

}  // namespace hone
