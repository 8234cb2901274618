// Captured graphs of recurrent modules, for tests. tests/end_to_end/recurrent_graph_test.py writes the file
// and checks that it is current.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "codegen/recurrent_plan.h"
#include "graph/graph_json.h"

namespace hone {

struct CapturedTask {
  std::string source;
  Json facts;
  std::shared_ptr<const graph::Graph> graph;  // null: the capture was declined
  std::string why_no_graph;

  RecurrentPlan Plan() const {
    Result<RecurrentPlan> plan = RecognizeRecurrent(source, facts, graph.get(), why_no_graph);
    EXPECT_TRUE(plan.ok());
    return plan.ok() ? *plan : RecurrentPlan{};
  }
};

inline const Json& CapturedTasks() {
  static const Json all =
      *ParseJson(*ReadFile(fs::path(HONE_SOURCE_DIR) / "tests/golden/recurrent_graphs.json"));
  return all;
}

inline CapturedTask CapturedCase(const std::string& name) {
  const Json& found = GetMember(CapturedTasks(), name);
  EXPECT_TRUE(found.is_object()) << name << " is not in the golden file";
  CapturedTask task{GetString(found, "source"), GetMember(found, "facts"), nullptr,
                    GetString(found, "why_no_graph")};
  if (!found.contains("graph")) return task;
  Result<graph::Graph> graph = graph::GraphFromJson(GetMember(found, "graph"));
  EXPECT_TRUE(graph.ok()) << name;
  if (graph.ok()) task.graph = std::make_shared<const graph::Graph>(std::move(*graph));
  return task;
}

}  // namespace hone
