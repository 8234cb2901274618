// Facts about candidates for prompts: verdicts without measurements, where the time goes, earlier attempts,
// and in a population search the results so far, better results of others, and earlier tries.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "evaluation/kernel_profile.h"
#include "store/run_store.h"

namespace hone {

// Returns null for text that is not JSON.
Json ParsedOrEmpty(const std::string& text);
// An attempt and its result, for the next attempt's prompt.
Json AttemptFacts(int number, const CandidateRecord& candidate);
// The verdict's documented fields.
Json VerdictFacts(const CandidateRecord& candidate);
// "1.25x of the best PyTorch baseline", or the reason of a failure.
std::string ResultFacts(const CandidateRecord& candidate);
// The same with its time and how far that is from the floor of the device (0: unknown).
std::string ReachedFacts(const CandidateRecord& candidate, double floor_us);
// The kernels (operators, on a CPU) that take its time, and who reports them: Nsight Compute if there is such
// a profile, else the judge's own profile in the record of the verdict. null if no times are known.
Json TimeFacts(const CandidateRecord& candidate, const KernelProfile& counters = {});
// A reply's description of its file: the text before the code, shortened to one or two sentences.
std::string DescriptionIn(const std::string& reply);

}  // namespace hone
