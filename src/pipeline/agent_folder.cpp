#include "pipeline/agent_folder.h"

#include <fmt/format.h>

#include "base/shell_word.h"
#include "base/text.h"

namespace hone {

namespace {

std::string CommandScript(const AgentPapers& papers, const fs::path& folder, const char* verb) {
  return fmt::format("#!/bin/sh\nexec {} agent-ask {} --folder {} \"$@\"\n",
                     ShellWord(papers.program.string()), verb, ShellWord(folder.string()));
}

}  // namespace

Status WriteAgentFolder(const fs::path& folder, const AgentPapers& papers) {
  HONE_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  const struct {
    const char* name;
    std::string content;
    unsigned mode;
  } files[] = {
      {"README.md", papers.readme, 0644},
      {"task.py", papers.task_source, 0644},
      {"CARD.md", papers.card_text, 0644},
      {"card.json", DumpJson(papers.card, 2) + "\n", 0644},
      {"lint", CommandScript(papers, folder, "lint"), 0755},
      {"bench", CommandScript(papers, folder, "bench"), 0755},
      {"history", CommandScript(papers, folder, "history"), 0755},
  };
  for (const auto& file : files)
    HONE_RETURN_IF_ERROR(
        WriteFileAtomic(folder / file.name, file.content, file.mode).WithContext("the agent's folder"));
  return Ok();
}

std::string BudgetSentence(int evaluations, double minutes) {
  const std::string time = "You have " + HumanSeconds(60 * minutes) + "; then you are ended.";
  if (evaluations <= 0) return time;
  return fmt::format("{} ./bench judges at most {} file{}.", time, evaluations, evaluations == 1 ? "" : "s");
}

}  // namespace hone
