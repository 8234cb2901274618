// Text templates over JSON: prompts and emitted kernels live in files, not in string concatenation.
//
//   @{path.to.value}@                    text, or a number or list as JSON writes it
//   @if path@ … @elif path@ … @else@ … @end@   false, null, 0, "" and empty lists and objects are no;
//                                        `not path`, `path == "text"`, `path != 3` work too
//   @for item in path@ … @end@           item, and loop.index (from 1), loop.first, loop.last
//   @# a comment #@
//
// A directive alone on its line takes the whole line with it. A value that is not there is an Error with the
// line, never an empty string: a prompt or kernel with a hole in it is worse than none. Braces, <<< and %
// mean nothing here, because Python, C++ and CUDA are full of them.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

Result<std::string> RenderTemplate(std::string_view text, const Json& values);

}  // namespace hone
