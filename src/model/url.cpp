#include "model/url.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <vector>

#include "base/text.h"

namespace hone {

namespace {

Error BadUrl(std::string_view text, const char* why) {
  // The text before an '@' may be a password.
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) text = text.substr(at + 1);
  return Error{ErrorKind::kUsage,
               fmt::format("'{}' is not an address Hone can use: {}", SafeForTerminal(text), why)};
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool IsVersion(std::string_view segment) {
  return segment.size() >= 2 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9';
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : std::string(Trim(value));
}

bool NoProxyCovers(const std::string& list, const std::string& host) {
  for (const std::string& part : Split(list, ',')) {
    std::string name = ToLower(Trim(part));
    if (name == "*") return true;
    if (StartsWith(name, "*.")) name.erase(0, 1);
    if (name.empty()) continue;
    if (name[0] == '.') name.erase(0, 1);
    if (host == name || EndsWith(host, "." + name)) return true;
  }
  return false;
}

}  // namespace

std::string Url::Authority() const {
  const std::string name = Contains(host, ":") ? "[" + host + "]" : host;
  return port == (tls ? 443 : 80) ? name : fmt::format("{}:{}", name, port);
}

std::string Url::Display() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", Authority(), path);
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || EndsWith(host, ".localhost") || host == "::1" || StartsWith(host, "127.");
}

Result<Url> ParseUrl(std::string_view text) {
  text = Trim(text);
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      return BadUrl(text, "it has a blank or a character outside ASCII");
  }
  Url url;
  std::string_view rest = text;
  const size_t scheme_end = text.find("://");
  if (scheme_end != std::string_view::npos) {
    const std::string scheme = ToLower(text.substr(0, scheme_end));
    if (scheme != "http" && scheme != "https") return BadUrl(text, "only http:// and https:// are spoken");
    url.tls = scheme == "https";
    rest = text.substr(scheme_end + 3);
  }
  const size_t path_at = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, path_at);
  if (path_at != std::string_view::npos) url.path = rest.substr(path_at);
  url.path = url.path.substr(0, url.path.find('#'));
  if (url.path.empty() || url.path[0] != '/') url.path.insert(0, "/");

  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.userinfo = PercentDecoded(authority.substr(0, at));
    authority = authority.substr(at + 1);
  }
  std::string_view port;
  if (StartsWith(authority, "[")) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return BadUrl(text, "'[' without ']'");
    url.host = ToLower(authority.substr(1, close - 1));
    authority = authority.substr(close + 1);
    if (!authority.empty() && authority[0] != ':') return BadUrl(text, "something follows ']'");
    if (!authority.empty()) port = authority.substr(1);
  } else {
    const size_t colon = authority.find(':');
    url.host = ToLower(authority.substr(0, colon));
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return BadUrl(text, "it names no host");
  if (scheme_end == std::string_view::npos) url.tls = !IsLoopback(url.host);
  url.port = url.tls ? 443 : 80;
  if (!port.empty()) {
    const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (code != std::errc() || end != port.data() + port.size() || url.port < 1 || url.port > 65535)
      return BadUrl(text, "its port is not a number from 1 to 65535");
  }
  return url;
}

Result<Url> EndpointUrl(std::string_view api_base, std::string_view endpoint) {
  HONE_ASSIGN_OR_RETURN(Url url, ParseUrl(api_base));
  if (!url.userinfo.empty())
    return BadUrl(api_base,
                  "it carries a user name or a password, which would be stored; give the key in an "
                  "environment variable");
  std::string query;
  if (const size_t mark = url.path.find('?'); mark != std::string::npos) {
    query = url.path.substr(mark);
    url.path.resize(mark);
  }
  while (!url.path.empty() && url.path.back() == '/') url.path.pop_back();
  if (!EndsWith(url.path, endpoint)) {
    bool has_version = false;
    for (const std::string& segment : Split(url.path, '/')) has_version = has_version || IsVersion(segment);
    if (!has_version) url.path += "/v1";
    url.path += endpoint;
  }
  url.path += query;
  return url;
}

Result<std::optional<Url>> ProxyFor(const Url& target) {
  if (IsLoopback(target.host)) return std::optional<Url>();
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    if (NoProxyCovers(Variable(name), target.host)) return std::optional<Url>();
  }
  // HTTP_PROXY in capitals is ignored, because a web server could have set it from a request's header.
  const std::vector<const char*> names =
      target.tls ? std::vector<const char*>{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}
                 : std::vector<const char*>{"http_proxy", "all_proxy", "ALL_PROXY"};
  for (const char* name : names) {
    const std::string value = Variable(name);
    if (value.empty()) continue;
    Result<Url> proxy = ParseUrl(Contains(value, "://") ? value : "http://" + value);
    if (!proxy.ok()) return std::move(proxy).error().WithContext(name);
    if (proxy->tls)
      return Error{ErrorKind::kUsage, fmt::format("{}: only proxies that speak http:// are supported", name)};
    return std::optional<Url>(*std::move(proxy));
  }
  return std::optional<Url>();
}

}  // namespace hone
