#include "model/open_model.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/exec_model.h"
#include "model/replay.h"

namespace hone {

Result<std::unique_ptr<Model>> OpenModel(const std::string& proposer, const HttpModelOptions& options) {
  if (proposer == "llm") return MakeHttpModel(options);
  if (StartsWith(proposer, "replay:")) return OpenReplay(proposer.substr(7));
  if (StartsWith(proposer, "exec:")) {
    ExecOptions exec;
    exec.command = proposer.substr(5);
    return MakeExecModel(exec);
  }
  return Error{ErrorKind::kUsage,
               fmt::format("'{}' is no model; there are llm, replay:DIR and exec:CMD", proposer)};
}

}  // namespace hone
