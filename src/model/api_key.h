// Finds the API key of a model, and removes it from the server's texts. The key is sent in a header and
// nowhere else.
#pragma once

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "model/url.h"

namespace hone {

struct ApiKey {
  std::string value;   // empty if there is none
  std::string source;  // what the user must correct: "OPENAI_API_KEY", "--api-key-file /home/me/key"
};

// Reads a file (private: not readable by group or others), else the named variable, else the variable of the
// server's vendor. For servers of unknown vendors, $HONE_API_KEY comes before $OPENAI_API_KEY or
// $ANTHROPIC_API_KEY. Such servers, including those on this machine, may need no key. A key that was not
// chosen explicitly is never sent over plain http to another machine.
Result<ApiKey> FindApiKey(const Url& url, bool anthropic, const std::string& variable, const fs::path& file);

// Removes the key, and usefully long pieces of it, from a server's message.
std::string WithoutKey(std::string text, const std::string& key);
// Removes the key from a reply. Removes only a whole key of sufficient length: "none" or "ollama", used for
// servers that accept any key, must not be cut out of code.
std::string ReplyWithoutKey(std::string text, const std::string& key);

}  // namespace hone
