// The fields of the store's records: one line each in record_fields.cpp. What inserts, updates, reads, prints
// or exports a record goes by that list, so a row of SQL, a line of run.json, a row of CSV and a reply of the
// dashboard have the same fields. Queries that join a few columns of several tables (standings.cpp,
// overview.cpp) name these columns themselves.
//
// Records are published under public names. These are a contract and may differ from the column names. A
// public name with a slash is an element of an array: "ci95/0".
#pragma once

#include <span>
#include <string>
#include <variant>

#include "store/records.h"

namespace hone {

// Traits that set a field apart from a plain one, which is stored, updated, listed and published.
enum FieldTrait : unsigned {
  kPlain = 0,
  kRowId = 1 << 0,      // the row's number: read but never written
  kFixed = 1 << 1,      // never changes after the row is inserted
  kLong = 1 << 2,       // omitted from lists and from shortened JSON
  kClipped = 1 << 3,    // lists contain only its beginning
  kHoldsJson = 1 << 4,  // text that is JSON and is published as JSON
  kLocal = 1 << 5,      // meaningful in one store only
  kDerived = 1 << 6,    // computed by the store (run_result.h, or a sum)
  kNullIfZero = 1 << 7,
  kAnswer = 1 << 8,    // published as AnswerOf (run_result.h) returns it; null if the run has no answer
  kOfAnswer = 1 << 9,  // published as null if the run has no answer
  kSparse = 1 << 10,   // left out of archives if empty, so that archives without it keep their form
};

template <class Record>
struct Field {
  const char* column;  // for a sum, the SQL expression
  std::variant<std::string Record::*, double Record::*, int64_t Record::*, int Record::*, bool Record::*>
      member;
  const char* name = nullptr;  // name in JSON; nullptr: not published
  unsigned traits = kPlain;

  bool Is(unsigned trait) const { return (traits & trait) != 0; }
};

template <class Record>
std::span<const Field<Record>> FieldsOf();
template <>
std::span<const Field<VerdictRecord>> FieldsOf();
template <>
std::span<const Field<RunRecord>> FieldsOf();
template <>
std::span<const Field<CallRecord>> FieldsOf();
template <>
std::span<const Field<CandidateRecord>> FieldsOf();
template <>
std::span<const Field<UsageTotals>> FieldsOf();

}  // namespace hone
