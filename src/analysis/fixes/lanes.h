// Lanes: which names of a kernel have a value per lane (they come from tl.arange), and what becomes of the
// lanes that a mask switches off. Used by the fixes that add masks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/fixes/fix.h"

namespace hone {

class Lanes {
 public:
  Lanes(const Candidate& candidate, const Kernel& kernel) : candidate_(candidate), kernel_(kernel) {}

  // The value of a name that the kernel assigns once; null for a parameter and for anything else.
  const PyNode* Definition(const PyNode* name) const;
  // Whether the expression, or the definition of one of its names, has a tl.arange.
  bool Vary(const PyNode* expression) const;
  // The names of the expression, not of their definitions, that vary.
  std::set<std::string_view> VaryingNames(const PyNode* expression) const;

  // What a load has to give for the lanes that its mask switches off, so that they change no result: "" if
  // nothing reads them, else the text of `other`. Nothing if that is not certain.
  std::optional<std::string> Fallback(const PyNode* load) const;

 private:
  enum class Idle { kAny, kZero, kLowest };  // the value in a lane that is switched off
  bool Harmless(const PyNode* value, Idle idle, int depth) const;
  bool HarmlessName(const PyNode* target, Idle idle, int depth) const;

  const Candidate& candidate_;
  const Kernel& kernel_;
  mutable std::map<std::string_view, bool> varying_;  // by the kernel's own names
  mutable int steps_ = 0;
};

// The load or store that a mask could be added to: a call of tl.load or tl.store that has none and that
// Triton accepts as it is. Null for anything else.
const PyNode* UnmaskedCall(const FixRequest& request, bool* is_load);
// The edit that adds the mask, with `other` for a load that needs one; none if it is not certain which.
FixEdits AddMask(const Candidate& candidate, const Kernel& kernel, const PyNode* call, bool is_load,
                 const std::string& mask);

}  // namespace hone
