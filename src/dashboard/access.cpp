#include "dashboard/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/ids.h"
#include "base/text.h"
#include "model/url.h"

namespace hone {

namespace {

constexpr char kCookie[] = "hone_token";

// "Example.com:8377" -> "example.com"; "[::1]:8377" -> "::1".
std::string HostName(std::string_view header) {
  if (StartsWith(header, "[")) {
    const size_t close = header.find(']');
    return close == std::string_view::npos ? "" : ToLower(header.substr(1, close - 1));
  }
  std::string name = ToLower(header.substr(0, header.find(':')));
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name;
}

bool IsNumeric(const std::string& host) {
  unsigned char parsed[16];
  return inet_pton(AF_INET, host.c_str(), parsed) == 1 || inet_pton(AF_INET6, host.c_str(), parsed) == 1;
}

std::string CookieValue(std::string_view cookies) {
  for (const std::string& each : Split(cookies, ';')) {
    const std::string_view one = Trim(each);
    const size_t equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == kCookie)
      return std::string(one.substr(equals + 1));
  }
  return "";
}

// Paths for programs: a token in the URL suffices, and no cookie is set.
bool IsForPrograms(const std::string& path) {
  return StartsWith(path, "/api/") || path == "/metrics" || EndsWith(path, "/events");
}

}  // namespace

bool HostIsOurs(const AccessRules& rules, std::string_view header) {
  const std::string host = HostName(header);
  if (host == "localhost") return true;
  if (IsNumeric(host)) return rules.any_address || IsLoopback(host);
  return std::find(rules.hosts.begin(), rules.hosts.end(), host) != rules.hosts.end();
}

AccessRules RulesFor(const std::string& bind, const std::vector<std::string>& more_hosts,
                     bool allow_actions) {
  AccessRules rules;
  rules.allow_actions = allow_actions;
  rules.allow_notes = allow_actions || IsLoopback(bind);
  rules.csrf = RandomHex(16);
  for (const std::string& host : more_hosts) rules.hosts.push_back(ToLower(host));
  if (IsLoopback(bind)) return rules;
  rules.token = RandomHex(16);
  rules.any_address = true;
  rules.hosts.push_back(ToLower(bind));
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) == 0) rules.hosts.push_back(ToLower(name));
  return rules;
}

bool SameSecret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < given.size(); ++i)
    different = static_cast<unsigned char>(different | (given[i] ^ secret[i]));
  return different == 0;
}

HttpReply Refusal(int status, const std::string& sentence) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = sentence + "\n";
  return reply;
}

std::optional<HttpReply> CheckAccess(const AccessRules& rules, const HttpRequest& request) {
  if (!HostIsOurs(rules, request.host))
    return Refusal(421, "this server does not answer to that host name; see hone serve --allow-host");
  if (rules.token.empty()) return std::nullopt;
  if (SameSecret(CookieValue(request.cookie), rules.token)) return std::nullopt;
  if (StartsWith(request.authorization, "Bearer ") &&
      SameSecret(Trim(request.authorization.substr(7)), rules.token))
    return std::nullopt;
  if (!SameSecret(request.Query("token"), rules.token))
    return Refusal(401, "this dashboard needs the token in the address that hone serve printed");
  if (IsForPrograms(request.path) || request.method == "POST") return std::nullopt;
  // Removes the token from the address bar, so that no screenshot or bookmark shows it.
  HttpReply reply = Refusal(303, "moved");
  std::vector<std::pair<std::string, std::string>> rest = request.query;
  std::erase_if(rest, [](const auto& field) { return field.first == "token"; });
  std::string there;
  for (const std::string& part : Split(request.path, '/'))
    if (!part.empty()) there += "/" + PercentEncode(part);
  if (there.empty()) there = "/";
  if (!rest.empty()) there += "?" + FormText(rest);
  reply.headers.emplace_back("Location", there);
  reply.headers.emplace_back("Set-Cookie",
                             fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kCookie, rules.token));
  return reply;
}

namespace {

std::optional<HttpReply> CheckForm(const AccessRules& rules, const HttpRequest& request,
                                   const std::vector<std::pair<std::string, std::string>>& form) {
  if (!request.origin.empty()) {
    const size_t scheme = request.origin.find("://");
    if (scheme == std::string::npos || ToLower(request.origin.substr(scheme + 3)) != ToLower(request.host))
      return Refusal(403, "a page of another origin may not do this");
  }
  for (const auto& [name, value] : form)
    if (name == "csrf" && SameSecret(value, rules.csrf)) return std::nullopt;
  return Refusal(403, "this form does not come from this server, or it is out of date; load the page again");
}

}  // namespace

std::optional<HttpReply> CheckNoteChange(const AccessRules& rules, const HttpRequest& request,
                                         const std::vector<std::pair<std::string, std::string>>& form) {
  if (!rules.allow_notes)
    return Refusal(403, "this dashboard is read-only; start it with hone serve --allow-actions");
  return CheckForm(rules, request, form);
}

std::optional<HttpReply> CheckAction(const AccessRules& rules, const HttpRequest& request,
                                     const std::vector<std::pair<std::string, std::string>>& form) {
  if (!rules.allow_actions)
    return Refusal(403, "this dashboard starts no runs; start it with hone serve --allow-actions");
  return CheckForm(rules, request, form);
}

}  // namespace hone
