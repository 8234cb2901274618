#include "pipeline/call_usage.h"

namespace hone {

Usage UsageOf(const CallRecord& call) {
  return {call.prompt_tokens, call.completion_tokens, call.estimated, call.cost_usd, call.price_known};
}

void SetUsage(const Usage& usage, CallRecord* call) {
  call->prompt_tokens = usage.prompt_tokens;
  call->completion_tokens = usage.completion_tokens;
  call->estimated = usage.estimated;
  call->cost_usd = usage.cost_usd;
  call->price_known = usage.price_known;
}

}  // namespace hone
