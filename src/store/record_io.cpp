#include "store/record_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/json.h"
#include "store/record_fields.h"
#include "store/run_result.h"
#include "store/sql.h"

namespace hone {

namespace {

constexpr int kClip = 400;  // bytes of a clipped field in a list

template <class T>
T ReadColumn(Statement& row, int column) {
  if constexpr (std::is_same_v<T, std::string>)
    return row.Text(column);
  else if constexpr (std::is_same_v<T, double>)
    return row.Number(column);
  else if constexpr (std::is_same_v<T, bool>)
    return row.Integer(column) != 0;
  else
    return static_cast<T>(row.Integer(column));
}

template <class Record>
void BindField(Statement& statement, int index, const Record& record, const Field<Record>& field) {
  std::visit(
      [&](auto member) {
        const auto& value = record.*member;
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, int64_t>)
          if (value == 0 && field.Is(kNullIfZero)) return statement.BindNull(index);
        statement.Bind(index, value);
      },
      field.member);
}

template <class Record>
bool IsInList(const Field<Record>& field, Extent extent) {
  return extent == Extent::kWhole || !field.Is(kLong);
}

template <class Record>
bool IsInserted(const Field<Record>& field) {
  return !field.Is(kRowId | kDerived);
}

template <class Record>
bool IsUpdated(const Field<Record>& field) {
  return !field.Is(kRowId | kDerived | kFixed);
}

// Joins the results of `text` for the fields that `wanted` accepts, separated by commas.
template <class Record, class Wanted, class Text>
std::string Joined(Wanted wanted, Text text) {
  std::string joined;
  for (const Field<Record>& field : FieldsOf<Record>())
    if (wanted(field)) joined += (joined.empty() ? "" : ", ") + text(field);
  return joined;
}

// Where to store the value of a public name: in the object itself, or in an array inside it.
template <class Json>
Json& Place(Json& json, const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return json[name];
  Json& array = json[name.substr(0, slash)];
  const size_t index = std::stoul(name.substr(slash + 1));
  while (array.size() <= index) array.push_back(nullptr);
  return array[index];
}

const Json& Find(const Json& json, const std::string& name) {
  static const Json kNone;
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return GetMember(json, name.c_str());
  const Json& array = GetMember(json, name.substr(0, slash).c_str());
  const size_t index = std::stoul(name.substr(slash + 1));
  return array.is_array() && index < array.size() ? array[index] : kNone;
}

// Empty for a run without an answer, and for other records.
template <class Record>
std::string AnswerIn(const Record& record) {
  if constexpr (std::is_same_v<Record, RunRecord>)
    return AnswerOf(record.best_key, record.result);
  else
    return "";
}

template <class Record>
OrderedJson Told(const std::string& text, const Field<Record>& field) {
  if (field.Is(kHoldsJson)) {
    if (text.empty()) return nullptr;
    const Result<Json> json = ParseJson(text);
    return json.ok() ? OrderedJson(*json) : OrderedJson(text);
  }
  return text;
}

template <class Record>
void TakeText(const Json& value, const Field<Record>& field, Names names, std::string* text) {
  if (value.is_null()) return;
  if (value.is_string())
    *text = value.get<std::string>();
  else if (field.Is(kHoldsJson))
    *text = DumpJson(value);
  if (names == Names::kPublic && field.Is(kAnswer) && *text == kPyTorch) text->clear();
}

}  // namespace

template <>
const char* TableOf<VerdictRecord>() {
  return "verdict";
}
template <>
const char* TableOf<RunRecord>() {
  return "run";
}
template <>
const char* TableOf<CallRecord>() {
  return "call";
}
template <>
const char* TableOf<CandidateRecord>() {
  return "candidate";
}
template <>
const char* TableOf<UsageTotals>() {
  return "call";
}

template <class Record>
std::string SelectList(Extent extent, const std::string& of) {
  return Joined<Record>([&](const auto& field) { return IsInList(field, extent); },
                        [&](const auto& field) {
                          const std::string name = of + field.column;
                          return field.Is(kClipped) && extent == Extent::kList
                                     ? fmt::format("substr({}, 1, {})", name, kClip)
                                     : name;
                        });
}

template <class Record>
Record ReadRecord(Statement& row, Extent extent, int* column) {
  Record record;
  int own = 0;
  int& at = column != nullptr ? *column : own;
  for (const Field<Record>& field : FieldsOf<Record>())
    if (IsInList(field, extent))
      std::visit(
          [&](auto member) {
            record.*member = ReadColumn<std::decay_t<decltype(record.*member)>>(row, at++);
          },
          field.member);
  return record;
}

template <class Record>
std::string InsertSql(const char* insert) {
  const auto name = [](const auto& field) { return std::string(field.column); };
  const auto mark = [](const auto&) { return std::string("?"); };
  return fmt::format("{} INTO {} ({}) VALUES ({})", insert, TableOf<Record>(),
                     Joined<Record>(IsInserted<Record>, name), Joined<Record>(IsInserted<Record>, mark));
}

template <class Record>
void BindInsert(Statement& statement, const Record& record) {
  int index = 1;
  for (const Field<Record>& field : FieldsOf<Record>())
    if (IsInserted(field)) BindField(statement, index++, record, field);
}

template <class Record>
std::string UpdateList() {
  return Joined<Record>(IsUpdated<Record>,
                        [](const auto& field) { return field.column + std::string("=?"); });
}

template <class Record>
int BindUpdate(Statement& statement, const Record& record) {
  int index = 1;
  for (const Field<Record>& field : FieldsOf<Record>())
    if (IsUpdated(field)) BindField(statement, index++, record, field);
  return index;
}

template <class Record>
std::string UpsertList() {
  return Joined<Record>(IsUpdated<Record>,
                        [](const auto& field) { return fmt::format("{0}=excluded.{0}", field.column); });
}

template <class Record>
std::vector<std::string> MissingColumns(const std::vector<std::string>& have) {
  std::vector<std::string> statements;
  const Record fresh;
  for (const Field<Record>& field : FieldsOf<Record>()) {
    if (std::find(have.begin(), have.end(), field.column) != have.end()) continue;
    const std::string type = std::visit(
        [&](auto member) -> std::string {
          using T = std::decay_t<decltype(fresh.*member)>;
          if constexpr (std::is_same_v<T, std::string>)
            return fmt::format("TEXT NOT NULL DEFAULT '{}'", fresh.*member);
          else if constexpr (std::is_same_v<T, double>)
            return fmt::format("REAL NOT NULL DEFAULT {}", fresh.*member);
          else
            return fmt::format("INTEGER NOT NULL DEFAULT {}", static_cast<int64_t>(fresh.*member));
        },
        field.member);
    statements.push_back(
        fmt::format("ALTER TABLE {} ADD COLUMN {} {}", TableOf<Record>(), field.column, type));
  }
  return statements;
}

template <class Record>
std::vector<std::string> ColumnsThat(unsigned trait) {
  std::vector<std::string> columns;
  for (const Field<Record>& field : FieldsOf<Record>())
    if (field.Is(trait)) columns.emplace_back(field.column);
  return columns;
}

template <class Record>
OrderedJson RecordToJson(const Record& record, Extent extent, Names names) {
  OrderedJson json = OrderedJson::object();
  for (const Field<Record>& field : FieldsOf<Record>()) {
    const char* name = names == Names::kPublic ? field.name : field.column;
    if (name == nullptr || !IsInList(field, extent)) continue;
    if (names == Names::kPublic && field.Is(kAnswer | kOfAnswer)) {
      const std::string answer = AnswerIn(record);
      if (answer.empty() || field.Is(kAnswer)) {
        Place(json, name) = answer.empty() ? OrderedJson() : OrderedJson(answer);
        continue;
      }
    }
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<std::decay_t<decltype(record.*member)>, std::string>)
            Place(json, name) = Told(record.*member, field);
          else
            Place(json, name) = record.*member;
        },
        field.member);
  }
  return json;
}

template <class Record>
Record RecordFromJson(const Json& json, Names names) {
  Record record;
  for (const Field<Record>& field : FieldsOf<Record>()) {
    const char* name = names == Names::kPublic ? field.name : field.column;
    if (name == nullptr) continue;
    const Json& value = Find(json, name);
    std::visit(
        [&](auto member) {
          using T = std::decay_t<decltype(record.*member)>;
          if constexpr (std::is_same_v<T, std::string>) {
            TakeText(value, field, names, &(record.*member));
          } else if constexpr (std::is_same_v<T, bool>) {
            // Rows of SQL have no booleans.
            if (value.is_boolean()) record.*member = value.get<bool>();
            if (value.is_number_integer()) record.*member = value.get<int64_t>() != 0;
          } else if constexpr (std::is_same_v<T, double>) {
            if (value.is_number()) record.*member = value.get<double>();
          } else {
            if (value.is_number_integer()) record.*member = static_cast<T>(value.get<int64_t>());
          }
        },
        field.member);
  }
  return record;
}

#define HONE_INSTANTIATE(Record)                                                             \
  template std::string SelectList<Record>(Extent, const std::string&);                       \
  template Record ReadRecord<Record>(Statement&, Extent, int*);                              \
  template std::string InsertSql<Record>(const char*);                                       \
  template void BindInsert<Record>(Statement&, const Record&);                               \
  template std::string UpdateList<Record>();                                                 \
  template int BindUpdate<Record>(Statement&, const Record&);                                \
  template std::string UpsertList<Record>();                                                 \
  template std::vector<std::string> MissingColumns<Record>(const std::vector<std::string>&); \
  template std::vector<std::string> ColumnsThat<Record>(unsigned);                           \
  template OrderedJson RecordToJson<Record>(const Record&, Extent, Names);                   \
  template Record RecordFromJson<Record>(const Json&, Names);

HONE_INSTANTIATE(VerdictRecord)
HONE_INSTANTIATE(RunRecord)
HONE_INSTANTIATE(CallRecord)
HONE_INSTANTIATE(CandidateRecord)
HONE_INSTANTIATE(UsageTotals)

void AddCall(const Usage& call, UsageTotals* totals) {
  ++totals->calls;
  static_cast<Usage&>(*totals) = *totals + call;
}

}  // namespace hone
