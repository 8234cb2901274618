// output-never-written: what forward returns was allocated and never filled.
#include <fmt/format.h>

#include "analysis/check.h"
#include "analysis/checks/checks.h"

namespace hone {

void CheckOutputNeverWritten(const Candidate& candidate, FindingSink* sink) {
  if (candidate.python == nullptr) return;
  for (const HostFlow::Unwritten& unwritten : candidate.python->flow.unwritten)
    sink->Add(unwritten.returned, Severity::kError,
              fmt::format("{} is returned, but it is uninitialised memory (allocated at line {}): {}", unwritten.name,
                          LineOf(candidate, unwritten.allocation), unwritten.reason),
              fmt::format("Store the result into {} before returning it.", unwritten.name));
}

}  // namespace hone
