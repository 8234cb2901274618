// What prompts are told of candidates: verdicts without what was measured on the way, earlier attempts, and
// in a population search what was reached, what others did better and what was tried already.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
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
// What a reply says of its file: the text before the code, cut to one or two sentences.
std::string DescriptionIn(const std::string& reply);

}  // namespace hone
