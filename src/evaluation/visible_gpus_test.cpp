#include "evaluation/visible_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluation/device_fixture.h"

namespace hone {
namespace {

using testing::HasSubstr;

TEST(VisibleGpus, EachHasAnIdentityThatMakesItVisibleAlone) {
  FakeDevice device;
  device.devices = 2;
  const Driver driver = FakeDriver(&device);
  const std::vector<VisibleGpu> gpus = *ListVisibleGpus("", &driver);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].uuid, "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0");
  EXPECT_EQ(gpus[1].visible, "GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1");
  EXPECT_EQ(gpus[1].name, "Fake GPU");
}

TEST(VisibleGpus, WhatTheEnvironmentCallsADeviceStaysItsName) {
  FakeDevice device;
  device.devices = 2;
  const Driver driver = FakeDriver(&device);
  const std::vector<VisibleGpu> gpus = *ListVisibleGpus("5, MIG-1234", &driver);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].visible, "5");
  EXPECT_EQ(gpus[1].visible, "MIG-1234");
}

TEST(VisibleGpus, NoneIsAnError) {
  FakeDevice device;
  device.devices = 0;
  const Driver driver = FakeDriver(&device);
  EXPECT_THAT(ListVisibleGpus("", &driver).error().message, HasSubstr("shows no GPU"));
  device.devices = 1;
  device.failing = "DeviceGetUuid";
  EXPECT_THAT(ListVisibleGpus("", &driver).error().message, HasSubstr("identify a GPU"));
}

}  // namespace
}  // namespace hone
