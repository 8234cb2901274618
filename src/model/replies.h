// Several replies to one prompt: how they are named and stored, and how replies that were asked for one by
// one become a single answer. A call has one key, however many replies it has; reply 2 of "seed0" is
// "seed0~2", and so is the candidate that is made of it.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace hone {

// Of the reply with this number, from 1: "seed0", "seed0~2".
std::string ReplyKey(const std::string& call, int number);
// "seed0" for "seed0~2"; any other key stays what it is.
std::string CallKeyOf(const std::string& key);
// 2 for "seed0~2", 1 for any other key.
int ReplyNumberOf(const std::string& key);

// The further replies of a call as the store has them: a JSON array; empty for none.
std::string RepliesText(const std::vector<ReplyChoice>& replies);
std::vector<ReplyChoice> RepliesFrom(const std::string& text);
// The reply itself and the further ones, for people: with a line before each where there are several.
std::string AllTexts(const std::string& first, const std::vector<ReplyChoice>& more,
                     std::string ReplyChoice::*part);

// One answer of several: the first that came is the reply, the others stand behind it, and all of them were
// billed. What did not come is a note. If none came the failure is the first that would end the run, else the
// first. If one was interrupted, so is the whole.
ModelReply MergeReplies(std::vector<ModelReply> replies);

}  // namespace hone
