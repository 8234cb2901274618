// Removes the temporary files that WriteFileAtomic (base/files.h) leaves when its process is killed. Nothing
// reads them, and nothing else removes them.
#pragma once

#include "base/files.h"

namespace hone {

// Removes such files directly in `folder`. No other process may write into the folder at this time.
void RemoveUnfinishedFiles(const fs::path& folder);

}  // namespace hone
