#include "cli/suite_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace hone {

namespace {

struct SlotUse {
  const SuiteSlot* slot = nullptr;
  const RunRecord* run = nullptr;  // nullptr: the slot is free
  std::unique_ptr<RunningMember> member;
};

std::string NamesOf(const std::vector<VisibleGpu>& gpus) {
  std::vector<std::string> names;
  for (size_t i = 0; i < gpus.size(); ++i) names.push_back(fmt::format("{} ({})", i, gpus[i].name));
  return Join(names, ", ");
}

}  // namespace

std::vector<SuiteSlot> SharedSlots(int count) {
  return std::vector<SuiteSlot>(static_cast<size_t>(std::max(count, 1)));
}

Result<std::vector<SuiteSlot>> DeviceSlots(const std::vector<std::string>& asked,
                                           const std::vector<VisibleGpu>& gpus) {
  std::vector<size_t> chosen;
  for (const std::string& word : asked) {
    const size_t before = chosen.size();
    for (size_t i = 0; i < gpus.size(); ++i)
      if (word == "all" || word == std::to_string(i) || word == gpus[i].uuid || word == gpus[i].visible)
        chosen.push_back(i);
    if (StartsWith(word, "cpu"))
      return Error{ErrorKind::kUsage,
                   "--devices takes GPUs: timings on parts of one processor would disturb each other; leave "
                   "--devices out to judge on the processor"};
    if (chosen.size() == before)
      return Error{ErrorKind::kUsage, fmt::format("--devices {}: there is no such GPU; here are: {}",
                                                  SafeForTerminal(word), NamesOf(gpus))};
  }
  std::vector<SuiteSlot> slots;
  for (const size_t i : chosen) {
    const std::string name = fmt::format("GPU {} ({})", i, gpus[i].name);
    if (std::any_of(slots.begin(), slots.end(), [&](const SuiteSlot& one) { return one.name == name; }))
      return Error{
          ErrorKind::kUsage,
          fmt::format("--devices names GPU {} twice; two timings on one device disturb each other", i)};
    slots.push_back({name, gpus[i].visible});
  }
  return slots;
}

Result<bool> RunOnSlots(const std::vector<RunRecord>& members, const std::vector<SuiteSlot>& slots,
                        const ScheduleHooks& hooks) {
  std::vector<SlotUse> places(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) places[i].slot = &slots[i];
  size_t next = 0;
  const auto busy = [&] {
    std::vector<const RunRecord*> running;
    for (const SlotUse& place : places)
      if (place.run != nullptr) running.push_back(place.run);
    return running;
  };
  while (true) {
    for (SlotUse& place : places) {
      if (place.run != nullptr && !place.member->running()) {
        HONE_RETURN_IF_ERROR(hooks.ended(*place.run, place.member.get(), nullptr));
        place.member.reset();
        place.run = nullptr;
      }
      // If a member cannot be started, the next one gets its slot.
      while (place.run == nullptr && next < members.size()) {
        const RunRecord& run = members[next++];
        Result<std::unique_ptr<RunningMember>> member = hooks.start(run, *place.slot);
        if (member.ok()) {
          place.member = std::move(*member);
          place.run = &run;
        } else {
          HONE_RETURN_IF_ERROR(hooks.ended(run, nullptr, &member.error()));
        }
      }
    }
    const std::vector<const RunRecord*> running = busy();
    if (running.empty()) return true;
    if (!hooks.wait(running, next)) break;
  }
  for (SlotUse& place : places)
    if (place.run != nullptr) place.member->Interrupt();
  const Deadline deadline = Deadline::After(hooks.patience_s);
  for (SlotUse& place : places)
    while (place.run != nullptr && place.member->running() && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return false;
}

}  // namespace hone
