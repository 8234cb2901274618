#include "cli/explain_command.h"

#include <fmt/format.h>

#include "base/terminal.h"
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
  const Language language = LanguageFromName(flags.language).value_or(Language::kEnglish);
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

void AddExplainCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand(
      "explain", "Tell what happened in a run, why what failed failed, and what each part was worth");
  auto flags = std::make_shared<ExplainFlags>();
  command->add_option("RUN", flags->run, "A run's name, its beginning, its folder, R<number>, or last")
      ->required();
  CLI::Option* json = command->add_flag("--json", flags->json, "As JSON");
  command->add_flag("--md", flags->markdown, "As Markdown")->excludes(json);
  command->add_option("--lang", flags->language, "Language of Hone's own words")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  command->footer(
      "What would have happened without a part is recomputed from the record, exactly, or said to be open.\n"
      "Examples:\n  hone explain last\n  hone explain R12 --md > post_mortem.md\n  hone explain last --lang "
      "zh\n"
      "  hone explain last --json | jq .counterfactuals");
  command->callback([flags, exit_code] {
    const Result<int> code = RunExplain(*flags);
    *exit_code = code.ok() ? *code : Report(code.error());
  });
}

}  // namespace hone
