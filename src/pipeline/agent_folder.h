// Writes a coding agent's folder: the task, its card, a README with the rules, and the commands ./lint,
// ./bench and ./history. They are rewritten at every start; the agent's own files stay. Nothing in the folder
// is read back.
#pragma once

#include <string>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"

namespace hone {

struct AgentPapers {
  std::string readme;
  std::string task_source;
  std::string card_text;
  Json card;         // card.json
  fs::path program;  // `hone`, which the commands call
};

Status WriteAgentFolder(const fs::path& folder, const AgentPapers& papers);

// "at most 12 evaluations" and the like, for the README. 0: no limit.
std::string BudgetSentence(int evaluations, double minutes);

}  // namespace hone
