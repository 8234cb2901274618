// The description of other candidates in prompts of a population search. The pipeline provides plain facts:
//
//   {"reached": "1.25x ..., 300 us per call", "floor": "12 us",
//    "second_source": "...", "second_result": "1.2x ...", "second_profile": as PromptInputs::profile,
//    "others": [{"kind", "result", "what"}],          the best of other kinds, or those that are faster
//    "failed": [{"kind", "result", "what"}],          designs of which nothing works
//    "tried":  [{"kind", "result", "what", "from"}]}  candidates that were made from this one before; `from`
//                                                     names the parent where the prompt shows two
//
// Any may be missing. Texts of models and of the judge are shortened and cleaned here.
#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// Every member is present, so that a template may test each. `task_source` is shown beside it.
Json SearchValues(const Json& search, const std::string& task_source);

}  // namespace hone
