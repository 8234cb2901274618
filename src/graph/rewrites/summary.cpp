// Summarises the savings of rewrites, for a run's decisions and `hone explain`.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "graph/cost.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

void Measure(const Graph& graph, int at, RewriteSummary* summary) {
  summary->operators[at] = NodesPerCall(graph);
  summary->flops[at] = FlopsPerCall(graph);
  summary->bytes[at] = BytesPerCall(graph);
}

std::string RuleText(const AppliedRewrite& one) {
  std::vector<std::string> parts;
  if (one.nodes_removed != 0) parts.push_back(fmt::format("{} operators", one.nodes_removed));
  if (one.flops_removed != 0) parts.push_back(fmt::format("{:.3g} GFLOP", one.flops_removed / 1e9));
  if (one.bytes_removed != 0) parts.push_back(fmt::format("{:.3g} MB", one.bytes_removed / 1e6));
  return fmt::format("{} {}x{}", one.name, one.times,
                     parts.empty() ? "" : " (saves " + Join(parts, ", ") + ")");
}

}  // namespace

Result<RewriteSummary> SummariseRewrites(Graph graph) {
  RewriteSummary summary;
  Measure(graph, 0, &summary);
  HONE_ASSIGN_OR_RETURN(summary.rules, ApplyRewrites(graph));
  Measure(graph, 1, &summary);
  return summary;
}

Json ToJson(const RewriteSummary& summary) {
  Json json = {{"operators", {summary.operators[0], summary.operators[1]}},
               {"flops", {summary.flops[0], summary.flops[1]}},
               {"bytes", {summary.bytes[0], summary.bytes[1]}}};
  json["rules"] = Json::array();
  for (const AppliedRewrite& one : summary.rules)
    json["rules"].push_back({{"name", one.name},
                             {"what", one.what},
                             {"times", one.times},
                             {"operators", one.nodes_removed},
                             {"flops", one.flops_removed},
                             {"bytes", one.bytes_removed}});
  return json;
}

std::string ToText(const RewriteSummary& summary) {
  if (summary.rules.empty()) return "no rewrite applies to the graph";
  std::vector<std::string> rules;
  for (const AppliedRewrite& one : summary.rules) rules.push_back(RuleText(one));
  return fmt::format(
      "rewrites leave {} of {} operators, {:.3g} of {:.3g} GFLOP and {:.3g} of {:.3g} MB per call: {}",
      summary.operators[1], summary.operators[0], summary.flops[1] / 1e9, summary.flops[0] / 1e9,
      summary.bytes[1] / 1e6, summary.bytes[0] / 1e6, Join(rules, "; "));
}

}  // namespace hone::graph
