// Runs only the embedded expert, for tests: expert_tool INPUTS.json FOLDER reads the arguments of
// ProposeExpert and writes every proposal as a file, with answer.json beside them. expert_tool
// --expand-attention reads a graph and prints it with attention as products, --fuse-attention with attention
// as kernels.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "base/files.h"
#include "base/text.h"
#include "codegen/expert.h"
#include "codegen/fused/attention.h"
#include "codegen/recurrent_plan.h"
#include "evaluation/graph_facts.h"
#include "graph/graph_json.h"

namespace hone {
namespace {

Status Run(const fs::path& inputs_path, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(inputs_path));
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  ExpertInputs inputs;
  HONE_ASSIGN_OR_RETURN(inputs.task, LoadTaskFile(GetString(json, "task")));
  inputs.facts = GetMember(json, "facts");
  inputs.card = CardFromJson(GetMember(json, "card"));
  inputs.device = GetString(json, "device", "cpu");
  inputs.target = GetString(json, "target", inputs.device);
  inputs.machine = GetMember(json, "machine");
  if (json.contains("graph")) {
    HONE_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(GetMember(json, "graph")));
    inputs.graph = std::make_shared<const graph::Graph>(std::move(graph));
  }
  inputs.why_no_graph = GetString(json, "why_no_graph");
  if (inputs.graph != nullptr && GetBool(json, "counts_from_graph"))
    HONE_RETURN_IF_ERROR(TakeGraphFacts(*inputs.graph, {}, &inputs.card));
  SetFloor(&inputs.card, CeilingsFromJson(GetMember(json, "ceilings")),
           {GetBool(json, "tf32"), GetBool(json, "matmul_tf32")});
  HONE_ASSIGN_OR_RETURN(const ExpertAnswer answer, ProposeExpert(inputs));
  HONE_ASSIGN_OR_RETURN(const RecurrentPlan plan, RecognizeRecurrent(inputs.task.source, inputs.facts,
                                                                     inputs.graph.get(), WhyNoGraph(inputs)));
  HONE_RETURN_IF_ERROR(MakeFolders(folder));
  Json out = {{"recognised", answer.recognised}, {"plan", ToJson(plan)}, {"card", ToJson(inputs.card)}};
  for (const Proposal& proposal : answer.proposals) {
    const std::string name = ReplaceAll(proposal.recipe, "/", "_") + ".py";
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / name, proposal.source));
    out["proposals"].push_back({{"recipe", proposal.recipe},
                                {"file", name},
                                {"title", proposal.title},
                                {"why", proposal.why},
                                {"predicted_us", proposal.predicted_us}});
  }
  for (const Declined& declined : answer.declined)
    out["declined"].push_back({{"recipe", declined.recipe}, {"why", declined.why}});
  return WriteFileAtomic(folder / "answer.json", DumpJson(out, 2));
}

// Prints the graph from stdin with its attention replaced by kernels, or by products.
Status ReplaceAttention(bool by_kernels) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  HONE_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(json));
  const int times = by_kernels ? fused::FuseAllAttention(graph).count : fused::ExpandAllAttention(graph);
  HONE_RETURN_IF_ERROR(graph.Verify());
  std::cout << DumpJson(Json{{"times", times}, {"graph", graph::ToJson(graph)}}) << "\n";
  return Ok();
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  const std::string first = argc == 2 ? argv[1] : "";
  if (first == "--expand-attention" || first == "--fuse-attention") {
    const hone::Status done = hone::ReplaceAttention(first == "--fuse-attention");
    if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done.ok() ? 0 : 3;
  }
  if (argc != 3) return 2;
  const hone::Status done = hone::Run(argv[1], argv[2]);
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done.ok() ? 0 : 3;
}
