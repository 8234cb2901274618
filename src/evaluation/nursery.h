// A Python interpreter that has imported torch once, for all candidates of one `hone`. Each candidate gets a
// fork of it, which joins its own sandbox (worker/hone_join.py) before any foreign code runs. That takes
// milliseconds, while an interpreter started inside the sandbox must import torch again.
//
// The nursery itself runs outside the sandbox, with the few environment variables that candidates get, and
// reads only messages from Hone. If the kernel does not allow joining, there is no nursery and interpreters
// start inside.
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
  // Null if no process can join a sandbox of this level. Returns at once; the import of torch continues in
  // the background.
  static Result<std::shared_ptr<Nursery>> Start(const PythonInfo& python, const std::string& device,
                                                SandboxLevel level);
  ~Nursery();

  // Starts a zygote for candidates in a new sandbox, with the environment and folder of `spec` and its
  // channel over `control`. Returns kUnavailable on failure. The interpreter must then start inside the
  // sandbox, this time and from then on.
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
