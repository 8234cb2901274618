#include "evaluation/phase.h"

#include <new>
#include <stdexcept>

namespace hone {

Result<bool> RunPhase(const std::string& name, const std::function<Result<bool>()>& phase,
                      std::optional<Stop>* stop) {
  try {
    return phase();
  } catch (const std::logic_error& error) {
    *stop = Stop{name, WorkerFailure{FailureKind::kProtocol, "", error.what(), ""}};
    return false;
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kUnavailable, "Hone ran out of memory in the phase '" + name +
                                              "' of an evaluation; nothing is said about the candidate"};
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal,
                 "Hone failed in the phase '" + name + "' of an evaluation: " + error.what()};
  }
}

}  // namespace hone
