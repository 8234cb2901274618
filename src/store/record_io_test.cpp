// Passes every record, with a distinct value in each field, through SQL and JSON. A member without a line in
// record_fields.cpp fails the first test. A field that is lost or mixed up fails the others.
#include "store/record_io.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <type_traits>
#include <utility>

#include "base/files.h"
#include "store/record_fields.h"
#include "store/run_result.h"
#include "store/run_store.h"
#include "store/sql.h"

namespace hone {
namespace {

// Counts the members of an aggregate: the number of initialisers it accepts.
struct Anything {
  template <class T>
  operator T() const;
};
template <class Record, size_t... kIndexes>
constexpr bool TakesThatMany(std::index_sequence<kIndexes...>) {
  return requires {
    Record{(static_cast<void>(kIndexes), Anything())...};
  };
}
template <class Record, size_t kMost = 64>
constexpr size_t MemberCount() {
  if constexpr (TakesThatMany<Record>(std::make_index_sequence<kMost>()))
    return kMost;
  else
    return MemberCount<Record, kMost - 1>();
}

// The number of lines that the record's members need. A base class (Usage) takes one initialiser.
template <class Record>
constexpr size_t LineCount() {
  return MemberCount<Record>() + (std::is_base_of_v<Usage, Record> ? MemberCount<Usage>() - 1 : 0);
}

template <class Record, class T>
T TypeOf(T Record::*);

template <class Record>
class RecordIoTest : public testing::Test {
 protected:
  // Values that differ from field to field and from the defaults.
  static Record Distinct() {
    Record record;
    int number = 0;
    for (const Field<Record>& field : FieldsOf<Record>()) {
      ++number;
      std::visit(
          [&](auto member) {
            using T = decltype(TypeOf(member));
            if constexpr (std::is_same_v<T, std::string>)
              record.*member = field.Is(kHoldsJson) ? "{\"of\":" + std::to_string(number) + "}"
                                                    : field.column + std::string(" value");
            else if constexpr (std::is_same_v<T, double>)
              record.*member = 0.5 + number;
            else if constexpr (std::is_same_v<T, bool>)
              record.*member = !(record.*member);
            else
              record.*member = number;
          },
          field.member);
    }
    return record;
  }

  static std::string Dump(const Record& record) {
    return DumpJson(RecordToJson(record, Extent::kWhole, Names::kColumns), 1);
  }
};
using Records = testing::Types<VerdictRecord, RunRecord, CallRecord, CandidateRecord, UsageTotals>;
TYPED_TEST_SUITE(RecordIoTest, Records);

TYPED_TEST(RecordIoTest, EveryMemberHasOneLineInTheList) {
  EXPECT_EQ(FieldsOf<TypeParam>().size(), LineCount<TypeParam>());
  std::set<std::string> columns, names;
  std::set<const void*> members;
  const TypeParam record;
  for (const Field<TypeParam>& field : FieldsOf<TypeParam>()) {
    EXPECT_TRUE(columns.insert(field.column).second) << field.column;
    if (field.name != nullptr) {
      EXPECT_TRUE(names.insert(field.name).second) << field.name;
    }
    std::visit([&](auto member) { EXPECT_TRUE(members.insert(&(record.*member)).second) << field.column; },
               field.member);
  }
}

TEST(RecordFields, OfUsageAreThoseOfTheModel) {
  const OrderedJson used = ToJson(Usage{11, 22, true, 0.5, true, 7, 2, 3, 0.25, 0.125, 0.0625});
  EXPECT_EQ(used.size(), MemberCount<Usage>());
  CallRecord call;
  static_cast<Usage&>(call) = UsageFromJson(Json(used));
  const OrderedJson row = RecordToJson(call, Extent::kList);
  const OrderedJson totals = RecordToJson(UsageTotals(), Extent::kWhole);
  for (const auto& [name, value] : used.items()) {
    EXPECT_EQ(row.at(name), value) << name;
    EXPECT_TRUE(totals.contains(name)) << name;
  }
  EXPECT_EQ(SelectList<UsageTotals>(Extent::kWhole),
            "count(*), total(prompt_tokens), total(completion_tokens), max(estimated), total(cost_usd), "
            "coalesce(min(price_known), 1), total(cached_tokens), total(cache_write_tokens), "
            "total(reasoning_tokens), total(cached_usd), total(cache_write_usd), total(reasoning_usd)");
}

TYPED_TEST(RecordIoTest, ComesBackFromJsonUnderEitherNames) {
  const TypeParam record = this->Distinct();
  for (const Names names : {Names::kPublic, Names::kColumns}) {
    const Json json = *ParseJson(DumpJson(RecordToJson(record, Extent::kWhole, names)));
    const TypeParam back = RecordFromJson<TypeParam>(json, names);
    TypeParam expected = record;
    const TypeParam fresh;
    for (const Field<TypeParam>& field : FieldsOf<TypeParam>())
      if (names == Names::kPublic && field.name == nullptr)
        std::visit([&](auto member) { expected.*member = fresh.*member; }, field.member);
    EXPECT_EQ(this->Dump(back), this->Dump(expected));
  }
}

TYPED_TEST(RecordIoTest, IsReadFromAnythingWithoutAnError) {
  const std::string fresh = this->Dump(TypeParam());
  Json wrong = Json::object();
  for (const Field<TypeParam>& field : FieldsOf<TypeParam>())
    if (field.name != nullptr && !field.Is(kHoldsJson)) wrong[field.name] = Json::array({Json::object()});
  for (const Json& json : {Json(), Json("text"), Json::array(), Json::object(), wrong})
    EXPECT_EQ(this->Dump(RecordFromJson<TypeParam>(json)), fresh) << DumpJson(json);
}

class RecordSqlTest : public testing::Test {
 protected:
  RecordSqlTest() : store_(std::move(*RunStore::Open(folder_.path() / "hone.db"))) {}

  // Passes the record through its row, with the ids that the store assigned.
  template <class Record>
  void ExpectTravels(Record record, const std::string& where) {
    Statement insert(store_->store().handle(), InsertSql<Record>().c_str());
    BindInsert(insert, record);
    ASSERT_EQ(insert.Step(), SQLITE_DONE) << sqlite3_errmsg(store_->store().handle());
    record.id = sqlite3_last_insert_rowid(store_->store().handle());
    ExpectStored(record, where);
    // Fields that may change do so; fixed fields stay.
    Record changed;
    for (const Field<Record>& field : FieldsOf<Record>())
      std::visit(
          [&](auto member) {
            using T = decltype(TypeOf(member));
            const bool fixed = field.Is(kFixed | kRowId | kDerived);
            if constexpr (std::is_same_v<T, bool>) {
              changed.*member = !(record.*member);
            } else {
              changed.*member = record.*member;
              changed.*member += record.*member;
            }
            if (!fixed) record.*member = changed.*member;
          },
          field.member);
    Statement update(store_->store().handle(), ("UPDATE " + std::string(TableOf<Record>()) + " SET " +
                                                UpdateList<Record>() + " WHERE id=?")
                                                   .c_str());
    update.Bind(BindUpdate(update, changed), record.id);
    ASSERT_EQ(update.Step(), SQLITE_DONE) << sqlite3_errmsg(store_->store().handle());
    ExpectStored(record, where);
  }

  template <class Record>
  void ExpectStored(const Record& record, const std::string& where) {
    for (const Extent extent : {Extent::kWhole, Extent::kList}) {
      Statement query(store_->store().handle(), ("SELECT " + SelectList<Record>(extent) + " FROM " +
                                                 TableOf<Record>() + " WHERE " + where)
                                                    .c_str());
      ASSERT_EQ(query.Step(), SQLITE_ROW) << sqlite3_errmsg(store_->store().handle());
      int column = 0;
      const Record back = ReadRecord<Record>(query, extent, &column);
      EXPECT_EQ(DumpJson(RecordToJson(back, extent, Names::kColumns), 1),
                DumpJson(RecordToJson(record, extent, Names::kColumns), 1));
      size_t read = 0;
      for (const Field<Record>& field : FieldsOf<Record>())
        read += extent == Extent::kWhole || !field.Is(kLong) ? 1 : 0;
      EXPECT_EQ(static_cast<size_t>(column), read);
    }
  }

  template <class Record>
  Record Distinct() {
    Record record;
    int number = 0;
    for (const Field<Record>& field : FieldsOf<Record>()) {
      ++number;
      if (field.Is(kDerived)) continue;
      std::visit(
          [&](auto member) {
            using T = decltype(TypeOf(member));
            if constexpr (std::is_same_v<T, std::string>)
              record.*member = field.column + std::string(" value");
            else if constexpr (std::is_same_v<T, bool>)
              record.*member = number % 2 == 0;
            else
              record.*member = static_cast<T>(number);
          },
          field.member);
    }
    return record;
  }

  TempFolder folder_ = *TempFolder::Make("hone-records-");
  std::unique_ptr<RunStore> store_;
};

TEST_F(RecordSqlTest, ARunTravels) {
  RunRecord run = Distinct<RunRecord>();
  run.suite_id = *store_->AddSuite({0, "s", "now", "{}"});
  ExpectTravels(run, "name='name value'");
  run.name = "alone";
  run.suite_id = 0;
  run.id = *store_->AddRun(run);
  EXPECT_EQ(store_->FindRun("alone")->suite_id, 0);
}

TEST_F(RecordSqlTest, AVerdictTravels) {
  VerdictRecord verdict = Distinct<VerdictRecord>();
  verdict.id = *store_->store().Save(verdict);
  ExpectStored(verdict, "task='task value'");
  const VerdictRecord back = *store_->store().Verdict(verdict.id);
  EXPECT_EQ(DumpJson(RecordToJson(back, Extent::kWhole)), DumpJson(RecordToJson(verdict, Extent::kWhole)));
  EXPECT_EQ(RecordToJson(back, Extent::kList).size(), FieldsOf<VerdictRecord>().size() - 2)
      << "no id, no record";
}

TEST_F(RecordSqlTest, ACallTravels) {
  CallRecord call = Distinct<CallRecord>();
  RunRecord run;
  run.name = "r";
  call.run_id = *store_->AddRun(run);
  ExpectTravels(call, "key='key value'");
}

TEST_F(RecordSqlTest, ACandidateTravels) {
  CandidateRecord one = Distinct<CandidateRecord>();
  RunRecord run;
  run.name = "r";
  one.run_id = *store_->AddRun(run);
  ExpectTravels(one, "key='key value'");
}

TEST_F(RecordSqlTest, ListsHaveNoLongTextsAndTheBeginningOfOthers) {
  RunRecord run;
  run.name = "r";
  CandidateRecord one;
  one.run_id = *store_->AddRun(run);
  one.key = "k";
  one.source = std::string(5000, 's');
  one.detail = std::string(5000, 'd');
  ASSERT_TRUE(store_->SaveCandidate(one).ok());
  const std::vector<CandidateRecord> list = *store_->CandidateSummaries(one.run_id);
  EXPECT_EQ(list[0].source, "");
  EXPECT_EQ(list[0].findings, "[]");
  EXPECT_EQ(list[0].detail, std::string(400, 'd'));
}

TEST_F(RecordSqlTest, TheSumOfCallsIsThatOfAddingThemUp) {
  RunRecord run;
  run.name = "r";
  const int64_t id = *store_->AddRun(run);
  UsageTotals sum;
  EXPECT_EQ(RecordToJson(*store_->Usage(id), Extent::kWhole), RecordToJson(sum, Extent::kWhole));
  for (int i = 1; i <= 3; ++i) {
    CallRecord call;
    call.run_id = id;
    call.key = std::to_string(i);
    call.prompt_tokens = 100 * i;
    call.completion_tokens = 7 * i;
    call.cost_usd = 0.25 * i;
    call.estimated = i == 2;
    call.price_known = i != 3;
    ASSERT_TRUE(store_->SaveCall(call).ok());
    AddCall(call, &sum);
    EXPECT_EQ(RecordToJson(*store_->Usage(id), Extent::kWhole), RecordToJson(sum, Extent::kWhole)) << i;
  }
}

TEST_F(RecordSqlTest, AFieldThatIsNewToAStoreGetsItsColumn) {
  RunRecord run;
  run.name = "r";
  run.model = "gone";
  const int64_t id = *store_->AddRun(run);
  CandidateRecord one;
  one.run_id = id;
  one.key = "k";
  one.facts = "{}";
  ASSERT_TRUE(store_->SaveCandidate(one).ok());
  for (const char* sql : {"ALTER TABLE run DROP COLUMN model", "ALTER TABLE candidate DROP COLUMN facts",
                          "ALTER TABLE call DROP COLUMN attempts"}) {
    Statement drop(store_->store().handle(), sql);
    ASSERT_EQ(drop.Step(), SQLITE_DONE) << sql;
  }
  store_.reset();
  const Result<std::unique_ptr<RunStore>> reader = RunStore::OpenReadOnly(folder_.path() / "hone.db");
  ASSERT_FALSE(reader.ok());
  EXPECT_THAT(reader.error().message, testing::HasSubstr("lacks a column"));
  store_ = std::move(*RunStore::Open(folder_.path() / "hone.db"));
  EXPECT_EQ(store_->FindRun("r")->model, "");
  EXPECT_EQ((*store_->Candidate(id, "k"))->facts, "null") << "as a fresh record has it";
  EXPECT_TRUE(store_->Calls(id)->empty());
  EXPECT_TRUE(RunStore::OpenReadOnly(folder_.path() / "hone.db").ok());
}

TEST(RecordJson, TellsWhatTheContractSays) {
  CandidateRecord one;
  one.key = "seed0";
  one.ci_low = 1.5;
  one.ci_high = 2.5;
  one.error_limit = 0.125;
  one.json = R"({"verdict":"accepted"})";
  const OrderedJson list = RecordToJson(one, Extent::kList);
  EXPECT_EQ(DumpJson(list.at("ci95")), "[1.5,2.5]");
  EXPECT_EQ(list.at("limit"), 0.125);
  EXPECT_FALSE(list.contains("source"));
  const OrderedJson whole = RecordToJson(one, Extent::kWhole);
  EXPECT_EQ(DumpJson(whole.at("record")), R"({"verdict":"accepted"})");
  EXPECT_TRUE(whole.at("facts").is_null());
  EXPECT_EQ(RecordFromJson<RunRecord>(Json{{"best", "pytorch"}}).best_key, "");
}

TEST(RecordJson, TellsPyTorchOnlyOfARunThatKeepsIt) {
  struct {
    const char* best_key;
    const char* result;
    const char* told;  // empty: null, and so are its figures
  } const kRows[] = {{"seed0", kAccepted, "seed0"}, {"seed0", "", "seed0"},
                     {"", kKeptPyTorch, "pytorch"}, {"", kNoneRight, "pytorch"},
                     {"", kCannotJudge, ""},        {"", kNothingTried, ""},
                     {"", kRunFailed, ""},          {"", "", ""}};
  for (const auto& row : kRows) {
    RunRecord run;
    run.best_key = row.best_key;
    run.result = row.result;
    run.vs_best = 1;  // earlier versions stored this for every run
    const OrderedJson json = RecordToJson(run, Extent::kList);
    const bool answered = *row.told != '\0';
    EXPECT_EQ(json.at("best"), answered ? OrderedJson(row.told) : OrderedJson()) << row.result;
    EXPECT_EQ(json.at("vs_best"), answered ? OrderedJson(1.0) : OrderedJson()) << row.result;
    EXPECT_EQ(json.at("vs_eager").is_null(), !answered) << row.result;
    const RunRecord back = RecordFromJson<RunRecord>(Json(json));
    EXPECT_EQ(back.best_key, row.best_key) << row.result;
    EXPECT_EQ(back.vs_best, answered ? 1 : 0) << row.result;
  }
}

}  // namespace
}  // namespace hone
