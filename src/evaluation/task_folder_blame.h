// Attributes a missing file to the right cause. A candidate fails if its task needs a file of its own folder,
// because the sandbox holds the candidate alone. That is a problem of the task's folder, not of the
// candidate. The failure's message says so in a form that other code recognises.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "evaluation/worker.h"

namespace hone {

// Adds the task's line and the change to make. `beside` lists the files that the task took from its folder.
void BlameTaskFolder(const Json& beside, WorkerFailure* failure);

// Whether a verdict's detail contains that message.
bool BlamesTaskFolder(const std::string& detail);

// Extracts the line with the failure and the task's line from such a detail, without the advice. Empty for
// others.
std::string BlamedLine(const std::string& detail);

}  // namespace hone
