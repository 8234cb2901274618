#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "store/run_notes.h"

namespace hone {

namespace {

struct NoteFlags {
  std::string run;
  std::string text;
  std::vector<std::string> tags;
  std::vector<std::string> untag;
  bool clear = false;
  bool json = false;
};

// Returns the note with the changes that the flags request.
Result<RunNote> Changed(RunNote note, const NoteFlags& flags) {
  if (flags.clear) note = RunNote{};
  if (!flags.text.empty()) note.text = flags.text;
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> added, ParseTags(Join(flags.tags, " ")));
  std::set<std::string> tags(note.tags.begin(), note.tags.end());
  tags.insert(added.begin(), added.end());
  for (const std::string& tag : flags.untag) tags.erase(tag);
  note.tags.assign(tags.begin(), tags.end());
  return note;
}

Result<int> Note(const NoteFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<RunStore> store, RunStore::Open());
  HONE_ASSIGN_OR_RETURN(const RunRecord run, store->FindRun(flags.run));
  HONE_ASSIGN_OR_RETURN(RunNote note, ReadRunNote(*store, run.id));
  if (flags.clear || !flags.text.empty() || !flags.tags.empty() || !flags.untag.empty()) {
    HONE_ASSIGN_OR_RETURN(note, Changed(std::move(note), flags));
    HONE_RETURN_IF_ERROR(SaveRunNote(*store, run.id, note));
  }
  if (flags.json) {
    fmt::print("{}\n", DumpJson(OrderedJson{
                           {"run", fmt::format("R{}", run.id)}, {"tags", note.tags}, {"note", note.text}}));
    return 0;
  }
  fmt::print("R{} {}\n", run.id, SafeForTerminal(run.task));
  if (note.empty()) fmt::print("  no tags, no note\n");
  if (!note.tags.empty()) fmt::print("  tags  {}\n", SafeForTerminal(Join(note.tags, " ")));
  if (!note.text.empty())
    fmt::print("  note  {}\n", ReplaceAll(SafeForTerminal(note.text), "\n", "\n        "));
  return 0;
}

}  // namespace

void AddNoteCommand(CommandTable& table) {
  Command& command = table.Add("note", "Show or change the tags and the note of a run");
  auto flags = std::make_shared<NoteFlags>();
  command.Add("RUN", &flags->run, "A run: its name, its folder, R<number> or last").Required();
  command.Add("TEXT", &flags->text, "The new note; it replaces the old one");
  command.Add("--tag", &flags->tags, "Add a tag").Placeholder("NAME").SplitAt(',');
  command.Add("--untag", &flags->untag, "Remove a tag").Placeholder("NAME").SplitAt(',');
  command.Add("--clear", &flags->clear, "Remove the note and all tags first");
  command.Add("--json", &flags->json, "Print the result as JSON");
  command.Note("`hone runs --tag NAME` and the dashboard find runs by their tags.");
  command.Example("hone note last --tag h200 --tag nightly");
  command.Example("hone note R12 verified --untag nightly", "TEXT of several words needs quotes");
  command.Runs([flags] { return Note(*flags); });
}

}  // namespace hone
