// What WriteFileAtomic (base/files.h) leaves behind when its process is killed in the middle: the temporary
// file beside the target. Nobody reads it, and nothing else would ever remove it.
#pragma once

#include "base/files.h"

namespace hone {

// Removes such files directly in `folder`. Only for a folder that no other process writes into now.
void RemoveUnfinishedFiles(const fs::path& folder);

}  // namespace hone
