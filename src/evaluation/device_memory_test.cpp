#include "evaluation/device_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluation/device_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

TEST(DeviceContext, SleepsWhileItWaitsAndIsGivenBack) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  {
    const auto context = DeviceContext::Open(driver, 0);
    ASSERT_TRUE(context.ok()) << context.error().message;
    EXPECT_EQ(device.flags, cuda::kSchedBlockingSync);
    EXPECT_EQ(device.contexts, 1);
    EXPECT_EQ((*context)->name(), "Fake GPU");
  }
  EXPECT_TRUE(device.IsClean());
}

TEST(DeviceContext, SaysInASentenceWhyAMachineCannotShare) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  EXPECT_THAT(DeviceContext::Open(driver, 1).error().message, HasSubstr("there is no GPU 1"));
  device.can_share = false;
  const auto old = DeviceContext::Open(driver, 0);
  EXPECT_EQ(old.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(old.error().message, HasSubstr("Fake GPU has no memory that can be shared by descriptor"));
  device.devices = 0;
  EXPECT_THAT(DeviceContext::Open(driver, 0).error().message, HasSubstr("sees no GPU"));
  EXPECT_TRUE(device.IsClean());
}

TEST(DeviceBuffer, IsMappedAccessibleAndFreed) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  const auto context = DeviceContext::Open(driver, 0);
  ASSERT_TRUE(context.ok());
  {
    auto made = DeviceBuffer::Allocate(*context, 100, true);
    ASSERT_TRUE(made.ok()) << made.error().message;
    DeviceBuffer buffer = std::move(*made);
    EXPECT_EQ(buffer.bytes(), 100U);
    EXPECT_EQ(buffer.mapped_bytes(), FakeDevice::kGranularity);
    EXPECT_EQ(device.mapped.count(buffer.span().address), 1U);
    *fake::At<char>(buffer.span().address + 99) = 1;  // a mapping without access would fault
    EXPECT_EQ(buffer.span().Part(32, 8).address, buffer.span().address + 32);
    EXPECT_TRUE(buffer.Export()->valid());
    EXPECT_EQ(QueryMemory(**context)->free_bytes, (1ULL << 30) - FakeDevice::kGranularity);
    EXPECT_EQ(device.allocations.size(), 1U);
  }
  EXPECT_TRUE(device.allocations.empty());
  EXPECT_TRUE(device.mapped.empty());
  EXPECT_TRUE(device.reserved.empty());
  EXPECT_EQ(device.pushed, 0);
}

TEST(DeviceBuffer, KeepsItsContextAlive) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  DeviceBuffer buffer;
  {
    const auto context = DeviceContext::Open(driver, 0);
    buffer = std::move(*DeviceBuffer::Allocate(*context, 1, false));
  }
  EXPECT_EQ(device.contexts, 1);
  buffer.Free();
  buffer.Free();
  EXPECT_TRUE(device.IsClean());
}

TEST(DeviceBuffer, PrivateMemoryHasNoDescriptor) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  const auto context = DeviceContext::Open(driver, 0);
  const auto buffer = DeviceBuffer::Allocate(*context, 1, false);
  EXPECT_FALSE(buffer->Export().ok());
}

TEST(DeviceBuffer, UndoesEveryStepWhenOneFails) {
  for (const char* step : {"CtxPushCurrent", "MemCreate", "MemAddressReserve", "MemMap", "MemSetAccess"}) {
    FakeDevice device;
    const Driver driver = FakeDriver(&device);
    const auto context = DeviceContext::Open(driver, 0);
    device.failing = step;
    EXPECT_FALSE(DeviceBuffer::Allocate(*context, 1 << 20, true).ok()) << step;
    EXPECT_TRUE(device.allocations.empty()) << step;
    EXPECT_TRUE(device.reserved.empty()) << step;
    EXPECT_TRUE(device.mapped.empty()) << step;
    EXPECT_EQ(device.pushed, 0) << step;
  }
}

TEST(DeviceBuffer, SaysHowMuchDidNotFit) {
  FakeDevice device;
  const Driver driver = FakeDriver(&device);
  const auto context = DeviceContext::Open(driver, 0);
  const auto buffer = DeviceBuffer::Allocate(*context, 8ULL << 30, false);
  EXPECT_EQ(buffer.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(buffer.error().message, HasSubstr("cannot allocate 8"));
  EXPECT_FALSE(DeviceBuffer::Allocate(*context, SIZE_MAX, false).ok());
}

}  // namespace
}  // namespace hone
