// Who may ask: the Host header must name this server (a web page elsewhere that points its own name at
// 127.0.0.1 is refused), a server that others can reach wants its token, and whatever changes something wants
// a form of this server's own making.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/http_message.h"

namespace hone {

struct AccessRules {
  std::vector<std::string> hosts;  // names beside numeric addresses, lower case
  bool any_address = false;        // numeric addresses other than loopback are fine as Host
  std::string token;               // empty: none is asked for
  std::string csrf;                // what forms of this server carry
  bool allow_actions = false;
};

// For a server bound there. A token is made unless the address is loopback.
AccessRules RulesFor(const std::string& bind, const std::vector<std::string>& more_hosts, bool allow_actions);

// In a time that depends on the lengths alone.
bool SameSecret(std::string_view given, std::string_view secret);

// Nothing: go on. Otherwise what to answer: a refusal, or the cookie for a token that came in the address.
std::optional<HttpReply> CheckAccess(const AccessRules& rules, const HttpRequest& request);

// Nothing: it may be done. `form` is the parsed body.
std::optional<HttpReply> CheckAction(const AccessRules& rules, const HttpRequest& request,
                                     const std::vector<std::pair<std::string, std::string>>& form);

// A short page with one sentence.
HttpReply Refusal(int status, const std::string& sentence);

}  // namespace hone
