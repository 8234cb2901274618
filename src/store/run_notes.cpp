#include "store/run_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "store/sql.h"

namespace hone {

namespace {

constexpr size_t kMostTags = 20;
constexpr size_t kLongestTag = 40;
constexpr size_t kLongestNote = 8000;

bool IsTag(const std::string& tag) {
  return tag.size() <= kLongestTag && std::all_of(tag.begin(), tag.end(), [](char c) {
           // Bytes of other alphabets count as letters. Control characters and markup do not.
           const auto byte = static_cast<unsigned char>(c);
           return std::isalnum(byte) != 0 || byte >= 0x80 ||
                  std::string_view("-_./:+").find(c) != std::string_view::npos;
         });
}

RunNote ReadNote(Statement& row, int column) {
  RunNote note;
  note.text = row.Text(column);
  note.tags = Split(row.Text(column + 1), ' ');
  std::erase(note.tags, "");
  return note;
}

Error CannotReadNotes(RunStore& store) {
  return SqlError(store.store().handle(), "cannot read the notes");
}

}  // namespace

Result<std::vector<std::string>> ParseTags(const std::string& text) {
  std::string spaced = ValidUtf8(text);
  for (char& c : spaced)
    if (c == ',' || c == '\t' || c == '\n' || c == '\r') c = ' ';
  std::set<std::string> tags;
  for (const std::string& tag : Split(spaced, ' ')) {
    if (tag.empty()) continue;
    if (!IsTag(tag))
      return Error{ErrorKind::kUsage,
                   fmt::format("'{}' is not a tag: use letters, digits and -_./:+, at most {} bytes",
                               SafeForTerminal(tag.substr(0, 60)), kLongestTag)};
    tags.insert(tag);
  }
  if (tags.size() > kMostTags)
    return Error{ErrorKind::kUsage, fmt::format("a run has at most {} tags", kMostTags)};
  return std::vector<std::string>(tags.begin(), tags.end());
}

Status SaveRunNote(RunStore& store, int64_t run_id, const RunNote& note) {
  if (note.text.size() > kLongestNote)
    return Error{ErrorKind::kUsage, fmt::format("a note has at most {} bytes", kLongestNote)};
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> tags, ParseTags(Join(note.tags, " ")));
  sqlite3* handle = store.store().handle();
  Statement change(handle, note.text.empty() && tags.empty()
                               ? "DELETE FROM run_note WHERE run_id = ?1"
                               : "INSERT INTO run_note (run_id, text, tags, changed) VALUES (?1, ?2, ?3, ?4) "
                                 "ON CONFLICT (run_id) DO UPDATE SET text = ?2, tags = ?3, changed = ?4");
  change.BindAll(run_id, ValidUtf8(note.text), Join(tags, " "), UtcTimestamp());
  if (!change.ok() || change.Step() != SQLITE_DONE) return SqlError(handle, "cannot save the note");
  return Ok();
}

Result<RunNote> ReadRunNote(RunStore& store, int64_t run_id) {
  Statement query(store.store().handle(), "SELECT text, tags FROM run_note WHERE run_id = ?");
  query.Bind(1, run_id);
  const int code = query.ok() ? query.Step() : SQLITE_ERROR;
  if (code == SQLITE_DONE) return RunNote{};
  if (code != SQLITE_ROW) return CannotReadNotes(store);
  return ReadNote(query, 0);
}

Result<std::map<int64_t, RunNote>> ReadRunNotes(RunStore& store) {
  Statement query(store.store().handle(), "SELECT run_id, text, tags FROM run_note");
  std::map<int64_t, RunNote> notes;
  int code = SQLITE_ERROR;
  while (query.ok() && (code = query.Step()) == SQLITE_ROW) notes[query.Integer(0)] = ReadNote(query, 1);
  if (code != SQLITE_DONE) return CannotReadNotes(store);
  return notes;
}

Result<std::vector<std::string>> AllTags(RunStore& store) {
  HONE_ASSIGN_OR_RETURN(const auto notes, ReadRunNotes(store));
  std::set<std::string> tags;
  for (const auto& [id, note] : notes) tags.insert(note.tags.begin(), note.tags.end());
  return std::vector<std::string>(tags.begin(), tags.end());
}

}  // namespace hone
