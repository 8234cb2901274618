#include "analysis/device.h"

#include <string>

#include "base/text.h"

namespace hone {

namespace {

constexpr DeviceLimits kDevices[] = {
    {"h200", 232448, true},   {"h100", 232448, true},   {"gh200", 232448, true},  {"sm_90", 232448, true},
    {"b200", 232448, true},   {"sm_100", 232448, true}, {"a100", 166912, false},  {"a800", 166912, false},
    {"sm_80", 166912, false}, {"a10", 101376, false},   {"a6000", 101376, false}, {"3090", 101376, false},
    {"sm_86", 101376, false}, {"4090", 101376, false},  {"l4", 101376, false},    {"l40", 101376, false},
    {"l40s", 101376, false},  {"sm_89", 101376, false}, {"5090", 101376, false},  {"sm_120", 101376, false},
    {"t4", 65536, false},     {"sm_75", 65536, false},  {"v100", 98304, false},   {"sm_70", 98304, false},
};

}  // namespace

const DeviceLimits* FindDevice(std::string_view name) {
  const std::string lower = ToLower(name);
  const DeviceLimits* found = nullptr;
  for (const DeviceLimits& device : kDevices) {
    if (lower == device.name) return &device;
    // Drivers use names such as "NVIDIA H200" and "NVIDIA GeForce RTX 4090". The longest match wins.
    if (Contains(lower, device.name) && (found == nullptr || device.name.size() > found->name.size()))
      found = &device;
  }
  return found;
}

const DeviceLimits& MostGenerousDevice() {
  static constexpr DeviceLimits kGenerous = {"any current device", 232448, true};
  return kGenerous;
}

}  // namespace hone
