// Several replies to one prompt: their names and storage, and how separately requested replies become one
// answer. A call has one key, however many replies it has. Reply 2 of "seed0" is "seed0~2", and so is the
// candidate made from it.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace hone {

// The key of the reply with this number, from 1: "seed0", "seed0~2".
std::string ReplyKey(const std::string& call, int number);
// Returns "seed0" for "seed0~2", and any other key unchanged.
std::string CallKeyOf(const std::string& key);
// Returns 2 for "seed0~2", 1 for any other key.
int ReplyNumberOf(const std::string& key);

// The additional replies of a call as stored: a JSON array; empty if there are none.
std::string RepliesText(const std::vector<ReplyChoice>& replies);
std::vector<ReplyChoice> RepliesFrom(const std::string& text);
// The reply and the additional ones for users, with a line before each if there are several.
std::string AllTexts(const std::string& first, const std::vector<ReplyChoice>& more,
                     std::string ReplyChoice::*part);

// Merges several answers into one: the first that arrived is the reply, the others follow it, and all were
// billed. Missing ones become a note. If all failed, the failure is the first one that would stop the run,
// else the first. If one was interrupted, so is the whole.
ModelReply MergeReplies(std::vector<ModelReply> replies);

}  // namespace hone
