#include "evaluation/run_phase.h"

#include <new>
#include <stdexcept>
#include <string>

namespace hone {

Result<bool> RunPhase(Phase phase, const std::function<Result<bool>()>& run, std::optional<Stop>* stop) {
  const auto name = [&] { return std::string(StepNameOf(phase)); };
  try {
    return run();
  } catch (const std::logic_error& error) {
    *stop = Stop{phase, WorkerFailure{FailureKind::kProtocol, "", error.what(), ""}};
    return false;
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kUnavailable, "Hone ran out of memory in the phase '" + name() +
                                              "' of an evaluation; nothing is said about the candidate"};
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal,
                 "Hone failed in the phase '" + name() + "' of an evaluation: " + error.what()};
  }
}

}  // namespace hone
