#include "store/record_fields.h"

namespace hone {

namespace {

// Column, member, public name, traits. The order is that of JSON; SQL does not care.
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

constexpr Field<CallRecord> kCallFields[] = {
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
    {"thinking", &CallRecord::thinking, "thinking", kLong},
    {"finish_reason", &CallRecord::finish_reason, "finish_reason"},
    {"error", &CallRecord::error, "error"},
    {"prompt_tokens", &CallRecord::prompt_tokens, "prompt_tokens"},
    {"completion_tokens", &CallRecord::completion_tokens, "completion_tokens"},
    {"estimated", &CallRecord::estimated, "estimated"},
    {"cost_usd", &CallRecord::cost_usd, "cost_usd"},
    {"price_known", &CallRecord::price_known, "price_known"},
    {"seconds", &CallRecord::seconds, "seconds"},
    {"attempts", &CallRecord::attempts, "attempts"},
};

constexpr Field<CandidateRecord> kCandidateFields[] = {
    {"id", &CandidateRecord::id, nullptr, kRowId | kLocal},
    {"run_id", &CandidateRecord::run_id, nullptr, kFixed | kLocal},
    {"key", &CandidateRecord::key, "key", kFixed},
    {"parent_key", &CandidateRecord::parent_key, "parent"},
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

// Sums over calls: no rows of their own.
constexpr Field<UsageTotals> kUsageFields[] = {
    {"count(*)", &UsageTotals::calls, "calls", kDerived},
    {"total(prompt_tokens)", &UsageTotals::prompt_tokens, "prompt_tokens", kDerived},
    {"total(completion_tokens)", &UsageTotals::completion_tokens, "completion_tokens", kDerived},
    {"max(estimated)", &UsageTotals::estimated, "estimated", kDerived},
    {"total(cost_usd)", &UsageTotals::cost_usd, "cost_usd", kDerived},
    {"coalesce(min(price_known), 1)", &UsageTotals::price_known, "price_known", kDerived},
};

}  // namespace

template <>
std::span<const Field<RunRecord>> FieldsOf() {
  return kRunFields;
}
template <>
std::span<const Field<CallRecord>> FieldsOf() {
  return kCallFields;
}
template <>
std::span<const Field<CandidateRecord>> FieldsOf() {
  return kCandidateFields;
}
template <>
std::span<const Field<UsageTotals>> FieldsOf() {
  return kUsageFields;
}

}  // namespace hone
