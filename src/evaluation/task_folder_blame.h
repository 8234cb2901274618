// Whose fault a missing file is. A candidate made from a task fails where the task needs a file of its own
// folder: the sandbox holds the candidate alone. That is a fact about the task's folder and not about the
// candidate. The failure's message says so, in words that other code recognises.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "evaluation/worker.h"

namespace hone {

// Adds the task's line and the change to make. `beside`: what the task took from its folder.
void BlameTaskFolder(const Json& beside, WorkerFailure* failure);

// Whether a verdict's detail has that blame in it.
bool BlamesTaskFolder(const std::string& detail);

// The line of such a detail with the failure and the task's line, without the advice; empty for others.
std::string BlamedLine(const std::string& detail);

}  // namespace hone
