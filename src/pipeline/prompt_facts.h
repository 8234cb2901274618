// Facts about candidates for prompts: verdicts without measurements, earlier attempts, and in a population
// search the results so far, better results of others, and earlier tries.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
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
// A reply's description of its file: the text before the code, shortened to one or two sentences.
std::string DescriptionIn(const std::string& reply);

}  // namespace hone
