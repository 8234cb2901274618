#include <fmt/format.h>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "pipeline/run_lock.h"
#include "report/explanation_words.h"
#include "store/run_store.h"

namespace hone {

namespace {

struct ExplainFlags {
  std::string run;
  std::string language = "en";
  bool json = false;
  bool markdown = false;
};

Result<int> RunExplain(const ExplainFlags& flags) {
  const ReportLanguage language = LanguageFromName(flags.language).value_or(ReportLanguage::kEnglish);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const RunStory story, ReadStory(*store, flags.run));
  const Explanation told = Explain(story, IsAbandoned(story.run));
  if (flags.json)
    fmt::print("{}\n", DumpJson(ToJson(told, language), 2));
  else if (flags.markdown)
    fmt::print("{}", ExplanationDocument(told, language).Markdown());
  else
    fmt::print("{}", ExplanationDocument(told, language).Text(Style(stdout)));
  return 0;
}

}  // namespace

void AddExplainCommand(CommandTable& table) {
  Command& command = table.Add(
      "explain", "Explain a run: what happened, why candidates failed, and what each stage contributed");
  auto flags = std::make_shared<ExplainFlags>();
  command.Add("RUN", &flags->run, kRunHelp).Required();
  command.Add("--json", &flags->json, "Print the explanation as JSON");
  command.Add("--md", &flags->markdown, "Print the explanation as Markdown").Excludes("--json");
  command.Add("--lang", &flags->language, kLanguageHelp).OneOf({"en", "zh"});
  command.Note(
      "The result without a stage is recomputed from the record. Where the record cannot tell, the answer is "
      "\"unknown\".");
  command.Example("hone explain last");
  command.Example("hone explain R12 --md > post_mortem.md");
  command.Example("hone explain last --lang zh");
  command.Example("hone explain last --json | jq .counterfactuals");
  command.Runs([flags] { return RunExplain(*flags); });
}

}  // namespace hone
