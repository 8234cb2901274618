// The origin of a verdict: device, versions, seeds, limits and hashes, enough to repeat it.
#pragma once

#include "base/json_fwd.h"
#include "candidate/candidate_file.h"
#include "evaluation/measurement.h"
#include "evaluation/reference_session.h"

namespace hone {

OrderedJson Provenance(const ReferenceSession& session, const CandidateFile& candidate,
                       const Measurement& measurement);

// Returns the first "model name" of /proc/cpuinfo.
std::string CpuName();

}  // namespace hone
