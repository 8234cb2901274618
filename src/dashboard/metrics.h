// Metrics for Prometheus in its text format 0.0.4: totals of the store and of this server. No label contains
// text from a model or a candidate.
#pragma once

#include "base/files.h"
#include "dashboard/http_server.h"
#include "store/overview.h"

namespace hone {

std::string MetricsText(const StoreTotals& totals, uintmax_t store_bytes, const HttpCounts& counts,
                        size_t viewers);
HttpReply MetricsReply(RunStore& store, const fs::path& store_path, const HttpCounts& counts, size_t viewers);

}  // namespace hone
