// Any program as a proposer: it reads the prompt from standard input and writes the reply to standard output.
// No shell is involved. The call's type and key are in HONE_CALL_TYPE and HONE_CALL_KEY.
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
  int max_bad_replies = 3;  // the program is started so often if it prints nothing, or one thing without end
};

// Parses and checks the command. The program is started for every call.
Result<std::unique_ptr<Model>> MakeExecModel(const ExecOptions& options);

// Splits words as a POSIX shell does: blanks, '...', "..." with \" and \\, and \x. Expands nothing.
// `proposer` is the word before the colon, for messages.
Result<std::vector<std::string>> SplitCommand(std::string_view command, std::string_view proposer = "exec");
// The same, but returns an Error if the first word is not an executable program.
Result<std::vector<std::string>> SplitProgram(std::string_view command, std::string_view proposer = "exec");

}  // namespace hone
