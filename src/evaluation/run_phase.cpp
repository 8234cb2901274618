#include "evaluation/run_phase.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace hone {

Result<bool> RunPhase(Phase phase, const std::function<Result<bool>()>& run) {
  const auto name = [&] { return std::string(StepNameOf(phase)); };
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kUnavailable, "Hone ran out of memory in the phase '" + name() +
                                              "' of an evaluation; the candidate was not judged"};
  } catch (const std::exception& error) {
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
      return Error{ErrorKind::kUnavailable, "the machine had no thread left for Hone in the phase '" +
                                                name() + "' of an evaluation; the candidate was not judged"};
    return Error{ErrorKind::kInternal, "Hone failed in the phase '" + name() + "' of an evaluation: " +
                                           error.what() + "; the candidate was not judged"};
  }
}

}  // namespace hone
