#include "store/record_fields.h"

#include <fmt/format.h>

#include <deque>
#include <iterator>
#include <vector>

namespace hone {

namespace {

// Column, member, public name, traits. The order is that of the JSON output; SQL does not depend on it.
constexpr Field<VerdictRecord> kVerdictFields[] = {
    {"id", &VerdictRecord::id, nullptr, kRowId | kLocal},
    {"created", &VerdictRecord::created, "created", kFixed},
    {"task", &VerdictRecord::task, "task", kFixed},
    {"candidate", &VerdictRecord::candidate, "candidate", kFixed},
    {"target", &VerdictRecord::target, "target", kFixed},
    {"device", &VerdictRecord::device, "device", kFixed},
    {"verdict", &VerdictRecord::verdict, "verdict", kFixed},
    {"reason", &VerdictRecord::reason, "reason", kFixed},
    {"vs_best", &VerdictRecord::vs_best, "vs_best", kFixed},
    {"vs_eager", &VerdictRecord::vs_eager, "vs_eager", kFixed},
    {"json", &VerdictRecord::json, "record", kFixed | kLong | kHoldsJson},
};

constexpr Field<RunRecord> kRunFields[] = {
    {"id", &RunRecord::id, nullptr, kRowId | kLocal},
    {"name", &RunRecord::name, "name", kFixed},
    {"created", &RunRecord::created, "created", kFixed},
    {"finished", &RunRecord::finished, "finished"},
    {"status", &RunRecord::status, "status"},
    {"result", &RunRecord::result, "result", kDerived},
    {"task", &RunRecord::task, "task", kFixed},
    {"task_path", &RunRecord::task_path, "task_path", kFixed},
    {"task_sha256", &RunRecord::task_sha256, "task_sha256", kFixed},
    {"target", &RunRecord::target, "target", kFixed},
    {"device", &RunRecord::device, "device"},
    {"proposer", &RunRecord::proposer, "proposer", kFixed},
    {"model", &RunRecord::model, "model"},
    {"best_key", &RunRecord::best_key, "best", kAnswer},
    {"vs_best", &RunRecord::vs_best, "vs_best", kOfAnswer},
    {"vs_eager", &RunRecord::vs_eager, "vs_eager", kOfAnswer},
    {"outcome", &RunRecord::outcome, "outcome"},
    {"seconds", &RunRecord::seconds, "seconds"},
    {"degenerate", &RunRecord::degenerate, "degenerate"},
    {"folder", &RunRecord::folder, "folder", kFixed | kLocal},
    {"suite_id", &RunRecord::suite_id, nullptr, kFixed | kLocal | kNullIfZero},
    {"task_source", &RunRecord::task_source, "task_source", kFixed | kLong},
    {"options", &RunRecord::options, "options", kLong | kHoldsJson},
    {"card", &RunRecord::card, "context", kLong | kHoldsJson},
};

constexpr Field<CallRecord> kCallBeforeUsage[] = {
    {"id", &CallRecord::id, nullptr, kRowId | kLocal},
    {"run_id", &CallRecord::run_id, nullptr, kFixed | kLocal},
    {"key", &CallRecord::key, "key", kFixed},
    {"created", &CallRecord::created, "created"},
    {"call_type", &CallRecord::call_type, "call_type"},
    {"status", &CallRecord::status, "status"},
    {"model", &CallRecord::model, "model"},
    {"system", &CallRecord::system, "system", kLong},
    {"prompt", &CallRecord::prompt, "prompt", kLong},
    {"reply", &CallRecord::reply, "reply", kLong},
    {"more_replies", &CallRecord::more_replies, "more_replies", kLong | kHoldsJson | kSparse},
    {"thinking", &CallRecord::thinking, "thinking", kLong},
    {"finish_reason", &CallRecord::finish_reason, "finish_reason"},
    {"error", &CallRecord::error, "error"},
};
constexpr Field<CallRecord> kCallAfterUsage[] = {
    {"seconds", &CallRecord::seconds, "seconds"},
    {"attempts", &CallRecord::attempts, "attempts"},
};

constexpr Field<CandidateRecord> kCandidateFields[] = {
    {"id", &CandidateRecord::id, nullptr, kRowId | kLocal},
    {"run_id", &CandidateRecord::run_id, nullptr, kFixed | kLocal},
    {"key", &CandidateRecord::key, "key", kFixed},
    {"parent_key", &CandidateRecord::parent_key, "parent"},
    {"other_parent_key", &CandidateRecord::other_parent_key, "other_parent"},
    {"phase", &CandidateRecord::phase, "phase"},
    {"proposer", &CandidateRecord::proposer, "proposer"},
    {"title", &CandidateRecord::title, "title"},
    {"created", &CandidateRecord::created, "created", kFixed},
    {"kernel_class", &CandidateRecord::kernel_class, "kernel_class"},
    {"verdict", &CandidateRecord::verdict, "verdict"},
    {"reason", &CandidateRecord::reason, "reason"},
    {"detail", &CandidateRecord::detail, "detail", kClipped},
    {"kind", &CandidateRecord::kind, "kind"},
    {"vs_best", &CandidateRecord::vs_best, "vs_best"},
    {"ci_low", &CandidateRecord::ci_low, "ci95/0"},
    {"ci_high", &CandidateRecord::ci_high, "ci95/1"},
    {"vs_eager", &CandidateRecord::vs_eager, "vs_eager"},
    {"candidate_us", &CandidateRecord::candidate_us, "candidate_us"},
    {"predicted_us", &CandidateRecord::predicted_us, "predicted_us"},
    {"error", &CandidateRecord::error, "error"},
    {"error_limit", &CandidateRecord::error_limit, "limit"},
    {"seconds", &CandidateRecord::seconds, "seconds"},
    {"sha256", &CandidateRecord::sha256, "sha256"},
    {"findings", &CandidateRecord::findings, "findings", kLong | kHoldsJson},
    {"facts", &CandidateRecord::facts, "facts", kLong | kHoldsJson},
    {"json", &CandidateRecord::json, "record", kLong | kHoldsJson},
    {"source", &CandidateRecord::source, "source", kLong},
};

template <class Record>
Field<Record> FieldOf(const UsageField& usage, const char* column, unsigned traits) {
  return std::visit(
      [&](auto member) {
        return Field<Record>{column, member, usage.name, traits};
      },
      usage.member);
}

std::vector<Field<CallRecord>> CallFields() {
  std::vector<Field<CallRecord>> fields(std::begin(kCallBeforeUsage), std::end(kCallBeforeUsage));
  for (const UsageField& usage : kUsageFields)
    fields.push_back(FieldOf<CallRecord>(usage, usage.name, kPlain));
  fields.insert(fields.end(), std::begin(kCallAfterUsage), std::end(kCallAfterUsage));
  return fields;
}

std::string SumInSql(const UsageField& usage) {
  switch (usage.adds) {
    case UsageField::Adds::kUp:
      return fmt::format("total({})", usage.name);
    case UsageField::Adds::kIfAny:
      return fmt::format("max({})", usage.name);
    case UsageField::Adds::kIfAll:
      break;
  }
  return fmt::format("coalesce(min({}), 1)", usage.name);
}

// Sums over calls, which have no rows of their own.
std::vector<Field<UsageTotals>> TotalsFields() {
  static std::deque<std::string> sums;
  std::vector<Field<UsageTotals>> fields = {{"count(*)", &UsageTotals::calls, "calls", kDerived}};
  for (const UsageField& usage : kUsageFields)
    fields.push_back(FieldOf<UsageTotals>(usage, sums.emplace_back(SumInSql(usage)).c_str(), kDerived));
  return fields;
}

}  // namespace

template <>
std::span<const Field<VerdictRecord>> FieldsOf() {
  return kVerdictFields;
}
template <>
std::span<const Field<RunRecord>> FieldsOf() {
  return kRunFields;
}
template <>
std::span<const Field<CallRecord>> FieldsOf() {
  static const std::vector<Field<CallRecord>> fields = CallFields();
  return fields;
}
template <>
std::span<const Field<CandidateRecord>> FieldsOf() {
  return kCandidateFields;
}
template <>
std::span<const Field<UsageTotals>> FieldsOf() {
  static const std::vector<Field<UsageTotals>> fields = TotalsFields();
  return fields;
}

}  // namespace hone
