// Schedules the members of a suite: one member per slot, the next one as soon as a slot is free. A slot is a
// GPU (--devices) or one of several places on the same device (--jobs). This file uses neither processes nor
// the store. suite_command.cpp starts real members, tests start fake ones.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "evaluation/visible_gpus.h"
#include "store/records.h"

namespace hone {

struct SuiteSlot {
  std::string name;     // "GPU 1 (NVIDIA H200)"; empty: nothing to print
  std::string visible;  // CUDA_VISIBLE_DEVICES of its members; empty: unchanged
};

// Returns `count` slots that share all devices.
std::vector<SuiteSlot> SharedSlots(int count);
// Makes slots of "0", "1" or uuids, without duplicates. "all" means every GPU. The Error lists the existing
// GPUs.
Result<std::vector<SuiteSlot>> DeviceSlots(const std::vector<std::string>& asked,
                                           const std::vector<VisibleGpu>& gpus);

class RunningMember {
 public:
  virtual ~RunningMember() = default;
  virtual bool running() = 0;
  // Ctrl-C: it ends soon and can be resumed.
  virtual void Interrupt() = 0;
};

struct ScheduleHooks {
  // An Error affects only this member.
  std::function<Result<std::unique_ptr<RunningMember>>(const RunRecord&, const SuiteSlot&)> start;
  // The member has ended, or could not be started. In the latter case `member` is nullptr and `why` is set.
  std::function<Status(const RunRecord&, RunningMember* member, const Error* why)> ended;
  // Called between checks of the members. Returns false if the user interrupted.
  std::function<bool(const std::vector<const RunRecord*>& running, size_t begun)> wait;
  double patience_s = 10;  // time for members to end after Interrupt
};

// Runs all members. Returns true if all have ended. Returns false if interrupted; running members have then
// been interrupted and awaited.
Result<bool> RunOnSlots(const std::vector<RunRecord>& members, const std::vector<SuiteSlot>& slots,
                        const ScheduleHooks& hooks);

}  // namespace hone
