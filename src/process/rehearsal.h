// Runs a piece of work in a forked copy of this process first, to see whether it ends without a crash. For
// libraries that may corrupt memory on hostile input. The copy shares nothing that it writes, so the caller
// does the work again itself.
//
// The copy has one thread. The work must not need a lock that another thread may hold, except those of
// malloc.
#pragma once

#include <functional>

namespace hone {

// False if the copy crashed, used more than `cpu_seconds`, or could not be made.
bool EndsInACopy(const std::function<void()>& work, int cpu_seconds);

}  // namespace hone
