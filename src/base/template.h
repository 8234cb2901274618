// Text templates over JSON. Prompts and emitted kernels live in template files, not in string concatenation.
//
//   @{path.to.value}@                    text, or a number or list as JSON writes it
//   @if path@ … @elif path@ … @else@ … @end@   false, null, 0, "" and empty lists and objects are no;
//                                        `not path`, `path == "text"`, `path != 3` work too
//   @for item in path@ … @end@           item, and loop.index (from 1), loop.first, loop.last
//   @# a comment #@
//
// A directive alone on its line removes the whole line. A missing value is an Error with the line number,
// never an empty string: a prompt or kernel with a gap is worse than none. Braces, <<< and % have no meaning
// here, because Python, C++ and CUDA use them.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

Result<std::string> RenderTemplate(std::string_view text, const Json& values);

}  // namespace hone
