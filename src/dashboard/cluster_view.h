// What the driver of a suite on a cluster (`hone suite --on ray`) says about itself: nodes, queue, progress
// and faults, out of progress.json in the suite's folder. Read-only; a file that is missing or broken shows
// nothing.
#pragma once

#include "base/json.h"
#include "store/records.h"

namespace hone {

// As the driver wrote it, reduced to known members of the right types, with `age_s`; null: not such a suite.
Json ClusterProgress(const SuiteRecord& suite, double now_s);

// The values of the panel on the suite's page; null: no panel.
Json ClusterPanel(const SuiteRecord& suite, double now_s);

}  // namespace hone
