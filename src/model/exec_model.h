// Any program as a proposer: the prompt on its standard input, the reply on its standard output. No shell is
// involved; the call's type and key are in HONE_CALL_TYPE and HONE_CALL_KEY.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"

namespace hone {

struct ExecOptions {
  std::string command;
  double max_seconds = 1800;
  size_t max_reply_bytes = 4u << 20;
};

// Splits and checks the command; the program is started anew for every call.
Result<std::unique_ptr<Model>> MakeExecModel(const ExecOptions& options);

// Words as a POSIX shell would cut them: blanks, '...', "..." with \" and \\, and \x. Nothing is expanded.
Result<std::vector<std::string>> SplitCommand(std::string_view command);

}  // namespace hone
