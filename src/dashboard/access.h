// Decides which requests are allowed. The Host header must name this server, which stops foreign web pages
// that point their own name at 127.0.0.1. A server that other machines can reach requires its token. A
// request that changes something must come from a form of this server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/http_message.h"

namespace hone {

struct AccessRules {
  std::vector<std::string> hosts;  // allowed names besides numeric addresses, lower case
  bool any_address = false;        // numeric addresses other than loopback are allowed as Host
  std::string token;               // empty: not required
  std::string csrf;                // the secret in this server's forms
  bool allow_actions = false;      // runs may be started, stopped and resumed
  bool allow_notes = false;        // tags and notes may be changed
};

// Rules for a server bound to this address. A token is generated unless the address is loopback. On loopback,
// notes may be changed; elsewhere that needs `allow_actions`.
AccessRules RulesFor(const std::string& bind, const std::vector<std::string>& more_hosts, bool allow_actions);

// Whether the Host header names this server.
bool HostIsOurs(const AccessRules& rules, std::string_view header);

// Takes a time that depends only on the lengths.
bool SameSecret(std::string_view given, std::string_view secret);

// No value: continue. Otherwise the reply: a refusal, or the cookie for a token in the URL.
std::optional<HttpReply> CheckAccess(const AccessRules& rules, const HttpRequest& request);

// No value: the change is allowed. `form` is the parsed body.
std::optional<HttpReply> CheckNoteChange(const AccessRules& rules, const HttpRequest& request,
                                         const std::vector<std::pair<std::string, std::string>>& form);
std::optional<HttpReply> CheckAction(const AccessRules& rules, const HttpRequest& request,
                                     const std::vector<std::pair<std::string, std::string>>& form);

// A short page with one sentence.
HttpReply Refusal(int status, const std::string& sentence);

}  // namespace hone
