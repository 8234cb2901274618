#include "pipeline/call_usage.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include "model/usage.h"
#include "store/record_io.h"

namespace hone {
namespace {

TEST(CallUsage, TravelsThroughTheRowAndThroughJsonUnderTheSameNames) {
  const Usage usage = {11, 22, true, 0.5, true};
  CallRecord call;
  SetUsage(usage, &call);
  const OrderedJson json = ToJson(usage);
  EXPECT_EQ(ToJson(UsageOf(call)), json);
  EXPECT_EQ(ToJson(UsageFromJson(Json(json))), json);
  const OrderedJson row = RecordToJson(call, Extent::kList);
  for (const auto& [name, value] : json.items()) EXPECT_EQ(row.at(name), value) << name;
  EXPECT_EQ(json.size(), 5u);
}

}  // namespace
}  // namespace hone
