// Rewrites a graph, for tests: graph_tool [RULE] < graph.json prints {"graph", "applied", "degenerate",
// "as_built", "rule", "summary", "flops"}; with a rule's name only that rule is applied. graph_tool --list
// prints the names of all rules.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "base/json.h"
#include "graph/cost.h"
#include "graph/degenerate.h"
#include "graph/graph_json.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {
namespace {

Status Run(const std::string& only) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  HONE_ASSIGN_OR_RETURN(Graph graph, GraphFromJson(json));
  const double flops = FlopsPerCall(graph);
  HONE_ASSIGN_OR_RETURN(const Degeneracy degeneracy, FindDegeneracy(graph));
  HONE_ASSIGN_OR_RETURN(const RewriteSummary summary, SummariseRewrites(graph));
  HONE_ASSIGN_OR_RETURN(const std::vector<AppliedRewrite> applied, ApplyRewrites(graph, only));
  Json out = {{"graph", ToJson(graph)},  {"degenerate", degeneracy.found}, {"as_built", degeneracy.as_built},
              {"rule", degeneracy.rule}, {"summary", ToJson(summary)},     {"applied", Json::object()},
              {"flops", flops}};
  for (const AppliedRewrite& one : applied) out["applied"][one.name] = one.times;
  std::cout << DumpJson(out) << "\n";
  return Ok();
}

}  // namespace
}  // namespace hone::graph

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "";
  if (argument == "--list") {
    for (const hone::graph::Rewrite& rule : hone::graph::AllRewrites()) std::cout << rule.name << "\n";
    return 0;
  }
  const hone::Status status = hone::graph::Run(argument);
  if (status.ok()) return 0;
  std::cerr << status.error().message << "\n";
  return 1;
}
