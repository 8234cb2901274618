// Which member of a suite runs when and where: a member per slot, a slot as soon as one is free. A slot is a
// GPU
// (--devices) or one of several places on the same device (--jobs). Knows neither processes nor the store;
// suite_command.cpp starts real ones, and the tests fake ones.
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
  std::string name;     // "GPU 1 (NVIDIA H200)"; empty: nothing to tell
  std::string visible;  // CUDA_VISIBLE_DEVICES of its members; empty: as it is
};

// `count` slots that share what there is.
std::vector<SuiteSlot> SharedSlots(int count);
// "0", "1" or a uuid, each once, as slots; "all" stands for every GPU. The error says which there are.
Result<std::vector<SuiteSlot>> DeviceSlots(const std::vector<std::string>& asked,
                                           const std::vector<VisibleGpu>& gpus);

class RunningMember {
 public:
  virtual ~RunningMember() = default;
  virtual bool running() = 0;
  // Ctrl-C: it ends soon, and can be resumed.
  virtual void Interrupt() = 0;
};

struct ScheduleHooks {
  // An Error is about this member alone.
  std::function<Result<std::unique_ptr<RunningMember>>(const RunRecord&, const SuiteSlot&)> start;
  // It has ended by itself, or could not be started (then `member` is nullptr and `why` is set).
  std::function<Status(const RunRecord&, RunningMember* member, const Error* why)> ended;
  // Between two looks at the members: false when the user interrupted.
  std::function<bool(const std::vector<const RunRecord*>& running, size_t begun)> wait;
  double patience_s = 10;  // for members to end after Interrupt
};

// Runs all members; true when all have ended, false when interrupted: members that had not ended have been
// interrupted and waited for.
Result<bool> RunOnSlots(const std::vector<RunRecord>& members, const std::vector<SuiteSlot>& slots,
                        const ScheduleHooks& hooks);

}  // namespace hone
