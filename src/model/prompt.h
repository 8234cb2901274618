// Renders the prompts: one template per call type (prompts/NAME.txt) over plain values, with shared parts
// (prompts/parts) and only the knowledge that the task needs (prompts/knowledge). All of them are embedded in
// the binary. This file does not depend on the source of the values or the use of the text.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

struct PromptInputs {
  std::string call_type;  // seed, seed_repair, analysis, algorithm, algorithm_repair,
                          // stage_{grid,block,memory,repair}, improve, combine, restart, mend,
                          // agent (the README of its folder)
  std::string target;     // cuda, triton or cpu
  std::string task_name;
  std::string task_source;
  Json card;                  // ToJson(Card)
  std::string best_baseline;  // the fastest way to run the task with PyTorch, and its time in a short timing
  double best_us = 0;         // (0: unknown)
  Json device;  // {"name", "sm" (90), "multiprocessors", "shared_memory_per_block", "l2_bytes", "threads",
                // "cuda", "triton", "torch", "cpu_flags", "cores"}; any may be missing
  std::string candidate_source;
  Json findings;              // array of {rule, severity, line, message, fix}
  Json verdict;               // bench --json record, or null
  Json history;               // array of {"attempt", "what", "reason", "detail"}
  Json analysis;              // ToJson(AnalysisRecord), or null
  std::string first_message;  // comes before all else: why the last reply was sent back
  Json profile;               // object of metric to value, with "source": who reports them; or null
  Json search;                // of a population search: see search_values.h; or null
  int seed_index = 0;
};

struct Prompt {
  std::string system;
  std::string user;
  std::string schema;  // JSON schema of the reply if it is data, else empty
};

// The Error names an unknown call type or target, or a missing input that the call type needs.
Result<Prompt> RenderPrompt(const PromptInputs& inputs);

}  // namespace hone
