// Users' notes and tags for runs. They have their own table, because the pipeline does not read them. They
// are deleted with their run, and archives do not contain them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/run_store.h"

namespace hone {

struct RunNote {
  std::string text;
  std::vector<std::string> tags;  // sorted, without duplicates

  bool empty() const { return text.empty() && tags.empty(); }
};

// Parses tags from "fast, gru" or "fast gru" and sorts them. A tag consists of letters, digits and -_./:+ and
// has at most 40 bytes. A run has at most 20 tags.
Result<std::vector<std::string>> ParseTags(const std::string& text);

// Replaces the stored note. An empty note removes it. The run must exist.
Status SaveRunNote(RunStore& store, int64_t run_id, const RunNote& note);
Result<RunNote> ReadRunNote(RunStore& store, int64_t run_id);
// Returns the notes of all runs that have one.
Result<std::map<int64_t, RunNote>> ReadRunNotes(RunStore& store);
// Every tag in use, sorted.
Result<std::vector<std::string>> AllTags(RunStore& store);

}  // namespace hone
