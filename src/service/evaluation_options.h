// The options that a client may set for judging its candidate: a subset of the options of `hone bench`. Only
// the server sets Python, device, sandbox and static analysis.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "evaluation/session_options.h"

namespace hone {

// Applies a request's member "options" to the server's own. The Error names the invalid member.
Result<SessionOptions> WithClientOptions(SessionOptions server, const Json& asked);

// The arguments of a `hone bench` that judges with exactly these options.
std::vector<std::string> BenchArguments(const SessionOptions& options);

}  // namespace hone
