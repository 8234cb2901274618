// The fields of the store's records: one line each in record_fields.cpp. What inserts, updates, reads, prints
// or exports a record goes by that list, so a row of SQL, a line of run.json, a row of CSV and a reply of the
// dashboard have the same fields. Queries that join a few columns of several tables (standings.cpp,
// overview.cpp) name these columns themselves.
//
// A record is published under public names, which are a contract and may differ from the column names. A
// public name with a slash is the element of an array: "ci95/0".
#pragma once

#include <span>
#include <string>
#include <variant>

#include "store/records.h"

namespace hone {

// What sets a field apart from a plain one, which is stored, updated, listed and told.
enum FieldTrait : unsigned {
  kPlain = 0,
  kRowId = 1 << 0,      // the row's number: read, and never written
  kFixed = 1 << 1,      // stays as it was when the row was made
  kLong = 1 << 2,       // left out of lists, and of JSON that is not whole
  kClipped = 1 << 3,    // lists hold its beginning
  kHoldsJson = 1 << 4,  // text that is JSON, and told as such
  kLocal = 1 << 5,      // means something in one store only
  kDerived = 1 << 6,    // computed by the store (run_result.h, or a sum)
  kNullIfZero = 1 << 7,
  kAnswer = 1 << 8,    // told as AnswerOf(run_result.h) says; null where the run has no answer
  kOfAnswer = 1 << 9,  // told as null where the run has no answer
  kSparse = 1 << 10,   // not archived where it is empty, so that archives without it are what they were
};

template <class Record>
struct Field {
  const char* column;  // or, of a sum, the SQL expression
  std::variant<std::string Record::*, double Record::*, int64_t Record::*, int Record::*, bool Record::*>
      member;
  const char* name = nullptr;  // in JSON; nullptr: not told
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
