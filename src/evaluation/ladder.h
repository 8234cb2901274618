// PyTorch's own ways to run the task, each a rung of the baseline ladder. Rungs that take long to prepare
// join late, while other threads still write verdicts about earlier candidates; so the list itself is never
// handed out, and readers take a copy.
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
  double call_us = 0;  // a short timing; the verdict rests on interleaved blocks
  double error = 0;    // relative, against the truth
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
