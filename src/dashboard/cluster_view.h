// The state that the driver of a suite on a cluster (`hone suite --on ray`) reports in progress.json in the
// suite's folder: nodes, queue, progress and faults. Read-only. If the file is missing or invalid, nothing is
// shown.
#pragma once

#include "base/json.h"
#include "store/records.h"

namespace hone {

// The driver's data, limited to known members with the right types, plus `age_s`. Null if the suite does not
// run on a cluster.
Json ClusterProgress(const SuiteRecord& suite, double now_s);

// The values for the panel on the suite's page; null: no panel.
Json ClusterPanel(const SuiteRecord& suite, double now_s);

}  // namespace hone
