// What a client may choose about the judging of its candidate: a part of the options of `hone bench`. Python,
// device, sandbox and static analysis are the server's alone.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "evaluation/session_options.h"

namespace hone {

// The member "options" of a request on top of the server's own. The Error names the member that is wrong.
Result<SessionOptions> WithClientOptions(SessionOptions server, const Json& asked);

// The arguments of a `hone bench` that judges with exactly these options.
std::vector<std::string> BenchArguments(const SessionOptions& options);

}  // namespace hone
