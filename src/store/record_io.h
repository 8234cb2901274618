// Converts records to rows and JSON and back, by the lists in record_fields.cpp. Every template here exists
// for VerdictRecord, RunRecord, CallRecord, CandidateRecord and UsageTotals.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "store/records.h"

namespace hone {

class Statement;

// Name of the table that holds the record.
template <class Record>
const char* TableOf();

// kWhole: every field. kList: without long fields, and with clipped ones cut.
enum class Extent { kWhole, kList };

// The columns "id, run_id, key, ...". `of` is put before every name, such as "run.".
template <class Record>
std::string SelectList(Extent extent, const std::string& of = "");
// Reads the columns of SelectList from the row, starting at `column`. Advances `column` past them.
template <class Record>
Record ReadRecord(Statement& row, Extent extent, int* column = nullptr);

// "INSERT INTO t (a, b) VALUES (?, ?)", without row ids and derived fields. Bind uses the same order.
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
// For stores made by an earlier version: "ALTER TABLE t ADD COLUMN ..." for each field missing from `have`.
template <class Record>
std::vector<std::string> MissingColumns(const std::vector<std::string>& have);

// Columns of the table that have a trait.
template <class Record>
std::vector<std::string> ColumnsThat(unsigned trait);

// kPublic: published fields under public names. kColumns: all fields but the row id, under column names.
enum class Names { kPublic, kColumns };
template <class Record>
OrderedJson RecordToJson(const Record& record, Extent extent, Names names = Names::kPublic);
// Missing members and members of another type keep their default.
template <class Record>
Record RecordFromJson(const Json& json, Names names = Names::kPublic);

// Adds one call to the sum.
void AddCall(const Usage& call, UsageTotals* totals);

}  // namespace hone
