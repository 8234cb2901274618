// The description of other candidates in prompts of a population search. The pipeline provides plain facts:
//
//   {"reached": "1.25x ...", "floor": "12 us (31% reached)", "second_source": "...", "second_result": "...",
//    "others": [{"kind", "result", "what"}],   the best of other kinds, or those that are faster
//    "tried":  [{"kind", "result", "what"}]}   what was made of this candidate before
//
// Any may be missing. Texts of models and of the judge are shortened and cleaned here.
#pragma once

#include "base/json.h"

namespace hone {

// Every member is present, so that a template may test each.
Json SearchValues(const Json& search);

}  // namespace hone
