// What a call of a model used, between the model's own value and the flat row of the store.
#pragma once

#include "model/model.h"
#include "store/records.h"

namespace hone {

Usage UsageOf(const CallRecord& call);
void SetUsage(const Usage& usage, CallRecord* call);

}  // namespace hone
