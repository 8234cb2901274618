// Who may send requests. The Host header must name this server, so that a web page elsewhere that points its
// own name at 127.0.0.1 is refused. A server that other machines can reach asks for its token. A request that
// changes something must come from a form that this server made.
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
  std::string csrf;                // the secret that forms of this server carry
  bool allow_actions = false;      // runs may be started, stopped and resumed
  bool allow_notes = false;        // tags and notes may be changed
};

// For a server bound there. A token is made unless the address is loopback. On loopback, notes may be
// changed; elsewhere that needs `allow_actions`.
AccessRules RulesFor(const std::string& bind, const std::vector<std::string>& more_hosts, bool allow_actions);

// Whether the Host header names this server.
bool HostIsOurs(const AccessRules& rules, std::string_view header);

// In a time that depends on the lengths alone.
bool SameSecret(std::string_view given, std::string_view secret);

// Nothing: continue. Otherwise the answer: a refusal, or the cookie for a token that came in the address.
std::optional<HttpReply> CheckAccess(const AccessRules& rules, const HttpRequest& request);

// Nothing: it may be done. `form` is the parsed body.
std::optional<HttpReply> CheckNoteChange(const AccessRules& rules, const HttpRequest& request,
                                         const std::vector<std::pair<std::string, std::string>>& form);
std::optional<HttpReply> CheckAction(const AccessRules& rules, const HttpRequest& request,
                                     const std::vector<std::pair<std::string, std::string>>& form);

// A short page with one sentence.
HttpReply Refusal(int status, const std::string& sentence);

}  // namespace hone
