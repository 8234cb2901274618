// Records to rows and back, to JSON and back, all of it by the lists in record_fields.cpp. Every template
// here exists for VerdictRecord, RunRecord, CallRecord, CandidateRecord and UsageTotals.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "store/records.h"

namespace hone {

class Statement;

// The table that holds the record.
template <class Record>
const char* TableOf();

// Whole: every field. List: without long ones, clipped ones cut.
enum class Extent { kWhole, kList };

// "id, run_id, key, ..."; `of` comes before every name, as in "run.".
template <class Record>
std::string SelectList(Extent extent, const std::string& of = "");
// Takes from the row what SelectList named, from `column` on, which then stands behind it.
template <class Record>
Record ReadRecord(Statement& row, Extent extent, int* column = nullptr);

// "INSERT INTO t (a, b) VALUES (?, ?)", without rows' numbers and derived fields; Bind in the same order.
template <class Record>
std::string InsertSql(const char* insert = "INSERT");
template <class Record>
void BindInsert(Statement& statement, const Record& record);
// "a=?, b=?" for fields that may change.
template <class Record>
std::string UpdateList();
// Returns the next free index.
template <class Record>
int BindUpdate(Statement& statement, const Record& record);
// "a=excluded.a, ..." for fields that may change.
template <class Record>
std::string UpsertList();
// For a store made before the field was there: "ALTER TABLE t ADD COLUMN ..." for each that is not in `have`.
template <class Record>
std::vector<std::string> MissingColumns(const std::vector<std::string>& have);

// Columns of the table with a trait.
template <class Record>
std::vector<std::string> ColumnsThat(unsigned trait);

// Public: what others read, under public names. Columns: everything but the row's number, by columns.
enum class Names { kPublic, kColumns };
template <class Record>
OrderedJson RecordToJson(const Record& record, Extent extent, Names names = Names::kPublic);
// Members that are missing, or of another type, stay as a fresh record has them.
template <class Record>
Record RecordFromJson(const Json& json, Names names = Names::kPublic);

// Adds one call to the sum.
void AddCall(const Usage& call, UsageTotals* totals);

}  // namespace hone
