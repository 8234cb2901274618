// The list of baselines: PyTorch's own ways to run the task. Baselines with long preparation are added late,
// while other threads still write verdicts about earlier candidates. Readers therefore get a copy instead of
// a reference.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hone {

struct Rung {
  std::string name;
  bool available = false;
  std::string why_not;
  double call_us = 0;  // from a short timing; the verdict uses interleaved blocks
  double error = 0;    // relative to the truth
};

class Ladder {
 public:
  void Add(Rung rung) {
    const std::scoped_lock lock(mutex_);
    rungs_.push_back(std::move(rung));
  }
  std::vector<Rung> All() const {
    const std::scoped_lock lock(mutex_);
    return rungs_;
  }
  std::optional<Rung> Find(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    for (const Rung& rung : rungs_)
      if (rung.name == name) return rung;
    return std::nullopt;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Rung> rungs_;
};

}  // namespace hone
