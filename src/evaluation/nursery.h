// An interpreter that has imported torch once, for all candidates of a `hone`. Each candidate gets a fork of
// it that comes into a sandbox of its own (worker/hone_join.py) before any foreign code runs: that costs some
// milliseconds, where an interpreter that starts inside imports torch again.
//
// The nursery itself runs outside, with the few environment variables that candidates get, and reads nothing
// but messages from Hone. Where the kernel lets nobody come in, there is none, and interpreters start inside.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "process/channel.h"
#include "process/python.h"
#include "process/sandbox.h"

namespace hone {

class Nursery {
 public:
  // Null where a sandbox of this level cannot be entered from outside. Returns at once; torch is imported
  // meanwhile.
  static Result<std::shared_ptr<Nursery>> Start(const PythonInfo& python, const std::string& device,
                                                SandboxLevel level);
  ~Nursery();

  // Puts a zygote for candidates into a new sandbox, with environment and folder as `spec` has them and its
  // channel over `control`. kUnavailable where that failed; the interpreter must then start inside, this time
  // and from now on.
  Result<SandboxedChild> Place(const ChildSpec& spec, const SandboxPolicy& policy, int control);

 private:
  Nursery() = default;
  Result<SandboxedChild> PlaceNow(const ChildSpec& spec, const SandboxPolicy& policy, int control);

  SandboxLevel level_ = SandboxLevel::kNone;
  std::mutex mutex_;
  bool broken_ = false;
  std::unique_ptr<Child> child_;
  Channel control_;
};

}  // namespace hone
