// Times of screening runs on disk. A single measurement may have been made at a busy moment, so a time is
// taken from there only if two measurements agree.
#pragma once

#include <optional>
#include <vector>

#include "base/files.h"

namespace hone {

class KeptTimes {
 public:
  // Reads the file. One that cannot be read, or that an earlier version wrote, holds no times.
  explicit KeptTimes(fs::path path);

  // The smaller of the two latest times if they agree within a quarter.
  std::optional<double> Agreed() const;
  void Add(double us);

 private:
  fs::path path_;
  std::vector<double> us_;
};

}  // namespace hone
