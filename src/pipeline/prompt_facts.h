// What prompts are told of candidates: verdicts without what was measured on the way, where the time goes,
// earlier attempts, and in a population search what was reached, what others did better and what was tried
// already.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "evaluation/kernel_profile.h"
#include "store/run_store.h"

namespace hone {

// null for text that is no JSON.
Json ParsedOrEmpty(const std::string& text);
// What one attempt was and what became of it, for the next attempt to read.
Json AttemptFacts(int number, const CandidateRecord& candidate);
// The contract's fields.
Json VerdictFacts(const CandidateRecord& candidate);
// "1.25x of the best PyTorch baseline", or why it failed.
std::string ResultFacts(const CandidateRecord& candidate);
// The same with its time and how far that is from the floor of the device (0: not known).
std::string ReachedFacts(const CandidateRecord& candidate, double floor_us);
// The kernels (operators, on a CPU) that take its time, and who says so: Nsight Compute where there is such a
// profile, else the judge's own profile in the record of the verdict. null if nobody saw the times.
Json TimeFacts(const CandidateRecord& candidate, const KernelProfile& counters = {});
// What a reply says of its file: the text before the code, cut to one or two sentences.
std::string DescriptionIn(const std::string& reply);

}  // namespace hone
