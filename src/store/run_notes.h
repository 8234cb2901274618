// What people write about a run: tags to find it by, and a note. Kept in a table of its own, because nothing
// in the pipeline reads them; they go when their run goes, and they are not part of an archive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RunNote {
  std::string text;
  std::vector<std::string> tags;  // sorted, each once

  bool empty() const { return text.empty() && tags.empty(); }
};

// Tags out of "fast, gru" or "fast gru", sorted. A tag is letters, digits and any of -_./:+, at most 40
// bytes; a run has at most 20.
Result<std::vector<std::string>> ParseTags(const std::string& text);

// Replaces what was there; an empty note removes it. The run must exist.
Status SaveRunNote(RunStore& store, int64_t run_id, const RunNote& note);
Result<RunNote> ReadRunNote(RunStore& store, int64_t run_id);
// Of all runs that have one.
Result<std::map<int64_t, RunNote>> ReadRunNotes(RunStore& store);
// Every tag in use, sorted.
Result<std::vector<std::string>> AllTags(RunStore& store);

}  // namespace hone
