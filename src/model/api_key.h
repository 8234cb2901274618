// The API key of a model: where it comes from, and how it is removed from what a server says. It goes into a
// header and nowhere else.
#pragma once

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "model/url.h"

namespace hone {

struct ApiKey {
  std::string value;   // empty: none
  std::string source;  // what to change when it is wrong: "OPENAI_API_KEY", "--api-key-file /home/me/key"
};

// A file (private: not readable by group or others), else the variable named, else the variable of the
// server's vendor; $HONE_API_KEY comes before $OPENAI_API_KEY or $ANTHROPIC_API_KEY for servers of no known
// vendor. Those, this machine's among them, may do without a key. A key that was not named for it never goes
// over plain http to another machine.
Result<ApiKey> FindApiKey(const Url& url, bool anthropic, const std::string& variable, const fs::path& file);

// Returns a server's message without the key and without pieces of it that are long enough to be useful.
std::string WithoutKey(std::string text, const std::string& key);
// Returns a reply without the key. Only a whole key that is long enough is removed: "none" or "ollama", given
// to servers that accept anything, must not be cut out of code.
std::string ReplyWithoutKey(std::string text, const std::string& key);

}  // namespace hone
